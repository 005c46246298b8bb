"""The sentence of an audit of late-comers, of rows that are written by hand."""

import pytest

from ackclock.studies.late_comer.audit import Audit
from ackclock.studies.late_comer.rows import LateComerRow, verdict

AS_MODEL = "late-comer favoured, as by persistent congestion"


def row(ratio, said, *, situation="joining", overflows=False, at_rest=True):
    return LateComerRow(
        situation=situation,
        flows=4,
        overflows=overflows,
        ratio=ratio,
        low=ratio,
        high=ratio,
        predicted=None,
        share=0.2,
        share_predicted=None,
        share_fair=0.2,
        shares=(0.2,) * 5,
        at_rest=at_rest,
        worst="flow 4",
        utilisation=1.0,
        verdict=said,
    )


def answer(*rows):
    return Audit("mine", "fast", 30.0, len(rows), rows).answer


def test_a_ratio_at_a_bound_is_fair_and_beyond_it_is_not():
    # Fair is from 1/1.25 to 1.25; near the model is within 15 %.
    assert [verdict(ratio, None) for ratio in (0.8, 1.25)] == ["fair", "fair"]
    assert verdict(0.7999, None) == "late-comer starved"
    assert verdict(1.2501, None) == "late-comer favoured"
    assert verdict(2.3, 2.0) == AS_MODEL
    assert verdict(2.31, 2.0) == "late-comer favoured"
    assert verdict(1.25, 1.25) == "fair"


def test_more_than_half_of_the_cases_make_persistent_congestion():
    three = [row(2.0, AS_MODEL), row(2.54, AS_MODEL), row(1.0, "fair")]
    assert answer(*three) == (
        "mine suffers from persistent congestion: late-comers get 2.0 to 2.5 times what the others"
        " get, as the model predicts."
    )
    # Two of four are half, and not more.
    assert answer(*three, row(1.1, "fair")) == (
        "mine favours late-comers in 2 of 4 cases among its own kind, by up to 2.5; not by the"
        " model's amount in most."
    )


def test_the_worst_is_the_highest_of_the_favoured_and_the_lowest_of_the_starved():
    starved = [row(0.5, "late-comer starved"), row(0.254, "late-comer starved"), row(1.0, "fair")]
    assert answer(*starved) == (
        "mine starves late-comers in 2 of 3 cases among its own kind, down to 0.25 of what the"
        " others get."
    )
    assert "by up to 1.9" in answer(
        row(1.5, "late-comer favoured"), row(1.9, "late-comer favoured")
    )
    assert answer(row(1.0, "fair")) == "mine treats late-comers of its own kind fairly."


def test_cases_beside_others_or_that_overflow_do_not_count_where_there_are_others():
    fair = row(1.0, "fair")
    beside = row(9.0, "late-comer favoured", situation="beside-reno")
    full = row(9.0, "late-comer favoured", overflows=True)
    assert answer(fair, beside, full) == "mine treats late-comers of its own kind fairly."
    # All overflow: then they count.
    assert "favours late-comers in 1 of 1 cases" in answer(full)


@pytest.mark.parametrize(("restless", "of"), [(1, 2), (2, 2)])
def test_cases_that_had_not_come_to_rest_are_counted_and_need_four_times_the_gap(restless, of):
    rows = [row(1.0, "fair", at_rest=number >= restless) for number in range(of)]
    sentence = answer(*rows)
    assert sentence.endswith(
        f"{restless} of {of} cases among its own kind had not come to rest; --gap 120 gives them"
        " more time."
    )
    begins = "No judgement of mine:" if restless == of else "mine treats"
    assert sentence.startswith(begins)
