from collections.abc import Callable
from typing import Any, ClassVar, TypedDict

import numpy as np
import numpy.typing as npt

class InputError(ValueError): ...
class AlgorithmFailure(RuntimeError): ...

class Verdict:
    Pass: ClassVar[Verdict]
    Mark: ClassVar[Verdict]
    Drop: ClassVar[Verdict]

class Window:
    cwnd: float
    ssthresh: float
    pacing_bps: float | None

class Ack:
    now_s: float
    acked: int
    acks: int
    in_flight: int
    rtt_s: float | None
    rtt_low_s: float | None
    min_rtt_s: float | None
    srtt_s: float | None
    round: int
    app_limited: bool
    ecn_echo: bool
    delivered: int
    delivery_rate: float

class Congestion:
    now_s: float
    kind: str
    lost: int
    consecutive: int
    in_flight: int
    in_use: float
    min_rtt_s: float | None
    srtt_s: float | None

class Packet:
    flow: int
    seq: int
    size_bytes: int
    is_ack: bool
    ecn_capable: bool
    waited_s: float

class Queue:
    now_s: float
    packets: int
    bytes: int
    rate_bps: float

class Output(TypedDict):
    summary: str
    tables: dict[str, dict[str, npt.NDArray[np.generic] | list[str]]]

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.uint32]

class NotConverged(RuntimeError): ...

class Rates:
    @property
    def demand(self) -> Floats: ...
    @property
    def leaving(self) -> Floats: ...
    @property
    def sweeps(self) -> int: ...

class FluidCore:
    def __init__(self, capacity: Floats, offsets: Ids, hops: Ids, weight: Floats) -> None: ...
    def max_min(self, demand: Floats) -> Floats: ...
    def clamp(self, demand: Floats) -> Floats: ...
    def brick_wall(self, demand: Floats) -> Rates: ...
    def sweep(
        self,
        demand: Floats,
        rules: str,
        of_link: npt.NDArray[np.uint8],
        tolerance: float,
        limit: int,
    ) -> Rates: ...
    def fixed_point(
        self,
        *,
        policy: str,
        rules: str,
        of_link: npt.NDArray[np.uint8],
        limits: Floats,
        tolerance: float,
        damping: float,
        least_damping: float,
        rounds: int,
        sweep_tolerance: float,
        sweep_limit: int,
    ) -> tuple[Rates, dict[str, Any]]: ...
    def rates(self, demand: Floats, leaving: Floats) -> Rates: ...
    def goodput(self, rates: Rates) -> Floats: ...
    def account(self, rates: Rates, ideal: Floats, access: int) -> dict[str, Any]: ...
    def allocate(self, demand: Floats) -> Allocation: ...
    def add_flow(
        self, demand: Floats, before: Allocation, route: list[int], weight: float, wanted: float
    ) -> tuple[tuple[Ids, Floats], tuple[Ids, Floats], bool]: ...
    def remove_flow(
        self, demand: Floats, before: Allocation, flow: int
    ) -> tuple[tuple[Ids, Floats], tuple[Ids, Floats], bool]: ...

class Allocation:
    @property
    def rate(self) -> Floats: ...
    @property
    def level(self) -> Floats: ...

def shortest_paths(
    nodes: int, src: Ids, dst: Ids, cost: Floats, from_: Ids, to: Ids, /
) -> tuple[Ids, Ids, Ids]: ...
def layout(net: str) -> str: ...
def units_of(what: str) -> list[tuple[str, float]]: ...
def quantity(text: str, what: str) -> float: ...
def buffer_size(text: str) -> tuple[float, str]: ...
def version() -> str: ...
def schema() -> str: ...
def catalogue() -> str: ...
def check(json: str, make: Callable[[str, str, int], object] | None = None) -> str: ...
def predict(json: str, make: Callable[[str, str, int], object] | None = None) -> str: ...
def explain(json: str) -> str: ...
def normalise(json: str) -> str: ...
def pattern(
    json: str, hosts: int, flows: int | None, seed: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64]]: ...
def run(
    json: str,
    progress: Callable[[float, float], object] | None = None,
    make: Callable[[str, str, int], object] | None = None,
    *,
    interval_s: float = 0.2,
) -> Output: ...
