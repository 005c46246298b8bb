"""Evaluation of a control: judgement by hand, a small one run whole, controls that fail."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import ackclock as ac
from ackclock.cli.main import main
from ackclock.experiments.statistics import Mean
from ackclock.studies.algorithm_argument import Subject
from ackclock.studies.evaluate_control import grid
from ackclock.studies.evaluate_control.judge import Judgement, Neighbour, judge_results
from ackclock.studies.evaluate_control.page import page, sentences
from ackclock.studies.evaluate_control.run import evaluate

TINY = grid.ControlTier(("cons-low", "sq-low"), ("cons-low",), 30.0, 4.0, 2)

TWENTY_LINES = """
import ackclock as ac

@ac.control(cadence="round")
class Gentle:
    a: float = 1.0

    def on_ack(self, window, ack):
        window.cwnd += self.a

    def on_congestion(self, window, event):
        window.cwnd = 0.7 * event.in_use
"""


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(grid.TIERS, "fast", TINY)


def fake(rows, flows=()):
    tables = {"environment": pa.Table.from_pylist(rows), "flows": pa.Table.from_pylist(list(flows))}
    summaries = {"one": {"totals": {"cpu_s": 2.0}}}
    slots = [
        SimpleNamespace(point=i, replicate=row["replicate"], key=f"{i}", run=None)
        for i, row in enumerate(rows)
    ]
    digests = {slot.key: slot.key for slot in slots}
    return SimpleNamespace(
        tables=tables, summaries=summaries, slots=slots, digests=digests, interrupted=False
    )


def test_scores_are_computed_seed_by_seed():
    """Two controls, two environments, two seeds; every number below by hand."""
    goodput = {
        # control, environment: goodput under seeds 0 and 1
        ("Mine", "cons-low"): (0.9, 0.8),
        ("Mine", "sq-low"): (0.5, 0.7),
        ("AIMD", "cons-low"): (1.0, 0.9),
        ("AIMD", "sq-low"): (0.4, 0.7),
    }
    rows = [
        {
            "setting": "SACK + DRR",
            "control": control,
            "environment": environment,
            "replicate": replicate,
            "goodput": values[replicate],
            "fairness": 2.0 if control == "AIMD" else 0.1,
            "loss_percent": 1.0,
            "delay_ms": None if environment == "sq-low" else 30.0,
            "timeouts": 0.0,
        }
        for (control, environment), values in goodput.items()
        for replicate in (0, 1)
    ]
    place = {"environment": "cons-low", "replicate": 0}
    alone_flow = {"setting": "SACK + DRR", "control": "AIMD", "id": "f0", "goodput_bps": 8.0}
    shared_flows = [
        {"router": "DRR", "other": "AIMD", "id": "own0", "goodput_bps": 9.0, **place},
        {"router": "DRR", "other": "AIMD", "id": "other0", "goodput_bps": 6.0, **place},
    ]
    found = judge_results(
        Subject("Mine", "mine.py:Mine"),
        fake(rows, [{**alone_flow, **place}]),
        fake(rows[:1], shared_flows),
    )
    # Behind the best: Mine 0.1, 0 | 0.1, 0; AIMD 0, 0.1 | 0, 0.
    assert found.rank_d["SACK + DRR", "Mine"].mean == pytest.approx(0.05)
    assert found.rank_c["SACK + DRR", "Mine"].mean == pytest.approx(0.1)
    assert found.rank_d["SACK + DRR", "AIMD"].mean == pytest.approx(0.025)
    # Differences in D by seed: 0 and 0.05; two values cannot distinguish them.
    assert found.best["SACK + DRR"] == ("AIMD", "Mine")
    assert found.worst["SACK + DRR"][0] == "cons-low"
    assert found.worst["SACK + DRR"][2] == "AIMD"
    assert found.is_unfair("SACK + DRR", "AIMD")  # 2 under both seeds
    assert not found.is_unfair("SACK + DRR", "Mine")
    assert found.metrics["SACK + DRR", "Mine", "delay_ms"].mean == 30.0
    shared = found.neighbours["DRR", "AIMD"]
    assert shared.share.mean == pytest.approx(1.5)
    assert shared.retained.mean == pytest.approx(0.75)
    assert math.isnan(shared.retained.low)
    assert not shared.is_harmed
    assert found.cpu_s == 4.0


def test_c_is_measured_where_the_other_seed_says_that_it_is_worst():
    """Mine is behind by 0.3 and 0.1 in one environment, by 0.1 and 0.5 in the other."""
    goodput = {
        ("Mine", "cons-low"): (0.5, 0.5),
        ("Mine", "sq-low"): (0.5, 0.5),
        ("AIMD", "cons-low"): (0.8, 0.6),
        ("AIMD", "sq-low"): (0.6, 1.0),
    }
    rows = [
        {
            "setting": "SACK + DRR",
            "control": control,
            "environment": environment,
            "replicate": replicate,
            "goodput": values[replicate],
            "fairness": 0.1,
            "loss_percent": 1.0,
            "delay_ms": 30.0,
            "timeouts": 0.0,
        }
        for (control, environment), values in goodput.items()
        for replicate in (0, 1)
    ]
    found = judge_results(Subject("Mine", "mine.py:Mine"), fake(rows), fake(rows[:1]))
    # By the second seed sq-low is worst, where the first has 0.1; by the first cons-low, where the
    # second has 0.1.
    c = found.rank_c["SACK + DRR", "Mine"]
    assert c.mean == pytest.approx(0.1)
    d = found.rank_d["SACK + DRR", "Mine"]
    # 0.2 and 0.3; t(0.975, 1) = 12.7062, s/sqrt(2) = 0.05.
    assert d.mean == pytest.approx(0.25)
    assert d.high - d.mean == pytest.approx(0.63531, rel=1e-5)
    # Named the worst by every second seed, and measured under the others.
    place, gap, behind = found.worst["SACK + DRR"]
    assert behind == "AIMD"
    assert place == "sq-low"
    assert gap.mean == pytest.approx(0.1)
    assert found.rank_d["SACK + DRR", "Mine"].mean == pytest.approx(0.25)


def judgement(kept, spread, gap):
    """A judgement of one setting in which only what the sentences read is of interest."""
    zero = Mean.of([0.0, 0.0])
    return Judgement(
        control="Mine",
        controls=("Mine", "Vegas"),
        settings=("SACK + RED",),
        environments=("sq-high",),
        rank_d={("SACK + RED", c): zero for c in ("Mine", "Vegas")},
        rank_c={("SACK + RED", c): zero for c in ("Mine", "Vegas")},
        best={"SACK + RED": ("Mine",)},
        metrics={
            ("SACK + RED", c, m): Mean.of(spread)
            for c in ("Mine", "Vegas")
            for m in ("fairness", "loss_percent", "delay_ms")
        },
        worst={"SACK + RED": ("sq-high", Mean.of(gap), "Vegas")},
        gaps={("SACK + RED", "sq-high"): Mean.of(gap)},
        neighbours={
            ("RED", "Vegas"): Neighbour(Mean.of([1.0, 1.0]), Mean.of(kept)),
            ("RED", "AIMD"): Neighbour(Mean.of([1.0, 1.0]), Mean.of([1.2, 3.0])),
        },
        seeds=len(kept),
        runs=1,
        cpu_s=1.0,
    )


def test_no_sentence_says_more_than_its_interval():
    # A neighbour that gains is not harmed most; a spread of 0.58 is not even; gaps may be chance.
    reported = sentences(judgement(kept=[1.1, 1.1], spread=[0.57, 0.59], gap=[0.0, 0.2]))[0]
    assert "harms" not in reported
    assert "no other gets less" in reported
    assert "evenly" not in reported
    assert "at most 0.58" in reported
    assert "furthest behind" not in reported
    # Each of the three beyond its interval.
    reported = sentences(judgement(kept=[0.2, 0.21], spread=[1.8, 1.81], gap=[0.2, 0.21]))[0]
    assert "a flow of Vegas gets 20 % [14 %, 27 %] of its" in reported
    assert "share unevenly with SACK + RED." in reported
    assert "furthest behind the best in sq-high with SACK + RED, where Vegas gets most" in reported
    # Not decided, and no seeds to decide it.
    reported = sentences(judgement(kept=[0.2, 1.9], spread=[0.2, 1.9], gap=[0.2, 0.21]))[0]
    assert "Whether its flows share unevenly with SACK + RED is open." in reported
    assert "no other gets less" in reported
    reported = sentences(judgement(kept=[0.2], spread=[1.8], gap=[0.2]))[0]
    assert (
        reported
        == "One seed gives no intervals: the tables show one sample, and no finding follows."
    )


def test_no_loss_of_a_neighbour_is_below_nothing():
    text = page(judgement(kept=[3.31, 3.31], spread=[0.5, 0.5], gap=[0.1, 0.1]), "fast")
    assert "(331 %)" in text
    assert "-" not in text.split("Sharing with SACK")[1].split("\n")[3].replace("drop-tail", "")


@pytest.mark.slow
def test_a_registry_control_is_compared_with_all_others(tiny, tmp_path):
    done = evaluate("vegas", store=tmp_path / "store", progress=False)
    found = done.judgement
    assert found.controls == ("vegas", "AIMD", "AIAD", "MIMD", "MIAD", "CUBIC", "BBRv3")
    assert len(found.settings) == 8
    assert found.runs == 7 * 8 * 2 * 2 + 6 * 4 * 1 * 2
    for setting in found.settings:
        # By pandas: of two seeds each chooses what is best in an environment for the other.
        of = done.alone.tables["environment"].to_pandas().query("setting == @setting")
        by = of.pivot(index=["replicate", "environment"], columns="control", values="goodput")
        by = by[list(found.controls)]  # of equal ones the first is chosen
        first, second = by.xs(0), by.xs(1)
        for name in found.controls:
            shortfall = [
                np.mean([b.loc[e, a.loc[e].idxmax()] - b.loc[e, name] for e in a.index])
                for a, b in ((first, second), (second, first))
            ]
            d = found.rank_d[setting, name]
            assert d.mean == pytest.approx(np.mean(shortfall), abs=1e-12)
            assert d.low <= d.mean <= d.high
            # What is chosen with hindsight is at least as good as what is chosen without.
            hindsight = (by.max(axis=1) - by[name]).mean()
            assert hindsight >= 0
            assert d.mean <= hindsight + 1e-12
        # In what they differ the choice has no part.
        sums = {c: found.rank_d[setting, c].mean + by[c].mean() for c in found.controls}
        assert max(sums.values()) - min(sums.values()) < 1e-12
        assert found.best[setting]
    text = str(done)
    assert "vegas beside AIMD" in text
    assert text.count("\n") < 45
    report = done.save(tmp_path / "out", command="ackclock evaluate vegas")
    page = report.read_text()
    assert "<svg" in page
    assert 'src="' not in page
    assert 'rel="stylesheet"' not in page
    kept = json.loads((tmp_path / "out" / "evaluation.json").read_text())
    assert len(kept["scores"]) == 56
    assert kept["user_code_hash"] is None


def test_a_control_of_ones_own_is_evaluated_from_its_file(tmp_path, monkeypatch, capsys):
    tiniest = grid.ControlTier(("cons-low",), ("cons-low",), 8.0, 4.0, 1)
    monkeypatch.setitem(grid.TIERS, "fast", tiniest)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gentle.py").write_text(TWENTY_LINES)
    assert main(["evaluate", "gentle.py:Gentle", "--json", "--store", "kept", "--reps", "1"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["control"] == "Gentle"
    assert len(reported["user_code_hash"]) == 64
    assert {row["control"] for row in reported["scores"]} >= {"Gentle", "CUBIC", "MIAD"}


LATE = """
import ackclock as ac

