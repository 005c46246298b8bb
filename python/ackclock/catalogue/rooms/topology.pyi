# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any, Literal

from ackclock.catalogue.records import Record
from ackclock.catalogue.user_types import AnyQueue

class Dumbbell(Record):
    r"""Pairs of hosts that share one bottleneck.

    pairs: Number of host pairs. Range: from 1 to 4000000.
    rate: Rate of the bottleneck. Range: more than 0 and at most 1000000000000000 bit/s.
    rtt: Round-trip propagation time between the hosts of each pair. Range: at least 0 s.
    rtts: Round-trip time of each pair, one by one.
    delay: One-way delay of the bottleneck. Range: from 0 to 9000000 s.
    access_rate: Rate of the access links. Range: more than 0 and at most 1000000000000000 bit/s.
    access_delay: One-way delay of each left-hand access link. Range: from 0 to 9000000 s.
    right_delays: One-way delays of the right-hand access links, one by one.
    buffer: Buffer of the bottleneck, both directions.
    qdisc: Queue discipline of the bottleneck.
    back_qdisc: Queue discipline of the bottleneck, right to left.
    access_buffer: Buffer of the access links.
    loss: Random loss ratio on the bottleneck, left to right. Range: from 0 to 1.
    schedule: Rate and loss of the bottleneck over time, left to right.
    drop: Arrivals at the bottleneck, left to right, that are dropped: numbers from 0.
    back_drop: Arrivals at the bottleneck, right to left, that are dropped.
    impairments: What the wire of the bottleneck does to packets, left to right: jitter, reordering, bursty loss, .
    back_impairments: What the wire of the bottleneck does to packets, right to left.
    """
    def __init__(
        self,
        pairs: int,
        rate: float | str,
        rtt: float | str | None = ...,
        rtts: list[Any] | tuple[Any, ...] | None = ...,
        delay: float | str | None = ...,
        access_rate: float | str | None = ...,
        access_delay: float | str | None = 0.001,
        right_delays: list[Any] | tuple[Any, ...] | None = ...,
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
        back_qdisc: AnyQueue | None = ...,
        access_buffer: str | None = "unlimited",
        loss: float | None = 0.0,
        schedule: Any = ...,
        drop: list[Any] | tuple[Any, ...] | None = ...,
        back_drop: list[Any] | tuple[Any, ...] | None = ...,
        impairments: list[Any] | tuple[Any, ...] | None = ...,
        back_impairments: list[Any] | tuple[Any, ...] | None = ...,
    ) -> None: ...

class ParkingLot(Record):
    r"""A chain of bottlenecks, one long path and a cross path over each.

    hops: Number of bottlenecks. Range: from 1 to 4000000.
    rate: Rate of each bottleneck. Range: more than 0 and at most 1000000000000000 bit/s.
    delay: One-way delay of each bottleneck. Range: from 0 to 9000000 s.
    access_rate: Rate of the access links. Range: more than 0 and at most 1000000000000000 bit/s.
    access_delay: One-way delay of the access links. Range: from 0 to 9000000 s.
    buffer: Buffer of each bottleneck.
    qdisc: Queue discipline of each bottleneck.
    """
    def __init__(
        self,
        hops: int,
        rate: float | str,
        delay: float | str,
        access_rate: float | str | None = ...,
        access_delay: float | str | None = 0.001,
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
    ) -> None: ...

class Ring(Record):
    r"""Routers in a ring, one host each.

    routers: Number of routers. Range: from 3 to 4000000.
    span: Ring links that each pair crosses, fewer than half of all. Range: at least 1.
    rate: Rate of each ring link. Range: more than 0 and at most 1000000000000000 bit/s.
    delay: One-way delay of each ring link. Range: from 0 to 9000000 s.
    access_rate: Rate of the access links. Range: more than 0 and at most 1000000000000000 bit/s.
    access_delay: One-way delay of the access links. Range: from 0 to 9000000 s.
    buffer: Buffer of each ring link.
    qdisc: Queue discipline of each ring link.
    """
    def __init__(
        self,
        routers: int,
        span: int | None = 2,
        rate: float | str | None = ...,
        delay: float | str | None = ...,
        access_rate: float | str | None = ...,
        access_delay: float | str | None = 0.001,
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
    ) -> None: ...

class Star(Record):
    r"""Hosts around one router.

    hosts: Number of hosts. Range: from 2 to 4000000.
    rate: Rate of every link. Range: more than 0 and at most 1000000000000000 bit/s.
    delay: One-way delay of every link. Range: from 0 to 9000000 s.
    buffer: Buffer of every link.
    qdisc: Queue discipline of every link.
    """
    def __init__(
        self,
        hosts: int,
        rate: float | str,
        delay: float | str,
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
    ) -> None: ...

