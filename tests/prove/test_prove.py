"""Verdicts, counterexamples in packets, theorems, and the command."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from ackclock.cli.main import main
from ackclock.engines.model.fast import joining
from ackclock.engines.model.linear_conditions import chiu_jain_conditions
from ackclock.errors import AckclockError
from ackclock.prove import held, theorems
from ackclock.prove import prove as prove_module
from ackclock.prove.controls import RELATIONS
from ackclock.prove.measures import least_window_at_loss, measure_of, ratio_of_flows
from ackclock.prove.path import ModelPath
from ackclock.prove.properties import read_claim
from ackclock.prove.prove import prove
from ackclock.prove.question import make_question
from ackclock.prove.refine import TABLES, obeys, sample
from ackclock.prove.solvers import SolverLimits, decide
from ackclock.prove.terms import FALSE, constant, product, unknown
from ackclock.prove.theorems import check_theorems, names_of, region
from ackclock.prove.theorems.algebra import ALGEBRA, _held, _late_comer
from ackclock.prove.theorems.of_controls import CLAIMS, LEMMAS
from ackclock.prove.trace import ModelTrace, read_trace
from ackclock.scenario.load import load
from ackclock.scenario.scenario import Scenario

pytest.importorskip("z3")
pytest.importorskip("cvc5")
LINK = ModelPath(steps=0, server="link")


@cache
def proof_of_copa():
    return prove(make_question("copa", "utilisation=0.1"), periods=(2,))


def test_copa_on_several_servers_is_refuted_and_its_path_runs():
    """Arun et al. (2021), section 7: less than 10 %."""
    proof = proof_of_copa()
    assert proof.verdict == "refuted"
    assert proof.replay.replayed
    assert proof.replay.measured < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("control", ["vegas", "copa", "fast"])
def test_a_flow_that_is_held_alone_starves_and_its_path_runs(control):
    """Arun et al. (2022); and nothing of it where packets of both flows are delayed alike."""
    theorem = next(one for one in CLAIMS if one.name == f"{control}-starvation")
    proof = prove(theorem.question(), periods=theorem.periods)
    assert proof.verdict == "refuted"
    assert proof.replay.replayed
    assert proof.replay.measured < 0.1
    (link,) = proof.replay.data["links"]
    assert link["link"] == "r1->d1"
    assert link["impairments"][0]["kind"] == "delay-steps"
    assert "kernel:" not in str(proof)
    data = {k: x for k, x in proof.replay.data.items() if k != "links"}
    run = Scenario.from_data(data).run(record=["flow_samples"])
    assert ratio_of_flows(run, 100) > 0.8
    # Both began alike.
    assert len({flow["tcp"]["initial_window"] for flow in data["flows"]}) == 1


def test_delays_of_the_last_flow_are_those_between_passing_and_delivery():
    """By hand: what passes in a step is delivered a step later."""
    line = tuple(Fraction(x) for x in (0, 1, 2, 3, 4))
    late = tuple(Fraction(x) for x in (-1, 0, 1, 2, 3))
    zero = (Fraction(0),) * 5
    both = (zero, line)
    trace = ModelTrace(
        Fraction(1, 10), 2, 0, both, (zero, late), both, (zero, zero), (zero, zero), both, line, 1
    )
    assert trace.access_delays() == [1.0] * 8
    assert trace.delays() == [0.0] * 8


def test_a_flow_that_is_held_alone_gets_what_the_theorem_says():
    """Beside exact numbers: rates x and y with x q = y (q + D) = 1, x + y = 1."""
    held = Fraction(18)
    queue = (-(held - 2) + math.sqrt((held - 2) ** 2 + 4 * held)) / 2
    ratio = 1 + float(held) / queue
    assert 1 / queue + 1 / (queue + float(held)) == pytest.approx(1)
    assert ratio > 1 + float(held) / 2 == 10
    free, _, terms = _held(constant(held))
    share = Fraction(1 / queue)
    near = Fraction(1, 10**6)
    for bound in (free < share - near, free > share + near):
        assert decide([*terms, bound], SolverLimits()).word == "impossible"


@pytest.mark.slow
def test_a_queue_of_the_first_windows_alone_is_not_replayed():
    """A Vegas that began with the solver's 3 BDP took longer than the run to come down."""
    proof = prove(make_question("vegas", "standing-queue=0.5"), periods=(2,))
    assert proof.verdict == "refuted"
    (flow,) = proof.replay.data["flows"]
    assert flow["tcp"]["initial_window"] == 4
    assert not proof.replay.replayed
    assert proof.replay.measured < 0.5


