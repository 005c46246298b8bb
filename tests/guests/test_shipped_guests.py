"""Shipped stacks and the other templates as guests; `make guests` builds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock.errors import AlgorithmError
from ackclock.studies.guests import check_guest

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "target/guests"
AIOQUIC = [str(BUILT / "venv/bin/python"), str(ROOT / "examples/guests/aioquic/guest.py")]
QUIC_GO = [str(BUILT / "quic-go")]
QUICHE = str(BUILT / "quiche")
TQUIC = str(BUILT / "tquic")
S2N = str(BUILT / "s2n-quic")
NGTCP2 = str(BUILT / "ngtcp2")
NET = {"kind": "dumbbell", "pairs": 1, "rate": "10 Mbps", "rtt": "40 ms", "buffer": "40 pkt"}

pytestmark = pytest.mark.slow


def built(command: list[str]) -> list[str]:
    """The command of a guest; the test is skipped if it is not built."""
    if not Path(command[0]).exists():
        pytest.skip(f"{command[0]} is not built: make guests")
    return command


@pytest.mark.parametrize(
    "command",
    [
        [str(BUILT / "template-rust")],
        [str(BUILT / "template-go")],
        [*AIOQUIC, "reno"],
        [*AIOQUIC, "cubic"],
        QUIC_GO,
        *([QUICHE, control] for control in ("cubic", "reno", "bbr2_gcongestion")),
        *([TQUIC, control] for control in ("cubic", "bbr", "bbr3", "copa")),
        *([S2N, control] for control in ("cubic", "bbr")),
        *([NGTCP2, control] for control in ("cubic", "reno", "bbr")),
        [str(BUILT / "connection-guest"), "quinn/cubic"],
    ],
    ids=lambda command: "-".join([Path(command[0]).name, *command[1:]]),
)
def test_each_passes_the_test_of_the_protocol(command: list[str]) -> None:
    failed = [check for check in check_guest(built(command)) if not check.ok]
    assert failed == []


def run(flow: dict[str, Any], loss: float = 0, **net: Any) -> ackclock.Run:
    """Twenty seconds of one flow."""
    document: dict[str, Any] = {"net": NET | net, "flows": [{"pair": 0, **flow}]}
    document["duration"] = "20 s"
    document |= {"warmup": "2 s"}
    if loss:
        document["links"] = [{"link": "r0->r1", "loss": loss}]
    return ackclock.Scenario.from_data(document).run()


@pytest.mark.parametrize(
    ("command", "cc"),
    [
        ([*AIOQUIC, "reno"], "reno"),
        ([*AIOQUIC, "cubic"], "cubic"),
        # Its source has Reno's growth and a reduction to 0.7 (internal/congestion/cubic_sender.go).
        (QUIC_GO, {"kind": "aimd", "b": 0.7}),
        ([QUICHE, "reno"], "reno"),
        ([QUICHE, "bbr2_gcongestion"], "bbr2"),
        ([TQUIC, "cubic"], "cubic"),
        ([TQUIC, "bbr"], "bbr"),
        ([S2N, "cubic"], "cubic"),
        ([S2N, "bbr"], "bbr2"),
        ([NGTCP2, "cubic"], "cubic"),
        ([NGTCP2, "reno"], "reno"),
        ([NGTCP2, "bbr"], "bbr3"),
    ],
    ids=[
        "aioquic-reno",
        "aioquic-cubic",
        "quic-go",
        "quiche-reno",
        "quiche-bbr2",
        "tquic-cubic",
        "tquic-bbr",
        "s2n-cubic",
        "s2n-bbr",
        "ngtcp2-cubic",
        "ngtcp2-reno",
        "ngtcp2-bbr",
    ],
)
@pytest.mark.parametrize("loss", [0.0, 0.005])
def test_a_stack_gets_what_its_rule_gets_in_our_quic_and_repeats(
    command: list[str], cc: str | dict[str, Any], loss: float
) -> None:
    flow = {"guest": {"command": built(command)}}
    theirs, again = run(flow, loss), run(flow, loss)
    assert theirs.summary["digest"] == again.summary["digest"]
    ours = run({"transport": "quic", "cc": cc}, loss)
    rates = [r.flows.to_pylist()[0]["goodput_bps"] for r in (theirs, ours)]
    # A full link; or rates that some forty reductions each make, which a standard error of some 8 %
    # leaves undecided: three of the difference are a third.
    assert rates[0] == pytest.approx(rates[1], rel=0.33 if loss else 0.05)


@pytest.mark.parametrize(
    "command",
    [QUIC_GO, [S2N, "cubic"], [NGTCP2, "cubic"]],
    ids=["quic-go", "s2n-quic", "ngtcp2"],
)
def test_a_stack_with_ecn_answers_marks_by_reductions_and_loses_less(command: list[str]) -> None:
    def bottleneck(*, ecn: bool) -> dict[str, Any]:
        flow = {"guest": {"command": built(command)}, "quic": {"ecn": ecn}}
        links = run(flow, qdisc={"kind": "codel", "ecn": True}).links.to_pylist()
        return next(link for link in links if link["id"] == "r0->r1")

    with_ecn, without = bottleneck(ecn=True), bottleneck(ecn=False)
    assert with_ecn["marks"] > 10
    assert with_ecn["drops"] < without["drops"]
    assert without["marks"] == 0


def test_quic_go_stops_when_the_scenario_says_so() -> None:
    flow = {"guest": {"command": built(QUIC_GO)}, "start": "1 s", "stop": "10 s"}
    (row,) = run(flow).flows.to_pylist()
    # Nine seconds of 10 Mbit/s, but for headers (at most a tenth) and the start.
    assert 0.85 * 11.25e6 < row["delivered_bytes"] < 11.25e6


def test_quiche_sends_short_datagrams_where_its_window_has_a_little_room() -> None:
    """cloudflare/quiche#1400: 20 MB through 10 Mbit/s and 152 ms take longer than TCP's, as the
    window is counted in bytes and a packet is cut to what it leaves."""
    net = {"rtt": "152 ms", "buffer": "140 pkt"}
    theirs = run({"guest": {"command": built([QUICHE, "cubic"])}, "size": "20 MB"}, **net)
    ours = run({"transport": "quic", "cc": "cubic", "size": "20 MB"}, **net)
    sent = [r.flows.to_pylist()[0]["sent_packets"] for r in (theirs, ours)]
    # 1154 of 1200 bytes are payload: 17,300 full datagrams, and what is sent again.
    assert 17_000 < sent[1] < 18_500
    assert sent[0] > 2 * sent[1]


def test_bbr2_of_quiche_stays_in_probe_rtt_where_half_a_bdp_is_less_than_its_least_window() -> None:
    """cloudflare/quiche#2698: the window stays the initial one, whatever the path carries later."""
    net = {
        "rate": "1 Mbps",
        "rtt": "20 ms",
        "buffer": "160 pkt",
        "access_rate": "1 Gbps",
        "schedule": {"steps": [{"at": "15 s", "rate": "20 Mbps"}]},
    }

    def goodput_mbps(flow: dict[str, Any]) -> float:
        document = {"net": NET | net, "flows": [{"pair": 0, **flow}]}
        document |= {"duration": "30 s", "warmup": "20 s"}
        row = ackclock.Scenario.from_data(document).run().summary["flows"][0]
        return float(row["goodput_bps"]) / 1e6

    assert goodput_mbps({"guest": {"command": built([QUICHE, "bbr2_gcongestion"])}}) < 1
    assert goodput_mbps({"transport": "quic", "cc": "bbr2"}) > 17


