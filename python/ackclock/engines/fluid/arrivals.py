"""Finite flows of fluid cases: when they arrive, between which nodes, and how much they carry."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, Required, TypedDict

import numpy as np

from ackclock import _core
from ackclock._util import csv_rows
from ackclock._util.units import parse, quantity_problem
from ackclock.catalogue.entries import Duration, Key, Rate
from ackclock.engines.fluid.graph import Traffic, unknown_node
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

    from ackclock.engines.fluid.graph import Graph
    from ackclock.engines.fluid.net import FluidNet

    Floats = npt.NDArray[np.float64]
    Data = dict[str, Any]

__all__ = [
    "Arrivals",
    "ListedArrivals",
    "PoissonArrivals",
    "Sizes",
    "Transfers",
    "bits",
    "draw_arrivals",
    "pairs_of_trace",
    "plain_trace",
    "trace_rows",
]

_BARE = Key(x_bare=True)
_AMOUNT = "a number of bits (of capacity units times seconds), or text such as 1 MB"


class FixedSize(TypedDict):
    """All flows alike."""

    kind: Literal["fixed"]
    mean: Annotated[float | str, f"The size; {_AMOUNT}"]


class ExponentialSize(TypedDict):
    """Exponential."""

    kind: Literal["exponential"]
    mean: Annotated[float | str, f"The mean; {_AMOUNT}"]


class ParetoSize(TypedDict):
    """Pareto."""

    kind: Literal["pareto"]
    mean: Annotated[float | str, f"The mean; {_AMOUNT}"]
    shape: Annotated[
        float, "Shape of the tail; below 2 the variance is infinite.", Key(exclusiveMinimum=1)
    ]


class BoundedParetoSize(TypedDict):
    """Pareto between two bounds."""

    kind: Literal["bounded-pareto"]
    least: Annotated[float | str, f"Least size; {_AMOUNT}"]
    most: Annotated[float | str, f"Largest size; {_AMOUNT}"]
    shape: Annotated[float, "Shape of the tail.", Key(exclusiveMinimum=0)]


class LogNormalSize(TypedDict):
    """Log-normal."""

    kind: Literal["log-normal"]
    mean: Annotated[float | str, f"The mean; {_AMOUNT}"]
    sigma: Annotated[
        float, "Standard deviation of the natural logarithm.", Key(minimum=0, maximum=20)
    ]


class EmpiricalSize(TypedDict):
    """Values as listed."""

    kind: Literal["empirical"]
    values: Annotated[list[Any], "Sizes, as numbers or text."]
    weights: NotRequired[
        Annotated[
            list[Annotated[float, Key(minimum=0)]],
            "How often each occurs, relative to the others. Left out: all alike.",
        ]
    ]


Sizes = FixedSize | ExponentialSize | ParetoSize | BoundedParetoSize | LogNormalSize | EmpiricalSize
"""Distributions of sizes."""


class OverTime(TypedDict, total=False):
    """What all arrivals have."""

    duration: Annotated[Duration, _BARE, "No flow arrives at or after this time."]
    count: Annotated[int, "Most arrivals.", Key(minimum=1)]
    drain: Annotated[bool, "Whether the run goes on until all flows have ended.", Key(default=True)]
    warmup: Annotated[
        Duration,
        _BARE,
        "Flows that arrive before this time do not count in the means.",
        Key(default=0.0),
    ]
    peak: Annotated[
        Rate, _BARE, "Largest rate of a flow. Left out: no bound.", Key(exclusiveMinimum=0)
    ]
    interval: Annotated[
        Duration,
        _BARE,
        "Length of the intervals over which the use of links is recorded. Left out: it is not.",
    ]
    reaction: Annotated[
        Duration,
        _BARE,
        "Time between two answers of the senders to their goodputs; 0: senders and network are at"
        " their fixed point after every event.",
        Key(default=0.0),
    ]


class PoissonArrivals(OverTime, total=False):
    """Poisson arrivals between the pairs of the traffic, in proportion to their demands."""

    kind: Required[Literal["poisson"]]
    rate: Annotated[
        float, "Flows per second in the whole network; excludes load.", Key(exclusiveMinimum=0)
    ]
    load: Annotated[
        float,
        "Mean load of the most loaded link, 1 being its capacity; excludes rate.",
        Key(exclusiveMinimum=0),
    ]
    sizes: Required[Annotated[Sizes, "Sizes of flows."]]


class ListedArrivals(OverTime, total=False):
    """Flows as listed, in a file or here; without a table traffic."""

    kind: Required[Literal["trace"]]
    file: Annotated[
        str,
        "CSV with time_s, source, target and size_bits; relative to the case's file.",
    ]
    flows: Annotated[list[Any], "Flows as [time, from, to, size], in order of time."]


Arrivals = PoissonArrivals | ListedArrivals
"""The table ``arrivals``."""

_COLUMNS = (
    ("time_s", "time"),
    ("source", "src", "from"),
    ("target", "dst", "to", "destination"),
    ("size_bits", "size"),
)
_QUANTITIES = {"time_s": "duration", "time": "duration", "size_bits": "number", "size": "number"}

_MOST_REPORTED = 20


@dataclass(frozen=True)
class Transfers:
    """Finite flows in order of time.

    Parameters
    ----------
    time
        When each arrives [s], ``(n,)``.
    flow
        The flow of the network whose route and weight it has, ``(n,)``.
    size
        What it carries [bit, where capacities are in bit/s], ``(n,)``.
    """

    time: Floats
    flow: npt.NDArray[np.uint32]
    size: Floats


def bits(value: object) -> float:
    """Read an amount.

    Parameters
    ----------
    value
        A number, or text with a unit of bytes.

    Raises
    ------
    ValueError
        It is not a finite amount above 0.
    """
    if isinstance(value, str):
        problem = quantity_problem(value, "size")
        if problem:
            raise ValueError(problem)
        amount = 8.0 * parse(value, "size")
    else:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        amount = float(value) if is_number else math.nan  # type: ignore[arg-type]
    if not (math.isfinite(amount) and amount > 0):
        message = f"{value!r} is no size; expected a number above 0, or text such as 1 MB"
        raise ValueError(message)
    return amount


def plain_sizes(sizes: Data) -> Data:
    """Write the sizes of a distribution as numbers.

    Parameters
    ----------
    sizes
        Table ``sizes``, right in form.

    Raises
    ------
    ScenarioError
        Every amount that is none, and a distribution that cannot be.
    """
    problems: list[Problem] = []
    plain = dict(sizes)

    def amount(value: object, path: str) -> float:
        try:
            return bits(value)
        except ValueError as error:
            problems.append(Problem(f"arrivals.sizes.{path}", str(error)))
            return 1.0

    for key in ("mean", "least", "most"):
        if key in plain:
            plain[key] = amount(plain[key], key)
    if "values" in plain:
        plain["values"] = [amount(v, f"values[{i}]") for i, v in enumerate(plain["values"])]
    if problems:
        raise ScenarioError(problems)
    try:
        _core.mean_size(json.dumps(plain))
    except _core.InputError as error:
        core_problems = json.loads(str(error))
        raise ScenarioError(
            [Problem(f"arrivals.{item['path']}", item["message"]) for item in core_problems]
        ) from None
    return plain


TRANSFER_BYTES = 200.0
"""A transfer: its arrival, its state in the core, and its row [bytes]."""

SAMPLE_BYTES = 64.0
"""A link in an interval: its mean rate in the core, and its row [bytes]."""


def predict_transfers(arrivals: Data, rate: float) -> float:
    """Predict how many transfers are drawn.

    Parameters
    ----------
    arrivals
        Table ``arrivals`` of the kind ``poisson``.
    rate
        Transfers a second.
    """
    count = float(arrivals.get("count", math.inf))
    until = parse(arrivals["duration"], "duration") if "duration" in arrivals else math.inf
    return min(count, rate * until)


def memory_bytes(transfers: float, arrivals: Data, links: int, end_s: float) -> float:
    """Predict the memory of a run over time [bytes].

    Parameters
    ----------
    transfers
        Their number.
    arrivals
        Table ``arrivals``.
    links
        Links of the network.
    end_s
        When the last transfer arrives [s].
    """
    samples = 0.0
    if "interval" in arrivals:
        until = parse(arrivals["duration"], "duration") if "duration" in arrivals else end_s
        samples = links * until / parse(arrivals["interval"], "duration")
    return transfers * TRANSFER_BYTES + samples * SAMPLE_BYTES


def check_memory(transfers: float, arrivals: Data, links: int, end_s: float = 0.0) -> None:
    """Refuse arrivals that would need more memory than runs may take.

    Parameters
    ----------
    transfers, given, links, end_s
        As of `memory_bytes`.

    Raises
    ------
    ScenarioError
        They would; the message has the numbers.
    """
    from ackclock.scenario.memory import SHARE, allowed_bytes

    needed, allowed = memory_bytes(transfers, arrivals, links, end_s), allowed_bytes()
    if needed <= allowed:
        return
    message = (
        f"the run would need about {needed / 2**30:,.3g} GiB of memory for {transfers:,.0f}"
        f" transfers and their samples, of which {allowed / 2**30:,.3g} GiB may be used"
        f" (--memory-share, {SHARE}); expected fewer transfers or a longer interval"
    )
    raise ScenarioError([Problem("arrivals", message)])


def draw_arrivals(arrivals: Data, net: FluidNet, share: Floats | None, seed: int) -> Transfers:
    """Draw Poisson arrivals.

    Parameters
    ----------
    arrivals
        Table ``arrivals`` of the kind ``poisson``, right in form.
    net
        Routes of the pairs.
    share
        How often each pair is drawn, relative to the others; None: all alike.
    seed
        Times, pairs and sizes have separate streams.

    Raises
    ------
    ScenarioError
        Neither or both of ``rate`` and ``load``, no end, sizes that cannot be, no pair with a
        demand.
    """
    problems = []
    if ("rate" in arrivals) == ("load" in arrivals):
        problems.append(Problem("arrivals", "needs one of rate and load"))
    if "duration" not in arrivals and "count" not in arrivals:
        problems.append(Problem("arrivals", "needs duration or count; else arrivals never end"))
    share_of_flow = np.ones(net.n_flows) if share is None else share
    if not np.isfinite(share_of_flow).all():
        message = "has flows with a demand and flows without; expected all or none"
        problems.append(Problem("traffic", message))
    elif share_of_flow.sum() <= 0:
        problems.append(Problem("traffic", "has no pair with a demand above 0"))
    if problems:
        raise ScenarioError(problems)
    sizes = plain_sizes(arrivals["sizes"])
    spec = json.dumps(sizes)
    flows = np.repeat(share_of_flow / share_of_flow.sum(), np.diff(net.offsets))
    loads = np.bincount(net.hops, flows, net.n_links) / net.capacity
    load_per_rate = float(loads.max()) * _core.mean_size(spec)
    rate = arrivals["rate"] if "rate" in arrivals else arrivals["load"] / load_per_rate
    check_memory(predict_transfers(arrivals, rate), arrivals, net.n_links)
    time, flow, size = _core.draw_transfers(
        share=np.ascontiguousarray(share_of_flow, dtype=np.float64),
        sizes=spec,
        rate=arrivals.get("rate"),
        load=arrivals.get("load"),
        load_per_rate=load_per_rate,
        seed=seed,
        until=parse(arrivals["duration"], "duration") if "duration" in arrivals else math.inf,
        count=arrivals.get("count", 2**63),
    )
    return Transfers(time, flow, size)


Row = tuple[str, float, str, str, float]
"""Its place in the document, time, source, target, size."""


def trace_rows(arrivals: Data, folder: Path) -> list[Row]:
    """Read a trace.

    Parameters
    ----------
    arrivals
        Table ``arrivals`` of the kind ``trace``, right in form.
    folder
        What the file is relative to.

    Raises
    ------
    ScenarioError
        Neither or both of ``file`` and ``flows``, a file that cannot be read, every row that is
        wrong or not in order of time.
    """
    if ("file" in arrivals) == ("flows" in arrivals):
        raise ScenarioError([Problem("arrivals", "needs one of file and flows")])
    problems: list[Problem] = []
    unchecked_rows: list[tuple[str, str, Sequence[Any]]] = []
    if "file" in arrivals:
        path = folder / arrivals["file"]
        try:
            read = csv_rows.rows(path, *_COLUMNS, quantities=_QUANTITIES)
        except csv_rows.CsvError as error:
            raise ScenarioError([Problem("arrivals.file", error.of(path))]) from None
        names = read[0][1] if read else {}
        keys = [next((name for name in choice if name in names), "") for choice in _COLUMNS]
        for line, row in read:
            where = f"{path}, line {line}: "
            unchecked_rows.append(("arrivals.file", where, [_number(row[key]) for key in keys]))
    else:
        for i, row in enumerate(arrivals["flows"]):
            if not (isinstance(row, list | tuple) and len(row) == 4):
                message = f"{row!r} is not a flow; expected [time, from, to, size]"
                problems.append(Problem(f"arrivals.flows[{i}]", message))
                continue
            unchecked_rows.append((f"arrivals.flows[{i}]", "", row))
    rows: list[Row] = []
    last = 0.0
    for path, where, (when, src, dst, size) in unchecked_rows:
        wrong = quantity_problem(when, "duration")
        if wrong:
            problems.append(Problem(path, f"{where}time: {wrong}"))
            continue
        time = parse(when, "duration")
        if time < last:
            message = f"{where}time {time:g} s is before the one above; expected times in order"
            problems.append(Problem(path, message))
        last = time
        try:
            rows.append((where or f"{path}: ", time, str(src), str(dst), bits(size)))
        except ValueError as error:
            problems.append(Problem(path, f"{where}size: {error}"))
    if "duration" in arrivals:
        end = parse(arrivals["duration"], "duration")
        rows = [row for row in rows if row[1] < end]
    if not rows and not problems:
        problems.append(Problem("arrivals", "the trace has no flow before its end"))
    if problems:
        raise ScenarioError(problems[:_MOST_REPORTED])
    return rows[: arrivals.get("count", len(rows))]


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def pairs_of_trace(rows: Sequence[Row], graph: Graph) -> tuple[Traffic, Transfers]:
    """Make the pairs of a trace, in the order in which they occur, and its flows.

    Parameters
    ----------
    rows
        As `trace_rows` gave them.
    graph
        The network.

    Raises
    ------
    ScenarioError
        Every unknown node, and every flow to itself.
    """
    number = {name: i for i, name in enumerate(graph.nodes)}
    problems: list[Problem] = []
    pairs: dict[tuple[int, int], int] = {}
    flow = []
    for where, _, src, dst, _ in rows:
        unknown = [name for name in dict.fromkeys((src, dst)) if name not in number]
        message = "; ".join(unknown_node(name, number) for name in unknown)
        if not unknown and src == dst:
            message = f'"{src}" sends to itself; expected two different nodes'
        if message:
            problems.append(Problem("arrivals", f"{where}{message}"))
            continue
        pair = number[src], number[dst]
        flow.append(pairs.setdefault(pair, len(pairs)))
    if problems:
        raise ScenarioError(problems[:_MOST_REPORTED])
    ends = np.array(list(pairs), dtype=np.uint32).reshape(-1, 2)
    traffic = Traffic(ends[:, 0].copy(), ends[:, 1].copy())
    transfers = Transfers(
        np.array([row[1] for row in rows], dtype=np.float64),
        np.array(flow, dtype=np.uint32),
        np.array([row[4] for row in rows], dtype=np.float64),
    )
    return traffic, transfers


def plain_trace(arrivals: Data, rows: Sequence[Row]) -> Data:
    """Write a trace as a table ``arrivals`` that names no file.

    Parameters
    ----------
    arrivals
        The table.
    rows
        As `trace_rows` gave them.
    """
    without_file = {key: value for key, value in arrivals.items() if key != "file"}
    return {**without_file, "flows": [[time, src, dst, size] for _, time, src, dst, size in rows]}