@pytest.mark.parametrize(("queue", "verdict"), [("1", "proved"), ("0.9", "refuted")])
def test_no_more_than_a_buffer_is_queued_for_ever(queue, verdict):
    """By hand: more than a BDP waits in no buffer of a BDP, and less may for ever."""
    question = make_question("vegas", f"standing-queue={queue}", buffer=Fraction(1))
    question = replace(question, path=replace(question.path, jitter=0, server="link"))
    proof = prove(question, periods=(2,), packets=False)
    assert proof.verdict == verdict
    if verdict == "proved":
        text = "from no state are more than 1 BDP queued in all of 6 round trips"
        assert proof.sentence == text


def test_a_standing_queue_in_packets_is_what_a_cut_leaves():
    """By hand: a cut halves 1 + 3 BDP, of which the link holds 1."""
    net = {"kind": "dumbbell", "pairs": 1, "rate": "2.4 Mbps", "rtt": "100 ms", "buffer": "60 pkt"}
    flow = {"id": "f", "pair": 0, "cc": {"kind": "aimd"}, "tcp": {"delayed_ack": 1}}
    run = Scenario.from_data({"duration": "60 s", "net": net, "flows": [flow]})
    measure = measure_of(read_claim("standing-queue=1"))
    value = measure.read(run.run(record=["link_samples"]), 20)
    assert value == pytest.approx(1, abs=0.15)


def test_a_replay_without_a_loss_says_so():
    measure = measure_of(read_claim("loss-above=2.5"))
    shown, measured, sentence = measure.judge(float("inf"))
    assert (shown, measured) == (False, None)
    assert sentence == "the violation is not there: nothing is dropped"
    shown, measured, sentence = measure.judge(1.25)
    assert (shown, measured) == (True, 1.25)
    assert sentence == "the violation is there: 1.25 BDP, the least window at a loss"


def test_a_burst_from_which_a_window_does_not_recover_is_replayed():
    """Half of a window of 2 BDP is lost; without losses and jitter all is delivered."""
    proof = prove(make_question("aimd", "recovery=5", buffer=Fraction(1)))
    assert (proof.verdict, proof.replay.replayed) == ("refuted", True)
    assert proof.replay.measured < 0.5
    assert "in the last two of 5 round trips" in proof.replay.sentence
    measure = measure_of(proof.question.claim)
    data = json.loads(json.dumps(proof.replay.data))
    del data["net"]["schedule"], data["net"]["impairments"]
    undisturbed = Scenario.from_data(data).run(record=list(measure.tables))
    assert measure.read(undisturbed, 100) > 0.9
    # A smaller window is not what the claim is about.
    data["flows"][0]["tcp"]["initial_ssthresh"] = 20
    small = Scenario.from_data(data).run(record=list(measure.tables))
    shown, measured, sentence = measure.judge(measure.read(small, 100))
    assert (shown, measured) == (False, None)
    assert sentence.endswith("the window was below 2 BDP")


def test_a_silence_is_as_long_as_the_timer_that_ends_it():
    """By hand: all in flight is lost, and RFC 6298 waits for at least a second, ten round trips."""
    proof = prove(make_question("aimd", "no-deadlock=2", buffer=Fraction(1)))
    assert (proof.verdict, proof.replay.replayed) == ("refuted", True)
    assert 10 < proof.replay.measured < 13
    measure = measure_of(proof.question.claim)
    data = json.loads(json.dumps(proof.replay.data))
    del data["net"]["schedule"], data["net"]["impairments"]
    undisturbed = Scenario.from_data(data).run(record=list(measure.tables))
    assert measure.read(undisturbed, 100) < 2


