from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypedDict

import numpy as np
import numpy.typing as npt

class InputError(ValueError): ...
class AlgorithmFailure(RuntimeError): ...
class EngineFault(RuntimeError): ...

class MachineError(RuntimeError):
    """Exists on Linux only."""

class Emulator:
    """Exists on Linux only."""

    def __init__(self, json: str) -> None: ...
    def describe(self) -> str: ...
    def start(self, sender: int, receiver: int, origin_ns: int, captures: bool) -> int: ...
    def wait(self, most_s: float) -> bool: ...
    def stop(self) -> None: ...
    def finish(self) -> dict[str, Any]: ...

class Verdict:
    """What an AQM decides."""

    Pass: ClassVar[Verdict]
    """Let the packet pass."""
    Mark: ClassVar[Verdict]
    """Mark it CE, or drop it if it is not ECN-capable."""
    Drop: ClassVar[Verdict]
    """Drop it."""

class Window:
    """The congestion window of a flow: a method sets what it changes."""

    cwnd: float
    """Congestion window [segments]."""
    ssthresh: float
    """Slow start threshold [segments]; follows a window that is lowered, unless it is set."""
    pacing_bps: float | None
    """Rate at which segments leave [bit/s]; None: they are clocked by acknowledgements."""

class Ack:
    """What was acknowledged since the last call."""

    @property
    def now_s(self) -> float:
        """The present [s]."""
    @property
    def acked(self) -> int:
        """Segments newly acknowledged."""
    @property
    def acks(self) -> int:
        """Acknowledgements that did so."""
    @property
    def in_flight(self) -> int:
        """Segments in flight."""
    @property
    def rtt_s(self) -> float | None:
        """Mean of the round-trip samples since the last call [s]; None if there was none."""
    @property
    def rtt_low_s(self) -> float | None:
        """The smallest of them [s]."""
    @property
    def min_rtt_s(self) -> float | None:
        """Smallest sample of the flow [s]."""
    @property
    def srtt_s(self) -> float | None:
        """Smoothed round-trip time (RFC 6298) [s]."""
    @property
    def round(self) -> int:
        """Count of round trips."""
    @property
    def app_limited(self) -> bool:
        """Whether the window was not what limited the sender when this data left."""
    @property
    def ecn_echo(self) -> bool:
        """Whether an acknowledgement carried ECN-Echo."""
    @property
    def delivered(self) -> int:
        """Segments delivered in total."""
    @property
    def delivery_rate(self) -> float:
        """Delivery rate over the last round trip [segments/s]."""

class Lost:
    """A segment that was declared lost."""

    @property
    def now_s(self) -> float:
        """The present [s]."""
    @property
    def seq(self) -> int:
        """Its number."""
    @property
    def sent_s(self) -> float:
        """When it left [s]."""
    @property
    def sent_in_flight(self) -> int:
        """Segments in flight just after it left, itself included."""
    @property
    def lost_since(self) -> int:
        """Segments declared lost since it left, itself included."""
    @property
    def app_limited(self) -> bool:
        """The application limited the sender when it left."""

class Congestion:
    """Why the window must be reduced."""

    @property
    def now_s(self) -> float:
        """The present [s]."""
    @property
    def kind(self) -> Literal["loss", "ecn", "timeout"]:
        """What happened."""
    @property
    def lost(self) -> int:
        """Segments known lost (loss)."""
    @property
    def consecutive(self) -> int:
        """Timeouts in a row (timeout)."""
    @property
    def in_flight(self) -> int:
        """Segments in flight when it happened."""
    @property
    def in_use(self) -> float:
        """The window that a decrease starts from (RFC 5681): cwnd, or what was in flight [segments]."""
    @property
    def min_rtt_s(self) -> float | None:
        """Smallest sample of the flow [s]."""
    @property
    def srtt_s(self) -> float | None:
        """Smoothed round-trip time [s]."""

class Packet:
    """A packet in question."""

    @property
    def flow(self) -> int:
        """Number of its flow."""
    @property
    def seq(self) -> int:
        """Segment number, or the next one expected (acknowledgements)."""
    @property
    def size_bytes(self) -> int:
        """Size on the wire [B]."""
    @property
    def is_ack(self) -> bool:
        """Whether it is an acknowledgement."""
    @property
    def ecn_capable(self) -> bool:
        """Whether it can be marked."""
    @property
    def waited_s(self) -> float:
        """Time in this queue [s]; 0 on arrival."""

class Queue:
    """The queue in question, without the packet."""

    @property
    def now_s(self) -> float:
        """The present [s]."""
    @property
    def packets(self) -> int:
        """Packets waiting."""
    @property
    def bytes(self) -> int:
        """Bytes waiting."""
    @property
    def rate_bps(self) -> float:
        """Rate of the link at the start [bit/s]."""

class Output(TypedDict):
    summary: str
    tables: dict[str, dict[str, Any]]  # by table and column: memory views, lists of words
    threads: int
    reason: str | None

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
        policies: str,
        of_sender: npt.NDArray[np.uint8],
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
    def simulate(
        self,
        *,
        time: Floats,
        flow: Ids,
        size: Floats,
        peak: Floats,
        until: float,
        drain: bool,
        interval: float | None,
        senders: dict[str, Any] | None,
        progress: Callable[[float, float], object] | None,
    ) -> dict[str, Any]: ...

