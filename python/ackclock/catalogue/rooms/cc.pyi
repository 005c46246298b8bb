# Written by `python tools/write_stubs.py`; do not edit.
from typing import Literal

from ackclock.catalogue.records import Record

class Aimd(Record):
    r"""Additive increase, multiplicative decrease.

    a: Increase per round trip. Range: more than 0 (segments).
    b: Factor kept after a loss. Range: more than 0 and less than 1.
    count: What growth counts: `acks` or `segments`.
    first_cut: First cut, cuts in slow start and at timeouts: by the `rule` or by `half`.
    beta_ecn: Factor kept after an ECN mark (RFC 8511 section 3.1: 0.8 for the rule of TCP). Range: more than 0 and less than 1.
    """
    def __init__(
        self,
        a: float | None = 1.0,
        b: float | None = 0.5,
        count: Literal["acks", "segments", "whole"] | None = ...,
        first_cut: Literal["rule", "half"] | None = ...,
        beta_ecn: float | None = ...,
    ) -> None: ...

class Aiad(Record):
    r"""Additive increase, additive decrease.

    a: Increase per round trip. Range: more than 0 (segments).
    d: Decrease on loss. Range: more than 0 (segments).
    count: What growth counts: `acks` or `segments`.
    first_cut: First cut, cuts in slow start and at timeouts: by the `rule` or by `half`.
    beta_ecn: Factor kept after an ECN mark (RFC 8511 section 3.1: 0.8 for the rule of TCP). Range: more than 0 and less than 1.
    """
    def __init__(
        self,
        a: float | None = 1.0,
        d: float | None = 3.0,
        count: Literal["acks", "segments", "whole"] | None = ...,
        first_cut: Literal["rule", "half"] | None = ...,
        beta_ecn: float | None = ...,
    ) -> None: ...

class Mimd(Record):
    r"""Multiplicative increase, multiplicative decrease.

    a: Factor of increase per round trip. Range: more than 1.
    b: Factor kept after a loss. Range: more than 0 and less than 1.
    count: What growth counts: `acks` or `segments`.
    first_cut: First cut, cuts in slow start and at timeouts: by the `rule` or by `half`.
    beta_ecn: Factor kept after an ECN mark (RFC 8511 section 3.1: 0.8 for the rule of TCP). Range: more than 0 and less than 1.
    """
    def __init__(
        self,
        a: float | None = 1.125,
        b: float | None = 0.8,
        count: Literal["acks", "segments", "whole"] | None = ...,
        first_cut: Literal["rule", "half"] | None = ...,
        beta_ecn: float | None = ...,
    ) -> None: ...

class Miad(Record):
    r"""Multiplicative increase, additive decrease.

    a: Factor of increase per round trip. Range: more than 1.
    d: Decrease on loss. Range: more than 0 (segments).
    count: What growth counts: `acks` or `segments`.
    first_cut: First cut, cuts in slow start and at timeouts: by the `rule` or by `half`.
    beta_ecn: Factor kept after an ECN mark (RFC 8511 section 3.1: 0.8 for the rule of TCP). Range: more than 0 and less than 1.
    """
    def __init__(
        self,
        a: float | None = 1.125,
        d: float | None = 3.0,
        count: Literal["acks", "segments", "whole"] | None = ...,
        first_cut: Literal["rule", "half"] | None = ...,
        beta_ecn: float | None = ...,
    ) -> None: ...

class Aimad(Record):
    r"""Additive increase, multiplicative and additive decrease.

    a_i: Increase per round trip. Range: more than 0 (segments).
    a_d: Added on loss. Range: at most 0 (segments).
    b_d: Factor kept after a loss. Range: more than 0 and less than 1.
    count: What growth counts: `acks` or `segments`.
    first_cut: First cut, cuts in slow start and at timeouts: by the `rule` or by `half`.
    beta_ecn: Factor kept after an ECN mark (RFC 8511 section 3.1: 0.8 for the rule of TCP). Range: more than 0 and less than 1.
    """
    def __init__(
        self,
        a_i: float | None = 1.0,
        a_d: float | None = -1.0,
        b_d: float | None = 0.9,
        count: Literal["acks", "segments", "whole"] | None = ...,
        first_cut: Literal["rule", "half"] | None = ...,
        beta_ecn: float | None = ...,
    ) -> None: ...

class Maimd(Record):
    r"""Multiplicative and additive increase, multiplicative decrease.

    a_i: Added per round trip. Range: more than 0 (segments).
    b_i: Factor of increase per round trip. Range: more than 1.
    b_d: Factor kept after a loss. Range: more than 0 and less than 1.
    count: What growth counts: `acks` or `segments`.
    first_cut: First cut, cuts in slow start and at timeouts: by the `rule` or by `half`.
    beta_ecn: Factor kept after an ECN mark (RFC 8511 section 3.1: 0.8 for the rule of TCP). Range: more than 0 and less than 1.
    """
    def __init__(
        self,
        a_i: float | None = 1.0,
        b_i: float | None = 1.1,
        b_d: float | None = 0.8,
        count: Literal["acks", "segments", "whole"] | None = ...,
        first_cut: Literal["rule", "half"] | None = ...,
        beta_ecn: float | None = ...,
    ) -> None: ...

