"""Quantities as users write them: ``"30 ms"``, ``"10 Mbps"``, ``"1500 B"``, ``"1 bdp"``.

The same rules as in the core, needed here to tell all problems of a scenario at once and to
compute with rates and delays of imported networks. A test compares the two.
"""

from __future__ import annotations

import math
import re
import reprlib

from ackclock.errors import suggestion

__all__ = ["UNITS", "buffer_problem", "parse", "quantity_problem"]

_BITS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

UNITS: dict[str, dict[str, float]] = {
    "duration": {
        "ps": 1e-12,
        "ns": 1e-9,
        "us": 1e-6,
        "ms": 1e-3,
        "s": 1.0,
        "min": 60.0,
        "h": 3600.0,
    },
    "rate": {
        f"{prefix}{unit}": factor
        for unit in ("bps", "bit/s", "b/s")
        for prefix, factor in _BITS.items()
    },
    "size": {
        "B": 1.0,
        "kB": 1e3,
        "MB": 1e6,
        "GB": 1e9,
        "TB": 1e12,
        "KiB": 2.0**10,
        "MiB": 2.0**20,
        "GiB": 2.0**30,
    },
}
"""Units of each quantity with their factors to s, bit/s and B."""

_SI = {"duration": "s", "rate": "bit/s", "size": "B"}
_SPLIT = re.compile(r"\s*([0-9+\-.eE_]*)\s*(.*?)\s*", re.DOTALL)
_BUFFER = re.compile(r"\s*(.*?)\s*([A-Za-z]+)\s*")
_BUFFER_HELP = 'a buffer must name its unit: pkt, B, kB, MB, ms, s, or bdp (or be "unlimited")'
_PACKETS = ("pkt", "pkts", "packet", "packets", "p")


def parse(value: float | str, quantity: str) -> float:
    """Turn a quantity into a number.

    Parameters
    ----------
    value
        A bare number in SI units, or text with a unit.
    quantity
        ``duration``, ``rate`` or ``size``.

    Returns
    -------
    float
        Seconds, bits per second or bytes.

    Raises
    ------
    ValueError
        The text is no such quantity; the message is one sentence.
    """
    units = UNITS[quantity]
    names = ", ".join(units)
    if isinstance(value, str):
        match = _SPLIT.fullmatch(value)
        digits, unit = match.groups() if match else ("", value)
        try:
            number = float(digits.replace("_", ""))
        except ValueError:
            message = f'"{value}" is not a {quantity}; expected a number and one of: {names}'
            raise ValueError(message) from None
        factor = _factor(unit, units)
        if factor is None:
            hint = suggestion(unit, units)
            more = "" if hint.startswith("expected") else f" ({hint})"
            message = (
                f'"{unit}" in "{value}" is not a unit of {quantity}; expected one of: {names}{more}'
            )
            raise ValueError(message)
        result = number * factor
    else:
        try:
            result = float(value)
        except OverflowError:
            message = f"{reprlib.repr(value)} is not a {quantity}: it is too large for a number"
            raise ValueError(message) from None
    if not math.isfinite(result) or result < 0:
        message = f"{value} is not a {quantity}: it must be finite and not negative"
        raise ValueError(message)
    return result


def _factor(unit: str, units: dict[str, float]) -> float | None:
    if not unit:
        return 1.0
    if unit in units:
        return units[unit]
    return next((f for name, f in units.items() if name.lower() == unit.lower()), None)


_MOST = {"duration": (9e6, "9000000 s"), "rate": (1e15, "1000 Tbps"), "size": (1e18, "1000000 TB")}
"""What the core's counters hold."""


def quantity_problem(value: object, quantity: str) -> str | None:
    """Say what is wrong with a value that should be a quantity.

    Parameters
    ----------
    value
        What was found.
    quantity
        ``duration``, ``rate``, ``size`` or ``buffer size``.

    Returns
    -------
    str or None
        One sentence, or None if nothing is wrong.
    """
    if quantity == "buffer size":
        return buffer_problem(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return (
            f"{value!r} is not a {quantity}; expected a number ({_SI[quantity]}) or text with a"
            f" unit, one of: {', '.join(UNITS[quantity])}"
        )
    try:
        number = parse(value, quantity)
    except ValueError as error:
        return str(error)
    most, told = _MOST[quantity]
    return f"{value} is out of range; expected at most {told}" if number > most else None


def buffer_problem(value: object) -> str | None:
    """Say what is wrong with a buffer size; None if nothing is.

    Parameters
    ----------
    value
        What was found.
    """
    if not isinstance(value, str):
        return f'{value!r} is not a buffer size; {_BUFFER_HELP}, as in "100 pkt" or "1 bdp"'
    if value.strip() == "unlimited":
        return None
    match = _BUFFER.fullmatch(value)
    wrong = f'"{value}" is not a buffer size; {_BUFFER_HELP}'
    if not match:
        return wrong
    digits, unit = match.groups()
    try:
        number = float(digits)
    except ValueError:
        return wrong
    if not math.isfinite(number) or number <= 0:
        return f'"{value}" is not a buffer size: it must be more than zero'
    if unit in _PACKETS:
        whole = number.is_integer() and number < 2**32
        most = f"packets are counted whole, {2**32 - 1} at most"
        return None if whole else f'"{value}" is not a buffer size: {most}'
    known = unit in ("bdp", "BDP") or unit in UNITS["duration"] or unit in UNITS["size"]
    return None if known else wrong