@ac.control
class Late:
    def on_ack(self, window, ack):
        window.cwnd += 1 / window.cwnd
        if ack.now_s > {after}:
            {fault}

    def on_congestion(self, window, event):
        window.cwnd = event.in_use / 2
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "words", "after"),
    [
        ("1 / 0", ["late.py", "line 9", "1 / 0", "ZeroDivisionError"], 25),
        pytest.param(
            "window.cwnd = float('nan')",
            ["Late.on_ack (late.py, line 9)", "nan", "cwnd"],
            25,
            marks=pytest.mark.slow,
        ),
        ("1 / 0", ["late.py", "line 9", "1 / 0", "ZeroDivisionError"], 5),
        ("window.cwnd = float('nan')", ["Late.on_ack (", "late.py, line 9)", "nan", "cwnd"], 5),
        ("window.cwnd = -3", ["Late.on_ack (", "late.py, line 9)", "-3", "cwnd"], 5),
        (
            "window.cwnd = 1e300",
            ["Late.on_ack (", "late.py, line 9)", "segments in flow", "cwnd"],
            5,
        ),
    ],
)
def test_a_control_that_fails_is_stopped_at_its_line(
    fault, words, after, tiny, tmp_path, monkeypatch, capsys
):
    """Early, in the run that comes first; late, in one of the processes of the sweep.

    Of the late ones one is among the fast tests.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "late.py").write_text(LATE.format(fault=fault, after=after))
    assert main(["evaluate", "late.py:Late", "--store", "kept", "--quiet"]) == 2
    reported = capsys.readouterr().err.replace("NaN", "nan")
    for word in words:
        assert word in reported
    assert "internal error" not in reported
    assert "site-packages" not in reported


@pytest.mark.parametrize(
    ("control", "message"),
    [
        ("vegass", 'there is no cc "vegass"; did you mean "vegas"?'),
        ("nothing.py:Mine", "cannot read"),
        ("{kind = 'aimd', c = 1}", '"c" is not a key here'),
        ("{kind = ", "not a table"),
    ],
)
def test_what_is_no_control_is_reported(control, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ac.AckclockError) as error:
        evaluate(control, progress=False)
    assert message in str(error.value)


def test_an_unknown_tier_is_reported():
    with pytest.raises(ac.AckclockError, match='did you mean "fast"'):
        evaluate("vegas", "fats")
