"""Parts of a planner's analysis: they are of one network, one set of demands and one request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ackclock.errors import ScenarioError
from ackclock.studies.planner import failures
from ackclock.studies.planner.failures import failure_from_names, survey
from ackclock.studies.planner.given import GivenPaths
from ackclock.studies.planner.hashing import Hashing
from ackclock.studies.planner.resume import Parts
from ackclock.studies.planner.situation import Situation, read_situation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LINKS = """source,target,capacity_bps,weight
a,b,10 Gbps,1
b,c,10 Gbps,1
c,d,10 Gbps,1
d,a,10 Gbps,1
"""
DEMANDS = "source,target,demand_bps\na,b,4 Gbps\nb,c,1 Gbps\na,c,8 Gbps\n"


def square(folder: Path) -> Situation:
    (folder / "links.csv").write_text(LINKS)
    (folder / "demands.csv").write_text(DEMANDS)
    return read_situation(folder / "links.csv", demands=folder / "demands.csv")


def with_graph(situation: Situation, **changes: object) -> Situation:
    graph = replace(situation.network.graph, **changes)  # type: ignore[arg-type]
    return replace(situation, network=replace(situation.network, graph=graph))


def with_volume(situation: Situation) -> Situation:
    demands = replace(situation.demands, volume=situation.demands.volume * 2)
    return replace(situation, demands=demands)


def with_ends(situation: Situation) -> Situation:
    demands = situation.demands
    return replace(
        situation, demands=replace(demands, source=demands.target, target=demands.source)
    )


def with_paths(situation: Situation, share: float) -> Situation:
    one = np.array([0], dtype=np.uint32)
    ends = np.array([0, 1], dtype=np.uint32)
    return replace(situation, paths=GivenPaths(one, np.array([share]), ends, one))


CHANGES: dict[str, Callable[[Situation], Situation]] = {
    "weights": lambda s: s.with_cost(np.array([2.0, 1, 1, 1, 1, 1, 1, 1])),
    "capacities": lambda s: with_graph(s, capacity=s.capacity * 2),
    "demands": with_volume,
    "ends of demands": with_ends,
    "hashing": lambda s: replace(s, hashing=Hashing(1e9)),
    "paths": lambda s: with_paths(s, 1.0),
}


@pytest.mark.parametrize("changed", CHANGES)
def test_parts_of_another_network_or_of_other_demands_are_refused(
    tmp_path: Path, changed: str
) -> None:
    before = square(tmp_path)
    Parts(tmp_path / "parts", before, "links").write(3, {"values": np.arange(4.0)})
    # The same inputs, read again, are the same analysis.
    again = Parts(tmp_path / "parts", square(tmp_path), "links").read(3)
    assert again is not None
    assert again["values"].tolist() == [0, 1, 2, 3]
    with pytest.raises(ScenarioError, match="parts of an analysis of other inputs"):
        Parts(tmp_path / "parts", CHANGES[changed](before), "links")
    with pytest.raises(ScenarioError, match="parts of an analysis of other inputs"):
        Parts(tmp_path / "parts", before, "nodes")


def test_seeds_and_shares_of_paths_are_inputs(tmp_path: Path) -> None:
    before = square(tmp_path)
    pairs = [
        (replace(before, hashing=Hashing(1e9, 1)), replace(before, hashing=Hashing(1e9, 2))),
        (with_paths(before, 1.0), with_paths(before, 0.5)),
    ]
    for number, (one, other) in enumerate(pairs):
        folder = tmp_path / f"parts{number}"
        Parts(folder, one, "links").write(0, {"values": np.arange(4.0)})
        with pytest.raises(ScenarioError, match="parts of an analysis of other inputs"):
            Parts(folder, other, "links")


def test_a_part_in_pieces_is_computed_anew(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "parts", square(tmp_path), "links")
    parts.write(0, {"values": np.arange(4.0)})
    (path,) = (tmp_path / "parts").glob("*.part")
    whole = path.read_bytes()
    flipped = whole.replace(np.float64(3.0).tobytes(), np.float64(4.0).tobytes())
    for damaged in (b"", whole[:40], whole[:-40], b"x" * 200, flipped):
        assert damaged != whole
        path.write_bytes(damaged)
        assert parts.read(0) is None
    path.write_bytes(whole)
    assert parts.read(0) is not None
    assert parts.read(1) is None


def test_what_a_node_sends_itself_is_not_lost_to_others_when_it_fails(tmp_path: Path) -> None:
    situation = square(tmp_path)
    # b is an end of 5 Gbit/s; 8 from a to c go by d, which carries them.
    found = survey(situation, failed=[failure_from_names(situation, ["b"])])
    assert found.impact["own"][0] == pytest.approx(5e9)
    assert found.hurt[0].lost == 0
    assert found.hurt[0].count == 0
    # Without c too nothing of a to c is left: its own as well.
    both = survey(situation, failed=[failure_from_names(situation, ["b", "d"])])
    assert both.hurt[0].lost == pytest.approx(8e9)
    assert [pair for pair, _, _ in both.hurt[0].demands] == ["a->c"]


def drawn(seed: int, sizes: tuple[float, ...], nodes: int) -> Situation:
    """A random network of 26 links of such sizes [Gbit/s], with a full matrix."""
    from ackclock.engines.fluid.graph import Graph
    from ackclock.studies.bottlenecks.demands import Demands
    from ackclock.studies.bottlenecks.operators import Network

    random = np.random.default_rng(seed)
    links = 26
    ends = {(i, int(random.integers(0, i))) for i in range(1, nodes)}
    while len(ends) < links:
        a, b = sorted((int(v) for v in random.integers(0, nodes, 2)), reverse=True)
        if a != b:
            ends.add((a, b))
    src, dst = np.array(
        [pair for a, b in sorted(ends) for pair in ((a, b), (b, a))], dtype=np.uint32
    ).T
    cost = np.repeat(random.integers(1, 4, links), 2).astype(float)
    capacity = np.repeat(random.choice(sizes, links), 2) * 1e9
    names = tuple(f"n{i}" for i in range(nodes))
    graph = Graph(names, src.copy(), dst.copy(), capacity, cost)
    pairs = np.array([(a, b) for a in range(nodes) for b in range(nodes) if a != b])
    source, target = pairs.astype(np.uint32).T
    demands = Demands(
        source.copy(), target.copy(), ("",), random.exponential(2e8, len(pairs))[None]
    )
    network = Network("drawn", graph, np.full((nodes, 2), np.nan), {n: n for n in names})
    return Situation(network, cost, demands, 0)


# With very unequal links something is lost; dense and of equal ones the busiest link decides.
@pytest.mark.parametrize(("sizes", "nodes"), [((1.0, 30.0), 12), ((40.0,), 9)])
@pytest.mark.parametrize("seed", range(8))
def test_a_pair_that_is_pruned_is_not_among_the_worst(
    seed: int, sizes: tuple[float, ...], nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    situation = drawn(seed, sizes, nodes)
    # All pairs in one batch: nothing is pruned. Then after each few. The longer the list of the
    # worst, the more a wrong bound leaves out of it.
    monkeypatch.setattr(failures, "MOST", 60)
    monkeypatch.setattr(failures, "_BATCH", 1000)
    every = survey(situation, "pairs")
    assert every.solved == every.tried == 325
    monkeypatch.setattr(failures, "_BATCH", 5)
    found = survey(situation, "pairs")
    for i in range(failures.MOST):
        assert found.least_lost(i) == pytest.approx(every.least_lost(i), rel=1e-6)
        if every.least_lost(i) == 0:
            assert found.impact["utilisation"][i] == pytest.approx(every.impact["utilisation"][i])
