from collections.abc import Callable
from typing import ClassVar, TypedDict

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

def version() -> str: ...
def schema() -> str: ...
def catalogue() -> str: ...
def check(json: str, make: Callable[[str, str, int], object] | None = None) -> str: ...
def explain(json: str) -> str: ...
def normalise(json: str) -> str: ...
def pattern(
    json: str, hosts: int, flows: int | None, seed: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64]]: ...
def run(
    json: str,
    progress: Callable[[float, float], object] | None = None,
    make: Callable[[str, str, int], object] | None = None,
) -> Output: ...
