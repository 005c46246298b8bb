# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any, Literal

from ackclock.catalogue.records import Record
from ackclock.catalogue.user_types import AnyQueue

class Fifo(Record):
    """FIFO with drop-tail."""
    def __init__(self) -> None: ...

class Red(Record):
    r"""RED: random early detection (classic, gentle, adaptive).

    min_th: Average queue from which packets are dropped. Range: more than 0 (packets).
    max_th: Average queue at which the probability is `max_p` [packets].
    max_p: Drop probability at `max_th`. Range: more than 0 and at most 1.
    w_q: Weight of an arrival in the average. Range: more than 0 and at most 1.
    gentle: Above `max_th` the probability rises on a line to 1 at twice `max_th`.
    wait: No drop before 1/p arrivals have passed since the last.
    bytes: Queue and probabilities are measured in bytes (thresholds times `mean_packet`).
    adaptive: `max_p` adapts (Adaptive RED).
    ecn: ECN-capable packets are marked instead of dropped early.
    mark_p: With `ecn`: packets are dropped, not marked, while the probability exceeds this. Range: from 0 to 1.
    mean_packet: Mean packet size for idle time, bytes mode and automatic parameters. Range: at least 1 (B).
    idle_decay: The average decays over idle time.
    target_delay: Queueing delay that automatic thresholds aim at. Range: at least 0 s.
    interval: Adaptive: least time between two changes of `max_p`. Range: at least 0 s.
    bottom: Adaptive: `max_p` is not lowered below this. Range: more than 0 and at most 1.
    top: Adaptive: `max_p` is not raised above this. Range: more than 0 and at most 1.
    ns2_seed: Random tests take the numbers of ns-2's generator with this seed, one after the other, as in ns-2 where nothing else draws. Range: from 1 to 2147483646.
    ns2_skip: With `ns2_seed`: so many of its first numbers are passed over, as those that something else drew in ns-2. Range: from 0 to 1000000000 (numbers).
    """
    def __init__(
        self,
        min_th: float | None = ...,
        max_th: float | None = ...,
        max_p: float | None = 0.1,
        w_q: float | None = ...,
        gentle: bool | None = ...,
        wait: bool | None = ...,
        bytes: bool | None = ...,
        adaptive: bool | None = False,
        ecn: bool | None = False,
        mark_p: float | None = ...,
        mean_packet: int | None = ...,
        idle_decay: bool | None = True,
        target_delay: float | str | None = 0.005,
        interval: float | str | None = 0.5,
        bottom: float | None = ...,
        top: float | None = 0.5,
        ns2_seed: int | None = ...,
        ns2_skip: int | None = 0,
    ) -> None: ...

class Rio(Record):
    r"""RIO: RED with In and Out.

    in_min_th: Average of In packets from which In packets are dropped. Range: more than 0 (packets).
    in_max_th: Average of In packets at which their probability is `in_max_p` [packets].
    in_max_p: Drop probability of In packets at `in_max_th`. Range: more than 0 and at most 1.
    out_min_th: Average of all packets from which Out packets are dropped. Range: more than 0 (packets).
    out_max_th: Average of all packets at which Out's probability is `out_max_p` [packets].
    out_max_p: Drop probability of Out packets at `out_max_th`. Range: more than 0 and at most 1.
    w_q: Weight of an arrival in both averages. Range: more than 0 and at most 1.
    gentle: Above the maximum thresholds the probability rises on a line to 1 at twice their value.
    wait: No drop before 1/p arrivals have passed since the last.
    ecn: ECN-capable packets are marked instead of dropped while the average is below the maximum threshold.
    mean_packet: Mean packet size for idle time. Range: at least 1 (B).
    """
    def __init__(
        self,
        in_min_th: float | None = 15.0,
        in_max_th: float | None = 30.0,
        in_max_p: float | None = 0.02,
        out_min_th: float | None = 5.0,
        out_max_th: float | None = 15.0,
        out_max_p: float | None = ...,
        w_q: float | None = 0.002,
        gentle: bool | None = False,
        wait: bool | None = ...,
        ecn: bool | None = False,
        mean_packet: int | None = ...,
    ) -> None: ...

