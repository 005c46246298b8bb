"""What breaks when links, nodes or risk groups fail, alone or two links at a time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ackclock.errors import Problem, ScenarioError, suggestion
from ackclock.studies.planner.percentiles import by_name, quantiles
from ackclock.studies.planner.resume import Parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from ackclock.studies.planner.situation import Situation

    Floats = npt.NDArray[np.float64]

__all__ = ["Failed", "FailureSurvey", "Hurt", "Kind", "everything", "failure_from_names", "survey"]

Kind = Literal["links", "nodes", "risk-groups", "pairs"]
"""What fails: each full-duplex link, each node, each shared-risk group, each two links."""

MEMORY = 1 << 30
"""Bytes for loads under failures, by default."""
MOST = 10
"""Failures whose hurt demands are found, and demands listed for each."""
_BATCH = 256
_MOST_PAIRED = 4000
"""Links whose pairs are compared: a table of their loads under each other has its square."""
_ROUNDS = 200
_SAME = 1e-9


@dataclass(frozen=True)
class Failed:
    """What fails together.

    Parameters
    ----------
    name
        In words.
    links
        Directed links.
    nodes
        Nodes.
    """

    name: str
    links: tuple[int, ...]
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Hurt:
    """What a failure does to single demands, where overloaded links drop in proportion.

    Parameters
    ----------
    lost
        Volume [bit/s] between working nodes that does not arrive.
    demands
        The worst, as pair, demand [bit/s], and the part of it that arrives.
    count
        How many lose something beyond what they lose without the failure.
    settled
        Whether the rates came to rest; if not, they are those of the last round.
    """

    lost: float
    demands: tuple[tuple[str, float, float], ...]
    count: int
    settled: bool


@dataclass(frozen=True)
class FailureSurvey:
    """What each failure does, the worst first.

    Parameters
    ----------
    situation
        Network and demands.
    kind
        What failed.
    tried
        How many failures there are.
    solved
        How many of them were computed; the others cannot be among the worst.
    failed
        The failures, the worst first; of pairs the worst only.
    impact
        What each does: ``utilisation``, ``busiest``, ``overloaded``, ``excess``, ``disconnected``,
        ``own``, each ``(n_failures,)``.
    base
        Loads without failure, ``(n_links,)``.
    base_lost
        Volume [bit/s] that does not arrive without failure.
    hurt
        Of the worst failures, what they do to demands.
    worst
        Largest load of each link under any of the failures, ``(n_links,)``.
    hashed
        Where flows are hashed by several seeds: of the worst failures the utilisation of the
        busiest link left, by seed, ``(n_seeds, n_worst)``.
    """

    situation: Situation
    kind: str
    tried: int
    solved: int
    failed: tuple[Failed, ...]
    impact: dict[str, npt.NDArray[Any]]
    base: Floats
    base_lost: float
    hurt: tuple[Hurt, ...] = field(default=())
    worst: Floats | None = None
    hashed: Floats | None = None

    def least_lost(self, i: int) -> float:
        """Volume [bit/s] that cannot be delivered whatever senders do, of failure i.

        Parameters
        ----------
        i
            Its place.
        """
        return float(self.impact["disconnected"][i] + self.impact["excess"][i])

    def own(self, i: int) -> float:
        """Demand [bit/s] from or to nodes that failed, which no network can meet, of failure i.

        Parameters
        ----------
        i
            Its place.
        """
        return float(self.impact["own"][i])

    def to_data(self) -> dict[str, Any]:
        """All numbers as plain data."""
        rows = []
        for i, failed in enumerate(self.failed):
            busiest = int(self.impact["busiest"][i])
            row: dict[str, Any] = {
                "failed": failed.name,
                "least_lost_bps": self.least_lost(i),
                "disconnected_bps": float(self.impact["disconnected"][i]),
                "own_bps": self.own(i),
                "overloaded_links": int(self.impact["overloaded"][i]),
                "utilisation": float(self.impact["utilisation"][i]),
                "busiest": self.situation.direction(busiest),
            }
            if i < len(self.hurt):
                hurt = self.hurt[i]
                row["lost_bps"] = hurt.lost
                row["demands_hurt"] = hurt.count
                row["settled"] = hurt.settled
                row["demands"] = [
                    {"pair": pair, "demand_bps": demand, "arrives": arriving_share}
                    for pair, demand, arriving_share in hurt.demands
                ]
            if self.hashed is not None and i < self.hashed.shape[1]:
                row["utilisation_over_hashes"] = by_name(quantiles(self.hashed[:, i]))
            rows.append(row)
        used = self.base / self.situation.capacity
        return {
            "question": "failures",
            "network": self.situation.network.title,
            "time": self.situation.demands.times[self.situation.time],
            "of": self.kind,
            "failures": self.tried,
            "computed": self.solved,
            "demand_bps": float(self.situation.volume.sum()),
            "utilisation": float(used.max()),
            "busiest": self.situation.direction(int(used.argmax())),
            "lost_bps": self.base_lost,
            "worst": rows,
        }


def everything(situation: Situation, kind: Kind) -> list[Failed]:
    """List all failures of a kind but pairs.

    Parameters
    ----------
    situation
        The network.
    kind
        ``links``, ``nodes`` or ``risk-groups``.

    Raises
    ------
    ScenarioError
        There is no such kind, or the network names no risk groups.
    """
    if kind == "links":
        return [_link(situation, row) for row in range(situation.links)]
    if kind == "nodes":
        return [_node(situation, node) for node in range(len(situation.network.graph.nodes))]
    if kind == "risk-groups":
        groups = situation.network.risk_groups
        if not groups:
            message = "the network names no risk groups; expected a column or attribute srlg"
            raise ScenarioError([Problem("--of", message)])
        return [
            Failed(name, tuple(d for row in rows for d in (2 * row, 2 * row + 1)))
            for name, rows in groups.items()
        ]
    kinds = get_args(Kind)
    raise ScenarioError([Problem("--of", f'"{kind}" is not one; {suggestion(kind, kinds)}')])


def _link(situation: Situation, row: int) -> Failed:
    return Failed(situation.link(row), (2 * row, 2 * row + 1))


def _node(situation: Situation, node: int) -> Failed:
    graph = situation.network.graph
    at = np.flatnonzero((graph.src == node) | (graph.dst == node))
    return Failed(graph.nodes[node], tuple(int(link) for link in at), (node,))


def failure_from_names(situation: Situation, names: Sequence[str]) -> Failed:
    """Make one failure of nodes, links (``a - b``) and risk groups by name.

    Parameters
    ----------
    situation
        The network.
    names
        What fails together.

    Raises
    ------
    ScenarioError
        Every name that is neither.
    """
    network = situation.network
    failures_by_name: dict[str, Failed] = {}
    doubled: set[str] = set()
    for row in range(situation.links):
        link_failure = _link(situation, row)
        a, b = (
            network.graph.nodes[ends[2 * row]] for ends in (network.graph.src, network.graph.dst)
        )
        for written in (link_failure.name, f"{b} - {a}", f"{a}->{b}", f"{b}->{a}"):
            if failures_by_name.setdefault(written, link_failure) is not link_failure:
                doubled.add(written)
    if network.risk_groups:
        failures_by_name |= {group.name: group for group in everything(situation, "risk-groups")}
    failures_by_name |= {name: _node(situation, node) for name, node in network.numbers().items()}
    problems = [
        Problem(
            "--fail",
            f'there is no node, link or risk group "{n}"; {suggestion(n, failures_by_name)}',
        )
        for n in names
        if n not in failures_by_name
    ]
    problems += [
        Problem("--fail", f'"{n}" names several links; fail their nodes, or rename one')
        for n in names
        if n in doubled
    ]
    if problems:
        raise ScenarioError(problems)
    failures = [failures_by_name[name] for name in names]
    return Failed(
        " and ".join(failure.name for failure in failures),
        tuple(dict.fromkeys(link for failure in failures for link in failure.links)),
        tuple(dict.fromkeys(node for failure in failures for node in failure.nodes)),
    )


def _run(
    situation: Situation,
    failed: Sequence[Failed],
    *,
    across: bool = False,
    memory: int = MEMORY,
    progress: Callable[[float], object] | None = None,
) -> dict[str, Any]:
    def lists(of: Sequence[Sequence[int]]) -> tuple[npt.NDArray[np.uint32], ...]:
        offsets = np.cumsum([0, *map(len, of)], dtype=np.uint32)
        return offsets, np.array([value for part in of for value in part], dtype=np.uint32)

    link_offsets, links = lists([failure.links for failure in failed])
    node_offsets, nodes = lists([failure.nodes for failure in failed])
    return situation.core().failures(
        link_offsets=link_offsets,
        links=links,
        node_offsets=node_offsets,
        nodes=nodes,
        across=across,
        memory=memory,
        progress=None if progress is None else lambda done, of: progress(done / of),
    )


_COLUMNS = ("utilisation", "busiest", "overloaded", "excess", "disconnected", "own")


def _order(impact: dict[str, npt.NDArray[Any]]) -> npt.NDArray[np.intp]:
    """By what cannot be delivered, then by utilisation; the last bits of sums decide nothing."""
    lost = _round_off(impact["disconnected"] + impact["excess"])
    return np.lexsort((np.arange(len(lost)), -_round_off(impact["utilisation"]), -lost))


def _round_off(values: npt.NDArray[Any]) -> Floats:
    scale = float(np.max(values, initial=1.0)) or 1.0
    return np.asarray(np.round(values / scale, 9) * scale, dtype=np.float64)


def survey(
    situation: Situation,
    kind: Kind = "links",
    *,
    failed: Sequence[Failed] | None = None,
    memory: int = MEMORY,
    hashes: int = 1,
    resume: Path | None = None,
    progress: Callable[[float], object] | None = None,
) -> FailureSurvey:
    """Let everything of a kind fail, each alone, and find what breaks.

    Failures are ranked by what cannot be delivered: the volume without a path and the largest
    excess of a load over its link. That is a lower bound, since no sender can help it; where
    it is 0, the busiest link decides.

    Of pairs of links only those are computed that can be among the worst: what a second failure
    adds is at most the traffic that the link carries after the first. Where routers hash flows all
    are computed, since a router that loses a next hop moves flows that did not take it.

    Parameters
    ----------
    situation
        Network and demands.
    kind
        What fails.
    failed
        Failures in place of all of a kind.
    memory
        Bytes for loads under failures; with less, it takes longer.
    hashes
        How many seeds of the hash are tried on the worst failures, where routers hash flows.
    resume
        Folder for what is done: an interrupted analysis of the same inputs goes on from there. It
        is removed in the end.
    progress
        Gets the part that is done.

    Raises
    ------
    ScenarioError
        There is no such kind; the folder has something else; seeds of a hash without a hash.
    """
    if failed is None and kind == "pairs":
        unhashed = _pairs(situation, memory, resume, progress)
    else:
        unhashed = _singles(situation, kind, failed, memory, resume, progress)
    if hashes == 1:
        return unhashed
    worst = unhashed.failed[:MOST]
    utilisation_by_seed = [
        _run(seeded, worst, memory=memory)["utilisation"] for seeded in situation.with_seeds(hashes)
    ]
    return replace(unhashed, hashed=np.array(utilisation_by_seed))


def _singles(
    situation: Situation,
    kind: Kind,
    failed: Sequence[Failed] | None,
    memory: int,
    resume: Path | None,
    progress: Callable[[float], object] | None,
) -> FailureSurvey:
    all_failed = list(failed) if failed is not None else everything(situation, kind)
    columns = _by_parts(situation, all_failed, memory, resume, progress)
    impact = {name: columns[name] for name in _COLUMNS}
    order = _order(impact)
    ranked = tuple(all_failed[i] for i in order)
    base_lost, hurt = _hurt(situation, ranked[:MOST])
    return FailureSurvey(
        situation,
        "named" if failed is not None else kind,
        len(all_failed),
        len(all_failed),
        ranked,
        {name: values[order] for name, values in impact.items()},
        columns["base"],
        base_lost,
        hurt,
        columns["worst"],
    )


def _by_parts(
    situation: Situation,
    failed: Sequence[Failed],
    memory: int,
    resume: Path | None,
    progress: Callable[[float], object] | None,
) -> dict[str, Any]:
    """Compute as many failures at once as fit into memory, and keep each part if wanted."""
    size = max(1, memory // (8 * max(1, len(situation.capacity))))
    starts = range(0, len(failed), size)
    request = f"{size} {[(failure.links, failure.nodes) for failure in failed]}"
    saved_parts = None if resume is None else Parts(resume, situation, request)
    every = []
    for number, start in enumerate(starts):
        some = failed[start : start + size]

        def report(done: float, before: int = start, now: int = len(some)) -> None:
            if progress is not None:
                progress((before + done * now) / len(failed))

        compute = partial(_run, situation, some, memory=memory, progress=report)
        every.append(_part(saved_parts, number, (*_COLUMNS, "base", "worst"), compute))
    if saved_parts is not None:
        saved_parts.remove()
    joined: dict[str, Any] = {
        name: np.concatenate([batch[name] for batch in every]) for name in _COLUMNS
    }
    worst = np.max([batch["worst"] for batch in every], axis=0)
    return {**joined, "base": every[0]["base"], "worst": worst}


def _part(
    saved_parts: Parts | None,
    number: int,
    names: Sequence[str],
    compute: Callable[[], dict[str, Any]],
) -> dict[str, Any]:
    """Read a part that is done, or compute and keep it."""
    arrays = None if saved_parts is None else saved_parts.read(number)
    if arrays is None:
        results = compute()
        arrays = {name: np.asarray(results[name]) for name in names}
        if saved_parts is not None:
            saved_parts.write(number, arrays)
    return arrays


def _pairs(
    situation: Situation,
    memory: int,
    resume: Path | None,
    progress: Callable[[float], object] | None,
) -> FailureSurvey:
    singles = everything(situation, "links")
    n = len(singles)
    if n > _MOST_PAIRED:
        message = f"pairs of {n} links are too many; expected {_MOST_PAIRED} links at most"
        raise ScenarioError([Problem("--of", message)])
    if n < 2:
        raise ScenarioError([Problem("--of", "pairs need two links; the network has one")])
    saved_parts = None if resume is None else Parts(resume, situation, f"pairs {_BATCH} {MOST}")
    compute = partial(_run, situation, singles, across=True, memory=memory)
    single_impact = _part(saved_parts, 0, (*_COLUMNS, "base", "across"), compute)
    across = single_impact["across"].reshape(n, n)
    lost = single_impact["disconnected"] + single_impact["excess"]
    pairs = np.array(list(combinations(range(n), 2)))
    first, second = pairs.T
    # Either order bounds the pair; the traffic of the second link moves, at most once, to any link.
    bound = np.minimum(lost[first] + across[first, second], lost[second] + across[second, first])
    if situation.hashing is not None:
        bound = np.full(len(pairs), np.inf)
    smallest = float(situation.capacity.min())
    busy = np.minimum(
        single_impact["utilisation"][first] + across[first, second] / smallest,
        single_impact["utilisation"][second] + across[second, first] / smallest,
    )
    order = np.lexsort((-busy, -bound))
    worst_pairs: list[Failed] = []
    impact: dict[str, npt.NDArray[Any]] = {name: np.empty(0) for name in _COLUMNS}
    solved = 0
    unsolved = order
    while len(unsolved):
        if len(worst_pairs) >= MOST:
            worst = _order(impact)[MOST - 1]
            least = float(impact["disconnected"][worst] + impact["excess"][worst])
            # Only what could still be worse; where nothing is lost, the busiest link is compared.
            may_be = bound[unsolved] > least * (1 + _SAME)
            if least == 0:
                may_be |= busy[unsolved] > impact["utilisation"][worst] * (1 + _SAME)
            unsolved = unsolved[may_be]
        batch, unsolved = unsolved[:_BATCH], unsolved[_BATCH:]
        if not len(batch):
            break
        some = [
            Failed(f"{singles[a].name} and {singles[b].name}", singles[a].links + singles[b].links)
            for a, b in pairs[batch]
        ]
        compute = partial(_run, situation, some, memory=memory)
        more = _part(saved_parts, 1 + solved // _BATCH, _COLUMNS, compute)
        solved += len(some)
        worst_pairs += some
        impact = {name: np.concatenate([impact[name], more[name]]) for name in _COLUMNS}
        best = _order(impact)[: max(MOST, 100)]
        worst_pairs = [worst_pairs[i] for i in best]
        impact = {name: values[best] for name, values in impact.items()}
        if progress is not None:
            progress(1 - len(unsolved) / len(order))
    if saved_parts is not None:
        saved_parts.remove()
    ranked = tuple(worst_pairs)
    base_lost, hurt = _hurt(situation, ranked[:MOST])
    return FailureSurvey(
        situation,
        "pairs",
        len(pairs),
        solved,
        ranked,
        impact,
        single_impact["base"],
        base_lost,
        hurt,
    )


def _hurt(situation: Situation, failed: Sequence[Failed]) -> tuple[float, tuple[Hurt, ...]]:
    """What does not arrive without failure, and what failures do to demands."""
    volume = situation.volume
    before, _ = situation.find_arriving(rounds=_ROUNDS)
    impacts = []
    for failure in failed:
        up = np.ones(len(situation.capacity), dtype=np.bool_)
        up[list(failure.links)] = False
        down = np.isin(situation.demands.source, failure.nodes) | np.isin(
            situation.demands.target, failure.nodes
        )
        arriving_share, settled = situation.find_arriving(
            up, np.where(down, 0.0, volume), rounds=_ROUNDS
        )
        less = np.where(down, 0.0, (before - arriving_share) * volume)
        hurt = np.flatnonzero(less > _SAME * volume)
        order = hurt[np.argsort(-less[hurt], kind="stable")][:MOST]
        rows = tuple((situation.pair(p), float(volume[p]), float(arriving_share[p])) for p in order)
        lost = float(((1 - arriving_share) * volume)[~down].sum())
        impacts.append(Hurt(_no_rounding(lost, volume), rows, len(hurt), settled))
    lost = float(((1 - before) * volume).sum())
    return _no_rounding(lost, volume), tuple(impacts)


def _no_rounding(lost: float, volume: Floats) -> float:
    return lost if lost > _SAME * float(volume.sum()) else 0.0
