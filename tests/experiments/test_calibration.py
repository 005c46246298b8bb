"""The error rates that pages print are those of the code, measured again on drawn data."""

import pytest

from calibration.measure_rates import DRAWS, MEASURED, read_table

SMALL = {
    "verdicts": 100,
    "families": 30,
    "hard-data": 200,
    "stopping": 100,
    "pairs": 40,
    "printed": 60,
    "differences": 200,
    "selected": 60,
    "widths": 200,
}
"""Experiments of each kind of measurement; the bootstrap and the gate take longer."""

SECONDS = {"verdicts", "hard-data", "printed"}
"""What takes seconds even with so few, so that the fast tests have the six others."""


def is_near(rate, printed, count):
    """Whether a share of so many experiments may be a draw of the printed one: five deviations."""
    return abs(rate - printed) <= 0.01 + 5 * (max(printed * (1 - printed), 0.01) / count) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow if n in SECONDS else ()) for n in SMALL],
)
def test_a_small_measurement_gives_the_rates_that_the_page_prints(name):
    printed = read_table(name)
    _, measure = MEASURED[name]
    found = measure(SMALL[name]).rows
    assert set(found) == set(printed)
    wrong = {
        (row, place): (rate, printed[row][place])
        for row, rates in found.items()
        for place, rate in enumerate(rates)
        if rate is not None and not is_near(rate, printed[row][place], SMALL[name] // 2)
    }
    assert wrong == {}


def test_printed_errors_are_within_their_levels():
    error = 5 * (0.05 * 0.95 / 100) ** 0.5
    _, missed_five, _, missed_ten, met_looks, missed_looks, *_ = read_table("verdicts")[
        "at the bound"
    ]
    for rate in (missed_five, missed_ten, met_looks, missed_looks):
        assert rate <= 0.025 + 4 * (0.025 * 0.975 / DRAWS) ** 0.5
    for rates in read_table("families").values():
        assert rates[1] <= 0.05 + error
    for rates in read_table("printed").values():
        assert max(rates[1], rates[3]) <= 0.05 + error
    for rates in read_table("pairs").values():
        assert rates[1] <= 0.05 + error
    for rates in read_table("gate").values():
        assert rates[0] <= 0.05 + error
    for inside, apart, inside_at, apart_at, inside_far, _ in read_table("differences").values():
        assert max(apart, inside_at, apart_at) <= 0.025 + 0.02
        assert inside_far == 0
        assert inside >= 0
    # Level 2.5 % each side; the two halves are not quite independent of one another.
    for equal_above, _, worst_above, behind_above, _, best_above in read_table("selected").values():
        assert max(equal_above, worst_above, behind_above, best_above) <= 0.05


def test_power_is_printed_beside_the_level():
    # What joint judgement and looks cost is measured too: never more than what is judged alone.
    for *_, near_alone, near, far_alone, far in read_table("families").values():
        assert near <= near_alone
        assert far <= far_alone
    rows = read_table("verdicts")
    met_looks, met_naive = rows["0.5 deviations inside"][4], rows["0.5 deviations inside"][6]
    assert 0.5 < met_looks < met_naive


def test_data_with_two_states_are_covered_better_than_by_one_look():
    """With five replicates and one narrow look the interval held the mean in 0.64 and 0.21."""
    rows = read_table("stopping")
    common, rare = (rows[name] for name in rows if name.startswith("two states"))
    assert common[1] > 0.8
    assert rare[1] > 0.4
    assert rows["normal"][1] == pytest.approx(0.95, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURED)
def test_the_page_prints_what_the_tool_measures(name):
    page, measure = MEASURED[name]
    assert measure(DRAWS).text() in page.read_text(encoding="utf-8"), (
        f"run tools/calibration/measure_rates.py {name}"
    )
