"""Which verdict follows from what the solvers say of each formula, whatever it is."""

import time
from fractions import Fraction

import pytest

from ackclock.prove import prove as prove_module
from ackclock.prove import theorems
from ackclock.prove.prove import prove
from ackclock.prove.question import make_question
from ackclock.prove.solvers import Said, SolverAnswer, SolverLimits
from ackclock.prove.trace import ModelTrace

LINE = tuple(Fraction(x) for x in range(4))
TRACE = ModelTrace(
    Fraction(1, 20), 0, 1, (LINE,), (LINE,), (LINE,), (LINE,), (LINE,), (LINE,), LINE
)  # fmt: skip


class Solvers:
    """Say what is written for the first part of a formula's name; the contrary of all else."""

    def __init__(self, monkeypatch, words, otherwise="impossible"):
        self.words, self.otherwise = words, otherwise
        self.work, self.names = [], []
        monkeypatch.setattr(prove_module, "decide", self)
        monkeypatch.setattr(prove_module, "read_trace", lambda v, values, period: TRACE)
        monkeypatch.setattr(prove_module, "_repeated", lambda q, _: (q.curves(1), []))

    def __call__(self, terms, limits, comments=(), wanted=None):
        name = comments[-1]
        self.names.append(name)
        self.work.append(limits.work)
        said = next((x for part, x in self.words.items() if part in name), self.otherwise)
        first, second = said if isinstance(said, tuple) else (said, said)
        replies = [Said("z3", first, 1.0)]
        # As `decide` has it: no other is called after a limit, or where that would not lead on.
        if first != "unknown" and wanted in {None, first}:
            replies.append(Said("cvc5", second, 2.0))
        return SolverAnswer(tuple(replies), "")


def test_a_path_from_some_state_has_as_many_steps_as_it_has_intervals(monkeypatch):
    Solvers(monkeypatch, {"from any state": "possible"})
    proof = prove(make_question("aimd", "loss-above=0.5"), packets=False)
    assert (proof.verdict, proof.steps) == ("refuted", len(LINE) - 1)
    assert proof.sentence == "violated by a path from some state"


def test_a_moment_lasts_two_round_trips_and_a_reach_as_long_as_it_says(monkeypatch):
    solvers = Solvers(monkeypatch, {})
    for claim, steps in (("loss-above=0.5", 2), ("no-deadlock=5", 5)):
        proof = prove(make_question("aimd", claim), packets=False)
        assert (proof.verdict, proof.steps) == ("proved", steps)
        assert proof.sentence.endswith(": at every time")
        assert solvers.names[-1] == f"from any state, {steps} round trips"


@pytest.mark.parametrize(
    ("said", "solver"),
    [
        (("impossible", "unknown"), "cvc5"),
        (("unknown", "unknown"), "z3"),
        (("possible", "unknown"), "cvc5"),
    ],
)
def test_what_one_solver_says_alone_is_no_verdict(monkeypatch, said, solver):
    Solvers(monkeypatch, {"from any state": said})
    proof = prove(make_question("aimd", "loss-above=0.5"), packets=False)
    sentence = f"{solver} reached the limit of work or time"
    assert (proof.verdict, proof.sentence, proof.steps) == ("unknown", sentence, 0)


@pytest.mark.parametrize(
    ("said", "verdict", "end"),
    [
        ("impossible", "proved", ""),
        ("possible", "refuted", "not confirmed by both solvers: {} (possible)"),
        (("impossible", "unknown"), "unknown", "not confirmed by both solvers: {} (cvc5)"),
    ],
)
def test_a_theorem_is_as_sure_as_its_weakest_lemma(monkeypatch, said, verdict, end):
    theorem = next(one for one in theorems.LEMMAS if len(one.lemmas) > 1)
    last = theorem.lemmas[-1].name
    solvers = Solvers(monkeypatch, {last: said})
    monkeypatch.setattr(
        theorems, "decide", lambda terms, limits, notes: solvers((), limits, notes[:2])
    )
    done = theorems._check_lemmas(theorem, SolverLimits())
    assert (done.verdict, done.as_stated) == (verdict, verdict == "proved")
    assert done.sentence == "; ".join([theorem.sentence, *([end.format(last)] if end else [])])
    assert [one.name for one in done.formulas] == [one.name for one in theorem.lemmas]


def cycles(**options):
    return prove(
        make_question("aimd", "utilisation=0.2", buffer=Fraction(1)), packets=False, **options
    )