class Drr(Record):
    r"""DRR: deficit round robin with longest-queue drop.

    quantum: Bytes that a class may send in a turn. Range: at least 1 B.
    victim: Which packet of the longest queue is pushed out.
    longest: What makes a queue the longest.
    aqm: AQM of every class queue.
    """
    def __init__(
        self,
        quantum: float | str | None = ...,
        victim: Literal["head", "tail"] | None = ...,
        longest: Literal["bytes", "packets"] | None = "bytes",
        aqm: Record | str | dict[str, Any] | None = ...,
    ) -> None: ...

class Fq(Record):
    r"""FQ: weighted fair queueing (PGPS) with longest-queue drop.

    weights: Weights by class key.
    virtual_time: Which virtual time stamps arrivals.
    victim: Which packet of the longest queue is pushed out.
    longest: What makes a queue the longest.
    aqm: AQM of every class queue.
    """
    def __init__(
        self,
        weights: list[Any] | tuple[Any, ...] | None = ...,
        virtual_time: Literal["gps", "scfq"] | None = "gps",
        victim: Literal["head", "tail"] | None = "tail",
        longest: Literal["bytes", "packets"] | None = "bytes",
        aqm: Record | str | dict[str, Any] | None = ...,
    ) -> None: ...

class Wf2qPlus(Record):
    r"""WF2Q+: worst-case fair weighted fair queueing with longest-queue drop.

    weights: Weights by class key.
    victim: Which packet of the longest queue is pushed out.
    longest: What makes a queue the longest.
    aqm: AQM of every class queue.
    """
    def __init__(
        self,
        weights: list[Any] | tuple[Any, ...] | None = ...,
        victim: Literal["head", "tail"] | None = "tail",
        longest: Literal["bytes", "packets"] | None = "bytes",
        aqm: Record | str | dict[str, Any] | None = ...,
    ) -> None: ...

class Hpfq(Record):
    r"""H-PFQ: hierarchical packet fair queueing (WF2Q+) with longest-queue drop.

    classes: Classes among which the link is divided.
    victim: Which packet of the longest queue is pushed out.
    longest: What makes a queue the longest.
    """
    def __init__(
        self,
        classes: list[Any] | tuple[Any, ...] | None = ...,
        victim: Literal["head", "tail"] | None = "tail",
        longest: Literal["bytes", "packets"] | None = "bytes",
    ) -> None: ...

class Priority(Record):
    r"""Strict priority between classes.

    classes: Classes, the highest priority first.
    """
    def __init__(
        self,
        classes: list[Any] | tuple[Any, ...] | None = ...,
    ) -> None: ...

class Wrr(Record):
    r"""WRR: weighted round robin between classes (weighted priority).

    classes: Classes.
    quantum: Bytes that the class of the smallest weight may send in a turn. Range: at least 1 B.
    """
    def __init__(
        self,
        classes: list[Any] | tuple[Any, ...] | None = ...,
        quantum: float | str | None = ...,
    ) -> None: ...

class CoreStateless(Record):
    r"""CSFQ: core-stateless fair queueing.

    role: Which packets this router labels: `auto` those without a label, `edge` all, `core` none.
    weights: Weights by class key where packets are labelled.
    k: K: averaging time of a flow's rate. Range: more than 0 s.
    k_link: Averaging time of the link's rates. Range: more than 0 s.
    k_congested: How long a link is congested, or not, before the fair share is estimated anew. Range: more than 0 s.
    threshold: A link that is not congested stays so while less than this waits. Range: at least 0 B.
    """
    def __init__(
        self,
        role: Literal["auto", "edge", "core"] | None = "auto",
        weights: list[Any] | tuple[Any, ...] | None = ...,
        k: float | str | None = 0.1,
        k_link: float | str | None = 0.1,
        k_congested: float | str | None = 0.1,
        threshold: float | str | None = ...,
    ) -> None: ...

