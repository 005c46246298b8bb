"""What was found of a control, as plain data; text, pages and XML are written from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock._util.command_line import without_places
from ackclock.dossier.form import STANDINGS, VERDICTS
from ackclock.dossier.read import PROFILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.dossier.baseline import BaselineChange
    from ackclock.dossier.run import DossierResults
    from ackclock.dossier.task import DossierTask

__all__ = ["Finding", "command_of", "origin", "write_control"]


@dataclass(frozen=True)
class Finding:
    """An evaluation, and what changed against a baseline.

    Parameters
    ----------
    results
        The evaluation.
    changes
        What changed; None without a baseline.
    """

    results: DossierResults
    changes: Sequence[BaselineChange] | None = None

    @property
    def failures(self) -> list[str]:
        """What ``--strict`` fails by: what is worse than the baseline, or else what is not met."""
        if self.changes is not None:
            return [str(change) for change in self.changes if change.is_regression]
        return [
            f"{row.requirement.section} {row.requirement.title}"
            for row in self.results.rows
            if row.verdict == "not met"
        ]

    @property
    def version(self) -> str:
        """Version of ackclock."""
        from ackclock import _core

        return _core.version()

    @property
    def source(self) -> str:
        """The document that the control is of, with its version; empty for user code."""
        from ackclock.catalogue.schema import entry

        value = self.results.task.control.value
        name = value.get("kind") if isinstance(value, dict) else value
        registered = entry("cc", str(name))
        return str(registered["source"]) if registered else ""

    @property
    def command(self) -> str:
        """What gives this again."""
        return command_of("dossier", [self.results.task])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data; ``ackclock schema dossier`` prints its form."""
        results = self.results
        task = results.task
        return {
            "dossier": 1,
            "control": task.control.label,
            "control_source": self.source,
            "value": without_places(task.control.value),
            "tcp": dict(task.control.tcp),
            "flow": dict(task.control.flow),
            "user_code_hash": results.code_hash,
            **origin(task),
            "command": self.command,
            "counts": {verdict: results.count(verdict) for verdict in VERDICTS},
            "standings": {word: results.count_standing(word) for word in STANDINGS},
            "chance": results.reproduction.chance,
            "runs": results.runs,
            "cpu_s": results.cpu_s,
            "studies": {
                name: dict(study.provenance) for name, study in results.reproduction.studies.items()
            },
            "audits": {name: one.to_dict() for name, one in results.audits.items()},
            "rows": [row.to_dict() for row in results.rows],
            "regressions": [c.to_dict() for c in self.changes or () if c.is_regression],
        }


def origin(task: DossierTask) -> dict[str, Any]:
    """What a task's numbers come from, as plain data: profile, tier, rivals, version, seed."""
    from ackclock import _core

    return {
        "profile": task.profile.name,
        "title": task.profile.about["title"],
        "source": task.profile.about["source"],
        "tier": task.tier,
        "against": dict(task.rivals),
        "version": _core.version(),
        "seed": task.seed,
    }


def write_control(value: Any) -> str:
    """A control as one types it where its file is."""
    value = without_places(value)
    if isinstance(value, str):
        return value
    import json

    if set(value) == {"class"}:
        return str(value["class"])
    inside = ", ".join(f"{key} = {json.dumps(item)}" for key, item in value.items())
    return "{" + inside + "}"


def command_of(name: str, tasks: Sequence[DossierTask]) -> str:
    """Write the command that gives an evaluation or a comparison again.

    Parameters
    ----------
    name
        ``dossier`` or ``compare``.
    tasks
        One for each control.
    """
    import shlex

    task = tasks[0]
    folder = task.profile.data.folder
    arguments = ["ackclock", name, *(write_control(each_task.control.value) for each_task in tasks)]
    profile = task.profile.name if folder.parent == PROFILES else str(folder)
    arguments += ["--profile", profile, "--tier", task.tier]
    arguments += [word for only in task.only for word in ("--only", only)]
    if dict(task.rivals) != dict(task.profile.against):
        arguments += ["--against", ",".join(write_control(value) for value in task.rivals.values())]
    arguments += [] if task.seed is None else ["--seed", str(task.seed)]
    arguments += [] if task.reps is None else ["--reps", str(task.reps)]
    arguments += ["--argue", task.argued_in] if task.argued_in else []
    return shlex.join(arguments)
