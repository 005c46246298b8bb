"""Quantities as users write them: ``"30 ms"``, ``"10 Mbps"``, ``"1500 B"``, ``"1 bdp"``.

The core reads them. What is here says what is wrong with one, so that all problems of a scenario
are reported at once.
"""

from __future__ import annotations

import json
import math
import reprlib
from functools import cache

from ackclock import _core

__all__ = [
    "UNITS",
    "bare_problem",
    "buffer_problem",
    "parse",
    "quantity_problem",
    "typed_problem",
    "with_unit",
]

UNITS = {what: dict(_core.units_of(what)) for what in ("duration", "rate", "size")}
"""Units of each quantity with their factors to s, bit/s and B."""

_SI = {"duration": "s", "rate": "bit/s", "size": "B"}


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
    if isinstance(value, str):
        return _core.quantity(value, quantity)
    try:
        result = float(value)
    except OverflowError:
        message = f"{reprlib.repr(value)} is not a {quantity}: it is too large for a number"
        raise ValueError(message) from None
    if not math.isfinite(result) or result < 0:
        message = f"{value} is not a {quantity}: it must be finite and not negative"
        raise ValueError(message)
    return result


def bare_or_rate(value: object) -> float:
    """Read a rate as data files have it: a number of bit/s, or text with a unit.

    Parameters
    ----------
    value
        What was found.

    Returns
    -------
    float
        The rate [bit/s]; NaN for what is neither. It may be negative or infinite.
    """
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        right = isinstance(value, str) and quantity_problem(value, "rate") is None
        return float(parse(value, "rate")) if right else math.nan  # type: ignore[arg-type]


@cache
def _form(quantity: str) -> _core.Form:
    rules = {"x-quantity": quantity, "x-unit": _SI.get(quantity, "")}
    return _core.Form(json.dumps(rules), _core.Rooms("{}"))


def _message(value: object, quantity: str, typed: list[str]) -> str | None:
    found = json.loads(_form(quantity).problems(value, typed))
    return str(found[0]["message"]) if found else None


def bare_problem(value: object, quantity: str) -> str | None:
    """Say that a number lacks its unit; None if it has one, is 0, or is no number.

    Parameters
    ----------
    value
        What was found.
    quantity
        ``duration``, ``rate`` or ``size``; a buffer size is refused without unit in any case.
    """
    if quantity not in UNITS or not _form(quantity).bare(value):
        return None
    return _message(value, quantity, [""])


def with_unit(value: float, quantity: str) -> str:
    """Write a number of SI units with its unit, as ``10000000 bit/s``.

    Parameters
    ----------
    value
        Seconds, bits per second or bytes.
    quantity
        ``duration``, ``rate`` or ``size``.
    """
    return f"{value!r} {_SI[quantity]}"


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
    if value is None:
        value = "None"
    return _message(value, quantity, [])


def typed_problem(value: object, quantity: str) -> str | None:
    """Say what is wrong with a quantity that a person typed: it needs its unit.

    Parameters
    ----------
    value
        What was found.
    quantity
        As of `quantity_problem`.

    Returns
    -------
    str or None
        One sentence, or None if nothing is wrong.
    """
    return bare_problem(value, quantity) or quantity_problem(value, quantity)


def buffer_problem(value: object) -> str | None:
    """Say what is wrong with a buffer size; None if nothing is.

    Parameters
    ----------
    value
        What was found.
    """
    return quantity_problem(value, "buffer size")
