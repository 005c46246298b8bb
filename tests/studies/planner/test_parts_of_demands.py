"""Demands in parts on given paths, by hand."""

import numpy as np
import pytest

from ackclock.studies.planner.given import DemandParts, GivenPaths

# Of demand 2 a quarter and a half are on paths, of demand 0 all; demand 1 is on none.
PATHS = GivenPaths(
    np.array([2, 0, 2], dtype=np.uint32), np.array([0.25, 1.0, 0.5]),
    np.array([0, 1, 3, 4], dtype=np.uint32), np.array([4, 0, 2, 6], dtype=np.uint32),
)  # fmt: skip


def test_parts_of_a_demand_are_in_a_row_and_what_is_on_no_path_is_the_last():
    parts = DemandParts(3, PATHS)
    assert parts.owner.tolist() == [0, 1, 2, 2, 2]
    assert parts.share.tolist() == [1.0, 1.0, 0.25, 0.5, 0.25]
    places, offsets, links = parts.on_given_paths
    assert places.tolist() == [2, 0, 3]
    assert (offsets.tolist(), links.tolist()) == ([0, 1, 3, 4], [4, 0, 2, 6])


def test_a_demand_has_the_mean_of_its_parts_by_their_shares():
    found = DemandParts(3, PATHS).by_pair(np.array([7.0, 5.0, 8.0, 2.0, 4.0]))
    assert found.tolist() == pytest.approx([7, 5, 2 + 1 + 1])


def test_flows_are_divided_by_shares_with_one_a_part_at_least():
    count, first = DemandParts(3, PATHS).flows(np.array([10, 1, 8]))
    assert count.tolist() == [10, 1, 2, 4, 2]
    assert first.tolist() == [0, 0, 0, 2, 6]
    few, first = DemandParts(3, PATHS).flows(np.array([0, 3, 1]))
    assert few.tolist() == [1, 3, 1, 1, 1]
    assert first.tolist() == [0, 0, 0, 1, 2]


def test_without_paths_each_demand_is_a_part():
    parts = DemandParts(2)
    assert (parts.owner.tolist(), parts.share.tolist()) == ([0, 1], [1.0, 1.0])
    assert parts.on_given_paths is None
    values = np.array([3.0, 4.0])
    assert parts.by_pair(values) is values
