# Written by `python tools/write_stubs.py`; do not edit.
from ackclock.catalogue.records import Record

class Tahoe(Record):
    def __init__(
        self,
        guard: bool | None = ...,
    ) -> None: ...

class Reno(Record):
    def __init__(
        self,
        guard: bool | None = ...,
    ) -> None: ...

class Newreno(Record):
    def __init__(
        self,
        impatient: bool | None = ...,
        avoid_burst: bool | None = ...,
    ) -> None: ...

class Sack(Record):
    def __init__(
        self,
        prr: bool | None = ...,
    ) -> None: ...

class Rack(Record):
    def __init__(
        self,
        tlp: bool | None = ...,
        prr: bool | None = ...,
    ) -> None: ...
