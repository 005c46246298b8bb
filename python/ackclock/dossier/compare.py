"""Compares controls by one profile: the same environments and seeds, so differences are paired.

Rule::

    difference = value of the second control - value of the first, for each seed that both have
    better: the one whose mean is nearer to where the requirement has it, or further inside, if the
            difference is significant and larger than 5 % of the larger value or of the threshold,
            whichever is larger in size

Significant is decided for all numbers of two controls together, as for a baseline
(`ackclock.dossier.baseline`): of equal controls any number is called different by chance with at
most 5 %.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ackclock.dossier.baseline import compare_pair, decide
from ackclock.dossier.finding import write_control
from ackclock.dossier.run import DossierPlan, evaluate, predict
from ackclock.errors import AckclockError
from ackclock.experiments.store.purpose import runs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ackclock.dossier.baseline import BaselineChange
    from ackclock.dossier.bind import BoundControl
    from ackclock.dossier.rows import RequirementRow
    from ackclock.dossier.run import DossierResults
    from ackclock.dossier.task import DossierTask
    from ackclock.reproduce.run.studies import RunOptions

__all__ = ["Compared", "ControlDifference", "ControlPair", "compare", "named_apart", "predict_all"]


@dataclass(frozen=True)
class ControlDifference:
    """One number of two controls.

    Parameters
    ----------
    row
        Of the first control.
    change
        From the first control to the second.
    expected
        The threshold, written out.
    """

    row: RequirementRow
    change: BaselineChange
    expected: str

    @property
    def family(self) -> str:
        """Family of its requirement."""
        return self.row.requirement.family

    @property
    def winner(self) -> int | None:
        """0: the first is better, 1: the second; None: no significant difference."""
        return 0 if self.change.is_worse else 1 if self.change.is_better else None


@dataclass(frozen=True)
class ControlPair:
    """Two controls, compared number by number.

    Parameters
    ----------
    names
        Their labels.
    differences
        Of every number that decides and that both have.
    """

    names: tuple[str, str]
    differences: tuple[ControlDifference, ...]

    def wins(self, which: int, family: str | None = None) -> list[ControlDifference]:
        """Where one is better, the largest difference first.

        Parameters
        ----------
        which
            0 or 1.
        family
            Of these requirements only.
        """
        won = [
            difference
            for difference in self.differences
            if difference.winner == which and family in (None, difference.family)
        ]
        return sorted(won, key=lambda difference: -difference.change.size)


@dataclass(frozen=True)
class Compared:
    """Controls that were evaluated by one profile.

    Parameters
    ----------
    results
        An evaluation of each.
    pairs
        Every two of them.
    """

    results: tuple[DossierResults, ...]
    pairs: tuple[ControlPair, ...]

    @property
    def names(self) -> list[str]:
        """Labels of the controls."""
        return [one.task.control.label for one in self.results]

    @property
    def families(self) -> list[Any]:
        """Families with rows, in the profile's order."""
        there = {row.requirement.family for row in self.results[0].rows}
        return [f for f in self.results[0].task.profile.families if f["id"] in there]

    def rows(self) -> Iterator[tuple[RequirementRow, ...]]:
        """Each requirement's rows, one a control."""
        yield from zip(*(one.rows for one in self.results), strict=True)


def named_apart(controls: Sequence[BoundControl]) -> list[BoundControl]:
    """Label controls so that no two have one label.

    Parameters
    ----------
    controls
        As they were read.

    Raises
    ------
    AckclockError
        Two are the same.
    """
    labels = [control.label for control in controls]
    labelled = [
        replace(control, label=write_control(control.value))
        if labels.count(control.label) > 1
        else control
        for control in controls
    ]
    for control in labelled:
        if sum(control.label == other.label for other in labelled) > 1:
            raise AckclockError(f"{control.label} is named twice; expected controls that differ")
    return labelled


def predict_all(tasks: Sequence[DossierTask], options: RunOptions) -> DossierPlan:
    """Predict what a comparison would run; nothing is run.

    Parameters
    ----------
    tasks
        One for each control.
    options
        Where and how.
    """
    rows: list[dict[str, Any]] = []
    seen: dict[str, list[Any]] = {}
    workers = 1
    for task in tasks:
        plan = predict(task, options)
        workers = plan.workers
        for row in plan.rows:
            name = str(row["study"])
            study = task.data.studies.get(name)
            # Studies without the control under study are run once, if runs are kept.
            if study is not None and options.store is not False:
                if study.document in seen.setdefault(name, []):
                    continue
                seen[name].append(study.document)
            rows.append({**row, "study": f"{task.control.label}: {name}"})
    return DossierPlan(tuple(rows), workers)


@runs_of("compare")
def compare(tasks: Sequence[DossierTask], options: RunOptions) -> Compared:
    """Evaluate controls and compare their numbers.

    Parameters
    ----------
    tasks
        One for each control, of the same profile, tier, seeds and others.
    options
        Where and how.

    Raises
    ------
    AckclockError
        There is no such tier, or a control broke its contract.
    KeyboardInterrupt
        It was stopped; runs that had finished are in the store.
    """
    results = []
    for task in tasks:
        options.report(f"{task.control.label}:")
        results.append(evaluate(task, options))
    pairs = [
        ControlPair((a.task.control.label, b.task.control.label), tuple(_differences(a, b)))
        for a, b in combinations(results, 2)
    ]
    return Compared(tuple(results), tuple(pairs))


def _differences(a: DossierResults, b: DossierResults) -> Iterator[ControlDifference]:
    comparable = []
    for first, second in zip(a.rows, b.rows, strict=True):
        requirement = first.requirement
        there = {number.key: number for number in second.numbers}
        for number in first.numbers:
            other = there.get(number.key)
            if other is None or not number.decides:
                continue
            title = f"{requirement.section} {requirement.title}"
            change = compare_pair(requirement.id, title, number.to_dict(), other.to_dict())
            if change is not None:
                comparable.append((first, change, number.result.expected))
    decided = decide([change for _, change, _ in comparable])
    for (row, _, expected), change in zip(comparable, decided, strict=True):
        yield ControlDifference(row, change, expected)
