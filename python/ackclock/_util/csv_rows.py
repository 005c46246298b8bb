"""Rows of a CSV file with a head line, as programs and spreadsheets write it.

What is wrong with the file is one sentence. Cells may be separated by commas, semicolons, tabs or
bars, decimals by a comma, numbers may have units in their cells or in the head of their column
(``capacity [Gbit/s]``, ``delay_ms``), and the text may begin with a byte-order mark.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from typing import TYPE_CHECKING

from ackclock._util.foreign_files import ForeignFileError, describe_bytes, read_bytes
from ackclock._util.units import UNITS, parse, quantity_problem
from ackclock.errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = ["CsvError", "Row", "has_other_heads", "rows"]

Row = tuple[int, dict[str, str]]
"""The number of the line that a row ends on, and its cells by column."""

_SEPARATORS = ",;\t|"
_UNITS = {**UNITS, "length": {"km": 1.0, "m": 1e-3, "mi": 1.609344},
          "ratio": {"%": 0.01}}  # fmt: skip
"""Units by quantity, with their factors to what a column's name ends in."""

_TEXTS = frozenset({"id", "name", "node", "path", "source", "src", "from", "target", "dst", "to",
                    "time", "time_utc", "srlg", "kind"})  # fmt: skip
"""Columns of text that files of the package have; their heads may be in capitals."""


class CsvError(Exception):
    """A file is not what was expected.

    Parameters
    ----------
    message
        One sentence without the file's name.
    line
        The line at fault; 0: the file as a whole.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line

    def of(self, path: Path) -> str:
        """The sentence with file and line.

        Parameters
        ----------
        path
            The file.
        """
        where = f"{path}, line {self.line}" if self.line else str(path)
        return f"{where}: {self}"


def rows(
    path: Path,
    *needed: tuple[str, ...],
    quantities: Mapping[str, str] | None = None,
    content: bytes | None = None,
) -> list[Row]:
    """Read all rows; those without any value are left out.

    Parameters
    ----------
    path
        The file, in UTF-8, or in UTF-16 with a byte-order mark.
    *needed
        Columns that must be there, each with the other names that it may have.
    quantities
        Columns of numbers that may be there: ``rate``, ``duration``, ``size``, ``length``,
        ``ratio`` or ``number``. Their cells are given with decimal points, and in the unit of their
        name (bit/s, s, B, km) where the head or the cell has another; what is no number is given as
        it is.
    content
        What the file has, where that is known; left out: it is read.

    Raises
    ------
    CsvError
        The file cannot be read, is not text or not CSV, lacks a column or has one twice, has a row
        that is shorter or longer than the head, a unit that is none of its quantity, numbers
        whose commas may be read in two ways, or bare numbers in a column without a unit.
    """
    quantities = quantities or {}
    try:
        content = read_bytes(path, links=True) if content is None else content
        text = _text(content)
    except OSError as error:
        raise CsvError(f"cannot be read: {error.strerror}") from None
    except ForeignFileError as error:
        raise CsvError(f"cannot be read: {error.reason}") from None
    except ValueError as error:  # a path with a null character
        raise CsvError(f"cannot be read: {error}") from None
    separator, text, skipped = _separator(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    table_rows: list[Row] = []
    try:
        written = next(reader, [])
        column_names = {*itertools.chain(*needed), *quantities, *_TEXTS}
        rates = [choice[0] for choice in needed if quantities.get(choice[0]) == "rate"]
        rate = rates[0] if len(rates) == 1 else None
        heads = [_head(name, column_names, quantities, written, rate) for name in written]
        names = [name for name, _ in heads]
        _check_heads(names, written, needed, column_names)
        for cells in reader:
            line = reader.line_num + skipped
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(names):
                raise CsvError(f"expected {len(names)} values", line)
            table_rows.append((line, dict(zip(names, cells, strict=True))))
    except csv.Error as error:
        raise CsvError(f"this is not CSV: {error}", reader.line_num + skipped) from None
    factors = {name: factor for name, factor in heads if name in quantities}
    _use_points(table_rows, factors, separator)
    for line, row in table_rows:
        for name, factor in factors.items():
            row[name] = _in_unit(row[name], quantities[name], factor, name, line)
    return table_rows


def has_other_heads(names: Iterable[str], column_names: Iterable[str]) -> bool:
    """Whether a head may have to be read as another name than it has.

    Parameters
    ----------
    names
        The heads as they are written.
    column_names
        Names of columns that are looked for.
    """
    searched = {*column_names}
    endings = {unit.lower() for units in _UNITS.values() for unit in units}
    stems = {_stem(name) for name in searched}
    for name in names:
        if name in searched:
            continue
        plain = _plain(name)
        if plain != name or plain in stems:
            return True
        base, _, ending = name.rpartition("_")
        if base in stems and ending in endings:
            return True
    return False


def _text(content: bytes) -> str:
    wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    # Spreadsheets begin UTF-8 with a byte-order mark, too.
    try:
        return content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        hint = 'spreadsheets save that as "CSV UTF-8"'
        raise CsvError(f"is {describe_bytes(content)}; {hint}") from None


def _separator(text: str) -> tuple[str, str, int]:
    """Find what separates cells: the separator, the text from its head on, and lines before it."""
    first, _, after = text.partition("\n")
    stated = re.fullmatch(r'"?sep=(.)"?\r?', first)
    if stated:  # a line for spreadsheets alone
        return stated[1], after, 1
    outside = "".join(first.split('"')[::2])
    return max(_SEPARATORS, key=outside.count), text, 0


def _plain(head: str) -> str:
    """A head in small letters, without what is in brackets."""
    return re.sub(r"[\s-]+", "_", re.sub(r"[\[(].*", "", head).strip()).lower()


def _stem(name: str) -> str:
    """A column's name without its unit."""
    return re.sub(r"_(bps|s|bytes|km)$", "", name)


