"""Sets of bytes, against sets of numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ackclock.captures.read import ranges
from ackclock.captures.read.ranges import RangeSet

BOUND = st.integers(0, 40)


@given(st.lists(st.tuples(BOUND, BOUND), max_size=20))
def test_what_is_new_is_what_was_not_there(pairs):
    intervals, numbers = RangeSet(), set()
    for start, end in pairs:
        new = intervals.add(start, end)
        added = {number for low, high in new for number in range(low, high)}
        assert added == set(range(start, end)) - numbers
        numbers |= added
        for low in range(0, 41, 5):
            assert intervals.has(low, low + 3) == (set(range(low, low + 3)) <= numbers)
    assert intervals.starts == sorted(intervals.starts)
    assert all(
        end < start for end, start in zip(intervals.ends, intervals.starts[1:], strict=False)
    )


@given(st.lists(st.tuples(BOUND, BOUND), max_size=10), BOUND)
def test_below_what_is_forgotten_nothing_is_new(pairs, low):
    intervals = RangeSet()
    for start, end in [(0, 1), *pairs]:
        intervals.add(start, end)
    intervals.add(0, low)
    intervals.forget_below(low)
    assert intervals.add(0, low) == []


def test_the_size_is_bounded(monkeypatch):
    monkeypatch.setattr(ranges, "MOST_RANGES", 50)
    intervals = RangeSet()
    for number in range(1000):
        intervals.add(3 * number, 3 * number + 1)
    assert len(intervals.starts) == 50