class Linear(Record):
    r"""General linear control.

    a_i: Added per round trip. Range: at least 0 (segments).
    b_i: Factor per round trip. Range: at least 1.
    a_d: Added on loss. Range: at most 0 (segments).
    b_d: Factor kept after a loss. Range: more than 0 and at most 1.
    count: What growth counts: `acks` or `segments`.
    first_cut: First cut, cuts in slow start and at timeouts: by the `rule` or by `half`.
    beta_ecn: Factor kept after an ECN mark (RFC 8511 section 3.1: 0.8 for the rule of TCP). Range: more than 0 and less than 1.
    """
    def __init__(
        self,
        a_i: float | None = 1.0,
        b_i: float | None = 1.0,
        a_d: float | None = 0.0,
        b_d: float | None = 0.5,
        count: Literal["acks", "segments", "whole"] | None = ...,
        first_cut: Literal["rule", "half"] | None = ...,
        beta_ecn: float | None = ...,
    ) -> None: ...

class Cubic(Record):
    r"""CUBIC.

    c: Aggressiveness C (RFC 9438 section 5.1: 0.4). Range: more than 0 (segments/s^3).
    beta: Factor kept after a loss (RFC 9438 section 4.6: 0.7). Range: more than 0 and less than 1.
    beta_ecn: Factor kept after an ECN mark (RFC 8511 section 3.1: 0.85). Range: more than 0 and less than 1.
    fast_convergence: Fast convergence (RFC 9438 section 4.7).
    reno_friendly: Reno-friendly region (RFC 9438 section 4.3).
    """
    def __init__(
        self,
        c: float | None = 0.4,
        beta: float | None = 0.7,
        beta_ecn: float | None = ...,
        fast_convergence: bool | None = True,
        reno_friendly: bool | None = True,
    ) -> None: ...

class Binomial(Record):
    r"""Binomial control.

    alpha: Factor of the increase. Range: more than 0.
    beta: Factor of the decrease. Range: more than 0.
    k: The increase is proportional to 1 / w^k. Range: from -1 to 10.
    l: The decrease is proportional to w^l. Range: from -10 to 1.
    """
    def __init__(
        self,
        alpha: float | None = 1.0,
        beta: float | None = 0.5,
        k: float | None = 0.0,
        l: float | None = 1.0,
    ) -> None: ...

class Iiad(Record):
    r"""Inverse increase, additive decrease.

    alpha: Factor of the increase. Range: more than 0.
    beta: Factor of the decrease. Range: more than 0.
    """
    def __init__(
        self,
        alpha: float | None = 1.0,
        beta: float | None = 0.6666666666666666,
    ) -> None: ...

class Sqrt(Record):
    r"""Square-root increase and decrease.

    alpha: Factor of the increase. Range: more than 0.
    beta: Factor of the decrease. Range: more than 0.
    """
    def __init__(
        self,
        alpha: float | None = 1.0,
        beta: float | None = 0.6666666666666666,
    ) -> None: ...

class Aild(Record):
    r"""Additive increase, loss-proportional decrease.

    alpha: Increase per round trip. Range: more than 0 (segments).
    beta: Decrease at a loss ratio of 1. Range: more than 0 (segments).
    """
    def __init__(
        self,
        alpha: float | None = 1.0,
        beta: float | None = 100.0,
    ) -> None: ...

class Highspeed(Record):
    r"""HighSpeed TCP.

    low_window: Window up to which it is Reno (`Low_Window`). Range: at least 2 (segments).
    high_window: Window at the loss rate `high_p`, more than `low_window` (`High_Window`). Range: more than 2 (segments).
    low_p: Loss rate at the low window (`Low_P`). Range: more than 0 and less than 1.
    high_p: Loss rate at the high window, less than `low_p` (`High_P`). Range: more than 0 and less than 1.
    high_decrease: Part of the window that a loss takes at the high window (`High_Decrease`). Range: more than 0 and at most 0.5.
    """
    def __init__(
        self,
        low_window: float | None = 38.0,
        high_window: float | None = 83000.0,
        low_p: float | None = ...,
        high_p: float | None = 1e-07,
        high_decrease: float | None = 0.1,
    ) -> None: ...

class Scalable(Record):
    r"""Scalable TCP.

    a: Growth of the window for each segment acknowledged. Range: more than 0 and at most 1 (segments).
    b: Part of the window that a loss takes. Range: more than 0 and less than 1.
    legacy_window: Window up to which it is Reno. Range: at least 0 (segments).
    """
    def __init__(
        self,
        a: float | None = 0.01,
        b: float | None = 0.125,
        legacy_window: float | None = 16.0,
    ) -> None: ...

class Htcp(Record):
    r"""H-TCP.

    delta_l: Time after a reduction in which it is Reno. Range: at least 0 s.
    beta_min: Least factor kept after a loss. Range: more than 0 and less than 1.
    beta_max: Largest factor kept after a loss, `beta_min` or more. Range: more than 0 and less than 1.
    adaptive_backoff: Adapt the decrease to the queue.
    rtt_scaling: Scale the increase by the round trip, so that the rate grows equally for all.
    """
    def __init__(
        self,
        delta_l: float | str | None = 1,
        beta_min: float | None = 0.5,
        beta_max: float | None = 0.8,
        adaptive_backoff: bool | None = True,
        rtt_scaling: bool | None = ...,
    ) -> None: ...