class ErdosRenyi(Record):
    r"""Links drawn at random.

    nodes: Nodes before anything is cut off. Range: from 2 to 4000000.
    edges: Pairs drawn. Range: from 1 to 50000000.
    edge_nodes: Nodes of degree one in the end. Range: from 1 to 1000000.
    radius: The radius of which edge nodes keep half.
    capacities: Capacity by depth.
    rate: Rate of a leaf link. Range: more than 0 and at most 1000000000000000 bit/s.
    delay: One-way delay of every link. Range: from 0 to 9000000 s.
    buffer: Buffer of every link.
    qdisc: Queue discipline of every link.
    seed: Seed of the network: the run's own seed leaves it as it is. Range: at least 0.
    """
    def __init__(
        self,
        nodes: int,
        edges: int,
        edge_nodes: int | None = ...,
        radius: Literal["graph", "centre"] | None = "graph",
        capacities: Literal["arithmetic", "geometric", "uniform"] | None = "geometric",
        rate: float | str | None = 100000000,
        delay: float | str | None = 0.001,
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
        seed: int | None = 1,
    ) -> None: ...

class Barabasi(Record):
    r"""Preferential attachment.

    nodes: Nodes before anything is cut off. Range: from 2 to 4000000.
    edges: Requested links: node i brings floor((i+1) edges/nodes) - floor(i edges/nodes), if so many others are there. Range: from 1 to 50000000.
    edge_nodes: Nodes of degree one in the end. Range: from 1 to 1000000.
    radius: The radius of which edge nodes keep half.
    capacities: Capacity by depth.
    rate: Rate of a leaf link. Range: more than 0 and at most 1000000000000000 bit/s.
    delay: One-way delay of every link. Range: from 0 to 9000000 s.
    buffer: Buffer of every link.
    qdisc: Queue discipline of every link.
    seed: Seed of the network: the run's own seed leaves it as it is. Range: at least 0.
    """
    def __init__(
        self,
        nodes: int,
        edges: int,
        edge_nodes: int | None = ...,
        radius: Literal["graph", "centre"] | None = "graph",
        capacities: Literal["arithmetic", "geometric", "uniform"] | None = "geometric",
        rate: float | str | None = 100000000,
        delay: float | str | None = 0.001,
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
        seed: int | None = 1,
    ) -> None: ...

class Hot(Record):
    r"""The HOT topology that comes with Orbis.

    capacities: Capacity by depth.
    rate: Rate of a leaf link. Range: more than 0 and at most 1000000000000000 bit/s.
    delay: One-way delay of every link. Range: from 0 to 9000000 s.
    buffer: Buffer of every link.
    qdisc: Queue discipline of every link.
    """
    def __init__(
        self,
        capacities: Literal["arithmetic", "geometric", "uniform"] | None = "geometric",
        rate: float | str | None = 100000000,
        delay: float | str | None = 0.001,
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
    ) -> None: ...

