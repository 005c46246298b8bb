"""Paths that demands are given, as label-switched paths are, in place of shortest ones."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ackclock._util import csv_rows
from ackclock.engines.fluid.routing import check_path
from ackclock.errors import Problem, ScenarioError
from ackclock.studies.bottlenecks.demands import FileProblems

if TYPE_CHECKING:
    import numpy.typing as npt

    from ackclock.studies.bottlenecks.demands import Demands
    from ackclock.studies.bottlenecks.operators import Network

    Floats = npt.NDArray[np.float64]
    Ids = npt.NDArray[np.uint32]

__all__ = ["DemandParts", "GivenPaths", "read_paths"]

_WHOLE = 1e-9
"""Parts of a demand that add up to 1 but for this are all of it."""


@dataclass(frozen=True)
class GivenPaths:
    """Paths of some demands; a path is used while all of its links work.

    Parameters
    ----------
    pair
        Demand of each path, ``(n_paths,)``.
    share
        Part of the demand that is on it.
    offsets, links
        Where the links of each path begin, ``(n_paths + 1,)``, and all directed links.
    unused
        Paths of the file between nodes that demand nothing.
    """

    pair: Ids
    share: Floats
    offsets: Ids
    links: Ids
    unused: int = 0


@dataclass(frozen=True)
class DemandParts:
    """Demands in parts: those on given paths, and what is routed.

    Parameters
    ----------
    pairs
        Number of demands.
    paths
        Their given paths; None: each demand is one part.
    """

    pairs: int
    paths: GivenPaths | None = None

    @cached_property
    def _order(self) -> tuple[Ids, Floats, npt.NDArray[np.intp]]:
        """Demand and share of each part, those of a demand in a row, and the order of all."""
        if self.paths is None:
            numbers = np.arange(self.pairs, dtype=np.uint32)
            return numbers, np.ones(self.pairs), np.arange(self.pairs)
        unrouted_share = 1 - np.bincount(self.paths.pair, self.paths.share, minlength=self.pairs)
        routed = np.flatnonzero(unrouted_share > _WHOLE).astype(np.uint32)
        owner = np.concatenate([self.paths.pair, routed])
        share = np.concatenate([self.paths.share, unrouted_share[routed]])
        order = np.argsort(owner, kind="stable")
        return owner[order], share[order], order

    @property
    def owner(self) -> Ids:
        """Demand that each part is of."""
        return self._order[0]

    @property
    def share(self) -> Floats:
        """Part of that demand."""
        return self._order[1]

    @cached_property
    def on_given_paths(self) -> tuple[Ids, Ids, Ids] | None:
        """Parts on given paths, in the order of the file, and offsets and links of the paths."""
        if self.paths is None:
            return None
        order = self._order[2]
        place = np.empty(len(order), dtype=np.uint32)
        place[order] = np.arange(len(order), dtype=np.uint32)
        return place[: len(self.paths.pair)], self.paths.offsets, self.paths.links

    def flows(self, of_pair: Ids) -> tuple[Ids, Ids]:
        """Divide the flows of demands, at least one for each part.

        Parameters
        ----------
        of_pair
            Number of flows of each demand.

        Returns
        -------
        tuple
            Number of flows of each part, and of its first one among those of the demand.
        """
        count = np.maximum(1, np.round(of_pair[self.owner] * self.share)).astype(np.int64)
        before = np.cumsum(count) - count
        starts = np.r_[True, self.owner[1:] != self.owner[:-1]]
        first = before - before[starts][np.cumsum(starts) - 1]
        return count.astype(np.uint32), first.astype(np.uint32)

    def by_pair(self, values: Floats) -> Floats:
        """Give each demand the mean of a value of its parts, by their shares.

        Parameters
        ----------
        values
            Of each part.
        """
        if self.paths is None:
            return values
        total_share = np.bincount(self.owner, self.share, minlength=self.pairs)
        mean: Floats = (
            np.bincount(self.owner, self.share * values, minlength=self.pairs) / total_share
        )
        return mean


def read_paths(network: Network, cost: Floats, demands: Demands, path: str | Path) -> GivenPaths:
    """Read paths of demands.

    Parameters
    ----------
    network
        The network; the file may use names or ids of its nodes.
    cost
        Cost of each directed link: of parallel links a path takes that of least cost.
    demands
        Demands on the network.
    path
        CSV with a column path, nodes with ``;`` between them, and, if wanted, share, the part of
        the demand that takes the path. Paths without a share divide equally what the others of the
        same two ends leave. What shares leave of a demand is routed.

    Raises
    ------
    ScenarioError
        The file cannot be read; every unknown node, node that is passed twice, missing link,
        repeated path, and share that is no number above 0 and at most 1, with its line; shares
        that add up to more than 1.
    """
    file = Path(path)
    try:
        rows = csv_rows.rows(file, ("path",), quantities={"share": "number"})
    except csv_rows.CsvError as error:
        raise ScenarioError([Problem("paths", error.of(file))]) from None
    number = network.numbers()
    graph = network.graph
    cheapest_last = np.lexsort((-np.arange(len(cost)), -cost)).tolist()
    ends = zip(graph.src[cheapest_last].tolist(), graph.dst[cheapest_last].tolist(), strict=True)
    link = dict(zip(ends, cheapest_last, strict=True))
    problems = FileProblems(file, "paths")
    line_of_path: dict[tuple[int, ...], int] = {}
    paths_of_ends: dict[tuple[int, int], list[tuple[int, tuple[int, ...], float | None]]] = {}
    for line, row in rows:
        names = [name.strip() for name in row["path"].split(";")]
        nodes, messages = check_path(names, number, link, graph.nodes)
        share = _share(row.get("share", ""))
        if share is not None and not 0 < share <= 1:
            wrong = row["share"]
            messages.append(f'the share is "{wrong}"; expected a number above 0, at most 1')
        if nodes:
            if (first := line_of_path.setdefault(tuple(nodes), line)) != line:
                messages.append(f"this path is there already: line {first}")
            links = tuple(link.get(step, 0) for step in itertools.pairwise(nodes))
            paths_of_ends.setdefault((nodes[0], nodes[-1]), []).append((line, links, share))
        for message in messages:
            problems.add(line, message)
    shares = {
        pair: _shares([share for *_, share in paths]) for pair, paths in paths_of_ends.items()
    }
    for (a, b), of in shares.items():
        if sum(of) > 1 + _WHOLE or min(of) <= 0:
            stated_share = sum(share for *_, share in paths_of_ends[a, b] if share is not None)
            message = (
                f"the shares from {graph.nodes[a]} to {graph.nodes[b]} add up to {stated_share:g};"
                " expected at most 1, and less where a path has none"
            )
            problems.add(paths_of_ends[a, b][-1][0], message)
    problems.check()
    if not paths_of_ends:
        raise ScenarioError([Problem("paths", "has no path", str(file))])
    return _of_demands(demands, paths_of_ends, shares)


def _of_demands(
    demands: Demands,
    paths_of_ends: dict[tuple[int, int], list[tuple[int, tuple[int, ...], float | None]]],
    shares: dict[tuple[int, int], list[float]],
) -> GivenPaths:
    of_ends = zip(demands.source.tolist(), demands.target.tolist(), strict=True)
    pair_of = {ends: pair for pair, ends in enumerate(of_ends) if ends in paths_of_ends}
    rows = [
        (pair_of[ends], share, links)
        for ends, paths in paths_of_ends.items()
        if ends in pair_of
        for (_, links, _), share in zip(paths, shares[ends], strict=True)
    ]
    return GivenPaths(
        np.array([pair for pair, _, _ in rows], dtype=np.uint32),
        np.array([share for _, share, _ in rows], dtype=np.float64),
        np.cumsum([0, *(len(links) for *_, links in rows)], dtype=np.uint32),
        np.array([link for *_, links in rows for link in links], dtype=np.uint32),
        sum(len(paths) for ends, paths in paths_of_ends.items() if ends not in pair_of),
    )


def _share(given: str | None) -> float | None:
    """Read a share; None where it is left out, not a number where it is none."""
    text = (given or "").strip()
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _shares(given: list[float | None]) -> list[float]:
    """Fill in shares that are left out with equal parts of what the others leave."""
    left = 1 - sum(share for share in given if share is not None)
    own = left / max(1, given.count(None))
    return [own if share is None else share for share in given]
