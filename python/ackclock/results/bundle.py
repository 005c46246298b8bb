"""The run bundle: a folder with a run's scenario, summary, tables and provenance."""

from __future__ import annotations

import math
import platform
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ackclock._util.foreign_files import ForeignFileError, check_folder, read_json, read_table
from ackclock._util.json_text import json_text
from ackclock._util.output_folder import whole_folder
from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pyarrow as pa

__all__ = ["BUNDLE_VERSION", "fill_bundle", "read_bundle", "write_bundle"]

BUNDLE_VERSION = 1
"""Version of the run bundle's layout; raised when an old reader would misread a new bundle."""


def write_bundle(
    folder: Path,
    write_case: Callable[[Path], object],
    summary: Mapping[str, Any],
    tables: Mapping[str, pa.Table],
    command: str | None,
) -> Path:
    """Write a run bundle; it appears only when it is whole.

    Parameters
    ----------
    folder
        Is made, or replaced if it is a run bundle.
    write_case
        Writes ``scenario.toml``, and what it names, into a folder.
    summary, tables
        Of the run.
    command
        What the user typed, for the provenance.

    Returns
    -------
    Path
        The folder.
    """
    return fill_bundle(folder, write_case, lambda _: (summary, tables), command)


def fill_bundle(
    folder: Path,
    write_case: Callable[[Path], object],
    simulate: Callable[[Path], tuple[Mapping[str, Any], Mapping[str, pa.Table]]],
    command: str | None,
) -> Path:
    """Simulate, and write a run bundle meanwhile; it appears only when it is whole.

    Parameters
    ----------
    folder, write_case, command
        As of `write_bundle`.
    simulate
        Gets the folder in which the bundle is made, where it may write tables; returns the summary
        and all tables.

    Returns
    -------
    Path
        The folder.
    """

    def fill(at: Path) -> None:
        summary, tables = simulate(at)
        write_case(at)
        _write_json(at / "summary.json", summary)
        for name in tables:
            file = at / f"{name}.parquet"
            if not file.exists():
                _write_table(tables, name, file)
        _write_json(at / "provenance.json", _provenance(summary, command))

    return whole_folder(folder, fill, marker="provenance.json")


def _write_table(tables: Mapping[str, pa.Table], name: str, file: Path) -> None:
    import pyarrow.parquet as pq

    from ackclock._util.arrow import Tables

    if isinstance(tables, Tables):
        tables.copy_to(name, file)
    else:
        pq.write_table(tables[name], file, compression="zstd")


def _provenance(summary: Mapping[str, Any], command: str | None) -> dict[str, Any]:
    from importlib.metadata import version

    return {
        "bundle": "ackclock run",
        "bundle_version": BUNDLE_VERSION,
        "scenario_hash": summary.get("scenario_hash"),
        "seed": summary.get("seed"),
        "digest": summary.get("digest"),
        "versions": {
            "ackclock": summary.get("version"),
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "pyarrow": version("pyarrow"),
        },
        "host": {"system": platform.system(), "machine": platform.machine()},
        "command": command,
        "user_code": summary.get("user_code"),
        "user_code_hash": summary.get("user_code_hash"),
        # How late packets were in real time, and whether the run is valid.
        **({"emulation": summary["emulation"]} if "emulation" in summary else {}),
        "written_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _write_json(path: Path, data: object) -> None:
    path.write_text(json_text(data, indent=2) + "\n", encoding="utf-8")


def read_bundle(
    folder: Path, most_bytes: float = math.inf
) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Read summary and tables of a run bundle.

    Parameters
    ----------
    folder
        What `write_bundle` wrote.
    most_bytes
        Memory that its tables may take [bytes].

    Returns
    -------
    tuple
        The summary, and the tables by name.

    Raises
    ------
    AckclockError
        It is not a run bundle, is damaged, or is one of another version.
    """
    try:
        if folder.is_dir():
            check_folder(folder)
    except ForeignFileError as error:
        message = f"{folder} is no run bundle that is read: {error}"
        raise AckclockError(message) from None
    try:
        provenance = read_json(folder / "provenance.json")
        version = provenance["bundle_version"]
        if provenance["bundle"] != "ackclock run":
            raise KeyError("bundle")
    except (OSError, ValueError, KeyError, TypeError):
        message = f"{folder} is not a run bundle: it has no readable provenance.json of one"
        raise AckclockError(message) from None
    if version != BUNDLE_VERSION:
        message = (
            f"{folder} is a run bundle of version {version}; this ackclock reads {BUNDLE_VERSION}:"
            " run the scenario again, or use the ackclock that provenance.json names"
        )
        raise AckclockError(message)
    try:
        summary = read_json(folder / "summary.json")
        tables, free = {}, most_bytes
        for file in sorted(folder.glob("*.parquet")):
            tables[file.stem] = read_table(file, most_bytes=free)
            free -= tables[file.stem].nbytes
    except (OSError, ValueError) as error:
        message = f"{folder} is a damaged run bundle: {error}"
        raise AckclockError(message) from None
    return summary, tables
