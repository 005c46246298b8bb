"""Numbers as people read them: the one place where text, pages and figures get theirs.

==============  ====================================  ==============================
function        writes                                for example
==============  ====================================  ==============================
`number`        a number without a unit               ``12,220,000``, ``0.0314``
`engineering`   a quantity with a decimal prefix      ``12.2 Mbit/s``
`percent`       a part of a whole                     ``12.2 %``
`decimals`      a number of a column                  ``12.20``
`interval`      a mean with half its interval         ``2.50 ± 0.12``, ``2.5``
`bounds`        a mean with the ends of its interval  ``2.5 [2.4, 2.6]``
`metric`        a value of a metric, by its name      ``12.2 Mbit/s``
`clock`         a time of day's length                ``1:02:03``
==============  ====================================  ==============================

Rounding errors of floating-point arithmetic are no results: `without_rounding` makes them zero, and
an interval no wider than them is not written.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

__all__ = [
    "ROUNDING",
    "bounds",
    "clock",
    "decimals",
    "engineering",
    "interval",
    "metric",
    "number",
    "percent",
    "unit_of",
    "without_rounding",
    "working_time",
]

ROUNDING = 1e-9
"""Part of a quantity's scale below which a difference is a rounding error: solvers of rates stop at
relative changes of 1e-9 or less, and a double has 16 digits."""

_PREFIXES = {-4: "p", -3: "n", -2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G", 4: "T"}
_LEAST, _MOST = 1e-4, 1e15
"""Outside of these an exponent is shorter and clearer than zeros."""

_UNITS = {
    "bps": "bit/s",
    "bytes": "B",
    "ms": "ms",
    "s": "s",
}
"""Units by the last word of a metric's name."""

_LONG_S = 120
"""Times from here on are written as a clock shows them [s]."""


@overload
def without_rounding(value: float, scale: float) -> float: ...


@overload
def without_rounding(value: Floats, scale: float | Floats) -> Floats: ...


def without_rounding(value: float | Floats, scale: float | Floats) -> float | Floats:
    """Make zero what is a rounding error.

    Parameters
    ----------
    value
        Differences of quantities: a number, or an array.
    scale
        The size of these quantities: a number, or an array of the same shape.

    Returns
    -------
    float or ndarray
        ``value``, and 0 where it is at most ``ROUNDING`` of the scale; NaN stays NaN.
    """
    import numpy as np

    rounded = np.where(np.abs(value) <= ROUNDING * np.abs(scale), 0.0, value)
    return float(rounded) if rounded.ndim == 0 else rounded


def number(value: float | None, figures: int = 4, *, sign: bool = False) -> str:
    """Write a number with a few significant figures, and without an exponent if it can be read so.

    Parameters
    ----------
    value
        The number; None or NaN gives a dash.
    figures
        Significant figures; integers below a million keep all of theirs.
    sign
        Whether a plus is written.
    """
    if value is None or math.isnan(value):
        return "-"
    plus = "+" if sign else ""
    if math.isinf(value) or value == 0:
        return f"{value:{plus}g}" if math.isinf(value) else "0"
    size = abs(value)
    if not _LEAST <= size < _MOST:
        return f"{value:{plus}.{figures}g}"
    if size < 1e6 and value == int(value):
        return f"{value:{plus},.0f}"
    rounded = float(f"{value:.{figures}g}")
    digits = max(0, figures - 1 - math.floor(math.log10(abs(rounded))))
    text = f"{rounded:{plus},.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits else text


def engineering(value: float | None, unit: str, figures: int = 4) -> str:
    """Write a quantity with a decimal prefix: ``9.587 Mbit/s``.

    Parameters
    ----------
    value
        In the unit without prefix; None or NaN gives a dash.
    unit
        The unit, such as ``bit/s``.
    figures
        Significant figures.
    """
    if value is None or math.isnan(value):
        return "-"
    if value == 0:
        return f"0 {unit}"
    if math.isinf(value):
        return f"{value} {unit}"
    # The prefix is that of the rounded value: 999,960 is 1 M, not 1000 k.
    rounded = float(f"{value:.{figures}g}")
    power = max(-4, min(4, math.floor(math.log10(abs(rounded)) / 3)))
    return f"{rounded / 1000.0**power:.{max(figures, 3)}g} {_PREFIXES[power]}{unit}"


def percent(share: float | None, digits: int = 1, *, sign: bool = False) -> str:
    """Write a part of a whole: ``12.2 %``.

    Parameters
    ----------
    share
        1 is the whole; None or NaN gives a dash.
    digits
        Digits after the point.
    sign
        Whether a plus is written.
    """
    if share is None or math.isnan(share):
        return "-"
    plus = "+" if sign else ""
    value = round(100 * share, digits) + 0.0  # no minus before a zero
    return f"{value:{plus},.{digits}f} %"


