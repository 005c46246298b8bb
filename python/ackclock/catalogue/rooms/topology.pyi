# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any

from ackclock.catalogue.records import Record
from ackclock.catalogue.user_types import AnyQueue

class Dumbbell(Record):
    def __init__(
        self,
        pairs: int,
        rate: float | str,
        rtt: float | str | None = ...,
        rtts: list[Any] | tuple[Any, ...] | None = ...,
        delay: float | str | None = ...,
        access_rate: float | str | None = ...,
        access_delay: float | str | None = ...,
        right_delays: list[Any] | tuple[Any, ...] | None = ...,
        buffer: str | None = ...,
        qdisc: AnyQueue | None = ...,
        back_qdisc: AnyQueue | None = ...,
        access_buffer: str | None = ...,
        loss: float | None = ...,
        schedule: Any = ...,
        drop: list[Any] | tuple[Any, ...] | None = ...,
        back_drop: list[Any] | tuple[Any, ...] | None = ...,
        impairments: list[Any] | tuple[Any, ...] | None = ...,
        back_impairments: list[Any] | tuple[Any, ...] | None = ...,
    ) -> None: ...

class ParkingLot(Record):
    def __init__(
        self,
        hops: int,
        rate: float | str,
        delay: float | str,
        access_rate: float | str | None = ...,
        access_delay: float | str | None = ...,
        buffer: str | None = ...,
        qdisc: AnyQueue | None = ...,
    ) -> None: ...

class Ring(Record):
    def __init__(
        self,
        routers: int,
        span: int | None = ...,
        rate: float | str | None = ...,
        delay: float | str | None = ...,
        access_rate: float | str | None = ...,
        access_delay: float | str | None = ...,
        buffer: str | None = ...,
        qdisc: AnyQueue | None = ...,
    ) -> None: ...

class Star(Record):
    def __init__(
        self,
        hosts: int,
        rate: float | str,
        delay: float | str,
        buffer: str | None = ...,
        qdisc: AnyQueue | None = ...,
    ) -> None: ...

class ErdosRenyi(Record):
    def __init__(
        self,
        nodes: int,
        edges: int,
        edge_nodes: int | None = ...,
        radius: Any = ...,
        capacities: Any = ...,
        rate: float | str | None = ...,
        delay: float | str | None = ...,
        buffer: str | None = ...,
        qdisc: AnyQueue | None = ...,
        seed: int | None = ...,
    ) -> None: ...

class Barabasi(Record):
    def __init__(
        self,
        nodes: int,
        edges: int,
        edge_nodes: int | None = ...,
        radius: Any = ...,
        capacities: Any = ...,
        rate: float | str | None = ...,
        delay: float | str | None = ...,
        buffer: str | None = ...,
        qdisc: AnyQueue | None = ...,
        seed: int | None = ...,
    ) -> None: ...

class Hot(Record):
    def __init__(
        self,
        capacities: Any = ...,
        rate: float | str | None = ...,
        delay: float | str | None = ...,
        buffer: str | None = ...,
        qdisc: AnyQueue | None = ...,
    ) -> None: ...

class Tiers(Record):
    def __init__(
        self,
        wans: int | None = ...,
        mans: int | None = ...,
        lans: int | None = ...,
        wan_nodes: int | None = ...,
        man_nodes: int | None = ...,
        lan_nodes: int | None = ...,
        wan_redundancy: int | None = ...,
        man_redundancy: int | None = ...,
        lan_redundancy: int | None = ...,
        man_wan_redundancy: int | None = ...,
        lan_man_redundancy: int | None = ...,
        wan_rate: float | str | None = ...,
        man_rate: float | str | None = ...,
        lan_rate: float | str | None = ...,
        wan_km: float | None = ...,
        man_km: float | None = ...,
        lan_km: float | None = ...,
        signal_speed: float | None = ...,
        buffer: str | None = ...,
        qdisc: AnyQueue | None = ...,
        seed: int | None = ...,
    ) -> None: ...

class OcBackbone(Record):
    def __init__(
        self,
        pops: int | None = ...,
        oc192: float | None = ...,
        oc48: float | None = ...,
        width_km: float | None = ...,
        buffer: str | None = ...,
        qdisc: AnyQueue | None = ...,
        seed: int | None = ...,
    ) -> None: ...

class Graph(Record):
    def __init__(
        self,
        nodes: list[Any] | tuple[Any, ...] | None = ...,
        links: list[Any] | tuple[Any, ...] | None = ...,
    ) -> None: ...

class Topohub(Record):
    def __init__(
        self,
        name: str,
        rate: float | str,
        rule: str | None = ...,
        buffer: str | None = ...,
        qdisc: AnyQueue | None = ...,
        signal_speed: float | None = ...,
        scale: float | None = ...,
    ) -> None: ...

class Graphml(Record):
    def __init__(
        self,
        file: str,
        rate: float | str | None = ...,
        weight: str | None = ...,
        buffer: str | None = ...,
        qdisc: AnyQueue | None = ...,
        signal_speed: float | None = ...,
        scale: float | None = ...,
    ) -> None: ...

class Csv(Record):
    def __init__(
        self,
        folder: str,
        rate: float | str | None = ...,
        weight: str | None = ...,
        buffer: str | None = ...,
        qdisc: AnyQueue | None = ...,
        signal_speed: float | None = ...,
        scale: float | None = ...,
    ) -> None: ...

class Environment(Record):
    def __init__(
        self,
        name: str,
        flows: int | None = ...,
        by: str | None = ...,
        topology: str | None = ...,
        capacity: float | str | None = ...,
        base: float | str | None = ...,
        step: float | str | None = ...,
        floor: float | None = ...,
        steps: list[Any] | tuple[Any, ...] | None = ...,
        period: float | str | None = ...,
        rtt: float | str | None = ...,
        rtt_spread: float | None = ...,
        buffer: str | None = ...,
        qdisc: AnyQueue | None = ...,
        packet: float | str | None = ...,
        jitter: float | None = ...,
        margin: float | None = ...,
        interval_low: float | str | None = ...,
        interval_high: float | str | None = ...,
        transfer_size: float | str | None = ...,
        transfer_shape: float | None = ...,
    ) -> None: ...
