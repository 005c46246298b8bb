"""Makes cases of documents, files and parcels: whose engine is whichever they name."""

from __future__ import annotations

import copy
import functools
import pkgutil
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.documents import check_depth, read_document
from ackclock._util.output_folder import ScratchFolder
from ackclock.case import ENGINES, Case, Engine, engine_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.case import Make, Parcel

__all__ = ["case", "load_case", "name_original_files", "open_parcel", "register"]

DEFAULT = "packet"


def register(name: str, make: Make, title: str = "") -> None:
    """Add a user-defined engine, for this process.

    Parameters
    ----------
    name
        What documents say after ``engine =``.
    make
        Makes a case of a document (without the key ``engine``) and of its file, if any.
    title
        One sentence.
    """
    ENGINES[name] = Engine(title, make)


def case(document: Mapping[str, Any], file: Path | None = None) -> Case:
    """Make a case of plain data.

    Parameters
    ----------
    document
        Its key ``engine`` names the engine; left out: ``packet``.
    file
        Where it came from: relative paths inside are relative to its folder, messages name it.

    Raises
    ------
    UnsupportedError
        There is no such engine.
    ScenarioError
        The document is wrong.
    """
    check_depth(document, file)
    rest = copy.copy(document) if isinstance(document, dict) else dict(document)
    home = engine_named(rest.pop("engine", DEFAULT), file).home
    made: Case = (pkgutil.resolve_name(home) if isinstance(home, str) else home)(rest, file)
    return made


def load_case(file: str | Path) -> Case:
    """Read a case of any engine from a TOML or JSON file.

    Parameters
    ----------
    file
        The path.

    Raises
    ------
    ScenarioError
        The file cannot be read or has problems.
    UnsupportedError
        It names no engine that there is.
    """
    return case(read_document(Path(file)), Path(file))


@functools.cache
def _unpack_files(content: tuple[tuple[str, str], ...]) -> ScratchFolder:
    """The temporary folder of the files of parcels with this content, until the process ends."""
    del content  # by which it is cached
    folder = ScratchFolder()
    _folders.append(folder.path)
    return folder


_folders: list[Path] = []
"""Where files of parcels were unpacked."""


def name_original_files(text: str) -> str:
    """Replace paths of unpacked files in a message by the names of the files that were packed.

    Parameters
    ----------
    text
        Such as ``Late.on_ack (/tmp/ackclock-5kq2/code/late.py, line 9): ...``.
    """
    for folder in _folders:
        text = re.sub(re.escape(str(folder)) + r"[\\/]code[\\/](?:\d+[\\/])?", "", text)
    return text


def open_parcel(parcel: Parcel, folder: Path | None = None) -> Case:
    """Make the case of a parcel.

    Parameters
    ----------
    parcel
        What `Case.parcel` made.
    folder
        Gets the files; left out: a temporary folder, made once per content, that is gone when
        the process ends.
    """
    if not parcel.files:
        return case(parcel.document)
    if folder is None:
        folder = _unpack_files(tuple(sorted(parcel.files.items()))).path
    for name, text in parcel.files.items():
        place = folder / name
        if not place.is_file() or place.read_text(encoding="utf-8") != text:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    return case(parcel.document, folder / "scenario.toml")
