"""What a planner's answers say, draw and write: sentences, tables, maps and weights by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.collections import LineCollection

from ackclock.errors import Problem, ScenarioError
from ackclock.studies.planner import overview as overview_module
from ackclock.studies.planner import page
from ackclock.studies.planner.answers import sentences, tables, text
from ackclock.studies.planner.enforcement import Enforcement, EnforcementOutcome
from ackclock.studies.planner.failures import failure_from_names, survey
from ackclock.studies.planner.map import draw_map
from ackclock.studies.planner.overview import Overview, overview
from ackclock.studies.planner.situation import Situation, read_situation
from ackclock.studies.planner.upgrades import Upgrades
from ackclock.studies.planner.utilisation import Utilisation
from ackclock.studies.planner.weights import WeightsResult, write_weights

if TYPE_CHECKING:
    from pathlib import Path

RING = """source,target,capacity_bps,back_capacity_bps,weight,back_weight,srlg
a,b,10 Gbps,,1,,duct;tube
b,c,10 Gbps,5 Gbps,1,3,duct
c,d,10 Gbps,,1,,
d,a,40 Gbps,,1,,
"""
SERIES = """time,source,target,demand_bps
08:00,a,c,2 Gbps
08:00,c,a,1e9
20:00,a,c,8 Gbps
20:00,a,b,4 Gbps
"""


@pytest.fixture
def ring(tmp_path: Path) -> Situation:
    (tmp_path / "ring.csv").write_text(RING)
    (tmp_path / "series.csv").write_text(SERIES)
    return read_situation(tmp_path / "ring.csv", demands=tmp_path / "series.csv", time="20:00")


def drawn_lines(figure) -> list[LineCollection]:
    return [c for c in figure.axes[0].collections if isinstance(c, LineCollection)]


def labels(figure) -> list[str]:
    return [note.get_text() for note in figure.axes[0].texts]


def test_a_map_has_the_busier_direction_and_draws_the_busiest_last(ring: Situation) -> None:
    used = np.array([0.1, 0.4, 0.2, 0.0, 0.9, 0.3, 0.0, 1.5])
    figure = draw_map(ring, used, title="t")
    lines, failed = drawn_lines(figure)
    assert lines.get_array().tolist() == [0.2, 0.4, 0.9, 1.5]
    assert lines.get_clim() == (0.0, 1.5)
    assert len(failed.get_segments()) == 0
    # The widest has 40 Gbit/s, the others a quarter of it.
    assert list(lines.get_linewidths()) == pytest.approx([2.5, 2.5, 2.5, 4.0])
    assert labels(figure) == ["a", "b", "c", "d", "150 %", "90 %", "40 %", "20 %"]


def test_a_link_that_failed_is_dashed_and_gives_no_colour(ring: Situation) -> None:
    used = np.array([0.1, 0.4, 0.2, 0.0, 0.9, 0.3, 0.0, 1.5])
    down = failure_from_names(ring, ["d->a"]).links
    figure = draw_map(ring, used, title="t", down=down, marked=["b - c"], nodes=["c"])
    bordered, lines, failed = drawn_lines(figure)
    assert lines.get_array().tolist() == [0.2, 0.4, 0.9]
    # Never less than a full link at the top of the scale.
    assert lines.get_clim() == (0.0, 1.0)
    (segment,) = failed.get_segments()
    positions = {note.get_text(): note.xy for note in figure.axes[0].texts}
    assert {tuple(end) for end in segment} == {tuple(positions["a"]), tuple(positions["d"])}
    (border,) = bordered.get_segments()
    assert {tuple(end) for end in border} == {tuple(positions["b"]), tuple(positions["c"])}
    assert list(bordered.get_linewidths()) == pytest.approx([6.5])
    large = figure.axes[0].collections[-1]
    assert tuple(large.get_offsets()[0]) == tuple(positions["c"])
    assert len(large.get_offsets()) == 1


def test_only_the_five_busiest_links_have_a_label(tmp_path: Path) -> None:
    rows = [f"n{i},n{i + 1},1 Gbps" for i in range(7)]
    (tmp_path / "line.csv").write_text("\n".join(["source,target,capacity_bps", *rows]))
    (tmp_path / "d.csv").write_text("source,target,demand_bps\nn0,n1,1e8\n")
    line = read_situation(tmp_path / "line.csv", demands=tmp_path / "d.csv")
    figure = draw_map(line, np.arange(14) / 100, title="t")
    shown = [text for text in labels(figure) if text.endswith("%")]
    assert shown == ["13 %", "11 %", "9 %", "7 %", "5 %"]


def test_the_map_of_a_failure_has_what_is_left_of_the_demands(ring: Situation) -> None:
    link = survey(ring, failed=[failure_from_names(ring, ["d->a"])])
    figure = page.picture(link)
    assert figure.axes[0].get_title() == "ring, 20:00, without d - a"
    # All 12 of 10 Gbit/s from a to b, 8 of 10 on from there.
    assert labels(figure)[4:6] == ["120 %", "80 %"]
    node = survey(ring, failed=[failure_from_names(ring, ["c"])])
    # What goes to c is gone with it.
    left = {ring.pair(i): volume for i, volume in enumerate(page._left(node).tolist())}
    assert {pair: volume for pair, volume in left.items() if volume} == {"a->b": 4e9}
    assert labels(page.picture(node))[4] == "40 %"


def test_the_map_of_loads_is_of_the_95th_percentile_over_time(ring: Situation) -> None:
    loads = np.zeros((2, 8))
    loads[:, 0] = (2e9, 12e9)
    figure = page.picture(Utilisation(ring, loads, np.zeros(2)))
    assert figure.axes[1].get_ylabel() == "load over capacity, 95th percentile"
    assert labels(figure)[4] == "120 %"
    single = page.picture(Utilisation(ring, loads[1:], np.zeros(1)))
    assert single.axes[1].get_ylabel() == "load over capacity"


def make_upgrades(ring: Situation, **changes) -> Upgrades:
    plain = {"goal": "failure", "factor": 2.0, "links": ("b - c", "a - b"), "before": 1.2,
             "after": 0.6, "steps": (0.8, 0.6), "proof": "exact", "bound": None,
             "loads": np.full(8, 5e9)}  # fmt: skip
    return Upgrades(ring, **{**plain, **changes})


def test_upgrades_are_said_by_their_goal_and_proof(ring: Situation) -> None:
    answer = make_upgrades(ring)
    assert sentences(answer)[-3:] == [
        "load of the busiest link under the worst failure of a link: 120.0 % as it is",
        "2 times the capacity of b - c, a - b: 60.0 %",
        "no other set of as many links does better",
    ]
    ((_, head, rows),) = tables(answer)
    assert head[1] == "load of the busiest link under the worst failure of a link"
    assert rows == [["b - c", "80.0 %"], ["a - b", "60.0 %"]]
    assert tables(make_upgrades(ring, steps=())) == []
    rate = make_upgrades(
        ring, goal="minimum", before=1e9, after=float("inf"), proof="bound", bound=3e9
    )
    assert sentences(rate)[-3:] == [
        "least max-min rate of a demand that wants more: 1 Gbit/s as it is",
        "2 times the capacity of b - c, a - b: all demands met",
        "links were added one after the other; no set can do better than 3 Gbit/s",
    ]
    data = rate.to_data()
    assert (data["after"], data["before"], data["bound"]) == (None, 1e9, 3e9)
    figure = page.picture(answer)
    assert figure.axes[0].get_title() == "ring, 20:00: links to upgrade"
    assert figure.axes[1].get_ylabel() == "load over capacity, worst failure of a link"
    # The slower direction of b - c has 5 of 5 Gbit/s.
    assert labels(figure)[4] == "100 %"
    assert len(drawn_lines(figure)[0].get_segments()) == 2


def make_weights(ring: Situation, cost: list[float], **changes) -> WeightsResult:
    plain = {"utilisation": 0.5, "course": ((1, 0.5),), "tries": 9, "bound": None,
             "baselines": {"given": 0.9, "1 everywhere": 0.7, "inverse capacity": 0.8}}  # fmt: skip
    return WeightsResult(ring, np.array(cost, dtype=float), **{**plain, **changes})


COST = [1.0, 1.0, 2.0, 3.0, 4.0, 4.0, 1.5, 1.0]


def test_weights_that_change_are_listed_by_link_or_by_direction(ring: Situation) -> None:
    assert ring.cost.tolist() == [1, 1, 1, 3, 1, 1, 1, 1]
    answer = make_weights(ring, COST)
    assert answer.changed_links() == ["b - c", "c - d", "d - a"]
    assert answer.list_changes() == [("b->c", 1, 2), ("c - d", 1, 4), ("d->a", 1, 1.5)]
    assert sentences(answer)[-3:] == [
        "busiest link after 9 tries: 50.0 % of its capacity; the best usual weights (1 everywhere)"
        " give 70.0 %",
        "inverse capacity is 40 Gbit/s over that of a link",
        "the network is too large for the bound over all routings",
    ]
    weights, changes = tables(answer)
    assert weights[2][-1] == ["found", "50.0 %"]
    assert changes[2] == [["b->c", "1", "2"], ["c - d", "1", "4"], ["d->a", "1", "1.5"]]
    bounded = make_weights(ring, ring.cost.tolist(), bound=0.4)
    assert sentences(bounded)[-1] == "no routing of any kind can do better than 40.0 %"
    ((_, _, rows),) = tables(bounded)
    assert rows[-1] == ["bound", "40.0 %"]


def test_weights_are_written_so_that_the_planner_reads_them_again(
    ring: Situation, tmp_path: Path
) -> None:
    write_weights(make_weights(ring, COST), tmp_path / "weights.csv")
    assert (tmp_path / "weights.csv").read_text() == (
        "source,target,capacity_bps,back_capacity_bps,weight,back_weight,srlg\n"
        "a,b,10000000000,10000000000,1,1,duct;tube\n"
        "b,c,10000000000,5000000000,2,3,duct\n"
        "c,d,10000000000,10000000000,4,4,\n"
        "d,a,40000000000,40000000000,1.5,1,\n"
    )
    again = read_situation(tmp_path / "weights.csv", demands=tmp_path / "series.csv", time="20:00")
    assert again.cost.tolist() == COST
    assert set(again.network.risk_groups) == {"duct", "tube"}


def make_enforcement(ring: Situation, **changes) -> Enforcement:
    def outcome(label: str, routers: tuple[str, ...], polite: float) -> EnforcementOutcome:
        return EnforcementOutcome(label, routers, polite, 2e9, 0.25, 5e8)

    baselines = (outcome("none", (), 6e9), outcome("busiest", ("a", "b"), 7e9),
                 outcome("all", ("a", "b", "c", "d"), 9.5e9))  # fmt: skip
    plain = {"share": 0.1, "push": 10.0, "draws": 3, "seed": 1, "demanded": 10e9, "hosed": 1e9,
             "candidates": 3, "best": outcome("best", ("c",), 9e9), "baselines": baselines,
             "steps": (9e9,), "proof": "bound", "bound": 9.75e9,
             "loads": np.full(8, 1e10)}  # fmt: skip
    return Enforcement(ring, **{**plain, **changes})


def test_fair_queueing_saves_what_the_others_lost_without_it(ring: Situation) -> None:
    answer = make_enforcement(ring)
    assert sentences(answer)[-4:] == [
        "10.0 % of the demands, 1 Gbit/s, push 10 times as much; the others demand 10 Gbit/s"
        " (means of 3 draws)",
        "without fair queueing the others lose 4 Gbit/s",
        "fair queueing at c saves 3 Gbit/s, 75.0 % of that, and everywhere 3.5 Gbit/s",
        "routers were added one after the other; no routers can deliver more of these demands than"
        " 9.75 Gbit/s",
    ]
    (_, _, rows), steps = tables(answer)
    assert [row[:4] for row in rows] == [
        ["none", "-", "6 Gbit/s", "60.0 %"],
        ["busiest", "a, b", "7 Gbit/s", "70.0 %"],
        ["found", "c", "9 Gbit/s", "90.0 %"],
        ["all", "all", "9.5 Gbit/s", "95.0 %"],
    ]
    assert rows[0][4:] == ["25.0 %", "2 Gbit/s", "500 Mbit/s"]
    assert steps == ("one after the other", ["with also", "others get"], [["c", "9 Gbit/s"]])
    single = make_enforcement(ring, draws=1, proof="exact")
    assert "draws" not in sentences(single)[-4]
    assert sentences(single)[-1] == "no other set of at most as many routers saves more"
    idle = make_enforcement(ring, candidates=0)
    assert sentences(idle)[-1] == "no link overflows: fair queueing would change nothing"
    nothing = make_enforcement(
        ring, best=EnforcementOutcome("best", (), 6e9, 0.0, 0.0, 0.0), steps=()
    )
    assert sentences(nothing)[-1] == "no router where fair queueing would help them was found"
    ((_, _, rows),) = tables(nothing)
    assert [row[0] for row in rows] == ["none", "busiest", "all"]
    assert labels(page.picture(answer))[4] == "200 %"


def test_a_report_answers_each_question_once_and_says_why_one_has_no_answer(
    ring: Situation, monkeypatch: pytest.MonkeyPatch
) -> None:
    requested = {}

    def answer(name: str):
        def work(situation: Situation, step=None, *, progress=None, **words):
            requested[name] = words
            (step or progress)(0.5)
            if name == "failures":
                raise ScenarioError([Problem("x", "it is too large"), Problem("y", "or odd")])
            if name == "upgrades":
                return make_upgrades(ring)
            if name == "weights":
                return make_weights(ring, COST)
            return Utilisation(ring, np.full((2, 8), 2.5e9), np.zeros(2))

        return work

    for name, function in [("load", "utilisation"), ("failures", "survey"),
                           ("upgrades", "upgrades"), ("weights", "search")]:  # fmt: skip
        monkeypatch.setattr(overview_module, function, answer(name))
    parts = []
    report = overview(ring, count=9, factor=4.0, tries=5, seed=6, memory=7, progress=parts.append)
    assert parts == [0.125, 0.375, 0.625, 0.875]
    # No more links than there are.
    assert requested["upgrades"] == {"count": 4, "factor": 4.0, "memory": 7}
    assert requested["weights"] == {"tries": 5, "seed": 6}
    assert requested["failures"] == {"memory": 7}
    assert list(report.sections) == ["load", "upgrades", "weights"]
    assert report.without == {"failures": "it is too large; or odd"}
    data = report.to_data()
    assert (data["question"], data["without"]) == ("report", report.without)
    assert data["upgrades"]["links"] == ["b - c", "a - b"]
    lines = sentences(report)
    assert lines[1].startswith("the busiest link is c->b, with a load of 50.0 %")
    assert lines[2] == "What breaks when a link fails: no answer, it is too large; or odd"
    assert lines[3] == (
        "load of the busiest link under the worst failure of a link: 120.0 % as it is;"
        " 2 times the capacity of b - c, a - b: 60.0 %"
    )
    assert lines[4].startswith("busiest link after 9 tries: 50.0 %")
    assert len(tables(report)) == 1 + 1 + 2
    headed = text(report).split("\n\n")
    assert "WHAT BREAKS WHEN A LINK FAILS\nno answer: it is too large; or odd" in headed
    # The inputs are said once above all.
    assert text(report).count("ring: 4 nodes, 4 links") == 1


def test_the_folder_of_a_report_has_the_weights_of_its_search(
    ring: Situation, tmp_path: Path
) -> None:
    sections = {
        "load": Utilisation(ring, np.full((1, 8), 2.5e9), np.zeros(1)),
        "weights": make_weights(ring, COST),
    }
    without = {"failures": "too large", "upgrades": "none"}
    report = page.Report(Overview(ring, sections, without))  # type: ignore[arg-type]
    headings = [(part["heading"], len(part["figures"])) for part in report._parts()]
    assert headings == [
        ("How busy links are", 1), ("What breaks when a link fails", 0),
        ("Which links to upgrade", 0), ("Weights that make the busiest link less busy", 1),
    ]  # fmt: skip
    assert report._parts()[1]["text"] == ["too large"]
    report.write_files(tmp_path, "plan")
    assert (tmp_path / "map.svg").is_file()
    assert "\nb,c,10000000000,5000000000,2,3,duct\n" in (tmp_path / "weights.csv").read_text()
    (tmp_path / "weights.csv").unlink()
    other = page.Report(make_upgrades(ring))
    other.write_files(tmp_path, "plan")
    assert not (tmp_path / "weights.csv").exists()
    assert "ring: upgrades" in other.pages("plan")["index.html"]


def test_a_link_has_four_names_and_what_is_named_twice_fails_once(tmp_path: Path) -> None:
    rows = ["a,b,1 Gbps", "b,c,1 Gbps", "c,d,1 Gbps"]
    (tmp_path / "net.csv").write_text("\n".join(["source,target,capacity_bps", *rows]))
    (tmp_path / "d.csv").write_text("source,target,demand_bps\na,b,1e8\n")
    net = read_situation(tmp_path / "net.csv", demands=tmp_path / "d.csv")
    for name in ("a - b", "b - a", "a->b", "b->a"):
        found = failure_from_names(net, [name])
        assert (found.name, found.links, found.nodes) == ("a - b", (0, 1), ())
    both = failure_from_names(net, ["b->a", "d - c", "a"])
    assert both.name == "a - b and c - d and a"
    # What is named twice fails once.
    assert (both.links, both.nodes) == ((0, 1, 4, 5), (0,))
    with pytest.raises(ScenarioError) as caught:
        failure_from_names(net, ["x", "a->b", "y"])
    assert [problem.message.partition(";")[0] for problem in caught.value.problems] == [
        'there is no node, link or risk group "x"', 'there is no node, link or risk group "y"',
    ]  # fmt: skip


def test_a_link_whose_directions_differed_before_is_listed_by_direction(ring: Situation) -> None:
    # From b to c 1 and back 3, now 4 both ways.
    answer = make_weights(ring, [1.0, 1.0, 4.0, 4.0, 1.0, 1.0, 1.0, 1.0])
    assert answer.list_changes() == [("b->c", 1, 4), ("c->b", 3, 4)]
    one = make_weights(ring, [1.0, 1.0, 3.0, 3.0, 1.0, 1.0, 1.0, 1.0])
    assert one.list_changes() == [("b->c", 1, 3)]
