"""Runs what a sheet is about, for its key and its figures."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ackclock.experiments.metrics import of_run
from ackclock.scenario.load import load

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.course.sheet import SetUp, Sheet, SheetNumber, SheetQuestion
    from ackclock.results.run import Run

__all__ = ["draw_figure", "measure", "run_of"]


@lru_cache(maxsize=32)
def _run(folder: Path, file: str, changes: tuple[tuple[str, str], ...]) -> Run:
    return load(folder / file).replace(**dict(changes)).run()


def run_of(sheet: Sheet, id: str) -> Run:  # noqa: A002  as sheets call it
    """Run one of a sheet's runs; kept for the next question.

    Parameters
    ----------
    sheet
        The sheet.
    id
        Of the run.
    """
    set_up: SetUp = sheet.runs[id]
    return _run(sheet.folder, set_up.file, tuple(set_up.set.items()))


def measure(sheet: Sheet, number: SheetNumber) -> float:
    """Measure a number of the key anew.

    Parameters
    ----------
    sheet, number
        Of which sheet, and which number.
    """
    run = run_of(sheet, number.run)
    return of_run(number.metric, run.summary, run.tables)


def draw_figure(sheet: Sheet, question: SheetQuestion) -> str:
    """Draw the one figure that shows the answer, as SVG for a page; empty if there is none.

    Parameters
    ----------
    sheet, question
        Whose figure.
    """
    from ackclock import plot
    from ackclock._util.page import inline

    if not question.figure:
        return ""
    settings = dict(question.figure)
    kind = settings.pop("kind")
    selected = {
        "flows": [settings["flow"]] if "flow" in settings else None,
        "links": [settings["link"]] if "link" in settings else None,
    }
    times = {name: _seconds(settings.get(name)) for name in ("since", "until")}
    shape = plot.Shape(since_s=times["since"], until_s=times["until"])
    runs = {name: run_of(sheet, name) for name in question.runs}
    if len(runs) > 1:
        chart = plot.overlay(kind, runs, shape=shape, **selected)
    else:
        chart = plot.draw(kind, next(iter(runs.values())), shape=shape, **selected)
    return inline(chart, question.id)


def _seconds(text: str | None) -> float | None:
    from ackclock._util.units import parse

    return None if text is None else parse(text, "duration")
