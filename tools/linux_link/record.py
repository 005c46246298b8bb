"""One recording: both ends, the link between them, and what came of it."""

from __future__ import annotations

import contextlib
import os
import platform
import select
import struct
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.peers.emulate.namespaces import (
    MTU,
    RefusedError,
    become_root_of_a_user_namespace,
    sleep_precisely,
)
from ackclock.peers.emulate.tcp_info import TcpInfo
from linux_link import endpoints
from linux_link.link import Passed, Path, carry

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A recording is invalid if more than one in a hundred packets was handed over later than this.
LATENESS_LIMIT_S = 0.0002
#: ... or any later than this: a tenth of the round trip.
LATENESS_MOST_S = 0.004
#: Payload of a full segment with timestamps.
MSS = MTU - 52
SAMPLE_COLUMNS = ("t_s", "flow", *TcpInfo._fields)


@dataclass(frozen=True)
class Case:
    """What is recorded."""

    cc: str
    flows: int
    rate_bps: int
    rtt_s: float
    buffer_packets: int
    seconds: float
    stagger_s: float = 0.0

    @property
    def name(self) -> str:
        """The name of the case's files."""
        rate = self.rate_bps // 1_000_000
        return f"{self.cc}-{self.flows}x{rate}M-{self.buffer_packets}pkt"


@dataclass
class Recording:
    """What came of a case; times in s since the senders began."""

    case: Case
    #: Samples of every flow's TCP_INFO, by column.
    samples: dict[str, NDArray[Any]]
    #: Arrivals at the queue, waiting times (NaN: dropped).
    arrived_s: NDArray[np.float64]
    waited_s: NDArray[np.float64]
    #: Kernel, lateness, whether it is valid.
    provenance: dict[str, Any]
    passed: Passed
    began_ns: int


def prepare() -> None:
    """Gain what a recording needs: namespaces and, if it can be had, real-time scheduling.

    Raises
    ------
    RefusedError
        If the kernel refuses namespaces.
    """
    if os.geteuid() != 0:
        become_root_of_a_user_namespace()
    sleep_precisely()


def record(case: Case, *, headers: bool = False) -> Recording:
    """Record a case; takes `case.seconds` and about one more.

    Raises
    ------
    RefusedError
        If the kernel refuses namespaces, TUN devices or the congestion control.
    """
    flows = endpoints.Flows(case.cc, case.flows, case.stagger_s, case.seconds)
    alarm_s = case.seconds + endpoints.GRACE_S
    receiver = endpoints.start(endpoints.RECEIVER, endpoints.receive, alarm_s)
    try:
        sender = endpoints.start(endpoints.SENDER, endpoints.send(flows), alarm_s)
        try:
            return _record(case, sender, receiver, headers=headers)
        finally:
            _end(sender)
    finally:
        _end(receiver)


def _end(end: endpoints.End) -> None:
    end.channel.close()
    os.close(end.tun)
    with contextlib.suppress(ProcessLookupError):
        os.kill(end.pid, 9)
    os.waitpid(end.pid, 0)


def _record(
    case: Case, sender: endpoints.End, receiver: endpoints.End, *, headers: bool
) -> Recording:
    reply = receiver.channel.recv(256)
    if reply != b"listening":
        raise RefusedError(reply.decode() or "the receiving end ended early")
    real_time = endpoints.be_real_time(20)
    path = Path(case.rate_bps, round(case.rtt_s / 2 * 1e9), case.buffer_packets)
    poller = select.poll()
    poller.register(sender.channel, select.POLLIN)
    sender.channel.send(b"go")
    until = time.monotonic_ns() + round((case.seconds + 2) * 1e9)
    passed = carry(
        path, sender.tun, receiver.tun, until, headers=headers, is_over=lambda: bool(poller.poll(0))
    )
    if real_time:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    if not poller.poll(0):
        raise RefusedError("the sending end did not end in time")
    began, rows = endpoints.take_samples(sender.channel)
    began_ns = round(began * 1e9)
    table = np.array(rows, dtype=np.float64).T
    names = dict(zip(SAMPLE_COLUMNS, table, strict=True))
    arrived = np.array(passed.arrived, dtype=np.int64)
    starts = np.array(passed.began, dtype=np.int64)
    waited = np.where(starts == 0, np.nan, (starts - arrived) / 1e9)
    late = np.array(passed.late, dtype=np.float64) / 1e9
    p50, p99, p999 = (float(x) for x in np.percentile(late, (50, 99, 99.9)))
    valid = p99 <= LATENESS_LIMIT_S and float(late.max()) <= LATENESS_MOST_S
    provenance = {
        "kernel": platform.release(),
        "real_time": real_time,
        "lateness_p50_s": p50,
        "lateness_p99_s": p99,
        "lateness_p999_s": p999,
        "lateness_max_s": float(late.max()),
        "valid": valid,
    }
    return Recording(case, names, (arrived - began_ns) / 1e9, waited, provenance, passed, began_ns)


def summarise(recording: Recording, since_s: float) -> dict[str, Any]:
    """Compute what is compared, from `since_s` to the end: one number or one a flow each."""
    case, samples = recording.case, recording.samples
    until = case.seconds
    window = (samples["t_s"] >= since_s) & (samples["t_s"] <= until)
    goodput, least, mean, most, retransmits = [], [], [], [], []
    for flow in range(case.flows):
        here = window & (samples["flow"] == flow)
        acked, at = samples["bytes_acked"][here], samples["t_s"][here]
        cwnd = samples["cwnd"][here]
        goodput.append(float((acked[-1] - acked[0]) * 8 / (at[-1] - at[0])))
        least.append(float(cwnd.min()))
        mean.append(float(cwnd.mean()))
        most.append(float(cwnd.max()))
        resent = samples["total_retrans"][here]
        retransmits.append(int(resent[-1] - resent[0]))
    inside = (recording.arrived_s >= since_s) & (recording.arrived_s <= until)
    waited = recording.waited_s[inside]
    # Little's law: the mean number waiting.
    queue = float(np.nansum(waited) / (until - since_s))
    return {
        "goodput_bps": goodput,
        "drops": int(np.isnan(waited).sum()),
        "arrivals": int(inside.sum()),
        "cwnd_min": least,
        "cwnd_mean": mean,
        "cwnd_max": most,
        "retransmits": retransmits,
        "queue_mean_packets": queue,
    }


def describe(case: Case) -> dict[str, Any]:
    """Return the case as plain data."""
    return asdict(case)


def headers_of(recording: Recording) -> list[tuple[float, str, int, int, int, bool]]:
    """Decode kept headers: time, "data" or "ack", port, sequence number, ACK, dropped."""
    rows = []
    origin = recording.began_ns
    streams = (
        ("data", list(zip(recording.passed.arrived, recording.passed.headers, strict=True))),
        ("ack", recording.passed.acks),
    )
    for kind, packets in streams:
        for index, (at, raw) in enumerate(packets):
            sport, dport, seq, ack = struct.unpack_from("!HHII", raw, 20)
            dropped = kind == "data" and recording.passed.began[index] == 0
            port = sport if kind == "data" else dport
            rows.append(((at - origin) / 1e9, kind, port, seq, ack, dropped))
    return sorted(rows)
