"""What plans, schedulers and results know of a sweep: points, cases, replicates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ackclock.experiments.grid import SweepError

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.case import Case
    from ackclock.experiments.grid import Block, Point
    from ackclock.experiments.statistics import Precision

__all__ = ["Design", "Replicates"]


@dataclass(frozen=True)
class Replicates:
    """How often each point is repeated: ``reps`` times, or until a precision is reached."""

    reps: int = 1
    until: Precision | None = None

    def __post_init__(self) -> None:
        if isinstance(self.reps, bool) or not isinstance(self.reps, int) or self.reps < 1:
            message = f"reps is {self.reps!r}; expected a whole number, at least 1"
            raise SweepError(message)

    @property
    def at_first(self) -> int:
        """Replicates that every point gets."""
        return self.until.at_least if self.until else self.reps

    @property
    def at_most(self) -> int:
        """Replicates after which a point ends."""
        return self.until.at_most if self.until else self.reps


class Design(Protocol):
    """What is to be run. `ackclock.Sweep` is one."""

    @property
    def name(self) -> str:
        """A title."""

    @property
    def file(self) -> Path | None:
        """The sweep file, for messages."""

    @property
    def case(self) -> Case:
        """What the grid changes."""

    @property
    def grid(self) -> tuple[Block, ...]:
        """Blocks that multiply."""

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes, in the order of the grid."""

    @property
    def points(self) -> tuple[Point, ...]:
        """Every point of the grid."""

    @property
    def replicates(self) -> Replicates:
        """How often each point is repeated."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics that a report shows."""

    def case_at(self, point: Point, *, is_rough: bool = False) -> Case:
        """Make the case of a point, checked."""
