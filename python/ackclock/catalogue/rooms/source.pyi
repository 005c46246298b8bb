# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any

from ackclock.catalogue.records import Record

class Cbr(Record):
    r"""Constant bit rate.

    rate: Rate on the wire before the first step of `schedule`. Range: more than 0 and at most 1000000000000000 bit/s.
    packet: Packet size on the wire. Range: from 1 to 65535 B.
    jitter: Largest delay of a packet after its place as a fraction of the interval. Range: from 0 to 1.
    schedule: Rates from given times on (0 = silence), counted from the flow's start.
    periods: On periods, in order, counted from the flow's start.
    """
    def __init__(
        self,
        rate: float | str | None = 1000000,
        packet: float | str | None = 1000,
        jitter: float | None = 0.0,
        schedule: list[Any] | tuple[Any, ...] | None = ...,
        periods: list[Any] | tuple[Any, ...] | None = ...,
    ) -> None: ...

class ExponentialOnOff(Record):
    r"""Exponential bursts and silences.

    rate: Peak rate on the wire. Range: more than 0 and at most 1000000000000000 bit/s.
    packet: Packet size on the wire. Range: from 1 to 65535 B.
    burst: Mean length of a burst. Range: more than 0 s.
    idle: Mean length of a silence. Range: at least 0 s.
    """
    def __init__(
        self,
        rate: float | str | None = 64000,
        packet: float | str | None = 210,
        burst: float | str | None = 0.5,
        idle: float | str | None = 0.5,
    ) -> None: ...

class ParetoOnOff(Record):
    r"""Pareto bursts and silences.

    rate: Peak rate on the wire. Range: more than 0 and at most 1000000000000000 bit/s.
    packet: Packet size on the wire. Range: from 1 to 65535 B.
    burst: Mean length of a burst. Range: more than 0 s.
    idle: Mean length of a silence. Range: at least 0 s.
    shape: Shape of both distributions (below 2 the variance is infinite). Range: more than 1.
    """
    def __init__(
        self,
        rate: float | str | None = 64000,
        packet: float | str | None = 210,
        burst: float | str | None = 0.5,
        idle: float | str | None = 0.5,
        shape: float | None = 1.5,
    ) -> None: ...

class Trace(Record):
    r"""Replay of a list of packets.

    packets: What leaves when, in order of time.
    packet: Largest packet on the wire. Range: from 1 to 65535 B.
    file: CSV file with what packets would list, columns at, size.
    """
    def __init__(
        self,
        packets: list[Any] | tuple[Any, ...] | None = ...,
        packet: float | str | None = 1500,
        file: str | None = ...,
    ) -> None: ...

class Tfrc(Record):
    r"""TCP Friendly Rate Control.

    packet: Packet size on the wire. Range: from 1 to 65535 B.
    ecn: Packets are ECN-capable.
    """
    def __init__(
        self,
        packet: float | str | None = 1500,
        ecn: bool | None = False,
    ) -> None: ...

class PacketPair(Record):
    r"""Packet-pair flow control.

    packet: Packet size on the wire. Range: from 1 to 65535 B.
    set_point: Packets to keep in the queue of the bottleneck. Range: more than 0 (packets).
    gain: Weight of the newest spacing in the estimate of the service rate. Range: more than 0 and at most 1.
    """
    def __init__(
        self,
        packet: float | str | None = 1000,
        set_point: float | None = 5.0,
        gain: float | None = 0.1,
    ) -> None: ...

class FireHose(Record):
    r"""Fire-hose with a sender policy.

    policy: Sender policy of the fluid engine, by name or as a table with its parameters.
    packet: Packet size on the wire. Range: from 1 to 65535 B.
    interval: Time between two reports of the receiver. Range: at least 1e-6 s.
    capacity: Rate that the flows of the sender may fill together. Range: more than 0 and at most 1000000000000000 bit/s.
    """
    def __init__(
        self,
        policy: Record | str | dict[str, Any] | None = "limited-ratio",
        packet: float | str | None = 1000,
        interval: float | str | None = 0.1,
        capacity: float | str | None = ...,
    ) -> None: ...

class Coded(Record):
    r"""Erasure-coded sender.

    source: The source whose packets are coded, by name or as a table with its parameters.
    block: Data packets of a block. Range: at least 1 (packets).
    overhead: Fraction by which more packets than the block has must arrive. Range: at least 0.
    """
    def __init__(
        self,
        source: Record | str | dict[str, Any] | None = "fire-hose",
        block: int | None = 1000,
        overhead: float | None = 0.03,
    ) -> None: ...
