# Written by `python tools/write_stubs.py`; do not edit.
from ackclock.catalogue.records import Record

class Tahoe(Record):
    r"""Tahoe.

    guard: No second fast retransmit for one window of data.
    """
    def __init__(
        self,
        guard: bool | None = True,
    ) -> None: ...

class Reno(Record):
    r"""Reno.

    guard: No fast retransmit for data sent before the last timeout.
    """
    def __init__(
        self,
        guard: bool | None = True,
    ) -> None: ...

class Newreno(Record):
    r"""NewReno.

    impatient: Only the first partial acknowledgement restarts the retransmission timer (RFC 6582's default).
    avoid_burst: At the end of recovery cwnd is at most one segment more than is in flight (RFC 6582 step 3, first option), so that no burst leaves.
    """
    def __init__(
        self,
        impatient: bool | None = True,
        avoid_burst: bool | None = False,
    ) -> None: ...

class Sack(Record):
    r"""SACK.

    prr: Proportional rate reduction (RFC 9937) meters what leaves during recovery.
    """
    def __init__(
        self,
        prr: bool | None = False,
    ) -> None: ...

class Rack(Record):
    r"""RACK-TLP.

    tlp: Tail loss probe (RFC 8985 section 7).
    prr: Proportional rate reduction (RFC 9937) meters what leaves during recovery.
    reo_wnd: Least reordering window, on paths on which packets always overtake each other. Range: at least 0 s.
    """
    def __init__(
        self,
        tlp: bool | None = True,
        prr: bool | None = True,
        reo_wnd: float | str | None = 0,
    ) -> None: ...

class NewReno(Newreno):
    """Another name of `Newreno`."""

class RackTlp(Rack):
    """Another name of `Rack`."""