class IgpCore:
    def __init__(
        self,
        *,
        nodes: int,
        src: Ids,
        dst: Ids,
        cost: Floats,
        capacity: Floats,
        source: Ids,
        target: Ids,
        volume: Floats,
        flows: Ids | None = None,
        first: Ids | None = None,
        seed: int = 1,
        same: bool = False,
        given: tuple[Ids, Ids, Ids] | None = None,
    ) -> None: ...
    def loads(
        self, *, up: npt.NDArray[np.bool_], progress: Callable[[int, int], object] | None = None
    ) -> tuple[Floats, float]: ...
    def kept(
        self,
        *,
        up: npt.NDArray[np.bool_],
        rounds: int,
        progress: Callable[[int, int], object] | None = None,
    ) -> tuple[Floats, Floats, bool]: ...
    def failures(
        self,
        *,
        link_offsets: Ids,
        links: Ids,
        node_offsets: Ids,
        nodes: Ids,
        across: bool,
        memory: int,
        progress: Callable[[int, int], object] | None = None,
    ) -> dict[str, Any]: ...
    def paths(self, *, each: bool) -> tuple[Ids, Ids, Ids, Ids, Ids]: ...
    def search_weights(
        self,
        *,
        offsets: Ids,
        links: Ids,
        tries: int,
        most: int,
        seed: int,
        progress: Callable[[int, int], object] | None = None,
    ) -> tuple[Floats, float, list[tuple[int, float]]]: ...

def draw_transfers(
    *,
    share: Floats,
    sizes: str,
    rate: float | None,
    load: float | None,
    load_per_rate: float,
    seed: int,
    until: float,
    count: int,
) -> tuple[Floats, Ids, Floats]: ...
def mean_size(sizes: str) -> float: ...
def shortest_paths(
    nodes: int, src: Ids, dst: Ids, cost: Floats, from_: Ids, to: Ids, /
) -> tuple[Ids, Ids, Ids]: ...
def layout(net: str) -> str: ...
def units_of(what: str) -> list[tuple[str, float]]: ...
def quantity(text: str, what: str) -> float: ...
def buffer_size(text: str) -> tuple[float, str]: ...
def find_warm_up(values: list[float]) -> tuple[int, float, float, bool] | None: ...
def range_words(schema: str) -> str | None: ...
def version() -> str: ...
def schema() -> str: ...
def catalogue() -> str: ...
def recorded_tables() -> str: ...
def shipped() -> str: ...
def nearest(given: str, names: list[str]) -> str | None: ...
def suggestion(given: str, names: list[str]) -> str: ...

class Rooms:
    def __init__(self, catalogue: str) -> None: ...
    @staticmethod
    def offered() -> Rooms: ...

FlowRow = tuple[list[int], int, bool, bool, int, int, tuple[int, int] | None]

class PacketRows:
    def __init__(self, columns: dict[str, Any]) -> None: ...
    def sizes(self, flows: int) -> list[tuple[int, int, tuple[int, int] | None, bool]]: ...
    def departures(self, links: int) -> list[int]: ...
    def write(
        self,
        flows: list[FlowRow],
        interfaces: list[tuple[int, str]],
        program: str,
        comment: str,
    ) -> bytes: ...

class Form:
    def __init__(self, schema: str, rooms: Rooms) -> None: ...
    def problems(
        self, document: Any, typed: list[str], probe: Callable[[str], str] | None = None
    ) -> str: ...
    def hidden(self, document: Any, places: list[str], probe: Callable[[str], str]) -> str: ...
    def bare(self, document: Any) -> list[tuple[str, str]]: ...

def check_typed(json: str) -> str: ...
def first_problems(json: str, make: Callable[[str, str, int], object] | None = None) -> str: ...
def check(json: str, make: Callable[[str, str, int], object] | None = None) -> str: ...
def estimate(
    json: str,
    make: Callable[[str, str, int], object] | None = None,
    most_cpu_s: float | None = None,
) -> str: ...
def predict(
    json: str,
    make: Callable[[str, str, int], object] | None = None,
    most_cpu_s: float | None = None,
) -> str: ...
def review(
    json: str,
    make: Callable[[str, str, int], object] | None = None,
    most_cpu_s: float | None = None,
) -> str: ...
def explain(json: str) -> str: ...
def parallelism(json: str) -> str: ...
def plan(json: str) -> str: ...
def normalise(json: str) -> str: ...
def canonical(json: str) -> str: ...
def pattern(
    json: str, hosts: int, flows: int | None, seed: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64]]: ...
def run(
    json: str,
    progress: Callable[[float, float], object] | None = None,
    make: Callable[[str, str, int], object] | None = None,
    *,
    interval_s: float = 0.2,
    take: Callable[[dict[str, dict[str, Any]], list[list[str]] | None], object] | None = None,
    rows: int = 262144,
    threads: int = 1,
    most: int = 1,
    most_cpu_s: float | None = None,
    always: bool = False,
) -> Output: ...
