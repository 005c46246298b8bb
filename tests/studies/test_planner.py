"""The planner: inputs, loads over time, failures, upgrades, weights; by hand and by brute force."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from ackclock.cli.main import cli
from ackclock.engines.fluid.graph import Graph
from ackclock.engines.fluid.net import FluidNet
from ackclock.errors import ScenarioError
from ackclock.studies.bottlenecks.operators import read_network
from ackclock.studies.bottlenecks.survey import survey as survey_rates
from ackclock.studies.planner.answers import text
from ackclock.studies.planner.enforcement import enforcement
from ackclock.studies.planner.failures import everything, failure_from_names, survey
from ackclock.studies.planner.hashing import Hashing
from ackclock.studies.planner.situation import Situation, read_situation
from ackclock.studies.planner.upgrades import most_carried, upgrades
from ackclock.studies.planner.utilisation import Utilisation, utilisation
from ackclock.studies.planner.weights import least_utilisation, search

if TYPE_CHECKING:
    from pathlib import Path

RING = """source,target,capacity_bps,back_capacity_bps,weight,srlg
a,b,10 Gbps,,1,duct
b,c,10 Gbps,5 Gbps,1,duct
c,d,10 Gbps,,1,
d,a,10 Gbps,,1,
"""
SERIES = """time,source,target,demand_bps
2026-11-25T08:00,a,c,2 Gbps
2026-11-25T08:00,c,a,1e9
2026-11-25T20:00,a,c,8 Gbps
2026-11-25T20:00,a,b,4 Gbps
"""


def ring(folder: Path, at: str | None = None) -> Situation:
    (folder / "ring.csv").write_text(RING)
    (folder / "series.csv").write_text(SERIES)
    return read_situation(folder / "ring.csv", demands=folder / "series.csv", time=at)


def test_loads_over_time_divide_equally(tmp_path: Path) -> None:
    found = utilisation(ring(tmp_path))
    by_name = {found.situation.direction(i): found.used[:, i] for i in range(8)}
    assert by_name["a->b"] == pytest.approx([0.1, 0.8])
    assert by_name["b->c"] == pytest.approx([0.1, 0.4])
    assert by_name["c->b"] == pytest.approx([0.1, 0.0])  # 0.5 of 5 Gbit/s
    data = found.to_data()
    assert data["links"][0]["link"] == "a->b"
    assert data["links"][0]["time_of_max"] == "2026-11-25T20:00"


def test_what_breaks_at_eight_in_the_evening(tmp_path: Path) -> None:
    situation = ring(tmp_path, "20:00")
    found = survey(situation, failed=[failure_from_names(situation, ["d"])])
    # All goes by b: 12 of 10 Gbit/s from a to b, whatever is done.
    assert found.impact["utilisation"][0] == pytest.approx(1.2)
    assert found.least_lost(0) == pytest.approx(2e9)
    assert found.hurt[0].lost == pytest.approx(2e9)
    assert found.base_lost == 0
    assert {pair for pair, _, _ in found.hurt[0].demands} == {"a->c", "a->b"}
    assert [part for _, _, part in found.hurt[0].demands] == pytest.approx([10 / 12, 10 / 12])
    both = survey(situation, "risk-groups")
    assert both.failed[0].name == "duct"
    assert both.impact["disconnected"][0] == pytest.approx(4e9)  # to b
    node = survey(situation, failed=[failure_from_names(situation, ["b"])])
    assert node.impact["own"][0] == pytest.approx(4e9)
    assert node.impact["disconnected"][0] == 0


def drawn(seed: int, nodes: int = 9, links: int = 15) -> Situation:
    """A random network as the reader would make it, with a full matrix."""
    from ackclock.engines.fluid.graph import Graph
    from ackclock.studies.bottlenecks.demands import Demands
    from ackclock.studies.bottlenecks.operators import Network

    random = np.random.default_rng(seed)
    ends = {(i, int(random.integers(0, i))) for i in range(1, nodes)}
    while len(ends) < links:
        a, b = (int(v) for v in random.integers(0, nodes, 2))
        if a != b and (a, b) not in ends and (b, a) not in ends:
            ends.add((a, b))
    both = [pair for a, b in sorted(ends) for pair in ((a, b), (b, a))]
    src, dst = np.array(both, dtype=np.uint32).T
    cost = np.repeat(random.integers(1, 4, links), 2).astype(float)
    capacity = np.repeat(random.integers(5, 30, links), 2).astype(float) * 1e9
    names = tuple(f"n{i}" for i in range(nodes))
    graph = Graph(names, src.copy(), dst.copy(), capacity, cost)
    pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
    source, target = np.array(pairs, dtype=np.uint32).T
    volume = random.exponential(3e8, len(pairs))
    network = Network("drawn", graph, np.full((nodes, 2), np.nan), {n: n for n in names})
    return Situation(network, cost, Demands(source.copy(), target.copy(), ("",), volume[None]), 0)


def on_paths(situation: Situation, seed: int) -> Situation:
    """Put a part of every third demand on its first shortest path by other weights."""
    from ackclock.studies.planner.given import GivenPaths

    random = np.random.default_rng(seed)
    other = situation.with_cost(np.repeat(random.integers(1, 9, situation.links), 2).astype(float))
    pairs = np.arange(0, len(situation.volume), 3)
    net, _ = other.route(np.isin(np.arange(len(situation.volume)), pairs), situation.volume[pairs])
    share = random.choice([0.25, 1.0], len(pairs))
    return replace(
        situation, paths=GivenPaths(pairs.astype(np.uint32), share, net.offsets, net.hops)
    )


@pytest.mark.parametrize("seed", range(9))
def test_pairs_that_are_skipped_are_not_among_the_worst(seed: int) -> None:
    situation = drawn(seed)
    if seed % 3 == 1:
        situation = on_paths(situation, seed)
    elif seed % 3 == 2:
        situation = replace(situation, hashing=Hashing(3e8, seed))
    links = everything(situation, "links")
    pairs = [failure_from_names(situation, [a.name, b.name]) for a, b in combinations(links, 2)]
    found, all_pairs = survey(situation, "pairs"), survey(situation, failed=pairs)
    assert found.tried == len(pairs) == 105
    for i in range(10):
        assert found.least_lost(i) == pytest.approx(all_pairs.least_lost(i), rel=1e-6)
        if all_pairs.least_lost(i) == 0:
            expected = all_pairs.impact["utilisation"][i]
            assert found.impact["utilisation"][i] == pytest.approx(expected)


def test_most_pairs_of_a_larger_network_are_skipped() -> None:
    found = survey(drawn(3, nodes=40, links=80), "pairs")
    assert found.tried == 80 * 79 // 2
    assert found.solved < found.tried


@pytest.mark.parametrize("goal", ["utilisation", "failure"])
@pytest.mark.parametrize("seed", range(3))
def test_no_other_links_are_better_to_upgrade(seed: int, goal: str) -> None:
    situation = drawn(seed)
    found = upgrades(situation, goal, count=2, factor=1.5)  # type: ignore[arg-type]
    best = np.inf
    for rows in combinations(range(situation.links), 2):
        capacity = situation.capacity.copy()
        for row in rows:
            capacity[2 * row : 2 * row + 2] *= 1.5
        used = situation.loads / capacity
        if goal == "failure":
            worst = survey(situation, "links").worst
            assert worst is not None
            used = np.maximum(used, worst / capacity)
        best = min(best, float(used.max()))
    assert found.after == pytest.approx(best)
    assert found.proof == "exact"


def test_upgrades_of_rates_meet_their_bound(tmp_path: Path) -> None:
    situation = ring(tmp_path, "20:00")
    found = upgrades(situation, "total", count=1, factor=2)
    assert found.before == pytest.approx(10e9)  # one shortest path: a, b, c
    assert found.after == pytest.approx(12e9)
    assert found.proof == "exact"


@pytest.mark.parametrize(
    ("count", "factor", "demand", "most"),
    [
        (0, 2.0, None, 10.0),
        (1, 1.0, None, 10.0),
        (1, 1.5, None, 13.0),
        (2, 1.5, None, 15.0),
        (1, 3.0, None, 22.0),
        (1, 3.0, [3.0, 5.0, 2.0], 10.0),
    ],
)
def test_the_most_that_an_upgrade_can_carry_by_hand(
    count: int, factor: float, demand: list[float] | None, most: float
) -> None:
    """Links of 6 and 4, a flow on each and one on both, which is better left out."""
    ends = np.arange(3, dtype=np.uint32)
    graph = Graph(("a", "b", "c"), ends[:-1], ends[1:], np.array([6.0, 4.0]))
    wanted = None if demand is None else np.array(demand)
    net = FluidNet.from_routes([6.0, 4.0], [[0], [1], [0, 1]], demand=wanted, graph=graph)
    assert most_carried(net, count, factor) == pytest.approx(most)


@pytest.mark.parametrize("seed", range(3))
def test_weights_come_between_bound_and_baselines(seed: int) -> None:
    situation = drawn(seed)
    found = search(situation, tries=300, most=10, seed=seed)
    again = search(situation, tries=300, most=10, seed=seed)
    assert (found.cost == again.cost).all()
    assert found.bound is not None
    assert found.bound * (1 - 1e-6) <= found.utilisation <= min(found.baselines.values()) + 1e-9
    assert situation.with_cost(found.cost).utilisation.max() == pytest.approx(found.utilisation)


def test_the_bound_over_all_routings_uses_both_ways(tmp_path: Path) -> None:
    # 12 Gbit/s leave a over two links of 10.
    assert least_utilisation(ring(tmp_path, "20:00")) == pytest.approx(0.6)


LINE = """source,target,capacity_bps
a,m,10 Gbps
b,m,10 Gbps
m,n,10 Gbps
n,c,10 Gbps
n,d,2 Gbps
"""


def line(folder: Path) -> Situation:
    """Two senders over one link, one of them to a narrow end."""
    (folder / "line.csv").write_text(LINE)
    text = "source,target,demand_bps\na,c,4 Gbps\nb,d,2 Gbps\n"
    (folder / "flows.csv").write_text(text)
    return read_situation(folder / "line.csv", demands=folder / "flows.csv")


def test_fair_queueing_where_fire_hoses_meet_others_by_hand(tmp_path: Path) -> None:
    """Either of two demands may be the fire hose, which pushes 5 times as much."""
    found = enforcement(line(tmp_path), count=1, push=5, draws=200)
    nowhere, most, everywhere = found.baselines
    # Where b->d pushes 10, m drops 4 of 14: a->c gets 4 x 10 / 14. Where a->c pushes 20, a's own
    # link lets 10 pass, and b->d gets 2 x 10 / 12 at m, all of which passes n.
    chances = [4 * 10 / 14, 2 * 10 / 12]
    part = (found.demanded / 1e9 - 2) / 2  # of the draws in which a->c is polite
    assert 0.4 < part < 0.6
    expected = part * chances[0] + (1 - part) * chances[1]
    assert nowhere.polite == pytest.approx(1e9 * expected)
    assert nowhere.least == pytest.approx(10 / 14)
    assert found.best.routers == ("m",)
    # By weights 2 and 1 of 10, both polite demands are within their share.
    assert found.best.polite == pytest.approx(found.demanded)
    assert everywhere.polite == pytest.approx(found.demanded)
    assert found.proof == "exact"
    assert found.bound == pytest.approx(found.demanded)
    assert most.routers in {("m",), ("a",)}
    # The fire hose to d dies at n, for nothing, once m has let it through.
    assert nowhere.dead > 0


@pytest.mark.parametrize("seed", range(3))
def test_no_routers_save_more_than_the_ones_found(seed: int) -> None:
    situation = drawn(seed)
    options = {"share": 0.5, "push": 4.0, "draws": 2, "seed": seed}
    found = enforcement(situation, count=2, **options)  # type: ignore[arg-type]
    again = enforcement(situation, count=2, **options)  # type: ignore[arg-type]
    assert found.to_data() == again.to_data()
    assert found.proof == "exact"
    assert found.bound is not None
    everyone = [found.best, *found.baselines]
    assert all(one.polite <= found.bound * (1 + 1e-6) for one in everyone)
    assert found.best.polite >= found.baselines[1].polite * (1 - 1e-9)
    single = enforcement(situation, count=1, **options)  # type: ignore[arg-type]
    assert found.best.polite >= single.best.polite * (1 - 1e-9)


def test_routers_are_added_one_by_one_where_sets_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    situation = drawn(1)
    best = enforcement(situation, count=2, push=4, draws=2)
    monkeypatch.setattr("ackclock.studies.planner.enforcement._MOST_SETS", 1)
    found = enforcement(situation, count=2, push=4, draws=2)
    assert found.proof == "bound"
    assert list(found.steps) == sorted(found.steps)
    assert found.steps[-1] == found.best.polite <= best.best.polite * (1 + 1e-9)
    assert len(found.best.routers) == len(found.steps)


def test_without_fire_hoses_and_overload_fair_queueing_changes_nothing(tmp_path: Path) -> None:
    found = enforcement(line(tmp_path), share=0)
    assert found.candidates == 0
    assert found.best.routers == ()
    assert [one.polite for one in found.baselines] == pytest.approx([6e9] * 3)
    with pytest.raises(ScenarioError, match="expected at least 1"):
        enforcement(line(tmp_path), push=0.5)


def test_gravity_meets_what_nodes_send(tmp_path: Path) -> None:
    (tmp_path / "ring.csv").write_text(RING)
    (tmp_path / "nodes.csv").write_text("node,out_bps,in_bps\na,6 Gbps,\nb,2e9,1 Gbps\nc,0,3e9\n")
    situation = read_situation(tmp_path / "ring.csv", gravity_file=tmp_path / "nodes.csv")
    demands = situation.demands
    pairs = {situation.pair(i): demands.volume[0, i] for i in range(len(demands.source))}
    assert pairs["a->b"] == pytest.approx(6e9 * 1 / 4)
    assert pairs["a->c"] == pytest.approx(6e9 * 3 / 4)
    assert pairs["b->a"] + pairs["b->c"] == pytest.approx(2e9)
    assert len(pairs) == 4


def test_all_problems_of_a_file_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "ring.csv").write_text(RING)
    bad = "source,target,demand_bps\na,z,1\na,b,nan\nb,b,1\na,c,-1\na,d,2 Gpbs\na,b,1\na,b,2\n"
    (tmp_path / "bad.csv").write_text(bad)
    with pytest.raises(ScenarioError) as caught:
        read_situation(tmp_path / "ring.csv", demands=tmp_path / "bad.csv")
    lines = [p.message.split(":")[0] for p in caught.value.problems]
    assert lines == ["line 2", "line 3", "line 4", "line 5", "line 6", "line 8"]
    with pytest.raises(ScenarioError) as caught:
        survey_rates(tmp_path / "ring.csv", tmp_path / "bad.csv")
    assert [p.message.split(":")[0] for p in caught.value.problems] == lines
    with pytest.raises(ScenarioError, match='there is no time "9"'):
        ring(tmp_path, "9")
    with pytest.raises(ScenarioError, match="did you mean"):
        failure_from_names(ring(tmp_path), ["a - bb"])
    (tmp_path / "zero.csv").write_text("source,target,capacity_bps,weight\na,b,1 Gbps,0\n")
    with pytest.raises(ScenarioError, match='line 2: has the weight "0"'):
        read_situation(tmp_path / "zero.csv", demands=tmp_path / "series.csv")


def test_names_without_their_spaces_and_no_empty_ones(tmp_path: Path) -> None:
    links = "source,target,capacity_bps\n a,b ,2 Gbps\nb, c,2Gbps\n"
    (tmp_path / "links.csv").write_text(links)
    (tmp_path / "one.csv").write_text("source,target,demand_bps\na , c,1 Gbps\n")
    found = read_situation(tmp_path / "links.csv", demands=tmp_path / "one.csv")
    assert found.network.graph.nodes == ("a", "b", "c")
    traffic = found.demands.traffic(0)
    assert (traffic.src.tolist(), traffic.dst.tolist()) == ([0], [2])
    (tmp_path / "empty.csv").write_text("source,target,capacity_bps\n,b,1e9\na, ,1e9\n")
    with pytest.raises(ScenarioError) as caught:
        read_network(tmp_path / "empty.csv")
    assert [p.message.split(";")[0] for p in caught.value.problems] == [
        "names no source",
        "names no target",
    ]


def test_problems_of_both_files_and_pairs_without_a_path(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("source,target,capacity_bps\na,b,nan\n")
    bad = "source,target,demand_bps,flows\na,b,-1,1\nb,a,1,0\n"
    (tmp_path / "bad.csv").write_text(bad)
    with pytest.raises(ScenarioError) as caught:
        read_situation(tmp_path / "links.csv", demands=tmp_path / "bad.csv")
    lines = [p.message.split(":")[0] for p in caught.value.problems]
    assert lines[1:] == ["line 2", "line 3"]
    (tmp_path / "apart.csv").write_text("source,target,capacity_bps\na,b,1e9\nc,d,1e9\n")
    (tmp_path / "over.csv").write_text("source,target,demand_bps\na,b,1\na,d,1\n")
    apart = read_situation(tmp_path / "apart.csv", demands=tmp_path / "over.csv")
    for find in (lambda: upgrades(apart, "total"), lambda: enforcement(apart)):
        with pytest.raises(ScenarioError, match="there is no path from a to d"):
            find()


def test_demands_without_a_path_are_named_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "apart.csv").write_text("source,target,capacity_bps\na,b,1e9\nc,d,1e9\n")
    rows = ["8:00,a,b,1", "9:00,a,b,1", "9:00,a,d,2", "8:00,b,c,3", "9:00,b,c,3"]
    (tmp_path / "over.csv").write_text("time,source,target,demand_bps\n" + "\n".join(rows) + "\n")
    apart = read_situation(tmp_path / "apart.csv", demands=tmp_path / "over.csv", time="9:00")
    with pytest.raises(ScenarioError) as caught:
        upgrades(apart, "total")
    found = [(p.path, p.message, p.file) for p in caught.value.problems]
    file = str(tmp_path / "over.csv")
    assert found == [
        ("demands", "line 4: there is no path from a to d", file),
        ("demands", "line 6: there is no path from b to c", file),
    ]
    shown = text(utilisation(apart))
    assert shown.splitlines()[-3:] == [
        "demand  line of over.csv",
        "a->d                   4",
        "b->c                   6",
    ]
    (tmp_path / "nodes.csv").write_text("node,out_bps,in_bps\na,1,0\nc,0,1\n")
    gravity = read_situation(tmp_path / "apart.csv", gravity_file=tmp_path / "nodes.csv")
    with pytest.raises(ScenarioError, match=r"nodes.csv: gravity: line 2: .*from a to c"):
        enforcement(gravity)
    many = "source,target,demand_bps\n" + "".join(f"x{i},y{i},1\n" for i in range(30))
    links = "source,target,capacity_bps\n" + "".join(
        f"x{i},x{i + 1},1\ny{i},y{i + 1},1\n" for i in range(29)
    )
    (tmp_path / "two.csv").write_text(links)
    (tmp_path / "many.csv").write_text(many)
    with pytest.raises(ScenarioError) as caught:
        upgrades(read_situation(tmp_path / "two.csv", demands=tmp_path / "many.csv"), "total")
    assert len(caught.value.problems) == 21
    assert caught.value.problems[-1].message == "and 10 more pairs have no path"


def test_an_interrupted_analysis_goes_on_where_it_was(tmp_path: Path) -> None:
    situation = drawn(2)
    folder, memory = tmp_path / "parts", 8 * 30 * 4  # four failures at once
    whole = survey(situation, "links")
    assert text(survey(situation, "links", memory=memory, resume=folder)) == text(whole)
    assert not folder.exists()
    seen: list[float] = []

    def stop(done: float) -> None:
        if done > 0.6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        survey(situation, "links", memory=memory, resume=folder, progress=stop)
    # Of four parts two are done.
    assert len(list(folder.glob("*.part"))) == 2
    with pytest.raises(ScenarioError, match="parts of an analysis of other inputs"):
        survey(drawn(3), "links", memory=memory, resume=folder)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(ScenarioError, match=r'has other files \("notes.txt"\)'):
        survey(situation, "links", memory=memory, resume=folder)
    (folder / "notes.txt").unlink()
    rest = survey(situation, "links", memory=memory, resume=folder, progress=seen.append)
    assert text(rest) == text(whole)
    assert min(seen) > 0.5


def test_interrupted_pairs_go_on_where_they_were(tmp_path: Path) -> None:
    situation = replace(drawn(4, nodes=14, links=30), hashing=Hashing(3e8))
    folder = tmp_path / "parts"
    whole = survey(situation, "pairs")
    assert whole.solved == whole.tried == 435

    def stop(done: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        survey(situation, "pairs", resume=folder, progress=stop)
    # Single failures, and the first of two batches.
    assert len(list(folder.glob("*.part"))) == 2
    assert text(survey(situation, "pairs", resume=folder)) == text(whole)
    assert not folder.exists()
    found = upgrades(situation, "failure", count=2, resume=folder)
    assert found.to_data() == upgrades(situation, "failure", count=2).to_data()
    with pytest.raises(ScenarioError, match="--goal total has nothing to keep"):
        upgrades(situation, "total", resume=folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["load"],
        ["failures", "--at", "20:00", "--fail", "d"],
        ["failures", "--of", "pairs"],
        ["upgrades", "--goal", "failure"],
        ["weights", "--tries", "20"],
        ["enforce", "--at", "20:00", "--hoses", "0.4", "--draws", "3"],
        ["load", "--ecmp", "hash", "--hashes", "3"],
        ["failures", "--ecmp", "hash", "--hashes", "3", "--same-hash"],
        ["upgrades", "--ecmp", "hash", "--flow-rate", "1 Gbps", "--goal", "total"],
        ["enforce", "--at", "20:00", "--ecmp", "hash", "--draws", "1"],
        ["load", "--paths", "paths.csv"],
        ["failures", "--of", "pairs", "--paths", "paths.csv"],
        ["upgrades", "--goal", "total", "--paths", "paths.csv"],
        ["weights", "--tries", "20", "--paths", "paths.csv"],
        ["enforce", "--draws", "1", "--paths", "paths.csv", "--ecmp", "hash"],
    ],
)
def test_each_question_is_a_command_with_a_page(tmp_path: Path, arguments: list[str]) -> None:
    ring(tmp_path)
    out = tmp_path / "out"
    (tmp_path / "paths.csv").write_text("path,share\na;d;c,0.5\n")
    arguments = [str(tmp_path / one) if one == "paths.csv" else one for one in arguments]
    files = [str(tmp_path / "ring.csv"), "--demands", str(tmp_path / "series.csv")]
    run = CliRunner().invoke(cli, ["plan", *arguments, *files, "--out", str(out)])
    assert run.exit_code == 0, run.output
    assert run.output.startswith("ring: 4 nodes, 4 links, 3 demands")
    assert "<svg" in (out / "index.html").read_text()
    assert json.loads((out / "plan.json").read_text())["network"] == "ring"


def test_of_links_with_one_95th_percentile_the_one_with_the_greater_mean_is_busier():
    """Each is full in two of 20 intervals; in the others they have 1, 5 and 3 of 10."""
    rest = np.array([1.0, 5.0, 3.0, 9.0])
    loads = np.tile(rest, (20, 1))
    loads[:2, :3] = 10.0
    found = Utilisation(SimpleNamespace(capacity=np.full(4, 10.0)), loads, np.zeros(20))
    assert found.percentile(95).tolist() == pytest.approx([1, 1, 1, 0.9])
    assert found.busiest() == [1, 2, 0, 3]
