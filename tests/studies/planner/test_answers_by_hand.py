"""Loads, failures, samples and reports of a planner as sentences, tables and parts of a page."""

from dataclasses import replace

import numpy as np
import pytest

from ackclock.studies.planner import page
from ackclock.studies.planner.answers import sentences, tables, text
from ackclock.studies.planner.failures import Failed, FailureSurvey, Hurt
from ackclock.studies.planner.hashing import Hashing
from ackclock.studies.planner.overview import Overview
from ackclock.studies.planner.sampling import Sampled
from ackclock.studies.planner.situation import read_situation
from ackclock.studies.planner.upgrades import Upgrades
from ackclock.studies.planner.utilisation import Utilisation
from ackclock.studies.planner.weights import WeightsResult

LINE = "source,target,capacity_bps\na,b,10 Gbps\nb,c,5 Gbps\n"
SERIES = "time,source,target,demand_bps\n08:00,a,c,1 Gbps\n20:00,a,c,2 Gbps\n20:00,b,c,1 Gbps\n"
INPUTS = "line: 3 nodes, 2 links, 2 demands"


@pytest.fixture
def line(tmp_path):
    (tmp_path / "line.csv").write_text(LINE)
    (tmp_path / "d.csv").write_text(SERIES)
    return read_situation(tmp_path / "line.csv", demands=tmp_path / "d.csv", time="20:00")


def directions(line):
    return [line.direction(link) for link in range(4)]


def loads(line, *rows):
    """Loads [Gbit/s] of a->b, b->a, b->c and c->b."""
    order = [directions(line).index(name) for name in ("a->b", "b->a", "b->c", "c->b")]
    values = np.zeros((len(rows), 4))
    values[:, order] = 1e9 * np.array(rows)
    return values


# -- loads ----------------------------------------------------------------------------------------


def test_loads_over_time_have_the_time_of_the_most_and_means(line):
    answer = Utilisation(line, loads(line, [1, 0, 4, 0], [2, 0, 6, 0]), np.array([0.0, 3e6]))
    assert sentences(answer) == [
        f"{INPUTS}, 2 times",
        "the busiest link is b->c, with a load of 120.0 % of its capacity at 20:00",
        "in one direction 1 link is overloaded",
        "3 Mbit/s at most has no path",
    ]
    ((_, head, rows),) = tables(answer)
    assert head == ["link", "capacity", "mean", "95th percentile", "most", "at"]
    assert rows[:2] == [
        ["b->c", "5 Gbit/s", "100.0 %", "120.0 %", "120.0 %", "20:00"],
        ["a->b", "10 Gbit/s", "15.0 %", "20.0 %", "20.0 %", "20:00"],
    ]
    assert len(rows) == 4


def test_loads_of_one_time_say_neither_times_nor_means(tmp_path):
    (tmp_path / "line.csv").write_text(LINE)
    (tmp_path / "d.csv").write_text("source,target,demand_bps\na,c,1 Gbps\n")
    line = read_situation(tmp_path / "line.csv", demands=tmp_path / "d.csv")
    answer = Utilisation(line, loads(line, [12, 0, 6, 5.5]), np.zeros(1))
    assert sentences(answer) == [
        "line: 3 nodes, 2 links, 1 demands",
        "the busiest link is a->b, with a load of 120.0 % of its capacity",
        "in one direction 3 links are overloaded",
    ]
    ((_, head, rows),) = tables(answer)
    assert head == ["link", "capacity", "load"]
    assert rows[0] == ["a->b", "10 Gbit/s", "120.0 %"]
    full = Utilisation(line, loads(line, [10, 0, 1, 0]), np.zeros(1))
    assert sentences(full)[2:] == []


