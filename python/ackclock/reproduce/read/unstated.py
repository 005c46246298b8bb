"""Reads parameters that a paper does not state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ackclock.catalogue.entries import read_entry
from ackclock.reproduce.paper import Parameter, Target

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["parameters"]


class Reader(Protocol):
    """What of a folder's reader is needed here."""

    folder: Path

    def report(self, file: Path, path: str, message: str) -> None:
        """Note a problem."""

    def tables(self, file: Path, kind: str, data: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Give the tables of a list."""
        ...


def parameters(reader: Reader, data: Mapping[str, Any]) -> dict[str, Parameter]:
    """Read the entries of ``unstated.toml``.

    Parameters
    ----------
    reader
        Of the folder.
    data
        Content of the file.
    """
    file = reader.folder / "unstated.toml"
    by_id = {}
    for entry in reader.tables(file, "parameter", data):
        parameter = read_entry(Parameter, entry, file=file, sets=_read_targets(entry))
        if parameter is None:
            continue
        place = f"parameter[{parameter.id}]"
        if ("not_settable" in entry) == ("sets" in entry):
            reader.report(file, place, "needs either sets, or not_settable with the reason")
        plausible = [key for key in ("values", "range") if key in entry]
        if "sets" in entry and ("default" not in entry or len(plausible) != 1):
            reader.report(file, place, "needs default, and values or range, beside sets")
        if "range" in entry and not _is_range(entry["range"]):
            message = "needs from below to; on a log scale both above 0"
            reader.report(file, f"{place}.range", message)
        _report_values(reader, parameter, place)
        by_id[parameter.id] = parameter
    return by_id


def _read_targets(entry: Mapping[str, Any]) -> tuple[Target, ...]:
    """One target for each study that an entry sets something in."""
    targets = []
    for table in entry.get("sets", ()):
        studies = table.get("study") if isinstance(table, dict) else None
        for study in studies if isinstance(studies, list) else [studies]:
            target = None if study is None else read_entry(Target, table, study=study)
            targets += [] if target is None else [target]
    return tuple(targets)


def _is_range(table: Mapping[str, Any]) -> bool:
    if not {"from", "to"} <= set(table) or not table["from"] < table["to"]:
        return False
    return table.get("scale") != "log" or table["from"] > 0


def _report_values(reader: Reader, parameter: Parameter, place: str) -> None:
    """Check that each value of a parameter says what it sets, where labels are used."""
    for number, target in enumerate(parameter.sets):
        labels = [str(value) for value in (*parameter.values, parameter.default)]
        lacking = [label for label in dict.fromkeys(labels) if label not in target.values]
        if target.values and lacking:
            message = f'does not say what the value "{lacking[0]}" sets'
            reader.report(parameter.file, f"{place}.sets[{number}].values", message)
