"""Types of user-defined algorithms: what their methods get, and what makes a class one.

They say to type checkers what `ackclock.control` and `ackclock.aqm` check when a class is defined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ackclock._core import Ack, Congestion, Lost, Packet, Queue, Verdict, Window

if TYPE_CHECKING:
    from ackclock.catalogue.records import Record

    AnyControl: TypeAlias = "Record | str | dict[str, Any] | Control | type[Control]"
    """A congestion control where one is expected: of the catalogue, by name, or user-defined."""
    AnyQueue: TypeAlias = "Record | str | dict[str, Any] | Aqm | type[Aqm]"
    """A queue discipline where one is expected: of the catalogue, by name, or user-defined."""

__all__ = [
    "Ack",
    "Aqm",
    "Congestion",
    "Control",
    "Lost",
    "Packet",
    "Queue",
    "Verdict",
    "Window",
]


class Control(Protocol):
    """A user-defined congestion control: a class decorated with `ackclock.control`.

    Methods ``on_timeout(self, window, event)``, ``on_lost(self, window, lost)``, ``phase(self)``
    (the name of its state) and ``probes(self)`` (numbers by name) are optional; the last two are
    recorded.
    """

    def on_ack(self, window: Window, ack: Ack, /) -> object:
        """Change the window when data is acknowledged.

        Parameters
        ----------
        window
            Of the flow; may be changed.
        ack
            What was acknowledged since the last call.
        """

    def on_congestion(self, window: Window, event: Congestion, /) -> object:
        """Reduce the window, at most once per window of data.

        Parameters
        ----------
        window
            Of the flow; may be changed.
        event
            Why, and what was in flight.
        """


class Aqm(Protocol):
    """A user-defined AQM: a class decorated with `ackclock.aqm`.

    Methods ``on_dequeue(self, packet, queue)`` and ``on_timer(self, queue)`` are optional.
    """

    def on_enqueue(self, packet: Packet, queue: Queue, /) -> Verdict:
        """Decide about a packet that arrives.

        Parameters
        ----------
        packet
            The packet.
        queue
            What waits before it.
        """
        ...
