# Written by `python tools/write_stubs.py`; do not edit.
from ackclock.catalogue.records import Record

class Standard(Record):
    r"""Standard slow start.

    limit: Most segments that one acknowledgement adds (RFC 3465: 2). Range: at least 1 (segments).
    """
    def __init__(
        self,
        limit: int | None = 1,
    ) -> None: ...

class Limited(Record):
    r"""Limited slow start.

    max_ssthresh: Window in segments up to which slow start is the standard one. Range: at least 2 (segments).
    """
    def __init__(
        self,
        max_ssthresh: float | None = 100.0,
    ) -> None: ...

class HystartPlusPlus(Record):
    r"""HyStart++.

    min_rtt_thresh: Smallest rise of the round-trip time that counts (`MIN_RTT_THRESH`). Range: at least 0 s.
    max_rtt_thresh: Largest rise that is required (`MAX_RTT_THRESH`). Range: at least 0 s.
    min_rtt_divisor: Divisor of the round-trip time that gives the required rise (`MIN_RTT_DIVISOR`). Range: at least 1.
    n_rtt_sample: Samples that a round must have (`N_RTT_SAMPLE`). Range: at least 1.
    css_growth_divisor: How much slower conservative slow start grows (`CSS_GROWTH_DIVISOR`). Range: at least 2.
    css_rounds: Rounds of conservative slow start (`CSS_ROUNDS`). Range: at least 1.
    limit: Most segments that one acknowledgement adds (L). Range: at least 1 (segments).
    """
    def __init__(
        self,
        min_rtt_thresh: float | str | None = 0.004,
        max_rtt_thresh: float | str | None = 0.016,
        min_rtt_divisor: int | None = 8,
        n_rtt_sample: int | None = 8,
        css_growth_divisor: int | None = 4,
        css_rounds: int | None = 5,
        limit: int | None = 8,
    ) -> None: ...

class None_(Record):
    """No slow start."""
    def __init__(self) -> None: ...
