# Written by `python tools/write_stubs.py`; do not edit.
from ackclock.catalogue.records import Record

class Standard(Record):
    def __init__(
        self,
        limit: int | None = ...,
    ) -> None: ...

class Limited(Record):
    def __init__(
        self,
        max_ssthresh: float | None = ...,
    ) -> None: ...

class HystartPlusPlus(Record):
    def __init__(
        self,
        min_rtt_thresh: float | str | None = ...,
        max_rtt_thresh: float | str | None = ...,
        min_rtt_divisor: int | None = ...,
        n_rtt_sample: int | None = ...,
        css_growth_divisor: int | None = ...,
        css_rounds: int | None = ...,
        limit: int | None = ...,
    ) -> None: ...

class None_(Record):
    def __init__(self) -> None: ...
