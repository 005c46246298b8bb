"""Tables, warnings and validity of an emulation, from samples written by hand."""

import array
import json
import socket
import sys
from types import SimpleNamespace

import numpy as np
import pytest

if sys.platform != "linux":
    pytest.skip("emulation needs Linux", allow_module_level=True)

from ackclock.errors import UnsupportedError
from ackclock.peers.emulate import capture, channel, controls, end, run
from ackclock.peers.emulate.measurements import EmulatedMeasurements


def flow(name, **changes):
    plain = {"id": name, "src": "a", "dst": "b", "control": "reno", "mss_bytes": 1000}
    return {**plain, "start_s": 0.0, **changes}


def sent(*rows):
    """Samples of senders, 0 where nothing is said."""
    columns = {name: [float(row.get(name, 0)) for row in rows] for name in end.SAMPLED}
    return {name: np.array(values) for name, values in columns.items()}


def received(*rows):
    columns = zip(*rows, strict=True)
    return dict(zip(end.RECEIVED, map(np.array, columns), strict=True))


PASSED = {
    "data_entered": np.array([100, 10]), "data_arrived": np.array([80, 9]),
    "data_lost": np.array([5, 1]), "acks_entered": np.array([40, 3]),
    "acks_arrived": np.array([30, 3]), "acks_lost": np.array([2, 0]),
    "window_entered": np.array([50, 0]), "window_lost": np.array([4, 0]),
}  # fmt: skip


def observed(sent_rows, received_rows, **changes):
    task = {"flows": [flow("x"), flow("y", start_s=0.5, control="cubic")],
            "warmup_s": 1.0, "duration_s": 3.0}  # fmt: skip
    links = {"flows": PASSED, "strangers": [0, 0]}
    return EmulatedMeasurements(
        task=task, links=links, sent=sent_rows, received=received_rows,
        **{"completed": {}, "failed": [], "real_time": True, "unset": [], **changes},
    )  # fmt: skip


SENT = sent(
    {"time_s": 0.5, "flow": 0, "bytes_acked": 1001, "rtt_us": 90_000, "cwnd": 10},
    {"time_s": 1.0, "flow": 0, "bytes_acked": 2001, "rtt_us": 40_000, "min_rtt_us": 30_000,
     "cwnd": 10, "ssthresh": 0x7FFFFFFF, "unacked": 3},
    {"time_s": 1.0, "flow": 1},
    {"time_s": 2.0, "flow": 0, "bytes_acked": 2001, "rtt_us": 40_000, "min_rtt_us": 30_000,
     "cwnd": 10, "ssthresh": 0x7FFFFFFE},
    {"time_s": 2.5, "flow": 0, "bytes_acked": 2900, "rtt_us": 60_000, "min_rtt_us": 20_000,
     "cwnd": 10, "ssthresh": 7},
    {"time_s": 3.0, "flow": 0, "bytes_acked": 3001, "rtt_us": 80_000, "min_rtt_us": 20_000,
     "cwnd": 12, "ssthresh": 7, "data_segs_out": 9, "total_retrans": 2, "total_rto": 1},
)  # fmt: skip
RECEIVED = received(
    (0.5, 0, 500), (0.5, 1, 0), (1.25, 0, 2000), (1.25, 1, 0), (3.25, 0, 6001), (3.25, 1, 0)
)


def test_a_flow_has_its_last_counters_and_the_mean_round_trip_of_what_was_acknowledged():
    table = run._flows(observed(SENT, RECEIVED, completed={1: 2.25}))
    assert table["cc"] == ["linux/reno", "linux/cubic"]
    # 40, 60 and 80 ms: at 2 s nothing was acknowledged, and 0.5 s is within the warm-up.
    assert table["srtt_mean_s"][0] == pytest.approx(0.06)
    assert table["rtt_min_s"][0] == pytest.approx(0.02)
    # 4001 bytes between the first samples from 1 s and from 3 s on.
    assert table["goodput_bps"].tolist() == pytest.approx([8 * 4001 / 2.0, 0.0])
    assert table["delivered_bytes"].tolist() == [6001, 0]
    # A last segment that is not full is a packet.
    assert table["delivered_packets"].tolist() == [7, 0]
    assert table["sent_packets"].tolist() == [9, 0]
    assert table["retransmits"].tolist() == [2, 0]
    assert table["timeouts"].tolist() == [1, 0]
    assert table["cwnd_segments"][0] == 12
    assert table["completed_after_s"][1] == pytest.approx(1.75)
    assert np.isnan(table["completed_after_s"][0])
    assert np.isnan(table["srtt_mean_s"][1])
    assert table["lost_data_packets"].tolist() == [5, 1]
    assert table["lost_ack_packets"].tolist() == [2, 0]
    assert table["data_under_way"].tolist() == [15, 0]
    assert table["acks_under_way"].tolist() == [8, 0]
    assert table["loss_ratio"][0] == pytest.approx(0.08)
    assert np.isnan(table["loss_ratio"][1])