def test_loads_over_seeds_have_percentiles_over_them(line):
    hashed = np.linspace(0.1, 1.0, 10)[:, None] * np.array([1.0, 0.5, 0.25, 0.0])
    order = [directions(line).index(name) for name in ("a->b", "b->a", "b->c", "c->b")]
    by_link = np.zeros((10, 4))
    by_link[:, order] = hashed
    answer = Utilisation(line, loads(line, [1, 0, 4, 0], [2, 0, 3, 0]), np.zeros(2), by_link)
    # Of ten values the smallest not below: the first, the fifth, the tenth.
    assert sentences(answer)[2] == (
        "over 10 seeds of the hash the load of the busiest link, a 95th percentile over time, is"
        " 10.0 % to 100.0 %, median 50.0 % (5th to 95th percentile)"
    )
    ((_, head, rows),) = tables(answer)
    assert head[-3:] == ["5 % of seeds", "50 % of seeds", "95 % of seeds"]
    by_name = {row[0]: row[-3:] for row in rows}
    assert by_name["a->b"] == ["10.0 %", "50.0 %", "100.0 %"]
    assert by_name["b->c"] == ["2.5 %", "12.5 %", "25.0 %"]


def test_demands_without_a_path_are_listed_with_their_lines_and_a_long_list_is_cut(tmp_path):
    rows = ["source,target,capacity_bps", "a,b,1 Gbps", *(f"x{i},y{i},1 Gbps" for i in range(22))]
    (tmp_path / "parts.csv").write_text("\n".join(rows) + "\n")
    demands = ["source,target,demand_bps", "a,b,1e6", *(f"a,x{i},1e6" for i in range(22))]
    (tmp_path / "d.csv").write_text("\n".join(demands) + "\n")
    parts = read_situation(tmp_path / "parts.csv", demands=tmp_path / "d.csv")
    answer = Utilisation(parts, np.zeros((1, 46)), np.array([22e6]))
    title, head, rows = tables(answer)[1]
    assert (title, head) == ("without a path", ["demand", "line of d.csv"])
    assert rows[0] == ["a->x0", "3"]
    assert rows[19] == ["a->x19", "22"]
    assert rows[20:] == [["and 2 more", ""]]
    assert sentences(answer)[-1] == "22 Mbit/s at most has no path"


# -- failures -------------------------------------------------------------------------------------


def survey(line, failed=("a - b", "b - c"), **changes):
    count = len(failed)
    impact = {
        "utilisation": np.array([0.9, 0.5][:count]),
        "busiest": np.array([directions(line).index("b->c")] * count),
        "overloaded": np.array([0, 0][:count]), "excess": np.zeros(count),
        "disconnected": np.zeros(count), "own": np.zeros(count),
    }  # fmt: skip
    impact.update(changes.pop("impact", {}))
    plain = {
        "situation": line, "kind": "links", "tried": 2, "solved": 2,
        "failed": tuple(Failed(name, (0, 1), ()) for name in failed), "impact": impact,
        "base": loads(line, [2, 0, 3, 0])[0], "base_lost": 0.0,
        "hurt": tuple(Hurt(0.0, (), 0, settled=True) for _ in failed),
    }  # fmt: skip
    return FailureSurvey(**{**plain, **changes})


BASE = [
    f"{INPUTS}, 3 Gbit/s, 20:00",
    "without failure the busiest link, b->c, has a load of 60.0 % of its capacity",
]


def test_failures_after_which_all_demands_are_met(line):
    assert sentences(survey(line)) == [
        *BASE, "2 links, each alone",
        "every demand can be met after each failure; the least room is left after a - b: b->c has a"
        " load of 90.0 %",
    ]  # fmt: skip
    lost = survey(line, base_lost=5e8)
    assert sentences(lost)[1] == f"{BASE[1]}, and 500 Mbit/s is lost"


@pytest.mark.parametrize(
    ("kind", "tried", "words"),
    [
        ("links", 2, "2 links, each alone"), ("nodes", 3, "3 nodes, each alone"),
        ("risk-groups", 4, "4 shared-risk groups, each alone"), ("pairs", 5, "5 pairs of links"),
        ("named", 1, "1 given failure"), ("named", 2, "2 given failures"),
    ],
)  # fmt: skip
def test_what_failed_is_said_by_its_kind(line, kind, tried, words):
    assert sentences(survey(line, kind=kind, tried=tried, solved=tried))[2] == words


