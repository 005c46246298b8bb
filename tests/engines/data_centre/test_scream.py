"""SCReAM as a control for media: what its encoder gets, and how far from the published program."""

import bisect
from itertools import pairwise
from pathlib import Path

import pytest

from ackclock.scenario.load import load

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/data-centre/scream.toml"
RATES = {"min": "100 kbps", "max": "20 Mbps"}
MEDIA = RATES | {"fps": 50, "lag": "0 s", "scale_t": 0, "patience": "1 s"}
FEEDBACK = {"mss": 1000, "header": 12, "delayed_ack": 7, "frame_acks": True}


def call(transport="tcp", **changes):
    flow = {
        "pair": 0,
        "transport": transport,
        "cc": {"kind": "scream", "l4s": True, "reduce_jitter": True},
        "media": MEDIA,
    }
    if transport == "tcp":
        flow["tcp"] = FEEDBACK | {"delayed_ack_timeout": "40 ms"}
    record = {"tables": ["flow_samples", "probe_series"], "interval": "10 ms"}
    return load(EXAMPLE).replace(flows=[flow], record=record, **changes)


def series(run, name):
    """Times and values of a variable of the control."""
    table = run.tables["probe_series"].to_pydict()
    rows = zip(table["time_s"], table["probe"], table["value"], strict=True)
    return [(time, value) for time, probe, value in rows if probe == name]


def hold(rows, begin_s, end_s):
    """The mean over time of a value that is reported when it changes."""
    first = max(0, bisect.bisect([time for time, _ in rows], begin_s) - 1)
    part = [(max(begin_s, time), value) for time, value in rows[first:] if time < end_s]
    return sum(
        value * (later - time) for (time, value), (later, _) in pairwise([*part, (end_s, 0)])
    ) / (end_s - begin_s)


def rate_bps(run, begin_s, end_s):
    """Payload that arrives."""
    table = run.tables["flow_samples"].to_pydict()
    part = [i for i, time in enumerate(table["time_s"]) if begin_s <= time < end_s]
    arrived = table["delivered_bytes"][part[-1]] - table["delivered_bytes"][part[0]]
    return 8 * arrived / (table["time_s"][part[-1]] - table["time_s"][part[0]])


@pytest.mark.parametrize("transport", ["tcp", "quic"])
def test_media_gets_what_the_draft_gives_of_window_and_round_trip(transport):
    run = call(transport, duration="12 s", warmup="8 s").run()
    target = hold(series(run, "target_bps"), 8, 12)
    assert rate_bps(run, 8, 12) == pytest.approx(target, rel=0.05)
    # A video below its link leaves room: the window alone would carry at least a fifth more.
    window = hold(series(run, "reference_window"), 8, 12)
    table = run.tables["flow_samples"].to_pydict()
    rtts = [r for t, r in zip(table["time_s"], table["srtt_s"], strict=True) if 8 <= t < 12]
    payload = 1000 if transport == "tcp" else 1200
    carried = window * payload * 8 * len(rtts) / sum(rtts)
    assert 1.2 < carried / target < 1.5
    assert run.summary["flows"][0]["retransmits"] == 0


# Means of EricssonResearch/scream c8f84c3 with the draft's arguments, and the tolerances, of
# benchmarks/peers/scream.py, where from 4 to 6 s the rate is 13 % below.
@pytest.mark.slow
def test_media_is_near_that_of_the_published_program_once_a_rate_is_back():
    run = call().run()
    assert rate_bps(run, 8, 20) == pytest.approx(8.7e6, rel=0.1)
    assert hold(series(run, "target_bps"), 8, 20) == pytest.approx(8.7e6, rel=0.1)
    window = hold(series(run, "reference_window"), 8, 20)
    assert window * 1012 == pytest.approx(38.1e3, rel=0.15)


def test_a_frame_is_acknowledged_when_its_last_packet_arrives():
    # Frames of 1 Mbit/s each 20 ms have 2.5 packets, fewer than an acknowledgement waits for.
    media = MEDIA | {"min": "1 Mbps", "max": "1 Mbps", "scale_b": 0}
    waits = {}
    for has_end in (True, False):
        flow = {
            "pair": 0,
            "cc": "scream",
            "media": media,
            "tcp": FEEDBACK | {"frame_acks": has_end, "delayed_ack_timeout": "30 ms"},
        }
        run = load(EXAMPLE).replace(flows=[flow], duration="2 s", warmup="0 s").run()
        waits[has_end] = run.summary["flows"][0]["rtt_p50_s"]
    # Two packets of 0.8 ms after 25 ms; without, packets wait for others and for the timeout.
    assert waits[True] < 0.028
    assert waits[False] > 0.033