class Tiers(Record):
    r"""A WAN, MANs and LANs.

    wans: NW, WANs: the generator knows one. Range: from 1 to 1.
    mans: NM, MANs on the WAN. Range: at least 0.
    lans: NL, LANs on each MAN. Range: at least 0.
    wan_nodes: SW, nodes of the WAN. Range: from 1 to 3000.
    man_nodes: SM, nodes of each MAN. Range: from 1 to 3000.
    lan_nodes: SL, nodes of each LAN. Range: from 1 to 3000.
    wan_redundancy: RW, redundancy inside the WAN: links beyond the tree, plus 1. Range: at least 1.
    man_redundancy: RM, redundancy inside each MAN. Range: at least 1.
    lan_redundancy: RL, redundancy inside each LAN. Range: at least 1.
    man_wan_redundancy: RMW, links from each MAN to the WAN. Range: at least 1.
    lan_man_redundancy: RLM, links from each LAN to its MAN. Range: at least 1.
    wan_rate: Rate of the WAN's links. Range: more than 0 and at most 1000000000000000 bit/s.
    man_rate: Rate of a MAN's links, those to the WAN included. Range: more than 0 and at most 1000000000000000 bit/s.
    lan_rate: Rate of a LAN's links, those to the MAN included. Range: more than 0 and at most 1000000000000000 bit/s.
    man_wan_rate: Rate of links between a MAN and the WAN. Range: more than 0 and at most 1000000000000000 bit/s.
    lan_man_rate: Rate of links between a LAN and its MAN. Range: more than 0 and at most 1000000000000000 bit/s.
    wan_km: Side of the WAN's square. Range: more than 0 (km).
    man_km: Side of each MAN's square. Range: more than 0 (km).
    lan_km: Side of each LAN's square. Range: more than 0 (km).
    signal_speed: Speed of signals, by which lengths give delays. Range: more than 0 (m/s).
    buffer: Buffer of every link.
    qdisc: Queue discipline of every link.
    seed: Seed of the network: the run's own seed leaves it as it is. Range: at least 0.
    """
    def __init__(
        self,
        wans: int | None = 1,
        mans: int | None = 20,
        lans: int | None = 9,
        wan_nodes: int | None = 5,
        man_nodes: int | None = 2,
        lan_nodes: int | None = 1,
        wan_redundancy: int | None = 3,
        man_redundancy: int | None = 1,
        lan_redundancy: int | None = 1,
        man_wan_redundancy: int | None = 1,
        lan_man_redundancy: int | None = 1,
        wan_rate: float | str | None = 155000000,
        man_rate: float | str | None = 55000000,
        lan_rate: float | str | None = 10000000,
        man_wan_rate: float | str | None = ...,
        lan_man_rate: float | str | None = ...,
        wan_km: float | None = 1000.0,
        man_km: float | None = 10.0,
        lan_km: float | None = 0.1,
        signal_speed: float | None = 200000000.0,
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
        seed: int | None = 1,
    ) -> None: ...

class OcBackbone(Record):
    r"""A synthetic backbone of SONET links.

    pops: Points of presence. Range: from 2 to 1000.
    oc192: Share of links, those of greatest betweenness, that are OC-192 (9.95328 Gbit/s). Range: from 0 to 1.
    oc48: Share of links, next in betweenness, that are OC-48 (2.48832 Gbit/s). Range: from 0 to 1.
    width_km: Width of the rectangle. Range: more than 0 (km).
    buffer: Buffer of every link.
    qdisc: Queue discipline of every link.
    seed: Seed of the network: the run's own seed leaves it as it is. Range: at least 0.
    """
    def __init__(
        self,
        pops: int | None = 66,
        oc192: float | None = 0.82,
        oc48: float | None = 0.1,
        width_km: float | None = 4000.0,
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
        seed: int | None = 1,
    ) -> None: ...

class FatTree(Record):
    r"""A data centre in three levels.

    k: Ports of a switch, an even number. Range: from 2 to 250.
    pods: Pods, at most k: core switches have ports left if there are fewer. Range: from 1 to 250.
    hosts: Hosts of each edge switch. Range: from 1 to 4000000.
    rate: Rate of the hosts' links. Range: more than 0 and at most 1000000000000000 bit/s.
    switch_rate: Rate of the links between switches. Range: more than 0 and at most 1000000000000000 bit/s.
    delay: One-way delay of the hosts' links. Range: from 0 to 9000000 s.
    switch_delay: One-way delay of the links between switches. Range: from 0 to 9000000 s.
    buffer: Buffer of every port of a switch.
    qdisc: Queue discipline of every port of a switch.
    """
    def __init__(
        self,
        k: int,
        pods: int | None = ...,
        hosts: int | None = ...,
        rate: float | str | None = ...,
        switch_rate: float | str | None = ...,
        delay: float | str | None = ...,
        switch_delay: float | str | None = ...,
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
    ) -> None: ...

class LeafSpine(Record):
    r"""A data centre in two levels.

    leaves: Number of leaf switches. Range: from 2 to 100000.
    spines: Number of spine switches. Range: from 1 to 100000.
    hosts: Hosts of each leaf switch. Range: from 1 to 4000000.
    rate: Rate of the hosts' links. Range: more than 0 and at most 1000000000000000 bit/s.
    switch_rate: Rate of the links between leaves and spines. Range: more than 0 and at most 1000000000000000 bit/s.
    delay: One-way delay of the hosts' links. Range: from 0 to 9000000 s.
    switch_delay: One-way delay of the links between leaves and spines. Range: from 0 to 9000000 s.
    buffer: Buffer of every port of a switch.
    qdisc: Queue discipline of every port of a switch.
    """
    def __init__(
        self,
        leaves: int,
        spines: int,
        hosts: int,
        rate: float | str,
        switch_rate: float | str | None = ...,
        delay: float | str | None = ...,
        switch_delay: float | str | None = ...,
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
    ) -> None: ...

