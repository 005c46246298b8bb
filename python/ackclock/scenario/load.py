"""Reads scenarios from files and documents, and runs from their bundles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ackclock._util.documents import parse_document, read_document
from ackclock.scenario.memory import allowed_bytes
from ackclock.scenario.scenario import Scenario

if TYPE_CHECKING:
    from ackclock.results.run import Run

__all__ = ["load", "load_run"]


def load(source: str | Path) -> Scenario:
    """Read a scenario from a TOML or JSON file, or from such text.

    Parameters
    ----------
    source
        A path, or the text itself (which then contains a line break or a brace).

    Returns
    -------
    Scenario
        Equal to the one that was written.

    Raises
    ------
    ScenarioError
        The file cannot be read or has problems; all are reported at once.
    """
    is_text = isinstance(source, str) and ("\n" in source or "{" in source)
    file = None if is_text else Path(source)
    data = parse_document(str(source)) if file is None else read_document(file)
    return Scenario.from_document(data, file)


def load_run(folder: str | Path) -> Run:
    """Read a run bundle.

    Parameters
    ----------
    folder
        What `Run.save` or ``ackclock run --out`` wrote.

    Returns
    -------
    Run
        Equal in summary and tables to the one written.

    Raises
    ------
    AckclockError
        It is not a run bundle, or one of another version.
    """
    from ackclock.results.bundle import read_bundle
    from ackclock.results.run import Run

    at = Path(folder)
    summary, tables = read_bundle(at, allowed_bytes())
    # A program wrote it, so that plain numbers are of SI units.
    document = dict(read_document(at / "scenario.toml"))
    return Run(Scenario.from_document(document, at / "scenario.toml"), summary, tables)
