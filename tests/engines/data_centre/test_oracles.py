"""Completion times held against outputs that uet-htsim ships; slowdown against its definition.

The outputs are `validate_outputs/validate_uec_sender.out` of ultraethernet/uet-htsim (commit
40ccb05), of matrices in `connection_matrices/`. Its packets are 4150 bytes (490 for 2 MB) of which
64 are a header, its acknowledgements 64 bytes, one for four packets (124 for 490); its default tree
is of 16 hosts with links of 100 Gbit/s and 1 us, six of them on the longest path. Its transport is
NSCC, which sprays packets and begins at line rate. Ours here is DCQCN, which stays at line rate
where nothing marks; with pauses nothing is lost.
"""

import pytest

from ackclock import Scenario
from ackclock.analysis import slowdown_by_size

TREE = {"kind": "fat-tree", "k": 4, "rate": "100 Gbps", "delay": "1 us"}
TCP = {"mss": 4086, "header": 64, "ack_size": 64, "delayed_ack": 4, "syn": False}
PFC = {"memory": "4 MB", "alpha": 0.0625, "pfc": {}}


def completions_us(pairs):
    size = {"size": 2_000_000, "cc": "dcqcn"}
    flows = [{"src": f"h{a}", "dst": f"h{b}", **size} for a, b in pairs]
    case = {"net": TREE, "tcp": TCP, "switches": PFC, "flows": flows, "duration": "4 ms"}
    run = Scenario.from_data(case).run()
    assert sum(link["drops"] for link in run.summary["links"]) == 0
    assert all(flow["slowdown"] > 1 - 1e-9 for flow in run.summary["flows"])
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


def test_the_slowdown_of_a_flow_alone_at_line_rate_is_one():
    case = {"net": TREE, "tcp": TCP | {"delayed_ack": 1}, "duration": "4 ms"}
    for size in (100, 4086, 4087, 1_000_000):
        flow = {"src": "h0", "dst": "h13", "size": size, "cc": "dcqcn"}
        run = Scenario.from_data(case | {"flows": [flow]}).run()
        assert run.summary["flows"][0]["slowdown"] == pytest.approx(1, abs=1e-6)


def test_percentiles_of_slowdown_are_by_nearest_rank_in_groups_by_size():
    flows = [{"delivered_bytes": size, "slowdown": 1.0 + size} for size in range(1, 101)]
    flows.append({"delivered_bytes": 7, "slowdown": None})
    small, large = slowdown_by_size(flows, groups=2)
    assert (small["bytes_to"], small["flows"], small["p50"], small["max"]) == (50, 50, 26, 51)
    assert (large["p50"], large["p95"], large["p99"]) == (76, 99, 101)
    # Transfers of one size are not divided.
    equal = [{"delivered_bytes": 9, "slowdown": float(n)} for n in range(1, 5)]
    assert [row["flows"] for row in slowdown_by_size(equal, groups=3)] == [4]
