"""Controls as relations: packet runs obey them, and each rule is needed."""

from dataclasses import replace
from fractions import Fraction
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ackclock.catalogue import schema
from ackclock.prove.controls import RELATIONS, bbr
from ackclock.prove.controls.cubic import slope
from ackclock.prove.controls.lines import SEGMENT, fit
from ackclock.prove.path import Curves, ModelPath, path_terms
from ackclock.prove.refine import TABLES, left_rules, obeys, sample
from ackclock.prove.solvers import SolverLimits, decide
from ackclock.prove.terms import all_of, compute, constant, negated
from ackclock.scenario.scenario import Scenario

pytest.importorskip("z3")
Z3 = SolverLimits(solvers=("z3",))
LOSSY = ("aimd", "binomial", "cubic")
QUICK = ("aimd", "copa")
"""A control that answers loss and one that answers delay; the others are slow by their number."""

QUICK_FIRST = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in RELATIONS
]
CHANGES = {"fast": {"alpha": Fraction(5)}, "dctcp": {"marks_above": Fraction(8)}}


def run_of(name, packets, pattern, buffer, initial=10):
    """Twelve seconds of a flow on a link of 100 ms with a jitter that follows a pattern."""
    steps, last = [], None
    for i in range(120):
        delay = pattern[i % len(pattern)] * 100
        if delay != last:
            steps.append({"at": f"{i * 100} ms", "extra": f"{delay:g} ms"})
            last = delay
    numbers = {k: float(x) for k, x in CHANGES.get(name, {}).items()}
    marks = numbers.pop("marks_above", None)
    control = {"kind": name} | numbers
    tcp = {"delayed_ack": 1, "initial_window": initial, "initial_ssthresh": initial}
    net = {
        "kind": "dumbbell",
        "pairs": 1,
        "rate": f"{packets * 120000} bps",
        "rtt": "100 ms",
        "buffer": f"{round(float(buffer or 100) * packets)} pkt",
        "impairments": [{"kind": "delay-steps", "keep_order": True, "steps": steps}],
    }
    if marks:
        net["qdisc"] = {"kind": "red", "min_th": marks, "max_th": marks + 1, "w_q": 1, "ecn": True}
        tcp |= {"ecn": True, "accecn": True}
    flow = {"id": "f", "pair": 0, "cc": control, "tcp": tcp}
    data = {"duration": "12 s", "net": net, "flows": [flow]}
    return Scenario.from_data(data).run(record=list(TABLES))


def values_of(name):
    return dict(RELATIONS[name].parameters) | CHANGES.get(name, {})


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("aimd", marks=pytest.mark.slow),
        pytest.param("binomial", marks=pytest.mark.slow),
        pytest.param("cubic", marks=pytest.mark.slow),
        pytest.param("vegas", marks=pytest.mark.slow),
        pytest.param("fast", marks=pytest.mark.slow),
        pytest.param("copa", marks=pytest.mark.slow),
        pytest.param("dctcp", marks=pytest.mark.slow),
    ],
)
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    pattern=st.lists(st.sampled_from([0, 0.5, 1]), min_size=1, max_size=5),
    packets=st.integers(20, 40),
    begin=st.floats(4, 10),
)
def test_packets_obey_the_relation(name, pattern, packets, begin):
    buffer = Fraction(1) if name in LOSSY else None
    fitted = RELATIONS[name].segment
    run = run_of(name, packets if fitted is None else int(1 / fitted), pattern, buffer)
    samples = sample(run, begin, 8, jitter=1, buffer=buffer)
    # In recovery SACK sends what its count of the pipe allows, which may be less.
    without = frozenset(RELATIONS[name].left_at) | ({"sends"} if name in LOSSY else set())
    assert obeys(samples, RELATIONS[name], values_of(name), without=without)


BBR = RELATIONS["bbr"]
BBR_OF_PACKETS = replace(
    BBR, rules=tuple(bbr.gains_in_any_order if x.name == "pacing" else x for x in BBR.rules)
)
"""With gains in any order, as phases of packets are as long as round trips and not as steps."""


@pytest.mark.slow
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    pattern=st.lists(st.sampled_from([0, 0.5, 1]), min_size=1, max_size=5),
    packets=st.integers(20, 40),
    # ProbeRTT, which the relation leaves out, begins at 10 s.
    begin=st.floats(4, 8),
)
def test_packets_of_bbr_obey_what_is_not_shortened(pattern, packets, begin):
    """Under any jitter, with filters of ten round trips; where they leave the shortened it says."""
    samples = sample(run_of("bbr", packets, pattern, None), begin, 16, jitter=1, buffer=None)
    values = values_of("bbr")
    with mock.patch.multiple(bbr, ROUNDS=10, PHASES=8):
        assert obeys(samples, BBR_OF_PACKETS, values)
        # Neither is empty: another gain, and a window that is a segment's, are left.
        assert not obeys(samples, BBR_OF_PACKETS, values | {"cwnd_gain": Fraction(4)})
    assert obeys(samples, BBR, values, without=frozenset(BBR.left_at))


@pytest.mark.slow
def test_what_a_step_of_bbr_delivers_at_once_does_not_count_in_full():
    """A round trip holds packets every third step: the rule `at-once` is one of other paths."""
    samples = sample(run_of("bbr", 40, [0, 0, 1], None), 6.3, 16, jitter=1, buffer=None)
    in_full = replace(BBR_OF_PACKETS, rules=(*BBR_OF_PACKETS.rules, *BBR.narrower))
    with mock.patch.multiple(bbr, ROUNDS=10, PHASES=8):
        assert obeys(samples, BBR_OF_PACKETS, values_of("bbr"))
        assert not obeys(samples, in_full, values_of("bbr"))


