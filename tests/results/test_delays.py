"""Percentiles of delays: against the recorded samples, closed forms, and what passed each queue."""

import math

import numpy as np
import pytest

import ackclock as ac
from ackclock.errors import UnsupportedError

RANKS = (50, 95, 99)


def dumbbell(qdisc="fifo", pairs=2, rate="10 Mbps", **more):
    net = {"pairs": pairs, "rate": rate, "rtt": "40 ms", "buffer": "100 pkt", "qdisc": qdisc}
    return ac.topology.Dumbbell(**{**net, **more})


@pytest.mark.parametrize("threads", [1, 2])
def test_percentiles_of_the_round_trip_are_those_of_the_recorded_samples(threads):
    flows = [{"pair": 0, "cc": "cubic"}, {"pair": 1, "cc": "vegas"}]
    flows.append({"pair": 0, "transport": "quic", "cc": "bbr", "start": "1 s"})
    # Hosts' links are so fast that they count for nothing.
    net = dumbbell(access_rate="100 Gbps")
    run = ac.Scenario(net, flows, duration="12 s", warmup="2 s", record={"tables": ["rtts"]}).run(
        threads=threads
    )
    rows = run.rtts.to_pandas()
    rows = rows[rows.time_s >= 2]
    for flow in run.summary["flows"]:
        samples = rows[rows.flow == flow["id"]].rtt_s.to_numpy()
        assert len(samples) > 100
        exact = np.percentile(samples, RANKS, method="inverted_cdf")
        shown = [flow[f"rtt_p{rank}_s"] for rank in RANKS]
        assert shown == pytest.approx(exact.tolist(), rel=0.01)
        # Both ways of 20 ms; at 10 Mbit/s a packet of 1500 B and an acknowledgement of 40 B.
        waits = [flow[f"queueing_p{rank}_s"] for rank in RANKS]
        within = 0.01 * (exact[-1] - 0.04) + 0.02e-3
        assert waits == pytest.approx((exact - 0.0412 - 0.04e-3).tolist(), abs=within)


def test_of_two_datagrams_that_meet_one_waits_for_the_other():
    # 1000 B take 0.8 ms at 10 Mbit/s; hosts' links are so fast that they count for nothing.
    source = {"kind": "cbr", "rate": "2 Mbps", "packet": "1000 B"}
    flows = [{"pair": pair, "source": source} for pair in (0, 1)]
    net = dumbbell(access_rate="100 Gbps")
    run = ac.Scenario(net, flows, duration="2 s").run()
    first, second = run.summary["flows"]
    for rank in RANKS:
        assert first[f"queueing_p{rank}_s"] == pytest.approx(0, abs=1e-5)
        assert second[f"queueing_p{rank}_s"] == pytest.approx(0.8e-3, abs=0.01 * 1.6e-3)
        assert first[f"one_way_p{rank}_s"] == pytest.approx(0.0208, rel=0.001)
    assert second["one_way_mean_s"] == pytest.approx(0.0216, rel=1e-4)
    assert first["rtt_p50_s"] is None
    assert "one way" in str(run)


@pytest.mark.parametrize(
    "source",
    [
        {"kind": "tfrc"},
        {"kind": "packet-pair"},
        {"kind": "fire-hose", "capacity": "3 Mbps"},
        {"kind": "pareto-on-off", "rate": "3 Mbps"},
        {"kind": "coded", "source": {"kind": "cbr", "rate": "3 Mbps"}},
    ],
)
def test_every_source_without_tcp_has_its_delay(source):
    run = ac.Scenario(dumbbell(), [{"pair": 0, "source": source}], duration="5 s").run()
    (flow,) = run.summary["flows"]
    assert 0.02 < flow["one_way_p50_s"] <= flow["one_way_p99_s"] < 0.25
    assert 0.02 < flow["one_way_mean_s"] <= flow["one_way_p99_s"]


