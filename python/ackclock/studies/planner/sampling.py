"""Demands as flows of random sizes: matrices over time whose mean is a given one.

Flows of a pair arrive as a Poisson process, with sizes of any tail. Each sends at one rate until
it has ended (M/G/infinity), or all at once. A bin's demand is what flows send in it.

**Source**: S. Ben Fredj, T. Bonald, A. Proutiere, G. Regnie, J. W. Roberts, "Statistical bandwidth
sharing: a study of congestion at flow level", SIGCOMM 2001, doi:10.1145/383059.383068 (flows as a
Poisson process); C. Barakat, P. Thiran, G. Iannaccone, C. Diot, P. Owezarski, "Modeling Internet
backbone traffic at the flow level", IEEE Trans. Signal Processing 51(8), 2003,
doi:10.1109/TSP.2003.814521 (the rate of a link as shot noise, its mean and variance).

**Rule** (volume v, size S, rate r of a flow, D = S / r, bin of length b):
mean v; variance v E[S^2] / (E[S] b) where flows send all at once, else
v r E[g(D)] / (E[D] b^2) with g(d) = b d^2 - d^3 / 3 for d <= b and b^2 d - b^3 / 3 beyond.
"""

from __future__ import annotations

import csv
import json
import math
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import numpy as np

from ackclock import _core
from ackclock.catalogue.entries import schema_of
from ackclock.catalogue.form import parameter_problems
from ackclock.engines.fluid.arrivals import TRANSFER_BYTES, Sizes, plain_sizes
from ackclock.errors import Problem, ScenarioError
from ackclock.scenario.memory import SHARE, excess
from ackclock.studies.bottlenecks.demands import Demands, check_memory
from ackclock.studies.planner.percentiles import percentile
from ackclock.studies.planner.size_tails import beyond, second_moment, still_to_send

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from ackclock.studies.planner.situation import Situation

    Floats = npt.NDArray[np.float64]
    Ids = npt.NDArray[np.int64]
    Data = dict[str, Any]

__all__ = ["Sampled", "read_sizes", "sample", "variance", "write_series"]

_STEPS = 20_000
"""Of the integral over a bin."""


class _SizesAlone(TypedDict, total=False):
    """An option that says sizes."""

    sizes: Annotated[Sizes, "Sizes of flows."]


@dataclass(frozen=True)
class Sampled:
    """A series of matrices, and what theory says of them.

    Parameters
    ----------
    situation
        The network with the matrix that is the mean.
    demands
        The series; its times are the beginnings of bins.
    flows
        Flows that sent something.
    bin_s
        Length of a bin [s].
    deviation
        Standard deviation of each pair's demand in a bin by theory [bit/s], ``(n_pairs,)``;
        infinite where the second moment is.
    """

    situation: Situation
    demands: Demands
    flows: int
    bin_s: float
    deviation: Floats

    @property
    def mean(self) -> Floats:
        """Mean demand [bit/s] of each pair over the bins."""
        found: Floats = self.demands.volume.mean(axis=0)
        return found

    def to_data(self) -> Data:
        """All numbers as plain data."""
        volume, planned_bps = self.demands.volume, self.situation.volume
        p95 = percentile(volume, 95)
        return {
            "question": "sample",
            "network": self.situation.network.title,
            "time": self.situation.demands.times[self.situation.time],
            "bins": len(volume),
            "bin_s": self.bin_s,
            "flows": self.flows,
            "demands": [
                {
                    "pair": self.situation.pair(i),
                    "demand_bps": float(planned_bps[i]),
                    "mean_bps": float(volume[:, i].mean()),
                    "deviation_bps": float(volume[:, i].std()),
                    "deviation_by_theory_bps": float(self.deviation[i])
                    if np.isfinite(self.deviation[i])
                    else None,
                    "p95_bps": float(p95[i]),
                }
                for i in np.argsort(-planned_bps, kind="stable").tolist()
            ],
        }


def read_sizes(text: str, option: str = "--sizes") -> Data:
    """Read a distribution of sizes as TOML, ``{kind = "pareto", mean = "10 MB", shape = 1.3}``.

    Parameters
    ----------
    text
        The table.
    option
        What messages call it.

    Raises
    ------
    ScenarioError
        It is no such table; every parameter that is wrong.
    """
    try:
        document = tomllib.loads(f"sizes = {text}")
    except tomllib.TOMLDecodeError:
        message = f'"{text}" is no table; expected {{kind = "pareto", mean = "10 MB", shape = 1.3}}'
        raise ScenarioError([Problem(option, message)]) from None
    problems = parameter_problems(schema_of(_SizesAlone), document)
    if not problems:
        try:
            return plain_sizes(document["sizes"])
        except ScenarioError as error:
            problems = list(error.problems)
    raise ScenarioError(
        [
            Problem(option + p.path.removeprefix("arrivals.").removeprefix("sizes"), p.message)
            for p in problems
        ]
    )


def variance(sizes: Data, rate_bps: float, bin_s: float) -> float:
    """Variance of the demand of a bin, for a mean of 1 bit/s [bit/s].

    Parameters
    ----------
    sizes
        Distribution of sizes [bit], as `read_sizes` gives it.
    rate_bps
        Rate of a flow; infinite: each sends all at once.
    bin_s
        Length of a bin.
    """
    mean = _core.mean_size(json.dumps(sizes))
    if math.isinf(rate_bps):
        return second_moment(sizes) / (mean * bin_s)
    # E[g(D)] is the integral of g'(x) P(D > x): by parts of the bin, then the tail by the mean.
    edges = np.concatenate([[0.0], np.geomspace(bin_s * 1e-9, bin_s, _STEPS)])
    x, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    tail = beyond(sizes, x * rate_bps) * width
    within = float(((2 * bin_s * x - x**2) * tail).sum())
    beyond_bin = bin_s**2 * max(0.0, mean / rate_bps - float(tail.sum()))
    return rate_bps**2 / mean * (within + beyond_bin) / bin_s**2