@pytest.mark.parametrize("name", RELATIONS)
def test_each_relation_is_among_those_that_random_runs_are_held_against(name):
    marks = [m for m in test_packets_obey_the_relation.pytestmark if m.name == "parametrize"]
    names = [getattr(x, "values", [x])[0] for x in marks[0].args[1]]
    assert name in [*names, "bbr"]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        pytest.param("aimd", {"a": Fraction(1, 10)}, marks=pytest.mark.slow),
        pytest.param("copa", {"delta": Fraction(1)}, marks=pytest.mark.slow),
        pytest.param("dctcp", {"marks_above": Fraction(80)}, marks=pytest.mark.slow),
    ],
)
def test_packets_of_other_constants_do_not_obey(name, other):
    """The check can fail: a relation with other constants is left by the same run."""
    buffer = Fraction(1) if name in LOSSY else None
    run = run_of(name, 40, [0], buffer, initial=4)
    values = values_of(name) | other
    samples = (sample(run, 0.5 + i, 10, jitter=1, buffer=buffer) for i in range(8))
    assert not all(obeys(one, RELATIONS[name], values, slack=1) for one in samples)


@pytest.mark.parametrize(
    ("name", "packets", "begin"),
    [
        pytest.param("bbr", 40, 5.03, marks=pytest.mark.slow),
        pytest.param("copa", 21, 6.0, marks=pytest.mark.slow),
    ],
)
def test_packets_leave_a_relation_where_it_says(name, packets, begin):
    samples = sample(run_of(name, packets, [0], None), begin, 8, jitter=1, buffer=None)
    left = left_rules(samples, RELATIONS[name], values_of(name))
    assert left
    assert set(left) & set(RELATIONS[name].left_at)


@pytest.mark.parametrize("name", RELATIONS)
def test_parameters_are_those_of_the_packet_form(name):
    relation = RELATIONS[name]
    known = schema.catalogue()["cc"][name]["params"]["properties"]
    for parameter, value in relation.parameters.items():
        if parameter not in relation.units:
            default = known[parameter].get("default")
            assert default in (None, float(value))


@pytest.mark.parametrize("name", QUICK_FIRST)
def test_no_rule_follows_from_the_others(name):
    """Each rule forbids a path that the others allow."""
    relation = RELATIONS[name]
    low = relation.segment or Fraction(1, 50)
    buffer = None if relation.knows_base else Fraction(1)
    path = ModelPath(7, buffer=buffer, segment=(low, low), paced=relation.paced)
    for rule in relation.rules:
        v = Curves(path)
        others = path_terms(v) + relation.write(v, values_of(name), frozenset({rule.name}))
        broken = negated(all_of(*rule.write(v, values_of(name), 0)))
        assert decide([*others, broken], Z3).word == "possible", rule.name


@pytest.mark.parametrize("name", QUICK_FIRST)
def test_a_relation_allows_something(name):
    relation = RELATIONS[name]
    low = relation.segment or Fraction(1, 50)
    v = Curves(ModelPath(7, buffer=Fraction(1), segment=(low, low), paced=relation.paced))
    moves = v.window[0][6] > v.window[0][5]
    terms = [*path_terms(v), *relation.write(v, values_of(name)), moves, v.served[0][7] > 2]
    assert decide(terms, Z3).word == "possible"


@settings(max_examples=60, deadline=None)
@given(
    st.floats(1, 160),
    st.floats(0.01, 100),
    st.sampled_from([-10, -2, -1, -0.5, -0.1, 0, 0.1, 0.5, Fraction(2, 3), 0.9, 1]),
)
def test_lines_hold_their_power(window, factor, power):
    lines = fit(Fraction(factor), Fraction(power))
    at = constant(Fraction(window) * SEGMENT)
    least, most = (
        compute(bound, {}) / SEGMENT for bound in (lines.at_least(at), lines.at_most(at))
    )
    value = factor * window ** float(power)
    assert least <= value * (1 + 1e-12)
    assert most >= value * (1 - 1e-12)
    assert (least, most) == lines.bounds(Fraction(window))
    if power in {0, 1}:
        assert least == most


def test_lines_of_cubic_are_those_of_its_steepest_growth():
    """RFC 9438: 3 C t^2 after t = cbrt(w/C), here with 20 segments, in a step of 0.1 s."""
    least, most = map(float, slope(Fraction(2, 5)).bounds(Fraction(20)))
    growth = 3 * 0.4 * (20 / 0.4) ** (2 / 3) * 0.1
    assert least <= growth <= most
    assert most - least < 0.3


def test_a_power_of_one_half_touches_its_tangents_and_the_ends_of_its_chords():
    """By hand: the chord from 10 to 40 is that of the roots, the tangent at 20 half a slope."""
    lines = fit(Fraction(1), Fraction(1, 2))
    for window in (10, 20, 40):
        least, most = map(float, lines.bounds(Fraction(window)))
        root = window**0.5
        chord = 10**0.5 + (window - 10) * (40**0.5 - 10**0.5) / 30
        # Slopes are rounded to 1/200, over chords of at most 120 segments, and heights to 1/20.
        assert chord - 120 / 400 - 1 / 20 <= least <= chord
        assert root <= most <= root + (0.4 if window != 20 else 0.06)


def test_few_lines_leave_little_open():
    """As the explanation of the path model has it, in segments."""
    windows = [Fraction(i, 2) for i in range(2, 321)]
    for lines, open_ in (
        (slope(Fraction(2, 5)), 0.46),
        (fit(Fraction(1), Fraction(-1, 2)), 0.18),
        (fit(Fraction(1), Fraction(-1)), 0.21),
        (fit(Fraction(1), Fraction(1, 2)), 0.76),
    ):
        widths = [most - least for least, most in map(lines.bounds, windows)]
        assert max(widths) < open_