@pytest.mark.slow
def test_a_cycle_is_repeated_before_it_counts(monkeypatch):
    """What cannot follow itself is no cycle, and the verdict stays open."""

    def nothing(question, _):
        return (question.curves(1), [FALSE])

    monkeypatch.setattr(prove_module, "_repeated", nothing)
    proof = prove(make_question("copa", "utilisation=0.1"), periods=(2,), packets=False)
    assert proof.verdict == "unknown"
    assert "cannot be repeated" in proof.sentence


@pytest.mark.slow
def test_three_turns_of_a_path_that_is_no_cycle_are_impossible():
    proof = proof_of_copa()
    assert [one.name for one in proof.formulas][-1] == "that cycle three times over"
    windows = tuple(2 * x for x in proof.trace.window[0])
    for trace, word in (
        (proof.trace, "possible"),
        (replace(proof.trace, window=(windows,)), "impossible"),
    ):
        _, terms = prove_module._repeated(proof.question, trace)
        assert decide(terms, SolverLimits()).word == word


@pytest.mark.slow
def test_what_is_replayed_is_a_path_of_the_model():
    """Its packets obey the constraints of the path, whatever the control does."""
    proof = proof_of_copa()
    data = dict(proof.replay.data) | {"duration": "20 s", "warmup": "10 s"}
    run = Scenario.from_data(data).run(record=list(TABLES))
    anything = replace(RELATIONS["copa"], rules=())
    for begin in (10.03, 14.0):
        samples = sample(run, begin, 8, jitter=1, buffer=None)
        assert obeys(samples, anything, {})
        less = replace(samples, jitter=-1)
        assert not obeys(less, anything, {})


@pytest.mark.slow
def test_copa_on_one_server_has_no_cycle_below_half():
    """Arun et al. (2021), section 7: at least 50 %."""
    question = make_question(
        "copa", "utilisation=0.5", server="plain", segment=(Fraction(1, 200), Fraction(1, 20))
    )
    proof = prove(question, periods=(4,))
    assert (proof.verdict, proof.steps) == ("unknown", 4)
    above = replace(question, claim=make_question("copa", "utilisation=0.9").claim)
    assert prove(above, periods=(4,), packets=False).verdict == "refuted"


@pytest.mark.slow
def test_bbr_is_refuted_and_runs_where_the_jitter_is_two_round_trips():
    """Arun et al. (2021), section 8: less than 10 %."""
    proof = prove(make_question("bbr", "utilisation=0.1", jitter=2), periods=(4,))
    assert proof.verdict == "refuted"
    assert proof.replay.replayed


@pytest.mark.slow
def test_a_counterexample_that_packets_do_not_show_is_not_replayed():
    proof = prove(make_question("bbr", "utilisation=0.1"), periods=(4,))
    assert proof.verdict == "refuted"
    assert not proof.replay.replayed
    assert proof.replay.measured > 0.5


@pytest.mark.parametrize("buffer", [Fraction(1, 2), Fraction(19, 10), Fraction(3)])
def test_aimd_loses_nothing_below_a_window_of_the_buffer(buffer):
    """Arun et al. (2021), section 6, for its three buffers; and above the buffer it does."""
    text = f"loss-above={float(buffer)}"
    assert prove(make_question("aimd", text, buffer=buffer)).verdict == "proved"
    above = f"loss-above={float(buffer) + 0.2}"
    assert prove(make_question("aimd", above, buffer=buffer), packets=False).verdict == "refuted"


@pytest.mark.parametrize(
    ("share", "window"),
    [
        pytest.param("0.2", "0.5", marks=pytest.mark.slow),
        pytest.param("0.5", "1", marks=pytest.mark.slow),
    ],
)
def test_aimd_keeps_what_its_window_delivers_where_nothing_is_lost(share, window):
    """A window of w is delivered in at most two round trips, the base one and the jitter."""
    proof = prove(make_question("aimd", f"utilisation={share}"), periods=(2,))
    assert proof.verdict == "proved"
    assert f"a window of at least {window} BDP on" in proof.sentence
    assert "for ever" in proof.sentence