class Graph(Record):
    r"""Any network.

    nodes: Nodes.
    links: Links.
    """
    def __init__(
        self,
        nodes: list[Any] | tuple[Any, ...] | None = ...,
        links: list[Any] | tuple[Any, ...] | None = ...,
    ) -> None: ...

class Topohub(Record):
    r"""A real network of the TopoHub collection.

    name: Name there, such as topozoo/Geant2009.
    rate: Capacity that the rule starts from [bit/s].
    rule: uniform: every link has the rate.
    buffer: Buffer of every link.
    qdisc: Queue discipline of every link.
    signal_speed: Speed in m/s by which length gives delay where none is given. Range: more than 0.
    delay: Delay of links for which neither delay nor length nor the places of both ends are given [s].
    scale: Every capacity is multiplied by this. Range: more than 0.
    """
    def __init__(
        self,
        name: str,
        rate: float | str,
        rule: Literal["uniform", "degree"] | None = "uniform",
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
        signal_speed: float | None = 200000000.0,
        delay: float | str | None = ...,
        scale: float | None = 1.0,
    ) -> None: ...

class Graphml(Record):
    r"""A network from a GraphML file, as in the Internet Topology Zoo.

    file: Path, relative to the scenario file.
    rate: Capacity of links whose speed is not given [bit/s].
    weight: Attribute of edges that holds the routing weight.
    buffer: Buffer of every link.
    qdisc: Queue discipline of every link.
    signal_speed: Speed in m/s by which length gives delay where none is given. Range: more than 0.
    delay: Delay of links for which neither delay nor length nor the places of both ends are given [s].
    scale: Every capacity is multiplied by this. Range: more than 0.
    """
    def __init__(
        self,
        file: str,
        rate: float | str | None = ...,
        weight: str | None = "weight",
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
        signal_speed: float | None = 200000000.0,
        delay: float | str | None = ...,
        scale: float | None = 1.0,
    ) -> None: ...

class GraphFile(Record):
    r"""A network from a file of a public collection: SNDlib (XML or native), Repetita (.graph), or GraphML.

    file: Path, relative to the scenario file.
    rate: Capacity of links whose capacity is not given [bit/s].
    weight: Attribute of edges that holds the routing weight.
    buffer: Buffer of every link.
    qdisc: Queue discipline of every link.
    signal_speed: Speed in m/s by which length gives delay where none is given. Range: more than 0.
    delay: Delay of links for which neither delay nor length nor the places of both ends are given [s].
    scale: Every capacity is multiplied by this. Range: more than 0.
    """
    def __init__(
        self,
        file: str,
        rate: float | str | None = ...,
        weight: str | None = "weight",
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
        signal_speed: float | None = 200000000.0,
        delay: float | str | None = ...,
        scale: float | None = 1.0,
    ) -> None: ...

class Csv(Record):
    r"""A network from a folder with nodes.csv (id, name, lat, lon) and edges.csv (source, target, capacity_bps, delay_s, length_km, weight).

    folder: Path, relative to the scenario file.
    rate: Capacity of links whose capacity is not given [bit/s].
    weight: Column of edges.csv that holds the routing weight.
    buffer: Buffer of every link.
    qdisc: Queue discipline of every link.
    signal_speed: Speed in m/s by which length gives delay where none is given. Range: more than 0.
    delay: Delay of links for which neither delay nor length nor the places of both ends are given [s].
    scale: Every capacity is multiplied by this. Range: more than 0.
    """
    def __init__(
        self,
        folder: str,
        rate: float | str | None = ...,
        weight: str | None = "weight",
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
        signal_speed: float | None = 200000000.0,
        delay: float | str | None = ...,
        scale: float | None = 1.0,
    ) -> None: ...