def test_goodput_needs_a_sample_from_the_end_on():
    got = received((1.0, 0, 100), (2.0, 0, 350), (3.0, 0, 600))
    assert run._rate(got, 1.0, 3.0) == 8 * 500 / 2.0
    assert run._rate(got, 1.5, 2.5) == 8 * 250 / 1.0
    assert run._rate(got, 1.0, 3.5) == 0.0
    assert run._rate(got, 1.5, 1.75) == 0.0


def test_windows_are_samples_in_which_window_or_acknowledged_segments_changed():
    table = run._windows(observed(SENT, RECEIVED))
    kept = list(zip(table["time_s"].tolist(), table["flow"].tolist(), strict=True))
    # At 2 s nothing, at 2.5 s less than a segment was acknowledged.
    assert kept == [(0.5, 0), (1.0, 0), (1.0, 1), (3.0, 0)]
    # The kernel counts the SYN as a byte.
    assert table["acked"].tolist() == [1, 2, 0, 3]
    assert table["cwnd_segments"].tolist() == [10, 10, 0, 12]
    assert table["in_flight_segments"].tolist() == [0, 3, 0, 0]
    # The kernel's largest number is no threshold.
    assert table["ssthresh_segments"].tolist() == [0, np.inf, 0, 7]


def test_segments_are_of_the_size_of_their_flow():
    rows = [{"flow": number, "bytes_acked": 3001, "cwnd": 1} for number in (0, 1)]
    here = observed(sent(*rows), RECEIVED)
    here.task["flows"][1]["mss_bytes"] = 500
    assert run._windows(here)["acked"].tolist() == [3, 6]


def test_a_sample_of_a_flow_has_what_its_receiver_had_by_then():
    table = run._flow_samples(observed(SENT, received((1.0, 1, 7), (1.0, 0, 20), (2.5, 0, 90))))
    assert table["delivered_bytes"].tolist() == [0, 20, 7, 20, 90, 90]
    assert table["received_bytes"].tolist() == [0, 20, 7, 20, 90, 90]
    assert table["srtt_s"].tolist() == pytest.approx([0.09, 0.04, 0, 0.04, 0.06, 0.08])
    assert table["ssthresh_segments"].tolist() == [0, np.inf, 0, 0x7FFFFFFE, 7, 7]
    assert table["sent_packets"].tolist()[-1] == 9
    assert table["retransmits"].tolist()[-1] == 2


def test_warnings_name_what_limited_failed_or_was_left_out():
    # 3 s: 1 % is 30 ms, which is no warning.
    rows = sent(
        {"time_s": 3.0, "flow": 0, "rwnd_limited_us": 30_000, "sndbuf_limited_us": 31_000},
        {"time_s": 3.0, "flow": 1, "rwnd_limited_us": 1_500_000},
    )
    here = observed(rows, RECEIVED, failed=[1], unset=["tcp_x"])
    data = {
        "tcp": {"mss": 1000, "min_rto": 0.3, "ecn": True},
        "flows": [{"recovery": "rack", "tcp": {"delayed_ack": 2}}, {"slow_start": "hystart"}],
    }
    assert run._warnings(SimpleNamespace(data=data), here, ["windows", "packets", "acks"]) == [
        "the kernel has its own rules in place of flows: recovery, flows: slow_start,"
        " tcp: delayed_ack, tcp: min_rto",
        "emulation does not record acks",
        "flow y: its connection failed",
        "the kernel does not let us set tcp_x",
        "flow x: limited by the socket's buffer for 1 % of the time",
        "flow y: limited by the receiver's window for 50 % of the time",
    ]


@pytest.mark.parametrize(("strangers", "is_named"), [([20, 0], False), ([10, 11], True)])
def test_more_than_20_packets_of_no_flow_are_a_warning(strangers, is_named):
    here = observed(SENT, RECEIVED)
    here.links["strangers"] = strangers
    warnings = run._warnings(SimpleNamespace(data={}), here, [])
    assert warnings == (["10 and 11 packets of sender and receiver belong to no flow"] * is_named)


