"""A planner's questions of one network together: loads, failures, upgrades, weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.errors import ScenarioError
from ackclock.studies.planner.failures import MEMORY, survey
from ackclock.studies.planner.upgrades import upgrades
from ackclock.studies.planner.utilisation import utilisation
from ackclock.studies.planner.weights import search

if TYPE_CHECKING:
    from collections.abc import Callable

    from ackclock.studies.planner.failures import FailureSurvey
    from ackclock.studies.planner.situation import Situation
    from ackclock.studies.planner.upgrades import Upgrades
    from ackclock.studies.planner.utilisation import Utilisation
    from ackclock.studies.planner.weights import WeightsResult

__all__ = ["HEADINGS", "Overview", "overview"]

HEADINGS = {
    "load": "How busy links are",
    "failures": "What breaks when a link fails",
    "upgrades": "Which links to upgrade",
    "weights": "Weights that make the busiest link less busy",
}
"""The questions of a report, by the command that answers each alone."""


@dataclass(frozen=True)
class Overview:
    """The answers of one report.

    Parameters
    ----------
    situation
        Network and demands.
    sections
        Answers by question, in the order of `HEADINGS`.
    without
        Why a question has no answer, by question.
    """

    situation: Situation
    sections: dict[str, Utilisation | FailureSurvey | Upgrades | WeightsResult]
    without: dict[str, str]

    def to_data(self) -> dict[str, Any]:
        """All numbers as plain data: those of each question by its name."""
        return {
            "question": "report",
            "network": self.situation.network.title,
            **{name: part.to_data() for name, part in self.sections.items()},
            "without": self.without,
        }


def overview(
    situation: Situation,
    *,
    count: int = 2,
    factor: float = 2.0,
    tries: int = 2000,
    seed: int = 1,
    memory: int = MEMORY,
    progress: Callable[[float], object] | None = None,
) -> Overview:
    """Answer all questions of a report.

    Loads are those of all times; failures of each link, upgrades against the worst of them and
    weights are of the time of the situation.

    Parameters
    ----------
    situation
        Network and demands.
    count, factor
        How many links are upgraded, and what their capacity is multiplied by.
    tries, seed
        Of the search for weights.
    memory
        Bytes for loads under failures.
    progress
        Gets the part that is done.
    """
    few = min(count, situation.links)
    questions: dict[str, Callable[..., Any]] = {
        "load": lambda step: utilisation(situation, step),
        "failures": lambda step: survey(situation, memory=memory, progress=step),
        "upgrades": lambda step: upgrades(
            situation, count=few, factor=factor, memory=memory, progress=step
        ),
        "weights": lambda step: search(situation, tries=tries, seed=seed, progress=step),
    }
    answers: dict[str, Any] = {}
    without: dict[str, str] = {}
    for number, (name, answer) in enumerate(questions.items()):

        def step(part: float, before: int = number) -> None:
            if progress is not None:
                progress((before + part) / len(questions))

        try:
            answers[name] = answer(step)
        except ScenarioError as error:
            without[name] = "; ".join(problem.message for problem in error.problems)
    return Overview(situation, answers, without)
