"""Ranges of the parameters of closed forms, stated once, at the function.

Checks, messages, the JSON Schema of model documents and the reference take them from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Range", "problem", "ranges", "ranges_of"]

P = ParamSpec("P")
T = TypeVar("T")

_RANGES = "parameter_ranges"


@dataclass(frozen=True)
class Range:
    """What a number may be.

    Parameters
    ----------
    minimum, maximum
        Inclusive bounds.
    above, below
        Bounds that are excluded.
    unit
        Unit of the number.
    is_integer
        Whether it is a whole number.
    may_be_nan
        Whether NaN stands for a default.
    """

    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    unit: str | None = None
    is_integer: bool = False
    may_be_nan: bool = False

    def rules(self) -> dict[str, Any]:
        """Give the JSON Schema of one number."""
        named = {
            "minimum": self.minimum,
            "maximum": self.maximum,
            "exclusiveMinimum": self.above,
            "exclusiveMaximum": self.below,
            "x-unit": self.unit,
        }
        kind = {"type": "integer" if self.is_integer else "number"}
        return kind | {key: value for key, value in named.items() if value is not None}

    def outside(self, values: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Find the values that are not in the range.

        Parameters
        ----------
        values
            Numbers, of any shape.
        """
        numbers = np.asarray(values, dtype=float)
        inside: np.ndarray[Any, np.dtype[np.bool_]] = ~np.isnan(numbers)
        for bound, holds in (
            (self.minimum, np.greater_equal),
            (self.maximum, np.less_equal),
            (self.above, np.greater),
            (self.below, np.less),
        ):
            if bound is not None:
                inside &= holds(numbers, bound)
        if self.is_integer:
            inside &= numbers == np.round(numbers)
        if self.may_be_nan:
            inside |= np.isnan(numbers)
        return ~inside


def problem(bounds: Range, values: Any) -> str | None:
    """Say which of some values is out of its range; None if none is.

    Parameters
    ----------
    bounds
        The range.
    values
        Numbers, of any shape.
    """
    from ackclock.catalogue.form import range_words

    numbers = np.asarray(values, dtype=float)
    wrong = bounds.outside(numbers)
    if not wrong.any():
        return None
    number = numbers[wrong].flat[0]
    range_text = range_words(bounds.rules())
    integer_text = "a whole number" if bounds.is_integer else None
    expected = ", ".join(word for word in (integer_text, range_text) if word) or "a number"
    return f"{number:g} is out of range; expected {expected}"


def ranges(**bounds: Range) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """State the ranges of a function's parameters, and check them at each call.

    Parameters
    ----------
    **bounds
        Ranges by parameter.

    Returns
    -------
    callable
        A decorator. The function then raises ValueError, with one sentence that names the
        parameter, where a value is out of its range.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        form = signature(function)
        if unknown := set(bounds) - set(form.parameters):
            message = f"{function.__name__} has no parameter {sorted(unknown)}"
            raise TypeError(message)

        @wraps(function)
        def check_arguments(*args: P.args, **kwargs: P.kwargs) -> T:
            given = form.bind(*args, **kwargs).arguments
            for name, value in given.items():
                if name in bounds and (message := problem(bounds[name], value)) is not None:
                    raise ValueError(f"{name}: {message}")
            return function(*args, **kwargs)

        setattr(check_arguments, _RANGES, bounds)
        return check_arguments

    return decorate


def ranges_of(function: Callable[..., Any]) -> Mapping[str, Range]:
    """Give the ranges of a function's parameters; nothing for those that have none.

    Parameters
    ----------
    function
        A closed form.
    """
    found: Mapping[str, Range] = getattr(function, _RANGES, {})
    return found
