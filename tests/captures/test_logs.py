"""Logs of counters, each as its program writes it."""

from __future__ import annotations

import base64
import gzip
import json

import numpy as np
import pytest

from ackclock.captures.read.reading import read
from ackclock.captures.trace import CaptureError

SS = """1700000000.00
State Recv-Q Send-Q Local Address:Port Peer Address:Port Process
ESTAB 0      1448   192.0.2.1:44444 192.0.2.2:5201
\t cubic wscale:7,7 rto:204 rtt:40.5/2.5 mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:10 \
bytes_sent:20000 bytes_acked:14480 segs_out:20 unacked:4 retrans:0/2 minrtt:40.1
1700000000.50
ESTAB 0      1448   192.0.2.1:44444 192.0.2.2:5201
\t cubic wscale:7,7 rto:204 rtt:50/2.5 mss:1448 cwnd:20 bytes_acked:114480 \
unacked:10 retrans:1/3 minrtt:40.0
"""


def write(tmp_path, content):
    path = tmp_path / "log"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(path)


def test_a_log_of_ss_has_window_round_trip_and_control(tmp_path):
    reading = write(tmp_path, SS)
    flow, figures = reading.trace.flows[0], reading.flows[0]
    assert flow.samples["time_s"].tolist() == [0, 0.5]
    assert flow.samples["cwnd_bytes"].tolist() == [14480, 28960]
    assert flow.samples["delivered_bytes"].tolist() == [14480, 114480]
    assert flow.samples["flight_bytes"].tolist() == [4 * 1448, 14480]
    assert figures["cc"] == "cubic"
    assert figures["rtt_min_s"] == pytest.approx(0.04)
    assert figures["retransmitted_packets"] == 3
    assert "192.0.2" not in str(reading) + repr(reading.to_dict())


def test_a_log_of_ss_without_times_says_so(tmp_path):
    text = "\n".join(line for line in SS.splitlines() if not line.startswith("17"))
    reading = write(tmp_path, text)
    assert reading.trace.flows[0].samples["time_s"].tolist() == [1, 2]
    assert "the log has no times" in str(reading)


def test_json_of_iperf3(tmp_path):
    streams = [
        {"socket": 5, "start": i, "end": i + 1, "bytes": 10**6, "retransmits": i,
         "snd_cwnd": 50_000, "rtt": 40_000 + i, "sender": True}
        for i in range(3)
    ]  # fmt: skip
    document = {
        "start": {"tcp_mss_default": 1448},
        "intervals": [{"streams": [stream]} for stream in streams],
        "end": {"sender_tcp_congestion": "bbr"},
    }
    figures = write(tmp_path, json.dumps(document)).flows[0]
    assert figures["delivered_bytes"] == 3 * 10**6
    assert figures["retransmitted_packets"] == 3
    assert figures["cc"] == "bbr"
    assert figures["rtt_min_s"] == pytest.approx(0.04)
    assert figures["goodput_bps"] == pytest.approx(8e6)


def test_ndt7_in_gzip(tmp_path):
    info = {"ElapsedTime": 250_000, "BytesAcked": 500_000, "RTT": 20_000, "MinRTT": 18_000,
            "SndMSS": 1448, "SndCwnd": 30, "Unacked": 12, "TotalRetrans": 1}  # fmt: skip
    later = {**info, "ElapsedTime": 500_000, "BytesAcked": 1_000_000}
    document = {
        "Download": {
            "ServerMeasurements": [{"TCPInfo": info, "BBRInfo": {}}, {"TCPInfo": later}],
        }
    }
    reading = write(tmp_path, gzip.compress(json.dumps(document).encode()))
    figures = reading.flows[0]
    assert reading.trace.form == "ndt7"
    # From the first sample on, at which half of it had arrived.
    assert figures["goodput_bps"] == pytest.approx(0.5e6 * 8 / 0.25)
    assert (figures["rtt_min_s"], figures["cc"]) == (pytest.approx(0.018), "bbr")


