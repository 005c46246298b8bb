# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any

from ackclock.catalogue.records import Record

class Aimd(Record):
    def __init__(
        self,
        a: float | None = ...,
        b: float | None = ...,
        count: Any = ...,
        first_cut: Any = ...,
        beta_ecn: float | None = ...,
    ) -> None: ...

class Aiad(Record):
    def __init__(
        self,
        a: float | None = ...,
        d: float | None = ...,
        count: Any = ...,
        first_cut: Any = ...,
        beta_ecn: float | None = ...,
    ) -> None: ...

class Mimd(Record):
    def __init__(
        self,
        a: float | None = ...,
        b: float | None = ...,
        count: Any = ...,
        first_cut: Any = ...,
        beta_ecn: float | None = ...,
    ) -> None: ...

class Miad(Record):
    def __init__(
        self,
        a: float | None = ...,
        d: float | None = ...,
        count: Any = ...,
        first_cut: Any = ...,
        beta_ecn: float | None = ...,
    ) -> None: ...

class Aimad(Record):
    def __init__(
        self,
        a_i: float | None = ...,
        a_d: float | None = ...,
        b_d: float | None = ...,
        count: Any = ...,
        first_cut: Any = ...,
        beta_ecn: float | None = ...,
    ) -> None: ...

class Maimd(Record):
    def __init__(
        self,
        a_i: float | None = ...,
        b_i: float | None = ...,
        b_d: float | None = ...,
        count: Any = ...,
        first_cut: Any = ...,
        beta_ecn: float | None = ...,
    ) -> None: ...

class Linear(Record):
    def __init__(
        self,
        a_i: float | None = ...,
        b_i: float | None = ...,
        a_d: float | None = ...,
        b_d: float | None = ...,
        count: Any = ...,
        first_cut: Any = ...,
        beta_ecn: float | None = ...,
    ) -> None: ...

class Cubic(Record):
    def __init__(
        self,
        c: float | None = ...,
        beta: float | None = ...,
        beta_ecn: float | None = ...,
        fast_convergence: bool | None = ...,
        reno_friendly: bool | None = ...,
    ) -> None: ...

class Binomial(Record):
    def __init__(
        self,
        alpha: float | None = ...,
        beta: float | None = ...,
        k: float | None = ...,
        l: float | None = ...,
    ) -> None: ...

class Iiad(Record):
    def __init__(
        self,
        alpha: float | None = ...,
        beta: float | None = ...,
    ) -> None: ...

class Sqrt(Record):
    def __init__(
        self,
        alpha: float | None = ...,
        beta: float | None = ...,
    ) -> None: ...

class Aild(Record):
    def __init__(
        self,
        alpha: float | None = ...,
        beta: float | None = ...,
    ) -> None: ...

class RttSquared(Record):
    def __init__(
        self,
        c: float | None = ...,
        b: float | None = ...,
    ) -> None: ...

class Decbit(Record):
    def __init__(
        self,
        threshold: float | None = ...,
        increase: float | None = ...,
        factor: float | None = ...,
    ) -> None: ...

class Dctcp(Record):
    def __init__(
        self,
        g: float | None = ...,
        alpha: float | None = ...,
    ) -> None: ...

class Vegas(Record):
    def __init__(
        self,
        alpha: float | None = ...,
        beta: float | None = ...,
        gamma: float | None = ...,
        loss_factor: float | None = ...,
    ) -> None: ...

class Fast(Record):
    def __init__(
        self,
        form: Any = ...,
        alpha: float | None = ...,
        beta: float | None = ...,
        gamma: float | None = ...,
        interval: float | str | None = ...,
        every: int | None = ...,
        mi_threshold: float | str | None = ...,
        rtt_weight: float | None = ...,
        max_growth: float | None = ...,
        base_rtt: float | str | None = ...,
    ) -> None: ...

class FastRateReduction(Record):
    def __init__(
        self,
        form: Any = ...,
        alpha: float | None = ...,
        beta: float | None = ...,
        gamma: float | None = ...,
        interval: float | str | None = ...,
        every: int | None = ...,
        mi_threshold: float | str | None = ...,
        rtt_weight: float | None = ...,
        max_growth: float | None = ...,
        base_rtt: float | str | None = ...,
        stable_rounds: int | None = ...,
        stable_tolerance: float | None = ...,
        factor: float | None = ...,
        duration: float | None = ...,
        pause: bool | None = ...,
    ) -> None: ...

class FastCorrected(Record):
    def __init__(
        self,
        form: Any = ...,
        alpha: float | None = ...,
        beta: float | None = ...,
        gamma: float | None = ...,
        interval: float | str | None = ...,
        every: int | None = ...,
        mi_threshold: float | str | None = ...,
        rtt_weight: float | None = ...,
        max_growth: float | None = ...,
        base_rtt: float | str | None = ...,
        stable_rounds: int | None = ...,
        stable_tolerance: float | None = ...,
        theta: float | None = ...,
        t_epsilon: float | None = ...,
        reading: Any = ...,
        measurements: int | None = ...,
        attempts: int | None = ...,
        theta_backoff: float | None = ...,
    ) -> None: ...

class Ledbat(Record):
    def __init__(
        self,
        target: float | str | None = ...,
        gain: float | None = ...,
        allowed_increase: float | None = ...,
        base_history: int | None = ...,
        current_filter: int | None = ...,
        slow_start: bool | None = ...,
    ) -> None: ...

class Compound(Record):
    def __init__(
        self,
        alpha: float | None = ...,
        beta: float | None = ...,
        k: float | None = ...,
        gamma: float | None = ...,
        zeta: float | None = ...,
        low_window: float | None = ...,
    ) -> None: ...

class Bbr(Record):
    def __init__(
        self,
        high_gain: float | None = ...,
        cwnd_gain: float | None = ...,
        rtprop_filter_len: float | str | None = ...,
        probe_rtt_duration: float | str | None = ...,
    ) -> None: ...

class Bbr3(Record):
    def __init__(
        self,
        startup_pacing_gain: float | None = ...,
        drain_pacing_gain: float | None = ...,
        probe_up_pacing_gain: float | None = ...,
        probe_down_pacing_gain: float | None = ...,
        cwnd_gain: float | None = ...,
        probe_up_cwnd_gain: float | None = ...,
        probe_rtt_cwnd_gain: float | None = ...,
        loss_thresh: float | None = ...,
        beta: float | None = ...,
        headroom: float | None = ...,
        pacing_margin: float | None = ...,
        startup_full_loss_count: int | None = ...,
        min_rtt_filter_len: float | str | None = ...,
        probe_rtt_interval: float | str | None = ...,
        probe_rtt_duration: float | str | None = ...,
    ) -> None: ...
