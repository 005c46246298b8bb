"""A set of bytes of a stream as sorted intervals, of bounded size."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

__all__ = ["RangeSet"]

MOST_RANGES = 20_000
"""Most intervals; beyond, the lowest two are joined, so that no file makes it slow."""


class RangeSet:
    """Intervals ``[start, end)`` that neither overlap nor touch."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []

    def add(self, start: int, end: int) -> list[tuple[int, int]]:
        """Add an interval.

        Parameters
        ----------
        start, end
            Its bounds; an empty one adds nothing.

        Returns
        -------
        list
            The intervals that were not in the set before.
        """
        if end <= start:
            return []
        if not self.starts or start > self.ends[-1]:
            self.starts.append(start)
            self.ends.append(end)
            self._bound()
            return [(start, end)]
        first = bisect_left(self.ends, start)
        last = bisect_right(self.starts, end)
        new = []
        low = start
        for number in range(first, last):
            if self.starts[number] > low:
                new.append((low, self.starts[number]))
            low = max(low, self.ends[number])
        if low < end:
            new.append((low, end))
        if first < last:
            start, end = min(start, self.starts[first]), max(end, self.ends[last - 1])
        self.starts[first:last] = [start]
        self.ends[first:last] = [end]
        self._bound()
        return new

    def has(self, start: int, end: int) -> bool:
        """Whether a whole interval is in the set.

        Parameters
        ----------
        start, end
            Its bounds.
        """
        number = bisect_right(self.starts, start) - 1
        return number >= 0 and end <= self.ends[number]

    def forget_below(self, low: int) -> None:
        """Put everything below a number into the set.

        Parameters
        ----------
        low
            The number.
        """
        number = bisect_right(self.starts, low)
        if number > 1:
            self.starts[:number] = [self.starts[0]]
            self.ends[:number] = [max(low, self.ends[number - 1])]

    def _bound(self) -> None:
        if len(self.starts) > MOST_RANGES:
            del self.starts[1]
            del self.ends[0]
