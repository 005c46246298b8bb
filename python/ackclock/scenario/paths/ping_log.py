"""Logs of ping: iputils (with or without ``-D``), BSD and macOS, Windows."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from ackclock.scenario.paths.measurement import (
    ARRIVED,
    LOST_SOMEWHERE,
    FormatError,
    Layout,
    Measurements,
    decode,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    Probe = tuple[float, ...]

__all__ = ["read_ping"]

_WRAP = 2**16
"""Numbers of ICMP echo requests are of 16 bits."""

# The line of an answer, of a request that nothing answered, and a time in front of either.
_ANSWER = re.compile(
    r"(?:icmp_seq|seq)=(?P<seq>\d+).*?time[=<](?P<time>[\d.]+)\s*(?P<unit>ms|usec|us|s)?\b"
)
_WINDOWS = re.compile(r"time(?P<sign>[=<])(?P<time>\d+)\s*ms")
_UNANSWERED = re.compile(
    r"(?:Request timeout for icmp_seq|no answer yet for icmp_seq)[= ](?P<seq>\d+)"
)
_STAMP = re.compile(r"^\[(\d+(?:\.\d+)?)\]")
_PING_UNITS = {"ms": 1e-3, "usec": 1e-6, "us": 1e-6, "s": 1.0, None: 1e-3}


def read_ping(_: Path, content: bytes, layout: Layout) -> Measurements:
    """Read a log of ping; requests between two answers that nothing answered are lost.

    Parameters
    ----------
    content
        The file.
    layout
        The time between requests, where the log has no times.

    Raises
    ------
    FormatError
        It is none.
    """
    lines = decode(content).splitlines()
    if any(line.startswith("Reply from ") for line in lines):
        return _windows_ping(lines, layout)
    answers: dict[int, tuple[float, float]] = {}
    unanswered: set[int] = set()
    turns = last = 0
    for line in lines:
        lost = _UNANSWERED.search(line)
        answer = None if lost else _ANSWER.search(line)
        match = lost or answer
        if match is None:
            continue
        number = int(match["seq"])
        turns += (number < last - _WRAP // 2) - (number > last + _WRAP // 2)
        last = number
        number += turns * _WRAP
        if lost:
            unanswered.add(number)
        elif answer and number not in answers:
            rtt = _number(answer["time"]) * _PING_UNITS[answer["unit"]]
            stamp = _STAMP.match(line)
            # The stamp is that of the answer.
            sent = number * layout.interval if stamp is None else float(stamp[1]) - rtt
            answers[number] = (sent, rtt)
    if not answers:
        raise FormatError("no line has an answer; expected those of ping, as icmp_seq=1 time=9 ms")
    numbers = sorted(answers)
    first, final = min([*unanswered, numbers[0]]), max([*unanswered, numbers[-1]])
    if final - first > 100 * len(numbers) + _WRAP:
        raise FormatError(f"answers {first:,} to {final:,} are {len(numbers):,}; expected more")
    return Measurements(list(_with_lost(answers, numbers, first, final, layout.interval)))


def _with_lost(
    answers: Mapping[int, tuple[float, float]],
    numbers: list[int],
    first: int,
    final: int,
    interval: float,
) -> Iterator[Probe]:
    """Give every probe; times of those without an answer lie evenly between their neighbours."""
    span = numbers[-1] - numbers[0]
    step = (answers[numbers[-1]][0] - answers[numbers[0]][0]) / span if span else interval
    before = numbers[0] - 1
    for number in numbers:
        gap = number - before
        sent = answers[number][0]
        since = answers[before][0] if before in answers else sent - gap * step
        for lost in range(max(first, before + 1), number):
            yield since + (lost - before) * (sent - since) / gap, math.nan, *LOST_SOMEWHERE
        yield (*answers[number], *ARRIVED)
        before = number
    if first < numbers[0]:
        for lost in range(first, numbers[0]):
            yield answers[numbers[0]][0] - (numbers[0] - lost) * step, math.nan, *LOST_SOMEWHERE
    for lost in range(numbers[-1] + 1, final + 1):
        yield answers[numbers[-1]][0] + (lost - numbers[-1]) * step, math.nan, *LOST_SOMEWHERE


def _windows_ping(lines: list[str], layout: Layout) -> Measurements:
    probes: list[Probe] = []
    for line in lines:
        answer = _WINDOWS.search(line) if line.startswith("Reply from ") else None
        sent = len(probes) * layout.interval
        if answer:
            # "time<1ms" is all that it says of less than a millisecond.
            rtt = 0.5e-3 if answer["sign"] == "<" else int(answer["time"]) * 1e-3
            probes.append((sent, rtt, *ARRIVED))
        elif line.startswith(("Request timed out", "Reply from ", "General failure")):
            probes.append((sent, math.nan, *LOST_SOMEWHERE))
    return Measurements(probes)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise FormatError(f'"{text}" is no number; expected a time') from None