class Hybla(Record):
    r"""TCP Hybla.

    rtt0: Reference round trip. Range: more than 0 s.
    slow_start_rho: Largest rho in slow start, whose growth is exponential in it. Range: from 1 to 20.
    largest_window: Largest window. Range: at least 2 (segments).
    estimate_ssthresh: Estimate the first ssthresh from the first acknowledgements.
    """
    def __init__(
        self,
        rtt0: float | str | None = 0.025,
        slow_start_rho: float | None = 16.0,
        largest_window: float | None = 65535.0,
        estimate_ssthresh: bool | None = ...,
    ) -> None: ...

class Bic(Record):
    r"""BIC.

    low_window: Window up to which it is Reno. Range: at least 2 (segments).
    s_max: Largest increase for a round trip (`S_max`), `s_min` or more. Range: more than 0 (segments).
    s_min: Least increase for a round trip (`S_min`). Range: more than 0 (segments).
    beta: Part of the window that a loss takes. Range: more than 0 and less than 1.
    fast_convergence: Let a window that shrinks between losses aim lower.
    """
    def __init__(
        self,
        low_window: float | None = 14.0,
        s_max: float | None = ...,
        s_min: float | None = ...,
        beta: float | None = ...,
        fast_convergence: bool | None = True,
    ) -> None: ...

class RttSquared(Record):
    r"""Increase in proportion to the square of the round trip.

    c: Growth of the rate. Range: more than 0 (segments/s^2).
    b: Factor kept after a loss. Range: more than 0 and less than 1.
    """
    def __init__(
        self,
        c: float | None = 100.0,
        b: float | None = 0.5,
    ) -> None: ...

class Decbit(Record):
    r"""DECbit.

    threshold: Fraction of marked segments from which the window is reduced. Range: more than 0 and at most 1.
    increase: Increase of a decision. Range: more than 0 (segments).
    factor: Factor kept by a decrease. Range: more than 0 and less than 1.
    """
    def __init__(
        self,
        threshold: float | None = 0.5,
        increase: float | None = 1.0,
        factor: float | None = 0.875,
    ) -> None: ...

class Dctcp(Record):
    r"""DCTCP.

    g: Weight of the newest window in the estimate (RFC 8257 section 4.2: 1/16). Range: more than 0 and at most 1.
    alpha: The estimate before the first window (RFC 8257 section 4.2: 1). Range: from 0 to 1.
    """
    def __init__(
        self,
        g: float | None = 0.0625,
        alpha: float | None = 1.0,
    ) -> None: ...

class Prague(Record):
    r"""TCP Prague.

    g: Weight of the newest round trip in the estimate. Range: more than 0 and at most 1.
    rtt_virt_min: Least virtual round trip. Range: at least 0 s.
    rtt_transition: Round trips after slow start before the virtual round trip applies. Range: at least 0 (round trips).
    """
    def __init__(
        self,
        g: float | None = 0.0625,
        rtt_virt_min: float | str | None = 0.025,
        rtt_transition: int | None = 500,
    ) -> None: ...

class Dcqcn(Record):
    r"""DCQCN.

    g: Weight of a notification in the estimate of congestion. Range: more than 0 and at most 1.
    cnp_interval: Least time between two notifications, and so between two cuts. Range: at least 0 s.
    alpha_timer: Time without a notification after which the estimate decays (K). Range: at least 1e-6 s.
    rate_timer: Period of the timer that raises the rate. Range: at least 1e-6 s.
    byte_counter: Bytes after which the byte counter raises the rate (B). Range: at least 1500 B.
    recovery_events: Events of a timer or counter that only recover the rate (F). Range: at least 1 (events).
    additive: Step of additive increase (`R_AI`). Range: at least 0 bit/s.
    hyper: Step of hyper increase (`R_HAI`). Range: at least 0 bit/s.
    least: Least rate. Range: at least 0 bit/s.
    window: No more is in flight than the rate carries in this time, a packet at least. Range: at least 0 s.
    rule: `card` is what network cards of one vendor do.
    """
    def __init__(
        self,
        g: float | None = 0.00390625,
        cnp_interval: float | str | None = 5e-05,
        alpha_timer: float | str | None = 5.5e-05,
        rate_timer: float | str | None = 5.5e-05,
        byte_counter: float | str | None = 10000000,
        recovery_events: int | None = 5,
        additive: float | str | None = ...,
        hyper: float | str | None = ...,
        least: float | str | None = ...,
        window: float | str | None = ...,
        rule: Literal["paper", "card"] | None = "paper",
    ) -> None: ...

class Hpcc(Record):
    r"""HPCC.

    eta: Goal of the utilisation of the fullest link. Range: more than 0 and at most 1.
    max_stage: Round trips in a row that only add, after which the window follows the utilisation. Range: at least 0.
    base_rtt: Base round trip (T). Range: at least 0 s.
    w_ai: Step of the window (`W_AI`). Range: at least 0 B.
    reaction: Which acknowledgements the window follows.
    """
    def __init__(
        self,
        eta: float | None = 0.95,
        max_stage: int | None = 5,
        base_rtt: float | str | None = ...,
        w_ai: float | str | None = ...,
        reaction: Literal["both", "ack", "round-trip"] | None = "both",
    ) -> None: ...