def test_failures_that_were_not_computed_are_counted(line):
    few = survey(line, kind="pairs", tried=50, solved=12)
    assert sentences(few)[2].startswith("50 pairs of links; 38 of them cannot be among the worst ")
    assert sentences(few)[2].endswith(" and were not computed")
    assert " the worst 2 and were" in sentences(survey(line, solved=1))[2]


def test_the_worst_failure_says_what_is_lost_at_least_and_in_proportion(line):
    worst = survey(
        line,
        impact={"excess": np.array([4e8, 0]), "disconnected": np.array([2e8, 0]),
                "own": np.array([0.0, 0.0]), "overloaded": np.array([3, 0])},
        hurt=(Hurt(9e8, (("a->c", 2e9, 0.75),), 2, settled=True), Hurt(0, (), 0, settled=True)),
    )  # fmt: skip
    assert sentences(worst)[3:] == [
        "a - b: 600 Mbit/s at least cannot be delivered, 20.0 % of all demand; where overloaded"
        " links drop in proportion, 900 Mbit/s is lost"
    ]
    first, second = tables(worst)
    assert first[1] == [
        "failed", "lost at least", "without a path", "lost in proportion", "demands hurt",
        "busiest link left", "its load", "overloaded",
    ]  # fmt: skip
    assert first[2] == [
        ["a - b", "600 Mbit/s", "200 Mbit/s", "900 Mbit/s", "2", "b->c", "90.0 %", "3"],
        ["b - c", "0 bit/s", "0 bit/s", "0 bit/s", "0", "b->c", "50.0 %", "0"],
    ]
    assert second == (
        "hurt most when a - b fails", ["demand", "volume", "arrives"],
        [["a->c", "2 Gbit/s", "75.0 %"]],
    )  # fmt: skip
    assert len(tables(survey(line))) == 1


def test_the_demand_of_a_node_that_fails_is_counted_apart(line):
    own = {"own": np.array([1e9, 2e9])}
    nodes = survey(line, ("a", "b"), kind="nodes", impact=own)
    assert sentences(nodes)[3:] == [
        "every other demand can be met after each failure; the least room is left after a: b->c has"
        " a load of 90.0 %",
        "the demand from and to a node that fails is lost with it: with b goes most, 2 Gbit/s",
    ]
    ((_, head, rows),) = tables(nodes)
    assert head[:3] == ["failed", "own demand", "lost at least"]
    assert [row[:3] for row in rows] == [
        ["a", "1 Gbit/s", "0 bit/s"], ["b", "2 Gbit/s", "0 bit/s"],
    ]  # fmt: skip
    lost = survey(line, ("a", "b"), impact={**own, "excess": np.array([3e8, 0.0])})
    assert sentences(lost)[3].startswith(
        "a: 300 Mbit/s at least cannot be delivered beside 1 Gbit/s from or to what failed, 10.0 %"
        " of all demand; "
    )


def test_failures_over_seeds_have_the_range_of_the_busiest_link(line):
    hashed = np.array([[0.1 * i, 0.05 * i] for i in range(1, 11)])
    ((_, head, rows),) = tables(survey(line, hashed=hashed))
    assert head[-1] == "its load over 10 seeds"
    assert [row[-1] for row in rows] == [
        "10.0 % to 100.0 %, median 50.0 %", "5.0 % to 50.0 %, median 25.0 %",
    ]  # fmt: skip


def test_rates_that_did_not_come_to_rest_are_named(line):
    hurt = (Hurt(0.0, (), 0, settled=True), Hurt(0.0, (), 0, settled=False))
    assert sentences(survey(line, hurt=hurt))[-1] == (
        "what is lost in proportion had not come to rest, and is that of the last round, after"
        " b - c"
    )


# -- how demands are routed -----------------------------------------------------------------------


