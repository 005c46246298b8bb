"""Finds folders of claims over studies: those that ship with ackclock by name, others by path."""

from __future__ import annotations

from pathlib import Path

from ackclock.errors import UnsupportedError, suggestion

__all__ = ["find_folder", "list_bundled"]


def list_bundled(home: Path, file: str) -> list[str]:
    """Names of the folders that ship with ackclock.

    Parameters
    ----------
    home
        Where they are.
    file
        What each has.
    """
    return sorted(path.parent.name for path in home.glob(f"*/{file}"))


def find_folder(name_or_path: str | Path, kind: str, home: Path, file: str) -> Path:
    """Find a folder of claims over studies.

    Parameters
    ----------
    name_or_path
        Name of one that ships with ackclock, or the path of a folder.
    kind
        What it is, for messages.
    home
        Where those are that ship with ackclock.
    file
        What each has.

    Raises
    ------
    UnsupportedError
        There is no such folder.
    """
    if isinstance(name_or_path, str) and (home / name_or_path / file).is_file():
        return home / name_or_path
    folder = Path(name_or_path)
    if folder.name in ("", ".."):
        folder = folder.resolve()
    if (folder / file).is_file():
        return folder
    if folder.is_dir():
        raise UnsupportedError(f"{folder} has no {file}; expected the folder of a {kind}")
    hint = suggestion(str(name_or_path), list_bundled(home, file))
    raise UnsupportedError(f'there is no {kind} "{name_or_path}"; {hint}')
