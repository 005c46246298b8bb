"""The report of a search: one HTML page that needs no other file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ackclock._util.number_text import engineering, interval, number
from ackclock._util.page import inline, render
from ackclock.studies.adversary.draw import pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.experiments.statistics import Mean
    from ackclock.studies.adversary.arena import Arena
    from ackclock.studies.adversary.shape import PathShape

__all__ = ["html"]


def html(
    arena: Arena,
    shape: PathShape,
    first: PathShape,
    goodput: Mapping[str, Mean],
    *,
    head: str,
    answer: str,
    seeds: int,
    tried: int,
    seed: int,
    command: str,
) -> str:
    """Write the report.

    Parameters
    ----------
    arena
        Where.
    shape, first
        The pattern, and what it was before it was shrunk.
    goodput
        Of each control, on seeds that the search did not see.
    head, answer
        What was searched, and what was found, in words.
    seeds
        How many seeds those are.
    tried, seed
        Patterns that were run; seed of the search.
    command
        What the user typed.
    """
    from ackclock import _core

    control, *rivals = arena.controls
    steps = zip(shape.steps(arena.peak_bps), shape.levels, strict=True)
    return render(
        Path(__file__).with_name("adversary.html"),
        flows=arena.flows,
        control=control,
        others=rivals,
        head=head,
        answer=answer,
        levels=[
            (f"{number(step['at'])} s", engineering(step["rate"], "bit/s"), f"{number(length)} s")
            for step, (_, length) in steps
        ],
        period=f"{number(shape.period_s)} s",
        first=first.describe(arena.peak_bps),
        goodput=[(name, interval(*mean, figures=3)) for name, mean in goodput.items()],
        figure=inline(pattern(arena, shape, goodput)),
        seeds=seeds,
        tried=number(tried),
        seed=seed,
        version=_core.version(),
        command=command,
    )