def _factor(unit: str, quantity: str) -> float | None:
    """Factor of a unit; None if it is none of the quantity."""
    units = _UNITS.get(quantity, {})
    unit = unit.strip().replace("µ", "u").replace("μ", "u")
    if unit in units or "B" in unit:  # a byte is no bit
        return units.get(unit)
    return {name.lower(): factor for name, factor in units.items()}.get(unit.lower())


def _head(
    written: str,
    column_names: set[str],
    quantities: Mapping[str, str],
    heads: list[str],
    rate: str | None,
) -> tuple[str, float]:
    """Name of a column and factor of its bare numbers; NaN where these need a unit.

    ``rate`` is the one column of rates that is looked for: a head that is a unit alone is that.
    """
    text = written.strip()
    if text in column_names:
        return text, 1.0
    plain = _plain(text)
    if plain in column_names and not re.search(r"[\[(]", text):
        return plain, 1.0
    for name, quantity in quantities.items():
        if name in heads or quantity == "number":
            continue
        stem = _stem(name)
        if plain in (name, stem):
            unit_match = re.search(r"[\[(](.*?)[\])]?$", text)
            if unit_match is None:
                return name, math.nan
            factor = _factor(unit_match[1], quantity)
            if factor is None:
                units = ", ".join(_UNITS[quantity])
                message = f'"{unit_match[1]}" of the column "{text}" is no unit of a {quantity}'
                raise CsvError(f"{message}; expected one of: {units}", 1)
            return name, factor
        unit = text[len(stem) + 1 :] if plain.startswith(f"{stem}_") else ""
        if unit and (factor := _factor(unit, quantity)) is not None:
            return name, factor
    if rate is not None and "/" in text and (factor := _factor(text, "rate")) is not None:
        return rate, factor
    return (plain, 1.0) if plain in quantities else (text, 1.0)


