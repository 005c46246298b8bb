"""What a named path consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

__all__ = ["ASSUMED", "PathModel", "PathParameter"]

ASSUMED = "assumption"
"""In place of a source where none was found."""


@dataclass(frozen=True)
class PathParameter:
    """A number of a model.

    Attributes
    ----------
    says
        What it is, with its unit.
    value
        As text.
    source
        Where it was published, or `ASSUMED` with what it is for.
    """

    says: str
    value: str
    source: str

    @property
    def is_assumed(self) -> bool:
        """Whether no source was found."""
        return self.source.startswith(ASSUMED)


@dataclass(frozen=True)
class PathModel:
    """A named path.

    Attributes
    ----------
    title
        In a sentence, without a full stop.
    parameters
        All its numbers.
    make
        Draws the keys of a dumbbell for a run of so many seconds.
    """

    title: str
    parameters: tuple[PathParameter, ...]
    make: Callable[[random.Random, float], dict[str, Any]]

    @property
    def text(self) -> str:
        """Title and parameters with their sources, for the reference."""
        lines = [f"{p.says}: {p.value} ({p.source})" for p in self.parameters]
        return f"{self.title}. {'; '.join(lines)}."
