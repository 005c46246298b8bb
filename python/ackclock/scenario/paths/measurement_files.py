"""Measurements of a path as people have them: probes with their round trips, and rates.

Formats, after their documents and public samples: ping of iputils (with or without ``-D``), of BSD
and macOS, and of Windows; IRTT's JSON (irtt-client(1), format 1); iperf3's JSON; the two CSV forms
of LENS (Zhao and Pan, MMSys 2024); and CSV with columns of any names.
"""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ackclock._util import csv_rows
from ackclock._util.foreign_files import ForeignFileError, read_bytes, unpack
from ackclock._util.json_text import JsonError, parse_json
from ackclock._util.units import UNITS
from ackclock.errors import Problem, ScenarioError
from ackclock.scenario.paths.iperf3_log import Iperf3Error, read_iperf3_totals
from ackclock.scenario.paths.measurement import (
    ARRIVED,
    LOST_SOMEWHERE,
    QUANTITIES,
    FormatError,
    Layout,
    Measurements,
    decode,
)
from ackclock.scenario.paths.ping_log import read_ping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Probe = tuple[float, ...]

__all__ = ["read_measurements"]

_ISO_UTC = re.compile(r"^\d{4}-\d\d-\d\d[T ]")

_HEADS = {
    "time": ("time", "timestamp", "t", "at", "datetimestamp_utc"),
    "rtt": ("rtt_s", "latency_s", "ping_s", "pop_ping_latency_s"),
    "loss": ("loss", "drop_rate", "pop_ping_drop_rate"),
    "rate": ("rate_bps", "throughput_bps"),
}
"""Names that a column may have by itself; those with units may have others, as latency_ms."""


def read_measurements(path: Path, form: str, layout: Layout, where: str) -> Measurements:
    """Read a file.

    Parameters
    ----------
    path
        The file, as it is or packed with gzip.
    form
        One of `FORMATS`, or ``auto``: by the content.
    layout
        What the user says of it.
    where
        Path in the scenario, for messages.

    Returns
    -------
    Measurements
        Times from 0 on, in order.

    Raises
    ------
    ScenarioError
        The file cannot be read, or is not what was expected; the message names file and line.
    """
    try:
        content = unpack(read_bytes(path, links=True), path)
        form = _recognise(content) if form == "auto" else form
        measurements = _READERS[form](path, content, layout)
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror or error}"
        raise ScenarioError([Problem(where, message)]) from None
    except ForeignFileError as error:
        raise ScenarioError([Problem(where, str(error))]) from None
    except csv_rows.CsvError as error:
        raise ScenarioError([Problem(where, error.of(path))]) from None
    except FormatError as error:
        raise ScenarioError([Problem(where, f"{path}: {error}")]) from None
    if not measurements.probes and not measurements.rates:
        message = f"{path}: it has no measurement; expected probes or rates ({form})"
        raise ScenarioError([Problem(where, message)])
    return _from_zero(measurements)


def _recognise(content: bytes) -> str:
    head = content[:4096].lstrip()
    if head.startswith(b"{"):
        return "irtt" if b'"round_trips"' in content else "iperf3"
    if any(mark in content[:65536] for mark in (b"bytes from ", b"Reply from ", b"icmp_seq")):
        return "ping"
    if head.partition(b"\n")[0].strip() in (b"timestamp,rtt", b"timestamp,rtt,uplink,downlink"):
        return "lens"
    return "csv"


def _from_zero(seen: Measurements) -> Measurements:
    times = sorted([probe[0] for probe in seen.probes] + [rate[0] for rate in seen.rates])
    first = times[0]
    probes = sorted((at - first, *values) for at, *values in seen.probes)
    rates = sorted((at - first, rate) for at, rate in seen.rates)
    # The last probe stands for as long as the others.
    more = (probes[-1][0] - probes[0][0]) / (len(probes) - 1) if len(probes) > 1 else 0.0
    return Measurements(probes, rates, max(seen.end - first, times[-1] - first + more))


def _json(content: bytes) -> dict[str, Any]:
    try:
        data = parse_json(content)
    except JsonError as error:
        raise FormatError(str(error)) from None
    if not isinstance(data, dict):
        raise FormatError("its tables are not those of a log; expected IRTT's or iperf3's JSON")
    return data


_LOST = {
    "false": ARRIVED,
    "true": LOST_SOMEWHERE,
    "true_up": (0.0, 1.0, 0.0),
    "true_down": (0.0, 0.0, 1.0),
}


def _irtt(_: Path, content: bytes, layout: Layout) -> Measurements:
    """Read IRTT's JSON: times in ns; the client says in which direction a probe was lost."""
    del layout
    probes: list[Probe] = []
    for number, trip in enumerate(_read_list(_json(content), "round_trips")):
        sent = _dug(trip, f"round_trips[{number}]", "timestamps", "client", "send", "wall")
        lost = _LOST.get(str(trip.get("lost")))
        if lost is None:
            raise FormatError(f'round_trips[{number}].lost: expected "false" or "true"')
        rtt = math.nan
        if lost == ARRIVED:
            rtt = _dug(trip, f"round_trips[{number}]", "delay", "rtt") * 1e-9
        probes.append((sent * 1e-9, rtt, *lost))
    return Measurements(probes)