class Sfq(Record):
    r"""SFQ: stochastic fairness queueing.

    buckets: Number of queues. Range: from 1 to 65536.
    rule: Who loses a packet when the buffer runs full.
    salt: Selects the hash function. Range: at least 0.
    """
    def __init__(
        self,
        buckets: int | None = ...,
        rule: Literal["longest", "share"] | None = ...,
        salt: int | None = 0,
    ) -> None: ...

class Codel(Record):
    r"""CoDel: controlled delay.

    target: Acceptable standing sojourn time. Range: more than 0 s.
    interval: Time for which the sojourn time must exceed `target` before the first drop. Range: more than 0 s.
    mtu: Backlog that may always wait. Range: at least 0 (B).
    ecn: ECN-capable packets are marked instead of dropped.
    ce_threshold: Waiting time above which a selected packet is marked CE in any state. Range: at least 0 s.
    ce_selector: Which capable packets `ce_threshold` marks.
    """
    def __init__(
        self,
        target: float | str | None = 0.005,
        interval: float | str | None = 0.1,
        mtu: int | None = ...,
        ecn: bool | None = False,
        ce_threshold: float | str | None = ...,
        ce_selector: Literal["all", "ect1"] | None = "all",
    ) -> None: ...

class FqCodel(Record):
    r"""FQ-CoDel: flow queueing with controlled delay.

    queues: Number of queues. Range: from 1 to 65536.
    quantum: Bytes that a queue may send in a turn. Range: at least 1 B.
    target: CoDel's target. Range: more than 0 s.
    interval: CoDel's interval. Range: more than 0 s.
    ecn: ECN-capable packets are marked instead of dropped by CoDel.
    ce_threshold: Waiting time above which a selected packet is marked CE, whatever CoDel says. Range: at least 0 s.
    ce_selector: Which capable packets `ce_threshold` marks.
    drop_batch: Most packets dropped at once when the buffer is exceeded. Range: at least 1.
    salt: Selects the hash function. Range: at least 0.
    """
    def __init__(
        self,
        queues: int | None = 1024,
        quantum: float | str | None = 1514,
        target: float | str | None = 0.005,
        interval: float | str | None = 0.1,
        ecn: bool | None = True,
        ce_threshold: float | str | None = ...,
        ce_selector: Literal["all", "ect1"] | None = "all",
        drop_batch: int | None = 64,
        salt: int | None = 0,
    ) -> None: ...

class FqPie(Record):
    r"""FQ-PIE: flow queueing with PIE.

    queues: Number of queues. Range: from 1 to 65536.
    quantum: Bytes that a queue may send in a turn. Range: at least 1 B.
    target: Delay that PIE's controller aims at. Range: more than 0 s.
    update: Time between two updates of the probabilities. Range: at least 1e-6 s.
    max_burst: Length of a burst that passes untouched. Range: at least 0 s.
    alpha: Weight of the distance from the target. Range: at least 0 (1/s).
    beta: Weight of the change of the delay. Range: at least 0 (1/s).
    delay: How the delay is estimated.
    ecn: ECN-capable packets are marked instead of dropped while the probability is below `mark_ecnth`.
    mark_ecnth: Probability from which capable packets are dropped too. Range: from 0 to 1.
    salt: Selects the hash function. Range: at least 0.
    """
    def __init__(
        self,
        queues: int | None = 1024,
        quantum: float | str | None = 1514,
        target: float | str | None = 0.015,
        update: float | str | None = 0.015,
        max_burst: float | str | None = 0.15,
        alpha: float | None = 0.125,
        beta: float | None = 1.25,
        delay: Literal["departure-rate", "timestamp"] | None = "timestamp",
        ecn: bool | None = False,
        mark_ecnth: float | None = 0.1,
        salt: int | None = 0,
    ) -> None: ...

