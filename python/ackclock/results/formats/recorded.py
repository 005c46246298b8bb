"""What a format reads of a run, and how it writes its file."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

from ackclock.errors import AckclockError, UnsupportedError, how_to_install

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import ModuleType

    import pyarrow as pa

    from ackclock.results.packet_case import PacketCase

__all__ = ["Recorded", "import_extra", "require_any", "rows_by", "write_whole"]


class Recorded(Protocol):
    """A finished run. `ackclock.Run` is one."""

    @property
    def scenario(self) -> PacketCase:
        """What was run."""

    @property
    def summary(self) -> dict[str, Any]:
        """What ``ackclock run --json`` prints."""

    @property
    def tables(self) -> Mapping[str, Any]:
        """The recorded tables by name."""

    def table(self, name: str) -> Any:
        """Fetch a table; an UnsupportedError says how to record one that is missing."""


def write_whole(path: Path, data: bytes) -> Path:
    """Write a file that appears only when it is whole.

    Parameters
    ----------
    path
        The file; is replaced.
    data
        Its content.
    """
    beside = path.with_name(f".{path.name}.part")
    beside.write_bytes(data)
    beside.replace(path)
    return path


def rows_by(table: pa.Table, key: str) -> dict[str, dict[str, Any]]:
    """Split a table by the names of one of its columns.

    Parameters
    ----------
    table
        A recorded table.
    key
        ``flow`` or ``link``.

    Returns
    -------
    dict
        By name the other columns by name, as numpy arrays of numbers or as lists of words, in the
        order of the table.
    """
    import numpy as np

    column = table.column(key).combine_chunks()
    indices = column.indices.to_numpy(zero_copy_only=False)
    order = np.argsort(indices, kind="stable")
    names = [str(name) for name in column.dictionary.to_pylist()]
    bounds = np.searchsorted(indices[order], np.arange(len(names) + 1))
    columns: dict[str, Any] = {}
    for name in table.column_names:
        if name == key:
            continue
        values = table.column(name)
        if "dictionary" in str(values.type) or str(values.type) == "string":
            columns[name] = np.asarray(values.to_pylist(), dtype=object)[order]
        else:
            columns[name] = values.to_numpy()[order]
    return {
        name: {field: values[bounds[i] : bounds[i + 1]] for field, values in columns.items()}
        for i, name in enumerate(names)
    }


def require_any(run: Recorded, names: tuple[str, ...]) -> None:
    """Refuse a run that has none of some tables.

    Parameters
    ----------
    run
        The run.
    names
        Tables, one of which is needed.
    """
    if not any(name in run.tables for name in names):
        quoted = ", ".join(f'"{name}"' for name in names)
        message = f"none of the tables {quoted} was recorded; run with record.tables = [{quoted}]"
        raise UnsupportedError(message)


def import_extra(module: str, extra: str) -> ModuleType:
    """Import a module of an optional dependency.

    Parameters
    ----------
    module
        Its name.
    extra
        The extra of ackclock that installs it.

    Raises
    ------
    AckclockError
        It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        message = f"{package} is not installed; {how_to_install(extra)}"
        raise AckclockError(message) from None
