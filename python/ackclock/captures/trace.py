"""What a capture or a log is after it was read: flows with their events and series."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Columns = dict[str, npt.NDArray[Any]]

__all__ = ["EVENTS", "SAMPLES", "CaptureError", "FlowTrace", "Position", "Trace", "columns"]

from ackclock.errors import AckclockError

Position = Literal["sender", "receiver", "between", "unknown"]
"""Near which end of a flow its packets were captured."""

KINDS = (
    "sent", "retransmitted", "reordered", "duplicated", "acknowledged", "lost", "spurious",
    "marked",
)  # fmt: skip
"""Kinds of events: the first four are packets with data; ``spurious`` is a retransmission of data
that had arrived; ``marked`` is a congestion mark that was seen or echoed."""

EVENTS: dict[str, Any] = {
    "time_s": np.float64,
    "event": np.uint8,
    "start": np.int64,
    "end": np.int64,
    "size_bytes": np.int64,
}
"""Columns of events. Of TCP ``start`` and ``end`` are bytes of the stream, of QUIC numbers of
packets; ``size_bytes`` is the length of the IP packet, where it has one."""

SAMPLES = (
    "time_s", "delivered_bytes", "outstanding_bytes", "flight_bytes", "cwnd_bytes", "srtt_s",
    "min_rtt_s", "retransmitted_packets",
)  # fmt: skip
"""Columns of samples; what a file does not have is NaN."""


class CaptureError(AckclockError, ValueError):
    """A capture or a log cannot be read; the text is one sentence with the file's name."""


def columns(rows: list[tuple[Any, ...]], kinds: dict[str, Any]) -> Columns:
    """Make columns of rows.

    Parameters
    ----------
    rows
        Tuples in the order of `kinds`.
    kinds
        Types of the columns by name.
    """
    if not rows:
        return {name: np.empty(0, kind) for name, kind in kinds.items()}
    return {
        name: np.asarray(values, kind)
        for (name, kind), values in zip(kinds.items(), zip(*rows, strict=True), strict=True)
    }


@dataclass
class FlowTrace:
    """Data that one end of a connection sent to the other.

    Parameters
    ----------
    name
        Number of the flow, as text.
    protocol
        ``tcp``, ``quic`` or ``udp``.
    ends
        Address and port of sender and receiver; printed only on request.
    events
        Columns of `EVENTS`, in order of time.
    rtts
        Columns ``time_s`` and ``rtt_s``: round trips between both ends, as far as the file shows
        them.
    samples
        Columns of `SAMPLES`, in order of time.
    position
        Where the packets were captured.
    control
        The congestion control, if the file names it.
    facts
        Further values by name.
    doubts
        What the file cannot show of this flow, as sentences.
    """

    name: str
    protocol: str
    ends: tuple[str, str] | None = None
    events: Columns = field(default_factory=lambda: columns([], EVENTS))
    rtts: Columns = field(
        default_factory=lambda: columns([], {"time_s": np.float64, "rtt_s": np.float64})
    )
    samples: Columns = field(
        default_factory=lambda: columns([], dict.fromkeys(SAMPLES, np.float64))
    )
    position: Position = "unknown"
    control: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)

    @property
    def has_stream(self) -> bool:
        """Whether events have bytes of the stream, not numbers of packets as in a qlog."""
        return not self.facts.get("numbers_are_packets", False)

    def select(self, kind: str) -> Columns:
        """Select the events of one kind.

        Parameters
        ----------
        kind
            One of `KINDS`.
        """
        mask = self.events["event"] == KINDS.index(kind)
        return {name: values[mask] for name, values in self.events.items()}

    def count(self, kind: str) -> int:
        """Count the events of one kind.

        Parameters
        ----------
        kind
            One of `KINDS`.
        """
        return int(np.count_nonzero(self.events["event"] == KINDS.index(kind)))


@dataclass
class Trace:
    """All that a file shows.

    Parameters
    ----------
    form
        Format of the file.
    flows
        Flows, that with most bytes first.
    start_s
        Time zero of the trace [s since 1970], if the file has it.
    doubts
        What the file cannot show, as sentences.
    facts
        Counts of the file: packets, what was left out.
    """

    form: str
    flows: list[FlowTrace]
    start_s: float | None = None
    doubts: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
