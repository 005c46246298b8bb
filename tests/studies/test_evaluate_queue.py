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
from ackclock.studies.evaluate_queue.run import evaluate_queue
from ackclock.studies.evaluate_queue.score import Scores, _run, better, ellipse

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
