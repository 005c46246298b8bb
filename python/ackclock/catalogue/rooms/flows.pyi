# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any, Literal

from ackclock.catalogue.records import Record
from ackclock.catalogue.user_types import AnyControl, AnyQueue

class Flow(Record):
    r"""One flow: TCP unless `source`, `transport` or the era says otherwise.

    id: Name.
    pair: Host pair of a standard shape. Range: at least 0.
    src: Sending node.
    dst: Receiving node.
    between: A traffic pattern that draws `src` and `dst` of each of `count` flows (`uniform-pairs`, ...) among `hosts`, or a collective operation (`ring-all-reduce`, ...) on `size` bytes of each of them, whose transfers wait for each other.
    hosts: With `between`: the nodes that flows connect: names, `all`, or `leaves` for those with one neighbour.
    route: Nodes that the data passes, from `src` to `dst`.
    ack_route: Nodes that the acknowledgements pass, from `dst` to `src`.
    moves: Other routes from given times on, ascending: a handover, or another choice among equal paths.
    start: Start time. Range: at least 0 s.
    after: Names of flows listed before this one, or of entries with `count` or `between` in place of all their flows.
    start_jitter: The flow starts at a random time, uniform from `start` to this much later. Range: at least 0 s.
    stop: Nothing new is sent after this time. Range: at least 0 s.
    size: Payload to transfer. Range: at least 1 B.
    every: With `size`: the application hands over so much each time that this has passed, over one connection that rests in between. Range: at least 1e-6 s.
    app: How fast the application hands over data: steps, each from its time on.
    media: The flow carries the frames of a video encoder, whose rate follows the congestion control.
    streams: The flow is a call over QUIC: frames of several streams, made at regular times, over one connection in the order of their priorities.
    transport: What carries the data: `tcp` or `quic`.
    cc: Congestion control.
    recovery: Loss recovery of TCP.
    slow_start: Slow start rule.
    source: An unresponsive source (`cbr`, `pareto-on-off`, ...) in place of TCP.
    guest: A program that is both ends in place of ours: a shipped stack in virtual time.
    dscp: Differentiated services code point of all its packets, either way: a number of 0 to 63, or a name as `ef`, `af41`, `cs1`. Range: from 0 to 63.
    tcp: TCP settings of this flow.
    quic: QUIC settings of this flow.
    count: This many copies of the flow (pairs count on from `pair`). Range: at least 0.
    stagger: With `count`: starts are spaced by this. Range: at least 0 s.
    """
    def __init__(
        self,
        id: str | None = ...,
        pair: int | None = ...,
        src: str | None = ...,
        dst: str | None = ...,
        between: Record | str | dict[str, Any] | None = ...,
        hosts: Any = ...,
        route: list[Any] | tuple[Any, ...] | None = ...,
        ack_route: list[Any] | tuple[Any, ...] | None = ...,
        moves: list[Any] | tuple[Any, ...] | None = ...,
        start: float | str | None = 0,
        after: list[Any] | tuple[Any, ...] | None = ...,
        start_jitter: float | str | None = ...,
        stop: float | str | None = ...,
        size: float | str | None = ...,
        every: float | str | None = ...,
        app: list[Any] | tuple[Any, ...] | None = ...,
        media: Any = ...,
        streams: list[Any] | tuple[Any, ...] | None = ...,
        transport: Literal["tcp", "quic"] | None = ...,
        cc: AnyControl | None = ...,
        recovery: Record | str | dict[str, Any] | None = ...,
        slow_start: Record | str | dict[str, Any] | None = ...,
        source: Record | str | dict[str, Any] | None = ...,
        guest: Any = ...,
        dscp: int | str | None = ...,
        tcp: Any = ...,
        quic: Any = ...,
        count: int | None = ...,
        stagger: float | str | None = ...,
    ) -> None: ...

class Group(Record):
    r"""A multicast group: one source, several receivers, cumulative layers.

    id: Name.
    src: Node of the source.
    receivers: Nodes of the receivers.
    layers: Rate of each layer, at most 32.
    control: How a receiver decides on its layers (`plm`, `rlm`, `fixed`, `all`).
    packet: Packet size on the wire, 1 B to 65535 B. Range: from 1 to 65535 B.
    start: When the source begins to send and the first receiver joins. Range: at least 0 s.
    stop: The source is silent from this time on. Range: at least 0 s.
    stagger: Receivers join one after another, spaced by this. Range: at least 0 s.
    """
    def __init__(
        self,
        id: str | None = ...,
        src: str | None = ...,
        receivers: list[Any] | tuple[Any, ...] | None = ...,
        layers: list[Any] | tuple[Any, ...] | None = ...,
        control: Record | str | dict[str, Any] | None = "all",
        packet: float | str | None = 500,
        start: float | str | None = 0,
        stop: float | str | None = ...,
        stagger: float | str | None = ...,
    ) -> None: ...