class Vegas(Record):
    r"""TCP Vegas.

    alpha: Fewest segments to keep queued. Range: at least 0 (segments).
    beta: Most segments to keep queued, alpha or more [segments].
    gamma: Queued segments that end slow start. Range: at least 0 (segments).
    loss_factor: Factor kept after a loss. Range: more than 0 and less than 1.
    """
    def __init__(
        self,
        alpha: float | None = ...,
        beta: float | None = ...,
        gamma: float | None = 1.0,
        loss_factor: float | None = 0.75,
    ) -> None: ...

class Fast(Record):
    r"""FAST TCP.

    form: `published` or `ns2`.
    alpha: Segments to keep queued. Range: more than 0 (segments).
    beta: `ns2` only: the window moves if fewer than alpha or at least beta segments are queued [segments].
    gamma: Gain of a step. Range: more than 0 and at most 1.
    interval: Time between updates. Range: at least 1e-6 s.
    every: The window moves in every so-many-th round trip. Range: at least 1 (round trips).
    mi_threshold: Below this queueing delay the window doubles per round trip. Range: at least 0 s.
    rtt_weight: Weight of a sample in the mean round trip where windows are small. Range: more than 0 and at most 1.
    max_growth: An update multiplies the window by no more than this. Range: more than 1.
    base_rtt: Propagation and transmission time of the path, in place of the smallest round trip. Range: more than 0 s.
    """
    def __init__(
        self,
        form: Literal["published", "ns2"] | None = "published",
        alpha: float | None = 100.0,
        beta: float | None = ...,
        gamma: float | None = 0.5,
        interval: float | str | None = ...,
        every: int | None = ...,
        mi_threshold: float | str | None = 0.00075,
        rtt_weight: float | None = ...,
        max_growth: float | None = ...,
        base_rtt: float | str | None = ...,
    ) -> None: ...

class FastRateReduction(Record):
    r"""FAST TCP with rate reduction.

    form: `published` or `ns2`.
    alpha: Segments to keep queued. Range: more than 0 (segments).
    beta: `ns2` only: the window moves if fewer than alpha or at least beta segments are queued [segments].
    gamma: Gain of a step. Range: more than 0 and at most 1.
    interval: Time between updates. Range: at least 1e-6 s.
    every: The window moves in every so-many-th round trip. Range: at least 1 (round trips).
    mi_threshold: Below this queueing delay the window doubles per round trip. Range: at least 0 s.
    rtt_weight: Weight of a sample in the mean round trip where windows are small. Range: more than 0 and at most 1.
    max_growth: An update multiplies the window by no more than this. Range: more than 1.
    base_rtt: Propagation and transmission time of the path, in place of the smallest round trip. Range: more than 0 s.
    stable_rounds: Rounds over which means are taken. Range: at least 2 (round trips).
    stable_tolerance: Part of alpha and of the round trip by which a flow at rest may deviate. Range: more than 0 and less than 1.
    factor: The rate is divided by this. Range: more than 1.
    duration: Length of the reduction in round trips. Range: more than 0 (round trips).
    pause: No segment leaves during the reduction.
    """
    def __init__(
        self,
        form: Literal["published", "ns2"] | None = "published",
        alpha: float | None = 100.0,
        beta: float | None = ...,
        gamma: float | None = 0.5,
        interval: float | str | None = ...,
        every: int | None = ...,
        mi_threshold: float | str | None = 0.00075,
        rtt_weight: float | None = ...,
        max_growth: float | None = ...,
        base_rtt: float | str | None = ...,
        stable_rounds: int | None = 10,
        stable_tolerance: float | None = 0.01,
        factor: float | None = ...,
        duration: float | None = 1.0,
        pause: bool | None = False,
    ) -> None: ...

class FastSelfTuning(Record):
    r"""FAST TCP tuned to Reno.

    form: `published` or `ns2`.
    alpha: Segments to keep queued. Range: more than 0 (segments).
    beta: `ns2` only: the window moves if fewer than alpha or at least beta segments are queued [segments].
    gamma: Gain of a step. Range: more than 0 and at most 1.
    interval: Time between updates. Range: at least 1e-6 s.
    every: Time between updates of alpha. Range: at least 1 (round trips).
    mi_threshold: Below this queueing delay the window doubles per round trip. Range: at least 0 s.
    rtt_weight: Weight of a sample in the mean round trip where windows are small. Range: more than 0 and at most 1.
    max_growth: An update multiplies the window by no more than this. Range: more than 1.
    base_rtt: Propagation and transmission time of the path, in place of the smallest round trip. Range: more than 0 s.
    kappa: Gain of an update of alpha. Range: more than 0 and at most 1.
    weight: The rate aimed at is this over the loss rate. Range: more than 0 (segments/s).
    """
    def __init__(
        self,
        form: Literal["published", "ns2"] | None = "published",
        alpha: float | None = 100.0,
        beta: float | None = ...,
        gamma: float | None = 0.5,
        interval: float | str | None = ...,
        every: int | None = 20,
        mi_threshold: float | str | None = 0.00075,
        rtt_weight: float | None = ...,
        max_growth: float | None = ...,
        base_rtt: float | str | None = ...,
        kappa: float | None = 0.1,
        weight: float | None = ...,
    ) -> None: ...

