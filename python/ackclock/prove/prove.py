"""Proves a claim for all time, refutes it by a path that runs in packets, or says how far it came.

Rule::

    moment, reach:  from any state; no path violates it: proved;  one does: refuted, and for packets
                    a link of constant rate with jitter is searched that does
    cycle:
        1. utilisation, of a control that answers loss: a long cycle violates it on a path that
           holds what it delivers and releases it at once (`ackclock.prove.held`): refuted
        2. a cycle of 2, 4 or 6 round trips violates it, on the whole model: refuted; then a link
           of constant rate with jitter is searched that does, whose paths packets can follow
        3. utilisation, of a control that answers loss, once no shortest cycle violates it: what a
           cut leaves delivers as much (`ackclock.prove.floor`): proved, as long as what this needs
           beside is so, where it is not proved
        4. utilisation, likewise: of the regions of windows above `LOWS`
           the widest that is kept and in which every block of `BLOCK` round trips delivers as much:
           proved, from every state of it on
        5. standing queue, likewise: no path from any state has it in all of `BLOCK` round trips:
           proved, for a cycle of any length is such a path
        6. else unknown: no cycle up to the last period violates it

A verdict needs both solvers. What one of them alone decided is reported as unknown, with its name.
Where time is limited, each search has a share of what is left, so that the next ones have some.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ackclock.prove.controls.window import CUT_RULES
from ackclock.prove.floor import floor_of
from ackclock.prove.held import SEGMENT, periods_of
from ackclock.prove.lemmas import Bound, Lemma
from ackclock.prove.proof import Formula, Proof
from ackclock.prove.replay import REPLAY_SEGMENT, Replay, replay
from ackclock.prove.solvers import SolverLimits, decide
from ackclock.prove.terms import equal
from ackclock.prove.trace import read_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ackclock.prove.path import Curves
    from ackclock.prove.proof import Verdict
    from ackclock.prove.question import Question
    from ackclock.prove.solvers import SolverAnswer, Word
    from ackclock.prove.terms import Term
    from ackclock.prove.trace import ModelTrace

__all__ = ["PERIODS", "prove"]

PERIODS = (2, 4, 6)
"""Periods of cycles that are searched [base round trips]."""

BLOCK = 6
"""Length of the blocks of a proof for all time [base round trips]."""

LOWS = (Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3))
"""Least windows of regions that are tried [BDP]."""

HALVINGS = 5
"""Steps of the search for a cycle that violates a claim by more."""

WORSE, CLOSING, HELD, FLOORED = 0.25, 0.4, 0.6, 0.9
"""Shares of the time that is left for that search, for the regions, for paths that hold, and for
what a cut leaves."""

FLOOR_BLOCKS, TIMER = (8, 10), 4
"""Lengths of the histories in which some ending delivers enough, and after which there is no
timeout [base round trips]."""

GROWS = frozenset({"growth-at-least"})
"""Rules that this does without: what a cut leaves is kept where nothing grows."""

FLOORED_WORK = 10
"""Times the limit of work, for these histories."""

FORMULAS = 12
"""Formulas of a usual proof, by which progress is estimated."""


def prove(
    question: Question,
    *,
    limits: SolverLimits | None = None,
    periods: tuple[int, ...] = PERIODS,
    packets: bool = True,
    progress: Callable[[float, str], object] | None = None,
) -> Proof:
    """Prove or refute.

    Parameters
    ----------
    question
        Control, path and claim.
    limits
        Of the calls of solvers.
    periods
        Of the cycles that are searched.
    packets
        Whether a counterexample is run in packets.
    progress
        Called with the fraction done, at least that of the time that is limited, and the next step.
    """
    work = _Work(question, limits or SolverLimits(), progress)
    kind = question.claim.kind.kind
    if kind == "cycle":
        return _prove_cycle(work, periods, packets=packets)
    steps = 2 if kind == "moment" else int(question.claim.value)
    name = f"from any state, {steps} round trips"
    answer, v = work.decide(name, *question.from_any_state(steps))
    if answer.agreed and answer.word == "impossible":
        return work.proof("proved", f"{question.claim.sentence}: at every time", steps)
    possible = answer.agreed and answer.word == "possible"
    on_link = _link_path(work, name, steps) if packets or not possible else None
    if on_link is not None:
        answer, v = on_link
    elif not possible:
        return work.proof("unknown", _undecided(answer), 0)
    return _refuted(work, read_trace(v, answer.values, 0), packets=packets)


def _link_path(work: _Work, name: str, steps: int) -> tuple[SolverAnswer, Curves] | None:
    """Find a path that violates the claim among those that packets can follow."""
    buffer = work.question.path.buffer
    for path_name, variant in _links(work.question, name):
        v, terms = variant.from_any_state(steps)
        choices = [(path_name, terms)]
        if buffer is not None:
            # Slow start comes to such a window without a loss, as a replay must.
            smaller = [*terms, v.window[0][0] <= 1 + buffer]
            choices.insert(0, (f"{path_name}, from a window that loses nothing", smaller))
            if (by_more := work.question.claim.kind.by_more) is not None:
                more = [*smaller, by_more(v, steps)]
                choices.insert(0, (f"{path_name}, from a window that loses nothing, by more", more))
        for choice, formulas in choices:
            answer, _ = work.decide(choice, v, formulas, wanted="possible")
            if answer.agreed and answer.word == "possible":
                work.question = variant
                return answer, v
    return None


class _Work:
    """Formulas decided so far."""

    def __init__(
        self,
        question: Question,
        limits: SolverLimits,
        progress: Callable[[float, str], object] | None,
    ) -> None:
        self.question = question
        self.limits = limits
        self.all_s = limits.left
        self.progress = progress
        self.formulas: list[Formula] = []

    def decide(
        self, name: str, v: Curves, terms: list[Term], wanted: Word | None = None
    ) -> tuple[SolverAnswer, Curves]:
        """Let the solvers decide, and keep what they said."""
        if self.progress is not None:
            spent = 1 - self.limits.left / self.all_s if 0 < self.all_s < math.inf else 0.0
            done = max(len(self.formulas) / FORMULAS, spent)
            self.progress(min(done, 1.0), name)
        comments = [self.question.relation.name + ", " + self.question.claim.text, name]
        answer = decide(terms, self.limits, comments, wanted)
        self.formulas.append(Formula(name, answer))
        return answer, v

    @contextmanager
    def part(self, share: float) -> Iterator[None]:
        """Limit what is decided within to a share of the time that is left."""
        whole = self.limits
        self.limits = whole.part(share)
        yield
        self.limits = whole

    def proof(self, verdict: Verdict, sentence: str, steps: int) -> Proof:
        """Make the result."""
        return Proof(self.question, verdict, sentence, steps, tuple(self.formulas))


class _Search(NamedTuple):
    """A search for a cycle.

    Attributes
    ----------
    trace
        That violates the claim.
    reason
        Why it is not decided whether there is one; empty: it is.
    undecided
        Whether a solver reached its limit.
    """

    trace: ModelTrace | None = None
    reason: str = ""
    undecided: bool = False


def _prove_cycle(work: _Work, periods: tuple[int, ...], *, packets: bool) -> Proof:
    decided = 0
    reason = ""
    held = _search_held(work, packets=packets)
    if held is not None:
        return _refuted(work, held, packets=packets)
    multiple = work.question.relation.period
    closes = {"utilisation": _close, "standing-queue": _close_queue}
    close = closes.get(work.question.claim.kind.name)
    lengths = sorted({-(-length // multiple) * multiple for length in periods})
    for period in lengths:
        search = _search_cycle(work, period, packets=packets)
        if search.trace is not None:
            return _refuted(work, search.trace, packets=packets)
        if period == lengths[0] and (floored := _close_on_floor(work)) is not None:
            return floored
        if close is not None and (sentence := close(work)) is not None:
            return work.proof("proved", sentence, BLOCK)
        close = None
        reason = reason or search.reason
        if search.undecided:
            break
        decided = decided if reason else period
    parts = [f"no cycle of up to {decided} round trips violates it"] if decided else []
    return work.proof("unknown", "; ".join([*parts, *([reason] if reason else [])]), decided)


def _search_held(work: _Work, *, packets: bool) -> ModelTrace | None:
    """Search a long cycle with one cut, on a path that holds what it delivers."""
    question, path = work.question, work.question.path
    cuts = {rule.name for rule in question.relation.rules} >= CUT_RULES
    if question.claim.kind.name != "utilisation" or path.server == "plain" or not cuts:
        return None
    low, high = path.segment
    size = (SEGMENT, SEGMENT) if low <= SEGMENT <= high else path.segment
    variant = replace(question, held=True, path=replace(path, server="link", segment=size))
    with work.part(HELD):
        for period in periods_of(path):
            name = f"cycle of {period}, held and released"
            answer, v = work.decide(name, *variant.cycle(period), wanted="possible")
            if not (answer.agreed and answer.word == "possible"):
                continue
            work.question = variant
            search = _repeated_cycle(work, answer, v, period, packets=packets)
            work.question = question
            if search.trace is not None:
                work.question = replace(question, path=replace(path, server="link"))
                return search.trace
    return None


def _search_cycle(work: _Work, period: int, *, packets: bool) -> _Search:
    """Search a cycle of this length that violates the claim.

    Every path of a link with jitter is one of the whole model, so links are searched only where the
    whole model may have such a cycle.
    """
    question, name = work.question, f"cycle of {period}"
    server = question.path.server
    answer, v = work.decide(f"{name}, {server} path", *question.cycle(period))
    if answer.agreed and answer.word == "impossible":
        return _Search()
    result = _Search(None, _undecided(answer), bool(answer.undecided))
    for link_name, variant in _links(question, name):
        on_link, curves = work.decide(link_name, *variant.cycle(period), wanted="possible")
        if on_link.agreed and on_link.word == "possible":
            work.question = variant
            search = _repeated_cycle(work, on_link, curves, period, packets=packets)
            if search.trace is not None:
                return search
            work.question = question
            result = result if result.reason else search
    if answer.agreed:
        return _repeated_cycle(work, answer, v, period, packets=packets)
    return result


def _repeated_cycle(
    work: _Work, answer: SolverAnswer, v: Curves, period: int, *, packets: bool
) -> _Search:
    """Find a cycle that can follow itself: how losses become known may look far back."""
    worse = _worse(work, answer, period) if packets else answer
    problem = ""
    for candidate in (worse, answer) if worse is not answer else (answer,):
        trace = read_trace(v, candidate.values, period)
        again, _ = work.decide("that cycle three times over", *_repeated(work.question, trace))
        if again.agreed and again.word == "possible":
            return _Search(trace)
        problem = _undecided(again)
    cycle = f"one of {period} does that ends as it begins"
    if problem:
        text = f"{cycle}, but whether it can be repeated is not known: {problem}"
        return _Search(None, text, undecided=True)
    return _Search(None, f"{cycle}, but cannot be repeated")


def _worse(work: _Work, answer: SolverAnswer, period: int) -> SolverAnswer:
    """Find a cycle that violates the claim by more: packets, which are whole, then show it too.

    Between nothing and the claim's value it halves `HALVINGS` times, by one solver: that the claim
    is refuted is known, and the numbers are computed again.
    """
    question = work.question
    if question.claim.kind.name not in {"utilisation", "no-starvation"}:
        return answer
    alone = replace(work.limits.part(WORSE), solvers=work.limits.solvers[:1])
    low, high = Fraction(0), question.claim.value
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        harder = replace(question, claim=replace(question.claim, value=middle))
        _, terms = harder.cycle(period)
        other = decide(terms, alone)
        if other.word == "possible":
            answer, high = other, middle
        else:
            low = middle
    return answer


def _links(question: Question, name: str) -> Iterator[tuple[str, Question]]:
    """List the links with jitter, which packets can follow, of a model that has them."""
    path, relation = question.path, question.relation
    low, high = path.segment
    name_of_link = f"{name}, link with jitter"
    if low < REPLAY_SEGMENT < high and path.server != "plain":
        link = replace(path, server="link", segment=(REPLAY_SEGMENT, REPLAY_SEGMENT))
        name_of_link += ", 100 segments to a BDP"
    elif path.server == "composed":
        link = replace(path, server="link")
    else:
        return  # a delay after a link is not of plain paths
    if relation.narrower:
        fewer = replace(relation, rules=(*relation.rules, *relation.narrower))
        rules = ", ".join(rule.name for rule in relation.narrower)
        yield f"{name_of_link}, with {rules}", replace(question, path=link, relation=fewer)
    yield name_of_link, replace(question, path=link)


def _close(work: _Work) -> str | None:
    """Find a region that is kept and in which enough is delivered."""
    question = work.question
    share = question.claim.value
    with work.part(CLOSING):
        for low in LOWS:
            region = (Bound("window", "at least", low),)
            kept = question.lemma(Lemma("kept", region, region, BLOCK))
            window = f"a window of {float(low):g} BDP"
            if not _holds(work, f"{window} is kept", *kept):
                continue
            v = question.curves(BLOCK)
            terms = [
                *question.terms(v),
                *(bound.write(v, 0) for bound in region),
                v.all_served(BLOCK) - v.all_served(0) < share * BLOCK,
            ]
            if _holds(work, f"{window} delivers enough", v, terms):
                return (
                    f"from any state with a window of at least {float(low):g} BDP on, each block"
                    f" of {BLOCK} round trips delivers at least {float(share):g} of the capacity,"
                    " for ever"
                )
    return None


def _close_on_floor(work: _Work) -> Proof | None:
    """Prove a utilisation from what a cut leaves, as long as what the lemmas need is so."""
    question = work.question
    if question.claim.kind.name != "utilisation" or (floor := floor_of(question)) is None:
        return None
    whole = replace(question, path=replace(question.path, quantum=True), without=GROWS)
    with work.part(FLOORED):
        work.limits = replace(work.limits, work=FLOORED_WORK * work.limits.work)
        if not _holds(work, "what a cut leaves is kept", *floor.is_left(whole)):
            return None
        for steps in FLOOR_BLOCKS:
            name = f"{steps} round trips, of which some ending delivers enough"
            if _holds(work, name, *floor.falls_short(whole, steps)):
                break
        else:
            return None
        conditions = []
        bound = f"the window stays at most {float(floor.most):g} BDP"
        if not _holds(work, bound, *floor.grows_beyond(whole, FLOOR_BLOCKS[-1])):
            conditions.append(bound)
        if not _holds(work, "there is no timeout", *floor.times_out(whole, TIMER)):
            conditions.append("there is no timeout")
    work.question = whole
    sentence = (
        f"from {steps} round trips on in which the window is at least {float(floor.least):g} BDP,"
        f" as cuts leave it, at least {float(question.claim.value):g} of the capacity is delivered,"
        " for ever"
    )
    return replace(work.proof("proved", sentence, steps), conditions=tuple(conditions))


def _close_queue(work: _Work) -> str | None:
    """Find that no state keeps as much queued."""
    name = f"from any state, {BLOCK} round trips"
    if not _holds(work, name, *work.question.from_any_state(BLOCK)):
        return None
    queue = float(work.question.claim.value)
    return f"from no state are more than {queue:g} BDP queued in all of {BLOCK} round trips"


def _holds(work: _Work, name: str, v: Curves, contradiction: list[Term]) -> bool:
    answer, _ = work.decide(name, v, contradiction, wanted="impossible")
    return answer.agreed and answer.word == "impossible"


def _refuted(work: _Work, trace: ModelTrace, *, packets: bool) -> Proof:
    question, period = work.question, trace.period
    path = f"a cycle of {period} round trips, for ever" if period else "a path from some state"
    steps = period or len(trace.capacity) - 1
    result = work.proof("refuted", f"violated by {path}", steps)
    outcome = None
    if packets and question.path.server == "plain":
        text = "packets follow a link with jitter after it, which is not of these paths"
        outcome = Replay(replayed=False, measured=None, data=None, sentence=text)
    elif packets:
        outcome = replay(question.relation, question.values, question.claim, trace, question.path)
    return replace(result, trace=trace, replay=outcome)


def _repeated(question: Question, trace: ModelTrace) -> tuple[Curves, list[Term]]:
    """Write a path that is a cycle three times over; how losses become known may look far back."""
    period = trace.period
    v = question.curves(3 * period + len(trace.capacity) - 1 - period)

    def pinned(curve: list[Term], numbers: tuple[Fraction, ...], *, moves: bool) -> Iterator[Term]:
        grows = numbers[period] - numbers[0] if moves else Fraction(0)
        for t, term in enumerate(curve):
            turns = min(t // period, 3)
            yield equal(term, numbers[t - turns * period] + turns * grows)

    terms = question.terms(v)
    terms.append(equal(v.segment, trace.segment))
    for n in v.flows:
        for curve, numbers in (
            (v.sent[n], trace.sent[n]),
            (v.served[n], trace.served[n]),
            (v.passed[n], trace.passed[n]),
            (v.lost[n], trace.lost[n]),
            (v.noticed[n], trace.noticed[n]),
        ):
            terms += pinned(curve, numbers, moves=True)
        terms += pinned(v.window[n], trace.window[n], moves=False)
    terms += pinned([v.capacity(t) for t in v.times], trace.capacity, moves=True)
    return v, terms


def _undecided(answer: SolverAnswer) -> str:
    """Say why there is no verdict; empty: both solvers said the same."""
    if answer.undecided:
        names = " and ".join(answer.undecided)
        return f"{names} reached the limit of work or time"
    return "" if answer.agreed else "only one solver was used, and a verdict needs two"
