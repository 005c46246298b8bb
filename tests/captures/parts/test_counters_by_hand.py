"""What a log of counters becomes, each value computed by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ackclock.captures.read import figures, logs
from ackclock.captures.trace import CaptureError, FlowTrace

PATH = Path("a.log")

ENDS = "ESTAB 0 0 192.0.2.1:1000 192.0.2.2:80"


def read_ss(*lines, interval_s=0.5, keep_addresses=False):
    return logs.trace_of_ss(
        "\n".join(lines), PATH, interval_s=interval_s, keep_addresses=keep_addresses
    )


def test_a_log_is_of_ss_if_it_has_both_window_and_round_trip():
    assert logs.is_ss_log(b"cubic rtt:1/2 cwnd:10")
    assert not logs.is_ss_log(b"cubic rtt:1/2")
    assert not logs.is_ss_log(b"cubic cwnd:10")


def test_counters_of_ss_are_in_bytes_and_seconds():
    trace = read_ss(
        "1700000000",
        ENDS,
        "\t ts sack cubic rtt:40/2.5 mss:1000 cwnd:10 bytes_acked:7000 unacked:4 retrans:0/3"
        " minrtt:20",
    )
    (flow,) = trace.flows
    assert {name: values.tolist() for name, values in flow.samples.items()} == {
        "time_s": [0.0],
        "delivered_bytes": [7000.0],
        "outstanding_bytes": [4000.0],
        "flight_bytes": [4000.0],
        "cwnd_bytes": [10_000.0],
        "srtt_s": [0.04],
        "min_rtt_s": [0.02],
        "retransmitted_packets": [3.0],
    }
    assert flow.rtts["rtt_s"].tolist() == [0.04]
    assert flow.facts == {
        "stream_bytes": 7000, "mss": 1000, "rtt_samples": 1, "retransmitted_packets": 3,
        "least_rtt_s": 0.02,
    }  # fmt: skip
    assert (flow.name, flow.protocol, flow.position) == ("1", "tcp", "sender")
    # ts and sack are options of the connection, not its control.
    assert flow.control == "cubic"
    assert flow.ends is None
    assert trace.doubts == []
    assert flow.doubts == [
        "samples of counters: what happened between two of them is not known; retransmissions are"
        " not kept apart from losses"
    ]


def test_what_ss_leaves_out_is_none_in_flight_and_none_retransmitted():
    (flow,) = read_ss(ENDS, "reno cwnd:2 rtt:0 mss:500").flows
    assert flow.samples["flight_bytes"].tolist() == [0.0]
    assert flow.samples["retransmitted_packets"].tolist() == [0.0]
    assert np.isnan(flow.samples["delivered_bytes"]).tolist() == [True]
    # A round trip of zero is none, and without bytes none is known to be delivered.
    assert flow.rtts["rtt_s"].tolist() == []
    assert flow.facts == {
        "stream_bytes": 0, "mss": 500, "rtt_samples": 0, "retransmitted_packets": 0,
    }  # fmt: skip


def test_without_times_each_connection_counts_its_outputs():
    other = ENDS.replace("1000", "1001")
    trace = read_ss(
        ENDS, "cubic cwnd:1 rtt:1 bytes_acked:10",
        other, "bbr cwnd:1 rtt:1 bytes_acked:30",
        ENDS, "cubic cwnd:1 rtt:1 bytes_acked:20",
        interval_s=0.25, keep_addresses=True,
    )  # fmt: skip
    # The flow of more bytes is the first, whichever was first in the file.
    first, second = trace.flows
    assert (first.name, first.control, first.samples["time_s"].tolist()) == ("1", "bbr", [0.25])
    assert (second.name, second.control) == ("2", "cubic")
    assert second.samples["time_s"].tolist() == [0.25, 0.5]
    assert first.ends == ("192.0.2.1:1001", "192.0.2.2:80")
    assert second.ends == ("192.0.2.1:1000", "192.0.2.2:80")
    assert trace.doubts == [
        "the log has no times: 0.25 s between two outputs is assumed (--interval);"
        " print `date +%s.%N` before each"
    ]


def test_a_log_without_samples_names_its_file_and_form():
    with pytest.raises(CaptureError) as error:
        read_ss("1700000000", ENDS)
    assert str(error.value) == "a.log: the ss log has no samples of a connection"


def test_the_most_samples_of_a_log_are_read_and_one_more_is_refused(monkeypatch):
    monkeypatch.setattr(logs, "MOST_ROWS", 2)
    assert len(read_ss(ENDS, *["cwnd:1 rtt:1"] * 2).flows[0].samples["time_s"]) == 2
    with pytest.raises(CaptureError, match=r"^a\.log: it has more than 2 samples$"):
        read_ss(ENDS, *["cwnd:1 rtt:1"] * 3)


@pytest.mark.parametrize(
    ("line", "time_s"),
    [
        ("17000000000", 17_000_000_000.0),  # 11 digits are still seconds
        ("170000000000", 170_000_000.0),  # 12 digits are milliseconds
        ("1700000000000", 1_700_000_000.0),
        ("17000000000000", 17_000_000_000.0),  # 14 digits: the most of milliseconds
        ("170000000000000", 170_000_000.0),  # 15 digits are microseconds
        ("1700000000000000000", 1_700_000_000.0),
        ("# time: 1700000000.25", 1_700_000_000.25),
        ("2023-11-14T22:13:20+00:00", 1_700_000_000.0),
        ("2023-11-14 22:13:20,5+00:00", 1_700_000_000.5),
        ("2023-13-14T22:13:20+00:00", None),
        ("12345678", None),
        ("cwnd:10", None),
    ],
)
def test_the_unit_of_a_time_is_shown_by_its_digits(line, time_s):
    assert logs._time(line) == time_s


def test_ends_are_the_last_two_words_with_a_colon_or_two_before_the_counters():
    assert logs._ends(ENDS) == "192.0.2.1:1000 192.0.2.2:80"
    assert logs._ends("ESTAB 0 a:1") == ""
    assert logs._ends("ESTAB a:1 b:2") == ""
    assert logs._ends("ESTAB 0 a:1 b:2") == "a:1 b:2"
    assert logs._ends("ESTAB 0 0 10.0.0.1:5 10.0.0.2:6 cubic cwnd:3") == "10.0.0.1:5 10.0.0.2:6"
    assert logs._ends("cubic cwnd:3 rtt:1") == ""


def test_iperf3_adds_bytes_and_retransmissions_of_its_intervals():
    def stream(begin, size, again):
        return {"socket": 5, "start": begin, "end": begin + 1, "bytes": size, "retransmits": again,
                "snd_cwnd": 9000, "rtt": 30_000, "sender": True}  # fmt: skip

    document = {
        "intervals": [{"streams": [stream(0, 100, 2)]}, {"streams": [stream(1, 50, 3)]}],
        "end": {"sender_tcp_congestion": "cubic"},
        "start": {"tcp_mss_default": 1400},
    }
    trace = logs.trace_of_json(document, PATH)
    (flow,) = trace.flows
    assert trace.form == "iperf3"
    assert flow.samples["time_s"].tolist() == [0.0, 1.0, 2.0]
    assert flow.samples["delivered_bytes"].tolist() == [0.0, 100.0, 150.0]
    assert flow.samples["retransmitted_packets"].tolist()[1:] == [2.0, 5.0]
    assert flow.rtts["rtt_s"].tolist() == [0.03, 0.03]
    assert flow.facts == {
        "stream_bytes": 150, "mss": 1400, "rtt_samples": 2, "retransmitted_packets": 5,
    }  # fmt: skip
    assert flow.doubts[0] == (
        "bytes are those that the program wrote, part of which were still to be sent"
    )


def test_flent_multiplies_goodput_by_the_interval():
    document = {
        "x_values": [0, 2, 4],
        "results": {"TCP upload": [8, None, 4], "TCP upload avg": [1, 1, 1], "Ping (ms) ICMP": [3]},
        "metadata": {"SERIES_META": {"TCP upload": {"CONG_CONTROL": "bbr"}}},
        "raw_values": {
            "TCP upload": [
                {"t": 1_700_000_001.0, "tcp_rtt": 20, "tcp_cwnd": 10},
                {"t": 1_700_000_002.0},
                {"t": 1_700_000_003.5, "tcp_rtt": 40},
            ],
            "Ping (ms) ICMP": [],
        },
    }
    trace = logs.trace_of_json(document, PATH)
    (flow,) = trace.flows
    assert (trace.form, trace.doubts, flow.control) == ("flent", ["pings are not used"], "bbr")
    # 8 Mbit/s over 2 s are 2 MB, 4 Mbit/s over 2 s are 1 MB more.
    has_bytes = ~np.isnan(flow.samples["delivered_bytes"])
    assert flow.samples["time_s"][has_bytes].tolist() == [0.0, 4.0]
    assert flow.samples["delivered_bytes"][has_bytes].tolist() == [2e6, 3e6]
    # The first raw sample is at the first time of the rates.
    assert flow.rtts["time_s"].tolist() == [0.0, 2.5]
    assert flow.rtts["rtt_s"].tolist() == [0.02, 0.04]
    windows = flow.samples["cwnd_bytes"]
    assert windows[~np.isnan(windows)].tolist() == [14_480.0]
    assert flow.doubts[-1] == "bytes are goodput times interval; round trips are smoothed"


def test_raw_samples_of_flent_before_2001_are_seconds_of_the_test():
    rows = logs._flent_raw([{"t": 3, "tcp_rtt": 10}, "no row", {"t": 5, "tcp_cwnd": 2}], 1.0)
    assert [row["time_s"] for row in rows] == [3.0, 5.0]
    assert rows[1]["cwnd_bytes"] == 2896
    assert logs._flent_raw(None, 0.0) == []


def info(**more):
    return {
        "ElapsedTime": 2_500_000, "BytesAcked": 900, "RTT": 30_000, "MinRTT": 20_000,
        "TotalRetrans": 1, "SndMSS": 100, "SndCwnd": 7, "Unacked": 3, **more,
    }  # fmt: skip


def test_ndt7_has_microseconds_and_segments():
    document = {
        "Download": {"ServerMeasurements": [{"TCPInfo": info(), "BBRInfo": {}}]},
        "Upload": {"ServerMeasurements": [{"TCPInfo": info(BytesAcked=1000)}, {"TCPInfo": {}}]},
    }
    upload, download = logs.trace_of_json(document, PATH).flows
    assert {name: values.tolist() for name, values in download.samples.items()} == {
        "time_s": [2.5], "delivered_bytes": [900.0], "outstanding_bytes": [300.0],
        "flight_bytes": [300.0], "cwnd_bytes": [700.0], "srtt_s": [0.03], "min_rtt_s": [0.02],
        "retransmitted_packets": [1.0],
    }  # fmt: skip
    assert (download.control, upload.control) == ("bbr", None)
    assert upload.doubts[0] == "an upload, seen by its receiver: few counters apply"
    assert download.doubts[0].startswith("samples of counters")


def test_json_of_another_program_is_refused_with_what_is_read():
    with pytest.raises(CaptureError) as error:
        logs.trace_of_json({"intervals": 3}, PATH)
    assert str(error.value) == (
        "a.log: it is JSON of no known kind; expected a qlog, or JSON of iperf3, Flent or ndt7"
    )


def test_lines_of_tcp_info_count_from_the_first_and_broken_ones_are_counted():
    lines = [
        json.dumps({"Snapshot": {"TCPInfo": info(), "Timestamp": "2023-11-14T22:13:20+00:00"}}),
        "{",
        "",
        json.dumps({"TCPInfo": info(), "Timestamp": "2023-11-14T22:13:21.5+00:00"}),
        json.dumps({"TCPInfo": info()}),
        "{",
    ]
    trace = logs.trace_of_lines("\n".join(lines).encode(), PATH)
    assert trace.form == "tcp-info"
    assert trace.flows[0].samples["time_s"].tolist() == [0.0, 1.5]
    assert trace.doubts == ["2 lines are not JSON, or too deep, and were left out"]
    whole = logs.trace_of_lines(lines[0].encode(), PATH)
    assert whole.doubts == []


def test_of_a_short_structure_the_counters_that_it_has_are_read():
    # The MSS is at byte 16 with four bytes: twenty bytes have it, nineteen do not.
    data = bytes(16) + (1448).to_bytes(4, "little")
    assert logs._unpack_info(data) == {"SndMSS": 1448}
    assert logs._unpack_info(data[:-1]) == {}


def test_a_curve_of_the_most_points_stays_and_a_longer_one_keeps_least_and_most(monkeypatch):
    monkeypatch.setattr(figures, "_MOST_POINTS", 4)
    times, values = np.arange(4.0), np.array([1.0, 9, 2, 3])
    assert [x.tolist() for x in figures.thin(times, values)] == [[0, 1, 2, 3], [1, 9, 2, 3]]
    # Six points in two pieces of three: least and most of each, in order of time.
    times, values = np.arange(6.0), np.array([5.0, 9, 1, 7, 7, 7])
    assert [x.tolist() for x in figures.thin(times, values)] == [[1, 2, 3], [9, 1, 7]]


def test_a_curve_is_labelled_with_its_flow_and_the_control_that_is_known():
    assert figures._label(FlowTrace("3", "tcp")) == "flow 3"
    assert figures._label(FlowTrace("3", "tcp", control="bbr")) == "flow 3 (bbr)"


def test_figures_without_data_are_left_out_and_units_are_on_the_axes():
    (flow,) = read_ss(
        ENDS, "cubic cwnd:2 rtt:40 mss:500 bytes_acked:0 unacked:1",
        "cubic cwnd:4 rtt:50 mss:500 bytes_acked:125000 unacked:3", interval_s=1,
    ).flows  # fmt: skip
    trace = read_ss(ENDS, "cubic cwnd:2 rtt:40 mss:500 unacked:1")
    assert list(figures.draw_all(trace)) == ["rtt", "flight", "window"]
    trace.flows = [flow]
    drawn = figures.draw_all(trace)
    curves = {
        name: (p.axes[0].get_title(), p.axes[0].get_ylabel(), p.axes[0].lines[0].get_xydata())
        for name, p in drawn.items()
    }
    assert curves["rtt"][:2] == ("Round trips", "round trip [ms]")
    assert curves["rtt"][2].tolist() == [[1, 40], [2, 50]]
    assert curves["flight"][:2] == ("Bytes in flight", "in flight [kB]")
    assert curves["flight"][2].tolist() == [[1, 0.5], [2, 1.5]]
    assert curves["window"][:2] == ("Congestion window", "window [kB]")
    assert curves["window"][2].tolist() == [[1, 1], [2, 2]]
    # One second in 120 parts.
    assert curves["goodput"][:2] == ("Goodput, means over 0.00833 s", "goodput [Mbit/s]")
    trace.flows = []
    assert figures.draw_all(trace) == {}