def test_flows_that_are_hashed_are_said_with_their_rate_and_hash(tmp_path):
    (tmp_path / "line.csv").write_text(LINE)
    (tmp_path / "d.csv").write_text("source,target,demand_bps\na,c,1 Gbps\nb,c,0.5 Gbps\n")

    def said(same):
        line = read_situation(
            tmp_path / "line.csv", demands=tmp_path / "d.csv", hashing=Hashing(1e6, 1, same)
        )
        return sentences(Utilisation(line, np.zeros((1, 4)), np.zeros(1)))[1]

    start = "1,500 flows, of at most 1 Mbit/s, take equal paths by "
    assert said(same=False) == f"{start}a hash of each router"
    assert said(same=True) == f"{start}one hash in all routers"
    (tmp_path / "d.csv").write_text("source,target,demand_bps,flows\na,c,1 Gbps,7\nb,c,1e8,\n")
    assert said(same=True) == (
        "107 flows, as the file gives, else of at most 1 Mbit/s, take equal paths by one hash in"
        " all routers"
    )


def test_given_paths_and_inverse_capacities_are_said(tmp_path):
    (tmp_path / "line.csv").write_text(LINE)
    (tmp_path / "d.csv").write_text("source,target,demand_bps\na,c,1 Gbps\nb,c,0.5 Gbps\n")
    (tmp_path / "p.csv").write_text("path,share\na;b;c,1\nc;b;a,1\n")
    line = read_situation(
        tmp_path / "line.csv", demands=tmp_path / "d.csv", paths=tmp_path / "p.csv",
        metric="inverse-capacity", reference="100 Gbps",
    )  # fmt: skip
    assert sentences(Utilisation(line, np.zeros((1, 4)), np.zeros(1)))[1:3] == [
        "a link costs 100 Gbit/s over its capacity, whole and at least 1",
        "given paths: 1, of 1 of the demands, 1 more in the file have no demand",
    ]


# -- samples --------------------------------------------------------------------------------------


def test_a_sample_has_its_spread_beside_that_of_theory(line):
    volume = np.array([[1e9, 2e9], [3e9, 2e9], [2e9, 2e9], [2e9, 2e9]])
    demands = replace(line.demands, volume=volume, times=("0", "1", "2", "3"))
    sampled = Sampled(line, demands, 12345, 300.0, np.array([3e8, 4e8]))
    assert sentences(sampled) == [
        f"{INPUTS}, 3 Gbit/s, 20:00",
        "12,345 flows in 4 bins of 300 s",
        # 3, 5, 4 and 4 Gbit/s; 3 and 4 at right angles are 5.
        "all demands: mean 4 Gbit/s; standard deviation 707.1 Mbit/s, by theory 500 Mbit/s",
    ]
    ((title, head, rows),) = tables(sampled)
    assert (title, head) == (
        "", ["demand", "given", "mean", "deviation", "by theory", "95th percentile"],
    )  # fmt: skip
    # The largest first.
    assert rows == [
        ["a->c", "2 Gbit/s", "2 Gbit/s", "707.1 Mbit/s", "300 Mbit/s", "3 Gbit/s"],
        ["b->c", "1 Gbit/s", "2 Gbit/s", "0 bit/s", "400 Mbit/s", "2 Gbit/s"],
    ]
    endless = replace(sampled, deviation=np.array([np.inf, 4e8]))
    assert sentences(endless)[2].endswith("by theory without bound")
    assert [row[4] for row in tables(endless)[0][2]] == ["without bound", "400 Mbit/s"]


# -- reports --------------------------------------------------------------------------------------


def report(line):
    load = Utilisation(line, loads(line, [1, 0, 4, 0], [2, 0, 6, 0]), np.array([0.0, 3e6]))
    upgrades = Upgrades(line, goal="failure", factor=2.0, links=("b - c",), before=1.2, after=0.6,
                        steps=(0.6,), proof="none", bound=None, loads=np.zeros(4))  # fmt: skip
    weights = WeightsResult(line, np.ones(4), utilisation=0.5, course=((1, 0.5),), tries=9,
                            bound=None, baselines={"given": 0.9, "hops": 0.7})  # fmt: skip
    sections = {"load": load, "upgrades": upgrades, "weights": weights}
    return Overview(line, sections, {"failures": "it is too large"})


