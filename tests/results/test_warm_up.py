"""A warm-up is found by MSER-5, and said where it moves the mean beyond chance."""

import numpy as np
import pytest
from scipy.signal import lfilter

import ackclock as ac
from ackclock.analysis import find_warm_up


def correlated(generator, count, phi=0.5, deviation=0.2):
    values = lfilter([1], [1, -phi], generator.normal(size=count + 100))[100:]
    return 1 + deviation * (1 - phi**2) ** 0.5 * values


def test_the_truncation_is_that_with_the_least_error_by_hand():
    # Batches of five equal values: 0, 0, then 10 and 11 in turns.
    series = np.repeat([0.0, 0.0, 10, 11, 10, 11, 10, 11, 10, 11], 5)
    found = find_warm_up(series)
    assert found.length == 10
    assert found.mean == pytest.approx(8.4)
    assert found.mean_after == pytest.approx(10.5)
    assert found.move == pytest.approx(-0.2)
    assert not found.is_longer
    # The statistic, for each number of batches that is cut off, as White writes it.
    batches = series.reshape(-1, 5).mean(axis=1)
    errors = [
        np.sum((batches[d:] - batches[d:].mean()) ** 2) / (len(batches) - d) ** 2 for d in range(6)
    ]
    assert np.argmin(errors) == 2


def test_a_start_that_is_too_low_is_cut_off_and_one_that_is_not_is_left():
    generator = np.random.default_rng(1)
    ramps, level = [], 0
    for number in range(1000):
        series = correlated(generator, 300)
        level += find_warm_up(series) is not None
        series[:60] *= np.linspace(0.2, 1, 60)
        if number < 200:
            ramps.append(find_warm_up(series))
    # Said of 0.8 % of series that have none, as docs/explanation/measures.md has it.
    assert level <= 1000 * 0.008 + 4 * (1000 * 0.008) ** 0.5
    said = [found for found in ramps if found is not None]
    assert len(said) >= 190
    # The ramp takes 0.4 of 60 values of 300 away: 8 % of the mean.
    assert np.median([found.move for found in said]) == pytest.approx(-0.08, abs=0.01)
    assert 30 <= np.median([found.length for found in said]) <= 60


def test_what_says_nothing_is_no_warm_up():
    assert find_warm_up([]) is None
    assert find_warm_up([1.0] * 39) is None
    assert find_warm_up([1.0] * 400) is None
    assert find_warm_up([*[0.0] * 20, *[1.0] * 100, np.nan]) is None
    # Less than a hundredth of the mean.
    assert find_warm_up([*[0.96] * 10, *[1.0, 1.001] * 95]) is None
    # Half is the most that is looked at.
    assert find_warm_up(np.linspace(0.1, 1, 100) ** 2).is_longer


def scenario(**more):
    return ac.Scenario(
        ac.topology.Dumbbell(pairs=1, rate="20 Mbps", rtt="100 ms", buffer="200 pkt"),
        **{
            "flows": [{"pair": 0, "cc": "reno"}],
            "duration": "30 s",
            "record": {"tables": ["flow_samples", "link_samples"], "interval": "100 ms"},
            **more,
        },
    )


def test_a_run_says_that_its_start_lowers_the_mean():
    run = scenario().run()
    (said,) = run.warnings
    assert said.startswith("measured from 0 s, but the first 2 s are a warm-up of goodput")
    assert f"warning: {said}" in str(run)
    whole = run.summary["flows"][0]["goodput_bps"]
    assert f"its mean is {whole / 1e6:.4g} Mbit/s" in said
    # With what it says the mean is the one that it names, and nothing more is said.
    after = scenario(warmup="2 s").run()
    assert f"without them, {after.summary['flows'][0]['goodput_bps'] / 1e6:.4g} Mbit/s" in said
    assert after.warnings == []
    # Without tables the run looks at its marks.
    (plain,) = scenario(record=None).run().warnings
    assert plain.startswith("measured from 0 s, but the first ")
    assert "warm-up of goodput" in plain


def test_a_run_that_is_too_short_to_say_says_that():
    assert all("simulate longer" in said for said in scenario(duration="5 s").run().warnings)
    assert len(scenario(duration="5 s").run().warnings) == 2


def test_a_transfer_that_ends_is_no_warm_up():
    run = scenario(flows=[{"pair": 0, "cc": "reno", "size": "10 MB"}])
    assert not any("goodput" in said for said in run.run().warnings)


def test_a_sweep_and_replications_say_how_many_runs_have_a_warm_up():
    axes = {"warmup": ["0 s", "2 s"]}
    grid = ac.sweep(scenario(record=None), axes, reps=2, metrics=["flows[f0].goodput_bps"])
    result = grid.run()
    (said,) = result.warnings
    # Of the four, those of two seeds are measured from the start; they are equal runs.
    assert "2 runs have a warm-up of goodput (MSER-5), of 4" in said
    assert f"warning: {said}" in str(result)
    assert result.to_dict()["warnings"] == [said]
    repeated = ac.replicate(scenario(record=None), 2)
    (again,) = repeated.warnings
    assert again == said.replace("of 4", "of 2")
    assert f"warning: {again}" in str(repeated)
    assert ac.replicate(scenario(record=None, warmup="2 s"), 2).warnings == []