class Pie(Record):
    r"""PIE: proportional integral controller enhanced.

    target: Delay that the controller aims at. Range: more than 0 s.
    update: Time between two updates of the probability. Range: at least 1e-6 s.
    max_burst: Length of a burst that passes untouched. Range: at least 0 s.
    alpha: Weight of the distance from the target. Range: at least 0 (1/s).
    beta: Weight of the change of the delay. Range: at least 0 (1/s).
    delay: How the delay is estimated.
    dq_threshold: Bytes over which the departure rate is measured. Range: from 1 to 65536 B.
    derandomise: Drops are kept from clustering and from staying away (section 5.4).
    cap: From a probability of 0.1 on, one update raises it by at most 0.02 (section 5.5).
    ecn: ECN-capable packets are marked instead of dropped while the probability is below `mark_ecnth`.
    mark_ecnth: Probability from which capable packets are dropped too. Range: from 0 to 1.
    mean_packet: Mean packet size. Range: at least 0 (B).
    """
    def __init__(
        self,
        target: float | str | None = 0.015,
        update: float | str | None = 0.015,
        max_burst: float | str | None = 0.15,
        alpha: float | None = 0.125,
        beta: float | None = 1.25,
        delay: Literal["departure-rate", "timestamp"] | None = "departure-rate",
        dq_threshold: float | str | None = 16384,
        derandomise: bool | None = True,
        cap: bool | None = True,
        ecn: bool | None = False,
        mark_ecnth: float | None = 0.1,
        mean_packet: int | None = ...,
    ) -> None: ...

class Green(Record):
    r"""GREEN: drop probabilities from the square-root law.

    c: The constant of the square-root law. Range: more than 0.
    count: Where the number of active flows comes from.
    window: With `window`: a flow is active if it had a packet within this time. Range: more than 0 s.
    n: With `known`: the number of flows. Range: more than 0 (flows).
    rtt: Where a flow's round-trip time comes from.
    draw: With `estimate`: how often the factor is drawn.
    low: With `estimate`: least factor. Range: more than 0.
    high: With `estimate`: greatest factor.
    lifetime: With `lookup`: how long a drawn factor is used. Range: at least 0 s.
    table: With `table`: the round-trip time of each flow, by its number.
    scale: Round-trip times of `ideal` and `estimate` are multiplied by this. Range: more than 0.
    mss: Segment size. Range: at least 1 (B).
    ecn: ECN-capable packets are marked instead of dropped.
    """
    def __init__(
        self,
        c: float | None = 0.93,
        count: Literal["window", "hits", "known"] | None = "window",
        window: float | str | None = 2,
        n: float | None = ...,
        rtt: Literal["ideal", "estimate", "table", "handshake", "timestamps"] | None = "ideal",
        draw: Literal["flow", "packet", "lookup"] | None = "flow",
        low: float | None = 1.0,
        high: float | None = 2.0,
        lifetime: float | str | None = 60,
        table: list[Any] | tuple[Any, ...] | None = ...,
        scale: float | None = 1.0,
        mss: int | None = ...,
        ecn: bool | None = False,
    ) -> None: ...

class Fred(Record):
    r"""FRED: flow random early drop.

    min_th: Average queue from which packets are dropped. Range: more than 0 (packets).
    max_th: Average queue from which all are dropped, or with `many_flows` all but two a flow [packets].
    max_p: Drop probability at `max_th`. Range: more than 0 and at most 1.
    w_q: Weight of a step in the average. Range: more than 0 and at most 1.
    min_q: Packets that a flow may have waiting without being dropped at random. Range: at least 1 (packets).
    many_flows: Above `max_th` every flow may have two packets waiting.
    ecn: ECN-capable packets are marked instead of dropped at random.
    """
    def __init__(
        self,
        min_th: float | None = ...,
        max_th: float | None = ...,
        max_p: float | None = 0.02,
        w_q: float | None = 0.002,
        min_q: int | None = 2,
        many_flows: bool | None = True,
        ecn: bool | None = False,
    ) -> None: ...

