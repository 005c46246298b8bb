"""A host of an emulation: when it looks, and what it sets on a socket."""

import socket
import sys
from itertools import takewhile
from typing import ClassVar

import pytest

if sys.platform != "linux":
    pytest.skip("emulation needs Linux", allow_module_level=True)

from ackclock.peers.emulate import capture, end, namespaces, tcp_info


def times(interval, warmup, duration):
    task = {"interval_s": interval, "warmup_s": warmup, "duration_s": duration}
    return list(takewhile(lambda tick: tick < float("inf"), end.ticks(task)))


def test_samples_are_at_each_interval_and_at_the_ends_of_warmup_and_run():
    assert times(0.5, 0.7, 2.2) == pytest.approx([0, 0.5, 0.7, 1, 1.5, 2, 2.2])
    # What coincides is one sample.
    assert times(0.5, 1.0, 2.0) == pytest.approx([0, 0.5, 1, 1.5, 2])
    assert times(5.0, 0.25, 2.0) == pytest.approx([0, 0.25, 2])
    # 0.3 / 0.1 is less than 3 in doubles.
    assert times(0.1, 0.0, 0.3) == pytest.approx([0, 0.1, 0.2, 0.3])


class Socket:
    """A socket that remembers what is set, and connects to nobody."""

    made: ClassVar[list] = []

    def __init__(self):
        self.options, self.peer = {}, None
        self.made.append(self)

    def setsockopt(self, level, option, value):
        self.options[level, option] = value

    def settimeout(self, timeout):
        assert timeout == 0

    def connect(self, peer):
        self.peer = peer
        raise BlockingIOError

    def fileno(self):
        return len(self.made)


class Poller:
    def __init__(self):
        self.watched = {}

    def register(self, file, events):
        self.watched[file] = events


@pytest.fixture
def sysctls(monkeypatch):
    found = []
    monkeypatch.setattr(namespaces, "set_sysctl", lambda *each: found.append(each) or True)
    monkeypatch.setattr(end.socket, "socket", Socket)
    monkeypatch.setattr(end.select, "epoll", Poller)
    monkeypatch.setattr(Socket, "made", [])
    return found


def flow(**changes):
    plain = {"ecn": False, "timestamps": True, "control": "reno", "maxseg": 1448, "dscp": 0}
    return {**plain, "start_s": 0.0, "stop_s": None, "size_bytes": None, **changes}


def test_a_connection_has_the_code_point_segment_and_control_of_its_flow(sysctls):
    flows = [
        flow(dscp=46, ecn=True, size_bytes=5000),
        flow(control="cubic", stop_s=2.0, maxseg=500),
    ]
    sender = end.Sender({"flows": flows, "unsent_bytes": 4000}, end.Clock(0))
    sender._begin(0)
    sender._begin(1)
    first, second = Socket.made
    # RFC 2474, section 3: the code point is the upper six bits; the lower two are those of ECN.
    assert first.options[socket.IPPROTO_IP, socket.IP_TOS] == 0b10111000
    assert first.options[socket.IPPROTO_TCP, socket.TCP_CONGESTION] == b"reno"
    assert second.options[socket.IPPROTO_IP, socket.IP_TOS] == 0
    assert second.options[socket.IPPROTO_TCP, socket.TCP_CONGESTION] == b"cubic"
    assert second.options[socket.IPPROTO_TCP, socket.TCP_MAXSEG] == 500
    # Only what stops at a time must not have much in its socket.
    unsent = socket.IPPROTO_TCP, end.TCP_NOTSENT_LOWAT
    assert unsent not in first.options
    assert second.options[unsent] == 4000
    assert [each.peer[1] for each in (first, second)] == [end.FIRST_PORT, end.FIRST_PORT + 1]
    assert sender.left == {0: 5000, 1: None}
    # ECN is on for the first connection and off for the next; timestamps are set once.
    assert sysctls == [("tcp_ecn", "1"), ("tcp_timestamps", "1"), ("tcp_ecn", "0")]


def test_flows_begin_and_stop_in_order_of_time(sysctls):
    flows = [flow(start_s=1.0, stop_s=3.0), flow(start_s=0.5), flow(start_s=1.0)]
    sender = end.Sender({"flows": flows, "unsent_bytes": 1}, end.Clock(0))
    due = [sender.timeline.pop() for _ in range(len(sender.timeline))]
    assert due == [(0.5, 0, 1), (1.0, 0, 0), (1.0, 0, 2), (3.0, 1, 0)]


def test_a_sample_has_time_flow_and_what_the_kernel_says(sysctls, monkeypatch):
    sender = end.Sender({"flows": [flow(), flow()], "unsent_bytes": 1}, end.Clock(0))
    sender._begin(1)
    columns = len(tcp_info.TcpInfo._fields)
    monkeypatch.setattr(tcp_info, "read", lambda one: tuple(range(columns)))
    monkeypatch.setattr(sender.clock, "now", lambda: 1.5)
    rows = []
    sender._look(rows)
    assert dict(zip(end.SAMPLED, rows, strict=True)) == {
        "time_s": 1.5,
        "flow": 1,
        **dict(zip(tcp_info.TcpInfo._fields, range(columns), strict=True)),
    }


class Served(Socket):
    """A connected socket that fails, or whose other end has closed."""

    error = 0

    def getsockopt(self, level, option):
        assert (level, option) == (socket.SOL_SOCKET, socket.SO_ERROR)
        return self.error


@pytest.mark.parametrize(
    ("left", "error", "completed", "failed"),
    [(0, 0, {0: 1.5}, set()), (1000, 0, {}, set()), (None, 0, {}, set()), (0, 104, {}, {0})],
)
def test_only_a_flow_whose_bytes_were_all_sent_is_complete_when_its_peer_closes(
    sysctls, monkeypatch, left, error, completed, failed
):
    sender = end.Sender({"flows": [flow()], "unsent_bytes": 1}, end.Clock(0))
    monkeypatch.setattr(end.socket, "socket", Served)
    monkeypatch.setattr(Served, "error", error)
    monkeypatch.setattr(Poller, "unregister", lambda self, one: None, raising=False)
    monkeypatch.setattr(sender.clock, "now", lambda: 1.5)
    sender._begin(0)
    sender.left[0] = left
    (file,) = sender.flows
    sender._serve(file, end.select.EPOLLRDHUP)
    assert (sender.completed, sender.failed) == (completed, failed)


def test_captured_packets_are_written_in_order_of_time(tmp_path):
    summary = {"scenario_hash": "h", "seed": 1, "version": "0"}
    early, late = (1_000, 0, True, 40, b"\x45" + bytes(39)), (2_000, 1, False, 41, bytes(40))
    files = [
        capture.write(summary, packets, tmp_path / f"{number}.pcapng").read_bytes()
        for number, packets in enumerate(([early, late], [late, early]))
    ]
    assert files[0] == files[1]
    assert files[0].index(early[4]) < files[0].rindex(late[4])
