"""Evaluation of queues: scores that can be worked out by hand, and a run of a small one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from ackclock.cli.main import cli
from ackclock.errors import AckclockError, ScenarioError
from ackclock.scenario.scenario import Scenario
from ackclock.studies.algorithm_argument import Subject
from ackclock.studies.evaluate_queue import scenarios
from ackclock.studies.evaluate_queue.page import page, sentences
from ackclock.studies.evaluate_queue.report import chart
from ackclock.studies.evaluate_queue.run import _mean_rate, evaluate_queue
from ackclock.studies.evaluate_queue.score import (
    Scores,
    _run,
    better,
    ellipse,
    reference,
    score_runs,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_an_ellipse_is_one_standard_deviation():
    # Four corners of a rectangle 4 wide, 2 high, around (5, 3): deviations 2 and 1.
    fitted = ellipse(np.array([[3, 2], [7, 2], [3, 4], [7, 4]], dtype=float))
    assert fitted.centre == (5.0, 3.0)
    assert fitted.axes == pytest.approx((2.0, 1.0))
    assert fitted.angle % 180 == pytest.approx(0.0, abs=1e-9)
    # On the diagonal from (0, 0) to (2, 2): no width, 45 degrees.
    line = ellipse(np.array([[0, 0], [1, 1], [2, 2]], dtype=float))
    assert line.axes == pytest.approx((np.sqrt(4 / 3), 0.0), abs=1e-9)
    assert line.angle % 180 == pytest.approx(45.0)


def made(**values: tuple[list[float], list[float]]) -> Scores:
    table = {}
    for name, (goodput, delay) in values.items():
        table[name, "goodput"] = np.array(goodput)
        table[name, "delay_ms"] = np.array(delay)
    return Scores(table, {name: np.zeros((1, 2)) for name in values})


def test_better_is_beyond_doubt_in_one_and_not_worse_in_the_other():
    scores = made(
        a=([0.90, 0.91, 0.92], [10.0, 11.0, 12.0]),
        less_delay=([0.90, 0.91, 0.92], [5.0, 6.0, 7.1]),
        trade=([0.95, 0.96, 0.971], [20.0, 21.0, 22.1]),
        noise=([0.80, 0.91, 1.0], [9.0, 13.0, 11.0]),
    )
    assert better(scores, "less_delay", "a")
    assert not better(scores, "a", "less_delay")
    assert not better(scores, "trade", "a") and not better(scores, "a", "trade")
    assert not better(scores, "noise", "a") and not better(scores, "a", "noise")


def read(scene: str, flows: dict[str, float], **columns: list[float]) -> dict[str, float]:
    """Metrics of a run in which flows have these goodputs."""
    return read_with_cloud(scene, flows, **columns)[0]


def read_with_cloud(
    scene: str, flows: dict[str, float], **columns: list[float]
) -> tuple[dict[str, float], np.ndarray]:
    """Metrics of such a run, and the points of its flows."""
    count = len(flows)
    table = {
        "id": list(flows),
        "goodput_bps": list(flows.values()),
        "window_sent_packets": [1000] * count,
        "window_lost_data_packets": [0] * count,
        "srtt_mean_s": [0.11] * count,
        "rtt_min_s": [0.1] * count,
        **columns,
    }
    links = {
        "id": ["s0->r0", scenarios.BOTTLENECK],
        "window_arrived_packets": [1, 4000],
        "window_drops": [1, 100],
        "delay_mean_s": [9.0, 0.025],
    }
    return _run({"flows": pa.table(table), "links": pa.table(links)}, scene, 1.0)


def test_a_point_is_queueing_delay_and_goodput_over_the_fair_share():
    flows = {"tcp0": 15e6, "tcp1": 5e6, "udp": 1e6}
    _, points = read_with_cloud("unresponsive", flows, srtt_mean_s=[0.11, 0.14, 0.2])
    # Of 20 Mbit/s a TCP flow's fair share is 10.
    assert points == pytest.approx(np.array([[10.0, 1.5], [40.0, 0.5]]))


def test_goodput_is_that_of_tcp_alone_and_fairness_that_of_flows_that_run_all_the_time():
    # Of 20 Mbit/s: 3 + 1 of TCP; 10 of the stream are no goodput of TCP.
    found = read("unresponsive", {"tcp0": 3e6, "tcp1": 1e6, "udp": 10e6})
    assert found["goodput"] == pytest.approx(0.2)
    assert found["jain"] == pytest.approx(0.8)  # 4^2 / (2 (9 + 1))
    assert found["delay_ms"] == pytest.approx(25)
    assert found["loss_percent"] == pytest.approx(2.5)
    assert np.isnan(found["burst_loss_percent"])
    assert np.isnan(found["long_share"])
    # Flows of a wave are TCP, but run for a part of the time.
    found = read("load", {"tcp0": 2e6, "tcp1": 2e6, "wave0x0": 6e6})
    assert found["goodput"] == pytest.approx(0.5)
    assert found["jain"] == pytest.approx(1.0)


def test_bursts_count_by_what_they_lose():
    lost = [5, 5, 33]
    sent = [1000, 1000, 132]
    found = read(
        "bursts",
        {"tcp0": 8e6, "tcp1": 8e6, "burst": 0.4e6},
        window_lost_data_packets=lost,
        window_sent_packets=sent,
    )
    assert found["burst_loss_percent"] == pytest.approx(25)
    assert found["goodput"] == pytest.approx(0.8)
    nothing = read("bursts", {"tcp0": 8e6, "burst": 0.0}, window_sent_packets=[1, 0])
    assert np.isnan(nothing["burst_loss_percent"])


def test_the_share_of_long_round_trips_is_over_that_of_short_ones():
    flows = {f"tcp{i}": 3e6 for i in range(4)} | {f"tcp{i}": 0.6e6 for i in range(4, 8)}
    assert read("rtt", flows)["long_share"] == pytest.approx(0.2)


@pytest.mark.parametrize("tier", ["fast", "full"])
@pytest.mark.parametrize("name", list(scenarios.SCENARIOS))
def test_every_scenario_is_right(name: str, tier: str):
    size = scenarios.TIERS[tier]
    document = scenarios.document("fifo", scenarios.SCENARIOS[name], size, seed=1)
    Scenario.from_data(document).check()


def test_the_full_tier_has_every_discipline_once():
    names = scenarios.queues(Subject("codel", "codel"), scenarios.TIERS["full"])
    assert next(iter(names)) == "codel"
    assert {"drop tail", "green", "sfb", "fred", "blue", "sred", "afd", "rem"} <= set(names)
    assert "fifo" not in names


def test_no_queue_is_reported(tmp_path: Path):
    with pytest.raises(ScenarioError, match='there is no qdisc "pye"; did you mean "pie"'):
        evaluate_queue("pye", store=False)
    with pytest.raises(AckclockError, match='no tier "fats"; did you mean "fast"'):
        evaluate_queue("pie", "fats", store=False)
    found = CliRunner().invoke(cli, ["evaluate-queue", "pye", "--store", str(tmp_path / "store")])
    assert found.exit_code != 0
    assert not (tmp_path / "store").exists()


@pytest.mark.slow
def test_an_evaluation_gives_page_report_and_scores(tmp_path: Path):
    (tmp_path / "mine.py").write_text(
        "import ackclock as ac\n\n\n@ac.aqm\nclass Short:\n"
        '    """A short buffer."""\n\n    most: int = 10\n\n'
        "    def on_enqueue(self, packet, queue):\n"
        "        return ac.Drop if queue.packets >= self.most else ac.Pass\n"
    )
    done = evaluate_queue(
        "mine.py:Short", reps=2, folder=tmp_path, store=False, progress=False, workers=1
    )
    # Ten packets of 1500 bytes at 20 Mbit/s take 6 ms; a quarter of the rate, 24 ms.
    for name, scores in done.scores.items():
        most = 24 if name == "capacity" else 6
        assert scores.values["Short", "delay_ms"].max() <= most
        assert scores.values["drop tail", "goodput"].max() <= 1.0
    assert done.user_code_hash
    report = done.save(tmp_path / "out")
    text = report.read_text(encoding="utf-8")
    assert "<svg" in text
    assert not re.search(r"<(script|link|img|iframe)\b", text), "it needs no other file"
    reported = json.loads((tmp_path / "out" / "queue-evaluation.json").read_text(encoding="utf-8"))
    assert len(reported["scores"]) == 10 * 6
    assert str(done).startswith("Short beside drop tail, red, codel, fq-codel, pie")


def test_metrics_of_runs_in_which_nothing_happened_are_none_or_not_known():
    nothing = read("bursts", {"tcp0": 1.0, "burst": 0.0}, window_sent_packets=[0, 0])
    assert np.isnan(nothing["burst_loss_percent"])
    still = {f"tcp{i}": 0.0 for i in range(4)} | {f"tcp{i}": 6e6 for i in range(4, 8)}
    assert np.isnan(read("rtt", still)["long_share"])
    assert read("rtt", {f"tcp{i}": 1e6 * (i // 4) + 1e6 for i in range(8)})["long_share"] == 2.0
    tables = {
        "flows": pa.table(
            {"id": ["tcp0", "tcp1"], "goodput_bps": [2e6, 3e6], "srtt_mean_s": [0.12, None],
             "rtt_min_s": [0.1, 0.1]}
        ),
        "links": pa.table(
            {"id": [scenarios.BOTTLENECK], "window_arrived_packets": [0], "window_drops": [0],
             "delay_mean_s": [0.0]}
        ),
    }  # fmt: skip
    found, points = _run(tables, "friendly", 0.5)
    assert found["loss_percent"] == 0.0
    # Half of the rate is there: 5 of 10 Mbit/s, and a fair share is 5.
    assert found["goodput"] == pytest.approx(0.5)
    # Who has no round trip has no point.
    assert points == pytest.approx(np.array([[20.0, 0.4]]))


class Result:
    """Runs of two queues, by what their flows got."""

    def __init__(self, runs):
        self.runs = runs

    def labels(self, axis):
        assert axis == "queue"
        return [queue for queue, _ in self.runs]

    def per_run(self, metric):
        for _, goodput in self.runs:
            flows = {"id": ["tcp0"], "goodput_bps": [goodput], "srtt_mean_s": [0.2],
                     "rtt_min_s": [0.1]}  # fmt: skip
            links = {"id": [scenarios.BOTTLENECK], "window_arrived_packets": [10],
                     "window_drops": [1], "delay_mean_s": [0.1]}  # fmt: skip
            assert metric({"flows": pa.table(flows), "links": pa.table(links)}) == 0.0


def test_scores_are_by_queue_and_metric_in_order_of_the_runs():
    made = score_runs(Result([("a", 2e6), ("b", 4e6), ("a", 6e6)]), "friendly", 0.5)
    assert made.queues == ["a", "b"]
    assert made.values["a", "goodput"].tolist() == [0.2, 0.6]
    assert made.values["b", "goodput"].tolist() == [0.4]
    assert made.points["a"].tolist() == [[100.0, 0.2], [100.0, 0.6]]
    assert made.mean("a", "loss_percent").mean == 10.0
    assert score_runs(Result([("a", 2e6)]), "friendly").values["a", "goodput"].tolist() == [0.1]


def test_the_reference_is_drop_tail_or_the_last():
    assert reference(made(a=([1.0], [1.0]), **{"drop tail": ([1.0], [1.0])}, b=([1.0], [1.0]))) == (
        "drop tail"
    )
    assert reference(made(a=([1.0], [1.0]), b=([1.0], [1.0]))) == "b"


def test_equal_queues_are_not_better_and_one_seed_shows_nothing():
    equal = made(a=([0.5, 0.6], [1.0, 2.0]), b=([0.5, 0.6], [1.0, 2.0]))
    assert not better(equal, "a", "b")
    one = made(a=([0.9], [1.0]), b=([0.1], [9.0]))
    assert not better(one, "a", "b")
    # More goodput beyond doubt at the same delay is enough.
    more = made(a=([0.9, 0.91], [1.0, 2.0]), b=([0.5, 0.51], [1.0, 2.0]))
    assert better(more, "a", "b")
    assert not better(more, "b", "a")


def judged_scores(own):
    """Ten scenarios: the own queue has more delay in `mild`, less goodput in `heavy`."""

    def values(goodput, delay):
        return {
            "goodput": np.array([goodput, goodput]), "delay_ms": np.array([delay, delay]),
            "loss_percent": np.array([1.0, 2.0]), "jain": np.array([0.9, 0.9]),
            "long_share": np.array([0.25, 0.25]), "burst_loss_percent": np.array([5.0, 6.0]),
        }  # fmt: skip

    made = {}
    for name in scenarios.SCENARIOS:
        mine = {"mild": values(0.95, 200.0), "heavy": values(0.5, 10.0)}.get(
            name, values(0.95, 10.0)
        )
        by_queue = {own: mine, "drop tail": values(0.95, 100.0), "red": values(0.96, 9.0)}
        table = {(q, m): v for q, of in by_queue.items() for m, v in of.items()}
        made[name] = Scores(table, {q: np.array([[1.0, 1.0], [20.0, 0.5]]) for q in by_queue})
    return made


def test_the_page_of_a_queue_has_rows_of_scenarios_and_of_queues():
    scores = judged_scores("mine")
    lines = [" ".join(line.split()) for line in page(scores, "fast", 60, 2).splitlines()]
    assert lines[0] == "mine beside drop tail, red"
    assert lines[1] == (
        "10 scenarios of RFC 7928, 20 Mbit/s, 100 ms, buffer twice their product; 2 seeds, tier"
        " fast: 60 runs"
    )
    assert "friendly 0.950 0.950 10.0 100.0 1.50 1.50 0.90 0.90 red" in lines
    assert "mild 0.950 0.950 200.0 100.0 1.50 1.50 0.90 0.90 drop tail, red" in lines
    # (9 * 0.95 + 0.5) / 10; (9 * 10 + 200) / 10.
    assert "mine 0.905 29.0 200.0 0.25 5.5 0.950" in lines
    assert "drop tail 0.950 100.0 100.0 0.25 5.5 0.950" in lines
    (said,) = sentences(scores)
    assert said == (
        "mine is better than drop tail in 8 of 10 scenarios, worse in mild. Its longest delay is"
        " 200 ms in mild (4 flows), its lowest goodput 0.500 in heavy (48 flows)."
    )
    (said,) = sentences({"bursts": scores["bursts"]})
    assert said.startswith("mine is better than drop tail in 1 of 1 scenarios and worse in none.")


def test_a_chart_has_an_ellipse_a_queue_and_a_panel_a_scenario():
    figure = chart(judged_scores("mine"))
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 10
    assert tuple(figure.get_size_inches()) == (11.5, pytest.approx(2.7 * 3))
    first = shown[0]
    assert first.get_title() == "friendly (RFC 7928, 5.1)"
    assert len(first.patches) == 3
    # One standard deviation of log10 1 and log10 20, on each side of their mean.
    assert first.patches[0].get_center() == pytest.approx((0.650515, 0.75), rel=1e-5)
    assert first.patches[0].get_width() == pytest.approx(2 * np.hypot(0.650515, 0.25), rel=1e-5)
    assert [patch.get_alpha() for patch in first.patches] == [0.35, 0.15, 0.15]
    assert first.patches[0].get_facecolor() != first.patches[1].get_facecolor()
    assert [line.get_label() for line in first.lines] == ["mine", "drop tail", "red"]
    # Ticks from 1 to 20 ms with a little room.
    assert [label.get_text() for label in first.get_xticklabels()] == ["1", "3", "10"]
    assert first.get_ylim()[0] == 0
    lonely = Scores({}, {"mine": np.array([[1.0, 1.0]])})
    assert len(chart({"mild": lonely}).axes[0].patches) == 0


def test_the_documents_of_the_scenarios_are_those_of_the_reference():
    def net(name, duration=30.0):
        tier = scenarios.QueueTier(None, duration, 1)
        return scenarios.document("red", scenarios.SCENARIOS[name], tier, seed=4)

    made = net("friendly")
    assert (made["duration"], made["warmup"], made["seed"]) == (30.0, 5.0, 4)
    assert made["net"] == {
        "kind": "dumbbell", "pairs": 8, "rate": 20e6, "rtt": "100 ms", "buffer": "2 bdp",
        "qdisc": "red",
    }  # fmt: skip
    assert made["flows"] == [
        {"id": "tcp", "pair": 0, "count": 8, "cc": "aimd", "recovery": "sack",
         "start_jitter": "1 s"}
    ]  # fmt: skip
    assert net("aggressive")["flows"][0]["cc"] == "cubic"
    assert [net(name)["net"]["pairs"] for name in ("mild", "medium", "heavy")] == [4, 16, 48]
    assert [net(name)["flows"][0]["count"] for name in ("mild", "medium", "heavy")] == [4, 16, 48]
    made = net("unresponsive")
    assert made["net"]["pairs"] == 7
    assert [flow["pair"] for flow in made["flows"]] == [0, 6]
    assert made["flows"][0]["count"] == 6
    assert made["flows"][1]["source"] == {
        "kind": "cbr", "rate": "10 Mbps", "packet": 1500, "jitter": 0.5,
    }  # fmt: skip
    made = net("rtt")
    assert made["net"]["rtts"] == ["20 ms"] * 4 + ["200 ms"] * 4
    assert "rtt" not in made["net"]
    made = net("bursts")
    assert [flow["pair"] for flow in made["flows"]] == [0, 4]
    assert made["net"]["pairs"] == 5
    source = made["flows"][1]["source"]
    # A burst a second, of 4 ms at 100 Mbit/s: 33 packets of 1500 bytes.
    assert len(source["periods"]) == 30
    assert source["periods"][2] == {"on": 2.5, "off": pytest.approx(2.504)}
    assert (source["rate"], source["packet"]) == ("100 Mbps", 1500)
    made = net("load")
    assert made["net"]["pairs"] == 36
    assert [(f["pair"], f["count"]) for f in made["flows"]] == [(0, 4), (4, 16), (20, 16)]
    spans = [(f["id"], f["start"], f["stop"]) for f in made["flows"][1:]]
    assert spans == [
        ("wave0x", pytest.approx(9.0), pytest.approx(27.0)),
        ("wave1x", pytest.approx(15.0), pytest.approx(21.0)),
    ]
    made = net("capacity")
    assert made["net"]["pairs"] == 8
    assert made["net"]["schedule"] == {
        "steps": [{"at": 10.0, "rate": 5e6}, {"at": 20.0, "rate": 20e6}]
    }


def test_tiers_are_those_of_the_reference_and_the_one_under_study_comes_once():
    fast, full = scenarios.TIERS["fast"], scenarios.TIERS["full"]
    assert (fast.duration_s, fast.reps, full.duration_s, full.reps) == (30, 5, 120, 10)
    assert list(scenarios.queues(Subject("mine", {"kind": "red"}), fast)) == [
        "mine", "drop tail", "red", "codel", "fq-codel", "pie",
    ]  # fmt: skip
    assert list(scenarios.queues(Subject("red", "red"), fast)) == [
        "red", "drop tail", "codel", "fq-codel", "pie",
    ]  # fmt: skip
    assert scenarios.queues(Subject("drop tail", "fifo"), fast)["drop tail"] == "fifo"


def test_a_queue_under_study_has_a_label(tmp_path: Path):
    assert scenarios.read_queue("fifo", tmp_path).label == "drop tail"
    assert scenarios.read_queue("pie", tmp_path).label == "pie"
    assert scenarios.read_queue("{kind = 'pie', ecn = true}", tmp_path).label == "pie (under study)"
    assert scenarios.read_queue("{kind = 'pie'}", tmp_path).label == "pie"


def test_the_mean_rate_is_that_of_the_measured_time():
    # From 5 s on: 5 s whole, 10 s a quarter, 10 s whole.
    assert _mean_rate("capacity", 30.0) == pytest.approx(17.5 / 25)
    assert _mean_rate("capacity", 120.0) == pytest.approx((35 + 10 + 40) / 115)
    assert _mean_rate("friendly", 30.0) == 1.0


def test_a_small_evaluation_runs_every_scenario_and_writes_its_files(tmp_path, monkeypatch):
    monkeypatch.setitem(scenarios.TIERS, "fast", scenarios.QueueTier(("red",), 9.0, 2))
    done = evaluate_queue("pie", reps=1, seed=7, store=False, progress=False, workers=1)
    assert (done.tier, done.seeds, done.runs) == ("fast", 1, 30)
    assert done.user_code_hash is None
    assert list(done.scores) == list(scenarios.SCENARIOS)
    for name, scores in done.scores.items():
        assert scores.queues == ["pie", "drop tail", "red"]
        assert scores.values["pie", "goodput"].shape == (1,)
        # So short a run of the changing link has its quarter before it is measured.
        assert 0 < scores.values["drop tail", "goodput"][0] <= (1.0 if name != "capacity" else 2.0)
    again = evaluate_queue("pie", reps=1, seed=8, store=False, progress=False, workers=1)
    assert str(again) != str(done)
    done.save(tmp_path / "out", command="the command")
    data = json.loads((tmp_path / "out" / "queue-evaluation.json").read_text())
    assert (data["queue"], data["tier"], data["seeds"], data["runs"]) == ("pie", "fast", 1, 30)
    assert [row["queue"] for row in data["scores"][:3]] == ["pie", "drop tail", "red"]
    assert data["scores"][0]["goodput"][1:] == [None, None]
    assert data["command"] == "the command"
    rows = (tmp_path / "out" / "scores.csv").read_text().splitlines()
    assert rows[0] == "scenario,queue,metric,replicate,value"
    assert len(rows) == 1 + 10 * 3 * 6
    value = done.scores["friendly"].values["pie", "goodput"][0]
    assert f"friendly,pie,goodput,0,{float(value)!r}" in rows
    assert str(done) == (tmp_path / "out" / "page.txt").read_text().removesuffix("\n")
    # Without a number of replicates there are those of the tier.
    monkeypatch.setattr("ackclock.studies.evaluate_queue.run.SCENARIOS", {
        name: scenarios.SCENARIOS[name] for name in ("capacity",)
    })  # fmt: skip
    assert evaluate_queue("pie", store=False, progress=False, workers=1).runs == 6