class FastCorrected(Record):
    r"""FAST TCP with corrected propagation delay.

    form: `published` or `ns2`.
    alpha: Segments to keep queued. Range: more than 0 (segments).
    beta: `ns2` only: the window moves if fewer than alpha or at least beta segments are queued [segments].
    gamma: Gain of a step. Range: more than 0 and at most 1.
    interval: Time between updates. Range: at least 1e-6 s.
    every: The window moves in every so-many-th round trip. Range: at least 1 (round trips).
    mi_threshold: Below this queueing delay the window doubles per round trip. Range: at least 0 s.
    rtt_weight: Weight of a sample in the mean round trip where windows are small. Range: more than 0 and at most 1.
    max_growth: An update multiplies the window by no more than this. Range: more than 1.
    base_rtt: Propagation and transmission time of the path, in place of the smallest round trip. Range: more than 0 s.
    stable_rounds: Rounds over which means are taken. Range: at least 2 (round trips).
    stable_tolerance: Part of alpha and of the round trip by which a flow at rest may deviate. Range: more than 0 and less than 1.
    theta: Part by which the window is lowered, not 0. Range: at least -1 and less than 1.
    t_epsilon: Length of the probe in round trips: other flows must not react within. Range: more than 0 and at most 1 (round trips).
    reading: `line` or `last`.
    measurements: Valid measurements that a flow makes. Range: at least 1.
    attempts: Measurements that are discarded before the flow gives up: every one disturbs others. Range: at least 1.
    theta_backoff: Theta is multiplied by this after a probe that lost segments (1: it stays). Range: more than 0 and at most 1.
    """
    def __init__(
        self,
        form: Literal["published", "ns2"] | None = "published",
        alpha: float | None = 100.0,
        beta: float | None = ...,
        gamma: float | None = 0.5,
        interval: float | str | None = ...,
        every: int | None = ...,
        mi_threshold: float | str | None = 0.00075,
        rtt_weight: float | None = ...,
        max_growth: float | None = ...,
        base_rtt: float | str | None = ...,
        stable_rounds: int | None = 10,
        stable_tolerance: float | None = 0.01,
        theta: float | None = -0.5,
        t_epsilon: float | None = 1.0,
        reading: Literal["line", "last"] | None = "line",
        measurements: int | None = 1,
        attempts: int | None = 5,
        theta_backoff: float | None = 1.0,
    ) -> None: ...

class Ledbat(Record):
    r"""LEDBAT.

    target: Queueing delay to keep (RFC 6817 section 2.5). Range: more than 0 and at most 0.1 s.
    gain: Gain: at 1 it grows no faster than TCP. Range: more than 0 and at most 1.
    allowed_increase: Segments by which the window may exceed what is in flight. Range: more than 0 (segments).
    base_history: Length of the delay history. Range: at least 1 (minutes).
    current_filter: Samples of which the least is the present delay. Range: at least 1 (samples).
    slow_start: Begin with slow start, until the first loss or half of the target delay.
    """
    def __init__(
        self,
        target: float | str | None = 0.1,
        gain: float | None = 1.0,
        allowed_increase: float | None = 1.0,
        base_history: int | None = 10,
        current_filter: int | None = 4,
        slow_start: bool | None = False,
    ) -> None: ...

class LedbatPlusPlus(Record):
    r"""LEDBAT++.

    target: Queueing delay to keep. Range: more than 0 s.
    c: Constant of the multiplicative decrease. Range: more than 0.
    base_history: Length of the delay history. Range: at least 1 (minutes).
    slowdowns: Pause now and then, so that the base delay can be measured.
    """
    def __init__(
        self,
        target: float | str | None = 0.06,
        c: float | None = 1.0,
        base_history: int | None = 10,
        slowdowns: bool | None = True,
    ) -> None: ...

class Lp(Record):
    r"""TCP-LP.

    delta: Share of the range of delays beyond which the path counts as congested. Range: more than 0 and less than 1.
    gamma: Weight of a new sample in the smoothed delay. Range: more than 0 and at most 1.
    inference: Round trips that an early indication is observed. Range: at least 1 (round trips).
    """
    def __init__(
        self,
        delta: float | None = 0.15,
        gamma: float | None = 0.125,
        inference: int | None = 3,
    ) -> None: ...

class Cdg(Record):
    r"""CAIA delay gradient (CDG).

    scale: Rise of the delay for a round trip at which the probability of backing off is 1 - 1/e (G). Range: more than 0 s.
    beta_delay: Factor kept when the delay rises. Range: more than 0 and less than 1.
    beta_loss: Factor kept after a loss. Range: more than 0 and less than 1.
    ineffective: Back-offs in a row that show that they are in vain, and how many are then left out. Range: at least 0.
    tolerate_losses: Do not answer losses while the queue is not full.
    """
    def __init__(
        self,
        scale: float | str | None = 0.003,
        beta_delay: float | None = ...,
        beta_loss: float | None = 0.5,
        ineffective: int | None = 5,
        tolerate_losses: bool | None = ...,
    ) -> None: ...