@pytest.mark.slow
def test_what_is_not_proved_is_unknown():
    proof = prove(make_question("aimd", "utilisation=0.95"), periods=(2,))
    assert proof.verdict == "unknown"
    assert "up to 2 round trips" in proof.sentence


def test_a_limit_of_work_gives_unknown_and_says_who_gave_up():
    question = make_question("aimd", "utilisation=0.5", buffer=Fraction(2))
    proof = prove(question, limits=SolverLimits(work=100), periods=(2,))
    assert proof.verdict == "unknown"
    assert "reached the limit" in proof.sentence


def test_no_time_is_no_call_and_says_how_far_it_came():
    question = make_question("aimd", "utilisation=0.5", buffer=Fraction(2))
    proof = prove(question, limits=SolverLimits.within(0), periods=(2,))
    assert (proof.verdict, proof.steps, proof.seconds) == ("unknown", 0, 0)
    assert proof.headline == "unknown: aimd, utilisation=0.5; decided up to T = 0 round trips"
    assert "z3 reached the limit" in proof.sentence


def test_steps_are_named_before_they_begin_and_time_is_progress():
    steps = []
    question = make_question("aimd", "loss-above=1", buffer=Fraction(1))
    limits = SolverLimits.within(100)
    prove(question, limits=limits, progress=lambda done, step: steps.append((done, step)))
    ((done, step),) = steps
    assert step == "from any state, 2 round trips"
    assert 0 < done < 0.5


def refute(control, buffer="1", **changes):
    """Half of the capacity, with one constant changed."""
    question = make_question(control, "utilisation=0.5", changes=changes, buffer=Fraction(buffer))
    # The limit of work, the same everywhere, decides; not how busy the machine is.
    return prove(question, periods=(2,), limits=SolverLimits(seconds=3600))


@pytest.mark.slow
def test_a_changed_constant_is_refuted_by_a_cycle_of_one_cut_and_runs():
    """All of a window goes in a burst, which a BDP of buffer cuts at a window of a BDP.

    By hand: in cycles of two round trips a window between a half and one BDP delivers at most half.
    """
    proof = refute("cubic", beta="0.5")
    assert (proof.verdict, proof.replay.replayed) == ("refuted", True)
    assert proof.sentence == "violated by a cycle of 8 round trips, for ever"
    assert all(one.answer.agreed for one in proof.formulas)
    assert 0.4 < proof.replay.measured < 0.5
    assert proof.replay.sentence.endswith("under its jitter, released at once")
    windows = proof.trace.window[0]
    assert min(windows) > 0.45
    assert max(windows[:4]) >= 1
    # The same packets, delayed by a whole round trip all the time, lose nothing of it.
    data = json.loads(json.dumps(proof.replay.data))
    data["net"]["impairments"][0]["steps"] = [{"at": "0 ms", "extra": "100 ms"}]
    undisturbed = Scenario.from_data(data).run()
    assert measure_of(proof.question.claim).read(undisturbed, 20) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("control", "buffer", "changes", "replayed"),
    [
        # Windows fall by a tenth: in the model just below half, in packets above.
        ("binomial", "1", {"k": "0.5", "l": "0.5"}, False),
        ("binomial", "0.5", {"k": "0.5", "l": "0.5"}, True),
        ("aimd", "1", {"a": "2"}, True),
        ("aimd", "1", {"b": "0.3"}, True),
    ],
)
def test_other_constants_are_refuted_likewise(control, buffer, changes, replayed):
    proof = refute(control, buffer, **changes)
    assert (proof.verdict, proof.replay.replayed) == ("refuted", replayed)


