"""Relations of BBR and DCTCP, and AIMD's region, on steps written by hand."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from ackclock.prove.controls import bbr, dctcp
from ackclock.prove.terms import compute, constant, truth, write_script
from ackclock.prove.theorems import Checked, Theorems, region


def holds(terms, values=()):
    """Whether all terms hold for values of what is unknown."""
    numbers = {
        name: value if isinstance(value, bool) else Fraction(value)
        for name, value in dict(values).items()
    }
    return all(compute(term, numbers) for term in terms)


class Curve(dict):
    """Values by step, as terms."""

    def __init__(self, values):
        super().__init__({t: constant(Fraction(str(value))) for t, value in enumerate(values)})


def steps(count, *, jitter=0, buffer=1, segment="0.1", **curves):
    made = {name: [Curve(values)] for name, values in curves.items()}
    return SimpleNamespace(
        times=range(count + 1), segment=constant(Fraction(segment)),
        path=SimpleNamespace(jitter=jitter, buffer=constant(Fraction(buffer))), **made,
    )  # fmt: skip


# -- BBR ------------------------------------------------------------------------------------------


def estimate(served, value, at, jitter=0, segment="0.1"):
    """Whether an estimate at a step agrees with what was served up to then."""
    v = steps(len(served) - 1, jitter=jitter, segment=segment, served=served)
    values = {f"B0_{t}": 10 for t in v.times}
    terms = list(bbr._bandwidth(v, {}, 0))
    names = {f"B0_{at}"}
    about = [term for term in terms if names & set(mentioned(term))]
    return holds(about, {**values, f"B0_{at}": value})


def mentioned(term):
    """Names of unknowns in the text of a term."""
    text, _ = write_script([term])
    return [word.strip("()") for word in text.replace("(", " ").replace(")", " ").split()]


STEADY = [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("value", "agrees"), [("1", True), ("0.99", False), ("2", True), ("2.01", False)]
)
def test_a_steady_rate_of_1_gives_an_estimate_from_1_to_what_two_steps_deliver(value, agrees):
    assert estimate(STEADY, value, 6) is agrees


def test_the_estimate_is_of_the_last_four_round_trips():
    # A burst of 3 in the second step; two steps together deliver 4.
    burst = [0, 1, 4, 5, 6, 7, 8, 9]
    assert estimate(burst, "4", 5)
    # In the seventh step it is too old for the filter, but two of its steps ago ends in it.
    assert not estimate(burst, "4.01", 6)
    assert not estimate([*burst, 10], "2.01", 8)


def test_the_first_steps_have_no_upper_bound_and_a_segment_is_the_least():
    assert estimate(STEADY, "9", 4)
    assert not estimate(STEADY, "9", 5)
    idle = [0] * 7
    assert estimate(idle, "0.1", 6)
    assert not estimate(idle, "0.09", 6)
    assert not estimate(idle, "0.11", 6)
    # With jitter a segment takes as much longer.
    assert estimate(idle, "0.05", 6, jitter=1)


def test_with_jitter_a_rate_may_be_taken_over_as_many_steps_more():
    # Each third step delivers 3: over three steps that is 1 each.
    bursts = [0, 0, 0, 3, 3, 3, 6]
    assert estimate(bursts, "1", 6, jitter=1)
    assert not estimate(bursts, "0.99", 6, jitter=1)
    assert not estimate(bursts, "1", 6, jitter=0)


def test_at_once_a_step_counts_in_full():
    v = steps(4, served=[0, 0, 3, 3, 3])
    terms = list(bbr._at_once(v, {}, 0))
    assert holds(terms, {f"B0_{t}": 3 for t in v.times})
    assert not holds(terms, {**{f"B0_{t}": 3 for t in v.times}, "B0_4": "2.9"})


@pytest.mark.parametrize(
    ("rate", "agrees"), [("0.75", True), ("1.25", True), ("0.74", False), ("1.26", False)]
)
def test_gains_in_any_order_are_within_a_quarter(rate, agrees):
    v = steps(3, rate=["1", "1", "1", rate])
    assert holds(bbr._gains(v, {}, 0), {f"B0_{t}": 1 for t in v.times}) is agrees
    negative = steps(1, rate=["0", "-1"])
    assert not holds(bbr._gains(negative, {}, 0))


def test_the_window_is_twice_the_estimate_and_four_segments_at_least():
    gain = {"cwnd_gain": Fraction(2)}
    for window, estimate_, agrees in (("2", "1", True), ("1.9", "1", False), ("0.4", "0.1", True),
                                      ("0.2", "0.1", False)):  # fmt: skip
        v = steps(2, window=["0", "0", window])
        assert holds(bbr._window(v, gain, 0), {"B0_2": estimate_}) is agrees


def test_pacing_goes_through_its_four_gains_from_some_phase():
    def agrees(*rates, phase=0):
        v = steps(1 + len(rates), rate=["1", "1", *rates])
        values = {f"B0_{t}": 1 for t in v.times} | {f"phase0_{k}": k == phase for k in range(4)}
        return holds(bbr._pacing(v, {}, 0), values)

    # Step 2 of the first phase is third of the cycle.
    assert agrees("1", "1", "1.25", "0.75", "1")
    assert not agrees("1.25", "0.75", "1", "1")
    assert agrees("1.25", "0.75", "1", "1", phase=2)
    assert agrees("1", "1.25", "0.75", "1", phase=1)
    v = steps(1, rate=["1", "1"])
    assert not holds(bbr._pacing(v, {}, 0), {f"phase0_{k}": False for k in range(4)})


# -- DCTCP ----------------------------------------------------------------------------------------


def marked(window, drop, accepted, *, jitter=0, above=2, timeout=(False, False, False, False)):
    """Whether the third step agrees: capacity of 1 a step, a segment of a tenth."""
    v = steps(3, jitter=jitter, window=["1", "1", "1", window])
    v.timeout = [{t: truth(f"T{t}") for t in v.times}]
    v.accepted = lambda t: constant(Fraction(str(accepted[t])))
    v.capacity = constant
    values = {f"D0_{t}": 0 for t in v.times} | {"D0_3": drop}
    values |= {f"T{t}": timeout[t] for t in v.times}
    terms = list(dctcp._marked(v, {"marks_above": Fraction(above)}, 0))
    names = {name for term in terms for name in mentioned(term) if name.startswith(("cut", "C"))}
    return holds(terms, values | {name: False for name in names if name not in values})


def test_a_step_without_marks_adds_up_to_a_segment_and_takes_nothing():
    quiet = [0, 0, 0, 0]
    assert marked("1", 0, quiet)
    assert marked("1.1", 0, quiet)
    assert not marked("1.11", 0, quiet)
    assert not marked("0.99", 0, quiet)
    # Nothing waited: nothing may be taken.
    assert not marked("0.5", "0.5", quiet)


def test_a_step_with_marks_takes_at_most_a_half():
    # More than 0.2 beyond what the capacity was a step before.
    busy = [0, "0.3", "1.3", 0]
    assert marked("0.5", "0.5", busy)
    assert marked("0.6", "0.5", busy)
    assert not marked("0.4", "0.5", busy)
    assert not marked("0.4", "0.6", busy)
    assert not marked("0.61", "0.5", busy)
    # At the threshold nothing is marked.
    assert not marked("0.5", "0.5", [0, "0.2", "1.2", 0])


def test_windows_of_dctcp_are_a_segment_at_least():
    for window, agrees in (("0.1", True), ("0.09", False)):
        assert holds(dctcp._least(steps(1, window=["1", window]), {}, 0)) is agrees


def test_a_cut_of_dctcp_leaves_a_half_and_growth_is_between_half_and_a_whole_segment():
    v = steps(1)
    one = constant(1)
    low, high = dctcp._kept(v, {}, one)
    assert (compute(low, {}), compute(high, {})) == (Fraction(1, 2), 1)
    low, high = dctcp._gains(v, {}, one)
    assert (compute(low, {}), compute(high, {})) == (Fraction(1, 20), Fraction(1, 10))


# -- AIMD's region --------------------------------------------------------------------------------


def value(term):
    return compute(term, {})


def test_the_bound_of_the_window_is_what_path_and_buffer_hold_and_some_segments():
    v = steps(1, jitter=1, buffer="0.5")
    assert value(region._limit(v, 0)) == Fraction(5, 2)
    assert value(region._limit(v, region.SLACK)) == Fraction(28, 10)
    assert region.LARGEST == region.SLACK + region.STEPS == 13


def test_loss_that_is_not_known_is_at_most_the_bound_less_the_buffer():
    v = steps(1, jitter=1, buffer="0.5")
    for lost, few in (("3.3", True), ("3.31", False)):
        v.unnoticed = lambda t, lost=lost: constant(Fraction(lost))
        # 2.5 and 1.3, less 0.5.
        assert value(region._few_lost(v, 0)) is few


def test_a_window_that_falls_is_a_segment_lower_once():
    def never(*windows):
        return holds(region._never_lower(steps(len(windows) - 1, window=windows)))

    # Above 1 + 1 + 0.3.
    assert never("2.4", "2.4", "2.5")
    assert not never("2.3", "2.4")
    assert not never("2.4", "2.3")
    assert never("2.4", "2.31")
    assert not never("2.4", "2.4", "2.2")


def test_loss_is_known_after_ten_round_trips():
    v = steps(10, noticed=["0"] * 10 + ["1"], lost=["2"] * 11)
    assert holds(region._unknown_for_long(v))
    v = steps(10, noticed=["0"] * 10 + ["2"], lost=["2"] * 11)
    assert not holds(region._unknown_for_long(v))


def test_lemmas_of_the_region_are_each_over_their_round_trips():
    lemmas = {lemma.name: lemma for lemma in region.AIMD_REGION}
    assert [lemma.steps for lemma in region.AIMD_REGION] == [10, 14, 10, 10, 1, 10]
    assert "C (R + D) + b + 13 segments" in lemmas["loss comes down"].sentence
    assert "C (R + D) + b + 3 segments" in lemmas["falls"].sentence


# -- reports --------------------------------------------------------------------------------------


def checked(name, *, as_stated=True, replay=None, **more):
    formula = SimpleNamespace(
        answer=SimpleNamespace(replies=[SimpleNamespace(seconds=s) for s in (1.25, 0.5)]),
        row=lambda: {"formula": name},
    )  # fmt: skip
    plain = {
        "name": name, "control": "aimd", "verdict": "proved", "sentence": "it holds",
        "source": "", "published": "", "as_stated": as_stated, "formulas": (formula, formula),
    }  # fmt: skip
    return Checked(**{**plain, "replay": replay, **more})


def test_theorems_are_counted_listed_and_said():
    replay = SimpleNamespace(replayed=True, sentence="the flow starves")
    theorems = Theorems((
        checked("one"),
        checked("two", as_stated=False, verdict="refuted", replay=replay, source="Arun 2021",
                published="starves"),
        checked("three", verdict="refuted", only_model="too long", source="here",
                replay=SimpleNamespace(replayed=False, sentence="it does not")),
    ))  # fmt: skip
    assert theorems.headline == "2 of 3 theorems as stated; two is refuted"
    assert Theorems((checked("one"),)).headline == "1 of 1 theorems as stated"
    table, _, said = str(theorems).partition("\n\n")
    rows = [line.split() for line in table.splitlines()]
    assert rows[1] == ["one", "aimd", "proved", "3.50"]
    assert rows[2] == ["two", "aimd", "refuted", "replayed", "3.50"]
    assert rows[3] == ["three", "aimd", "refuted", "only", "in", "the", "model", "3.50"]
    assert said.splitlines() == [
        "one: proved: it holds.",
        "two: refuted: it holds.",
        "  In packets: the flow starves.",
        "  Source: Arun 2021: starves.",
        "three: refuted: it holds.",
        "  In packets: it does not.",
        "  Refuted in the model, not replayed: too long.",
        "  Source: here.",
    ]
    row = theorems.to_dict()["proofs"][1]
    assert (row["replayed"], row["replay"], row["seconds"]) == (True, "the flow starves", 3.5)
    assert row["formulas"] == [{"formula": "two"}] * 2
    assert theorems.to_dict()["proofs"][0]["replayed"] is None
    assert theorems.pages("x") == {"page.txt": str(theorems)}