class Copa(Record):
    r"""Copa.

    delta: Weight of delay in default mode: 1/delta segments are kept queued. Range: more than 0 and at most 1 (1/segments).
    mode_switching: Detect flows that fill the queue and compete with them.
    turn_at_once: A velocity above 1 ends with the first step in the other direction, as in mvfst.
    min_rtt_window: How long the smallest round trip is remembered. Range: more than 0 s.
    """
    def __init__(
        self,
        delta: float | None = 0.5,
        mode_switching: bool | None = True,
        turn_at_once: bool | None = True,
        min_rtt_window: float | str | None = 10,
    ) -> None: ...

class Nv(Record):
    r"""TCP-NV.

    pad: Segments that may be queued in the network. Range: at least 2 (segments).
    reset_period: Mean time for which the smallest round trip is kept. Range: more than 0 s.
    decrease: Part of what is too much that one decrease takes. Range: more than 0 and at most 1.
    loss_factor: Factor kept after a loss. Range: more than 0 and less than 1.
    slow_rounds: Round trips without congestion after which growth that a timeout slowed is doubled. Range: at least 0 (round trips).
    """
    def __init__(
        self,
        pad: float | None = 10.0,
        reset_period: float | str | None = 5,
        decrease: float | None = 0.3,
        loss_factor: float | None = 0.8,
        slow_rounds: int | None = 8,
    ) -> None: ...

class Swift(Record):
    r"""Swift.

    base_target: Target of a large window over no hop that counts. Range: at least 0 s.
    hops: Hops that count. Range: at least 0 (hops).
    hop_delay: What each of them adds to the target (h). Range: at least 0 s.
    range: What the smallest windows add to the target. Range: at least 0 s.
    scaling_low: Windows below this add the whole range. Range: more than 0 (segments).
    scaling_high: Windows above this, which is more than `scaling_low`, add nothing. Range: more than 0 (segments).
    ai: Growth of the window in a round trip (ai). Range: more than 0 and at most 1000 (segments).
    beta: Part of the window that the excess of the delay, as part of the delay, takes. Range: more than 0 and at most 1.
    max_mdf: Largest part that is taken at once (`max_mdf`). Range: more than 0 and less than 1.
    """
    def __init__(
        self,
        base_target: float | str | None = ...,
        hops: int | None = 0,
        hop_delay: float | str | None = 1e-06,
        range: float | str | None = ...,
        scaling_low: float | None = 0.1,
        scaling_high: float | None = 100.0,
        ai: float | None = 1.0,
        beta: float | None = 0.8,
        max_mdf: float | None = 0.5,
    ) -> None: ...

class Timely(Record):
    r"""TIMELY.

    t_low: Round trips below this let the rate rise whatever their gradient. Range: at least 0 s.
    t_high: Round trips above this cut the rate whatever their gradient. Range: at least 0 s.
    min_rtt: The least round trip, by which gradients are normalised. Range: at least 0 s.
    delta: Step of the rate (delta). Range: at least 0 bit/s.
    beta: Part of the rate that a gradient of 1 takes. Range: more than 0 and at most 1.
    alpha: Weight of the newest difference of round trips. Range: more than 0 and at most 1.
    hyper: Segments in a row with gradients of 0 or less from which on steps are as many times as large. Range: at least 1 (segments).
    segment: Bytes that leave together and are answered together. Range: at least 0 B.
    initial_rate: Rate at the start. Range: at least 0 bit/s.
    least: Least rate. Range: at least 0 bit/s.
    window: No more is in flight than the rate carries in this time, a segment at least. Range: at least 0 s.
    """
    def __init__(
        self,
        t_low: float | str | None = ...,
        t_high: float | str | None = ...,
        min_rtt: float | str | None = ...,
        delta: float | str | None = ...,
        beta: float | None = 0.8,
        alpha: float | None = 0.875,
        hyper: int | None = 5,
        segment: float | str | None = 16000,
        initial_rate: float | str | None = ...,
        least: float | str | None = ...,
        window: float | str | None = ...,
    ) -> None: ...

class Compound(Record):
    r"""Compound TCP.

    alpha: Factor of the growth of the delay window. Range: more than 0.
    beta: Part of the window that a loss takes. Range: more than 0 and less than 1.
    k: Exponent of the growth of the delay window. Range: at least 0 and less than 1.
    gamma: Queued segments from which the delay window shrinks. Range: more than 0 (segments).
    zeta: How much of the queue the delay window gives back. Range: more than 0.
    low_window: Least window in segments for which there is a delay window. Range: at least 0 (segments).
    """
    def __init__(
        self,
        alpha: float | None = 0.125,
        beta: float | None = 0.5,
        k: float | None = 0.75,
        gamma: float | None = 30.0,
        zeta: float | None = 1.0,
        low_window: float | None = 41.0,
    ) -> None: ...

class Westwood(Record):
    r"""TCP Westwood+.

    gain: Weight of the old estimate of the rate. Range: at least 0 and less than 1.
    """
    def __init__(
        self,
        gain: float | None = ...,
    ) -> None: ...

class Illinois(Record):
    r"""TCP-Illinois.

    alpha_min: Least increase for a round trip, less than `alpha_max`. Range: more than 0 (segments).
    alpha_max: Largest increase for a round trip. Range: more than 0 (segments).
    beta_min: Least part of the window that a loss takes, `beta_max` or less. Range: more than 0 and less than 1.
    beta_max: Largest part of the window that a loss takes. Range: more than 0 and less than 1.
    window_threshold: Window below which it is Reno. Range: at least 0 (segments).
    theta: Round trips without queue before the largest increase returns. Range: at least 1 (round trips).
    """
    def __init__(
        self,
        alpha_min: float | None = 0.3,
        alpha_max: float | None = 10.0,
        beta_min: float | None = 0.125,
        beta_max: float | None = 0.5,
        window_threshold: float | None = 15.0,
        theta: int | None = 5,
    ) -> None: ...

