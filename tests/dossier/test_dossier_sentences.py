"""What a dossier says of its audits and proofs, and what it predicts of them, by hand."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from ackclock.dossier import audits, proofs
from ackclock.dossier.baseline import BaselineChange
from ackclock.dossier.proofs import Proofs
from ackclock.dossier.run import DossierPlan
from ackclock.dossier.write import report

NAMES = ("mine", "CUBIC")


def gain(mean, low, high, right="CUBIC", least=0.01):
    return SimpleNamespace(gain=SimpleNamespace(mean=mean, low=low, high=high), least=least,
                           right=right)  # fmt: skip


def played(gains, others=()):
    """A game of two in which all that is judged besides is that both use the control."""
    alike = SimpleNamespace(profile=(2, 0), verdict="unstable", gains=gains)
    judged = [SimpleNamespace(profile=(0, 2), verdict="equilibrium", gains=()), alike, *others]
    return SimpleNamespace(
        names=NAMES, game=SimpleNamespace(players=2), judge_profiles=lambda _: judged
    )


@pytest.mark.parametrize(
    ("gains", "own"),
    [
        ([gain(0.2, 0.1, 0.3), gain(0.5, 0.2, 0.8, "Reno")],
         "where all use mine, one gains by changing to Reno"),
        ([gain(-0.2, -0.3, -0.1), gain(0.9, 0.02, 1.8, "Reno")],
         "where all use mine, one gains by changing to Reno"),
        ([gain(-0.2, -0.3, 0.01), gain(0.0, -0.1, 0.005)],
         "where all use mine, nobody gains by changing"),
        ([gain(-0.2, -0.3, -0.1), gain(0.1, -0.1, 0.3)],
         "whether one gains by leaving mine, where all use it, is within chance"),
        # The least that counts is not yet a gain.
        ([gain(0.1, 0.01, 0.3)],
         "whether one gains by leaving mine, where all use it, is within chance"),
    ],
)  # fmt: skip
def test_selfish_users_gain_by_leaving_only_beyond_chance_and_the_least_that_counts(gains, own):
    said = audits._choice(played(gains), "drop-tail", "mine")
    assert said == f"Under drop-tail, equilibria: 2 CUBIC; {own}."


def test_every_equilibrium_is_named_and_none_is_said():
    mixed = SimpleNamespace(profile=(1, 1), verdict="equilibrium", gains=())
    said = audits._choice(played([gain(-1, -2, -1)], [mixed]), "FQ-CoDel", "mine")
    assert "equilibria: 2 CUBIC; 1 mine + 1 CUBIC; where" in said
    game = played([gain(-1, -2, -1)])
    game.judge_profiles("")[0].verdict = "undecided"
    assert "equilibria: no choice is shown to be one; where" in audits._choice(game, "x", "mine")


def test_late_comers_whose_rates_still_change_are_not_judged():
    def row(situation, *, at_rest):
        return SimpleNamespace(situation=situation, low=0.5, high=2.0, at_rest=at_rest)

    moving = [row("sequential", at_rest=False), row("mixed", at_rest=True)]
    said = audits._late(SimpleNamespace(rows=moving, answer="Why.", gap_s=20.0))
    assert said.endswith("this is no judgement, for rates still changed 20 s after its start.")
    one = [*moving, row("joining", at_rest=True)]
    said = audits._late(SimpleNamespace(rows=one, answer="Why.", gap_s=20.0))
    assert said.endswith("2 times what the others get. Why.")


def test_the_game_of_a_dossier_has_5_mbps_a_player_under_two_queues():
    task = SimpleNamespace(
        control=SimpleNamespace(value="aimd", label="mine", settings={"tcp": {"ecn": True}}),
        rivals={"CUBIC": "cubic"},
        seed=0,
    )
    game = audits._game(task, 3)
    assert game.players == 3
    assert list(game.networks) == ["drop-tail", "FQ-CoDel"]
    scenario = game.scenario
    assert scenario["net"]["rate"] == "15 Mbps"
    assert scenario["net"]["pairs"] == 3
    # Seed 0 is a seed.
    assert scenario["seed"] == 0
    assert game.strategies["mine"] == {"cc": "aimd", "tcp": {"ecn": True}}
    assert game.strategies["CUBIC"] == {"cc": "cubic"}
    task.seed = None
    assert audits._game(task, 3).scenario["seed"] == 1


def test_runs_of_an_adversary_are_predicted_from_its_budget_and_controls():
    task = SimpleNamespace(
        control=SimpleNamespace(value="aimd", label="mine", settings={}),
        rivals={"CUBIC": "cubic", "Vegas": "vegas"},
        seed=None,
    )
    row = audits._predict_search(task, 7, SimpleNamespace(workers=1), None)
    other = audits._predict_search(task, 14, SimpleNamespace(workers=1), None)
    # Three controls; twice the budget is 7 patterns more.
    from ackclock.studies.adversary.result import FRESH_SEEDS
    from ackclock.studies.adversary.search import SEEDS

    assert (row["points"], row["stored"]) == (7, 0)
    assert row["runs"] == 3 * (7 * SEEDS + FRESH_SEEDS)
    assert other["runs"] - row["runs"] == 3 * 7 * SEEDS
    assert other["cpu_s"] / row["cpu_s"] == pytest.approx(other["runs"] / row["runs"])


def test_proofs_are_predicted_with_four_runs_a_claim_and_five_seconds_a_period():
    row = audits._predict_proofs(None, 3, None, None)
    assert row == {"points": 4, "runs": 16, "stored": 0, "cpu_s": 15.0}


def test_only_the_starts_of_an_audit_are_of_the_profile():
    size = audits._size_of_audit(SimpleNamespace(tier="fast"), 9)
    assert (size.starts, size.gap_s, size.sequential) == (9, 20.0, (2, 4))


def proof(text, verdict, *, replay=None, buffer=None, left_at=()):
    question = SimpleNamespace(
        claim=SimpleNamespace(text=text),
        path=SimpleNamespace(buffer=buffer, jitter=1.0),
        relation=SimpleNamespace(left_at=left_at),
    )
    return SimpleNamespace(question=question, verdict=verdict, sentence=f"of {text}", replay=replay)


def test_a_claim_that_packets_did_not_replay_holds_only_in_the_model():
    def replay(*, is_replayed):
        return SimpleNamespace(replayed=is_replayed, measured=0.25)

    table = Proofs(
        "mine",
        (
            proof("utilisation=0.1", "refuted", replay=replay(is_replayed=True)),
            proof("utilisation=0.5", "refuted", replay=replay(is_replayed=False)),
            proof("loss-above=1", "proved", buffer=Fraction(3, 2), left_at=("loss",)),
        ),
    )
    assert table.answer == (
        "utilisation=0.1: refuted, replayed. utilisation=0.5: refuted, only in the model."
        " loss-above=1: proved."
    )
    rows = table.to_dict()["proofs"]
    assert [row["buffer_bdp"] for row in rows] == [None, None, 1.5]
    assert [row["measured"] for row in rows] == [0.25, 0.25, None]
    assert rows[2]["left_at"] == ["loss"]
    lines = str(table).splitlines()
    assert "refuted, only in the model" in next(line for line in lines if "0.5" in line)


@pytest.mark.parametrize(
    ("longest", "expected"), [(1, (2,)), (2, (2,)), (4, (2, 4)), (5, (2, 4)), (100, (2, 4, 6))]
)
def test_cycles_up_to_the_longest_are_searched_and_one_at_least(monkeypatch, longest, expected):
    seen = []
    monkeypatch.setattr(proofs, "find_spec", lambda _: "installed")
    monkeypatch.setattr(
        "ackclock.prove.prove.prove", lambda question, periods: seen.append((question, periods))
    )
    proofs.prove_control("x", {"kind": "copa", "delta": 0.25}, longest)
    of_claims = [periods for _, periods in seen]
    assert len(of_claims) == len(proofs.CLAIMS)
    assert of_claims == [expected] * len(of_claims)
    # Only what loses packets has a buffer with an end.
    assert [question.path.buffer for question, _ in seen] == [None, None, Fraction(1), None]


def test_an_audit_is_plain_data_with_its_heading():
    audited = audits.Audited("latecomer", 2, "An answer.", "A page.", {"rows": []})
    assert audited.to_dict() == {
        "title": "Late-comers", "size": 2, "answer": "An answer.", "text": "A page.",
        "data": {"rows": []},
    }  # fmt: skip


def test_the_page_links_to_what_an_audit_wrote_and_shows_its_picture(tmp_path):
    audited = audits.Audited("adversary", 2, "A.", "T.", {}, SimpleNamespace(PAGE="index.html"))
    shown = report._audit("adversary", audited, tmp_path)
    assert (shown["link"], shown["picture"]) == ("audits/adversary/index.html", "")
    (tmp_path / "audits/adversary").mkdir(parents=True)
    (tmp_path / "audits/adversary/pattern.svg").write_bytes(b"abc")
    assert report._audit("adversary", audited, tmp_path)["picture"] == "YWJj"
    alone = audits.Audited("game", 2, "A.", "T.", {})
    assert report._audit("game", alone, tmp_path)["link"] == ""


def test_a_change_is_written_with_its_share_of_the_size_of_the_value_before():
    change = BaselineChange("r", "5.1 Loss", -2.0, -1.5, 0.5, 0.25, 0.75, "ms")
    assert str(change) == (
        "5.1 Loss: -2 ms before, -1.5 ms now; difference +0.5 (+25.0 %), 99 % interval 0.25 to 0.75"
    )
    nothing = BaselineChange("r", "t", 0.0, 1.0, 1.0, 0.5, 1.5, "")
    assert str(nothing) == "t: 0 before, 1 now; difference +1, 99 % interval 0.5 to 1.5"
    verdict = BaselineChange("r", "t", None, None, 0.0, 0.0, 0.0, "", verdicts=("met", "not met"))
    assert str(verdict) == "t: met before, not met now"
    data = change.to_dict()
    assert (data["before"], data["after"], data["low"], data["high"]) == (-2.0, -1.5, 0.25, 0.75)
    assert (data["verdicts"], verdict.to_dict()["verdicts"]) == (None, ["met", "not met"])


def test_a_plan_divides_runs_among_workers_and_nothing_else():
    rows = (
        {"study": "a", "points": 2, "runs": 8, "most_runs": 16, "stored": 3, "cpu_s": 40.0,
         "most_cpu_s": 80.0},
        {"study": "rest", "points": 0, "runs": 0, "most_runs": 0, "stored": 0, "cpu_s": 5.0,
         "most_cpu_s": 5.0},
    )  # fmt: skip
    plan = DossierPlan(rows, 4)
    assert (plan.cpu_s, plan.most_cpu_s, plan.seconds) == (45.0, 85.0, 15.0)
    assert plan.sentence == (
        "8 runs, 3 of them stored already: predicted 45 s of one core, about 15 s on 4; if all"
        " that is judged stays undecided, 16 runs and 85 s"
    )
    # What is no run has no numbers of runs.
    assert str(plan).splitlines()[-3].split() == ["rest", "5", "s"]
    same = DossierPlan(({**rows[0], "most_runs": 8, "stored": 0},), 4)
    assert same.sentence.endswith("8 runs: predicted 40 s of one core, about 10 s on 4")


def test_runs_of_late_comers_are_the_sum_over_situations_and_what_is_stored_counts(monkeypatch):
    from ackclock.studies.late_comer import situations

    planned = []

    class Sweep:
        def __init__(self, *words):
            self.words = words

        def plan(self, workers, store, most_points):
            planned.append((*self.words, workers, store))
            return SimpleNamespace(points=2, runs=6, stored=3, cpu_s=1.5)

    monkeypatch.setattr(
        situations, "documents",
        lambda value, tier, settings: [("joining", n, {value: settings}) for n in (1, 4)],
    )  # fmt: skip
    monkeypatch.setattr(
        situations, "sweep_of", lambda document, tier, title: Sweep(document, title)
    )
    control = SimpleNamespace(value="aimd", settings={"tcp": 1})
    task = SimpleNamespace(tier="fast", control=control)
    row = audits._predict_audit(task, 3, SimpleNamespace(workers=5), "store")
    assert row == {"points": 4, "runs": 12, "stored": 6, "cpu_s": 3.0}
    document = {"aimd": {"tcp": 1}}
    assert planned == [
        (document, "joining, n = 1", 5, "store"), (document, "joining, n = 4", 5, "store"),
    ]  # fmt: skip
