"""Features of a sender from a window over time that is written by hand."""

import numpy as np
import pytest

from ackclock.captures.identify.features import (
    _MISSING,
    _epoch_length,
    _groups,
    _mean_at,
    features,
)

BASE = 0.1


def seen(flight, seconds=100.0):
    """A flight over time at a constant round trip; no losses."""
    times = np.arange(0.0, seconds, 0.05)
    values = np.array([float(flight(time / seconds)) for time in times])
    return features(times, values, times, np.full(len(times), BASE), np.empty(0))


def test_the_first_fifth_is_left_out_and_no_more():
    """The share of time with a flight below five packets is the seventh from the end."""
    early = seen(lambda part: 1 if part < 0.19 else 100)
    assert early[-7] == 0.0
    late = seen(lambda part: 1 if 0.21 < part < 0.24 else 100)
    assert late[-7] == pytest.approx(0.03 / 0.8, abs=0.003)
    assert early[-6] == pytest.approx(0.0, abs=1e-9)
    assert late[-6] > 0.1


def test_too_short_a_time_says_nothing():
    assert seen(lambda part: 10, seconds=4.0) is None
    assert seen(lambda part: 10, seconds=6.0) is not None
    times = np.arange(0.0, 100.0, 0.05)
    assert features(times, times, times[:49], np.full(49, BASE), np.empty(0)) is None
    assert features(times, times + 1, times[:50], np.full(50, BASE), np.empty(0)) is not None


def test_means_are_of_windows_that_end_at_a_time_and_else_the_last_value():
    times, values = np.array([0.0, 1.0, 2.0, 4.0]), np.array([10.0, 20.0, 30.0, 50.0])
    grid = np.array([1.0, 2.0, 3.5, 4.0])
    # A window of 1 has what came after its beginning, its end with it.
    assert _mean_at(times, values, grid, 1.0).tolist() == [20, 30, 30, 50]
    assert _mean_at(times, values, grid, 2.0).tolist() == [15, 25, 30, 50]


def test_losses_within_a_gap_are_one_group():
    groups = _groups(np.array([1.0, 1.5, 2.5, 2.75]), 0.5)
    assert [group.tolist() for group in groups] == [[1.0, 1.5], [2.5, 2.75]]
    assert _groups(np.empty(0), 1.0) == []


def test_three_groups_of_losses_are_two_epochs_and_two_are_not_enough():
    # Losses closer than 3 round trips are a group; the first may have begun before the capture.
    losses = np.array([1.0, 1.2, 11.0, 11.25, 31.0])
    # From 11 s to 31 s: 20 s are 200 round trips.
    assert _epoch_length(np.empty(0), BASE, losses) == pytest.approx(np.log2(200))
    assert _epoch_length(np.empty(0), BASE, losses[:4]) == _MISSING
    # The median of 4, 20 and 6 s.
    more = np.array([1.0, 11.0, 15.0, 35.0, 41.0])
    assert _epoch_length(np.empty(0), BASE, more) == pytest.approx(np.log2(60))