@pytest.mark.parametrize(("share", "word"), [("0.5", "possible"), ("0.3", "impossible")])
def test_a_window_of_0_7_to_one_bdp_in_bursts_delivers_a_third_to_a_half(share, word):
    question = make_question(
        "aimd", f"utilisation={share}", changes={"b": "0.7"}, buffer=Fraction(1),
        segment=(held.SEGMENT, held.SEGMENT),
    )  # fmt: skip
    path = replace(question.path, server="link")
    v, terms = replace(question, path=path, held=True).cycle(12)
    answer = decide(terms, SolverLimits(solvers=("z3",)))
    assert answer.word == word
    if word == "possible":
        windows = read_trace(v, answer.values, 12).window[0]
        assert min(windows) >= 0.7
        assert max(windows) >= 1


def test_what_passes_at_once_passes_as_soon_as_it_may():
    """By hand: what the link passes in step 1 is held to its end, what it passes in step 2 not."""
    line = tuple(Fraction(x) for x in (0, 1, 2, 3, 4))
    jumps = tuple(Fraction(x) for x in (0, 0, 2, 2, 4))
    zero = (Fraction(0),) * 5
    both, none = (jumps,), (zero,)
    trace = ModelTrace(Fraction(1, 10), 2, 1, (line,), both, both, none, none, none, line)
    assert trace.delays(at_once=True) == [1 - i / 8 for i in range(8)] + [0] * 8
    # All along step 2: a half of what the link has passed is there when a step has gone by.
    assert trace.delays()[:4] == pytest.approx([15 / 16, 13 / 16, 11 / 16, 9 / 16])


def test_a_path_holds_where_a_burst_of_the_buffer_is_over_before_it_is_released():
    for jitter, buffer, number in ((1, 1, 4), (1, 2, 0), (2, 2, 4), (0, 1, 0)):
        path = replace(LINK, jitter=jitter, buffer=Fraction(buffer))
        assert len(held.periods_of(path)) == number
        assert all(period % (jitter + 1) == 0 for period in held.periods_of(path))
    assert held.periods_of(replace(LINK, buffer=None)) == ()


@pytest.mark.slow
def test_a_page_has_formulas_that_one_solver_sufficed_for(monkeypatch):
    """A cycle that is impossible on one path, a region that is left: neither leads on."""
    monkeypatch.setattr(held, "BURSTS", (2,))
    proof = prove(make_question("aimd", "utilisation=0.2", buffer=Fraction(1)), periods=(2,))
    alone = {row.name: row.answer.word for row in proof.formulas if len(row.answer.replies) == 1}
    assert alone.pop("cycle of 4, held and released") == "impossible"
    assert alone
    assert set(alone.values()) == {"possible"}
    assert "cvc5_s" in str(proof)


def test_one_solver_alone_gives_no_verdict():
    limits = SolverLimits(solvers=("z3",))
    proof = prove(make_question("aimd", "loss-above=1", buffer=Fraction(1)), limits=limits)
    assert proof.verdict == "unknown"
    assert "two" in proof.sentence


def test_something_is_delivered_from_any_state():
    assert prove(make_question("copa", "no-deadlock=4")).verdict == "proved"


@pytest.mark.slow
def test_verdicts_are_the_same_again():
    runs = [
        prove(make_question("vegas", "utilisation=0.1"), periods=(2,)).to_dict() for _ in range(2)
    ]
    for run in runs:
        for row in run["formulas"]:
            row.pop("z3_s")
            row.pop("cvc5_s")
    assert runs[0] == runs[1]


def test_a_delay_is_the_time_between_capacity_and_delivery():
    """By hand: what the link passes in step 1 is delivered a step later, then nothing waits."""
    line = tuple(Fraction(x) for x in (0, 1, 2, 3))
    late = tuple(Fraction(x) for x in (0, 0, 1, 3))
    zero = (Fraction(0),) * 4
    trace = ModelTrace(
        Fraction(1, 10), 0, 1, (line,), (late,), (late,), (zero,), (zero,), (line,), line
    )
    delays = trace.delays()
    assert delays[:4] == pytest.approx([1, 1, 1, 1])
    assert delays[-1] == pytest.approx(0.0625)


