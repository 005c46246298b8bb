"""Profiles of a symmetric game: how many players play each strategy."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Deviation", "Profile", "deviations", "label", "profiles"]

Profile = tuple[int, ...]
"""Players by strategy."""


class Deviation(NamedTuple):
    """One player changes from strategy ``left`` to ``right``; the others stay."""

    left: int
    right: int
    profile: Profile


def profiles(players: int, strategies: int) -> Iterator[Profile]:
    """Every way in which players may choose, up to their order.

    Parameters
    ----------
    players, strategies
        Numbers of them.
    """
    for chosen in combinations_with_replacement(range(strategies), players):
        yield tuple(chosen.count(strategy) for strategy in range(strategies))


def deviations(profile: Profile) -> Iterator[Deviation]:
    """Every change by one player.

    Parameters
    ----------
    profile
        Where it starts.
    """
    for left, count in enumerate(profile):
        for right in range(len(profile)) if count else ():
            if right != left:
                moved = list(profile)
                moved[left] -= 1
                moved[right] += 1
                yield Deviation(left, right, tuple(moved))


def label(profile: Profile, names: Sequence[str]) -> str:
    """Write a profile, as in ``3 aimd + 1 cubic``.

    Parameters
    ----------
    profile
        Players by strategy.
    names
        Of the strategies.
    """
    return " + ".join(
        f"{count} {name}" for count, name in zip(profile, names, strict=True) if count
    )
