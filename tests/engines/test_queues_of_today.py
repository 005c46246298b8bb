"""Whole runs over DualPI2, CAKE, FQ-PIE, policers and shapers."""

import numpy as np
import pytest

import ackclock as ac
from ackclock.errors import ScenarioError

LINK = "r0->r1"


def dumbbell(qdisc, flows, *, rate="20 Mbps", rtt="40 ms", buffer="2 bdp", **more):
    pairs = 1 + max(flow["pair"] for flow in flows)
    net = {"kind": "dumbbell", "pairs": pairs, "rate": rate, "rtt": rtt, "buffer": buffer}
    data = {"duration": "10 s", "warmup": "2 s", "seed": 1, **more}
    return ac.Scenario.from_data({"net": {**net, "qdisc": qdisc}, "flows": flows, **data})


def bottleneck(run):
    return next(link for link in run.summary["links"] if link["id"] == LINK)


def goodputs(run):
    return np.array([flow["goodput_bps"] for flow in run.summary["flows"]])


def waits(run, flow, after):
    """Queueing delays at the bottleneck of a flow that loses nothing there [s]."""
    rows = run.table("packets").to_pandas()
    rows = rows[(rows["link"] == LINK) & (rows["flow"] == flow) & ~rows["is_ack"]]
    assert not rows["event"].isin(["drop"]).any()
    arrivals = rows["time_s"][rows["event"] == "arrival"].to_numpy()
    departures = rows["time_s"][rows["event"] == "departure"].to_numpy()
    delays = departures - arrivals[: len(departures)]
    return delays[departures >= after]


PRAGUE = {"cc": "prague", "tcp": {"ecn": True, "accecn": True}}


def test_no_interval_of_a_policed_flow_has_more_than_rate_and_burst():
    policer = {"kind": "policer", "rate": "5 Mbps", "burst": "30 kB"}
    run = dumbbell(policer, [{"pair": 0, "cc": "cubic"}]).run(record=["packets", "drops"])
    rows = run.table("packets").to_pandas()
    rows = rows[(rows["link"] == LINK) & ~rows["is_ack"]]
    dropped = set(rows["seq"][rows["event"] == "drop"])
    assert len(dropped) > 10
    assert set(run.drops.column("reason").to_pylist()) == {"policed"}
    # Every passed packet arrives and departs: the arrivals that are not dropped, in order.
    passed = rows[rows["event"] == "departure"]
    time, size = passed["time_s"].to_numpy(), passed["size_bytes"].to_numpy()
    before = np.cumsum(size) - size
    # Bytes from one packet to another, less what the rate allows meanwhile: the most.
    ahead = before - 5e6 / 8 * time
    most = np.max(ahead + size - np.minimum.accumulate(ahead))
    # A departure may be later than its arrival by packets that wait: three at 20 Mbit/s.
    assert most <= 30_000 + 5e6 / 8 * 3 * 1500 * 8 / 20e6
    assert goodputs(run)[0] < 5e6


@pytest.mark.parametrize("era", ["rfc", "ns2"])
def test_a_shaper_that_has_a_queue_sends_at_its_rate(era):
    shaper = {"kind": "shaper", "rate": "8 Mbps", "burst": "5 kB"}
    # Several flows, as windows of era ns2 end at 20 packets.
    flows = [{"pair": pair, "cc": "aimd"} for pair in range(5)]
    run = dumbbell(shaper, flows, buffer="1 bdp", era=era).run()
    link = bottleneck(run)
    # 40 % of 20 Mbit/s.
    assert link["queue_mean_packets"] > 10
    assert link["utilisation"] == pytest.approx(0.4, rel=2e-3)


def test_a_shaper_has_the_delays_of_its_inner_discipline():
    flows = [{"pair": 0, "cc": "cubic"}, {"pair": 1, "cc": "cubic"}]
    inner = {"fifo": "fifo", "codel": "codel"}
    mean = {}
    for name, qdisc in inner.items():
        shaper = {"kind": "shaper", "rate": "8 Mbps", "burst": "3 kB", "qdisc": qdisc}
        mean[name] = bottleneck(dumbbell(shaper, flows).run())["delay_mean_s"]
    assert mean["codel"] < 0.02
    assert mean["fifo"] > 0.05