@pytest.mark.parametrize("name", ALGEBRA)
def test_theorems_of_algebra_hold(name):
    checked = theorems._check_algebra(name, SolverLimits())
    assert checked.verdict == "proved"
    assert checked.as_stated


@pytest.mark.parametrize("n", [1, 5, 10])
def test_the_share_of_the_late_comer_is_that_of_the_model(n):
    """Beside `ackclock.engines.model.fast`, equation (15) of the paper."""
    value = float(joining(n)["share_new"])
    share, queue = unknown("late"), unknown("queue")
    terms = [*_late_comer(n, share, queue)]
    below = [*terms, share < Fraction(value) - Fraction(1, 10**6)]
    above = [*terms, share > Fraction(value) + Fraction(1, 10**6)]
    assert decide(below, SolverLimits()).word == "impossible"
    assert decide(above, SolverLimits()).word == "impossible"


@pytest.mark.parametrize(("a", "b"), [(1, 1), (0, Fraction(1, 2)), (-1, 2), (2, Fraction(1, 3))])
def test_fairness_of_a_linear_rule_is_that_of_the_model(a, b):
    """Beside `ackclock.engines.model.linear_conditions`, by the ratio of two users."""
    x, y = unknown("x"), unknown("y")
    after, before = product(a + b * x, y), product(a + b * y, x)
    states = [x > 0, y > x, a + b * x > 0, after < before]
    falls = decide(states, SolverLimits()).word == "possible"
    model = chiu_jain_conditions(a_i=a, b_i=float(b), a_d=0, b_d=0.5)
    assert bool(model["fairness_kept"]) is not falls


def early_loss(jitter, packets=20):
    """Hold what is delivered up to a jitter, over and over: the least window at a loss [BDP]."""
    pieces = 4
    steps = [
        {
            "at": f"{piece * 100 / pieces:g} ms",
            "extra": f"{(jitter - piece % (jitter * pieces) / pieces) * 100:g} ms",
        }
        for piece in range(600 * pieces)
    ]
    held = {"kind": "delay-steps", "keep_order": True, "steps": steps}
    net = {"kind": "dumbbell", "pairs": 1, "rate": f"{packets * 120000} bps", "rtt": "100 ms"}
    net |= {"buffer": f"{2 * packets} pkt", "impairments": [held]}
    tcp = {"delayed_ack": 1, "initial_window": packets, "initial_ssthresh": packets}
    flow = {"id": "f", "pair": 0, "cc": {"kind": "aimd"}, "tcp": tcp}
    data = {"duration": "60 s", "net": net, "flows": [flow]}
    run = Scenario.from_data(data).run(record=["windows", "drops"])
    return least_window_at_loss(run, packets)


@pytest.mark.slow
def test_packets_lose_early_where_four_round_trips_are_held_and_not_where_one_is():
    """What the theorem `aimd-early-loss` says of packets."""
    assert early_loss(1) > 3
    assert early_loss(4) < 2.5


@pytest.mark.slow
def test_a_counterexample_of_the_model_alone_comes_with_its_reason(monkeypatch):
    monkeypatch.setattr(theorems, "names_of", lambda _: ["aimd-early-loss"])
    checked = check_theorems("aimd")
    assert "Refuted in the model, not replayed: a step of the model" in str(checked)
    assert checked.to_dict()["proofs"][0]["only_model"]


@pytest.mark.slow
def test_copas_window_and_queue_come_down_and_stay():
    """Arun et al. (2021), section 7: the lemmas about what is too large."""
    checked = check_theorems("copa", packets=False).checked[0]
    assert (checked.name, checked.verdict) == ("copa-region", "proved")
    assert len(checked.formulas) == 5


def lemma_of_region(name, monkeypatch, **changes):
    """What Z3 says of the contrary of a lemma of AIMD's region, with other bounds."""
    for name_of_bound, value in changes.items():
        monkeypatch.setattr(region, name_of_bound, value)
    lemma = next(one for one in region.AIMD_REGION if one.name == name)
    _, terms = LEMMAS[0].question().lemma(lemma)
    return decide(terms, SolverLimits(solvers=("z3",))).word