def test_cycles_are_searched_from_the_shortest_on_until_a_solver_gives_up(monkeypatch):
    words = {"held and released": "impossible", "is kept": "possible"}
    Solvers(monkeypatch, words)
    proof = cycles(periods=(6, 2, 4))
    assert (proof.verdict, proof.steps) == ("unknown", 6)
    assert proof.sentence == "no cycle of up to 6 round trips violates it"
    solvers = Solvers(monkeypatch, {**words, "cycle of 4": "unknown"})
    proof = cycles(periods=(6, 2, 4))
    assert (proof.verdict, proof.steps) == ("unknown", 2)
    assert proof.sentence == (
        "no cycle of up to 2 round trips violates it; z3 reached the limit of work or time"
    )
    assert not any("cycle of 6" in name for name in solvers.names)


def test_a_cycle_counts_if_it_can_follow_itself_three_times(monkeypatch):
    words = {
        "held and released": "impossible", "is kept": "possible",
        "three times over": "possible", "cycle of 4": "possible",
    }  # fmt: skip
    Solvers(monkeypatch, words)
    assert cycles(periods=(2, 4)).verdict == "refuted"
    Solvers(monkeypatch, {**words, "three times over": "impossible"})
    proof = cycles(periods=(2, 4, 6))
    assert (proof.verdict, proof.steps) == ("unknown", 2)
    assert proof.sentence == (
        "no cycle of up to 2 round trips violates it;"
        " one of 4 does that ends as it begins, but cannot be repeated"
    )
    Solvers(monkeypatch, {**words, "three times over": "unknown"})
    proof = cycles(periods=(2, 4, 6))
    assert "whether it can be repeated is not known: z3 reached" in proof.sentence


def test_what_a_cut_leaves_proves_a_utilisation_under_what_is_not_proved(monkeypatch):
    """The window's bound, and that there is no timeout: each is a condition unless it is so."""
    held = {"held and released": "impossible"}
    whole = Solvers(monkeypatch, held)
    proof = cycles()
    assert (proof.verdict, proof.steps, proof.conditions) == ("proved", 8, ())
    # For these histories the solvers may work ten times as long, and for no others.
    most = SolverLimits().work
    assert set(whole.work[whole.names.index("what a cut leaves is kept") :]) == {10 * most}
    assert set(whole.work[: whole.names.index("what a cut leaves is kept")]) == {most}
    Solvers(monkeypatch, {**held, "there is no timeout": "possible"})
    assert cycles().conditions == ("there is no timeout",)
    Solvers(monkeypatch, {**held, "the window stays": ("impossible", "unknown")})
    (bound,) = cycles().conditions
    assert bound.startswith("the window stays at most ")
    Solvers(monkeypatch, {**held, "8 round trips, of which": "possible"})
    assert cycles().steps == prove_module.FLOOR_BLOCKS[1] == 10
    # Else a region of windows is searched, the widest first.
    region = {**held, "of which some ending": "possible"}
    solvers = Solvers(monkeypatch, {**region, "window of 0.5 BDP is kept": "possible"})
    proof = cycles()
    assert (proof.verdict, proof.steps) == ("proved", prove_module.BLOCK)
    assert "a window of at least 1 BDP on" in proof.sentence
    assert "a window of 0.5 BDP delivers enough" not in solvers.names
    assert set(solvers.work[solvers.names.index("a window of 1 BDP is kept") :]) == {most}


def test_a_standing_queue_is_bounded_where_no_state_keeps_it(monkeypatch):
    Solvers(monkeypatch, {"cycle of": "impossible"})
    proof = prove(make_question("aimd", "standing-queue=0.5"), packets=False)
    assert (proof.verdict, proof.steps) == ("proved", 6)
    assert proof.sentence == "from no state are more than 0.5 BDP queued in all of 6 round trips"
    Solvers(monkeypatch, {"from any state": "possible"})
    proof = prove(make_question("aimd", "standing-queue=0.5"), packets=False)
    assert (proof.verdict, proof.steps) == ("unknown", 6)


def test_a_part_of_the_limits_ends_with_what_is_decided_within(monkeypatch):
    work = prove_module._Work(make_question("aimd", "utilisation=0.2"), SolverLimits(), None)
    monkeypatch.setattr(time, "perf_counter", lambda: 40.0)
    work.limits = SolverLimits.within(1000.0)
    with work.part(0.25):
        assert work.limits.left == 250.0
    assert work.limits.left == 1000.0
