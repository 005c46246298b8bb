"""Completion times held against outputs that uet-htsim ships.

The outputs are `validate_outputs/validate_uec_sender.out` of ultraethernet/uet-htsim (commit
40ccb05), of matrices in `connection_matrices/`. Its packets are 4150 bytes (490 for 2 MB) of which
64 are a header, its acknowledgements 64 bytes, one for four packets (124 for 490); its default tree
is of 16 hosts with links of 100 Gbit/s and 1 us, six of them on the longest path. Its transport is
NSCC, which sprays packets and begins at line rate. Ours here is DCQCN, which stays at line rate
where nothing marks; with pauses nothing is lost.
"""

import pytest

from ackclock import Scenario

TREE = {"kind": "fat-tree", "k": 4, "rate": "100 Gbps", "delay": "1 us"}
TCP = {"mss": 4086, "header": 64, "ack_size": 64, "delayed_ack": 4, "syn": False}
PFC = {"memory": "4 MB", "alpha": 0.0625, "pfc": {}}


def completions_us(pairs):
    size = {"size": 2_000_000, "cc": "dcqcn"}
    flows = [{"src": f"h{a}", "dst": f"h{b}", **size} for a, b in pairs]
    case = {"net": TREE, "tcp": TCP, "switches": PFC, "flows": flows, "duration": "4 ms"}
    run = Scenario.from_data(case).run()
    assert sum(link["drops"] for link in run.summary["links"]) == 0
    return [flow["completed_after_s"] * 1e6 for flow in run.summary["flows"]]


def test_a_flow_alone_takes_what_htsim_prints():
    # one.cm: 0->13, 176.2 us.
    assert completions_us([(0, 13)]) == pytest.approx([176.2], abs=0.005)


def test_two_flows_in_opposite_directions_take_what_htsim_prints():
    # bidir.cm: 176.804 us. Acknowledgements share links with data.
    assert completions_us([(0, 13), (13, 0)]) == pytest.approx([176.804] * 2, abs=0.02)


def test_an_incast_of_fifteen_takes_what_htsim_prints_within_two_percent():
    # incast.cm: 15 hosts to one, 2478.53 us. There 811 packets are trimmed and sent again, here
    # none; the port alone takes 15 x 490 packets, 2437.6 us.
    last = max(completions_us([(host, 15) for host in range(15)]))
    assert last == pytest.approx(2478.53, rel=0.02)
    assert last == pytest.approx(15 * (2_000_000 + 490 * 64) * 8 / 100e9 * 1e6 + 8.36, abs=0.1)