class LinkChange(Record):
    r"""What is different at single directions of links, whatever the network's shape.

    link: Names of directions, as `explain` lists them: `r0->r1`.
    rate: Rate. Range: more than 0 and at most 1000000000000000 bit/s.
    delay: One-way propagation delay. Range: from 0 to 9000000 s.
    mtu: Largest packet in bytes on the wire. Range: from 1 to 65535 B.
    buffer: Buffer.
    qdisc: Queue discipline.
    weight: Routing weight. Range: more than 0.
    loss: Random loss ratio. Range: from 0 to 1.
    schedule: Rate and loss over time.
    drop: Arrivals that are dropped: numbers from 0 in order of arrival, at each of the links.
    impairments: What the wire does to packets: jitter, reordering, bursty loss, .
    down: When the link has failed: packets that reach it meanwhile are lost.
    in_flight: What becomes of packets in its queue and on its wire when it fails.
    """
    def __init__(
        self,
        link: Any,
        rate: float | str | None = ...,
        delay: float | str | None = ...,
        mtu: float | str | None = ...,
        buffer: str | None = ...,
        qdisc: AnyQueue | None = ...,
        weight: float | None = ...,
        loss: float | None = ...,
        schedule: Any = ...,
        drop: list[Any] | tuple[Any, ...] | None = ...,
        impairments: list[Any] | tuple[Any, ...] | None = ...,
        down: list[Any] | tuple[Any, ...] | None = ...,
        in_flight: Literal["lost", "delivered"] | None = ...,
    ) -> None: ...

class QuicOptions(Record):
    r"""QUIC settings.

    max_datagram: Bytes of a full datagram, without IP and UDP headers. Range: from 1200 to 65000 (B).
    initial_window: Initial window in packets. Range: from 2 to 1048576 (packets).
    receiver_window: Packets that flow control lets beyond what is acknowledged in order. Range: at least 2 (packets).
    handshake: A handshake of one round trip before data.
    max_ack_delay: Longest delay of an ACK. Range: at least 0 s.
    ack_eliciting_threshold: Packets that the receiver may leave unacknowledged. Range: at least 0 (packets).
    reordering_threshold: The receiver acknowledges at once when a number so far below the largest is newly missing. Range: at least 0 (packets).
    packet_threshold: A packet so many numbers below the largest acknowledged is lost (`kPacketThreshold`). Range: at least 1 (packets).
    time_threshold: A packet sent so many round trips before now is lost if a later one is acknowledged (`kTimeThreshold`). Range: from 1 to 1000 (round trips).
    granularity: Granularity of timers (`kGranularity`). Range: at least 1e-6 s.
    initial_rtt: Round-trip time that is assumed before the first sample (`kInitialRtt`). Range: at least 1e-6 s.
    persistent_congestion_threshold: Probe timeouts for which all must be lost to make congestion persistent (`kPersistentCongestionThreshold`). Range: from 1 to 1000.
    pacing_factor: N of the pacing rate N cwnd / SRTT, for controls without a pacing rate. Range: from 0 to 1000.
    pacing_burst: Packets that the pacer lets leave at once after a pause. Range: from 1 to 1048576 (packets).
    ecn: ECN (RFC 9000 section 13.4).
    """
    def __init__(
        self,
        max_datagram: int | None = ...,
        initial_window: int | None = ...,
        receiver_window: int | None = ...,
        handshake: bool | None = ...,
        max_ack_delay: float | str | None = ...,
        ack_eliciting_threshold: int | None = ...,
        reordering_threshold: int | None = ...,
        packet_threshold: int | None = ...,
        time_threshold: float | None = ...,
        granularity: float | str | None = ...,
        initial_rtt: float | str | None = ...,
        persistent_congestion_threshold: float | None = ...,
        pacing_factor: float | None = ...,
        pacing_burst: int | None = ...,
        ecn: bool | None = ...,
    ) -> None: ...

