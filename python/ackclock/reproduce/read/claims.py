"""Reads claims and errata: entries written one by one, and entries made from a file's rows."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any, Protocol

from ackclock._util.foreign_files import read_text
from ackclock.errors import suggestion
from ackclock.reproduce.paper import Check, Claim, Expected, PaperReading
from ackclock.reproduce.read import form

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["claims", "csv_rows", "make_claim", "margins", "readings"]

FILES = ("claims.toml", "errata.toml")

BOUNDS = ("equals", "between", "at_least", "at_most", "above", "below", "holds")


class Reader(Protocol):
    """What of a folder's reader is needed here."""

    folder: Path

    def report(self, file: Path, path: str, message: str) -> None:
        """Note a problem."""

    def document(self, name: str, rules: Mapping[str, Any], *, needed: bool = True) -> Any:
        """Read a TOML file and check its form."""

    def unique(self, file: Path, kind: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Report ids that are there twice."""


def claims(reader: Reader, expected: Mapping[str, Expected]) -> dict[str, Claim]:
    """Read ``claims.toml`` and, if there is one, ``errata.toml``.

    Parameters
    ----------
    reader
        Of the folder.
    expected
        Files that claims may be made from.
    """
    claims_by_id: dict[str, Claim] = {}
    margins_by_id = margins(reader)
    for name in FILES:
        file = reader.folder / name
        data = reader.document(name, form.CLAIMS, needed=name == "claims.toml")
        for entry in _entries(reader, file, data, expected):
            _put_margins(reader, file, entry, margins_by_id)
            if not {"id", "statement", "kind", "where"} <= set(entry):
                continue
            if entry["id"] in claims_by_id:
                reader.report(file, f"claim[{entry['id']}].id", "is there more than once")
            if (name == "errata.toml") != (entry["kind"] == "E"):
                message = 'errata, and only they, have kind "E" and are in errata.toml'
                reader.report(file, f"claim[{entry['id']}].kind", message)
            claims_by_id[entry["id"]] = make_claim(reader, file, entry)
    return claims_by_id


def readings(reader: Reader) -> dict[str, PaperReading]:
    """Read what can be read in several ways.

    Parameters
    ----------
    reader
        Of the folder.
    """
    return {
        entry["id"]: PaperReading(entry["id"], entry["what"], entry["options"])
        for entry in _list_entries(reader, "reading")
        if {"id", "what", "options"} <= set(entry)
    }


def margins(reader: Reader) -> dict[str, dict[str, Any]]:
    """Read the distances that count as none.

    Parameters
    ----------
    reader
        Of the folder.
    """
    return {
        entry["id"]: entry
        for entry in _list_entries(reader, "margin")
        if {"id", "value", "reason"} <= set(entry)
    }


def _list_entries(reader: Reader, kind: str) -> Iterator[dict[str, Any]]:
    data = reader.document("claims.toml", form.CLAIMS)
    entries = [entry for entry in data.get(kind, ()) if isinstance(entry, dict)]
    reader.unique(reader.folder / "claims.toml", kind, entries)
    yield from entries


def _put_margins(
    reader: Reader,
    file: Path,
    entry: dict[str, Any],
    margins_by_id: Mapping[str, Mapping[str, Any]],
) -> None:
    """Replace bounds written ``margin.ID`` by their numbers; the margin's reason is theirs."""
    for number, check in enumerate(entry.get("check", ())):
        expect = check.get("expect") if isinstance(check, dict) else None
        if not isinstance(expect, dict):
            continue
        for key, bound in expect.items():
            if not isinstance(bound, str) or not bound.startswith("margin."):
                continue
            name = bound.removeprefix("margin.")
            if name not in margins_by_id:
                message = f'there is no margin "{name}"; {suggestion(name, margins_by_id)}'
                reader.report(file, f"claim[{entry.get('id')}].check[{number}].expect", message)
                continue
            expect[key] = margins_by_id[name]["value"]
            check.setdefault("reason", f"margin {name}: {margins_by_id[name]['reason']}")


def _entries(
    reader: Reader, file: Path, data: Mapping[str, Any], expected: Mapping[str, Expected]
) -> Iterator[dict[str, Any]]:
    yield from (entry for entry in data.get("claim", ()) if isinstance(entry, dict))
    for number, entry in enumerate(data.get("claims_from", ())):
        key_path = f"claims_from[{number}]"
        source = expected.get(str(entry.get("file", "")).removesuffix(".csv"))
        if source is None:
            file_names = [f"{name}.csv" for name in expected]
            message = f'there is no file "{entry.get("file")}" in expected'
            reader.report(file, f"{key_path}.file", f"{message}; {suggestion('', file_names)}")
            continue
        for row in csv_rows(source.file):
            try:
                template = {key: value for key, value in entry.items() if key != "file"}
                yield {**_fill_template(template, row), "made_from": source.file.name}
            except KeyError as error:
                message = f"{source.file.name} has no column {error}; {suggestion('', row)}"
                reader.report(file, key_path, message)
                break


def csv_rows(file: Path) -> Iterator[dict[str, str]]:
    """Rows of a file of ``expected/``, without its comments.

    Parameters
    ----------
    file
        The file.
    """
    lines = io.StringIO(read_text(file), newline="")
    yield from csv.DictReader(line for line in lines if not line.startswith("#"))


def _fill_template(value: Any, row: Mapping[str, str]) -> Any:
    """A value with ``{column}`` replaced by the row's text."""
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda match: row[match[1]], value)
    if isinstance(value, dict):
        return {key: _fill_template(item, row) for key, item in value.items()}
    if isinstance(value, list):
        return [_fill_template(item, row) for item in value]
    return value