def test_bbr_of_ngtcp2_grows_to_three_quanta_of_its_first_pacing_rate() -> None:
    command = built([NGTCP2, "bbr"])
    datagram, initial_packets = 1200, 10
    document = {
        "net": NET | {"rate": "128 kbps", "rtt": "20 ms", "buffer": "50 pkt"},
        "flows": [{"pair": 0, "guest": {"command": command}}],
        "duration": "12 s",
        "record": {"tables": ["windows"]},
    }
    windows = ackclock.Scenario.from_data(document).run().windows.to_pylist()
    largest = datagram * max(row["cwnd_segments"] for row in windows)
    # A millisecond at 2.77 initial windows a millisecond, three times.
    bound = 3 * 2.77 * initial_packets * datagram
    assert bound <= largest <= bound + datagram


def test_bbr_of_quinn_sends_by_its_window_alone() -> None:
    command = built([str(BUILT / "connection-guest"), "quinn/bbr"])

    def mean_rates(flow: dict[str, Any]) -> list[float]:
        document = {
            "net": NET | {"rtt": "100 ms", "buffer": "167 pkt"},
            "flows": [{"pair": 0, **flow}],
            "duration": "20 s",
            "record": {"tables": ["packets"]},
        }
        packets = ackclock.Scenario.from_data(document).run().packets.to_pylist()
        slots = [0] * 150
        for row in packets:
            if row["event"] == "arrival" and row["link"] == "s0->r0" and row["time_s"] >= 5:
                slots[int((row["time_s"] - 5) / 0.1)] += row["size_bytes"]
        return sorted(each * 8 / 0.1 / 10e6 for each in slots)

    ours = mean_rates({"transport": "quic", "cc": "bbr"})
    theirs = mean_rates({"guest": {"command": command}})
    # A twentieth of the time and more is the cycle's 0.75, and as much its 1.25.
    assert ours[7] < 0.85
    assert ours[-8] > 1.15
    assert theirs[7] > 0.95
    assert theirs[-8] < 1.05


def test_ngtcp2_ends_a_connection_whose_stream_has_four_thousand_gaps() -> None:
    flow = {"pair": 0, "guest": {"command": built([NGTCP2, "reno"])}}
    net = NET | {"rate": "1 Gbps", "rtt": "50 ms", "buffer": "1 bdp"}
    document = {"net": net, "flows": [flow], "duration": "4 s"}
    with pytest.raises(AlgorithmError, match=r"the server\) failed: ngtcp2: .*ERR_INTERNAL"):
        ackclock.Scenario.from_data(document).run()
