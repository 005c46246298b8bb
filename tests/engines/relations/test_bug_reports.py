"""Public bug reports of other stacks and simulators: what ours does (others-bugs.md)."""

from __future__ import annotations

import numpy as np

import ackclock as ac

LINK = "r0->r1"
# Twice what a link of 10 Mbit/s carries: 1000-byte packets each 0.4 ms.
TWICE = {"pair": 0, "source": {"kind": "cbr", "rate": "20 Mbps", "packet": 1000}}


def run(flow, tables, *, rate="10 Mbps", rtt="40 ms", duration="10 s", **net):
    link = {"kind": "dumbbell", "pairs": 1, "rate": rate, "rtt": rtt, "buffer": "2 bdp", **net}
    data = {"net": link, "flows": [{"pair": 0, **flow}], "duration": duration, "seed": 1}
    return ac.Scenario.from_data(data).run(record=tables)


def windows(result):
    table = result.table("windows")
    return (table.column(name).to_numpy() for name in ("time_s", "cwnd_segments"))


def at_the_link(result, event):
    rows = result.table("packets").to_pandas()
    rows = rows[(rows["link"] == LINK) & (rows["event"] == event) & ~rows["is_ack"]]
    return rows["time_s"].to_numpy(), rows["seq"].to_numpy()


def test_codel_signals_an_interval_over_the_root_of_the_count_after_the_one_before():
    """Shadow issue 2478: the present time was divided by the root as well."""
    net = {"qdisc": "codel", "buffer": "10000 pkt"}
    times, _ = at_the_link(run(TWICE, ["packets"], duration="2 s", **net), "drop")
    gaps = np.diff(times)[:12]
    law = 0.1 / np.sqrt(np.arange(1, 13))
    # A packet leaves each 0.8 ms, and a signal waits for the next one.
    assert np.all(np.abs(np.cumsum(gaps) - np.cumsum(law)) <= 0.0017), gaps


def test_codel_drops_the_packet_that_was_late_and_delivers_the_next():
    """Mahimahi issue 165: the packet that was to be dropped left the queue."""
    net = {"qdisc": "codel", "buffer": "10000 pkt"}
    result = run(TWICE, ["packets"], duration="2 s", **net)
    dropped_at, dropped = at_the_link(result, "drop")
    left_at, left = at_the_link(result, "departure")
    assert len(dropped) > 12
    assert not set(dropped) & set(left)
    # The one behind it leaves: nothing is missing but what was dropped.
    assert sorted([*dropped, *left]) == list(range(len(dropped) + len(left)))
    for time, seq in zip(dropped_at, dropped, strict=True):
        assert left[np.searchsorted(left_at, time)] == seq + 1


def test_a_buffer_is_never_exceeded_while_reds_average_is_between_its_thresholds():
    """INET pull request 488: the limit was looked at only where the average was outside."""
    red = {"kind": "red", "min_th": 5, "max_th": 60, "w_q": 0.002, "max_p": 0.01}
    result = run(TWICE, ["queues", "drops"], qdisc=red, buffer="30 pkt", duration="5 s")
    rows = result.table("queues").to_pandas()
    most = rows[rows["link"] == LINK]["queue_packets"].max()
    reasons = result.drops.column("reason").to_pylist()
    assert most <= 30
    assert reasons.count("overflow") > 1000, "the average is below max_th, so the limit drops"


def test_cubic_does_not_jump_after_the_application_held_it_back():
    """FreeBSD D25065 and D18954: the curve ran on while nothing used the window."""
    app = [{"at": "0 s"}, {"at": "10 s", "rate": "1 Mbps"}, {"at": "40 s"}]
    flow = {"cc": "cubic", "app": app}
    result = run(flow, ["windows"], rate="20 Mbps", rtt="60 ms", buffer="1 bdp", duration="42 s")
    time, cwnd = windows(result)
    before = cwnd[time < 40][-1]
    after = cwnd[(time >= 40) & (time < 40.2)].max()
    # In 30 s the curve would be at 0.4 (30 - K)^3, thousands of segments.
    assert after <= 1.1 * before + 10, (before, after)


def test_bbr_leaves_fast_recovery_with_the_window_that_it_had():
    """ns3-tcp-bbr issue 8: the window became ssthresh, infinite in BBR: 3 million segments."""
    for control in ("bbr", "bbr2", "bbr3"):
        flow = {"cc": control, "recovery": "rack"}
        result = run(flow, ["windows"], loss=0.005, buffer="4 bdp", duration="20 s")
        time, cwnd = windows(result)
        # A BDP of 33.3 segments; after STARTUP the gain is at most 2.25, and quanta beside.
        assert cwnd[time > 2].max() <= 2.25 * 33.3 + 40, control
        assert result.summary["flows"][0]["goodput_bps"] > 7e6, control


def test_cubics_window_is_never_below_a_segment():
    """FreeBSD D14141: the curve was negative far below its plateau, and the window with it."""
    result = run({"cc": "cubic"}, ["windows"], loss=0.1, buffer="4 bdp", duration="60 s")
    _, cwnd = windows(result)
    assert cwnd.min() >= 1
    assert np.isfinite(cwnd).all()
    assert result.summary["flows"][0]["goodput_bps"] > 1e4
