"""The search for patterns: shapes, shrinking, a small search whole."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ackclock as ac
from ackclock.cli.main import main
from ackclock.experiments.executors import task
from ackclock.experiments.store import Store
from ackclock.scenario.environments import scores
from ackclock.studies.adversary import runs
from ackclock.studies.adversary.arena import Arena
from ackclock.studies.adversary.search import KEEP, adversary
from ackclock.studies.adversary.shape import LOWEST, PathShape

OLD = {"era": "2002", "tcp.receiver_window": 10_000}
PAIR = {
    "AIMD": {"kind": "aimd", "a": 1.0, "b": 0.8},
    "MIMD": {"kind": "mimd", "a": 1.125, "b": 0.8},
}


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12).filter(lambda x: len(x) % 2 == 0))
def test_every_point_of_the_search_is_a_pattern(numbers):
    shape = PathShape.of(numbers)
    assert len(shape.levels) == len(numbers) // 2
    for part, seconds in shape.levels:
        assert LOWEST <= part <= 1
        assert 0.1 <= seconds <= 20
    steps = shape.steps(10e6)
    assert steps[0]["at"] == 0
    assert all(a["at"] < b["at"] for a, b in itertools.pairwise(steps))


def test_the_ends_of_the_search_are_those_of_the_scales():
    assert PathShape.of([0, 1, 0, 1]).levels == ((0.05, 0.1), (1.0, 20.0))


def test_simpler_patterns_have_a_level_less_or_a_round_number_more():
    shape = PathShape(((0.47, 3.0), (1.0, 7.1)))
    found = list(shape.simpler())
    assert PathShape(((1.0, 7.1),)) in found
    assert PathShape(((0.5, 3.0), (1.0, 7.1))) in found
    assert PathShape(((0.47, 3.0), (1.0, 8.0))) in found
    assert not list(PathShape(((0.5, 3.0),)).simpler())


def test_the_best_other_is_the_one_of_the_best_mean():
    arena = Arena({"a": "aimd", "b": "aiad", "c": "vegas"})
    gaps = arena.gaps({"a": [0.5, 0.7], "b": [0.9, 0.1], "c": [0.6, 0.6]})
    assert gaps == pytest.approx([-0.1, 0.1])


def test_where_the_last_place_is_wanted_the_rival_is_the_worst_of_the_others():
    arena = Arena({"a": "aimd", "b": "aiad", "c": "vegas"})
    gaps = arena.gaps({"a": [0.3, 0.1], "b": [0.4, 0.4], "c": [0.6, 0.6]}, "last")
    assert gaps == pytest.approx([-0.1, -0.3])


def test_aiad_wins_where_short_periods_of_low_bandwidth_cut_what_others_had():
    """Fig. 1 (b): AIMD loses what it gained in a high period, AIAD keeps most of it."""
    arena = Arena(
        {
            "AIAD": {"kind": "aiad", "a": 1.0, "d": 3.0},
            **PAIR,
            "MIAD": {"kind": "miad", "a": 1.125, "d": 3.0},
        },
        duration_s=40,
        settings=OLD,
    )
    shape = PathShape(((0.8, 0.6), (0.06, 0.4)))
    assert all(gap > 0.1 for gap in arena.gaps(arena.goodputs(shape, [1, 2, 3]), "best"))


@pytest.mark.slow
def test_a_search_finds_a_pattern_that_holds_on_fresh_seeds(tmp_path):
    """AIMD cannot follow a bandwidth that leaps; more than a tenth of it is lost to MIMD."""
    arena = Arena(PAIR, flows=3, duration_s=40, settings=OLD)
    found = adversary(arena, levels=2, budget=30, seed=3)
    assert found.holds
    assert found.gap.mean < -0.1
    assert len(found.shape.levels) <= 2
    page = found.save(tmp_path / "out", command="ackclock adversary AIMD")
    folder = page.parent
    text = page.read_text()
    assert found.answer() in text.replace("&#39;", "'")
    assert "<svg" in text
    assert 'src="' not in text
    assert text.count("<table>") == text.count('<div class="scroll"><table>') == 2
    scenario = ac.load(folder / "scenario.toml")
    again = scores(scenario.replace(seed=1001).run().summary)["goodput"]
    assert found.goodput["AIMD"].low - 0.1 < again < found.goodput["AIMD"].high + 0.1
    kept = json.loads((folder / "adversary.json").read_text())
    shown = [(step["at"], f"{step['rate']!r} bit/s") for step in kept["steps"]]
    assert shown == [(step["at"], step["rate"]) for step in scenario.data["net"]["steps"]]
    assert (folder / "pattern.svg").stat().st_size > 10_000


def test_the_number_of_threads_does_not_change_what_is_found():
    arena = Arena(PAIR, flows=2, duration_s=15, settings=OLD)
    one, two = (adversary(arena, levels=1, budget=12, seed=5, workers=w) for w in (1, 2))
    assert one == two


def test_a_search_that_was_stopped_goes_on_where_it_was(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["adversary", "AIMD", "--against", "MIMD", "--flows", "2", "--duration", "15 s"]
    command += ["--levels", "1", "--budget", "12", "--store", "kept", "--json"]
    begun = itertools.count()

    def stopped(request, progress=None, pieces=None):
        if next(begun) == 5:
            raise KeyboardInterrupt
        return task.perform(request, progress, pieces)

    monkeypatch.setattr(runs, "perform", stopped)
    assert main([*command, "--workers", "1"]) == 3
    with Store("kept") as store:
        kept = store.index.count()
    assert kept >= 5
    capsys.readouterr()
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    again = []

    def counted(request, progress=None, pieces=None):
        again.append(request.key)
        return task.perform(request, progress, pieces)

    monkeypatch.setattr(runs, "perform", counted)
    assert main(command) == 0
    first = capsys.readouterr().out
    assert json.loads(first)["tried"] >= 10
    with Store("kept") as store:
        assert store.index.count() == kept + len(set(again))
    again.clear()
    assert main(command) == 0
    assert capsys.readouterr().out == first
    assert again == []


def test_a_search_reports_how_far_it_is():
    reported = []
    arena = Arena(PAIR, flows=2, duration_s=10, settings=OLD)
    adversary(arena, levels=1, budget=10, seed=5, progress=reported.append)
    assert reported == sorted(reported)
    assert reported[0] == 1 / 10
    assert reported[-1] == 1


def test_shrinking_keeps_most_of_the_gap():
    from ackclock.studies.adversary.search import _shrunk

    def gap(shape):
        return -1.0 if any(part < 0.2 for part, _ in shape.levels) else -0.5

    shrunk = _shrunk(PathShape(((0.13, 3.3), (0.9, 7.0), (0.4, 2.2))), gap)
    assert len(shrunk.levels) == 1
    assert shrunk.levels[0][0] < 0.2
    assert gap(shrunk) <= -KEEP


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["AIMD", "--against", ""], "names no other control"),
        (["AIMD", "--against", "AIMDD"], 'there is no cc "AIMDD"'),
        (["AIMD", "--best", "--last"], "--best and --last search different patterns"),
        (["AIMD", "--peak", "fast"], "is not a rate"),
        (["AIMD", "--peak", "10"], '--peak: "10" has no unit'),
        (["AIMD", "--set", "net.bufer=3"], "bufer"),
    ],
)
def test_what_is_wrong_is_reported_before_the_search(arguments, message, capsys):
    assert main(["adversary", *arguments]) == 2
    assert message in capsys.readouterr().err
