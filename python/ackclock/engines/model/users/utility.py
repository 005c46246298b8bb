"""What users want of a queue: more rate, less congestion, in different proportions.

A utility is U(r, c), rising in the rate r and falling in the congestion c (both as in
`ackclock.engines.model.users.disciplines`). Only its order of outcomes counts, not its unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock.errors import UnsupportedError, find_by_name

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FORMS", "Utility", "utility"]


def _linear(r: float, c: float, dislike: float) -> float:
    return r - dislike * c


def _concave(r: float, c: float, dislike: float) -> float:
    return math.log(r) - dislike * c if r > 0 else -math.inf


def _delay(r: float, c: float, dislike: float) -> float:
    # Little's law: the mean delay is c / r.
    return math.log(r) - dislike * c / r if r > 0 else -math.inf


def _power(r: float, c: float, dislike: float) -> float:
    return math.log(r) - dislike * math.log(c / r) if r > 0 and 0 < c < math.inf else -math.inf


FORMS: dict[str, tuple[Callable[[float, float, float], float], str]] = {
    "linear": (_linear, "r - w c: bandwidth, every packet of the queue at the same price"),
    "concave": (_concave, "log r - w c: the first bits count most"),
    "delay": (_delay, "log r - w c / r: dislikes its packets' delay"),
    "power": (_power, "log r - w log(c / r): rate over delay to the power w"),
}
"""Forms by name, with their formula."""


@dataclass(frozen=True)
class Utility:
    """A utility function.

    Parameters
    ----------
    form
        A key of `FORMS`.
    dislike
        The weight w of congestion, above 0. Small: tolerates it; large: shuns it.
    """

    form: str
    dislike: float

    def __call__(self, rate: float, congestion: float) -> float:
        """Value an outcome; minus infinity where the queue grows without end."""
        if not math.isfinite(congestion):
            return -math.inf
        return FORMS[self.form][0](rate, congestion, self.dislike)


def utility(form: str, dislike: float) -> Utility:
    """Make a utility, checked.

    Parameters
    ----------
    form
        A key of `FORMS`.
    dislike
        Above 0.

    Raises
    ------
    UnsupportedError
        There is no such form, or the weight is not above 0.
    """
    find_by_name(form, FORMS, "utility")
    if not (dislike > 0 and math.isfinite(dislike)):
        raise UnsupportedError(f"the dislike of congestion is {dislike}; expected a number above 0")
    return Utility(form, dislike)