def _check_heads(
    names: list[str],
    written: list[str],
    needed: tuple[tuple[str, ...], ...],
    column_names: set[str],
) -> None:
    missing = [choice[0] for choice in needed if not any(name in names for name in choice)]
    if missing:
        hint = suggestion(missing[0], names)
        columns = ", ".join(text.strip() for text in written)
        more = f"; {hint}" if hint.startswith("did") else f"; the columns are {columns}"
        raise CsvError(f"there is no column {', '.join(missing)}{more}", 1)
    for name in column_names:
        same = [text.strip() for column, text in zip(names, written, strict=True) if column == name]
        if len(same) > 1:
            raise CsvError(f'the columns "{same[0]}" and "{same[1]}" are both {name}', 1)


_NUMBER = re.compile(r"\s*[+-]?\d[\d.,]*")


def _use_points(table_rows: list[Row], names: Iterable[str], separator: str) -> None:
    """Give numbers with commas decimal points, where the file leaves no doubt how to read them."""
    numbers = [
        (line, row, name, match[0].strip())
        for line, row in table_rows
        for name in names
        if (match := _NUMBER.match(row[name])) and ("," in match[0] or "." in match[0])
    ]
    commas = [(line, text) for line, _, _, text in numbers if "," in text]
    if not commas:
        return
    grouped = next(((n, t) for n, t in commas if re.search(r",.*[.,]", t)), None)
    decimal = next(((n, t) for n, t in commas if _is_decimal(t)), None)
    if grouped and decimal:
        message = f'"{grouped[1]}" and "{decimal[1]}" (line {decimal[0]}) use commas in two ways'
        raise CsvError(f"{message}; expected decimal points, or commas for decimals alone",
                       grouped[0])  # fmt: skip
    if not grouped and not decimal and separator == ",":
        line, text = commas[0]
        readings = f"{text.replace(',', '.')} or {text.replace(',', '')}"
        raise CsvError(f'"{text}" may be {readings}; expected one without a comma', line)
    for line, row, name, text in numbers:
        if grouped:
            point = text.replace(",", "")
        elif "," in text:
            point = text.replace(".", "").replace(",", ".")
        else:
            message = f'"{text}" has a point, and others have decimal commas; expected one of them'
            raise CsvError(message, line)
        row[name] = row[name].replace(text, point, 1)


def _is_decimal(number: str) -> bool:
    """Whether the comma of a number is for decimals, and cannot be one between thousands."""
    whole, _, after = number.lstrip("+-").partition(",")
    thousands = len(after) == 3 and len(whole) <= 3 and not whole.startswith("0")
    return "," not in after and "." not in after and ("." in whole or not thousands)


def _in_unit(cell: str, quantity: str, factor: float, name: str, line: int) -> str:
    """Write a cell in the unit of its column's name; one that is no number is left as it is."""
    text = cell.strip()
    try:
        number = float(text)
    except ValueError:
        value = _with_unit(text, quantity)
        return cell if value is None else repr(value)
    if factor == 1 or not math.isfinite(number):
        return cell
    if math.isnan(factor) and number != 0:
        stem, example = _stem(name), next(iter(_UNITS[quantity]))
        message = f'{stem} is "{text}" without a unit'
        raise CsvError(f"{message}; expected one in the cell or the head: {stem} [{example}]", line)
    return repr(number * factor) if number else cell


def _with_unit(text: str, quantity: str) -> float | None:
    """Number of a cell with its unit; None if it is none."""
    if quantity in UNITS:
        return parse(text, quantity) if quantity_problem(text, quantity) is None else None
    parts = re.fullmatch(r"([+-]?[\d.]+(?:[eE][+-]?\d+)?)\s*([a-zA-Z%]+)", text)
    factor = _factor(parts[2], quantity) if parts else None
    try:
        return None if parts is None or factor is None else float(parts[1]) * factor
    except ValueError:
        return None
