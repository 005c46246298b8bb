"""Reads claims and errata: entries written one by one, and entries made from a file's rows."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from ackclock._util.foreign_files import read_text
from ackclock.catalogue.entries import read_entry
from ackclock.errors import suggestion
from ackclock.reproduce.paper import Check, Claim, ClaimsFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ackclock.reproduce.paper import Expected, Margin

__all__ = ["claims", "csv_rows", "name_checks", "report_check"]

FILES = ("claims.toml", "errata.toml")

BOUNDS = ("equals", "between", "at_least", "at_most", "above", "below", "holds")


class Reader(Protocol):
    """What of a folder's reader is needed here."""

    folder: Path

    def report(self, file: Path, path: str, message: str) -> None:
        """Note a problem."""

    def document(self, name: str, form: type, *, needed: bool = True) -> Any:
        """Read a TOML file and check its form."""


def claims(
    reader: Reader, expected: Mapping[str, Expected], margins: Mapping[str, Margin]
) -> dict[str, Claim]:
    """Read ``claims.toml`` and, if there is one, ``errata.toml``.

    Parameters
    ----------
    reader
        Of the folder.
    expected
        Files that claims may be made from.
    margins
        What bounds may name.
    """
    claims_by_id: dict[str, Claim] = {}
    for name in FILES:
        file = reader.folder / name
        data = reader.document(name, ClaimsFile, needed=name == "claims.toml")
        for entry in _entries(reader, file, data, expected):
            _put_margins(reader, file, entry, margins)
            claim = _claim(reader, file, entry)
            if claim is None:
                continue
            if claim.id in claims_by_id:
                reader.report(file, f"claim[{claim.id}].id", "is there more than once")
            if (name == "errata.toml") != (claim.kind == "E"):
                message = 'errata, and only they, have kind "E" and are in errata.toml'
                reader.report(file, f"claim[{claim.id}].kind", message)
            claims_by_id[claim.id] = claim
    return claims_by_id


def _put_margins(
    reader: Reader,
    file: Path,
    entry: dict[str, Any],
    margins: Mapping[str, Margin],
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
            if name not in margins:
                message = f'there is no margin "{name}"; {suggestion(name, margins)}'
                reader.report(file, f"claim[{entry.get('id')}].check[{number}].expect", message)
                continue
            expect[key] = margins[name].value
            check.setdefault("reason", f"margin {name}: {margins[name].reason}")


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


def _claim(reader: Reader, file: Path, entry: Mapping[str, Any]) -> Claim | None:
    """Make a claim of its entry; what is wrong with it is reported."""
    made_from = entry.get("made_from", "")
    claim = read_entry(Claim, entry, file=file, made_from=made_from, checks=())
    if claim is None:
        return None
    key_path = f"claim[{claim.id}]"
    ways = [key for key in ("check", "not_checkable", "same_as") if key in entry]
    if len(ways) > 1:
        reader.report(file, key_path, f"has {ways[0]} and also {ways[1]}; expected one of them")
    if not ways:
        message = "needs a check, not_checkable with the reason, or same_as with other claims"
        reader.report(file, key_path, message)
    checks = []
    for number, table in enumerate(name_checks(entry.get("check", ()))):
        check = read_entry(Check, table, path=f"{key_path}.check[{number}]")
        if check is not None:
            report_check(reader, file, check)
            checks.append(check)
    return replace(claim, checks=tuple(checks))


def name_checks(tables: Sequence[Any]) -> list[Any]:
    """Give each of several checks a name: its number, where it has none.

    Parameters
    ----------
    tables
        As they are in the file; what was wrong stays.
    """
    if len(tables) == 1:
        return list(tables)
    return [
        {"name": str(number), **table} if isinstance(table, dict) else table
        for number, table in enumerate(tables, 1)
    ]


def report_check(reader: Reader, file: Path, check: Check) -> None:
    """Report what is wrong with a check whose form is valid.

    Parameters
    ----------
    reader
        Of the folder.
    file
        Where the check is.
    check
        The check.
    """
    _report_expectation(reader, file, check)
    _report_statistic(reader, file, check)


def _report_statistic(reader: Reader, file: Path, check: Check) -> None:
    """Check that ``statistic`` and ``ran`` go with what is expected."""
    if check.statistic == "half-width" and not check.ran:
        message = "is missing: of how many runs is the interval?"
        reader.report(file, f"{check.path}.ran", message)
    if check.ran and check.statistic == "mean" and "equals" not in check.expect:
        message = "goes with equals, the printed number, or with statistic half-width"
        reader.report(file, f"{check.path}.ran", message)
    if check.statistic != "mean" and "holds" in check.expect:
        message = f"{check.statistic} is a number; holds is for truth values"
        reader.report(file, f"{check.path}.statistic", message)


def _report_expectation(reader: Reader, file: Path, check: Check) -> None:
    """Check that an expectation is one, and that its tolerance has a reason."""
    expect, place = check.expect, f"{check.path}.expect"
    has = [key for key in BOUNDS if key in expect]
    if len(has) != 1:
        trouble = f"has {' and '.join(has)}" if has else "says nothing"
        message = f"{trouble}; expected exactly one of {', '.join(BOUNDS)}"
        reader.report(file, place, message)
    if ("equals" in expect) != ("tolerance" in expect):
        message = "equals needs a tolerance, 0 if it is exact; only equals has one"
        reader.report(file, place, message)
    tolerance = expect.get("tolerance", 0)
    if isinstance(tolerance, str) and not re.fullmatch(r"\d+(\.\d+)? ?%", tolerance):
        message = f'"{tolerance}" is not a tolerance; expected a number or something like "5 %"'
        reader.report(file, f"{place}.tolerance", message)
    elif isinstance(tolerance, int | float) and tolerance < 0:
        message = f"{tolerance} is negative; expected a distance, at least 0"
        reader.report(file, f"{place}.tolerance", message)
    elif tolerance not in (0, "0 %") and not check.reason:
        reader.report(file, f"{check.path}.reason", "is missing: why this tolerance and no other?")
    if "between" in expect and list(expect["between"]) != sorted(expect["between"]):
        reader.report(file, f"{place}.between", "has its ends in the wrong order")