class Veno(Record):
    r"""TCP Veno.

    beta: Queued segments from which the path counts as congested. Range: at least 0 (segments).
    random_loss_factor: Factor kept after a loss on a path that is not congested. Range: more than 0 and less than 1.
    """
    def __init__(
        self,
        beta: float | None = 3.0,
        random_loss_factor: float | None = 0.8,
    ) -> None: ...

class Scream(Record):
    r"""SCReAM v2.

    l4s: Data leaves as ECT(1), and marks are L4S's (`IS_L4S`).
    qdelay_target: Queueing delay that is answered in full. Range: at least 1e-6 s.
    max_rate: Rate at which the window stops to grow (`TARGET_BITRATE_MAX`). Range: at least 0 bit/s.
    """
    def __init__(
        self,
        l4s: bool | None = False,
        qdelay_target: float | str | None = 0.06,
        max_rate: float | str | None = ...,
    ) -> None: ...

class Nscc(Record):
    r"""NSCC (Ultra Ethernet).

    target: Queueing delay that the flow aims at (T). Range: at least 0 s.
    network_rtt: Longest round trip of the idle network (R). Range: at least 0 s.
    initial_window: Initial window. Range: from 1 to 1048576 (segments).
    qa_gate: Quick adaptation answers where less than the largest window over two to the power of this arrived. Range: from 0 to 30.
    """
    def __init__(
        self,
        target: float | str | None = ...,
        network_rtt: float | str | None = ...,
        initial_window: int | None = ...,
        qa_gate: int | None = ...,
    ) -> None: ...

class Yeah(Record):
    r"""YeAH-TCP.

    q_max: Segments that a flow may keep queued (`Q_max`). Range: more than 0 (segments).
    phi: Inverse of the share of the base round trip that the queueing delay may have. Range: more than 0.
    gamma: Inverse of the part of the queue that is drained at once. Range: at least 1.
    rho: Round trips of slow mode that show competition with Reno. Range: at least 1 (round trips).
    zeta: Round trips of fast mode after which Reno is forgotten. Range: at least 1 (round trips).
    a: Growth of the window for each segment acknowledged in fast mode. Range: more than 0 and at most 1 (segments).
    """
    def __init__(
        self,
        q_max: float | None = 80.0,
        phi: float | None = 8.0,
        gamma: float | None = 1.0,
        rho: int | None = 16,
        zeta: int | None = 50,
        a: float | None = 0.01,
    ) -> None: ...

class Bbr(Record):
    r"""BBR version 1.

    high_gain: `BBRHighGain`: 2/ln 2 doubles the rate each round. Range: more than 1.
    cwnd_gain: cwnd gain of `ProbeBW`. Range: at least 1.
    rtprop_filter_len: `RTpropFilterLen`. Range: more than 0 s.
    probe_rtt_duration: `ProbeRTTDuration`. Range: at least 0 s.
    """
    def __init__(
        self,
        high_gain: float | None = 2.8853900817779268,
        cwnd_gain: float | None = 2.0,
        rtprop_filter_len: float | str | None = 10,
        probe_rtt_duration: float | str | None = 0.2,
    ) -> None: ...

class Bbr2(Record):
    r"""BBR version 2.

    startup_pacing_gain: `BBRStartupPacingGain`: 4 ln 2 doubles the rate each round. Range: more than 1.
    cwnd_gain: cwnd gain of all states but `ProbeRTT`. Range: at least 1.
    probe_up_pacing_gain: Pacing gain of `ProbeBW_UP`. Range: more than 1.
    probe_down_pacing_gain: Pacing gain of `ProbeBW_DOWN`. Range: more than 0 and less than 1.
    loss_thresh: `BBRLossThresh`: share of losses in a round trip that a probe may cause. Range: more than 0 and less than 1.
    beta: `BBRBeta`: least share that a bound keeps in a round with losses. Range: more than 0 and less than 1.
    headroom: `BBRHeadroom`: share of `inflight_hi` left to others. Range: at least 0 and less than 1.
    startup_full_loss_count: `BBRStartupFullLossCnt`: ranges lost in a round that end Startup. Range: at least 1.
    """
    def __init__(
        self,
        startup_pacing_gain: float | None = 2.77,
        cwnd_gain: float | None = 2.0,
        probe_up_pacing_gain: float | None = 1.25,
        probe_down_pacing_gain: float | None = 0.9,
        loss_thresh: float | None = 0.02,
        beta: float | None = 0.7,
        headroom: float | None = 0.15,
        startup_full_loss_count: int | None = 3,
    ) -> None: ...

