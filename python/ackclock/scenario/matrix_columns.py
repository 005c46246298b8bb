"""Traffic matrices in CSV files with nothing wrong in them, read without a loop over their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ackclock._util.arrow import numbers
from ackclock.scenario import plain_csv

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy.typing as npt

    Ids = npt.NDArray[np.int64]

__all__ = ["MatrixColumns", "number_by_first", "read_matrix"]

Choice = tuple[str, ...]
"""Names that a column may have; the first that is there counts."""


@dataclass(frozen=True)
class MatrixColumns:
    """Rows of a matrix: all nodes are known, and nobody sends to itself.

    Parameters
    ----------
    source, target
        Numbers of nodes.
    demand
        [bit/s], finite, 0 or more.
    time
        Number of the row's time, counted as times occur first.
    times
        What each time is called; one empty name where there is no such column.
    flows
        Number of flows of each row, 0 where it is left out.
    """

    source: Ids
    target: Ids
    demand: npt.NDArray[np.float64]
    time: Ids
    times: tuple[str, ...]
    flows: Ids

    @property
    def pairs(self) -> Ids:
        """A number for each pair of nodes."""
        return self.source << 32 | self.target

    def others(self) -> MatrixColumns:
        """Rows between two different nodes; the times are those of all rows."""
        kept = self.source != self.target
        ends = self.source[kept], self.target[kept]
        return MatrixColumns(
            *ends, self.demand[kept], self.time[kept], self.times, self.flows[kept]
        )

    def repeats(self) -> bool:
        """Whether a pair is there twice at one time."""
        pairs, times = self.pairs, self.time
        order = np.lexsort((times, pairs))
        pairs, times = pairs[order], times[order]
        return bool(((pairs[1:] == pairs[:-1]) & (times[1:] == times[:-1])).any())


def number_by_first(values: Ids) -> tuple[Ids, Ids]:
    """Number values in the order in which they occur first.

    Parameters
    ----------
    values
        Any numbers.

    Returns
    -------
    tuple
        The values in that order, each once, and for each place the number of its value.
    """
    found, first, place = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return found[order], rank[place]


def read_matrix(
    path: Path,
    number: Mapping[str, int],
    columns: tuple[Choice, Choice, Choice],
    time: Choice = (),
    flows: Choice = (),
) -> MatrixColumns | None:
    """Read a matrix as rows read one by one would give it.

    None where anything is wrong or out of the ordinary, such as units, and for small files: the
    reader that goes row by row says what is wrong where.

    Parameters
    ----------
    path
        CSV with a head line.
    number
        Numbers of nodes by what the file may call them.
    columns
        Names of the columns with source, target and demand.
    time
        Names of a column with times, which need not be there.
    flows
        Names of a column with whole numbers of flows, which need not be there.
    """
    try:
        if path.stat().st_size < plain_csv.LEAST_BYTES:
            return None
    except (OSError, ValueError):
        return None
    ends, demands = (*columns[0], *columns[1]), columns[2]
    found = plain_csv.mixed_columns(path, (*ends, *time), (*demands, *flows))
    if found is None:
        return None
    chosen = [next((name for name in choice if name in found), None) for choice in columns]
    if None in chosen:
        return None
    a, b, demand = (found[str(name)] for name in chosen)
    if np.isnan(demand).any():
        return None
    source, target = _numbers(a, number), _numbers(b, number)
    if source is None or target is None or ((source == target) & (demand > 0)).any():
        return None
    number_of = np.zeros(len(demand), np.int64)
    if column := next((name for name in flows if name in found), None):
        counts = found[column]
        if (counts == 0).any() or (np.nan_to_num(counts) != np.floor(np.nan_to_num(counts))).any():
            return None
        number_of = np.nan_to_num(counts).clip(max=2**62).astype(np.int64)
    at = next((name for name in time if name in found), None)
    if at is None:
        one = np.zeros(len(demand), np.int64)
        return MatrixColumns(source, target, demand, one, ("",), number_of)
    coded = found[at].dictionary_encode()
    times = tuple(coded.dictionary.to_pylist())
    numbered = numbers(coded.indices).astype(np.int64)
    return MatrixColumns(source, target, demand, numbered, times, number_of)


def _numbers(names: plain_csv.Texts, number: Mapping[str, int]) -> Ids | None:
    """Numbers of nodes; None if one is not known, or only to a reader that removes spaces."""
    coded = names.dictionary_encode()
    known = [number.get(name, -1) for name in coded.dictionary.to_pylist() if name == name.strip()]
    if len(known) < len(coded.dictionary) or -1 in known:
        return None
    found: Ids = np.array(known, dtype=np.int64)[numbers(coded.indices)]
    return found
