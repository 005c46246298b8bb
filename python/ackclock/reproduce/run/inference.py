"""What a search of a paper's unstated parameters found, as ``forensics.json`` has it."""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock._util.foreign_files import read_bytes, read_json
from ackclock.errors import AckclockError
from ackclock.results.old_columns import with_old_names

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ackclock.reproduce.paper import PaperData

__all__ = ["FILE", "ClaimFound", "Inference", "load", "paper_hash"]

FILE = "forensics.json"
"""Name of the file that a search writes."""

NOT_SEARCHED = {
    "known_deviation",
    "matters",
    "note",
    "ours",
    "reason",
    "source",
    "statement",
    "unstated",
    "what",
    "where",
}
"""Keys in entries of claims, errata and parameters, and in checks, that no search uses: texts for
readers, and the parameters that a claim names, as a search varies them all."""

SOURCES = ("claims.toml", "errata.toml", "unstated.toml", "views.toml", "scenarios", "expected")
"""Parts of a paper's folder on which the result of a search depends."""


@dataclass(frozen=True)
class ClaimFound:
    """What a search says of one claim.

    Parameters
    ----------
    share
        Share of the points of the design at which it is met; None if runs as cheap as those of
        the design do not judge it.
    is_inferred
        Whether it is met at the inferred settings on seeds that the search did not see.
    decides
        Parameters that decide, the most important first.
    is_met_at_best
        Whether it is met on fresh seeds at the best settings found, which may be no clear
        inference.
    is_met_cheaply
        Whether it is met at the defaults in the search's cheapest runs, on which `share` rests.
    """

    share: float | None
    is_inferred: bool
    decides: tuple[str, ...]
    is_met_at_best: bool = False
    is_met_cheaply: bool = False


@dataclass(frozen=True)
class Inference:
    """A search's result.

    Parameters
    ----------
    point
        The inferred settings: values by parameter.
    claims
        By id.
    """

    point: Mapping[str, Any]
    claims: Mapping[str, ClaimFound]

    @property
    def point_text(self) -> str:
        """The inferred settings, written out."""
        return ", ".join(f"{name} = {value}" for name, value in self.point.items())


def paper_hash(paper: PaperData) -> str:
    """Hash the parts of a paper on which a search depends, without comments and texts for readers.

    Parameters
    ----------
    paper
        The paper.
    """
    found = hashlib.sha256()
    for name in SOURCES:
        at = paper.folder / name
        for file in sorted(at.glob("*")) if at.is_dir() else [at]:
            if file.is_file():
                content: Any = read_bytes(file)
                if file.suffix == ".toml":
                    table = tomllib.loads(content.decode())
                    rules = table if at.is_dir() else _rules(table)
                    text = json.dumps(rules, sort_keys=True, default=str)
                    # Another name of a column makes no search stale.
                    content = with_old_names(text).encode()
                found.update(f"{file.relative_to(paper.folder).as_posix()}\0".encode())
                found.update(content)
    return found.hexdigest()


def _rules(table: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a file and their checks without what no search uses."""
    return {
        kind: [_bare(entry) for entry in entries] if isinstance(entries, list) else entries
        for kind, entries in table.items()
    }


def _bare(entry: Mapping[str, Any]) -> dict[str, Any]:
    bare = {key: value for key, value in entry.items() if key not in NOT_SEARCHED}
    return bare | {"check": [_bare(check) for check in entry.get("check", ())]}


def load(paper: PaperData, file: Path | None = None) -> Inference | None:
    """Read the result of a search.

    Parameters
    ----------
    paper
        The paper that it must be of.
    file
        The file, or the folder that has it; left out: that of the paper's folder, if it has one.

    Raises
    ------
    AckclockError
        There is no such file, it is none of a search, or the paper was changed since.
    """
    at = paper.folder / FILE if file is None else file / FILE if file.is_dir() else file
    if file is None and not at.is_file():
        return None
    try:
        data = read_json(at, links=True)
        made, point, claims = data["paper_hash"], data["inferred"]["values"], data["claims"]
        found = {
            entry["id"]: ClaimFound(
                None if entry["share"] is None else float(entry["share"]),
                bool(entry["holds_inferred"]),
                tuple(entry["decides"]),
                entry.get("verdict_inferred") == "reproduced",
                entry.get("met_at_defaults") is True,
            )
            for entry in claims
        }
    except OSError as error:
        raise AckclockError(f"{at}: {error.strerror}; expected a {FILE}") from None
    except (ValueError, KeyError, TypeError):
        message = f"{at} is not the result of a search; expected a {FILE} of ackclock forensics"
        raise AckclockError(message) from None
    if made != paper_hash(paper):
        message = (
            f"{at}: the paper's claims, parameters or studies were changed since this search;"
            f" run ackclock forensics {paper.name} again, or delete the file"
        )
        raise AckclockError(message)
    return Inference(point, found)