class Bbr3(Record):
    r"""BBR version 3.

    startup_pacing_gain: `StartupPacingGain`: 4 ln 2 doubles the rate each round. Range: more than 1.
    drain_pacing_gain: `DrainPacingGain`. Range: more than 0 and less than 1.
    probe_up_pacing_gain: Pacing gain of `ProbeBW_UP`. Range: more than 1.
    probe_down_pacing_gain: Pacing gain of `ProbeBW_DOWN`. Range: more than 0 and less than 1.
    cwnd_gain: `DefaultCwndGain`. Range: at least 1.
    probe_up_cwnd_gain: cwnd gain of `ProbeBW_UP`. Range: at least 1.
    probe_rtt_cwnd_gain: `ProbeRTTCwndGain`. Range: more than 0 and at most 1.
    loss_thresh: `LossThresh`: share of losses in a round trip that a probe may cause. Range: more than 0 and less than 1.
    beta: `Beta`: least share that a bound keeps in a round with losses. Range: more than 0 and less than 1.
    headroom: `Headroom`: share of `inflight_longterm` left to others. Range: at least 0 and less than 1.
    pacing_margin: `PacingMarginPercent` / 100: how far below bw it paces. Range: at least 0 and less than 1.
    startup_full_loss_count: `BBRStartupFullLossCnt`: ranges lost in a round that end Startup. Range: at least 1.
    min_rtt_filter_len: `MinRTTFilterLen`. Range: more than 0 s.
    probe_rtt_interval: `ProbeRTTInterval`. Range: more than 0 s.
    probe_rtt_duration: `ProbeRTTDuration`. Range: at least 0 s.
    """
    def __init__(
        self,
        startup_pacing_gain: float | None = 2.77,
        drain_pacing_gain: float | None = 0.5,
        probe_up_pacing_gain: float | None = 1.25,
        probe_down_pacing_gain: float | None = 0.9,
        cwnd_gain: float | None = 2.0,
        probe_up_cwnd_gain: float | None = 2.25,
        probe_rtt_cwnd_gain: float | None = 0.5,
        loss_thresh: float | None = 0.02,
        beta: float | None = 0.7,
        headroom: float | None = 0.15,
        pacing_margin: float | None = 0.01,
        startup_full_loss_count: int | None = 6,
        min_rtt_filter_len: float | str | None = 10,
        probe_rtt_interval: float | str | None = 5,
        probe_rtt_duration: float | str | None = 0.2,
    ) -> None: ...

class C4(Record):
    r"""C4.

    cruising_eras: Eras of Cruising before a probe. Range: at least 1 (round trips).
    initial_eras: Eras without increase that end Initial. Range: at least 1 (round trips).
    saved_cwnd: Window of an earlier connection, which is tried from the first acknowledgement on. Range: at least 4 (segments).
    """
    def __init__(
        self,
        cruising_eras: int | None = 2,
        initial_eras: int | None = 3,
        saved_cwnd: float | None = ...,
    ) -> None: ...

class C402(Record):
    r"""C4 of draft -02.

    cruising_eras: Eras of Cruising before a push. Range: at least 1 (round trips).
    initial_eras: Eras without increase that end Initial. Range: at least 1 (round trips).
    """
    def __init__(
        self,
        cruising_eras: int | None = 4,
        initial_eras: int | None = 3,
    ) -> None: ...

class Vivace(Record):
    r"""PCC Vivace.

    exponent: Exponent of the rate in the utility (t). Range: more than 0 and less than 1.
    latency: Weight of the slope of the delay (b). Range: at least 0.
    loss: Weight of loss (c). Range: more than 0.
    probe: Part of the rate by which it is tried higher and lower (epsilon). Range: more than 0 and less than 0.5.
    step: Rate that a gradient of 1 is worth (theta). Range: more than 0 (Mbit/s).
    bound: Largest part of the rate of a first step (omega). Range: more than 0.
    bound_step: What is added to it for each step that it has bounded (delta). Range: more than 0.
    slope_filter: Slopes of the delay below this are taken for noise. Range: at least 0.
    """
    def __init__(
        self,
        exponent: float | None = 0.9,
        latency: float | None = 900.0,
        loss: float | None = 11.35,
        probe: float | None = 0.05,
        step: float | None = 1.0,
        bound: float | None = 0.05,
        bound_step: float | None = 0.1,
        slope_filter: float | None = 0.01,
    ) -> None: ...

class Reno(Aimd):
    """Another name of `Aimd`."""

class Hstcp(Highspeed):
    """Another name of `Highspeed`."""

class Stcp(Scalable):
    """Another name of `Scalable`."""

class HTcp(Htcp):
    """Another name of `Htcp`."""

class BicTcp(Bic):
    """Another name of `Bic`."""

class Ledbatpp(LedbatPlusPlus):
    """Another name of `LedbatPlusPlus`."""

class TcpLp(Lp):
    """Another name of `Lp`."""

class TcpNv(Nv):
    """Another name of `Nv`."""

class Ctcp(Compound):
    """Another name of `Compound`."""

class WestwoodPlus(Westwood):
    """Another name of `Westwood`."""

class YeahTcp(Yeah):
    """Another name of `Yeah`."""

class Bbr1(Bbr):
    """Another name of `Bbr`."""

class Bbrv1(Bbr):
    """Another name of `Bbr`."""

class Bbrv2(Bbr2):
    """Another name of `Bbr2`."""

class Bbrv3(Bbr3):
    """Another name of `Bbr3`."""

class PccVivace(Vivace):
    """Another name of `Vivace`."""