@pytest.mark.slow
def test_aimds_region_is_reached_and_kept():
    """Arun et al. (2021), section 6: the lemmas about windows and losses that are too large."""
    checked = theorems._check_lemmas(LEMMAS[0], SolverLimits(seconds=3600))
    assert (checked.name, checked.verdict) == ("aimd-region", "proved")
    assert len(checked.formulas) == 6


@pytest.mark.slow
def test_aimds_region_is_no_larger_than_it_must_be(monkeypatch):
    """With a segment less it is not reached, nor are losses known earlier."""
    assert lemma_of_region("falls", monkeypatch, SLACK=-2) == "possible"
    assert lemma_of_region("window stays", monkeypatch, LARGEST=-2) == "possible"
    assert lemma_of_region("loss becomes known", monkeypatch, STEPS=8) == "possible"


@pytest.mark.slow
def test_all_theorems_have_their_verdicts():
    # The limit of work, the same everywhere, decides; not how busy the machine is.
    checked = check_theorems(packets=True, limits=SolverLimits(seconds=3600))
    assert {one.name for one in checked.checked} == set(names_of())
    assert [one.name for one in checked.checked if not one.as_stated] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["coppa", "--property", "utilisation=0.1"], 'did you mean "copa"?'),
        (["copa", "--property", "utilization=0.1"], 'did you mean "utilisation"?'),
        (["copa", "--property", "utilisation"], "expected utilisation=NUMBER"),
        (["copa", "--property", "utilisation=2"], "from 0 to 1"),
        (["copa", "--property", "no-deadlock=2.5"], "a whole number"),
        (["copa"], "--property is missing"),
        ([], "CONTROL is missing"),
        (["copa", "--property", "utilisation=0.1", "--set", "delt=1"], 'did you mean "delta"?'),
        (["copa", "--property", "utilisation=0.1", "--set", "delta=x"], "expected a number"),
        (
            ["copa", "--property", "utilisation=0.1", "--set", "delta=3"],
            "more than 0 and at most 1",
        ),
        (
            ["vegas", "--property", "utilisation=0.1", "--set", "alpha=8"],
            "alpha is 8 and beta 4; expected alpha at most beta: set beta too",
        ),
        (["copa", "--property", "utilisation=0.1", "--buffer", "3 pkt"], "its unit"),
        (["copa", "--property", "utilisation=0.1", "--jitter", "0.5 rtt"], "whole rtt"),
        (["copa", "--property", "utilisation=0.1", "--segment", "0 bdp"], "more than 0"),
        (["cubic", "--property", "utilisation=0.1", "--segment", "0.1 bdp"], "0.05 BDP"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_2(arguments, message, capsys):
    assert main(["prove", *arguments]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["copa", "--property", "utilisation=0.1", "--replay", "stacks"], "no library has"),
        (
            ["aimd", "--property", "loss-above=2", "--replay", "stacks", "--set", "b=0.8"],
            "shipped code has its constants; leave b",
        ),
    ],
)
def test_what_shipped_code_cannot_replay_is_said_before_anything_is_proved(
    arguments, message, capsys
):
    assert main(["prove", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_a_counterexample_runs_with_the_sender_of_a_library(monkeypatch):
    """Our Copa in the place of a library's control: the same packets again."""
    from ackclock.peers import shipped
    from ackclock.prove import elsewhere

    monkeypatch.setattr(elsewhere, "_libraries", lambda _: ["mine"])
    monkeypatch.setattr(shipped, "swap_controls", lambda scenario, _: scenario)
    question = make_question("copa", "utilisation=0.1")
    done = prove(question, periods=(2,)).replay
    other = elsewhere.replay_elsewhere(done, question.relation, question.claim, "stacks")["mine"]
    assert other.measured == done.measured
    assert other.replayed
    assert elsewhere.replay_elsewhere(done, question.relation, question.claim, "packet") == {}


def test_a_kernel_without_such_a_control_is_said_before_anything_is_proved(monkeypatch, capsys):
    from ackclock.peers.emulate import controls

    monkeypatch.setattr(controls, "available", list)
    arguments = ["aimd", "--property", "loss-above=2", "--replay", "kernel"]
    assert main(["prove", *arguments]) == 2
    assert "this kernel has no control like aimd" in capsys.readouterr().err


@pytest.mark.slow
def test_a_counterexample_runs_in_the_kernel():
    """In real time, with a delay and losses that change; late runs do not count."""
    from ackclock.prove import elsewhere

    question = make_question("aimd", "recovery=5", buffer=Fraction(1))
    proof = prove(question)
    elsewhere.check_elsewhere("kernel", question.relation, question.values)
    kernel = elsewhere.replay_elsewhere(proof.replay, question.relation, question.claim, "kernel")
    other = kernel["kernel"]
    assert other.data["net"]["impairments"][0]["kind"] == "delay-steps"
    assert 0 < other.measured <= 1.1
    assert other.replayed is (other.measured < 0.5 and "late" not in other.sentence)


def test_a_build_without_libraries_says_how_to_build_them(monkeypatch, capsys):
    from ackclock.catalogue import schema

    monkeypatch.setattr(schema, "find_bundled", dict)
    arguments = ["aimd", "--property", "loss-above=2", "--replay", "stacks"]
    assert main(["prove", *arguments]) == 2
    assert '"make stacks" in a checkout' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["aimd", "--property", "loss-above=1", "--buffer", "1 bdp"], "proved: aimd, loss-above=1"),
        (
            ["aimd", "--property", "recovery=5", "--buffer", "1 bdp"],
            "refuted: aimd, recovery=5; replayed",
        ),
        (["fast", "--theorems"], "1 of 1 theorems as stated"),
    ],
)
def test_a_quiet_command_prints_its_verdict_in_a_line(arguments, line, monkeypatch, capsys):
    monkeypatch.setattr(theorems, "names_of", lambda _: ["fast-late-comer"])
    assert main(["prove", *arguments, "--quiet"]) == 0
    printed = capsys.readouterr()
    (only,) = printed.out.splitlines()
    assert only.endswith(line)
    assert printed.err == ""


