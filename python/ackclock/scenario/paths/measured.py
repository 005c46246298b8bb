"""The kind of network "measured": a dumbbell whose bottleneck does what a measurement shows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock._util.units import UNITS, parse
from ackclock.catalogue.network_kinds import NetworkKind, quantity
from ackclock.errors import Problem, ScenarioError
from ackclock.scenario.paths.dumbbell import RULES, with_reverse
from ackclock.scenario.paths.measurement import FORMATS, QUANTITIES, Layout, Measurements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    Probe = tuple[float, ...]

__all__ = ["MEASURED"]

Data = dict[str, Any]

_READ = "read"
"""Key of the dumbbell that was read from files."""
_BACK = "back_schedule"
"""Key of the schedule from right to left, which a dumbbell does not have."""
_MOST_STEPS = 1_000_000
_LEAST_RTT_S = 1e-6

_FORMAT = {
    "enum": ["auto", *FORMATS],
    "default": "auto",
    "description": "Format of the files: ping, of Linux, BSD, macOS and Windows; irtt, its JSON;"
    " iperf3, its JSON; lens, the CSV of that dataset; csv, with columns of any names; auto, by the"
    " content.",
}
_RULES: Data = {
    "files": {
        "type": "array",
        "items": {"type": "string"},
        "minItems": 1,
        "description": "Files, plain or packed with gzip, relative to the scenario file: one with"
        " round trips, losses, rates, or several of them, each with something else. Each begins at"
        " 0 s.",
    },
    "format": _FORMAT,
    "columns": {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": f"The column of the {text}."}
            for name, text in (
                ("time", "time"),
                ("rtt", "round trip"),
                ("loss", "ratio lost"),
                ("rate", "rate"),
            )
        },
        "additionalProperties": False,
        "description": "Names of a CSV file's columns. Left out: time or timestamp, rtt_ms or"
        " latency_ms (or another unit), loss or drop_rate, rate_mbps (or another unit).",
    },
    "units": {
        "type": "object",
        "properties": {
            name: {
                "enum": [*UNITS[kind]] if kind in UNITS else ["ratio", "%"],
                "description": "Unit of its bare numbers.",
            }
            for name, kind in QUANTITIES.items()
        },
        "additionalProperties": False,
        "description": "Units of a CSV file's bare numbers. Left out: those of the columns' names,"
        " and s for the time.",
    },
    "interval": quantity(
        "duration", "s", "Time between the probes of a ping log that has no times.", 1.0
    ),
    "start": quantity("duration", "s", "Where in the files the run begins.", 0.0),
    "repeat": {
        "type": "integer",
        "minimum": 1,
        "maximum": 10_000,
        "default": 1,
        "description": "How often what was measured happens, one after another. After its end the"
        " last window holds on.",
    },
    "every": quantity(
        "duration",
        "s",
        "Length of the windows: in each the path has its median round trip, its mean rate and its"
        " share of losses.",
        1.0,
    ),
    "data": {
        "enum": ["back", "ahead"],
        "default": "back",
        "description": "Which way the data of the flows go, seen from where it was measured: back,"
        " as a download; ahead, as an upload. What round trips have beyond the least is that way.",
    },
    "rate": quantity("rate", "bit/s", "Rate of the bottleneck, where no file has rates."),
    "rtt": quantity("duration", "s", "Round trip, where no file has round trips."),
    _READ: {
        "type": "object",
        "description": "A dumbbell: what was read of the files. A scenario has it after they were"
        " read, and no file needs to be there then.",
    },
    **RULES,
    "buffer": {
        "x-quantity": "buffer size",
        "default": "1 bdp",
        "description": "Buffer of the bottleneck.",
    },
}


def _resolve(net: Data, folder: Path) -> Data:
    """Read the files."""
    if _READ in net:
        return net
    from ackclock.scenario.paths.measurement_files import read_measurements

    layout = Layout(
        net.get("columns", {}), net.get("units", {}), parse(net.get("interval", 1.0), "duration")
    )
    measurements = Measurements()
    for index, name in enumerate(net["files"]):
        where = f"net.files[{index}]"
        measured = read_measurements(folder / name, net.get("format", "auto"), layout, where)
        for series in ("round trips", "losses", "rates"):
            if _has(measurements, series) and _has(measured, series):
                message = (
                    f"{folder / name} and a file before it have {series}; expected one of them"
                )
                raise ScenarioError([Problem(where, message)])
        measurements.probes += measured.probes
        measurements.rates += measured.rates
        measurements.end = max(measurements.end, measured.end)
    return {"kind": "measured", "files": net["files"], _READ: _dumbbell(net, measurements)}


def _expand(data: Data) -> Data:
    """Copy a scenario with what was read in the core's form."""
    net = {**data["net"][_READ]}
    back = net.pop(_BACK, None)
    return with_reverse(data, net, "schedule", back)


def _has(seen: Measurements, what: str) -> bool:
    if what == "rates":
        return bool(seen.rates)
    columns = slice(1, 2) if what == "round trips" else slice(2, 5)
    return any(not math.isnan(value) for probe in seen.probes for value in probe[columns])


