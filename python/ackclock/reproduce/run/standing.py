"""The classes of claims in the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

__all__ = ["STANDINGS", "Standing", "StandingName"]

StandingName = Literal[
    "holds",
    "holds-inferred",
    "undetermined",
    "paper-error",
    "not-public",
    "open",
    "not-judged",
    "repeats",
    "erratum",
]
"""Classes of claims; ``docs/explanation/verdicts.md`` defines them."""

STANDINGS: tuple[StandingName, ...] = get_args(StandingName)


@dataclass(frozen=True)
class Standing:
    """The class of a claim.

    Parameters
    ----------
    name
        The class.
    reason
        One sentence that names what it was computed from.
    share
        Share of the plausible space of unstated parameters in which the claim holds; None if no
        search was made.
    decides
        Parameters that decide whether it holds, the most important first.
    """

    name: StandingName
    reason: str
    share: float | None = None
    decides: tuple[str, ...] = ()
