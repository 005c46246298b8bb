"""What a background leaves of links, computed by hand."""

from dataclasses import replace

import numpy as np
import pytest

from ackclock.engines.fluid.arrivals import Transfers
from ackclock.engines.fluid.graph import Graph
from ackclock.engines.fluid.net import FluidNet
from ackclock.engines.hybrid.finite import while_flows_come
from ackclock.engines.hybrid.leftover import Leftover
from ackclock.engines.hybrid.mixture import Mixture, Own

OWN = Own((0,), (), 0.1, np.inf, True, 0.0, np.inf)
LATE = replace(OWN, start_s=20.0)
"""A flow that starts after the end."""


def mixture(pairs, own, **options):
    """A link of 1 Mbit/s that all cross."""
    ends = np.arange(2, dtype=np.uint32)
    graph = Graph(("a", "b"), ends[:-1], ends[1:], np.array([1e6]))
    return Mixture(graph, FluidNet.from_routes([1e6], pairs, graph=graph, **options), 1, own)


def left_by(transfers, mixed, as_packets, **changes):
    """Of ten seconds, in steps of one."""
    time, flow, size = zip(*transfers, strict=True)
    offered = Transfers(np.array(time), np.array(flow, dtype=np.uint32), np.array(size))
    shares = {
        "pair_share": np.ones(mixed.pairs.n_flows),
        "own_share": np.ones(len(mixed.foreground)),
        "wire": 1.0,
    }
    return while_flows_come(
        mixed, offered, np.array(as_packets), duration_s=10.0, update_s=1.0, **(shares | changes)
    )


def leftover(times, taken):
    empty = np.zeros(0)
    return Leftover(
        times=np.array(times),
        taken=np.array(taken),
        full=np.array([True]),
        as_packets=np.zeros(0, dtype=int),
        foreground=empty,
        sampled=empty,
        own_link=np.zeros(0, dtype=int),
        pair_link=np.zeros(0, dtype=int),
        share=0.0,
    )


def test_packets_have_a_thousandth_of_a_link_that_the_background_fills():
    found = leftover([0.0, 1.0], [[1e6, 2.5e8], [1e9, 1e9]])
    assert found.left(np.array([1e6, 1e9])).tolist() == [[1e3, 7.5e8], [1e3, 1e6]]


@pytest.mark.parametrize(("end", "mean"), [(4.0, 1.0), (10.0, 2.0), (20.0, 4.25)])
def test_a_mean_counts_what_is_before_its_end(end, mean):
    """Five seconds of 1, ten of 3, and 10 from then on."""
    found = leftover([0.0, 5.0, 15.0], [[0.0]] * 3)
    assert found.mean_over(np.array([[1.0], [3.0], [10.0]]), end) == pytest.approx([mean])


def test_transfers_take_their_bytes_on_the_wire():
    """2 Mbit, and half as much for headers, are three seconds of the link."""
    found = left_by([(0.0, 0, 2e6)], mixture([[0]], [LATE]), [False], wire=1.5)
    assert found.taken[:, 0] == pytest.approx([1e6] * 3 + [0.0] * 7, rel=1e-6)


@pytest.mark.parametrize("start", [0.0, 5.0, 9.0])
def test_the_mean_rate_of_a_flow_is_that_of_the_time_in_which_it_is_active(start):
    mixed = mixture([[0]], [replace(OWN, start_s=start)])
    found = left_by([(0.0, 0, 1.0)], mixed, [False])
    assert found.foreground == pytest.approx([1e6], rel=1e-5)


@pytest.mark.parametrize(
    ("as_packets", "taken"), [([True, True], 0.0), ([False, True], 0.25e6), ([True, False], 0.75e6)]
)
def test_transfers_have_the_weight_of_their_pair_as_packets_too(as_packets, taken):
    """Of two pairs the second has three times the weight."""
    mixed = mixture([[0], [0]], [LATE], weight=np.array([1.0, 3.0]))
    found = left_by([(0.0, 0, 1e9), (0.0, 1, 1e9)], mixed, as_packets)
    assert found.taken[:, 0] == pytest.approx([taken] * 10, abs=1.0)
