"""The judgement of controls and its page, worked out by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from ackclock.errors import AckclockError
from ackclock.experiments.plan import Slot
from ackclock.experiments.statistics import Mean
from ackclock.studies.algorithm_argument import Subject
from ackclock.studies.evaluate_control import grid
from ackclock.studies.evaluate_control.judge import Judgement, Neighbour, judge_results, mean_ratio
from ackclock.studies.evaluate_control.page import page, sentences
from ackclock.studies.evaluate_control.report import _shade, chart
from ackclock.studies.evaluate_control.run import Evaluation

SACK = "SACK + DRR"


def rows(goodput, setting=SACK, fairness=None):
    """Rows of the table ``environment``: goodput by control and environment, one per replicate."""
    return [
        {
            "setting": setting, "control": control, "environment": environment, "replicate": number,
            "goodput": value, "fairness": (fairness or {}).get(control, 0.1), "loss_percent": 1.0,
            "delay_ms": 30.0, "timeouts": 0.0,
        }
        for (control, environment), values in goodput.items()
        for number, value in enumerate(values)
    ]  # fmt: skip


def result(environment, flows=(), **more):
    tables = {"environment": pa.Table.from_pylist(list(environment)),
              "flows": pa.Table.from_pylist(list(flows))}  # fmt: skip
    summaries = {"one": {"totals": {"cpu_s": 1.5}}}
    slots = [Slot(0, 0, 1, "a"), Slot(0, 1, 2, "b")]
    digests = {"a": "one", "b": "other"}
    given = {"tables": tables, "summaries": summaries, "slots": slots, "interrupted": False,
             "digests": digests}  # fmt: skip
    return SimpleNamespace(**{**given, **more})


MINE = Subject("Mine", "mine.py:Mine")


def test_seeds_that_give_one_run_are_said_to():
    goodput = {("Mine", "x"): (1.0, 1.0), ("Other", "x"): (0.9, 0.9)}
    equal = result(rows(goodput), digests={"a": "one", "b": "one"})
    found = judge_results(MINE, equal, result([]))
    assert (found.one_run, found.points) == (1, 1)
    assert "At all points all seeds give one and the same run" in sentences(judgement(
        one_run=found.one_run, points=found.points
    ))[0]  # fmt: skip
    assert "one and the same run" not in sentences(judgement())[0]


def judge(goodput, alone=(), shared=(), **more):
    return judge_results(MINE, result(rows(goodput, **more), alone), result([], shared))


def test_the_best_are_those_whose_distance_may_be_chance_in_order_of_their_means():
    found = judge(
        {
            ("Mine", "x"): (0.80, 0.89, 0.85),
            ("Near", "x"): (0.90, 0.88, 0.92),
            ("Far", "x"): (0.50, 0.51, 0.52),
            ("Best", "x"): (0.91, 0.90, 0.93),
        }
    )
    # Near is behind Best by 0.01, 0.02, 0.01: beyond its interval 0.0133 ± 0.0143? It is not.
    assert found.best[SACK] == ("Best", "Near", "Mine")
    assert found.won == [SACK]
    assert (found.seeds, found.runs, found.cpu_s) == (3, 4, 3.0)
    assert found.controls == ("Mine", "Near", "Far", "Best")
    assert found.environments == ("x",)
    # Best is the best in each half of the seeds: the second, and the first with the third.
    assert found.gaps[SACK, "x"].mean == pytest.approx((0.11 + 0.01 + 0.08) / 3)
    assert found.rank_d[SACK, "Far"].mean == pytest.approx((0.41 + 0.39 + 0.41) / 3)
    place, gap, behind = found.worst[SACK]
    assert (place, behind) == ("x", "Best")
    # Chosen by the second seed, measured in the others.
    assert gap == pytest.approx(Mean.of([0.11, 0.08]))


def test_one_seed_gives_one_best_control():
    found = judge({("Mine", "x"): (0.9,), ("Other", "x"): (0.9,), ("Third", "x"): (0.95,)})
    assert found.best[SACK] == ("Third",)
    assert found.won == []


def test_a_control_that_is_behind_beyond_its_interval_is_not_best():
    found = judge({("Mine", "x"): (0.5, 0.51, 0.5), ("Other", "x"): (0.6, 0.6, 0.61)})
    assert found.best[SACK] == ("Other",)
    # Two equal differences are no evidence.
    found = judge({("Mine", "x"): (0.5, 0.5), ("Other", "x"): (0.6, 0.6)})
    assert found.best[SACK] == ("Other", "Mine")


@pytest.mark.slow
def test_of_equal_controls_none_is_behind_and_no_environment_is_the_worst():
    draws = np.random.default_rng(8).normal(0.5, 0.1, (200, 4, 6, 10))
    behind, worst, out = [], [], 0
    for draw in draws:
        found = judge({
            (name, f"e{e}"): tuple(draw[c, e])
            for c, name in enumerate(("Mine", "A", "B", "C"))
            for e in range(6)
        })  # fmt: skip
        behind.append(found.rank_d[SACK, "Mine"].mean)
        worst.append(found.worst[SACK][1])
        out += len(found.best[SACK]) < 4
    # The greatest of four in each replicate is 1.03 deviations above; of halves it is 0.
    assert np.mean(behind) == pytest.approx(0, abs=4 * np.std(behind) / 200**0.5)
    covered = np.mean([gap.low <= 0 <= gap.high for gap in worst])
    assert covered == pytest.approx(0.95, abs=0.06)
    # Any of three others is left out with at most 5 %; the least D is itself chosen.
    assert out / 200 <= 0.05 + 0.05


def test_what_is_best_is_level_or_ahead_and_with_one_seed_at_least_level():
    # Mine is the best in both environments by 0.1 under each seed: 0 of itself, and no worst place.
    surely = {("Mine", "x"): (0.9, 0.8), ("Mine", "y"): (0.7, 0.7),
              ("A", "x"): (0.8, 0.7), ("A", "y"): (0.6, 0.6)}  # fmt: skip
    found = judge(surely)
    assert found.rank_d[SACK, "Mine"].to_list() == [0.0, 0.0, 0.0]
    place, gap, behind = found.worst[SACK]
    assert (place, gap.mean, behind) == ("x", 0, "Mine")
    # Each seed chooses the other control: both are above that choice where it is measured.
    turns = {("Mine", "x"): (0.9, 0.6), ("A", "x"): (0.8, 0.8)}
    found = judge(turns)
    # By the first Mine, which gets 0.2 less in the second; by the second A, 0.1 less in the first.
    assert found.rank_d[SACK, "A"].mean == pytest.approx((0.0 - 0.2) / 2)
    assert found.rank_d[SACK, "Mine"].mean == pytest.approx((-0.1 + 0.0) / 2)
    one = judge({place: values[:1] for place, values in turns.items()})
    assert one.rank_d[SACK, "Mine"].mean == 0
    assert one.rank_d[SACK, "A"].mean == pytest.approx(0.1)


def test_the_worst_environment_is_chosen_without_the_seeds_that_measure_it():
    # By the second seed x is the worst, 0.3 behind A; that the first has B ahead in y is no reason.
    found = judge({
        ("Mine", "x"): (0.5, 0.5), ("A", "x"): (0.8, 0.8), ("B", "x"): (0.7, 0.7),
        ("Mine", "y"): (0.5, 0.5), ("A", "y"): (0.6, 0.7), ("B", "y"): (0.9, 0.6),
    })  # fmt: skip
    place, gap, behind = found.worst[SACK]
    assert (place, behind) == ("x", "A")
    assert gap.mean == pytest.approx(0.3)


def test_stopped_evaluations_are_not_judged():
    whole = result(rows({("Mine", "x"): (1.0,)}))
    for alone, shared in ((True, False), (False, True)):
        with pytest.raises(AckclockError, match="was stopped before its end; run it again"):
            judge_results(
                MINE,
                SimpleNamespace(**{**vars(whole), "interrupted": alone}),
                SimpleNamespace(**{**vars(whole), "interrupted": shared}),
            )


def flows(ids, **columns):
    return [{"id": name, "goodput_bps": value, **columns} for name, value in ids.items()]


def test_ratios_of_equal_flows_are_1_and_turned_round_the_inverse():
    draws = np.random.default_rng(3).lognormal(0.0, 0.6, (2, 200, 10))
    # By their mean the ratio of equal flows with this deviation is 1.43.
    assert np.mean(draws[0] / draws[1]) > 1.35
    found = [mean_ratio((a / b).tolist()) for a, b in zip(*draws, strict=True)]
    assert np.mean([math.log(one.mean) for one in found]) == pytest.approx(0, abs=0.045)
    assert np.mean([one.low <= 1 <= one.high for one in found]) == pytest.approx(0.95, abs=0.06)
    for one, (a, b) in zip(found, zip(*draws, strict=True), strict=True):
        other = mean_ratio((b / a).tolist())
        assert other == pytest.approx((1 / one.mean, 1 / one.high, 1 / one.low))
    # Two seeds of logarithms 0 and ln 4: t of one degree of freedom is 12.7062.
    one = mean_ratio([1.0, math.nan, 4.0])
    assert one.mean == pytest.approx(2)
    assert math.log(one.high / 2) == pytest.approx(12.7062 * math.log(4) / 2, rel=1e-5)
    # Nothing at all is a ratio, too: who gets nothing is harmed beyond doubt.
    assert mean_ratio([0.0, 1.0]) == Mean.of([0.0, 1.0])
    assert Neighbour(one, mean_ratio([0.0] * 3)).is_harmed
    assert math.isnan(mean_ratio([math.nan]).mean)


def test_neighbours_share_by_the_mean_of_flows_and_keep_by_that_among_their_own_kind():
    place = {"environment": "x", "replicate": 0}
    alone = [
        *flows({"a": 6.0, "b": 10.0}, setting=SACK, control="AIMD", **place),
        # Other recoveries do not count.
        *flows({"a": 100.0}, setting="Reno + DRR", control="AIMD", **place),
    ]
    both = {"router": "DRR", "other": "AIMD"}
    shared = [
        *flows({"own0": 3.0, "own1": 5.0, "other0": 1.0, "other1": 3.0}, **both, **place),
        # They get nothing here; what they got before is not known.
        *flows({"own0": 3.0, "other0": 0.0}, **both, environment="y", replicate=0),
    ]
    one = judge({("Mine", "x"): (1.0,), ("AIMD", "x"): (1.0,)}, alone, shared)
    found = one.neighbours["DRR", "AIMD"]
    assert found.share.mean == pytest.approx((4 + 3) / (2 + 0))
    assert found.retained.mean == pytest.approx(0.25)
    assert not found.is_harmed
    shared = [
        row
        for number, kept in enumerate((0.5, 0.51))
        for row in flows(
            {"own0": 8.0, "other0": 8 * kept}, **both, environment="x", replicate=number
        )
    ]
    alone = [
        row
        for number in (0, 1)
        for row in flows(
            {"a": 8.0}, setting=SACK, control="AIMD", environment="x", replicate=number
        )
    ]
    two = judge({("Mine", "x"): (1.0, 1.0), ("AIMD", "x"): (1.0, 1.0)}, alone, shared)
    # Logarithms: their mean ± 12.7 halves of their difference.
    half = 12.7062 * math.log(0.51 / 0.5) / 2
    assert two.neighbours["DRR", "AIMD"].retained.high == pytest.approx(
        (0.5 * 0.51) ** 0.5 * math.exp(half), rel=1e-4
    )
    assert two.neighbours["DRR", "AIMD"].is_harmed


def test_harm_is_beyond_the_interval():
    even = Mean(1.0, 1.0, 1.0)
    assert Neighbour(even, Mean(0.5, 0.2, 0.99)).is_harmed
    assert not Neighbour(even, Mean(0.5, 0.2, 1.0)).is_harmed
    assert not Neighbour(even, Mean(0.5, math.nan, math.nan)).is_harmed


def judgement(**changes):
    """Two settings and three controls; everything is certain and even unless it is changed."""
    settings, controls = ("Reno + RED", "SACK + RED"), ("Mine", "CUBIC", "Vegas")
    fixed = {(s, c): Mean(0.1, 0.1, 0.1) for s in settings for c in controls}
    given = {
        "control": "Mine",
        "controls": controls,
        "settings": settings,
        "environments": ("cons-low", "sq-low"),
        "rank_d": fixed,
        "rank_c": fixed,
        "best": dict.fromkeys(settings, ("Mine",)),
        "metrics": {
            (s, c, m): Mean(v, v, v)
            for s in settings
            for c, v in zip(controls, (0.5, 1.25, 0.75), strict=True)
            for m in ("goodput", "fairness", "loss_percent", "delay_ms", "timeouts")
        },
        "worst": {s: ("sq-low", Mean(0.2, -0.1, 0.5), "Vegas") for s in settings},
        "gaps": {},
        "neighbours": {
            ("RED", c): Neighbour(Mean(2.0, 2.0, 2.0), Mean(1.0, 1.0, 1.0)) for c in controls[1:]
        },
        "seeds": 2,
        "runs": 1234,
        "cpu_s": 5.4,
    }
    return Judgement(**{**given, **changes})


def test_the_page_of_a_control_has_three_tables():
    ranks = {**judgement().rank_d, ("SACK + RED", "Mine"): Mean(0.3, 0.2, 0.4)}
    found = judgement(
        rank_d=ranks, best={"Reno + RED": ("Mine",), "SACK + RED": ("CUBIC", "Vegas")}
    )
    text = page(found, "fast")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == "Mine beside CUBIC, Vegas"
    assert lines[1] == "2 settings, 2 environments, 2 seeds, tier fast: 1,234 runs, 5 s of one core"
    assert "Reno + RED 1/3 0.1 0.1 sq-low: 0.20 to Vegas Mine" in lines
    # CUBIC is unfair: 1.25 is more than 1.
    assert "SACK + RED 3/3 0.30 ± 0.10 0.1 sq-low: 0.20 to Vegas CUBIC*, Vegas" in lines
    assert "RED 0.5 2.00 (100 %) 2.00 (100 %)" in lines
    assert "Reno + RED 0.50 0.75 to 1.25 0.5 0.8 to 1.2" in lines
    assert "> 1 beyond its interval" in text


def test_sentences_count_the_settings_that_are_won():
    def first(best):
        return sentences(judgement(best=best))[0].split(". ")[0]

    won, lost = ("Mine", "Vegas"), ("Vegas",)
    assert (
        first({"Reno + RED": won, "SACK + RED": won}) == "Mine is among the best in all 2 settings"
    )
    assert first({"Reno + RED": won, "SACK + RED": lost}) == (
        "Mine is among the best in 1 of 2 settings, not with SACK + RED"
    )
    assert first({"Reno + RED": lost, "SACK + RED": lost}) == "Mine is among the best in no setting"


def test_sentences_name_the_worst_of_what_is_certain():
    worst = {
        "Reno + RED": ("cons-low", Mean(0.3, 0.1, 0.5), "CUBIC"),
        "SACK + RED": ("sq-low", Mean(0.5, 0.0, 1.0), "Vegas"),
    }
    (text,) = sentences(judgement(worst=worst))
    # The other may be chance: its interval ends at 0.
    assert (
        "It is furthest behind the best in cons-low with Reno + RED, where CUBIC gets most: 0.3"
        " [0.1, 0.5] of the bandwidth."
    ) in text
    worst["SACK + RED"] = ("sq-low", Mean(0.5, 0.01, 1.0), "Vegas")
    assert "furthest behind the best in sq-low" in sentences(judgement(worst=worst))[0]


def test_sentences_say_how_evenly_flows_share():
    def text(reno, sack):
        metrics = dict(judgement().metrics)
        metrics["Reno + RED", "Mine", "fairness"] = Mean(*reno)
        metrics["SACK + RED", "Mine", "fairness"] = Mean(*sack)
        return sentences(judgement(metrics=metrics))[0]

    assert "is at most 0.5, with Reno + RED." in text((0.5, 0.5, 0.5), (0.4, 0.4, 0.4))
    assert "is at most 1, with SACK + RED." in text((0.5, 0.5, 0.5), (1.0, 1.0, 1.0))
    unfair = text((1.5, 1.1, 1.9), (1.2, 1.0, 1.4))
    assert "Its flows share unevenly with Reno + RED. Whether they do with SACK + RED is" in unfair
    assert "at most" not in unfair
    assert "Whether its flows share unevenly with SACK + RED is open." in text(
        (0.5, 0.5, 0.5), (1.0, 0.9, 1.1)
    )


def test_sentences_name_who_is_harmed_most():
    neighbours = {
        ("RED", "CUBIC"): Neighbour(Mean(1, 1, 1), Mean(0.5, 0.3, 0.7)),
        ("DRR", "Vegas"): Neighbour(Mean(1, 1, 1), Mean(0.2, -0.5, 0.9)),
        ("DRR", "CUBIC"): Neighbour(Mean(1, 1, 1), Mean(0.1, -2.0, 2.2)),
    }
    (text,) = sentences(judgement(neighbours=neighbours))
    assert (
        "It harms Vegas most, with DRR: beside it a flow of Vegas gets 20 % [0 %, 90 %] of its"
        " goodput among its own kind."
    ) in text


def test_a_chart_has_a_panel_a_setting_with_all_controls():
    figure = chart(judgement())
    assert len(figure.axes) == 4
    assert tuple(figure.get_size_inches()) == (10.5, pytest.approx(2.6))
    first = figure.axes[0]
    assert first.get_title() == "Reno + RED"
    intervals, points = first.lines[::2], first.lines[1::2]
    assert [line.get_xydata().tolist() for line in intervals] == [
        [[0.1, n], [0.1, n]] for n in range(3)
    ]
    assert [line.get_xydata().tolist() for line in points] == [[[0.1, n]] for n in range(3)]
    colours = [line.get_color() for line in points]
    assert colours[0] != colours[1] == colours[2]
    assert first.get_xlim()[0] == 0
    # A control that is above what other seeds chose is not cut off.
    ahead = {
        (s, name): Mean(-0.2, -0.3, -0.1)
        for s in ("Reno + RED", "SACK + RED")
        for name in ("Mine", "CUBIC", "Vegas")
    }
    assert chart(judgement(rank_d=ahead)).axes[0].get_xlim()[0] < -0.3
    assert first.yaxis_inverted()
    five = tuple("abcde")
    ranks = {(s, c): Mean(0.1, 0.1, 0.1) for s in five for c in judgement().controls}
    assert len(chart(judgement(settings=five, rank_d=ranks)).axes) == 8


def test_shades_go_from_white_to_orange():
    def alpha(value):
        return str(_shade(value)).rpartition(", ")[2][:4]

    assert [alpha(value) for value in (-1.0, 0.0, 0.15, 0.3, 9.0)] == [
        "0.00", "0.00", "0.28", "0.55", "0.55",
    ]  # fmt: skip
    assert str(_shade(math.nan)) == ""


def test_data_of_an_evaluation_have_everything():
    found = judgement(best={"Reno + RED": ("Mine",), "SACK + RED": ("Vegas",)})
    hashed = SimpleNamespace(summaries={"a": {}, "b": {"user_code_hash": "h"}})
    done = Evaluation(found, MINE, "fast", SimpleNamespace(), hashed)
    data = done.to_dict()
    assert {
        key: data[key] for key in ("control", "tier", "seeds", "runs", "cpu_s", "user_code_hash")
    } == {
        "control": "Mine",
        "tier": "fast",
        "seeds": 2,
        "runs": 1234,
        "cpu_s": 5.4,
        "user_code_hash": "h",
    }
    assert data["best"] == {"Reno + RED": ["Mine"], "SACK + RED": ["Vegas"]}
    assert data["worst"]["SACK + RED"] == {
        "environment": "sq-low", "behind": "Vegas", "gap": [0.2, -0.1, 0.5],
    }  # fmt: skip
    assert data["scores"][4] == {
        "setting": "SACK + RED",
        "control": "CUBIC",
        "D": [0.1] * 3,
        "C": [0.1] * 3,
        **dict.fromkeys(
            ("goodput", "fairness", "loss_percent", "delay_ms", "timeouts"), [1.25] * 3
        ),
    }
    assert data["sharing"] == [
        {"router": "RED", "other": other, "share": [2.0] * 3, "kept": [1.0] * 3}
        for other in ("CUBIC", "Vegas")
    ]
    bare = SimpleNamespace(summaries={"a": {}})
    assert Evaluation(found, MINE, "fast", bare, bare).to_dict()["user_code_hash"] is None
    assert str(done) == page(found, "fast")


# The grid


def test_settings_are_two_recoveries_times_four_routers():
    assert list(grid.SETTINGS) == [
        f"{name} + {router}"
        for name in ("Reno", "SACK")
        for router in ("drop-tail", "RED", "RED+ECN", "DRR")
    ]
    assert grid.SETTINGS["SACK + RED+ECN"] == {
        "flows[*].recovery": "sack", "net.qdisc": {"kind": "red", "ecn": True}, "tcp.ecn": True,
    }  # fmt: skip
    assert grid.SETTINGS["Reno + drop-tail"] == {
        "flows[*].recovery": "reno", "net.qdisc": "fifo", "tcp.ecn": False,
    }  # fmt: skip


def test_tiers_are_those_of_the_reference():
    fast, full = grid.TIERS["fast"], grid.TIERS["full"]
    assert (fast.duration_s, fast.warmup_s, fast.reps) == (40, 10, 3)
    assert (full.duration_s, full.warmup_s, full.reps) == (100, 10, 5)
    assert (len(fast.environments), len(full.environments)) == (5, 13)


def test_both_sweeps_have_the_control_and_all_others_once():
    tier = grid.ControlTier(("cons-low", "sq-low"), ("cons-low",), 30.0, 4.0, 2)
    alone = grid.alone(Subject("hybla", "hybla"), tier, seed=5, reps=2)
    assert [len(block.rows) for block in alone.grid] == [8, 8, 2]
    assert alone.replicates.reps == 2
    assert alone.case.seed == 5
    assert len(grid.alone(Subject("vegas", "vegas"), tier, seed=5, reps=1).grid[0].rows) == 7
    document = grid.document("vegas", tier, seed=5)
    assert document == {
        "net": {"kind": "environment", "name": "cons-low", "packet": 1500},
        "flows": [{"pair": 0, "count": 10, "stagger": "100 ms", "cc": "vegas"}],
        "duration": 30.0, "warmup": 4.0, "seed": 5,
    }  # fmt: skip
    shared = grid.make_shared_sweep(Subject("vegas", "vegas"), tier, seed=6, reps=1)
    assert [len(block.rows) for block in shared.grid] == [6, 4, 1]
    data = shared.case_at(shared.points[0]).data
    half = {"count": 5, "stagger": "200 ms", "recovery": "sack"}
    own, other = data["flows"]
    assert {key: own[key] for key in ("id", "pair", *half)} == {"id": "own", "pair": 0, **half}
    assert {key: other[key] for key in ("id", "pair", "start", *half)} == {
        "id": "other", "pair": 5, "start": "100 ms", **half,
    }  # fmt: skip
    assert (own["cc"], other["cc"]) == ("vegas", grid.OTHERS["AIMD"])
    assert shared.case.seed == 6


def test_a_control_that_is_called_like_another_is_marked(tmp_path):
    assert grid.read_control("{kind = 'aimd', b = 0.7}", tmp_path).label == "aimd (under study)"
    assert grid.read_control("cubic", tmp_path).label == "cubic"
    assert (
        grid.read_control("{kind = 'cubic', beta = 0.8}", tmp_path).label == "cubic (under study)"
    )
    assert grid.read_control("hybla", tmp_path).label == "hybla"
