"""Fluids and packets of the same fire-hose cases agree within what queues can hold.

The tolerance is `ackclock.studies.bottlenecks.twin.tolerance`: on each hop up to a buffer of
packets may wait at one end of the measured window and not at the other, and a fair queue serves
within one packet; all of them count as one packet per window.
"""

import numpy as np
import pytest

from ackclock.engines.fluid import FluidCase
from ackclock.studies.bottlenecks import twin

MBPS = 1e6


def case(links, flows, **more):
    net = {"kind": "links", "links": links}
    return FluidCase({"net": net, "traffic": {"kind": "listed", "flows": flows}, **more})


FIG_1 = [["S1", "R1", 20], ["S2", "R1", 20], ["R1", "R2", 20], ["R2", "D1", 5], ["R2", "D2", 2]]
FIG_2 = [*FIG_1[:3], ["R2", "D1", 20], FIG_1[4]]
FIG_3 = [
    ["S1", "R1", 20], ["S2", "R1", 20], ["R1", "R2", 12], ["S3", "R2", 20], ["R2", "R3", 20],
    ["R3", "D1", 20], ["R3", "D3", 20], ["R2", "D2", 2],
]  # fmt: skip
FIG_17 = [["S1", "H", 2], ["S2", "H", 2], ["S3", "H", 2]]
TWO = [["S1", "D1"], ["S2", "D2"]]
RING = [["S1", "S2"], ["S2", "S3"], ["S3", "S1"]]

EXAMPLES = {
    "Fig. 1": (FIG_1, TWO, [5, 2]),
    "Fig. 2": (FIG_2, TWO, [10, 2]),
    "Fig. 3": (FIG_3, [*TWO, ["S3", "D3"]], [6, 2, 14]),
    "Fig. 17, three flows": (FIG_17, RING, [2, 2, 2]),
    "Fig. 17, four flows": (FIG_17, [*RING, ["S2", "S1"]], [2, 1, 1, 1]),
}


def both(question, duration_s=40.0):
    net = question.net()
    fluid = net.fixed_point(question.data.get("sender", "naive")).rates
    packets = twin.scenario(
        net, fluid.demand, bps_per_unit=MBPS, duration_s=duration_s, warmup_s=10.0
    )
    run = packets.run()
    bound = twin.tolerance(net, run, bps_per_unit=MBPS)
    return net, fluid, twin.measure(net, run, bps_per_unit=MBPS), bound


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_packets_get_the_goodputs_that_the_paper_prints(name):
    links, flows, printed = EXAMPLES[name]
    _, fluid, packets, bound = both(case(links, flows))
    assert fluid.goodput == pytest.approx(printed)
    assert np.all(np.abs(packets.goodput - printed) <= bound)
    # The bound is no excuse: it is 3 % of the smallest of these rates at most.
    assert np.all(bound <= 0.03 * min(printed))


def test_zombies_of_packets_are_those_of_the_fluid_and_have_the_same_culprit():
    net, fluid, packets, bound = both(case(FIG_2, TWO))
    books, counted = net.account(fluid, access=2), net.account(packets, access=2)
    slack = float(bound.sum())
    assert books.zombies.sum() == pytest.approx(8)
    assert counted.zombies == pytest.approx(books.zombies, abs=slack)
    assert counted.caused == pytest.approx(books.caused, abs=slack)
    assert counted.caused == pytest.approx([0, 8], abs=slack)
    assert counted.dead == pytest.approx(books.dead, abs=slack)


def fifty_nodes(seed):
    """A ring of 10 routers with 5 chords, 40 hosts, and 60 flows between them."""
    rng = np.random.default_rng(seed)
    links = [[f"r{i}", f"r{(i + 1) % 10}", float(rng.integers(4, 9))] for i in range(10)]
    links += [[f"r{i}", f"r{i + 5}", float(rng.integers(4, 9))] for i in range(5)]
    links += [[f"h{i}", f"r{i % 10}", float(rng.integers(1, 4))] for i in range(40)]
    pairs = rng.choice(40 * 39, size=60, replace=False)
    flows = [[f"h{p // 39}", f"h{(p // 39 + 1 + p % 39) % 40}"] for p in pairs]
    return links, flows


@pytest.mark.slow
@pytest.mark.parametrize("sender", ["naive", "limited-ratio"])
def test_a_network_of_50_nodes_agrees_flow_by_flow(sender):
    links, flows = fifty_nodes(7)
    net, fluid, packets, bound = both(case(links, flows, sender=sender), duration_s=70.0)
    assert np.all(np.abs(packets.goodput - fluid.goodput) <= bound)
    assert packets.demand == pytest.approx(fluid.demand, abs=float(bound.max()))
    # Drops are where the fluid has them, and so are zombies, link by link.
    books, counted = net.account(fluid), net.account(packets)
    assert books.zombies.sum() > 0.1
    crossing = np.bincount(net.hops, np.repeat(bound, np.diff(net.offsets)), net.n_links)
    assert np.all(np.abs(counted.dead - books.dead) <= crossing + 1e-9)
    assert np.all(np.abs(counted.zombies - books.zombies) <= crossing + 1e-9)
