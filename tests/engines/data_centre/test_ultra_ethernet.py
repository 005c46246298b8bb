"""Spraying, trimming and NSCC held against outputs that uet-htsim ships.

The outputs are `validate_outputs/validate_uec_sender.out` of ultraethernet/uet-htsim (commit
40ccb05), of matrices in `connection_matrices/`. Its defaults (`datacenter/main_uec.cpp`) are those
here: packets of 4150 bytes of which 64 are a header, acknowledgements and trimmed packets of 64, a
tree of 16 hosts with links of 100 Gbit/s and 1 us, queues of one product of bandwidth and round
trip, marks from 0.2 to 0.8 of it, a timer of 15 us and six queues.
"""

import re
import sys
from pathlib import Path
from statistics import mean

import pytest

from ackclock import Scenario, ScenarioError
from ackclock.scenario.load import load

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "benchmarks/peers"))
from uet_htsim import HEADER, settings_of, sizes_of  # noqa: E402

FOLDER = ROOT / "examples/data-centre"
SIZES = sizes_of(hops=6)
PERMUTATION = (
    "13->6 1->4 6->0 2->13 10->5 15->1 8->14 14->2 5->15 4->12 12->11 0->8 9->7 7->9 3->10 11->3"
)


def case(pairs, seed=1, **more):
    flow = {
        "size": 2_000_000,
        "cc": {"kind": "nscc", "network_rtt": SIZES.rtt_s},
        "recovery": {"kind": "rack", "tlp": False, "reo_wnd": "10 ms"},
    }
    settings = settings_of(SIZES)
    settings["net"] |= {"kind": "fat-tree", "k": 4}
    return (
        settings
        | {
            "flows": [{"src": f"h{a}", "dst": f"h{b}", **flow} for a, b in pairs],
            "equal_paths": "spray",
            "seed": seed,
            "duration": "5 ms",
        }
        | more
    )


def last_us(pairs, **more):
    run = Scenario.from_data(case(pairs, **more)).run()
    return max(flow["completed_after_s"] * 1e6 for flow in run.summary["flows"]), run


def test_a_flow_alone_and_two_opposed_take_what_htsim_prints():
    # one.cm, bidir.cm: 176.2 and 176.804 us, without a packet that is sent again.
    for pairs, published in (([(0, 13)], 176.2), ([(0, 13), (13, 0)], 176.804)):
        last, run = last_us(pairs)
        assert last == pytest.approx(published, abs=0.02)
        assert sum(flow["retransmits"] for flow in run.summary["flows"]) == 0


def test_a_sprayed_permutation_takes_what_htsim_prints_within_two_percent():
    # perm_16n_16c_2MB.cm with -paths 128: 194.022 us. Paths are drawn here and there.
    pairs = [tuple(map(int, pair)) for pair in re.findall(r"(\d+)->(\d+)", PERMUTATION)]
    sprayed = [last_us(pairs, seed=seed)[0] for seed in range(1, 6)]
    assert mean(sprayed) == pytest.approx(194.022, rel=0.02)
    # With one path for each flow 527.755 us, by other hashes.
    hashed, _ = last_us(pairs, equal_paths="hash")
    assert hashed > 2 * max(sprayed)


def test_an_incast_of_fifteen_takes_what_htsim_prints_within_two_percent():
    # incast.cm: 2478.53 us, with 811 packets trimmed and sent again.
    for seed in (1, 2, 3):
        last, run = last_us([(host, 15) for host in range(15)], seed=seed)
        assert last == pytest.approx(2478.53, rel=0.02)
        trimmed = sum(link["trimmed_packets"] for link in run.summary["links"])
        assert 500 < trimmed < 1500
        assert sum(link["drops"] for link in run.summary["links"]) == 0


def test_an_incast_of_127_takes_what_htsim_prints_within_two_percent():
    # incast_128.cm: 21029.3 us. Windows stay near one packet, since all that waits is marked: had
    # packets that are sent again no ECN, windows would grow and three times as many be trimmed.
    pairs = [(host, 33) for host in range(128) if host != 33]
    data = case(pairs, duration="30 ms")
    data["net"]["k"] = 8
    run = Scenario.from_data(data).run()
    flows = run.summary["flows"]
    last_us = max(flow["completed_after_s"] * 1e6 for flow in flows)
    assert last_us == pytest.approx(21029.3, rel=0.02)
    # 72,623 there.
    assert 40_000 < sum(flow["retransmits"] for flow in flows) < 80_000


def test_timeouts_repair_what_was_lost_though_the_window_is_full_of_it():
    # Where headers are dropped too, their packets stay in flight and the window falls to one
    # packet. Only RACK's reordering window of 10 ms would end that, did a timeout send nothing.
    data = case([(host, 0) for host in range(1, 128)], duration="30 ms")
    buffer = SIZES.queue + 100 * HEADER
    data["net"] |= {"k": 8, "buffer": f"{buffer} B"}
    data["net"]["qdisc"]["data"] = SIZES.queue / buffer
    for flow in data["flows"]:
        flow["size"] = 100_000
    run = Scenario.from_data(data).run()
    assert sum(link["drops"] for link in run.summary["links"]) > 0
    assert max(flow["completed_after_s"] for flow in run.summary["flows"]) < 5e-3


def test_recoveries_that_cannot_bear_reordering_are_refused_by_name():
    data = case([(0, 13)])
    data["flows"][0]["recovery"] = "sack"
    data["tcp"]["trimming"] = False
    with pytest.raises(ScenarioError, match="overtaken") as error:
        Scenario.from_data(data).run()
    assert [problem.path for problem in error.value.problems] == ["flows[0].recovery"]


def test_the_example_sprays_without_a_loss_and_collides_with_a_hash():
    scenario = load(FOLDER / "nscc.toml")
    slowest = {}
    for choice in ("spray", "hash"):
        flows = scenario.replace(equal_paths=choice).run().summary["flows"]
        slowest[choice] = max(flow["completed_after_s"] for flow in flows)
        if choice == "spray":
            assert sum(flow["retransmits"] for flow in flows) == 0
    # Alone 176.2 us.
    assert slowest["spray"] < 1.2 * 176.2e-6 < slowest["hash"] / 1.5


def test_the_example_of_slow_links_ends_near_the_time_of_all_links_together():
    # Four times 490 packets through 250 Gbit/s.
    least_s = 4 * 490 * 4150 * 8 / 250e9
    scenario = load(FOLDER / "reps.toml")
    slowest = {}
    for choice in ("reps", "spray"):
        flows = scenario.replace(equal_paths=choice).run().summary["flows"]
        slowest[choice] = max(flow["completed_after_s"] for flow in flows)
    assert least_s < slowest["reps"] < 1.15 * least_s
    assert slowest["spray"] > 1.5 * slowest["reps"]