@pytest.mark.parametrize(
    ("p99", "most", "stall", "packets", "is_valid", "limit"),
    [
        (0.0005, 0.004, 0.004, 9, True, 0.004),
        (0.0006, 0.004, 0.004, 9, False, 0.004),
        (0.0005, 0.0041, 0.004, 9, False, 0.004),
        # A stall shorter than the limit of most packets is none.
        (0.0004, 0.0005, 0.0001, 9, True, 0.0005),
        (0.0, 0.0, 0.004, 0, False, 0.004),
    ],
)
def test_a_run_is_valid_if_both_limits_hold_and_packets_passed(
    monkeypatch, p99, most, stall, packets, is_valid, limit
):
    late = {"packets": packets, "p50_s": 0.0, "p99_s": p99, "max_s": most}
    here = observed(SENT, RECEIVED)
    here.task.update(stall_s=stall, bottleneck="r0->r1", interval_s=0.01)
    here.links.update(
        lateness=late, refused=0, packet_hops=1, events=2, captured=[], tables={"links": {"id": []}}
    )
    monkeypatch.setattr(run, "EmulatedRun", lambda *words: SimpleNamespace(summary=words[1]))
    scenario = SimpleNamespace(data={}, fingerprint="h", seed=1)
    summary = json.loads(run.build_run(scenario, here, 0.0005).summary)
    assert summary["emulation"]["valid"] == is_valid
    assert summary["emulation"]["stall_limit_s"] == limit
    assert (summary["duration_s"], summary["window_s"]) == (3.0, 2.0)
    text = run.lateness_text(summary["emulation"])
    assert ("INVALID" in text) != is_valid
    assert text.startswith(f"{packets} packets were handed over 0 ms late (median)")
    assert f"the limits are 0.5 ms for p99 and {1e3 * limit:g} ms for all" in text


def test_messages_arrive_whole_and_a_closed_channel_is_the_end():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with ours:
        with theirs:
            channel.send(ours, {"a": 1})
            channel.send(ours, {"b": [2, 3]})
            channel.send_numbers(ours, array.array("d", [0.5, -1.0]))
            channel.send(ours, {"c": None}, theirs.fileno())
            channel.send(ours, {"d": 4})
            assert channel.receive(theirs) == {"a": 1}
            assert channel.receive(theirs) == {"b": [2, 3]}
            numbers = np.frombuffer(channel.receive_numbers(theirs))
            assert numbers.tolist() == [0.5, -1.0]
            message, device = channel.receive_with_device(theirs)
            assert message == {"c": None}
            assert device is not None
            socket.socket(fileno=device).close()
            assert channel.receive_with_device(theirs) == ({"d": 4}, None)
        with pytest.raises(EOFError):
            channel.receive(ours)
        with pytest.raises(EOFError):
            channel.receive_with_device(ours)


def described(kind, **params):
    return {"path": "flows[0]", "cc": {"kind": kind, "params": params}}


def test_only_controls_with_default_parameters_that_the_kernel_has_can_be_emulated():
    has = ["reno", "cubic"]
    assert controls.find_problems([described("aimd"), described("cubic", beta=0.7)], has) == []
    (problem,) = controls.find_problems([described("cubic", c=0.4, beta=0.8)], has)
    assert problem.path == "flows[0].cc.beta"
    assert "the kernel's cubic has no such parameter" in problem.message
    (problem,) = controls.find_problems([described("copa")], has)
    assert problem.message == ('is "copa", which the kernel does not have; it can run aimd, cubic')


def test_what_was_not_captured_is_refused(tmp_path):
    with pytest.raises(UnsupportedError, match="captures=True"):
        capture.write({}, [], tmp_path / "x.pcapng")
    assert not (tmp_path / "x.pcapng").exists()


class Watched:
    """A socket or listener of a receiver."""

    number = 5

    def __init__(self, *counts):
        self.counts, self.is_closed = list(counts), False
        Watched.number += 1
        self.file = Watched.number

    def fileno(self):
        return self.file

    def settimeout(self, timeout):
        assert timeout == 0

    def accept(self):
        return self.counts.pop(0), None

    def recv_into(self, room, size, flags):
        assert flags == socket.MSG_TRUNC
        assert size == len(room)
        count = self.counts.pop(0)
        if count < 0:
            raise ConnectionResetError
        return count

    def close(self):
        self.is_closed = True