class Environment(Record):
    r"""Test flows whose available bandwidth varies, as in Akella et al.

    name: Environment of Table 2, or steps for a user-defined pattern.
    flows: Number of test flows n. Range: at least 1.
    by: How bandwidth is taken away: cbr, one source of varying rate.
    topology: ring: every test flow crosses two of `flows` bottlenecks, each shared with one other test flow and separate cross traffic (by cbr).
    capacity: Capacity C of the bottleneck [bit/s].
    base: B0 per test flow [bit/s].
    step: Time between two changes of the bandwidth [s].
    floor: Least bandwidth of the random environments as a part of B0. Range: from 0.001 to 1.
    steps: With name steps: available bandwidth per test flow from given times on, the first at 0.
    period: With name steps: they repeat after this [s].
    rtt: Round-trip propagation time [s].
    rtt_spread: Each test flow's round trip is drawn uniformly within this part about rtt. Range: from 0 to 0.5.
    buffer: Buffer of the bottleneck.
    qdisc: Queue discipline of the bottleneck.
    packet: Packets of constant-rate sources on the wire [B].
    jitter: Of constant-rate sources, as of cbr. Range: from 0 to 1.
    margin: With cbr-flows: each source sends this many times what fair queueing can leave it. Range: from 1 to 10.
    interval_low: Mean interval of transfers of real-cons-low, and of real-sq [s].
    interval_high: Mean interval of transfers of real-cons-high, and of real-sq [s].
    transfer_size: Mean of the transfers' Pareto sizes [B].
    transfer_shape: Shape of the transfers' Pareto sizes. Range: more than 1 and at most 10.
    """
    def __init__(
        self,
        name: Literal["cons-low", "cons-high", "sq-low", "sq-high", "rw-low", "rw-high", "rd-low", "rd-high", "rw-additive", "rw-multiplicative", "real-cons-low", "real-cons-high", "real-sq", "steps"],
        flows: int | None = 10,
        by: Literal["cbr", "cbr-flows", "link"] | None = ...,
        topology: Literal["dumbbell", "ring"] | None = "dumbbell",
        capacity: float | str | None = ...,
        base: float | str | None = ...,
        step: float | str | None = "5 s",
        floor: float | None = 0.1,
        steps: list[Any] | tuple[Any, ...] | None = ...,
        period: float | str | None = ...,
        rtt: float | str | None = "120 ms",
        rtt_spread: float | None = 0.05,
        buffer: str | None = "1 bdp",
        qdisc: AnyQueue | None = "fifo",
        packet: float | str | None = "1000 B",
        jitter: float | None = 1.0,
        margin: float | None = 1.2,
        interval_low: float | str | None = "30 ms",
        interval_high: float | str | None = "10 ms",
        transfer_size: float | str | None = "50 kB",
        transfer_shape: float | None = 1.5,
    ) -> None: ...

class Path(Record):
    r"""A dumbbell whose bottleneck is the model of an access network, by its name.

    path: Name of the path.
    pairs: Number of host pairs. Range: from 1 to 10000.
    qdisc: Queue discipline of the bottleneck, towards the right.
    buffer: Buffer of the bottleneck.
    """
    def __init__(
        self,
        path: Literal["starlink-2025", "lte-driving", "5g-mmwave", "wifi-busy", "cable-docsis", "geo"],
        pairs: int | None = 1,
        qdisc: AnyQueue | None = "fifo",
        buffer: str | None = ...,
    ) -> None: ...

class Measured(Record):
    r"""A dumbbell whose bottleneck has the round trips, losses and rates of a measurement: of ping, IRTT, iperf3, LENS or any CSV file.

    files: Files, plain or packed with gzip, relative to the scenario file: one with round trips, losses, rates, or several of them, each with something else.
    format: Format of the files: ping, of Linux, BSD, macOS and Windows.
    columns: Names of a CSV file's columns.
    units: Units of a CSV file's bare numbers.
    interval: Time between the probes of a ping log that has no times [s].
    start: Where in the files the run begins [s].
    repeat: How often what was measured happens, one after another. Range: from 1 to 10000.
    every: Length of the windows: in each the path has its median round trip, its mean rate and its share of losses [s].
    data: Which way the data of the flows go, seen from where it was measured: back, as a download.
    rate: Rate of the bottleneck, where no file has rates [bit/s].
    rtt: Round trip, where no file has round trips [s].
    read: A dumbbell: what was read of the files.
    pairs: Number of host pairs. Range: from 1 to 10000.
    qdisc: Queue discipline of the bottleneck, towards the right.
    buffer: Buffer of the bottleneck.
    """
    def __init__(
        self,
        files: list[Any] | tuple[Any, ...],
        format: Literal["auto", "ping", "irtt", "iperf3", "lens", "csv"] | None = "auto",
        columns: dict[str, Any] | None = ...,
        units: dict[str, Any] | None = ...,
        interval: float | str | None = 1.0,
        start: float | str | None = 0.0,
        repeat: int | None = 1,
        every: float | str | None = 1.0,
        data: Literal["back", "ahead"] | None = "back",
        rate: float | str | None = ...,
        rtt: float | str | None = ...,
        read: dict[str, Any] | None = ...,
        pairs: int | None = 1,
        qdisc: AnyQueue | None = "fifo",
        buffer: str | None = "1 bdp",
    ) -> None: ...