def test_cake_gives_a_host_with_eight_flows_no_more_than_one_with_one():
    flows = [{"pair": 0, "cc": "cubic"}] + [{"pair": 1, "cc": "cubic"}] * 8
    for qdisc, least, most in [
        ({"kind": "cake", "rate": "18 Mbps"}, 0.95, 1.05),
        ({"kind": "cake", "rate": "18 Mbps", "isolation": "dual-srchost"}, 0.95, 1.05),
        ({"kind": "cake", "rate": "18 Mbps", "isolation": "flows"}, 7.2, 8.8),
    ]:
        # One flow alone can fill its half at this round trip.
        more = {"rtt": "5 ms", "buffer": "500 kB", "duration": "30 s", "warmup": "5 s"}
        run = dumbbell(qdisc, flows, **more).run()
        got = goodputs(run)
        assert least < got[1:].sum() / got[0] < most, (qdisc, got)
        # The shaper keeps the link at 90 %.
        assert bottleneck(run)["utilisation"] == pytest.approx(0.9, rel=0.01)


def test_cake_keeps_voice_ahead_of_a_queue():
    voice = {"kind": "cbr", "rate": "200 kbps", "packet": "200 B"}
    flows = [{"pair": 0, "cc": "cubic"}, {"pair": 1, "source": voice, "dscp": "ef", "id": "voice"}]
    run = dumbbell({"kind": "cake", "rate": "18 Mbps"}, flows).run(record=["packets"])
    # One packet of 1500 B in transmission at 20 Mbit/s, or held by the shaper at 18.
    assert waits(run, "voice", 2.0).max() <= 1500 * 8 / 18e6 + 200 * 8 / 18e6 + 1e-9


def test_fq_pie_isolates_a_flow_from_a_flood():
    flood = {"kind": "cbr", "rate": "30 Mbps", "packet": "1500 B"}
    flows = [{"pair": 0, "cc": "cubic"}, {"pair": 1, "source": flood}]
    alone = {}
    for qdisc in ("pie", "fq-pie"):
        run = dumbbell(qdisc, flows, duration="20 s", warmup="5 s").run()
        alone[qdisc] = goodputs(run)[0] / 20e6
    assert alone["pie"] < 0.1
    assert 0.4 < alone["fq-pie"] < 0.55


def test_fq_codel_marks_l4s_at_its_threshold():
    flows = [{"pair": 0, "id": "l4s", **PRAGUE}, {"pair": 1, "id": "classic", "cc": "cubic"}]
    qdisc = {"kind": "fq-codel", "ce_threshold": "1 ms", "ce_selector": "ect1"}
    run = dumbbell(qdisc, flows, duration="20 s", warmup="5 s").run(record=["packets"])
    got = goodputs(run)
    assert got[0] / got[1] == pytest.approx(1, abs=0.15)
    # The threshold, and the packets of a round of the other queue.
    assert np.percentile(waits(run, "l4s", 5.0), 99) < 4e-3
    assert bottleneck(run)["marks"] > 100


def refusal(*given, **more):
    with pytest.raises(ScenarioError) as caught:
        dumbbell(*given, **more).run()
    (problem,) = caught.value.problems
    return str(problem)


def test_settings_that_cannot_work_are_one_sentence_each():
    flow = {"pair": 0, "cc": "cubic"}
    text = refusal("dualpi2", [flow], buffer="0 pkt")
    assert '"0 pkt" is not a buffer size: it must be more than zero' in text
    text = refusal({"kind": "dualpi2", "classic_buffer": 0}, [flow])
    assert "classic_buffer: 0 B is out of range; expected at least 1 B" in text
    text = refusal({"kind": "policer", "rate": "5 Mbps"}, [flow])
    assert "burst: is left out; a policer drops what its bucket cannot hold" in text
    text = refusal("dualpi2", [{"pair": 0, "cc": "prague"}])
    assert "accecn: prague needs counts of ECN marks, expected accecn = true" in text
