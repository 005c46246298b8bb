"""Folders of results: checked before a run, written completely or not at all; temporary folders."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.end_signals import call_before_exit
from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

__all__ = [
    "ScratchFolder",
    "clear_replications",
    "may_replace",
    "may_replicate",
    "whole_folder",
    "write_tables",
]

BUNDLE = "provenance.json"
"""A file by which the folder of a run is known."""

_MEANS = ("means.parquet", "observations.parquet")
_RUN = ("scenario.toml", "summary.json", BUNDLE, "code")


_scratch: set[Path] = set()
"""Temporary folders of this process that there are."""


class ScratchFolder:
    """Makes a temporary folder, when it is first needed, that nobody else can write to.

    It is removed with this object, and at the latest when the process ends: by itself, as a child
    of multiprocessing, or by force after SIGINT or SIGTERM.
    """

    @cached_property
    def path(self) -> Path:
        """The folder."""
        import tempfile
        from multiprocessing.util import Finalize

        path = Path(tempfile.mkdtemp(prefix="ackclock-")).resolve()
        _scratch.add(path)
        # Unlike atexit this also happens in children that end by os._exit, and not in a fork.
        Finalize(self, _remove_scratch, (path,), exitpriority=0)
        return path


def _remove_scratch(path: Path) -> None:
    import shutil  # loaded before, by tempfile

    shutil.rmtree(path, ignore_errors=True)
    _scratch.discard(path)


def _remove_all_scratch() -> None:
    for path in list(_scratch):
        _remove_scratch(path)


call_before_exit(_remove_all_scratch)


def whole_folder(folder: Path, fill: Any, marker: str) -> Path:
    """Write a folder beside its place and rename it when it is whole.

    Parameters
    ----------
    folder
        Where it goes.
    fill
        Called with the folder to write into.
    marker
        A file by which a folder is known to be of the same kind and may be replaced.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    AckclockError
        It may not be replaced, or cannot be written.
    """
    import shutil

    may_replace(folder, marker)
    with _name_folder_on_error(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = _beside(folder, folder.parent)
    try:
        with _name_folder_on_error(folder, beside):
            fill(beside)
            umask = os.umask(0)
            os.umask(umask)
            beside.chmod(0o777 & ~umask)
            if folder.exists():
                shutil.rmtree(folder)
            beside.rename(folder)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return folder


def may_replace(folder: Path, marker: str = BUNDLE) -> None:
    """Check that a folder may be written: it is not there, is empty, or is one of ours.

    Parameters
    ----------
    folder
        Where something is to go.
    marker
        A file by which a folder is known to be ours.

    Raises
    ------
    AckclockError
        Something else is there, or nothing can be written there.
    """
    _may_be_folder(folder)
    if folder.exists() and not (folder / marker).is_file() and any(folder.iterdir()):
        message = (
            f"{folder} exists and is not a folder that ackclock wrote (it has no {marker});"
            " choose another"
        )
        raise AckclockError(message)


def may_replicate(folder: Path) -> None:
    """Check that a folder may take replications: what it holds is of earlier runs, if anything.

    Parameters
    ----------
    folder
        Where the replications are to go.

    Raises
    ------
    AckclockError
        Something else is there, or nothing can be written there.
    """
    _may_be_folder(folder)
    foreign = sorted(path.name for path in _inside(folder) if not _is_of_runs(path))
    if foreign:
        message = f'{folder} holds "{foreign[0]}", which is of no run; choose another folder'
        raise AckclockError(message)


def clear_replications(folder: Path) -> None:
    """Take earlier runs away, so that none is left beside the means of others.

    Parameters
    ----------
    folder
        One that `may_replicate` found right.
    """
    import shutil

    with _name_folder_on_error(folder):
        former = [path for path in _inside(folder) if _is_of_runs(path)]
        # By its marker a bundle is known, so that goes last.
        for path in sorted(former, key=lambda path: path.name == BUNDLE):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def write_tables(folder: Path, tables: Mapping[str, pa.Table]) -> None:
    """Write tables into a folder that is there.

    Parameters
    ----------
    folder
        Where they go.
    tables
        By name.
    """
    import pyarrow.parquet as pq

    with _name_folder_on_error(folder):
        for name, rows in tables.items():
            pq.write_table(rows, folder / f"{name}.parquet")


def _inside(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.exists() else []


def _is_of_runs(at: Path) -> bool:
    # What a killed run leaves has a dot before its name.
    if at.name.startswith(".seed-") or at.name in _MEANS:
        return True
    if at.name.startswith("seed-"):
        return (at / BUNDLE).is_file()
    # A user-defined scenario may have the name of one that a bundle keeps.
    in_bundle = (at.parent / BUNDLE).is_file()
    return in_bundle and (at.name in _RUN or at.suffix == ".parquet")


def _may_be_folder(folder: Path) -> None:
    """Check that a folder is there or could be made, by making another in the same place."""
    with _name_folder_on_error(folder):
        if folder.exists() and not folder.is_dir():
            message = f"{folder} is a file; expected the name of a folder"
            raise AckclockError(message)
        nearest = next(parent for parent in folder.absolute().parents if parent.exists())
        if not nearest.is_dir():
            message = f"{folder} cannot be written: {nearest} is a file; expected a folder"
            raise AckclockError(message)
        _beside(folder, nearest).rmdir()


def _beside(folder: Path, place: Path) -> Path:
    import tempfile

    return Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=place))


@contextmanager
def _name_folder_on_error(folder: Path, beside: Path | None = None) -> Iterator[None]:
    """Name a folder that cannot be written, not the temporary one beside it."""
    try:
        yield
    except OSError as error:
        # Errors of files that are read in order to be copied name these files.
        if beside is not None and not str(error.filename or beside).startswith(str(beside)):
            raise
        why = os.strerror(error.errno) if error.errno else str(error)
        message = f"{folder} cannot be written: {why}"
        raise AckclockError(message) from None
