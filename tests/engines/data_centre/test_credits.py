"""Credits of receivers held against outputs that uet-htsim ships, and Homa's order.

The outputs are `validate_outputs/validate_uec_rcv.out` and `validate_uec_both.out` of
ultraethernet/uet-htsim (commit 40ccb05): RCCC alone, and beside NSCC.
"""

import math
import sys
import tomllib
from pathlib import Path

import pytest

from ackclock import Scenario
from ackclock.analysis import slowdown_by_size
from ackclock.scenario.load import load

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "benchmarks/peers"))
from uet_htsim import settings_of, sizes_of  # noqa: E402

FOLDER = ROOT / "examples/data-centre"
SIZES = sizes_of(hops=6)


def carry(pairs, *, k=4, seed=1, duration="5 ms", **control):
    """Run transfers of 2 MB: the last completion in microseconds, packets sent again, the run."""
    flow = {
        "size": 2_000_000,
        "credits": "rccc",
        "recovery": {"kind": "rack", "tlp": False, "reo_wnd": "10 ms"},
    }
    settings = settings_of(SIZES)
    settings["net"] |= {"kind": "fat-tree", "k": k}
    flows = [{"src": f"h{a}", "dst": f"h{b}", **flow, **control} for a, b in pairs]
    data = settings | {"flows": flows, "equal_paths": "reps", "seed": seed, "duration": duration}
    run = Scenario.from_data(data).run()
    rows = run.summary["flows"]
    last_s = max(row["completed_after_s"] or math.inf for row in rows)
    return last_s * 1e6, sum(row["retransmits"] for row in rows), run


NSCC = {"cc": {"kind": "nscc", "network_rtt": SIZES.rtt_s}}


@pytest.mark.parametrize("control", [{}, NSCC], ids=["alone", "beside nscc"])
def test_a_flow_alone_and_two_opposed_take_what_htsim_prints(control):
    # one.cm: 177.368 us in both outputs, bidir.cm: 178.18 us, nothing sent again.
    last, again, _ = carry([(0, 13)], **control)
    assert last == pytest.approx(177.368, abs=0.02)
    assert again == 0
    last, again, _ = carry([(0, 13), (13, 0)], **control)
    assert last == pytest.approx(178.18, rel=0.005)
    assert again == 0


@pytest.mark.parametrize(
    ("control", "published", "trimmed"),
    [({}, 2464.44, 762), (NSCC, 2462.92, 758)],
    ids=["alone", "beside nscc"],
)
def test_an_incast_of_fifteen_takes_what_htsim_prints(control, published, trimmed):
    # What leaves unheard is cut off, and then hardly anything.
    last, again, run = carry([(host, 15) for host in range(15)], **control)
    assert last == pytest.approx(published, rel=0.005)
    assert again == pytest.approx(trimmed, rel=0.06)
    assert sum(flow["timeouts"] for flow in run.summary["flows"]) == 0


def test_an_incast_of_127_takes_what_htsim_prints():
    # 20891.4 us and 6218 packets sent again, where NSCC alone trims 72,623.
    pairs = [(host, 33) for host in range(128) if host != 33]
    last, again, _ = carry(pairs, k=8, duration="30 ms")
    assert last == pytest.approx(20891.4, rel=0.005)
    assert again == pytest.approx(6218, rel=0.03)


def test_the_example_of_credits_trims_what_left_unheard_and_no_more():
    run = load(FOLDER / "rccc.toml").run()
    flows = run.summary["flows"]
    assert all(flow["completed_after_s"] is not None for flow in flows)
    unheard = 1.5 * SIZES.rtt_s * 100e9 / 8 / 4150 * len(flows)
    assert sum(flow["retransmits"] for flow in flows) < unheard


def test_homa_serves_short_transfers_first_and_in_turn_they_wait():
    document = tomllib.loads((FOLDER / "homa.toml").read_text("utf-8"))
    shortest = {}
    for rule in ("homa", "rccc"):
        document["traffic"][0]["flow"]["credits"] = rule
        rows = slowdown_by_size(Scenario.from_data(document).run().summary["flows"], groups=5)
        shortest[rule] = rows[0]["p95"]
        # The longest pay little for it.
        assert rows[-1]["p95"] < 3
    assert shortest["homa"] < shortest["rccc"] / 4
