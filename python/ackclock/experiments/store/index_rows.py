"""What the index holds of a pack, and a digest of it: the index is believed only where it agrees.

The index is a file that anybody may change, and that has no checksums. With each pack it keeps the
digest of its rows, by which flipped bits are noticed; rows that are shown or removed are compared
with what their pack says.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.experiments.store.pack import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa

__all__ = ["PackRows", "digest_of", "pack_rows"]

LONG = 16
"""Lists longer than this, such as the links of a large network, are left out of the index."""

_SHORT = 2000
"""Documents shorter than this are in the index whole [characters]."""

Row = tuple[Any, ...]


@dataclass(frozen=True)
class PackRows:
    """What the index holds of a pack.

    Parameters
    ----------
    runs
        `COLUMNS` of each run and the ID of its document, by key.
    documents
        By ID: the text, and whether something was left out of it.
    """

    runs: Sequence[Row]
    documents: Mapping[str, tuple[str, int]]

    def digest(self) -> str:
        """Give the digest of all."""
        return digest_of(self.runs, self.documents)


def digest_of(runs: Iterable[Row], documents: Mapping[str, tuple[str, int]]) -> str:
    """Compute the digest [hex] of what the index holds of a pack.

    Parameters
    ----------
    runs
        Rows by key, the ID of the document last.
    documents
        At least those that the runs name.
    """
    digest = hashlib.sha256()
    used = set()
    for row in runs:
        digest.update(repr(row).encode())
        used.add(row[-1])
    for name in sorted(used, key=str):
        digest.update(repr((name, documents.get(name))).encode())
    return digest.hexdigest()


def pack_rows(rows: pa.Table) -> PackRows:
    """Make what the index holds of a pack.

    Parameters
    ----------
    rows
        Its ``runs.parquet``.
    """
    texts = rows["document"].to_pylist()
    names = {text: hashlib.sha256(text.encode()).hexdigest() for text in set(texts)}
    columns = [rows[column].to_pylist() for column in COLUMNS]
    runs = {
        row[0]: (*map(_plain, row), names[text]) for *row, text in zip(*columns, texts, strict=True)
    }
    return PackRows(
        [runs[key] for key in sorted(runs)],
        {name: _short(text) for text, name in names.items()},
    )


def _plain(value: Any) -> Any:
    # SQLite's whole numbers have 64 bits with sign; a larger seed is kept as text.
    return str(value) if isinstance(value, int) and value >= 2**63 else value


def _short(document: str) -> tuple[str, int]:
    if len(document) < _SHORT:
        return document, 0
    short = json.dumps(_without_long(json.loads(document)))
    return short, int(short != document)


def _without_long(data: Any) -> Any:
    if isinstance(data, dict):
        kept = {key: _without_long(value) for key, value in data.items()}
        return {key: value for key, value in kept.items() if value is not None}
    if isinstance(data, list):
        return None if len(data) > LONG else [_without_long(item) for item in data]
    return data