def test_a_flow_that_sent_nothing_and_one_of_too_many_have_no_percentiles():
    late = [{"pair": 0, "start": "2 s"}]
    (flow,) = ac.Scenario(dumbbell(), late, duration="1 s").run().summary["flows"]
    assert flow["rtt_p50_s"] is None
    assert flow["queueing_p99_s"] is None
    many = [{"pair": 0, "size": "1500 B"}] * 10_001
    flows = ac.Scenario(dumbbell(), many, duration="100 ms").run().summary["flows"]
    assert {flow["rtt_p50_s"] for flow in flows} == {None}
    assert any(flow["srtt_mean_s"] for flow in flows)


CLASSES = [{"name": "voice", "takes": {"flows": ["f0"]}}, {}]


@pytest.mark.parametrize(
    ("qdisc", "names"),
    [
        ("dualpi2", {"L", "C"}),
        ({"kind": "shaper", "rate": "5 Mbps", "qdisc": "dualpi2"}, {"L", "C"}),
        ({"kind": "priority", "classes": CLASSES}, {"voice", "class 1"}),
        ({"kind": "wrr", "classes": CLASSES}, {"voice", "class 1"}),
        ({"kind": "hpfq", "classes": [{**CLASSES[0], "split": True}, {}]}, {"voice", "class 1"}),
        ({"kind": "cake", "tins": "diffserv3"}, {"best effort", "bulk", "voice"}),
    ],
    ids=["dualpi2", "shaper", "priority", "wrr", "hpfq", "cake"],
)
def test_queues_of_a_link_hold_all_that_passed_it(qdisc, names):
    low = {"ecn": True, "accecn": True}
    flows = [{"pair": 0, "cc": "prague", "tcp": low, "dscp": "ef"}, {"pair": 1, "cc": "cubic"}]
    run = ac.Scenario(dumbbell(qdisc, buffer="30 pkt"), flows, duration="6 s").run()
    link = next(link for link in run.summary["links"] if link["id"] == "r0->r1")
    assert {queue["queue"] for queue in link["queues"]} == names
    for count in ("arrived_packets", "departed_packets", "departed_bytes", "drops", "marks"):
        assert sum(queue[count] for queue in link["queues"]) == link[count], count
    used = [queue for queue in link["queues"] if queue["departed_packets"]]
    assert len(used) == 2
    total = math.fsum(queue["delay_mean_s"] * queue["departed_packets"] for queue in used)
    assert total / link["departed_packets"] == pytest.approx(link["delay_mean_s"], rel=1e-9)
    for queue in used:
        assert queue["delay_p50_s"] <= queue["delay_p95_s"] <= queue["delay_p99_s"]
        waiting = queue["arrived_packets"] - queue["departed_packets"] - queue["drops"]
        assert 0 <= waiting <= link["waiting_packets"]
    assert "packets  drops  marks" in str(run)


def test_the_low_latency_queue_of_dualpi2_waits_less_than_the_classic_one():
    flows = [{"pair": 0, "cc": "prague", "tcp": {"ecn": True, "accecn": True}},
             {"pair": 1, "cc": "reno"}]  # fmt: skip
    run = ac.Scenario(dumbbell("dualpi2"), flows, duration="10 s", warmup="2 s").run()
    low, classic = run.link_queues.to_pylist()[:2]
    assert (low["queue"], classic["queue"]) == ("L", "C")
    # RFC 9332: about 1 ms for L, the target of 15 ms for C.
    assert low["delay_p99_s"] < 4e-3 < classic["delay_p95_s"]


def test_the_warm_up_is_not_in_queues_and_a_plain_link_has_none():
    flows = [{"pair": 0, "cc": "reno"}]
    whole, window = (
        ac.Scenario(dumbbell("dualpi2"), flows, duration="4 s", warmup=warmup).run()
        for warmup in ("0 s", "2 s")
    )
    counts = [run.link_queues.to_pylist()[1]["departed_packets"] for run in (whole, window)]
    assert 0 < counts[1] < counts[0]
    with pytest.raises(UnsupportedError, match="distinguishes queues, such as dualpi2"):
        _ = ac.Scenario(dumbbell(), flows, duration="100 ms").run().link_queues
