# Written by `python tools/write_stubs.py`; do not edit.
from ackclock.catalogue.records import Record

class Standard(Record):
    r"""Standard slow start.

    limit: Most segments that one acknowledgement adds (RFC 3465: 2). Range: at least 1 (segments).
    """
    def __init__(
        self,
        limit: int | None = ...,
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

class Hystart(Record):
    r"""HyStart of Linux.

    low_window: Least window at which slow start may end (`hystart_low_window`). Range: at least 2 (segments).
    ack_delta: Largest gap between acknowledgements of a train (`hystart_ack_delta_us`). Range: at least 0 s.
    ack_train: Detect by the length of the ACK train.
    delay: Detect by the rise of the delay.
    min_samples: Samples at the beginning of a round that count (`HYSTART_MIN_SAMPLES`). Range: at least 1.
    """
    def __init__(
        self,
        low_window: float | None = 16.0,
        ack_delta: float | str | None = 0.002,
        ack_train: bool | None = True,
        delay: bool | None = True,
        min_samples: int | None = 8,
    ) -> None: ...

class Search(Record):
    r"""SEARCH.

    window_factor: Window of the measurement in first round trips (`WINDOW_SIZE_FACTOR`). Range: more than 0 (round trips).
    threshold: Share by which deliveries must fall behind (`THRESH`). Range: more than 0 and less than 1.
    limit: Most segments that one acknowledgement adds. Range: at least 1 (segments).
    drain: Whether the window is lowered before slow start ends, by a segment for each three acknowledged, to what was delivered in the last time of a first round trip.
    """
    def __init__(
        self,
        window_factor: float | None = 3.5,
        threshold: float | None = 0.26,
        limit: int | None = 1,
        drain: bool | None = False,
    ) -> None: ...

class CarefulResume(Record):
    r"""Careful Resume.

    saved_cwnd: Window of the earlier connection. Range: at least 4 (segments).
    saved_rtt: Smallest round trip of the earlier connection. Range: more than 0 s.
    max_jump: Largest window to jump to. Range: at least 2 (segments).
    beta: Part of what the path was seen to hold that ssthresh keeps after a retreat. Range: from 0.5 to 1.
    limit: Most segments that one acknowledgement adds in slow start. Range: at least 1 (segments).
    """
    def __init__(
        self,
        saved_cwnd: float | None = ...,
        saved_rtt: float | str | None = ...,
        max_jump: float | None = ...,
        beta: float | None = 0.5,
        limit: int | None = 1,
    ) -> None: ...

class RapidStart(Record):
    r"""Rapid Start.

    queue_delay: A queue builds when the least sample of a round trip is longer than the smallest by this. Range: more than 0 s.
    queue_part: Or by this part of the smallest. Range: more than 0.
    """
    def __init__(
        self,
        queue_delay: float | str | None = 0.004,
        queue_part: float | None = 0.1,
    ) -> None: ...

class None_(Record):
    """No slow start."""
    def __init__(self) -> None: ...

class SlowStart(Standard):
    """Another name of `Standard`."""

class Hystartpp(HystartPlusPlus):
    """Another name of `HystartPlusPlus`."""
