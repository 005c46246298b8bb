"""Audits of a dossier: what is played, predicted and said, from few numbers."""

from types import SimpleNamespace

import pytest

from ackclock.dossier import audits
from ackclock.dossier.audits import Audited
from ackclock.dossier.bind import BoundControl


def task(control=None, *, seed=None, **more):
    rivals = {"CUBIC": "cubic", "Reno": "aimd"}
    return SimpleNamespace(
        control=control or BoundControl("mine", "vegas"), rivals=rivals, seed=seed, tier="fast",
        **more,
    )  # fmt: skip


def test_a_game_is_of_equal_players_on_a_link_of_5_mbit_s_each():
    ecn = BoundControl("mine", "dctcp", {"ecn": True})
    game = audits._game(task(ecn, seed=7), 3)
    assert (game.title, game.players, game.reps) == ("Which control to choose", 3, audits.GAME_REPS)
    assert game.strategies == {
        "mine": {"cc": "dctcp", "tcp": {"ecn": True}}, "CUBIC": {"cc": "cubic"},
        "Reno": {"cc": "aimd"},
    }  # fmt: skip
    assert game.networks == {
        "drop-tail": {"net.qdisc": "fifo"}, "FQ-CoDel": {"net.qdisc": "fq-codel"},
    }  # fmt: skip
    assert game.scenario == {
        "duration": "30 s", "warmup": "10 s", "seed": 7,
        "net": {"kind": "dumbbell", "pairs": 3, "rate": "15 Mbps", "rtt": "40 ms",
                "buffer": "1 bdp"},
    }  # fmt: skip
    assert audits._game(task(), 2).scenario["seed"] == 1
    assert audits._game(task(seed=0), 2).scenario["seed"] == 0


def gain(low, high, right="CUBIC", least=0.1):
    mean = (low + high) / 2
    return SimpleNamespace(
        gain=SimpleNamespace(low=low, high=high, mean=mean), least=least, right=right
    )


def said(gains, *others):
    """What is said of two players where both use the control."""
    judged = [SimpleNamespace(profile=profile, verdict=verdict, gains=[])
              for profile, verdict in others]  # fmt: skip
    judged.append(SimpleNamespace(profile=(2, 0), verdict="open", gains=gains))
    played = SimpleNamespace(
        judge_profiles=lambda network: judged, names=["mine", "CUBIC"],
        game=SimpleNamespace(players=2),
    )  # fmt: skip
    return audits._choice(played, "drop-tail", "mine")


def test_a_choice_says_equilibria_and_whether_one_gains_by_leaving():
    none = "Under drop-tail, equilibria: no choice is shown to be one; "
    assert said([gain(0.11, 0.2), gain(0.15, 0.4, "Reno")]) == (
        f"{none}where all use mine, one gains by changing to Reno."
    )
    assert said([gain(-1.0, 0.1)]) == f"{none}where all use mine, nobody gains by changing."
    assert said([gain(0.1, 0.11), gain(-1.0, 0.0)]) == (
        f"{none}whether one gains by leaving mine, where all use it, is within chance."
    )
    rest = said([gain(-1.0, 0.0)], ((1, 1), "equilibrium"), ((0, 2), "equilibrium"))
    equilibria = rest.partition("equilibria: ")[2].partition("; where")[0]
    assert len(equilibria.split("; ")) == 2
    assert all("CUBIC" in label for label in equilibria.split("; "))


def test_late_comers_whose_rates_change_still_are_not_judged():
    rows = [SimpleNamespace(situation="sequential", low=0.5, high=0.9, at_rest=False),
            SimpleNamespace(situation="mixed", low=0.1, high=9.0, at_rest=True)]  # fmt: skip
    audit = SimpleNamespace(rows=rows, answer="Why.", gap_s=12.5)
    assert audits._late(audit) == (
        "Among its own kind a late-comer gets 0.5 to 0.9 times what the others get; this is no"
        " judgement, for rates still changed 12.5 s after its start."
    )


def test_audits_run_in_the_order_of_the_profile_and_each_is_reported(monkeypatch):
    reports = []
    options = SimpleNamespace(report=reports.append)
    for name in ("game", "adversary"):
        monkeypatch.setitem(audits._RUN, name, lambda task, size, options, name=name: (name, size))
    done = audits.run_audits(task(audits={"game": 3, "adversary": 20}), options)
    assert done == {"game": ("game", 3), "adversary": ("adversary", 20)}
    assert list(done) == ["game", "adversary"]
    assert reports == ["audit game, size 3", "audit adversary, size 20"]


def test_predictions_are_rows_with_the_name_of_the_audit(monkeypatch):
    monkeypatch.setitem(
        audits._PREDICT, "game", lambda task, size, options, store: {"runs": size, "store": store}
    )
    rows = list(audits.predict_audits(task(audits={"game": 3, "proofs": 60}), None, "kept"))
    assert rows[0] == {"study": "audit game", "runs": 3, "store": "kept"}
    # Four runs for each claim, five seconds for each second of size.
    assert rows[1]["study"] == "audit proofs"
    assert rows[1]["runs"] == 4 * rows[1]["points"]
    assert (rows[1]["stored"], rows[1]["cpu_s"]) == (0, 300.0)


def test_a_search_is_predicted_with_all_its_seeds_and_controls(monkeypatch):
    from ackclock.studies.adversary.result import FRESH_SEEDS
    from ackclock.studies.adversary.search import SEEDS

    plans = []

    def sweep(scenario, axes):
        plans.append(scenario.data["name"])
        return SimpleNamespace(plan=lambda workers: SimpleNamespace(cpu_s=0.5))

    monkeypatch.setattr("ackclock.experiments.sweeps.sweep", sweep)
    options = SimpleNamespace(workers=2)
    row = audits._predict_search(task(), 10, options, None)
    each = 10 * SEEDS + FRESH_SEEDS
    assert row == {"points": 10, "runs": 3 * each, "stored": 0, "cpu_s": each * 1.5}
    assert len(plans) == 3


def test_an_arena_has_the_control_first_with_what_it_needs():
    arena = audits._arena(task(BoundControl("mine", "dctcp", {"ecn": True})))
    assert list(arena.controls) == ["mine", "CUBIC", "Reno"]
    assert arena.settings == {"flows[0].tcp": {"ecn": True}}
    assert (arena.flows, arena.duration_s) == (audits.FLOWS, audits.LENGTH_S)


@pytest.mark.parametrize("name", ["adversary", "latecomer", "game", "proofs"])
def test_an_audit_is_written_with_its_heading(name):
    audited = Audited(name, 5, "Yes.", "page", {"x": 1})
    assert audited.to_dict() == {
        "title": audits.TITLES[name], "size": 5, "answer": "Yes.", "text": "page",
        "data": {"x": 1},
    }  # fmt: skip
    assert audited.about == audits.ABOUT[name]
