"""Log-normal traffic matrices whose largest demands go to the pairs that can carry most, and fits.

Demands are drawn from a log-normal distribution, sorted, and given to pairs in the order of a
ranking, so that the matrix suits the network: by the smaller of the capacities that leave the
source and enter the destination, then by the smaller number of neighbours of the two, then by the
length of the path, short ones first.

References
----------
A. Nucci, A. Sridharan, N. Taft, "The problem of synthetically generating IP traffic matrices:
initial recommendations", ACM CCR 35(3), 2005, doi:10.1145/1070873.1070876: the log-normal
distribution, and a ranking by capacity, by connectivity and by what a failure reroutes. The text
was not to be had; the third criterion is ours.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import numpy as np

from ackclock import _core
from ackclock.catalogue.entries import Key, Rate
from ackclock.engines.fluid.generator import Generator
from ackclock.engines.fluid.graph import Traffic
from ackclock.engines.fluid.patterns import hosts_of
from ackclock.engines.fluid.routing import routes
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ackclock.engines.fluid.graph import Graph

    Floats = npt.NDArray[np.float64]

__all__ = ["RANKED", "draw_ranked_demands", "exponential_skew", "log_normal_sigma"]


class RankedDemands(TypedDict, total=False):
    """A log-normal matrix whose largest demands go to the pairs that can carry most."""

    sigma: Annotated[
        float,
        "Standard deviation of the natural logarithm of a demand; the default is that of GEANT's"
        " mean matrix of 2005, 1.44 is Abilene's of 2004 (both SNDlib).",
        Key(minimum=0, maximum=20, default=2.25),
    ]
    mean: Annotated[Rate, "Mean demand.", Key(x_bare=True, exclusiveMinimum=0, default=1.0)]


RANKED = Generator(
    RankedDemands, "ackclock.engines.fluid.ranked:draw_ranked_demands", is_random=True
)


def draw_ranked_demands(parameters: dict[str, Any], graph: Graph, seed: int) -> Traffic:
    """Draw a demand for each ordered pair of hosts, and give the largest to the best pairs.

    Parameters
    ----------
    parameters
        ``sigma``, ``mean``.
    graph
        The network.
    seed
        Other seeds, other demands.

    Raises
    ------
    ScenarioError
        Fewer than two hosts; a pair without a path.
    """
    from ackclock._util.units import parse

    hosts, ends = hosts_of(graph)
    if len(hosts) < 2:
        raise ScenarioError([Problem("traffic", "needs two hosts or more")])
    spec = json.dumps({"kind": "log-normal", "sigma": parameters["sigma"]})
    src, dst, weight = _core.pattern(spec, len(hosts), None, seed)
    traffic = Traffic(hosts[src], hosts[dst])
    order = _ranking(graph, traffic)
    demand = np.empty(len(weight))
    demand[order] = np.sort(weight)[::-1] * parse(parameters["mean"], "rate")
    return Traffic(traffic.src, traffic.dst, demand, ends=ends)


def _ranking(graph: Graph, traffic: Traffic) -> npt.NDArray[np.int64]:
    """Numbers of the pairs, the one that can carry most first."""
    n = len(graph.nodes)
    out = np.bincount(graph.src, graph.capacity, n)
    into = np.bincount(graph.dst, graph.capacity, n)
    links = np.bincount(graph.src, minlength=n), np.bincount(graph.dst, minlength=n)
    capacity = np.minimum(out[traffic.src], into[traffic.dst])
    neighbours = np.minimum(links[0][traffic.src], links[1][traffic.dst])
    offsets, _ = routes(graph, traffic)
    # The last key counts first; what is equal in all stays in the order of the pairs.
    return np.lexsort((np.diff(offsets.astype(np.int64)), -neighbours, -capacity))


def log_normal_sigma(demand: Floats) -> float:
    """Fit a log-normal distribution to the demands above 0 of a matrix.

    Parameters
    ----------
    demand
        Demands, ``(n,)``.

    Returns
    -------
    float
        The maximum likelihood estimate of the standard deviation of the natural logarithm.
    """
    return float(np.log(demand[demand > 0]).std())


def exponential_skew(volume: Floats) -> float:
    """Fit an exponential decay over ranks to the volumes that nodes send.

    Parameters
    ----------
    volume
        What each node sends, ``(n,)``, in any order.

    Returns
    -------
    float
        The exponent lambda with which shares exp(-lambda rank), ranks from 0, have the largest
        likelihood: that at which their mean rank is that of the volumes.
    """
    from scipy.optimize import brentq

    share = np.sort(volume[volume > 0])[::-1]
    share = share / share.sum()
    rank = np.arange(len(share))
    mean = float(share @ rank)

    def excess(exponent: float) -> float:
        decay = np.exp(-exponent * rank)
        return float(decay @ rank / decay.sum() - mean)

    # At 0 all ranks are alike; sorted volumes have a smaller mean rank, or the same.
    return 0.0 if excess(0.0) <= 1e-12 else float(brentq(excess, 0.0, 50.0))
