"""QUIC of the engine where stacks went wrong by public reports: docs/explanation/others-bugs.md."""

from typing import Any

import pytest

import ackclock as ac
from ackclock.results.run import Run

PAUSE = [{"at": 0}, {"at": 8, "rate": 0}, {"at": 18}]
TRICKLE = [{"at": 0, "rate": "200 kbps"}]


def run_quic(flow: dict[str, Any], net: dict[str, Any] | None = None, **more: Any) -> Run:
    """Run a QUIC flow through 20 Mbit/s and 50 ms with a buffer of one bandwidth-delay product."""
    path = {"kind": "dumbbell", "pairs": 1, "rate": "20 Mbps", "rtt": "50 ms", "buffer": "1 bdp"}
    flows = [flow if "src" in flow else {"pair": 0, **flow}]
    whole = more.pop("net_of", None) or path | (net or {})
    data = {"era": "quic", "net": whole, "flows": flows, "duration": 20, **more}
    return ac.Scenario.from_data(data).run()


@pytest.mark.parametrize("control", ["aimd", "cubic", "prague", "copa", "bbr", "bbr3", "c4"])
def test_a_window_that_is_not_used_does_not_grow(control):
    """quiche 335, quinn 497: 1 Mbit/s are 5.4 packets of 1161 B in 50 ms.

    The window is at most twice what is used of the initial ten; BBR's has its gain besides.
    """
    flow = {"cc": control, "app": [{"at": 0, "rate": "1 Mbps"}], "quic": {"ecn": True}}
    run = run_quic(flow, record={"tables": ["windows"]})
    largest = max(run.table("windows")["cwnd_segments"].to_pylist())
    assert largest <= (40 if control.startswith("bbr") else 20)
    assert run.summary["flows"][0]["goodput_bps"] == pytest.approx(1e6, rel=0.01)


@pytest.mark.parametrize("control", ["aimd", "cubic"])
def test_a_pause_of_ten_seconds_adds_nothing_to_the_window(control):
    """quicly 380: the cubic curve went on through the silence; 0.4 (10 - K)^3 are hundreds."""
    run = run_quic({"cc": control, "app": PAUSE}, record={"tables": ["windows"]})
    rows = run.table("windows").to_pylist()
    before = [row["cwnd_segments"] for row in rows if row["time_s"] < 8][-1]
    soon = [row["cwnd_segments"] for row in rows if 18 <= row["time_s"] < 18.2]
    assert len(soon) > 100
    assert all(abs(cwnd - before) <= 4 for cwnd in soon)


@pytest.mark.slow
def test_a_sender_restarts_with_a_burst_of_the_initial_window_and_is_paced():
    """quiche 2682: the whole window left at once. RFC 9002, 7.7: ten, then 1.25 cwnd / SRTT."""
    run = run_quic({"cc": "cubic", "app": PAUSE}, record={"tables": ["packets"]})
    times = [
        row["time_s"]
        for row in run.table("packets").to_pylist()
        if row["link"] == "s0->r0" and row["event"] == "arrival" and row["time_s"] >= 18
    ]
    assert sum(time - times[0] < 1e-9 for time in times) == 10
    # 190 packets are the window, and SRTT is 50 to 100 ms: at most 1.25 windows in 50 ms.
    assert 100 < sum(time - times[0] < 0.05 for time in times) <= 10 + 1.25 * 191


def test_reordering_is_taken_for_loss_up_to_the_threshold_in_packets():
    """quinn 2711, quic-go 5734: 4 ms are eight packets at 20 Mbit/s, and the threshold is 3."""
    net = {"impairments": [{"kind": "reorder", "probability": 0.02, "extent": "4 ms"}]}
    flows = {
        threshold: run_quic({"cc": "cubic", "quic": {"packet_threshold": threshold}}, net)
        for threshold in (3, 30)
    }
    few, many = (flows[threshold].summary["flows"][0] for threshold in (3, 30))
    # Nothing is lost, and what is sent again is needless.
    assert few["lost_data_packets"] == 0
    assert few["retransmits"] > 20
    assert few["goodput_bps"] < 0.3 * many["goodput_bps"]
    assert many["goodput_bps"] > 18e6
    assert many["retransmits"] <= many["lost_data_packets"] + 5


@pytest.mark.parametrize(
    "flow",
    [{"quic": {"max_ack_delay": "100 ms", "ack_eliciting_threshold": 1000}}, {"app": TRICKLE}],
)
def test_the_smallest_round_trip_is_never_less_than_propagation(flow):
    """msquic 5436: the delay was taken off the smallest. RFC 9002, 5.2 takes it as measured."""
    seen = run_quic({"cc": "cubic", **flow}).summary["flows"][0]
    # 50 ms, and 0.49 ms for its own transmission.
    assert 0.05049 <= seen["rtt_min_s"] < 0.0520


def test_a_delay_is_not_taken_off_where_that_leads_below_the_smallest_round_trip():
    """base-drafts 3350: the RFC kept that rule, and the engine follows it.

    The datagrams of the handshake have 1228 B both ways, 51.1 ms. Each packet of a trickle is
    answered after 40 ms with 67 B, so each sample is below the smallest and 40 ms.
    """
    flow = {"cc": "cubic", "app": TRICKLE, "quic": {"max_ack_delay": "40 ms"}}
    seen = run_quic(flow).summary["flows"][0]
    assert 0.0900 < seen["srtt_mean_s"] < 0.0911


def test_lp_takes_a_delay_that_is_not_taken_off_for_a_queue():
    """Each of two packets a round trip waits 25 ms for its ACK: 66 ms, and LP stays there."""
    link = {"a": "a", "b": "b", "rate": "10 Mbps", "delay": "20 ms", "buffer": "60 pkt"}
    flow = {"src": "a", "dst": "b", "cc": "lp", "slow_start": "standard"}
    rates = [
        run_quic(
            flow | {"transport": transport},
            era="rfc",
            warmup=5,
            net_of={"kind": "graph", "links": [link]},
            **options,
        ).summary["flows"][0]["goodput_bps"]
        for transport, options in (
            ("quic", {"quic": {"pacing_factor": 0}}),
            ("tcp", {"tcp": {"mss": 1161, "header": 67, "delayed_ack_timeout": "25 ms"}}),
        )
    ]
    assert rates[0] < 0.5e6
    assert rates[1] > 7e6
