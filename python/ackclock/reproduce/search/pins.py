"""Which parameters the claims pin down: where accepted points lie, against the whole design."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

from ackclock.reproduce.search.surrogate import as_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.reproduce.paper import Parameter

__all__ = ["Pin", "find_pin"]

BINS = 4
"""Parts of a range."""

DRAWS = 2000
"""Random subsets against which accepted points are compared."""


class Pin(NamedTuple):
    """How a parameter is distributed over accepted points.

    Parameters
    ----------
    shares
        Of accepted points among all, by value or part of the range.
    p
        Probability that as many points chosen at random differ as much or more.
    """

    shares: dict[str, float]
    p: float


def find_pin(
    parameter: Parameter, points: Sequence[Mapping[str, Any]], accepted: Sequence[bool]
) -> Pin:
    """Compare where accepted points lie with where all lie.

    Parameters
    ----------
    parameter
        The parameter.
    points
        Values by parameter.
    accepted
        Which of them are accepted.
    """
    import numpy as np

    labels, codes = _groups(parameter, [point[parameter.id] for point in points])
    is_accepted = np.asarray(accepted, dtype=bool)
    sizes = np.bincount(codes, minlength=len(labels))

    def distance(mask: Any) -> float:
        expected = sizes * mask.mean()
        seen = np.bincount(codes[mask], minlength=len(labels))
        return float(np.sum((seen - expected) ** 2 / np.maximum(expected, 1e-9)))

    generator = np.random.default_rng(0)
    accepted_distance = distance(is_accepted)
    as_far = sum(
        distance(generator.permutation(is_accepted)) >= accepted_distance - 1e-9
        for _ in range(DRAWS)
    )
    inside = np.bincount(codes[is_accepted], minlength=len(labels))
    shares = {label: float(inside[i] / sizes[i]) for i, label in enumerate(labels) if sizes[i]}
    return Pin(shares, (1 + as_far) / (1 + DRAWS))


def _groups(parameter: Parameter, values: Sequence[Any]) -> tuple[list[str], Any]:
    import numpy as np

    if not parameter.range:
        labels = list(dict.fromkeys(str(value) for value in parameter.values))
        return labels, np.array([labels.index(str(value)) for value in values])
    numbers = np.array([as_number(value) for value in values])
    low, high = float(parameter.range["from"]), float(parameter.range["to"])
    make = np.geomspace if parameter.range.get("scale") == "log" else np.linspace
    edges = make(low, high, BINS + 1)
    unit = parameter.range.get("unit", "")
    labels = [f"{a:.3g} to {b:.3g} {unit}".strip() for a, b in itertools.pairwise(edges)]
    return labels, np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, BINS - 1)