def test_lines_of_tcp_info(tmp_path):
    lines = [
        {"Snapshot": {"Timestamp": f"2026-01-01T00:00:0{i}.5Z",
                      "TCPInfo": {"BytesAcked": 1000 * i, "RTT": 9000, "SndMSS": 1448}}}
        for i in range(3)
    ]  # fmt: skip
    text = "\n".join(map(json.dumps, [{"Header": 1}, *lines]))
    reading = write(tmp_path, text)
    assert reading.trace.form == "tcp-info"
    assert reading.trace.flows[0].samples["time_s"].tolist() == [0, 1, 2]
    assert reading.flows[0]["delivered_bytes"] == 2000


def qlog_events(name=""):
    return [
        {"time": 0, "name": f"{name}packet_sent",
         "data": {"header": {"packet_number": 0, "packet_type": "1RTT"}, "raw": {"length": 1200}}},
        {"time": 1, "name": f"{name}packet_sent",
         "data": {"header": {"packet_number": 1, "packet_type": "1RTT"}, "raw": {"length": 1200}}},
        {"time": 40, "name": f"{name}packet_received",
         "data": {"header": {"packet_number": 0, "packet_type": "1RTT"},
                  "frames": [{"frame_type": "ack", "acked_ranges": [[1, 1]]}]}},
        {"time": 50, "name": "recovery:packet_lost",
         "data": {"header": {"packet_number": 0, "packet_type": "1RTT"}}},
    ]  # fmt: skip


def check_qlog(reading):
    figures = reading.flows[0]
    assert figures["sent_packets"] == 2
    assert figures["lost_packets"] == 1
    assert figures["delivered_bytes"] == 1200
    assert figures["rtt_min_s"] == pytest.approx(0.039)
    assert figures["flight_max_bytes"] == 2400


def test_a_qlog_of_version_0_3(tmp_path):
    document = {"qlog_version": "0.3", "traces": [{"events": qlog_events("transport:")}]}
    check_qlog(write(tmp_path, json.dumps(document)))


def test_a_qlog_as_a_text_sequence(tmp_path):
    head = {"file_schema": "urn:ietf:params:qlog:file:sequential", "trace": {}}
    lines = [head, *qlog_events("quic:")]
    text = "".join(f"\x1e{json.dumps(line)}\n" for line in lines)
    check_qlog(write(tmp_path, text))
    broken = write(tmp_path, text + "\x1e{not JSON\n")
    assert "1 lines are not JSON" in str(broken)


def test_a_qlog_with_absolute_times_and_one_with_differences(tmp_path):
    events = qlog_events()
    absolute = [{**event, "time": event["time"] + 1.7e12} for event in events]
    document = {"qlog_version": "0.3", "traces": [{"events": absolute}]}
    check_qlog(write(tmp_path, json.dumps(document)))
    times = [0, 1, 39, 10]
    deltas = [{**event, "time": time} for event, time in zip(events, times, strict=True)]
    trace = {"common_fields": {"time_format": "delta"}, "events": deltas}
    check_qlog(write(tmp_path, json.dumps({"qlog_version": "0.3", "traces": [trace]})))


def test_ss_with_all_of_a_connection_in_a_line_and_times_in_nanoseconds(tmp_path):
    def line(port, size):
        return (
            f"ESTAB 0 0 [::ffff:192.0.2.1]:443 [::ffff:192.0.2.2]:{port} timer:(on,078ms,0) ts"
            f" sack bbr wscale:6,10 rtt:36.788/3.994 mss:1448 cwnd:44 bytes_acked:{size}"
        )

    lines = ["time:1700000000000000000", line(1, 5), line(2, 7)]
    lines += ["time:1700000000250000000", line(1, 1005), line(2, 3007)]
    reading = write(tmp_path, "\n".join(lines))
    assert [flow["cc"] for flow in reading.flows] == ["bbr", "bbr"]
    assert [flow["delivered_bytes"] for flow in reading.flows] == [3007, 1005]
    rates = [flow["goodput_bps"] for flow in reading.flows]
    assert rates == pytest.approx([3000 * 32, 1000 * 32], rel=1e-5)
    assert "192.0.2" not in str(reading) + repr(reading.to_dict())


