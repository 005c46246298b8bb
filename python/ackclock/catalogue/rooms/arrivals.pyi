# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any

from ackclock.catalogue.records import Record

class Poisson(Record):
    r"""Poisson arrivals.

    rate: Mean rate of arrivals. Range: more than 0 (1/s).
    load: Offered payload per second. Range: more than 0 bit/s.
    sizes: Sizes of the transfers' payload.
    start: No arrival before this time of the run. Range: at least 0 s.
    until: No arrival at or after this time of the run. Range: at least 0 s.
    count: Most arrivals. Range: at least 0.
    pairs: Each transfer goes between a pair drawn from 0 to this less one. Range: at least 1.
    schedule: Factors of the intensity from given times on, counted from `start`.
    period: The schedule repeats after this. Range: at least 1e-6 s.
    """
    def __init__(
        self,
        rate: float | None = ...,
        load: float | str | None = ...,
        sizes: Any = ...,
        start: float | str | None = 0,
        until: float | str | None = ...,
        count: int | None = ...,
        pairs: int | None = ...,
        schedule: list[Any] | tuple[Any, ...] | None = ...,
        period: float | str | None = ...,
    ) -> None: ...

class Trace(Record):
    r"""Replay of a list of transfers.

    arrivals: Transfers in order of time.
    until: No arrival at or after this time of the run. Range: at least 0 s.
    count: Most arrivals. Range: at least 0.
    shuffle: Length of bins that are put in random order, by which a list that is not stationary becomes so. Range: more than 0 s.
    file: CSV file with what arrivals would list, columns at, size, pair, back, turns.
    """
    def __init__(
        self,
        arrivals: list[Any] | tuple[Any, ...] | None = ...,
        until: float | str | None = ...,
        count: int | None = ...,
        shuffle: float | str | None = ...,
        file: str | None = ...,
    ) -> None: ...

class Users(Record):
    r"""Users who download files, with idle times.

    users: How many. Range: from 1 to 100000 (users).
    active: How many of them begin with a download. Range: at least 0 (users).
    sizes: Sizes of files.
    idle: Mean idle time. Range: more than 0 s.
    downloads: Downloads of a user, at most. Range: from 1 to 100000.
    """
    def __init__(
        self,
        users: int | None = 10,
        active: int | None = 2,
        sizes: Any = ...,
        idle: float | str | None = 10,
        downloads: int | None = 200,
    ) -> None: ...

class ConnectionVectors(Record):
    r"""Connections with several requests, responses and think times.

    rate: Mean rate of new connections. Range: more than 0 (1/s).
    load: Payload of responses that is offered per second. Range: more than 0 bit/s.
    responses: Sizes of responses.
    requests: Sizes of requests.
    turns: Mean number of turns of a connection. Range: from 1 to 10000 (turns).
    think: Mean think time. Range: more than 0 s.
    think_shape: Shape of the Pareto distribution of think times. Range: more than 1.
    pairs: Each connection goes between a pair drawn from 0 to this less one. Range: at least 1.
    prefill: How long connections have come before `start`: those that are under way then go on. Range: at least 0 s.
    start: No connection before this time of the run. Range: at least 0 s.
    until: No connection at or after this time of the run. Range: at least 0 s.
    """
    def __init__(
        self,
        rate: float | None = ...,
        load: float | str | None = ...,
        responses: Any = ...,
        requests: Any = ...,
        turns: float | None = 3.0,
        think: float | str | None = 3,
        think_shape: float | None = 1.5,
        pairs: int | None = ...,
        prefill: float | str | None = 0,
        start: float | str | None = 0,
        until: float | str | None = ...,
    ) -> None: ...