def test_theorems_that_are_not_as_stated_are_in_the_line(monkeypatch):
    monkeypatch.setattr(theorems, "names_of", lambda _: ["fast-late-comer"])
    checked = check_theorems("fast", limits=SolverLimits(work=1))
    assert checked.headline == "0 of 1 theorems as stated; fast-late-comer is unknown"


def test_a_missing_solver_names_its_extra(monkeypatch, capsys):
    from ackclock.cli import extras

    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "cvc5" else object())
    assert main(["prove", "copa", "--property", "utilisation=0.1"]) == 2
    assert '[prove]"' in capsys.readouterr().err


def test_the_folder_has_page_formulas_and_a_scenario_that_runs(tmp_path, capsys):
    out = tmp_path / "proof"
    arguments = ["prove", "aimd", "--property", "recovery=5", "--buffer", "1 bdp", "--json"]
    arguments += ["--out", str(out)]
    assert main(arguments) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["verdict"] == "refuted"
    assert "(check-sat)" in (out / "formulas/01.smt2").read_text()
    assert "recovery" in (out / "page.txt").read_text()
    assert json.loads((out / "proof.json").read_text())["verdict"] == "refuted"
    load(out / "scenario.toml").check()


@pytest.mark.parametrize(("name", "relation"), [("reno", "aimd"), ("bbrv1", "bbr")])
def test_a_control_has_all_its_names(name, relation):
    assert make_question(name, "utilisation=0.5").relation is RELATIONS[relation]


def test_a_claim_that_is_none_is_refused():
    with pytest.raises(AckclockError, match="expected utilisation=NUMBER"):
        make_question("aimd", "utilisation=1/0")
