"""Controls and AQMs that the tests of user code name by file."""

import math
from typing import Any

import ackclock as ac


@ac.control
class Aimd:
    """The registry's aimd with count = acks, in Python."""

    increase: float = 1.0
    decrease: float = 0.5

    def on_ack(self, window, ack):
        if not (ack.ecn_echo or ack.app_limited):
            window.cwnd += self.increase / window.cwnd

    def on_congestion(self, window, event):
        least = 2.0 if event.kind == "loss" else 1.0
        window.cwnd = min(max(self.decrease * event.in_use, least), window.cwnd)


@ac.control
class Broken:
    """Does something wrong at the hundredth acknowledgement."""

    how: str = "raise"

    def __post_init__(self):
        self.calls = 0

    def on_ack(self, window, _):
        self.calls += 1
        if self.calls < 100:
            return None
        if self.how == "raise":
            raise LookupError("the table has no such row")  # the line that the traceback shows
        if self.how == "return":
            return 12.0
        values: dict[str, Any] = {"nan": math.nan, "negative": -1.0, "absurd": 1e10, "text": "ten"}
        window.cwnd = values[self.how]  # the line that the message names
        return None

    def on_congestion(self, window, event):
        window.cwnd = event.in_use / 2


@ac.aqm
class DropTail:
    """Lets all pass that the buffer holds."""

    def on_enqueue(self, _packet, _queue):
        return ac.Pass


@ac.aqm
class EveryNth:
    """Drops or marks every n-th data packet."""

    n: int = 50
    mark: bool = False

    def __post_init__(self):
        self.seen = 0

    def on_enqueue(self, packet, _queue):
        self.seen += not packet.is_ack
        if packet.is_ack or self.seen % self.n:
            return ac.Pass
        return ac.Mark if self.mark else ac.Drop


@ac.aqm
class Noisy:
    """Drops at random, by its own random numbers."""

    ratio: float = 0.02

    def on_enqueue(self, _packet, _queue):
        return ac.Drop if self.rng.random() < self.ratio else ac.Pass


@ac.aqm
class BrokenAqm:
    """Does something wrong after a second."""

    how: str = "raise"

    def on_enqueue(self, _packet, queue):
        if queue.now_s < 1:
            return ac.Pass
        if self.how == "raise":
            raise OverflowError("the queue is beyond me")
        return None
