"""Controls identified from captures, and what is no control that is known."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import ackclock as ac
from ackclock.captures.identify.classifier import DATA, FOREST, SURE, load_classifier, train
from ackclock.captures.identify.features import (
    NAMES,
    _flight_at_receiver,
    features,
    features_of_flow,
    features_of_run,
)
from ackclock.captures.identify.forest import Forest, grow
from ackclock.captures.identify.identification import NONE, classes_of, identify, name_of
from ackclock.captures.identify.training import TABLES, classes, path_of, scenario_for
from ackclock.captures.read.read import read_trace
from ackclock.captures.trace import EVENTS, KINDS, CaptureError, FlowTrace, columns

ROOT = Path(__file__).resolve().parents[2]


def sawtooth(cut, base=0.05, cycle=40, cycles=12, top=100.0):
    """Flight that falls to `cut` and grows by equal steps, with the round trips of a full queue."""
    times = np.arange(0, base * cycle * cycles, base / 20)
    phase = times / base % cycle / cycle
    flight = top * (cut + (1 - cut) * phase)
    rtts = base * np.maximum(1, flight / 50)
    losses = base * cycle * np.arange(1, cycles)
    return features(times, flight, times, rtts, losses)


@pytest.mark.parametrize("cut", [0.5, 0.7, 0.875])
def test_the_cut_after_a_loss_is_a_feature(cut):
    row = dict(zip(NAMES, sawtooth(cut), strict=True))
    # Up to three and a half round trips of 40 later it has grown again.
    assert cut <= row["after a loss p50"] <= cut + 0.15 * (1 - cut) + 0.02


def test_growth_by_equal_steps_is_a_straight_line():
    row = dict(zip(NAMES, sawtooth(0.5), strict=True))
    shape = [row[name] for name in NAMES if name.startswith("growth shape")]
    # Round trips grow with the queue, so that it bends a little over rounds.
    assert np.abs(np.array(shape) - np.arange(0.1, 1, 0.1)).max() < 0.15


def test_features_do_not_depend_on_the_scale_of_time():
    slow, fast = sawtooth(0.5, base=0.1), sawtooth(0.5, base=0.02)
    scaled = [index for index, name in enumerate(NAMES) if name != "growth against base"]
    assert np.allclose(slow[scaled], fast[scaled], atol=0.1)


def test_too_little_gives_none():
    few = np.arange(10.0)
    assert features(few, few, few, few + 1, few) is None


@pytest.mark.slow
def test_a_capture_has_the_features_of_its_run(run_of_cubic):
    run, path = run_of_cubic
    ours = features_of_flow(read_trace(path).flows[0])
    theirs = features_of_run(run)
    # Recovery is seen from outside: flight there is what was neither acknowledged nor reported.
    near = np.abs(ours - theirs) < 0.2 + 0.1 * np.abs(theirs)
    assert near.mean() > 0.8


def test_the_round_trip_of_the_handshake_does_not_count(run_of_cubic):
    """Its packets are small, so that it would be the base of all others."""
    _, path = run_of_cubic
    flow = read_trace(path).flows[0]
    assert flow.facts["has_handshake"]
    row = features_of_flow(flow)
    flow.rtts["rtt_s"][0] /= 2
    assert (features_of_flow(flow) == row).all()
    flow.facts["has_handshake"] = False
    assert (features_of_flow(flow) != row).any()


def test_the_training_data_are_small_and_have_every_class():
    assert DATA.stat().st_size < 300_000
    assert FOREST.stat().st_size < 300_000
    with np.load(DATA, allow_pickle=False) as data:
        assert sorted(set(data["names"].tolist())) == classes()
        assert data["rows"].shape[1] == len(NAMES)


@pytest.fixture
def few_trees(monkeypatch):
    monkeypatch.setattr("ackclock.captures.identify.classifier._TREES", 20)


@pytest.mark.usefixtures("few_trees")
def test_what_is_far_from_all_runs_is_none_of_them():
    rng = np.random.default_rng(1)
    names = ["a", "b"] * 60
    rows = rng.normal(size=(120, 5)) + np.array([[0.0], [8.0]] * 60)
    foreign = rng.normal(size=(60, 5)) + np.array([[4.0], [15.0], [-8.0]] * 20)
    classifier = train(rows, names, list(np.repeat(range(20), 6)), foreign)
    near = classifier.probabilities(np.array([[0.1] * 5, [8.1] * 5]))
    assert near[0, 0] > 0.9
    assert near[1, 1] > 0.9
    far = classifier.probabilities(np.array([[40.0] * 5]))
    assert far[0, 2] == pytest.approx(1.0)
    assert np.allclose(near.sum(axis=1), 1)


@pytest.mark.usefixtures("few_trees")
def test_among_some_controls_only_these_have_a_probability():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(150, 5)) + np.array([[0.0], [1.0], [8.0]] * 50)
    foreign = rng.normal(size=(60, 5)) + 20
    classifier = train(rows, ["a", "b", "c"] * 50, list(np.repeat(range(25), 6)), foreign)
    both = classifier.probabilities(rows[:3], ["a", "c"])
    assert np.all(both[:, 1] == 0)
    assert np.allclose(both.sum(axis=1), 1)


def data_of_trees():
    """Rows of half precision, of which some are in two classes."""
    rng = np.random.default_rng(3)
    rows = (rng.normal(size=(80, 4)) + np.array([[0.0], [2.0]] * 40)).astype(np.float16)
    rows[:4] = rows[0]
    return rows.astype(float), ["a", "b"] * 40


def test_a_stored_forest_votes_as_the_trees_of_its_library():
    """Beside scikit-learn, at the rows that it was trained on: thresholds alone are rounded."""
    ensemble = pytest.importorskip("sklearn.ensemble")
    rows, names = data_of_trees()
    forest = grow(rows, names, 30, 7)
    theirs = ensemble.ExtraTreesClassifier(30, max_features=0.3, random_state=7).fit(rows, names)
    assert forest.classes == list(theirs.classes_)
    assert np.allclose(forest.vote(rows), theirs.predict_proba(rows), atol=1e-6)
    assert 0.1 < forest.vote(rows)[0, 0] < 0.9
    other = rows + 0.05
    assert np.abs(forest.vote(other) - theirs.predict_proba(other)).mean() < 0.02


def test_a_forest_comes_back_from_its_arrays():
    pytest.importorskip("sklearn")
    rows, names = data_of_trees()
    forest = grow(rows, names, 5, 1)
    again = Forest.unpack(forest.pack())
    assert np.array_equal(again.vote(rows + 0.1), forest.vote(rows + 0.1))


def test_the_shipped_classifier_needs_no_library_of_learning(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    load_classifier.cache_clear()
    classifier = load_classifier()
    with np.load(DATA, allow_pickle=False) as data:
        rows, names = data["rows"].astype(float), data["names"].tolist()
    best = classifier.trees.vote(rows).argmax(axis=1)
    # All but those whose features another control's run has too.
    assert np.mean([classifier.names[i] == name for i, name in zip(best, names, strict=True)]) > 0.9


@pytest.mark.slow
def test_made_up_controls_are_called_by_no_name():
    """None of these was looked at when the temperature was fitted; `foreign` were."""
    spec = importlib.util.spec_from_file_location("benchmark", ROOT / "benchmarks/identify.py")
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    for number in range(50):
        scenario = scenario_for(benchmark.made_up(number), path_of(8000 + number), TABLES)
        row = features_of_run(scenario.run())
        shares = load_classifier().probabilities(row[None, :])[0]
        assert shares[:-1].max() <= SURE, number


def test_what_is_no_class_is_refused_by_a_sentence():
    assert classes_of(["reno", "fast-corrected"], classes()) == ["aimd", "fast"]
    with pytest.raises(CaptureError, match='"dctcp" is no class, for without marks'):
        classes_of(["dctcp"], classes())


def test_without_a_probable_control_the_answer_is_not_known():
    assert name_of({"a": 0.4, "b": 0.3, NONE: 0.3}) == "not known"
    assert name_of({"a": 0.2, NONE: 0.8}) == NONE
    assert name_of({}) == "not known"


def test_near_the_receiver_nothing_is_said_without_timestamps(tmp_path):
    net = ac.topology.Dumbbell(pairs=1, rate="5 Mbps", rtt="40 ms", buffer="1 bdp")
    scenario = ac.Scenario(net, [ac.Flow(pair=0)], duration="3 s", record={"tables": ["packets"]})
    file = tmp_path / "x.pcapng"
    scenario.run().to_pcapng(file, link="r1->d0")
    result = identify(file)
    assert result.answer == "not known"
    assert "without timestamps" in str(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["aimd", "cubic", "bbr"])
def test_a_capture_of_linux_s_three_is_identified(name, tmp_path):
    net = ac.topology.Dumbbell(pairs=1, rate="12 Mbps", rtt="45 ms", buffer="1 bdp")
    scenario = ac.Scenario(
        net, [ac.Flow(pair=0, cc=name)], duration="20 s", era="linux",
        tcp={"timestamps": True}, record={"tables": ["packets"]},
    )  # fmt: skip
    file = tmp_path / "x.pcapng"
    scenario.run().to_pcapng(file, link="s0->r0")
    assert identify(file).answer == name
    assert load_classifier().names == classes()


def test_what_is_sent_again_is_in_flight_at_the_receiver_as_well():
    """A packet of 100 bytes a second, the second once more at 4.5 s; a round trip is 2 s."""
    flow = FlowTrace("1", "tcp", position="receiver")
    code = {kind: number for number, kind in enumerate(KINDS)}
    sent = [(float(n), code["sent"], 100 * n, 100 * (n + 1), 140) for n in range(10)]
    again = (4.5, code["retransmitted"], 100, 200, 140)
    flow.events = columns(sorted([*sent, again]), EVENTS)
    at = np.array([4.25, 5.25, 8.25])
    times, flight = _flight_at_receiver(flow, at, np.full(3, 2.0))
    assert times.tolist() == at.tolist()
    assert flight.tolist() == [200, 300, 200]