class Blue(Record):
    r"""BLUE: drop probability from overflow and idle link.

    d1: What an overflow adds to the probability. Range: more than 0 and at most 1.
    d2: What an idle link takes off. Range: more than 0 and at most 1.
    freeze: Least time between two changes. Range: more than 0 s.
    threshold: Overflow is already signalled when this many packets wait. Range: at least 1 (packets).
    ecn: ECN-capable packets are marked instead of dropped early.
    """
    def __init__(
        self,
        d1: float | None = 0.0025,
        d2: float | None = 0.00025,
        freeze: float | str | None = 0.1,
        threshold: int | None = ...,
        ecn: bool | None = False,
    ) -> None: ...

class Sfb(Record):
    r"""SFB: stochastic fair BLUE.

    levels: Levels of the filter, L. Range: from 1 to 16.
    bins: Bins in each level, N. Range: at least 1.
    d1: What a full bin adds to its probability. Range: more than 0 and at most 1.
    d2: What an empty bin takes off. Range: more than 0 and at most 1.
    freeze: Least time between two changes of a bin's probability. Range: at least 0 s.
    target: Packets from which a bin is full. Range: at least 1 (packets).
    max: Packets that a flow's emptiest bin never exceeds. Range: at least 1 (packets).
    full: Which bins of a flow drop its arrivals as too many.
    rehash: Time after which new hash functions come into use. Range: at least 0 s.
    warmup: Time for which the new table learns beside the old one. Range: at least 0 s.
    penalty_rate: Packets that an unresponsive flow gets through. Range: at least 0 (1/s).
    penalty_burst: Packets that unresponsive flows may send at once. Range: at least 1.
    ecn: ECN-capable packets are marked instead of dropped.
    """
    def __init__(
        self,
        levels: int | None = 8,
        bins: int | None = 16,
        d1: float | None = 0.001,
        d2: float | None = 0.00016666666666666666,
        freeze: float | str | None = 0,
        target: int | None = ...,
        max: int | None = ...,
        full: Literal["least", "any"] | None = "least",
        rehash: float | str | None = 600,
        warmup: float | str | None = 60,
        penalty_rate: float | None = 10.0,
        penalty_burst: float | None = 20.0,
        ecn: bool | None = False,
    ) -> None: ...

class Sred(Record):
    r"""SRED: stabilised RED.

    zombies: Length of the zombie list. Range: at least 1.
    overwrite: Probability that a zombie that was not hit is overwritten. Range: more than 0 and at most 1.
    max_p: Drop probability of a queue of a third of the buffer or more. Range: more than 0 and at most 1.
    full: Flows that hit are dropped more often (full SRED).
    ecn: ECN-capable packets are marked instead of dropped.
    """
    def __init__(
        self,
        zombies: int | None = 1000,
        overwrite: float | None = 0.25,
        max_p: float | None = 0.15,
        full: bool | None = True,
        ecn: bool | None = False,
    ) -> None: ...

class Afd(Record):
    r"""AFD: approximate fair dropping.

    shadow: Samples in the shadow buffer. Range: at least 1.
    sample: One arrival in this many is sampled. Range: at least 1.
    target: Queue aimed at. Range: at least 0 (packets).
    update: Time between two updates of the fair number. Range: at least 1e-6 s.
    alpha: Gain on the queue at the update before.
    beta: Gain on the queue now.
    ecn: ECN-capable packets are marked instead of dropped.
    """
    def __init__(
        self,
        shadow: int | None = 500,
        sample: float | None = 5.0,
        target: float | None = ...,
        update: float | str | None = 0.00625,
        alpha: float | None = 1.7,
        beta: float | None = 1.8,
        ecn: bool | None = False,
    ) -> None: ...

