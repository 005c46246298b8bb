"""What a paper's folder says, as frozen objects. `ackclock.reproduce.read.folder` reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Check", "Claim", "Expected", "Figure", "PaperData", "Parameter", "Study", "Target"]


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


@dataclass(frozen=True)
class Check:
    """One measure of a claim and what it must be. Keys as in ``claims.toml``."""

    place: str
    name: str
    measure: str
    expect: Mapping[str, Any]
    reason: str = ""
    unit: str = ""
    interval: str = "t"


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
    """A value of a study's scenario."""

    study: str
    path: str


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
    not_settable: str = ""


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
    studies, expected, figures, claims, parameters
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

    def defaults(self, study: str) -> dict[str, Any]:
        """Values that unstated parameters give to a study's scenario, by path.

        Parameters
        ----------
        study
            Its name.
        """
        return {
            target.path: parameter.default
            for parameter in self.parameters.values()
            for target in parameter.sets
            if target.study == study
        }
