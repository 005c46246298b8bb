"""A law: a closed form that says what a flow or a link of a run should show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ackclock.studies.twin.measurements import TheoryMeasurements

__all__ = ["Law", "Prediction"]


@dataclass(frozen=True)
class Prediction:
    """What a law says of one flow or link, and what the run shows.

    Parameters
    ----------
    subject
        Name of the flow or link.
    low, high
        The law's value, twice, or the ends of its range.
    measured
        What the run shows, in the same unit.
    limit
        What the law does not know of this run, as part of a sentence; empty if nothing.
    """

    subject: str
    low: float
    high: float
    measured: float
    limit: str = ""


@dataclass(frozen=True)
class Law:
    """A closed form with its domain and accuracy.

    Parameters
    ----------
    name
        As it is listed.
    title
        What it says, in one sentence.
    source
        Where it was published.
    quantity
        Column of the run's tables that it predicts; the ending is the unit.
    accuracy
        Relative deviation that its source, or its approximations, leave open.
    predict
        Yields a prediction for each flow or link of a run to which the law applies.
    """

    name: str
    title: str
    source: str
    quantity: str
    accuracy: float
    predict: Callable[[TheoryMeasurements], Iterator[Prediction]]