def _iperf3(_: Path, content: bytes, layout: Layout) -> Measurements:
    """Read iperf3's JSON: rates by interval, and losses of UDP.

    The round trips of its TCP are those of a path with TCP's own queue, and are left out.
    """
    del layout
    measurements = Measurements()
    try:
        totals = read_iperf3_totals(_json(content))
    except Iperf3Error as error:
        raise FormatError(str(error)) from None
    for total in totals:
        measurements.rates.append((total.start_s, total.rate_bps))
        measurements.end = max(measurements.end, total.end_s)
        if not math.isnan(total.lost):
            measurements.probes.append((total.start_s, math.nan, total.lost, 0.0, 0.0))
    return measurements


def _read_list(data: dict[str, Any], key: str) -> list[dict[str, Any]]:
    rows = data.get(key)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FormatError(f"{key}: expected a list of tables")
    return rows


def _dug(row: dict[str, Any], where: str, *keys: str) -> float:
    value: Any = row
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise FormatError(f"{where}.{'.'.join(keys)}: expected a number")
    return float(value)


def _lens(path: Path, content: bytes, layout: Layout) -> Measurements:
    """Read LENS's CSV: round trips in ms; times in ns (IRTT) or s (ping); -1 is a loss."""
    del path, layout
    probes: list[Probe] = []
    lines = decode(content).splitlines()
    heads = lines[0].strip().split(",") if lines else []
    for line, text in enumerate(lines[1:], 2):
        if not text.strip():
            continue
        cells = text.split(",")
        try:
            sent, *values = map(float, cells)
        except ValueError:
            values = []
        if len(cells) != len(heads) or len(values) not in (1, 3):
            message = f"line {line}: expected {len(heads) or 4} numbers, as {','.join(heads)}"
            raise FormatError(message)
        lost = _lens_loss(values)
        rtt = values[0] * 1e-3 if lost == ARRIVED else math.nan
        # A time in seconds has ten digits before the point in this century, one in ns nineteen.
        probes.append((sent * 1e-9 if sent > 1e15 else sent, rtt, *lost))
    return Measurements(probes)


def _lens_loss(values: list[float]) -> tuple[float, ...]:
    if -1.0 not in values:
        return ARRIVED
    return tuple(float(value == -1.0) for value in values) if len(values) == 3 else (1.0, 0.0, 0.0)


def _csv(path: Path, content: bytes, layout: Layout) -> Measurements:
    """Read any CSV file by the names of its columns and the units that it or the user names."""
    stated = {*layout.columns, *layout.units}
    quantities = {
        head: kind
        for name, kind in QUANTITIES.items()
        if name != "time" and name not in stated
        for head in _HEADS[name]
    }
    rows = csv_rows.rows(path, quantities=quantities, content=content)
    heads = rows[0][1] if rows else {}
    names = {name: _head(name, heads, layout) for name in QUANTITIES}
    if not names["time"]:
        raise FormatError(
            f"no column has the time; expected {_or(_HEADS['time'])}, or columns.time"
        )
    if not any(names[name] for name in ("rtt", "loss", "rate")):
        message = (
            "no column has a round trip, a loss or a rate; expected one, or columns.rtt and others"
        )
        raise FormatError(message)
    measurements = Measurements()
    for line, row in rows:
        sent = _time(row[names["time"]], layout.units.get("time"), line)
        rtt, loss, rate = (
            _cell(name, row, names, layout, line) for name in ("rtt", "loss", "rate")
        )
        if not (math.isnan(rtt) and math.isnan(loss)):
            measurements.probes.append((sent, rtt, loss, math.nan, math.nan))
        if not math.isnan(rate):
            measurements.rates.append((sent, rate))
    return measurements


def _or(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _head(name: str, heads: Mapping[str, str], layout: Layout) -> str:
    if name in layout.columns:
        column = layout.columns[name]
        if column not in heads:
            raise FormatError(f'there is no column "{column}"; expected one of {", ".join(heads)}')
        if name in ("rtt", "rate") and name not in layout.units:
            raise FormatError(f'the column "{column}" needs its unit, units.{name}')
        return column
    names = _HEADS[name]
    if name in layout.units:
        names += tuple(re.sub("_(s|bps)$", "", head) for head in names)
    return next((head for head in names if head in heads), "")


def _time(text: str, unit: str | None, line: int) -> float:
    if _ISO_UTC.match(text):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise FormatError(f'line {line}: "{text}" is no time; expected ISO 8601') from None
        return moment.timestamp()
    try:
        return float(text) * (_factor("time", unit) if unit else 1.0)
    except ValueError:
        message = f'line {line}: "{text}" is no time; expected seconds or ISO 8601'
        raise FormatError(message) from None


def _cell(
    name: str, row: Mapping[str, str], names: Mapping[str, str], layout: Layout, line: int
) -> float:
    text = row.get(names[name], "").strip() if names[name] else ""
    if not text:
        return math.nan
    try:
        value = float(text) * (_factor(name, layout.units[name]) if name in layout.units else 1.0)
    except ValueError:
        raise FormatError(f'line {line}, {names[name]}: "{text}" is no number') from None
    if not (0 <= value <= 1 if name == "loss" else 0 <= value < math.inf):
        range_text = "0 to 1" if name == "loss" else "0 or more"
        raise FormatError(
            f'line {line}, {names[name]}: "{text}" is out of range; expected {range_text}'
        )
    return value


def _factor(name: str, unit: str) -> float:
    if name == "loss":
        return {"%": 0.01, "ratio": 1.0}[unit]
    return UNITS[QUANTITIES[name]][unit]


_READERS: dict[str, Callable[[Path, bytes, Layout], Measurements]] = {
    "ping": read_ping,
    "irtt": _irtt,
    "iperf3": _iperf3,
    "lens": _lens,
    "csv": _csv,
}
"""Readers by the name of their format."""
