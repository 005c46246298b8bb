"""Reads a file of transfers: which format it has, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock._util.foreign_files import ForeignFileError, read_bytes
from ackclock.errors import Problem, ScenarioError
from ackclock.scenario.transfer_files.goal import read_goal
from ackclock.scenario.transfer_files.htsim import read_matrix
from ackclock.scenario.transfer_files.line_error import LineError

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.catalogue.schema import Data

__all__ = ["resolve_transfers"]

_READERS = {".cm": read_matrix, ".tm": read_matrix, ".goal": read_goal}


def resolve_transfers(spec: Data, folder: Path, where: str) -> Data:
    """Copy a pattern that names a file of transfers as one that lists them.

    Parameters
    ----------
    spec
        The pattern with ``file``, a connection matrix of htsim (``.cm``, ``.tm``) or a schedule in
        GOAL (``.goal``).
    folder
        What the file is relative to.
    where
        Path of the pattern in the scenario.

    Raises
    ------
    ScenarioError
        The file cannot be read or is malformed; the message names file and line.
    """
    where = f"{where}.file"
    path = folder / str(spec["file"])

    def wrong(message: str) -> ScenarioError:
        return ScenarioError([Problem(where, message)])

    if "transfers" in spec:
        raise wrong("names a list beside transfers; expected one of them")
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise wrong(f'"{path.name}" ends in none of .cm, .tm and .goal; expected one of them')
    try:
        text = read_bytes(path, links=True).decode("utf-8")
    except OSError as error:
        raise wrong(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise wrong(f"{path} is not text; expected lines of text") from None
    except ForeignFileError as error:
        raise wrong(f"cannot read {path}: {error.reason}") from None
    except ValueError as error:  # a path with a null character
        raise wrong(f"cannot read {path}: {error}") from None
    try:
        transfers = reader(text)
    except LineError as error:
        position = f"{path}, line {error.line}" if error.line else f"{path}"
        raise wrong(f"{position}: {error}") from None
    without_file = {key: value for key, value in spec.items() if key != "file"}
    return {**without_file, "transfers": [transfer.to_table() for transfer in transfers]}
