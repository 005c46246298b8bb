"""Finds folders of claims over studies: those that ship with ackclock by name, others by path."""

from __future__ import annotations

from pathlib import Path

from ackclock.errors import UnsupportedError, suggestion

__all__ = ["find_folder", "shipped"]


def shipped(at: Path, file: str) -> list[str]:
    """Names of the folders that ship with ackclock.

    Parameters
    ----------
    at
        Where they are.
    file
        What each has.
    """
    return sorted(path.parent.name for path in at.glob(f"*/{file}"))


def find_folder(given: str | Path, kind: str, at: Path, file: str) -> Path:
    """Find a folder of claims over studies.

    Parameters
    ----------
    given
        Name of one that ships with ackclock, or the path of a folder.
    kind
        What it is, for messages.
    at
        Where those are that ship with ackclock.
    file
        What each has.

    Raises
    ------
    UnsupportedError
        There is no such folder.
    """
    if isinstance(given, str) and (at / given / file).is_file():
        return at / given
    folder = Path(given)
    if folder.name in ("", ".."):
        folder = folder.resolve()
    if (folder / file).is_file():
        return folder
    if folder.is_dir():
        raise UnsupportedError(f"{folder} has no {file}; expected the folder of a {kind}")
    hint = suggestion(str(given), shipped(at, file))
    raise UnsupportedError(f'there is no {kind} "{given}"; {hint}')
