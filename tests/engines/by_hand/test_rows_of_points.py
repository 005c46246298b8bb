"""Rows of several points of a model are joined under each other, with the number of their point."""

import numpy as np
import pytest

from ackclock.engines.model.fast_queue import rows_of_points, weighted_queue


def rows_at(flows, alpha):
    return {"flow": np.arange(flows), "share": np.full(flows, alpha / flows)}


def test_points_are_numbered_from_0_and_have_as_many_rows_as_their_tables():
    rows = rows_of_points(rows_at, [1, 3, 2], [10.0, 30.0, 40.0])
    assert rows["point"].tolist() == [0, 1, 1, 1, 2, 2]
    assert rows["flow"].tolist() == [0, 0, 1, 2, 0, 1]
    assert rows["share"].tolist() == [10, 10, 10, 10, 20, 20]


def test_one_value_serves_all_points_and_a_number_is_one_point():
    rows = rows_of_points(rows_at, 2, [1.0, 2.0])
    assert rows["point"].tolist() == [0, 0, 1, 1]
    assert rows["share"].tolist() == [0.5, 0.5, 1, 1]
    assert rows_of_points(rows_at, 2, 8.0)["point"].tolist() == [0, 0]


@pytest.mark.parametrize("capacity", [0.5, 1.0, 12_500.0])
def test_at_the_queue_that_is_computed_flows_fill_the_link(capacity):
    weights, errors = np.array([50.0, 1.0, 7.0]), np.array([0.0, 0.02, -0.3])
    delay = weighted_queue(weights, errors, capacity)
    assert delay > errors.max()
    assert (weights / (delay - errors)).sum() == pytest.approx(capacity)
    # One flow without an error: what it keeps queued leaves at the rate of the link.
    assert weighted_queue([50.0], [0.0], capacity) == pytest.approx(50 / capacity)
