"""Numbers of a paper are judged together: what one alone refutes by chance is undecided."""

from types import SimpleNamespace

import numpy as np
import pytest

from ackclock.reproduce.run.family import control_family, describe_family
from ackclock.reproduce.run.judge import judge
from ackclock.reproduce.run.measure import Evaluated


def claims(parts):
    """A claim for each number."""
    check = SimpleNamespace(counts=lambda _: True)
    return [
        Evaluated(SimpleNamespace(id=str(i), readings=()), ((check, (part,)),))
        for i, part in enumerate(parts)
    ]


def outcomes(found):
    return [part.outcome for one in found for part in one.parts({})]


def number(values, bound, **more):
    return judge("", values, {"at_least": bound}, {}, is_exact=False, **more)


def test_what_one_interval_alone_refutes_is_undecided_among_many_that_hold():
    # Mean 2.5, standard error 0.6455, t of 3 degrees: the bound 5 is out at p = 0.030.
    one = number([1.0, 2.0, 3.0, 4.0], 5.0)
    assert one.outcome == "missed"
    assert one.p_value == pytest.approx(0.0301, abs=1e-3)
    many = [number([1.0, 2.0, 3.0, 4.0], 2.0) for _ in range(9)]
    assert outcomes(control_family(claims([one]), {})) == ["missed"]
    (first, *_) = control_family(claims([one, *many]), {})
    assert outcomes([first]) == ["undecided"]
    assert "among 10 numbers that hold one may come out so by chance" in first.parts({})[0].why


def test_what_is_far_beyond_its_bound_is_missed_among_any_number():
    far = number([1.0, 1.01, 0.99, 1.0], 5.0)
    many = [number([1.0, 2.0, 3.0, 4.0], 2.0) for _ in range(99)]
    assert outcomes(control_family(claims([far, *many]), {}))[0] == "missed"


def test_what_is_exact_and_what_is_refuted_by_an_example_are_no_matter_of_chance():
    exact = judge("", [1.0], {"at_least": 2}, {}, is_exact=True)
    example = judge("", [True] * 9 + [False], {"holds": "always"}, {}, is_exact=False)
    many = [number([1.0, 2.0, 3.0, 4.0], 2.0) for _ in range(99)]
    assert outcomes(control_family(claims([exact, example, *many]), {}))[:2] == ["missed"] * 2


@pytest.mark.slow
def test_twenty_numbers_at_their_bounds_are_rarely_missed_together():
    generator = np.random.default_rng(11)
    missed = [0, 0]
    for _ in range(400):
        draws = generator.normal(size=(20, 10))
        parts = [number(row.tolist(), 0.0) for row in draws]
        missed[0] += "missed" in [part.outcome for part in parts]
        missed[1] += "missed" in outcomes(control_family(claims(parts), {}))
    # Alone: 1 - 0.975^20 = 0.40. Together at most 0.05, and the error of the share is 0.011.
    assert missed[0] / 400 == pytest.approx(0.397, abs=0.075)
    assert missed[1] / 400 <= 0.05 + 0.033


def test_the_sentence_names_the_numbers_and_both_rates():
    assert describe_family(0) == ""
    assert describe_family(20) == (
        "Chance may change 20 numbers, judged together: if all held exactly at a bound, any would"
        " be missed by chance with at most 5 % (judged each alone, 0.5 of them)."
    )
