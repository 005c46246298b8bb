"""Paths that are known, calibrated from captures alone."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ackclock as ac
from ackclock.captures.calibrate.calibration import calibrate
from ackclock.captures.calibrate.estimate import EstimatedValue, PathEstimate, estimate
from ackclock.captures.calibrate.evidence import gather
from ackclock.captures.calibrate.scenario import centre, draw_from
from ackclock.captures.read.read import read_trace
from ackclock.cli.main import main

SIZE = 1500


def path_of(tmp_path, *, at="sender", tcp=None, duration="8 s", cc="cubic", **net):
    net = {"pairs": 1, "rate": "10 Mbps", "rtt": "30 ms", "buffer": "40 pkt", **net}
    scenario = ac.Scenario(
        ac.topology.Dumbbell(**net), [ac.Flow(id="f", pair=0, cc=cc)], duration=duration,
        tcp=tcp or {}, record={"tables": ["packets"]},
    )  # fmt: skip
    file = tmp_path / "x.pcapng"
    scenario.run().to_pcapng(file, link="r1->d0" if at == "receiver" else "s0->r0")
    return estimate(gather(read_trace(file).flows[0]))


@pytest.mark.slow
@pytest.mark.parametrize("at", ["sender", "receiver"])
def test_rate_delay_and_buffer_of_a_full_queue(tmp_path, at):
    path = path_of(tmp_path, at=at, tcp={"timestamps": True})
    assert path.drop == "drop-tail"
    truth = {"rate_bps": 10e6, "base_s": 0.03, "buffer_bytes": 40 * 1512}
    for name, goal in (("rate_bps", 0.03), ("base_s", 0.02), ("buffer_bytes", 0.15)):
        value = getattr(path, name)
        assert value.value == pytest.approx(truth[name], rel=goal)
        assert value.low <= truth[name] <= value.high


@pytest.mark.slow
@pytest.mark.parametrize("qdisc", ["red", "pie"])
def test_early_drops_are_no_tail_drops_where_longer_queues_pass(tmp_path, qdisc):
    """The buffer is never full; its size cannot be known."""
    path = path_of(tmp_path, qdisc=qdisc, buffer="400 pkt", rate="20 Mbps", rtt="60 ms", cc="reno")
    assert path.facts["longer_than_at_losses"] > 0.01
    assert path.drop != "drop-tail"
    assert path.buffer_bytes is None
    assert any("longer queues than those at which others were lost" in x for x in path.doubts)


def test_a_full_queue_lets_no_longer_queue_pass(tmp_path):
    path = path_of(tmp_path)
    assert path.facts["longer_than_at_losses"] == 0


@pytest.mark.slow
def test_a_qlog_of_the_same_run_shows_the_same_path(run_of_cubic, tmp_path):
    run, _ = run_of_cubic
    run.to_qlog(tmp_path / "x.qlog")
    path = estimate(gather(read_trace(tmp_path / "x.qlog").flows[0]))
    assert path.rate_bps.value == pytest.approx(20e6, rel=0.03)
    assert path.base_s.value == pytest.approx(0.04, rel=0.02)
    # In recovery this log has no round trips: the queue at a loss is that of the packet before.
    assert path.buffer_bytes.value == pytest.approx(20e6 * 0.04 / 8, rel=0.15)
    assert path.drop == "drop-tail"


@pytest.mark.slow
def test_the_replay_decides_what_the_losses_of_a_qlog_are(run_of_cubic, tmp_path):
    run, _ = run_of_cubic
    run.to_qlog(tmp_path / "x.qlog")
    result = calibrate(tmp_path / "x.qlog", control="cubic")
    assert "loss" not in result.scenario.to_document()["net"]
    near = {distance.name for distance in result.distances if distance.is_near}
    assert "goodput" in near


def test_counters_show_rate_and_bounds_but_no_random_loss(run_of_cubic, tmp_path):
    run, _ = run_of_cubic
    run.to_flent(tmp_path / "x.flent.gz")
    path = estimate(gather(read_trace(tmp_path / "x.flent.gz").flows[0]))
    assert path.loss is None
    assert path.buffer_bytes is None
    rate = path.rate_bps.value if path.rate_bps else path.least_rate_bps
    assert rate == pytest.approx(20e6, rel=0.1)
    assert any("no losses" in doubt for doubt in path.doubts)


def test_near_the_receiver_without_timestamps_the_rate_is_a_bound(tmp_path):
    path = path_of(tmp_path, at="receiver")
    assert path.rate_bps is None
    assert path.least_rate_bps == pytest.approx(10e6, rel=0.02)
    assert path.buffer_bytes is None
    assert path.drop == "not known"


def test_random_losses_are_not_taken_for_a_full_buffer(tmp_path):
    path = path_of(tmp_path, loss=0.01, buffer="1000 pkt", duration="20 s", cc="reno")
    assert path.buffer_bytes is None
    assert path.loss.low <= 0.01 <= path.loss.high


@pytest.mark.slow
def test_without_a_loss_the_buffer_is_at_least_the_longest_queue(tmp_path):
    path = path_of(tmp_path, cc="vegas", buffer="1000 pkt")
    assert path.drop == "none"
    assert path.buffer_bytes is None
    assert path.rate_bps.value == pytest.approx(10e6, rel=0.03)
    assert any("at least the longest queue" in doubt for doubt in path.doubts)


def test_a_flow_that_its_receiver_limits_shows_no_rate(tmp_path):
    path = path_of(tmp_path, tcp={"receiver_window": 10})
    assert path.rate_bps is None
    # Ten packets of data a round trip.
    assert path.least_rate_bps == pytest.approx(10 * SIZE * 8 / 0.0324, rel=0.1)
    assert any("never kept the bottleneck busy" in doubt for doubt in path.doubts)


def test_a_rate_that_changes_is_said_to_vary(tmp_path):
    steps = [{"at": "4 s", "rate": "5 Mbps"}, {"at": "8 s", "rate": "10 Mbps"}]
    path = path_of(tmp_path, schedule={"steps": steps}, duration="12 s", buffer="80 pkt")
    assert path.varies > 0.06
    times, rates, busy = path.rates
    slow = (times > 5) & (times < 8) & (busy > 0)
    assert np.median(rates[slow]) == pytest.approx(5e6, rel=0.03)


def test_bursts_of_losses_without_a_queue_are_a_policer_s(tmp_path):
    qdisc = {"kind": "policer", "rate": "10 Mbps", "burst": "30000 B"}
    path = path_of(tmp_path, rate="100 Mbps", rtt="40 ms", buffer="500 pkt", qdisc=qdisc, cc="bbr")
    assert path.drop == "policer"
    assert path.buffer_bytes is None
    assert path.rate_bps.low <= 10e6 <= path.rate_bps.high


def test_a_shaper_is_a_rate_with_a_buffer(tmp_path):
    qdisc = {"kind": "shaper", "rate": "10 Mbps", "burst": "30000 B"}
    path = path_of(tmp_path, rate="100 Mbps", rtt="40 ms", buffer="100 pkt", qdisc=qdisc)
    assert path.drop == "drop-tail"
    assert path.rate_bps.value == pytest.approx(10e6, rel=0.03)
    assert path.buffer_bytes.value == pytest.approx(100 * 1500, rel=0.15)


@pytest.fixture(scope="module")
def calibrated(run_of_cubic):
    _, file = run_of_cubic
    return calibrate(file, control="cubic", alternatives=["vegas"], qdiscs=["codel"], draws=3)


def test_the_replay_of_a_run_does_what_was_measured(calibrated):
    assert "may be used" in calibrated.verdict
    assert {distance.name for distance in calibrated.distances if distance.is_near} == {
        "goodput", "round trip, median", "round trip, p95", "lost",
    }  # fmt: skip


def test_alternatives_are_the_measured_control_and_the_others_with_each_queue(calibrated):
    pairs = [(other.control, other.qdisc) for other in calibrated.alternatives]
    assert pairs == [
        ("cubic", "fifo"), ("vegas", "fifo"), ("cubic", "codel"), ("vegas", "codel"),
    ]  # fmt: skip
    by_pair = dict(zip(pairs, calibrated.alternatives, strict=True))
    # Vegas keeps a few packets in the queue, CUBIC fills it.
    vegas, cubic = (by_pair[name, "fifo"].interval("rtt_p50_s") for name in ("vegas", "cubic"))
    assert vegas[2] < cubic[1]
    for other in calibrated.alternatives:
        mean, low, high = other.interval("goodput_bps")
        assert low <= mean <= high < 20.1e6


def test_intervals_have_the_uncertainty_of_the_path():
    sure = PathEstimate(EstimatedValue(1e7, 1e7, 1e7), base_s=EstimatedValue(0.03, 0.03, 0.03),
                buffer_bytes=EstimatedValue(6e4, 6e4, 6e4))  # fmt: skip
    assert {draw_from(sure, SIZE, seed) for seed in range(5)} == {centre(sure, SIZE)}
    unsure = PathEstimate(
        EstimatedValue(1e7, 0.8e7, 1.2e7),
        base_s=EstimatedValue(0.03, 0.02, 0.04),
        least_buffer_bytes=6e4,
    )
    draws = [draw_from(unsure, SIZE, seed) for seed in range(200)]
    rates = [draw.rate_bps for draw in draws]
    assert 0.8e7 <= min(rates) < 0.9e7
    assert 1.1e7 < max(rates) <= 1.2e7
    buffers = [draw.buffer_bytes for draw in draws]
    assert min(buffers) >= 6e4
    assert max(buffers) > 3 * 6e4


def test_the_page_and_the_scenario_are_written(calibrated, tmp_path, capsys):
    folder = tmp_path / "out"
    calibrated.save(folder, command="ackclock calibrate x")
    data = json.loads((folder / "calibration.json").read_text())
    assert data["path"]["drop"] == "drop-tail"
    text = (folder / "path.toml").read_text()
    assert "SHA-256" in text
    scenario = ac.load(folder / "path.toml")
    assert float(scenario.to_document()["net"]["rtt"].split()[0]) == pytest.approx(0.04, rel=0.02)
    assert "Alternatives" in (folder / "calibration.html").read_text()
    assert main(["calibrate", str(tmp_path / "none"), "--try", "cubik"]) == 2
    assert 'no cc "cubik"; did you mean "cubic"' in capsys.readouterr().err


def test_datagrams_show_what_passed_and_nothing_more(tmp_path):
    source = {"kind": "cbr", "rate": "3 Mbps", "packet": "1000 B"}
    scenario = ac.Scenario(
        ac.topology.Dumbbell(pairs=1, rate="10 Mbps", rtt="30 ms"),
        [ac.Flow(id="f", pair=0, source=source)], duration="4 s", record={"tables": ["packets"]},
    )  # fmt: skip
    file = tmp_path / "x.pcapng"
    scenario.run().to_pcapng(file, link="s0->r0")
    path = estimate(gather(read_trace(file).flows[0]))
    assert path.rate_bps is None and path.base_s is None and path.buffer_bytes is None
    assert path.least_rate_bps == pytest.approx(3e6, rel=0.05)
