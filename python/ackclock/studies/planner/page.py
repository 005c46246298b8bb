"""The page of a planner's answer, and its folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.page import inline, render
from ackclock.studies.outcome import StudyOutcome
from ackclock.studies.planner.answers import Answer, sentences, tables
from ackclock.studies.planner.enforcement import Enforcement
from ackclock.studies.planner.failures import FailureSurvey
from ackclock.studies.planner.map import draw_map
from ackclock.studies.planner.overview import HEADINGS, Overview
from ackclock.studies.planner.upgrades import Upgrades
from ackclock.studies.planner.utilisation import Utilisation
from ackclock.studies.planner.weights import WeightsResult, write_weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Report", "picture"]


def picture(answer: Answer) -> Figure:
    """Draw the map of an answer.

    Parameters
    ----------
    answer
        What was found.
    """
    situation = answer.situation
    title = situation.network.title
    match answer:
        case Overview():
            return picture(next(iter(answer.sections.values())))
        case Utilisation():
            many = len(answer.used) > 1
            label = "load over capacity" + (", 95th percentile" if many else "")
            return draw_map(situation, answer.percentile(95), title=title, label=label)
        case FailureSurvey():
            worst = answer.failed[0]
            up = np.ones(len(situation.capacity), dtype=np.bool_)
            up[list(worst.links)] = False
            loads, _ = situation.core(_left(answer)).loads(up=up)
            return draw_map(
                situation,
                loads / situation.capacity,
                title=f"{title}{situation.when()}, without {worst.name}",
                down=worst.links,
            )
        case Upgrades():
            return draw_map(
                situation,
                answer.loads / situation.capacity,
                title=f"{title}{situation.when()}: links to upgrade",
                marked=answer.links,
                label="load over capacity"
                + (", worst failure of a link" if answer.goal == "failure" else ""),
            )
        case Enforcement():
            return draw_map(
                situation,
                answer.loads / situation.capacity,
                title=f"{title}{situation.when()}: routers for fair queueing",
                label="what arrives over capacity, without fair queueing",
                nodes=answer.best.routers,
            )
        case WeightsResult():
            used = situation.with_cost(answer.cost).utilisation
            return draw_map(
                situation,
                used,
                title=f"{title}{situation.when()}, weights found",
                marked=answer.changed_links(),
            )


def _left(answer: FailureSurvey) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Demands without those of nodes that failed."""
    situation, nodes = answer.situation, answer.failed[0].nodes
    down = np.isin(situation.demands.source, nodes) | np.isin(situation.demands.target, nodes)
    return np.where(down, 0.0, situation.volume)


def _part(heading: str, text: list[str], figure: Figure, answer: Answer) -> dict[str, Any]:
    drawn = inline(figure, "-".join(heading.lower().split()))
    return {"heading": heading, "text": text, "figures": [drawn], "tables": tables(answer)}


class Report(StudyOutcome):
    """The page of an answer with its map, its numbers and, of a search for weights, the weights.

    Parameters
    ----------
    answer
        What was found.
    """

    MARKER = "plan.json"
    PAGE = "index.html"

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.figure = picture(answer)

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain data."""
        return self.answer.to_data()

    def pages(self, command: str) -> dict[str, str]:
        """The page; see `ackclock.studies.outcome.StudyOutcome.pages`.

        Parameters
        ----------
        command
            What the user typed.
        """
        answer = self.answer
        page = render(
            Path(__file__).with_name("planner.html"),
            title=f"{answer.situation.network.title}: {answer.to_data()['question']}",
            answer=sentences(answer),
            parts=self._parts(),
            command=command,
        )
        return {self.PAGE: page}

    def _parts(self) -> list[dict[str, Any]]:
        """Parts of the page: of a report one a question, else one."""
        answer = self.answer
        if not isinstance(answer, Overview):
            return [_part("", [], self.figure, answer)]
        sections = []
        for name, heading in HEADINGS.items():
            if name in answer.sections:
                of = answer.sections[name]
                sections.append(_part(heading, sentences(of)[1:], picture(of), of))
            else:
                sections.append({"heading": heading, "text": [answer.without[name]], "figures": [],
                              "tables": []})  # fmt: skip
        return sections

    def write_files(self, folder: Path, command: str) -> None:
        """Write the map and the weights; see `ackclock.studies.outcome.StudyOutcome.write_files`.

        Parameters
        ----------
        folder
            The folder.
        command
            What the user typed.
        """
        from ackclock.plot.style import save

        save(self.figure, folder / "map.svg", command=command)
        answer = self.answer
        if isinstance(answer, Overview):
            answer = answer.sections.get("weights", answer)
        if isinstance(answer, WeightsResult):
            write_weights(answer, folder / "weights.csv")
