"""What a paper's folder says, as frozen objects. `ackclock.reproduce.read.folder` reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = [
    "Check",
    "Claim",
    "Expected",
    "Figure",
    "PaperData",
    "PaperReading",
    "Parameter",
    "Study",
    "Target",
]


@dataclass(frozen=True)
class Study:
    """One sweep file of ``scenarios/``.

    Parameters
    ----------
    name
        Name of the file without its ending; the schema under which queries find its tables.
    file
        The sweep file.
    document
        Its content.
    skipped
        Per tier in which it does not run, the reason.
    """

    name: str
    file: Path
    document: Mapping[str, Any]
    skipped: Mapping[str, str]


@dataclass(frozen=True)
class Expected:
    """A file of ``expected/``: values as the paper prints them.

    Parameters
    ----------
    name
        Name of the file without its ending; queries find it as ``expected.NAME``.
    file
        The CSV file.
    source
        Where in the paper the values are: the comment lines at its head.
    """

    name: str
    file: Path
    source: str


_POINTS = re.compile(r"(?<!replicate)\s+AS\s+replicate\b", re.IGNORECASE)
"""In a measure whose replicates are values of a parameter."""


@dataclass(frozen=True)
class Check:
    """One measure of a claim and what it must be. Keys as in ``claims.toml``."""

    path: str
    name: str
    measure: str
    expect: Mapping[str, Any]
    reason: str = ""
    unit: str = ""
    interval: str = "t"
    statistic: str = "mean"
    ran: int = 0
    ours: str = ""
    reading: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_design(self) -> bool:
        """Whether its replicates are points that somebody chose, such as start times, not seeds."""
        return bool(_POINTS.search(self.measure))

    def counts(self, chosen: Mapping[str, str]) -> bool:
        """Whether it counts under a choice of readings.

        Parameters
        ----------
        chosen
            Option by reading.
        """
        return all(chosen.get(name, option) == option for name, option in self.reading.items())


@dataclass(frozen=True)
class PaperReading:
    """A quantity or sentence that can be read in several ways. Keys as in ``claims.toml``."""

    id: str
    what: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class Claim:
    """One statement of the paper. Keys as in ``claims.toml``."""

    id: str
    statement: str
    kind: str
    where: str
    file: Path
    paper: str = ""
    note: str = ""
    unstated: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    not_checkable: str = ""
    known_deviation: str = ""
    made_from: str = ""
    refuted_by: tuple[str, ...] = ()
    not_public: str = ""
    full_only: str = ""
    same_as: tuple[str, ...] = ()

    @property
    def readings(self) -> list[str]:
        """Readings on which its checks depend."""
        return list(dict.fromkeys(name for check in self.checks for name in check.reading))


@dataclass(frozen=True)
class Figure:
    """One figure of the paper; ``entry`` has the keys of ``figures.toml``."""

    id: str
    title: str
    file: Path
    entry: Mapping[str, Any] = field(default_factory=dict)

    @property
    def not_drawable(self) -> str:
        """Why it is not drawn; empty if it is."""
        return str(self.entry.get("not_drawable", ""))

    @property
    def queries(self) -> dict[str, str]:
        """Its queries by key."""
        return {key: self.entry[key] for key in ("data", "printed", "model") if key in self.entry}


@dataclass(frozen=True)
class Target:
    """A value of a study: of its scenario, or of its file where the path begins with ``over``.

    Parameters
    ----------
    study
        Its name.
    path
        Of the value.
    values
        What is set, by value of the parameter; empty if it is the parameter's value itself.
    """

    study: str
    path: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def value(self, chosen: Any) -> Any:
        """What is set for a value of the parameter.

        Parameters
        ----------
        chosen
            One of the parameter's values.
        """
        return self.values[str(chosen)] if self.values else chosen


@dataclass(frozen=True)
class Parameter:
    """What the paper leaves unstated. Keys as in ``unstated.toml``."""

    id: str
    what: str
    reason: str
    file: Path
    default: Any = None
    matters: str = ""
    values: tuple[Any, ...] = ()
    sets: tuple[Target, ...] = ()
    range: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    not_settable: str = ""

    def changes(self, study: str, chosen: Any) -> dict[str, Any]:
        """What a value sets in a study, by path.

        Parameters
        ----------
        study
            Its name.
        chosen
            Value of the parameter.
        """
        return {target.path: target.value(chosen) for target in self.sets if target.study == study}


@dataclass(frozen=True)
class PaperData:
    """A paper's folder, read and checked.

    Parameters
    ----------
    name
        Name of the folder.
    folder
        The folder.
    about
        Content of ``paper.toml``.
    studies, expected, figures, claims, parameters, readings, margins
        Entries by id.
    """

    name: str
    folder: Path
    about: Mapping[str, Any]
    studies: Mapping[str, Study]
    expected: Mapping[str, Expected]
    figures: Mapping[str, Figure]
    claims: Mapping[str, Claim]
    parameters: Mapping[str, Parameter]
    readings: Mapping[str, PaperReading] = field(default_factory=dict)
    margins: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def defaults(self, study: str) -> dict[str, Any]:
        """Values that unstated parameters give to a study's scenario, by path.

        Parameters
        ----------
        study
            Its name.
        """
        return self.changes(study, {})

    def changes(self, study: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """What all unstated parameters set in a study, by path.

        Parameters
        ----------
        study
            Its name.
        values
            By parameter; those left out are at their defaults.
        """
        made: dict[str, Any] = {}
        for parameter in self.parameters.values():
            made |= parameter.changes(study, values.get(parameter.id, parameter.default))
        return made
