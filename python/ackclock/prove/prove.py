"""Proves a claim for all time, refutes it by a path that runs in packets, or says how far it came.

Rule::

    moment, reach:  from any state; no path violates it: proved;  one does: refuted, and for packets
                    a link of constant rate with jitter is searched that does
    cycle:
        1. a cycle of 2, 4 or 6 round trips violates it: refuted; first on a link of constant rate
           with jitter, whose paths packets can follow, then on the whole model
        2. utilisation: of the regions of windows above `LOWS` the widest that is kept and in which
           every block of `BLOCK` round trips delivers as much: proved, from every state of it on
        3. else unknown: no cycle up to the last period violates it

A verdict needs both solvers. What one of them alone decided is reported as unknown, with its name.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ackclock.prove.lemmas import Bound, Lemma
from ackclock.prove.proof import Formula, Proof
from ackclock.prove.replay import Replay, replay
from ackclock.prove.solvers import Limits, decide
from ackclock.prove.terms import equal
from ackclock.prove.trace import read_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ackclock.prove.path import Curves
    from ackclock.prove.question import Question
    from ackclock.prove.solvers import Answer
    from ackclock.prove.terms import Term
    from ackclock.prove.trace import Trace

__all__ = ["PERIODS", "prove"]

PERIODS = (2, 4, 6)
"""Periods of cycles that are searched [base round trips]."""

BLOCK = 6
"""Length of the blocks of a proof for all time [base round trips]."""

LOWS = (Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3))
"""Least windows of regions that are tried [BDP]."""

HALVINGS = 5
"""Steps of the search for a cycle that violates a claim by more."""

REPLAY_SEGMENT = Fraction(1, 100)
"""Size of a segment that is tried first, so that packets have a path of hundred to a BDP."""


def prove(
    question: Question,
    *,
    limits: Limits | None = None,
    periods: tuple[int, ...] = PERIODS,
    packets: bool = True,
    progress: Callable[[float], object] | None = None,
) -> Proof:
    """Prove or refute.

    Parameters
    ----------
    question
        Control, path and claim.
    limits
        Of each call of a solver.
    periods
        Of the cycles that are searched.
    packets
        Whether a counterexample is run in packets.
    progress
        Called with the fraction done.
    """
    work = _Work(question, limits or Limits(), progress)
    kind = question.claim.kind.kind
    if kind == "cycle":
        return _prove_cycle(work, periods, packets=packets)
    steps = 2 if kind == "moment" else int(question.claim.value)
    name = f"from any state, {steps} round trips"
    answer, v = work.decide(name, *question.from_any_state(steps))
    if answer.agreed and answer.word == "impossible":
        return work.proof("proved", f"{question.claim.sentence}: at every time", steps)
    if answer.agreed and answer.word == "possible":
        if packets:
            answer, v = _link_path(work, name, steps) or (answer, v)
        return _refuted(work, read_trace(v, answer.values, 0), packets=packets)
    return work.proof("unknown", _undecided(answer), 0)


def _link_path(work: _Work, name: str, steps: int) -> tuple[Answer, Curves] | None:
    """Find a path that violates the claim among those that packets can follow."""
    question = work.question
    for path_name, variant in _variants(question, name):
        if variant.path.server != "link":
            continue
        answer, v = work.decide(path_name, *variant.from_any_state(steps))
        if answer.agreed and answer.word == "possible":
            work.question = variant
            return answer, v
    return None


class _Work:
    """Formulas decided so far."""

    def __init__(
        self, question: Question, limits: Limits, progress: Callable[[float], object] | None
    ) -> None:
        self.question = question
        self.limits = limits
        self.progress = progress
        self.formulas: list[Formula] = []

    def decide(self, name: str, v: Curves, terms: list[Term]) -> tuple[Answer, Curves]:
        """Let the solvers decide, and keep what they said."""
        comments = [self.question.relation.name + ", " + self.question.claim.text, name]
        answer = decide(terms, self.limits, comments)
        self.formulas.append(Formula(name, answer))
        if self.progress is not None:
            self.progress(min(len(self.formulas) / 12, 1.0))
        return answer, v

    def proof(self, verdict: str, sentence: str, steps: int) -> Proof:
        """Make the result."""
        return Proof(self.question, verdict, sentence, steps, tuple(self.formulas))


def _prove_cycle(work: _Work, periods: tuple[int, ...], *, packets: bool) -> Proof:
    question = work.question
    decided = 0
    reason = ""
    multiple = question.relation.period
    for period in sorted({-(-one // multiple) * multiple for one in periods}):
        for name, variant in _variants(question, f"cycle of {period}"):
            answer, v = work.decide(name, *variant.cycle(period))
            if answer.agreed and answer.word == "possible":
                work.question = variant
                worse = _worse(work, answer, period) if packets else answer
                for one in (worse, answer):
                    trace = read_trace(v, one.values, period)
                    if _repeats(work, trace):
                        return _refuted(work, trace, packets=packets)
                work.question = question
                reason = f"one of {period} does that ends as it begins, but cannot be repeated"
            elif not (answer.agreed and answer.word == "impossible"):
                reason = _undecided(answer)
        if answer.undecided:
            break
        decided = decided if reason else period
    if question.claim.kind.name == "utilisation":
        closed = _close(work)
        if closed is not None:
            return work.proof("proved", closed, BLOCK)
    parts = [f"no cycle of up to {decided} round trips violates it"] if decided else []
    return work.proof("unknown", "; ".join([*parts, *([reason] if reason else [])]), decided)


def _repeats(work: _Work, trace: Trace) -> bool:
    """Say whether a cycle can follow itself: how losses become known may look far back."""
    answer, _ = work.decide("that cycle three times over", *_repeated(work.question, trace))
    return answer.agreed and answer.word == "possible"


def _worse(work: _Work, answer: Answer, period: int) -> Answer:
    """Find a cycle that violates the claim by more: packets, which are whole, then show it too.

    Between nothing and the claim's value it halves `HALVINGS` times, by one solver: that the claim
    is refuted is known, and the numbers are computed again.
    """
    question = work.question
    if question.claim.kind.name not in {"utilisation", "no-starvation"}:
        return answer
    alone = replace(work.limits, solvers=work.limits.solvers[:1])
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


def _variants(question: Question, name: str) -> Iterator[tuple[str, Question]]:
    """Paths from those that packets can follow to all of the model."""
    path = question.path
    low, high = path.segment
    link, name_of_link = None, f"{name}, link with jitter"
    if path.server == "plain":
        pass  # a delay after a link is not of these paths
    elif low < REPLAY_SEGMENT < high:
        usual = (REPLAY_SEGMENT, REPLAY_SEGMENT)
        link = replace(path, server="link", segment=usual)
        name_of_link += ", 100 segments to a BDP"
    elif path.server != "link":
        link = replace(path, server="link")
    if link is not None:
        relation = question.relation
        if relation.narrower:
            fewer = replace(relation, rules=(*relation.rules, *relation.narrower))
            rules = ", ".join(rule.name for rule in relation.narrower)
            variant = replace(question, path=link, relation=fewer)
            yield f"{name_of_link}, with {rules}", variant
        yield name_of_link, replace(question, path=link)
    yield f"{name}, {path.server} path", question


def _close(work: _Work) -> str | None:
    """Find a region that is kept and in which enough is delivered."""
    question = work.question
    share = question.claim.value
    for low in LOWS:
        region = (Bound("window", "at least", low),)
        kept = Lemma("kept", region, region, BLOCK)
        answer, _ = work.decide(f"a window of {float(low):g} BDP is kept", *question.lemma(kept))
        if not (answer.agreed and answer.word == "impossible"):
            continue
        v = question.curves(BLOCK)
        terms = [
            *question.terms(v),
            *(bound.write(v, 0) for bound in region),
            v.all_served(BLOCK) - v.all_served(0) < share * BLOCK,
        ]
        answer, _ = work.decide(f"a window of {float(low):g} BDP delivers enough", v, terms)
        if answer.agreed and answer.word == "impossible":
            return (
                f"from any state with a window of at least {float(low):g} BDP on, each block of"
                f" {BLOCK} round trips delivers at least {float(share):g} of the capacity, for ever"
            )
    return None


def _refuted(work: _Work, trace: Trace, *, packets: bool) -> Proof:
    question, period = work.question, trace.period
    path = f"a cycle of {period} round trips, for ever" if period else "a path from some state"
    steps = period or len(trace.capacity) - 1
    result = work.proof("refuted", f"violated by {path}", steps)
    outcome = None
    if packets and question.path.server == "plain":
        text = "packets follow a link with jitter after it, which is not of these paths"
        outcome = Replay(replayed=False, measured=None, data=None, sentence=text)
    elif packets:
        outcome = replay(
            question.relation, question.values, question.claim, trace, question.path.buffer
        )
    return replace(result, trace=trace, replay=outcome)


def _repeated(question: Question, trace: Trace) -> tuple[Curves, list[Term]]:
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


def _undecided(answer: Answer) -> str:
    if answer.undecided:
        names = " and ".join(answer.undecided)
        return f"{names} reached the limit of work or time"
    return "only one solver was used, and a verdict needs two"