class Rem(Record):
    r"""REM: random exponential marking.

    update: Time between two updates of the price. Range: at least 1e-6 s.
    gamma: Gain of the price. Range: more than 0.
    alpha: Weight of the backlog against the rate. Range: at least 0.
    phi: Base of the marking probability. Range: more than 1.
    target: Backlog aimed at. Range: at least 0 (packets).
    ecn: ECN-capable packets are marked instead of dropped.
    """
    def __init__(
        self,
        update: float | str | None = 0.002,
        gamma: float | None = 0.001,
        alpha: float | None = 0.1,
        phi: float | None = 1.001,
        target: float | None = 20.0,
        ecn: bool | None = False,
    ) -> None: ...

class Decbit(Record):
    r"""DECbit: average queue of one.

    threshold: Average number of packets at the link from which packets are marked. Range: more than 0 (packets).
    """
    def __init__(
        self,
        threshold: float | None = 1.0,
    ) -> None: ...

class Cobalt(Record):
    r"""COBALT: CoDel and BLUE alternate.

    target: Acceptable standing sojourn time. Range: more than 0 s.
    interval: Time from the first late packet to the first signal. Range: more than 0 s.
    p_increase: By how much BLUE's probability rises. Range: from 0 to 1.
    p_decrease: By how much it falls. Range: from 0 to 1.
    ecn: ECN-capable packets are marked instead of dropped, but for BLUE.
    """
    def __init__(
        self,
        target: float | str | None = 0.005,
        interval: float | str | None = 0.1,
        p_increase: float | None = 0.00390625,
        p_decrease: float | None = 0.000244140625,
        ecn: bool | None = True,
    ) -> None: ...

class Cake(Record):
    r"""CAKE: common applications kept enhanced.

    rate: Rate of the shaper. Range: more than 0 bit/s.
    rtt: Round-trip time that flows are assumed to have. Range: more than 0 s.
    tins: Classes of traffic by code point.
    isolation: What has a queue, and between whom the link is shared first.
    overhead: Bytes added to each packet, as the shaper and the turns count it. Range: from -64 to 256 (B).
    mpu: Least size of a packet with its overhead. Range: from 0 to 256 (B).
    framing: Cells or blocks that packets are sent in.
    ack_filter: Which acknowledgements of TCP are dropped that a newer one in their queue makes needless.
    queues: Number of queues of each tin. Range: from 1 to 65536.
    quantum: Bytes of a turn. Range: at least 1 B.
    salt: Selects the hash function. Range: at least 0.
    """
    def __init__(
        self,
        rate: float | str | None = ...,
        rtt: float | str | None = 0.1,
        tins: Literal["besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"] | None = "diffserv3",
        isolation: Literal["flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate"] | None = "triple-isolate",
        overhead: int | None = 0,
        mpu: int | None = 0,
        framing: Literal["none", "atm", "ptm"] | None = "none",
        ack_filter: Literal["off", "conservative", "aggressive"] | None = "off",
        queues: int | None = 1024,
        quantum: float | str | None = ...,
        salt: int | None = 0,
    ) -> None: ...

