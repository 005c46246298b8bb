"""The line below a figure: what is needed to make it again."""

import pytest
from matplotlib.figure import Figure

from ackclock.plot import style


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"scenario": "0123456789abcdef", "seeds": "1", "version": "2.0"},
            "ackclock 2.0, scenario 0123456789ab, seed 1",
        ),
        # A name and its hash are of one scenario.
        (
            {"scenario": "fifo 0123456789abcdef", "seeds": "1 to 6"},
            "ackclock scenario fifo 0123456789ab, seeds 1 to 6",
        ),
        (
            {"scenario": "fifo 0123 red 4567", "seeds": "1", "version": "2.0"},
            "ackclock 2.0, scenarios fifo 0123 red 4567, seed 1",
        ),
        ({"version": "2.0"}, "ackclock 2.0"),
        ({"scenario": "", "version": ""}, "ackclock "),
    ],
)
def test_a_recipe_names_version_scenarios_and_seeds(fields, text):
    figure = Figure()
    style.recipe(figure, **fields)
    assert figure.get_supxlabel() == text
    assert figure._ackclock_recipe == fields