def test_a_report_says_each_answer_in_a_sentence_and_the_inputs_once(line):
    answer = report(line)
    assert sentences(answer) == [
        f"{INPUTS}, 20:00",
        "the busiest link is b->c, with a load of 120.0 % of its capacity at 20:00",
        "What breaks when a link fails: no answer, it is too large",
        "load of the busiest link under the worst failure of a link: 120.0 % as it is; 2 times the"
        " capacity of b - c: 60.0 %",
        "busiest link after 9 tries: 50.0 % of its capacity; the best usual weights (hops) give"
        " 70.0 %",
    ]
    assert len(tables(answer)) == sum(len(tables(part)) for part in answer.sections.values())


def test_a_report_with_failures_says_the_worst(line):
    answer = Overview(line, {"failures": survey(line)}, {
        "load": "x", "upgrades": "y", "weights": "z",
    })  # fmt: skip
    assert sentences(answer)[2].startswith("every demand can be met after each failure; ")


def test_a_report_on_a_terminal_has_a_section_for_each_question(line):
    answer = report(line)
    opening, *sections = text(answer).split("\n\nHOW BUSY LINKS ARE\n")
    assert opening == "\n".join(sentences(answer))
    (rest,) = sections
    load, rest = rest.split("\n\nWHAT BREAKS WHEN A LINK FAILS\n")
    # Without the line of inputs, with the table.
    assert load.startswith("the busiest link is b->c")
    assert "95th percentile" in load
    failures, rest = rest.split("\n\nWHICH LINKS TO UPGRADE\n")
    assert failures == "no answer: it is too large"
    upgrades, weights = rest.split("\n\nWEIGHTS THAT MAKE THE BUSIEST LINK LESS BUSY\n")
    assert upgrades.startswith("load of the busiest link under the worst failure")
    assert weights.startswith("busiest link after 9 tries")
    # A title is above its table, where it has one.
    titled = text(replace(answer.sections["load"], unreachable=np.array([0.0, 0.0])))
    assert titled.count("\n\n") == 1


def test_a_page_has_a_part_for_each_question_or_one_without_heading(line):
    answer = report(line)
    parts = page.Report(answer)._parts()
    assert [part["heading"] for part in parts] == [
        "How busy links are", "What breaks when a link fails", "Which links to upgrade",
        "Weights that make the busiest link less busy",
    ]  # fmt: skip
    assert [len(part["figures"]) for part in parts] == [1, 0, 1, 1]
    assert parts[1]["text"] == ["it is too large"]
    assert parts[1]["tables"] == []
    # The first sentence, of the inputs, is above all parts.
    assert parts[0]["text"] == sentences(answer.sections["load"])[1:]
    assert parts[3]["text"] == sentences(answer.sections["weights"])[1:]
    assert parts[2]["tables"] == tables(answer.sections["upgrades"])
    (alone,) = page.Report(answer.sections["load"])._parts()
    assert (alone["heading"], alone["text"]) == ("", [])
    assert alone["tables"] == tables(answer.sections["load"])
    assert len(alone["figures"]) == 1


def test_a_report_is_written_with_its_page_map_numbers_and_weights(line, tmp_path):
    answer = report(line)
    file = page.Report(answer).save(tmp_path / "out", command="ackclock plan report line.csv")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "index.html", "map.svg", "plan.json", "weights.csv",
    }  # fmt: skip
    content = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "<title>line: report" in content
    assert "ackclock plan report line.csv" in content
    assert str(file).endswith("index.html")
    page.Report(answer.sections["load"]).save(tmp_path / "load", command="x")
    assert not (tmp_path / "load" / "weights.csv").exists()
    page.Report(answer.sections["weights"]).save(tmp_path / "weights", command="x")
    assert (tmp_path / "weights" / "weights.csv").exists()
