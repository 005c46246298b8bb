"""What a search for a pattern found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock._util.number_text import bounds, decimals
from ackclock.studies.outcome import StudyOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ackclock.experiments.statistics import Mean
    from ackclock.scenario.scenario import Scenario
    from ackclock.studies.adversary.arena import Arena
    from ackclock.studies.adversary.shape import PathShape

__all__ = ["FRESH_SEEDS", "AdversaryResult"]

DOES = {
    "worst": "loses to the best of the others",
    "best": "does best of all",
    "last": "does worst of all",
}
HEADS = {"worst": "worst pattern", "best": "best pattern", "last": "pattern of the last place"}
"""How a result is headed, by the goal of the search."""

FRESH_SEEDS = 5
"""Runs of each control under the found pattern, on seeds that the search did not see."""


@dataclass(frozen=True)
class AdversaryResult(StudyOutcome):
    """What a search found. Its text has the pattern and the goodputs.

    Parameters
    ----------
    arena
        Where.
    want
        ``worst``, ``best`` or ``last``.
    shape
        The pattern, shrunk.
    first
        The pattern before it was shrunk.
    goodput
        Of each control, on fresh seeds.
    gap
        Of the control to the best other, on fresh seeds.
    tried
        Patterns that were run.
    seed
        Of the search.
    """

    MARKER = "adversary.json"
    PAGE = "report.html"

    arena: Arena
    want: str
    shape: PathShape
    first: PathShape
    goodput: Mapping[str, Mean]
    gap: Mean
    tried: int
    seed: int

    @property
    def holds(self) -> bool:
        """Whether the fresh seeds show a gap of the sign that was searched."""
        return self.gap.low > 0 if self.want == "best" else self.gap.high < 0

    def scenario(self) -> Scenario:
        """The scenario of the control under the pattern."""
        return self.arena.scenario(self.shape, next(iter(self.arena.controls)), 1)

    def answer(self) -> str:
        """The finding in a sentence, by its interval."""
        control = next(iter(self.arena.controls))
        rival = self.arena.rival(
            {name: mean.mean for name, mean in self.goodput.items()}, self.want
        )
        seeds = f"on {FRESH_SEEDS} seeds that the search did not see"
        if not self.holds:
            gap = bounds(*self.gap, figures=3)
            return (
                f"No pattern was found where {control} {DOES[self.want]}: the gap to {rival} is"
                f" {gap} {seeds}."
            )
        sign, word = (1, "more") if self.gap.mean > 0 else (-1, "less")
        ends = sorted((sign * self.gap.low, sign * self.gap.high))
        gap = bounds(sign * self.gap.mean, *ends, figures=3)
        return f"{control} gets {gap} of the bandwidth {word} than {rival} {seeds}."

    def __str__(self) -> str:
        from ackclock._util.text_table import table

        control = next(iter(self.arena.controls))
        peak = self.arena.peak_bps
        rows = [
            [name, *(decimals(value, 3) for value in mean)] for name, mean in self.goodput.items()
        ]
        head = f"{HEADS[self.want]} for {control}: {self.shape.describe(peak)}"
        count = f"{self.tried} patterns tried, seed {self.seed}; before shrinking:"
        first = f"{count} {self.first.describe(peak)}"
        goodput = table(["control", "goodput", "low", "high"], rows)
        return "\n".join([head, "", goodput, "", self.answer(), first])

    def pages(self, command: str) -> dict[str, str]:
        """The report and the page of text.

        Parameters
        ----------
        command
            What the user typed.
        """
        from ackclock.studies.adversary.report import html

        report = html(
            self.arena,
            self.shape,
            self.first,
            self.goodput,
            head=HEADS[self.want],
            answer=self.answer(),
            seeds=FRESH_SEEDS,
            tried=self.tried,
            seed=self.seed,
            command=command,
        )
        return {self.PAGE: report, "page.txt": str(self)}

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "control": next(iter(self.arena.controls)),
            "want": self.want,
            "holds": self.holds,
            "steps": self.shape.steps(self.arena.peak_bps),
            "period_s": self.shape.period_s,
            "goodput": {n: m.to_list() for n, m in self.goodput.items()},
            "gap": self.gap.to_list(),
            "tried": self.tried,
            "seed": self.seed,
        }

    def write_files(self, folder: Path, command: str) -> None:
        """Write ``scenario.toml`` and ``pattern.svg``.

        Parameters
        ----------
        folder
            The folder.
        command
            What the user typed.
        """
        from ackclock.plot import save
        from ackclock.studies.adversary.draw import pattern

        text = self.scenario().with_code_in(folder).to_toml()
        (folder / "scenario.toml").write_text(text, encoding="utf-8")
        figure = pattern(self.arena, self.shape, self.goodput)
        save(figure, folder / "pattern.svg", command=command)