def decimals(value: float | None, digits: int) -> str:
    """Write a number with so many digits after the point, for columns that are compared.

    Parameters
    ----------
    value
        The number; None or NaN gives a dash.
    digits
        Digits after the point.
    """
    if value is None or math.isnan(value):
        return "-"
    return f"{round(value, digits) + 0.0:,.{digits}f}"  # no minus before a zero


def interval(
    mean: float | None,
    low: float | None,
    high: float | None,
    *,
    sign: bool = False,
    figures: int = 4,
) -> str:
    """Write a mean with half of its interval, both to the digits that mean something.

    Parameters
    ----------
    mean, low, high
        Mean and ends of its interval; None or NaN where they are not known.
    sign
        Whether a plus is written.
    figures
        Most significant figures of the mean.

    Returns
    -------
    str
        ``2.50 ± 0.12``: two figures of the half-width, as far as the mean has ``figures``. The mean
        alone where the interval is not known, or no wider than rounding errors.
    """
    if mean is None or math.isnan(mean):
        return "-"
    half = _half(mean, low, high)
    if half == 0:
        return number(mean, figures, sign=sign)
    if math.isinf(half) or math.isinf(mean):
        return f"{number(mean, figures, sign=sign)} ± {number(half, 2)}"
    digits = 1 - math.floor(math.log10(half))
    if mean != 0:
        digits = min(digits, figures - 1 - math.floor(math.log10(abs(mean))))
    if digits > 1 - math.floor(math.log10(_LEAST)):
        return f"{number(mean, figures, sign=sign)} ± {number(half, 2)}"
    digits = max(0, digits)
    if half < 0.5 * 10.0**-digits:  # far smaller than the mean's last digit
        return f"{number(mean, figures, sign=sign)} ± {number(half, 2)}"
    plus = "+" if sign else ""
    return f"{mean:{plus},.{digits}f} ± {half:,.{digits}f}"


def bounds(mean: float | None, low: float | None, high: float | None, *, figures: int = 4) -> str:
    """Write a mean with the ends of its interval: ``1.25 [1.2, 1.3]``.

    Parameters
    ----------
    mean, low, high
        Mean and ends of its interval; None or NaN where they are not known.
    figures
        Significant figures.
    """
    if mean is None or math.isnan(mean) or low is None or high is None:
        return number(mean, figures)
    if _half(mean, low, high) == 0:
        return number(mean, figures)
    return f"{number(mean, figures)} [{number(low, figures)}, {number(high, figures)}]"


def _half(mean: float, low: float | None, high: float | None) -> float:
    """Half of an interval; 0 where it is not known or a rounding error."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return 0.0
    return without_rounding((high - low) / 2, max(abs(mean), abs(low), abs(high)))


def unit_of(name: str) -> str | None:
    """Find the unit that a metric's name ends in: ``goodput_bps`` is in bit/s.

    Parameters
    ----------
    name
        A column's name, alone or within a function, as in ``mean(flows.goodput_bps)``.

    Returns
    -------
    str or None
        The unit; None for a number without one, or of another kind.
    """
    function, _, _ = name.rpartition("(")
    if function.strip() in ("jain", "count"):
        return None
    pieces = name.rstrip(")").rpartition(".")[2].split("_")
    return _UNITS.get(pieces[-1]) if len(pieces) > 1 else None


def metric(name: str, value: float | None) -> str:
    """Write the value of a metric in the unit that its name ends in.

    Parameters
    ----------
    name
        As of `unit_of`.
    value
        In that unit; None or NaN gives a dash.
    """
    unit = unit_of(name)
    if unit is None or unit == "ms":
        return number(value) if unit is None or value is None else f"{number(value)} {unit}"
    return engineering(value, unit)


def clock(seconds: float) -> str:
    """Write a time as people say it: ``2 days 1:02:03``, ``1:02:03``, ``4:05``, ``12 s``.

    Parameters
    ----------
    seconds
        The time [s].
    """
    minutes, remainder_s = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days:,} day{'s' * (days > 1)} {hours}:{minutes:02}:{remainder_s:02}"
    if hours:
        return f"{hours}:{minutes:02}:{remainder_s:02}"
    return f"{minutes}:{remainder_s:02}" if minutes else f"{remainder_s} s"


def working_time(seconds: float | None) -> str:
    """Write how long work takes: ``8.296 ms``, and from two minutes on as `clock` does.

    Parameters
    ----------
    seconds
        The time [s]; None or NaN gives a dash.
    """
    if seconds is None or not _LONG_S <= seconds < math.inf:
        return engineering(seconds, "s")
    return clock(seconds)