class Ready:
    """A poller in which something is ready at each look; each takes 0.4 s."""

    def __init__(self):
        self.watched, self.waits, self.now = [], [], 0.0

    def register(self, one, events):
        assert events == end.select.EPOLLIN
        self.watched.append(one)

    def unregister(self, one):
        self.watched.remove(one)

    def poll(self, wait):
        self.waits.append(round(wait, 9))
        self.now = round(self.now + min(wait, 0.4), 9)
        return [(self.watched[-1].fileno(), end.select.EPOLLIN)] if wait >= 0.4 else []


def test_a_receiver_counts_what_each_flow_brings_and_looks_at_each_interval(monkeypatch):
    monkeypatch.setattr(end.select, "epoll", Ready)
    connection = Watched(700, 300, -1, 0)
    listeners = [Watched(), Watched(connection)]
    task = {"interval_s": 1.0, "warmup_s": 0.0, "duration_s": 2.0}
    receiver = end.Receiver(task, listeners, end.Clock(0))
    monkeypatch.setattr(receiver.clock, "now", lambda: receiver.poller.now)
    rows, about = receiver.work()
    assert about == {}
    samples = [tuple(rows[at : at + 3]) for at in range(0, len(rows), 3)]
    # Accepted by 0.4 s, 700 bytes by 0.8 s, 300 by 1.4 s and nothing after a reset.
    assert samples == [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 700), (2, 0, 0), (2, 1, 1000)]
    assert receiver.poller.waits == [1.0, 0.6, 0.2, 1.0, 0.6, 0.2]
    assert not connection.is_closed
    receiver._take(connection.fileno())
    assert connection.is_closed
    assert connection not in receiver.poller.watched
    assert connection.fileno() not in receiver.numbers


def test_a_sender_stops_a_flow_when_its_time_is_over_and_looks_at_the_others(monkeypatch):
    monkeypatch.setattr(end.select, "epoll", Ready)
    flows = [{"start_s": 0.0, "stop_s": 1.5}, {"start_s": 1.2, "stop_s": None}]
    task = {"flows": flows, "interval_s": 1.0, "warmup_s": 0.0, "duration_s": 2.0}
    sender = end.Sender(task, end.Clock(0))
    happened = []
    monkeypatch.setattr(sender.clock, "now", lambda: sender.poller.now)
    monkeypatch.setattr(sender.poller, "poll", lambda wait: step(sender.poller, wait))
    monkeypatch.setattr(sender, "_begin", lambda n: happened.append(("begin", n, now(sender))))
    monkeypatch.setattr(sender, "_stop", lambda n: happened.append(("stop", n, now(sender))))
    monkeypatch.setattr(sender, "_look", lambda rows: happened.append(("look", now(sender))))
    sender.failed = {3, 1}
    sender.completed = {1: 1.75}
    _, about = sender.work()
    assert happened == [
        ("begin", 0, 0.0), ("look", 0.0), ("look", 1.0), ("begin", 1, 1.2), ("stop", 0, 1.5),
        ("look", 2.0),
    ]  # fmt: skip
    assert about == {"completed": {"1": 1.75}, "failed": [1, 3]}


def step(poller, wait):
    """Nothing happens in the time waited for, or in the millisecond of a loop that turns."""
    poller.now = round(poller.now + max(wait, 0.001), 9)
    return []


def now(sender):
    return round(sender.poller.now, 6)


def test_a_flow_of_a_size_sends_exactly_that_and_then_ends(monkeypatch):
    class Connection:
        def __init__(self):
            self.sizes, self.shut = [], []

        def send(self, data):
            # The kernel takes as much as it has room for.
            count = min(len(data), 200_000)
            self.sizes.append(count)
            return count

        def shutdown(self, how):
            self.shut.append(how)

    monkeypatch.setattr(
        end.select, "epoll", lambda: SimpleNamespace(modify=lambda one, events: None)
    )
    sender = end.Sender({"flows": []}, end.Clock(0))
    connection = Connection()
    sender.flows, sender.left = {9: (0, connection)}, {0: 500_000}
    sender._serve(9, end.select.EPOLLOUT)
    assert connection.sizes == [200_000, 200_000, 100_000]
    assert connection.shut == [socket.SHUT_WR]
    assert sender.left == {0: 0}
    other = Connection()
    sender.flows[10] = (1, other)
    sender._stop(1)
    assert (len(other.shut), len(connection.shut)) == (1, 1)
