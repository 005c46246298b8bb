"""Parameters of closed forms: their ranges are checked, named, and hold their defaults."""

import inspect

import numpy as np
import pytest

import ackclock as ac
from ackclock.engines.model import MODELS, model, parameters
from ackclock.engines.model.case import ModelCase
from ackclock.engines.model.ranges import Range, problem, ranges, ranges_of


@pytest.mark.parametrize("name", MODELS)
def test_defaults_are_in_the_ranges_of_their_parameters(name):
    bounds = ranges_of(model(name))
    assert bounds
    for key, default in parameters(name).items():
        if key in bounds and default is not inspect.Parameter.empty:
            assert problem(bounds[key], default) is None, key


@pytest.mark.parametrize("name", MODELS)
def test_a_value_below_its_range_is_refused_with_its_place(name):
    for key, bounds in ranges_of(model(name)).items():
        least = bounds.minimum if bounds.minimum is not None else bounds.above
        if least is None:
            continue
        outside = least - 1 if bounds.minimum is not None else least
        with pytest.raises(ac.ScenarioError) as caught:
            ModelCase({"model": name, "params": {key: [1e9, outside]}})
        said = [p.message for p in caught.value.problems if p.path == f"params.{key}"]
        assert len(said) == 1
        assert "is out of range; expected" in said[0]


@pytest.mark.parametrize(
    ("bounds", "values", "said"),
    [
        (Range(minimum=0, maximum=1), [0.0, 1.0], None),
        (Range(minimum=0, maximum=1), [0.5, 1.5], "1.5 is out of range; expected from 0 to 1"),
        (Range(above=0, below=1), [1.0], "1 is out of range; expected more than 0 and less than 1"),
        (Range(above=0, unit="s"), [0.0], "0 is out of range; expected more than 0 (s)"),
        (
            Range(minimum=1, is_integer=True),
            2.5,
            "2.5 is out of range; expected a whole number, at least 1",
        ),
        (Range(above=0), np.nan, "nan is out of range; expected more than 0"),
        (Range(above=0, may_be_nan=True), np.nan, None),
        (Range(unit="s"), [-1.0], None),
    ],
)
def test_a_range_says_what_was_expected(bounds, values, said):
    assert problem(bounds, values) == said


def test_a_range_of_no_parameter_is_a_fault_of_the_program():
    with pytest.raises(TypeError, match="has no parameter"):

        @ranges(loss=Range(minimum=0))
        def law(loss_ratio):
            return loss_ratio
