"""The rate of links whose file states none, as ``--rate`` names it."""

import pytest

from ackclock.errors import ScenarioError
from ackclock.studies.bottlenecks.operators import _default_rate


def test_a_rate_has_a_unit_or_is_left_out():
    assert _default_rate(None) is None
    assert _default_rate("10 Mbps") == 10e6


@pytest.mark.parametrize(
    ("rate", "sentence"),
    [(5e6, "has no unit"), ("5", "has no unit"), ("fast", "is not a rate"), ("1 MB", '"Mbps"?')],
)
def test_what_is_no_rate_is_refused_by_its_option(rate, sentence):
    with pytest.raises(ScenarioError) as error:
        _default_rate(rate)
    (problem,) = error.value.problems
    assert problem.path == "--rate"
    assert sentence in problem.message
