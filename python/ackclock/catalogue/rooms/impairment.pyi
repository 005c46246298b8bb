# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any, Literal

from ackclock.catalogue.records import Record

class Jitter(Record):
    r"""Random holding times.

    shape: Shape of the distribution.
    mean: Mean holding time. Range: at least 0 s.
    spread: Half the width of `uniform` (at most `mean`), standard deviation of `normal`. Range: at least 0 s.
    tail: Shape parameter of `pareto`. Range: more than 1.
    samples: Holding times of `samples`, at least one.
    keep_order: Whether packets are released in the order in which they came.
    """
    def __init__(
        self,
        shape: Literal["uniform", "normal", "exponential", "pareto", "samples"] | None = "exponential",
        mean: float | str | None = 0.001,
        spread: float | str | None = 0,
        tail: float | None = 2.5,
        samples: list[Any] | tuple[Any, ...] | None = ...,
        keep_order: bool | None = True,
    ) -> None: ...

class Wifi(Record):
    r"""Delay of a shared Wi-Fi channel.

    jitter: Average jitter J from 0 s. Range: at least 0 s.
    keep_order: Whether packets are released in the order in which they came.
    steps: Times from which on the average jitter is another one, ascending.
    """
    def __init__(
        self,
        jitter: float | str | None = 0.007,
        keep_order: bool | None = True,
        steps: list[Any] | tuple[Any, ...] | None = ...,
    ) -> None: ...

class DelaySteps(Record):
    r"""Delay that changes by schedule.

    steps: Times and the delay that the path has from then on, beside the link's own.
    keep_order: Whether packets are released in the order in which they came.
    """
    def __init__(
        self,
        steps: list[Any] | tuple[Any, ...] | None = ...,
        keep_order: bool | None = False,
    ) -> None: ...

class Reorder(Record):
    r"""Packets that others overtake.

    probability: Share of packets that are late. Range: from 0 to 1.
    extent: How late they are. Range: at least 0 s.
    """
    def __init__(
        self,
        probability: float | None = 0.01,
        extent: float | str | None = 0.005,
    ) -> None: ...

class Duplicate(Record):
    r"""Packets that arrive twice.

    probability: Share of packets that are copied. Range: from 0 to 1.
    """
    def __init__(
        self,
        probability: float | None = 0.01,
    ) -> None: ...

class GilbertElliott(Record):
    r"""Bursty loss.

    to_bad: Probability p that a good channel is bad for the next packet. Range: from 0 to 1.
    to_good: Probability r that a bad channel is good for the next packet. Range: more than 0 and at most 1.
    loss_good: Loss ratio while the channel is good. Range: from 0 to 1.
    loss_bad: Loss ratio while the channel is bad. Range: from 0 to 1.
    """
    def __init__(
        self,
        to_bad: float | None = 0.001,
        to_good: float | None = 0.2,
        loss_good: float | None = 0.0,
        loss_bad: float | None = 1.0,
    ) -> None: ...

class Arq(Record):
    r"""Link-layer retransmission.

    loss: Loss ratio q of one attempt. Range: at least 0 and less than 1.
    turnaround: Time T from one attempt to the next. Range: at least 0 s.
    attempts: Attempts n before a packet is given up. Range: at least 1.
    in_order: Whether the link delivers in order.
    """
    def __init__(
        self,
        loss: float | None = 0.1,
        turnaround: float | str | None = ...,
        attempts: int | None = 8,
        in_order: bool | None = True,
    ) -> None: ...

class Aggregation(Record):
    r"""Packets that leave in frames.

    interval: Time T between two releases. Range: at least 1e-6 s.
    start: When it begins. Range: at least 0 s.
    thin_acks: Whether an acknowledgement takes the place of an older one of its flow that waits.
    """
    def __init__(
        self,
        interval: float | str | None = 0.004,
        start: float | str | None = 0,
        thin_acks: bool | None = False,
    ) -> None: ...

class GilbertElliot(GilbertElliott):
    """Another name of `GilbertElliott`."""