class Dualpi2(Record):
    r"""DualPI2: dual-queue coupled AQM for L4S.

    target: Waiting time at which the controller aims. Range: more than 0 s.
    update: Time between two updates of the probability. Range: at least 1e-6 s.
    alpha: Weight of the distance from the target. Range: at least 0 (1/s).
    beta: Weight of the change of the waiting time. Range: at least 0 (1/s).
    k: Coupling factor. Range: from 1 to 100.
    threshold: Waiting time in the L queue about which its packets are marked. Range: more than 0 s.
    ramp: Width of the ramp from never to always, at most twice the threshold. Range: at least 0 s.
    identifier: Which packets the L queue takes.
    scheduler: Whose turn it is where packets wait in both queues.
    classic_weight: Least share of the link for the classic queue under `wrr`. Range: from 0 to 1.
    time_shift: How much longer a classic packet must have waited to go first under `time-shifted`. Range: at least 0 s.
    ecn: ECN-capable packets of the classic queue are marked instead of dropped, but on overload.
    drop_on_overload: On overload L packets are dropped with the probability of classic ones.
    classic_buffer: Most that may wait in the classic queue. Range: at least 1 B.
    """
    def __init__(
        self,
        target: float | str | None = 0.015,
        update: float | str | None = 0.015,
        alpha: float | None = 0.15,
        beta: float | None = 3.0,
        k: float | None = 2.0,
        threshold: float | str | None = 0.001,
        ramp: float | str | None = 0.0004,
        identifier: Literal["ect1", "any-ect"] | None = "ect1",
        scheduler: Literal["wrr", "time-shifted"] | None = "wrr",
        classic_weight: float | None = 0.1,
        time_shift: float | str | None = ...,
        ecn: bool | None = True,
        drop_on_overload: bool | None = True,
        classic_buffer: float | str | None = ...,
    ) -> None: ...

class Trim(Record):
    r"""Packet trimming.

    header: Bytes that are left of a packet whose payload is cut off. Range: from 1 to 9000 (B).
    data: Share of the buffer that data may take. Range: from 0.001 to 1.0.
    ratio: Packets of headers and acknowledgements that leave for one of data, where both wait. Range: at least 1.
    mark_min: Data that waits, above which ECN-capable packets are marked as they leave, the more often the more. Range: at least 0 B.
    mark_max: Data that waits, above which all are. Range: at least 0 B.
    """
    def __init__(
        self,
        header: int | None = 64,
        data: float | None = 0.5,
        ratio: int | None = 100000,
        mark_min: float | str | None = ...,
        mark_max: float | str | None = ...,
    ) -> None: ...

class Policer(Record):
    r"""Token-bucket policer.

    rate: Rate at which tokens come. Range: more than 0 bit/s.
    burst: Size of the bucket: must be given with a `rate`. Range: at least 1 B.
    qdisc: Queue discipline of what passes.
    """
    def __init__(
        self,
        rate: float | str | None = ...,
        burst: float | str | None = ...,
        qdisc: AnyQueue | None = ...,
    ) -> None: ...

class Shaper(Record):
    r"""Token-bucket shaper.

    rate: Rate at which tokens come. Range: more than 0 bit/s.
    burst: Size of the bucket. Range: at least 1 B.
    latency: Longest time that a packet may have to wait. Range: more than 0 s.
    qdisc: Queue discipline of what waits.
    """
    def __init__(
        self,
        rate: float | str | None = ...,
        burst: float | str | None = ...,
        latency: float | str | None = ...,
        qdisc: AnyQueue | None = ...,
    ) -> None: ...

class Droptail(Fifo):
    """Another name of `Fifo`."""

class DropTail(Fifo):
    """Another name of `Fifo`."""

class Taildrop(Fifo):
    """Another name of `Fifo`."""

class TailDrop(Fifo):
    """Another name of `Fifo`."""

class Pfifo(Fifo):
    """Another name of `Fifo`."""

class Bfifo(Fifo):
    """Another name of `Fifo`."""

class Prio(Priority):
    """Another name of `Priority`."""

class Csfq(CoreStateless):
    """Another name of `CoreStateless`."""

class Fqcodel(FqCodel):
    """Another name of `FqCodel`."""

class DualPi2(Dualpi2):
    """Another name of `Dualpi2`."""

class Trimming(Trim):
    """Another name of `Trim`."""

class Composite(Trim):
    """Another name of `Trim`."""

class Ndp(Trim):
    """Another name of `Trim`."""

class Tbf(Shaper):
    """Another name of `Shaper`."""

class TokenBucket(Shaper):
    """Another name of `Shaper`."""