class TcpOptions(Record):
    r"""TCP settings.

    mss: Payload bytes of a full segment. Range: from 1 to 65523 (B).
    header: Header bytes on the wire of every data packet. Range: from 0 to 65522 (B).
    ack_size: Bytes on the wire of an acknowledgement without SACK blocks. Range: from 1 to 65000 (B).
    initial_window: Initial window in segments. Range: from 1 to 1048576 (segments).
    initial_ssthresh: Initial ssthresh in segments.
    receiver_window: Receiver's window in segments. Range: at least 1 (segments).
    window_autotuning: The receiver's window begins at 64 kB and grows by two segments for each that has arrived, up to `receiver_window` (as Linux's does for an application that reads at once).
    delayed_ack: Data packets per acknowledgement (1: no delayed ACKs). Range: at least 1 (packets).
    delayed_ack_timeout: An acknowledgement is delayed no longer than this. Range: at least 0 s.
    syn: Connection request before data.
    timestamps: Timestamp option (RFC 7323): every acknowledgement gives an RTT sample.
    ecn: ECN (RFC 3168).
    accecn: Accurate ECN (RFC 9768): every acknowledgement carries a count of marked packets.
    dsack: The receiver reports duplicates by SACK blocks (DSACK, RFC 2883), and the sender takes back a reduction all of whose retransmissions were duplicates (RFC 3708).
    eifel: The sender takes back a reduction when a timestamp shows that the original has arrived (RFC 3522, 4015).
    frto: After a timeout the sender finds out by new data whether it was needless (F-RTO, RFC 5682).
    optimistic_acks: A misbehaving receiver: every acknowledgement covers so many segments beyond the highest that has arrived, whatever is missing before it (optimistic ACKs). Range: at least 0 (segments).
    ecn_echo: False: a misbehaving receiver, which never reports a CE mark to its sender.
    out_of_profile: Data packets carry RIO's mark "Out" (of profile).
    first_priority: So many of the first data packets of a connection, and its request, are marked for priority: routers with the `priority` discipline send them at once, so that a late-comer measures propagation. Range: at least 0.
    aqt: Packets carry an option to which every queue adds the time that they waited (AQT).
    trimming: Switches with the discipline `trim` may cut the payload of data off instead of dropping it.
    limited_transmit: Limited transmit (RFC 3042).
    idle_restart: Restart from the restart window after an idle RTO (RFC 5681 section 4.1).
    min_rto: Smallest RTO. Range: at least 0 s.
    max_rto: Largest RTO. Range: at least 1e-6 s.
    initial_rto: RTO before the first sample. Range: at least 1e-6 s.
    tick: Clock granularity of RTT measurement (RFC 6298 G. Range: at least 1e-6 s.
    boot: ns-2's boot time: phase of its tick clock, in [0, tick). Range: at least 0 s.
    quick_acks: So many acknowledgements leave at once at the beginning, after a pause longer than the smallest RTO and after a duplicate, before any is delayed (Linux: 16). Range: at least 0 (packets).
    sack_delay: After three acknowledgements at once, those of further data out of order wait so long, at most 5 % of the round trip, for one that reports all (Linux: 1 ms. Range: at least 0 s.
    offload: New data leaves in bursts as segmentation offload (TSO, GSO) makes them: up to a millisecond of data waits for its burst to be complete.
    max_burst: Most new segments sent per acknowledgement (0: no bound). Range: at least 0.
    ns2: ns-2 era only: further variables of ns-2's agent by their ns-2 names, without the underscore (`slow_start_restart`, `ssthresh_int`, ...).
    """
    def __init__(
        self,
        mss: int | None = ...,
        header: int | None = ...,
        ack_size: int | None = ...,
        initial_window: int | None = ...,
        initial_ssthresh: float | None = ...,
        receiver_window: int | None = ...,
        window_autotuning: bool | None = ...,
        delayed_ack: int | None = ...,
        delayed_ack_timeout: float | str | None = ...,
        syn: bool | None = ...,
        timestamps: bool | None = ...,
        ecn: bool | None = ...,
        accecn: bool | None = ...,
        dsack: bool | None = ...,
        eifel: bool | None = ...,
        frto: bool | None = ...,
        optimistic_acks: int | None = ...,
        ecn_echo: bool | None = ...,
        out_of_profile: bool | None = ...,
        first_priority: int | None = ...,
        aqt: bool | None = ...,
        trimming: bool | None = ...,
        limited_transmit: bool | None = ...,
        idle_restart: bool | None = ...,
        min_rto: float | str | None = ...,
        max_rto: float | str | None = ...,
        initial_rto: float | str | None = ...,
        tick: float | str | None = ...,
        boot: float | str | None = ...,
        quick_acks: int | None = ...,
        sack_delay: float | str | None = ...,
        offload: bool | None = ...,
        max_burst: int | None = ...,
        ns2: dict[str, Any] | None = ...,
    ) -> None: ...

class Traffic(Record):
    r"""A generator of flows.

    generator: Which generator, with its parameters.
    flow: Template of each flow: everything but start, size and, for some generators, the hosts.
    stream: Number of its random stream. Range: at least 0.
    """
    def __init__(
        self,
        generator: Record | str | dict[str, Any],
        flow: Any = ...,
        stream: int | None = ...,
    ) -> None: ...