def make_claim(reader: Reader, file: Path, entry: Mapping[str, Any]) -> Claim:
    """Make a claim of its entry; what is wrong with it is reported.

    Parameters
    ----------
    reader
        Of the folder.
    file
        Where the entry is.
    entry
        Its keys, among them id, statement, kind, where.
    """
    key_path = f"claim[{entry['id']}]"
    ways = [key for key in ("check", "not_checkable", "same_as") if key in entry]
    if len(ways) > 1:
        reader.report(file, key_path, f"has {ways[0]} and also {ways[1]}; expected one of them")
    if not ways:
        message = "needs a check, not_checkable with the reason, or same_as with other claims"
        reader.report(file, key_path, message)
    checks = []
    for number, check in enumerate(entry.get("check", ())):
        if isinstance(check, dict) and {"measure", "expect"} <= set(check):
            check_path = f"{key_path}.check[{number}]"
            _expectation(reader, file, check_path, check)
            _form_of_number(reader, file, check_path, check)
            name = check.get("name", "" if len(entry["check"]) == 1 else str(number + 1))
            fields = {key: value for key, value in check.items() if key != "name"}
            checks.append(Check(path=check_path, name=name, **fields))
    lists = ("unstated", "refuted_by", "same_as")
    fields = {key: value for key, value in entry.items() if key not in ("check", *lists)}
    many: dict[str, Any] = {key: tuple(entry.get(key, ())) for key in lists}
    return Claim(file=file, checks=tuple(checks), **many, **fields)


def _form_of_number(reader: Reader, file: Path, key_path: str, check: Mapping[str, Any]) -> None:
    """Check that ``statistic`` and ``ran`` go with what is expected."""
    statistic, ran = check.get("statistic", "mean"), check.get("ran")
    if statistic == "half-width" and ran is None:
        message = "is missing: of how many runs is the interval?"
        reader.report(file, f"{key_path}.ran", message)
    if ran is not None and statistic == "mean" and "equals" not in check["expect"]:
        message = "goes with equals, the printed number, or with statistic half-width"
        reader.report(file, f"{key_path}.ran", message)
    if statistic != "mean" and "holds" in check["expect"]:
        message = f"{statistic} is a number; holds is for truth values"
        reader.report(file, f"{key_path}.statistic", message)


def _expectation(reader: Reader, file: Path, key_path: str, check: Mapping[str, Any]) -> None:
    """Check that an expectation is one, and that its tolerance has a reason."""
    expect = check["expect"]
    if not isinstance(expect, dict):
        return
    has = [key for key in BOUNDS if key in expect]
    if len(has) != 1:
        trouble = f"has {' and '.join(has)}" if has else "says nothing"
        message = f"{trouble}; expected exactly one of {', '.join(BOUNDS)}"
        reader.report(file, f"{key_path}.expect", message)
    if ("equals" in expect) != ("tolerance" in expect):
        message = "equals needs a tolerance, 0 if it is exact; only equals has one"
        reader.report(file, f"{key_path}.expect", message)
    tolerance = expect.get("tolerance", 0)
    if isinstance(tolerance, str) and not re.fullmatch(r"\d+(\.\d+)? ?%", tolerance):
        message = f'"{tolerance}" is not a tolerance; expected a number or something like "5 %"'
        reader.report(file, f"{key_path}.expect.tolerance", message)
    elif isinstance(tolerance, int | float) and tolerance < 0:
        message = f"{tolerance} is negative; expected a distance, at least 0"
        reader.report(file, f"{key_path}.expect.tolerance", message)
    elif tolerance not in (0, "0 %") and not check.get("reason"):
        reader.report(file, f"{key_path}.reason", "is missing: why this tolerance and no other?")
    if "between" in expect and list(expect["between"]) != sorted(expect["between"]):
        reader.report(file, f"{key_path}.expect.between", "has its ends in the wrong order")