def sample(
    situation: Situation,
    sizes: Data,
    *,
    rate_bps: float = math.inf,
    bin_s: float = 300.0,
    bins: int = 288,
    seed: int = 1,
) -> Sampled:
    """Draw flows and add up what they send in each bin.

    The process is stationary: flows that began before the first bin and still send are drawn too.

    Parameters
    ----------
    situation
        The network, with the matrix that is the mean.
    sizes
        Distribution of the sizes of flows [bit], as `read_sizes` gives it.
    rate_bps
        Rate of a flow; infinite: each sends all at once.
    bin_s
        Length of a bin.
    bins
        How many.
    seed
        Of all draws.

    Raises
    ------
    ScenarioError
        The series does not fit into memory.
    """
    volume = situation.volume
    mean = _core.mean_size(json.dumps(sizes))
    total, end = float(volume.sum()), bin_s * bins
    _check_flows(total * (end / mean + 1 / rate_bps))
    check_memory(2 * bins, len(volume), situation.demands.file)
    start, pair, size = _core.draw_transfers(
        share=np.ascontiguousarray(volume),
        sizes=json.dumps(sizes),
        rate=total / mean,
        load=None,
        load_per_rate=1.0,
        seed=seed,
        until=end,
        count=2**63,
    )
    if math.isfinite(rate_bps):
        random = np.random.default_rng([seed, 1])
        under_way = int(random.poisson(total / rate_bps))
        of = random.choice(len(volume), size=under_way, p=volume / total)
        left = still_to_send(sizes, under_way, random)
        start = np.concatenate([np.zeros(under_way), start])
        pair, size = np.concatenate([of, pair]), np.concatenate([left, size])
    bits, count = _bin_flows(
        (start, pair.astype(np.int64), size), rate_bps, bin_s, (bins, len(volume))
    )
    times = tuple(f"{number * bin_s:g} s" for number in range(bins))
    ends = situation.demands.source, situation.demands.target
    series = Demands(*ends, times, bits / bin_s, count.astype(np.uint32))
    deviation = np.sqrt(volume * variance(sizes, rate_bps, bin_s))
    return Sampled(situation, series, len(size), bin_s, deviation)


def _check_flows(expected: float) -> None:
    if memory := excess(2 * TRANSFER_BYTES * expected):
        message = (
            f"the series has about {expected:,.0f} flows, which need {memory} ({SHARE}); expected"
            " fewer bins or larger flows"
        )
        raise ScenarioError([Problem("--sizes", message)])


def _bin_flows(
    flows: tuple[Floats, Ids, Floats], rate_bps: float, bin_s: float, shape: tuple[int, int]
) -> tuple[Floats, Ids]:
    """Bits that are sent in each bin between each pair, and flows that send something."""
    start, pair, size = flows
    bins, pairs = shape
    first = np.minimum((start / bin_s).astype(np.int64), bins - 1)

    def sum_bins(bin_of: Ids, what: Floats | None, rows: int) -> Floats:
        made = np.bincount(bin_of * pairs + pair, what, rows * pairs).astype(np.float64)
        return made.reshape(rows, pairs)

    if math.isinf(rate_bps):
        return sum_bins(first, size, bins), sum_bins(first, None, bins).astype(np.int64)
    end = np.minimum(start + size / rate_bps, bins * bin_s)
    last = np.minimum((end / bin_s).astype(np.int64), bins - 1)
    # A flow within one bin; else the rest of its first bin, its part of the last, and all between.
    begun = np.where(first == last, end, (first + 1) * bin_s) - start
    ended = np.where(first == last, 0.0, end - last * bin_s)
    bits = rate_bps * (sum_bins(first, begun, bins) + sum_bins(last, ended, bins))
    between = last > first + 1
    steps = np.zeros((bins + 1, pairs))
    for bin_of, sign in ((first[between] + 1, 1.0), (last[between], -1.0)):
        cells = bin_of * pairs + pair[between]
        steps += sign * np.bincount(cells, minlength=steps.size).reshape(steps.shape)
    bits += rate_bps * bin_s * np.cumsum(steps, axis=0)[:bins]
    active = np.cumsum(sum_bins(first, None, bins + 1) - sum_bins(last + 1, None, bins + 1), axis=0)
    return bits, active[:bins].astype(np.int64)


def write_series(sampled: Sampled, path: Path) -> None:
    """Write a series as the CSV that the planner reads.

    Parameters
    ----------
    sampled
        The series.
    path
        The file.
    """
    demands, nodes = sampled.demands, sampled.situation.network.graph.nodes
    names = [
        (nodes[a], nodes[b])
        for a, b in zip(demands.source.tolist(), demands.target.tolist(), strict=True)
    ]
    assert demands.flows is not None, "invariant: a sampled series counts its flows"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["time", "source", "target", "demand_bps", "flows"])
        for time, volume, flows in zip(demands.times, demands.volume, demands.flows, strict=True):
            sending_pairs = np.flatnonzero(volume)
            for pair in sending_pairs.tolist():
                row = [time, *names[pair], repr(float(volume[pair])), int(flows[pair])]
                writer.writerow(row)
            if not len(sending_pairs):
                # A bin in which nobody sends counts, too.
                writer.writerow([time, *names[0], "0", ""])