def _dumbbell(net: Data, measurements: Measurements) -> Data:
    start, every = (
        parse(net.get(key, left), "duration") for key, left in (("start", 0), ("every", 1))
    )
    if every <= 0 or start < 0:
        key = "every" if every <= 0 else "start"
        raise ScenarioError([Problem(f"net.{key}", "is out of range; expected more than 0 s")])
    if start >= max(measurements.end, every):
        message = f"is after the end of what was measured, {measurements.end:g} s; expected less"
        raise ScenarioError([Problem("net.start", message)])
    # Times in a file are rounded: what is a millionth beyond a window is none of the next.
    count = math.ceil((max(measurements.end, every) - start) / every - 1e-6)
    repeat = int(net.get("repeat", 1))
    if count * repeat > _MOST_STEPS:
        message = f"gives {count * repeat:,} windows; expected at most {_MOST_STEPS:,}"
        raise ScenarioError([Problem("net.every", message)])
    windows = _Windows(start, every, count, repeat)
    dumbbell: Data = {
        "kind": "dumbbell",
        "pairs": net.get("pairs", 1),
        "buffer": net.get("buffer", "1 bdp"),
    }
    if "qdisc" in net:
        dumbbell["qdisc"] = net["qdisc"]
    return (
        dumbbell
        | _delays(net, measurements, windows)
        | _rates_and_losses(net, measurements, windows)
    )


@dataclass(frozen=True)
class _Windows:
    """Equal windows of a measurement, which may follow each other more than once."""

    start: float
    every: float
    count: int
    repeat: int

    def summarise(
        self, rows: Iterable[tuple[float, float]], by: Callable[[list[float]], float]
    ) -> list[float | None]:
        """Give one value a window; None where nothing was measured."""
        values: list[list[float]] = [[] for _ in range(self.count)]
        for at, value in rows:
            index = math.floor((at - self.start) / self.every)
            if 0 <= index < self.count and not math.isnan(value):
                values[index].append(value)
        return [by(window) if window else None for window in values]

    def steps(self, **series: list[float | None]) -> list[Data]:
        """Give the steps at which one of several series changes."""
        steps: list[Data] = []
        last: Data = {}
        for number in range(self.count * self.repeat):
            index = number % self.count
            now = {name: values[index] for name, values in series.items() if values}
            changes = {
                name: value
                for name, value in now.items()
                if value is not None and last.get(name) != value
            }
            if changes:
                steps.append({"at": number * self.every, **changes})
                last |= changes
        return steps


def _delays(net: Data, measurements: Measurements, windows: _Windows) -> Data:
    """The least round trip, and on the data's way what each window's median has beyond it."""
    from statistics import median

    trips = [(probe[0], probe[1]) for probe in measurements.probes]
    medians = windows.summarise(trips, median)
    defined = [value for value in medians if value is not None]
    if not defined:
        return {"rtt": _only(net, "rtt", "round trips", is_measured=False)}
    _only(net, "rtt", "round trips", is_measured=True)
    least = min(window for window in windows.summarise(trips, min) if window is not None)
    least = max(least, _LEAST_RTT_S)
    extras = [None if value is None else max(0.0, value - least) for value in medians]
    steps = windows.steps(extra=extras)
    delays = {"kind": "delay-steps", "steps": steps, "keep_order": True}
    return {"rtt": least, "impairments": [delays]}


def _only(net: Data, key: str, what: str, *, is_measured: bool) -> Any:
    """The value of a key that is for what no file has."""
    if is_measured and key in net:
        message = f"is given, and the files have {what}; expected one of them"
        raise ScenarioError([Problem(f"net.{key}", message)])
    if not is_measured and key not in net:
        message = f"is missing, and no file has {what} from net.start on; expected one of them"
        raise ScenarioError([Problem(f"net.{key}", message)])
    return net.get(key)


def _rates_and_losses(net: Data, measurements: Measurements, windows: _Windows) -> Data:
    from statistics import fmean

    rates = windows.summarise(measurements.rates, fmean)
    defined = [rate for rate in rates if rate is not None]
    _only(net, "rate", "rates", is_measured=bool(defined))
    if defined and not max(defined):
        raise ScenarioError([Problem("net.files", "all rates are 0; expected one that is not")])
    same, other = (4, 3) if net.get("data", "back") == "back" else (3, 4)
    settings: Data = {"rate": fmean(defined) if defined else net["rate"]}
    for key, losses, series in (
        (
            "schedule",
            _losses(measurements.probes, windows, 2, same),
            {"rate": rates if defined else []},
        ),
        (_BACK, _losses(measurements.probes, windows, other), {}),
    ):
        steps = windows.steps(**series, loss=losses if any(losses) else [])
        if steps:
            settings[key] = {"steps": steps}
    return settings


def _losses(probes: list[Probe], windows: _Windows, *columns: int) -> list[float | None]:
    """The share lost in each window, the sum of some columns."""
    from statistics import fmean

    rows = []
    for probe in probes:
        known = [probe[column] for column in columns if not math.isnan(probe[column])]
        if known:
            rows.append((probe[0], sum(known)))
    return windows.summarise(rows, fmean)


MEASURED = NetworkKind(
    "A dumbbell whose bottleneck has the round trips, losses and rates of a measurement: of ping,"
    " IRTT, iperf3, LENS or any CSV file.",
    _RULES,
    ("files",),
    resolve=_resolve,
    expand=_expand,
)
"""What a measured path consists of."""
