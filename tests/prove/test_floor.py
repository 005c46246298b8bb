"""What a cut leaves: bounds that are kept, what they need beside, and a half of the capacity."""

from dataclasses import replace
from fractions import Fraction

import pytest

from ackclock.prove import prove as prove_module
from ackclock.prove.floor import floor_of
from ackclock.prove.prove import prove
from ackclock.prove.question import make_question
from ackclock.prove.solvers import SolverLimits, decide
from ackclock.scenario.scenario import Scenario

pytest.importorskip("z3")
pytest.importorskip("cvc5")
CONTROLS = ("aimd", "binomial", "cubic")


def question_of(control, share="0.5", buffer="2", **changes):
    question = make_question(
        control, f"utilisation={share}", changes=changes, buffer=Fraction(buffer)
    )
    return replace(question, path=replace(question.path, quantum=True), without=prove_module.GROWS)


def word(formulas):
    return decide(formulas[1], SolverLimits(solvers=("z3",))).word


@pytest.mark.parametrize("control", CONTROLS)
def test_what_a_cut_leaves_is_kept_and_no_more(control):
    question = question_of(control)
    floor = floor_of(question)
    assert word(floor.is_left(question)) == "impossible"
    more = replace(floor, share=floor.share + Fraction(1, 10))
    assert word(more.is_left(question)) == "possible"


@pytest.mark.parametrize(
    ("control", "changes", "least"),
    [
        ("aimd", {}, 1),
        ("aimd", {"b": "0.7"}, Fraction(7, 5)),
        ("cubic", {}, Fraction(7, 5)),
        ("binomial", {}, 1),
        # By hand: of 40 segments sqrt(40)/2 = 3.2 are taken.
        ("binomial", {"l": "0.5"}, Fraction(37, 20)),
    ],
)
def test_the_least_window_is_the_share_of_the_buffer(control, changes, least):
    floor = floor_of(question_of(control, **changes))
    assert floor.least == pytest.approx(float(least), abs=0.06)


def test_a_cut_may_leave_too_little_for_a_claim():
    """The closed form beta b/(R + D): 0.5 for AIMD, 0.7 for CUBIC, with b = 2 and D = R."""
    assert floor_of(question_of("aimd", "0.5")) is not None
    assert floor_of(question_of("aimd", "0.51")) is None
    assert floor_of(question_of("cubic", "0.7")) is not None
    assert floor_of(question_of("cubic", "0.71")) is None
    assert floor_of(question_of("aimd", buffer="1")) is None
    assert floor_of(question_of("dctcp")) is None


def test_only_a_window_that_a_cut_halves_may_fall_silent():
    """By hand: unknown loss of c - b fills beta c from 6.2 BDP on, and from 3.7 on."""
    assert word(floor_of(question_of("cubic")).times_out(question_of("cubic"), 4)) == "impossible"
    assert word(floor_of(question_of("aimd")).times_out(question_of("aimd"), 4)) == "possible"
    small = replace(floor_of(question_of("aimd")), most=Fraction(3))
    assert word(small.times_out(question_of("aimd"), 4)) == "impossible"


@pytest.mark.slow
def test_aimds_window_is_bounded_and_cubics_bound_is_not_shown():
    assert word(floor_of(question_of("aimd")).grows_beyond(question_of("aimd"), 10)) == "impossible"
    assert word(floor_of(question_of("cubic")).grows_beyond(question_of("cubic"), 10)) == "possible"


def test_without_a_potential_unknown_loss_would_cost_too_much():
    question = question_of("aimd")
    flat = replace(floor_of(question), slope=Fraction(0))
    assert word(flat.falls_short(question, 8)) == "possible"


@pytest.mark.slow
def test_a_smaller_cut_leaves_no_window_that_falls_silent():
    """Proved with timeouts: unknown loss does not fill seven tenths of a window."""
    question = make_question("aimd", "utilisation=0.5", changes={"b": "0.7"}, buffer=Fraction(2))
    proof = prove(question, periods=(2,), limits=SolverLimits(seconds=3600))
    assert (proof.verdict, proof.conditions) == ("proved", ())
    assert proof.headline == "proved: aimd, utilisation=0.5"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("control", "condition"),
    [
        ("aimd", "there is no timeout"),
        ("binomial", "there is no timeout"),
        ("cubic", "the window stays at most 5 BDP"),
    ],
)
def test_half_of_the_capacity_is_proved_at_two_products(control, condition):
    question = make_question(control, "utilisation=0.5", buffer=Fraction(2))
    # The limit of work, the same everywhere, decides; not how busy the machine is.
    proof = prove(question, periods=(2,), limits=SolverLimits(seconds=3600))
    assert (proof.verdict, proof.conditions) == ("proved", (condition,))
    assert proof.headline.endswith(f"; as long as {condition}")
    assert f"- As long as {condition}." in str(proof)
    assert proof.to_dict()["conditions"] == [condition]
    assert "A step that delivers anything delivers a segment." in str(proof)
    used = [one for one in proof.formulas if one.answer.word == "impossible"]
    assert all(one.answer.agreed for one in used)


def test_packets_have_what_is_proved_of_them():
    """A path that holds what it delivers for up to a round trip, and releases it at once."""
    steps = [
        {"at": f"{piece * 25} ms", "extra": f"{100 - 25 * (piece % 4)} ms"} for piece in range(2400)
    ]
    held = {"kind": "delay-steps", "keep_order": True, "steps": steps}
    net = {"kind": "dumbbell", "pairs": 1, "rate": "2.4 Mbps", "rtt": "100 ms"}
    net |= {"buffer": "40 pkt", "impairments": [held]}
    flow = {"id": "f", "pair": 0, "cc": {"kind": "aimd"}, "tcp": {"delayed_ack": 1}}
    data = {"duration": "60 s", "warmup": "30 s", "net": net, "flows": [flow]}
    summary = Scenario.from_data(data).run().summary
    (link,) = (one for one in summary["links"] if one["id"] == "r0->r1")
    assert link["utilisation"] > 0.5


@pytest.mark.parametrize("control", CONTROLS)
def test_what_a_window_grows_is_paid_by_what_a_busy_path_has_above_the_claim(control):
    """CUBIC's growth rises with its window: it is the widest that counts."""
    question = question_of(control)
    floor, segment = floor_of(question), question.path.segment[1]
    windows = [floor.full + (floor.most - floor.full) * part / 4 for part in range(5)]
    growths = [
        question.relation.most_growth(question.values, window / segment) for window in windows
    ]
    left = 1 - question.claim.value
    # The slope is rounded to a tenth.
    assert float((floor.slope - Fraction(1, 10)) * max(growths) * segment) <= left
    assert float((floor.slope + Fraction(1, 10)) * max(growths) * segment) >= left