@pytest.mark.parametrize("unit", [1, 10**3, 10**6, 10**9])
def test_times_of_ss_have_the_unit_that_their_digits_show(tmp_path, unit):
    lines = SS.splitlines()
    lines[0], lines[4] = (str(int(float(lines[i])) * unit + i * unit // 4) for i in (0, 4))
    reading = write(tmp_path, "\n".join(lines))
    assert reading.trace.flows[0].samples["time_s"].tolist() == pytest.approx([0, 1], abs=1e-6)


def test_what_tcp_info_archives_is_the_structure_of_the_kernel(tmp_path):
    """Offsets of `linux/tcp.h`; M-Lab writes attributes of inet_diag in base64."""
    info = bytearray(232)
    values = {16: 1448, 24: 5, 68: 40_000, 80: 10, 100: 2, 148: 39_000}
    for offset, value in values.items():
        info[offset : offset + 4] = value.to_bytes(4, "little")
    lines = [{"Metadata": {"UUID": "x"}, "Timestamp": "0001-01-01T00:00:00Z"}]
    for second, acked in ((0, 1000), (2, 251_000)):
        info[120:128] = acked.to_bytes(8, "little")
        attributes = [None, None, bytes(info), None, b"cubic\0"]
        texts = [None if x is None else base64.b64encode(x).decode() for x in attributes]
        lines.append({"Timestamp": f"2026-01-01T00:00:0{second}Z", "Attributes": texts})
    text = "\n".join(map(json.dumps, lines))
    figures = write(tmp_path, text).flows[0]
    assert figures["cc"] == "cubic"
    assert figures["rtt_min_s"] == pytest.approx(0.039)
    assert figures["retransmitted_packets"] == 2
    assert figures["flight_p50_bytes"] == 5 * 1448
    assert figures["goodput_bps"] == pytest.approx(1e6)
    broken = text.replace(texts[2], "no base64")
    with pytest.raises(CaptureError, match="no samples of a connection"):
        write(tmp_path, broken.replace('"Attributes"', '"Nothing"'))


def test_flows_of_flent_to_several_hosts_are_flows_and_their_sums_are_none(tmp_path):
    """Names as published data files have them."""
    names = ["TCP upload BE1 host-01", "TCP upload BE2 host-02", "TCP upload avg", "TCP upload sum"]
    results = {name: [1, 2, 3] for name in names}
    reading = write(tmp_path, json.dumps({"x_values": [0, 1, 2], "results": results}))
    assert len(reading.flows) == 2
    assert "host" not in str(reading) + repr(reading.to_dict())


def test_a_qlog_of_metrics_alone_has_the_flight_that_it_logs_and_no_bytes(tmp_path):
    data = {"congestion_window": 30_000, "bytes_in_flight": 24_000, "smoothed_rtt": 40}
    events = [{"time": t, "name": "recovery:metrics_updated", "data": data} for t in (0, 10)]
    document = {"qlog_version": "0.3", "traces": [{"events": events}]}
    [figures] = write(tmp_path, json.dumps(document)).flows
    assert figures["delivered_bytes"] is None and figures["goodput_bps"] is None
    assert figures["flight_p50_bytes"] == 24_000


@pytest.mark.parametrize("zero", [0.0, 1.7e9])
def test_samples_of_flent_have_the_clock_of_its_rates(tmp_path, zero):
    """Rates begin at 0.5 s; samples of the kernel have times since 1970, or since the beginning."""
    name = "TCP upload"
    first = 0.5 if zero == 0 else 0.0
    sampled = [{"t": zero + first + t, "tcp_rtt": 40, "tcp_cwnd": 10 + t} for t in (0, 1, 2)]
    document = {
        "x_values": [0.5, 1.5, 2.5], "results": {name: [8, 8, 8]}, "raw_values": {name: sampled}
    }  # fmt: skip
    (flow,) = write(tmp_path, json.dumps(document)).trace.flows
    windows = flow.samples["cwnd_bytes"]
    has_window = np.isfinite(windows)
    assert flow.samples["time_s"][has_window] == pytest.approx([0.5, 1.5, 2.5])
    assert windows[has_window] / 1448 == pytest.approx([10, 11, 12])
    assert flow.rtts["rtt_s"] == pytest.approx([0.04] * 3)
