"""The path of a proof: what a network may do to one or two flows, as constraints on curves.

A path has a rate C, a base round trip R, a jitter D and a buffer b. Data are in bandwidth-delay
products C R, and time in steps of one base round trip, so that C = R = 1. At step t

    A(t)  has been sent           S(t)  has been delivered      L(t)  has been dropped
    N(t)  of L(t) is known to the sender                        c(t)  is its window
    X(t)  = A(t) - L(t), accepted W(t)  is capacity that was lost to idleness
    K(t)  = K(0) + C t - W(t), what the path has had the capacity to deliver

all cumulative but c. Where the last flow has an access jitter J, its data pass what flows share
before they are delivered, and Z(t) is what has passed; else Z is S.

Everything that the constraints of this module allow may happen: the solver looks for the worst. A
constraint is a named object with its sentence, so that a proof can list what it assumes, and a test
can leave each one out.

Source: the model of Arun, Arashloo, Saeed, Alizadeh, Balakrishnan, "Toward Formally Verifying
Congestion Control Behavior", SIGCOMM 2021, doi:10.1145/3452296.3472912, sections 4 and 5; written
separately; what the authors' program CCAC (github.com/venkatarun95/ccac) states beyond the paper,
its constants and when a loss is noticed, was read there.

That sent data stay sent follows from the rule of sending; that a loss is known a base round trip
after it at the earliest, from the three segments that must be delivered beyond it.

The access jitter is the non-congestive delay of Arun, Alizadeh, Balakrishnan, "Starvation in
End-to-End Congestion Control", SIGCOMM 2022, doi:10.1145/3544216.3544223: anything between 0 and J,
here of one of the two flows alone.

Deviations: capacity is lost no faster than it comes; K(0) is unknown within its bounds in place of
W(0); two flows share the path in the order in which their data came; a timeout may come a step
after silence begins and must come after two, and what it made known stays known (there the
authors' program has no continuation, so that nothing after a timeout is examined).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple

from ackclock.prove.terms import (
    all_of,
    constant,
    equal,
    implies,
    larger,
    negated,
    smaller,
    total,
    truth,
    unknown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ackclock.prove.terms import Term

__all__ = ["CONSTRAINTS", "Constraint", "Curves", "ModelPath", "Server", "path_terms"]

Server = Literal["composed", "plain", "link"]
"""When capacity may be lost; see the constraints `lost-when-idle`, `lost-when-empty`, `link`."""


@dataclass(frozen=True, slots=True)
class ModelPath:
    """What a proof is about.

    Attributes
    ----------
    steps
        Last step; step 0 is any moment, not the start of a connection.
    flows
        1 or 2.
    jitter
        D [base round trips].
    access_jitter
        J: what the path of the last flow alone may delay, behind what flows share [base round
        trips].
    buffer
        b [BDP]; None: nothing is dropped.
    server
        ``composed``: a series of links, token buckets, delays and aggregating links; ``plain``:
        one of these; ``link``: a link of constant rate followed by a delay of up to D.
    segment
        Bounds of the size of a segment [BDP]; equal: it is that.
    paced
        Whether senders pace; else a window is sent as soon as it may be.
    quantum
        Whether at least a segment is delivered in a step that delivers anything.
    without
        Constraints that are left out: what a proof needs can be seen by leaving it out.
    """

    steps: int
    flows: int = 1
    jitter: int = 1
    access_jitter: int = 0
    buffer: Fraction | None = None
    server: Server = "composed"
    segment: tuple[Fraction, Fraction] = (Fraction(1, 100), Fraction(1, 4))
    paced: bool = False
    quantum: bool = False
    without: frozenset[str] = field(default_factory=frozenset)


class Curves:
    """The variables of a path: a number of each kind for each step (and flow).

    Parameters
    ----------
    path
        The path.
    """

    def __init__(self, path: ModelPath) -> None:
        self.path = path
        self.times = range(path.steps + 1)
        self.flows = range(path.flows)
        low, high = path.segment
        self.segment = constant(low) if low == high else unknown("segment")
        self.sent = self._flow("A")
        self.served = self._flow("S")
        last = self._flow("Z")[-1] if path.access_jitter else self.served[-1]
        self.passed = [*self.served[:-1], last]
        self.lost = self._flow("L")
        self.noticed = self._flow("N")
        self.window = self._flow("c")
        self.rate = self._flow("r")
        self.timeout = [[truth(f"timeout{n}_{t}") for t in self.times] for n in self.flows]
        self.waste = [unknown(f"W_{t}") for t in self.times]
        self.first_capacity = unknown("K_0")

    def _flow(self, kind: str) -> list[list[Term]]:
        return [[unknown(f"{kind}{n}_{t}") for t in self.times] for n in self.flows]

    def accepted(self, t: int, flow: int | None = None) -> Term:
        """Write X(t) of a flow, or of all."""
        which = self.flows if flow is None else (flow,)
        sent, lost = (
            total([one[n][t] for n in which]) for one in (self.sent, self.lost)
        )  # fmt: skip
        return sent - lost

    def all_served(self, t: int) -> Term:
        """Write S(t) of all flows."""
        return total([self.served[n][t] for n in self.flows])

    def all_passed(self, t: int) -> Term:
        """Write Z(t) of all flows."""
        return total([self.passed[n][t] for n in self.flows])

    def came(self, t: int, flow: int) -> Term:
        """Write what has come to the queue by t, in whose order a flow's data are delivered."""
        return self.accepted(t, flow) if self.path.access_jitter else self.accepted(t)

    def went(self, t: int, flow: int) -> Term:
        """Write what of `came` has been delivered by t."""
        return self.served[flow][t] if self.path.access_jitter else self.all_served(t)

    def all_lost(self, t: int) -> Term:
        """Write L(t) of all flows."""
        return total([self.lost[n][t] for n in self.flows])

    def capacity(self, t: int) -> Term:
        """Write K(t)."""
        return self.first_capacity + t - self.waste[t]

    def unnoticed(self, t: int, flow: int = 0) -> Term:
        """Write what is dropped and not known to be at t."""
        return self.lost[flow][t] - self.noticed[flow][t]

    def backlog(self, t: int) -> Term:
        """Write what waits in the path at t, accepted and not delivered."""
        return self.accepted(t) - self.all_served(t)


class Constraint(NamedTuple):
    """One thing that a path never does.

    Attributes
    ----------
    name
        By which it is left out.
    sentence
        What it says.
    write
        Writes it for all steps.
    """

    name: str
    sentence: str
    write: Callable[[Curves], Iterator[Term]]


def _start(v: Curves) -> Iterator[Term]:
    low, high = v.path.segment
    if low != high:
        yield v.segment >= low
        yield v.segment <= high
    yield equal(v.waste[0], 0)
    for n in v.flows:
        yield equal(v.served[n][0], 0)
        yield v.noticed[n][0] >= 0
        yield v.noticed[n][0] <= v.lost[n][0]
        yield v.window[n][0] > 0


def _grows(curve: str) -> Callable[[Curves], Iterator[Term]]:
    def write(v: Curves) -> Iterator[Term]:
        for flow in getattr(v, curve):
            for t in v.times[1:]:
                yield flow[t] >= flow[t - 1]

    return write


def _accepted_grows(v: Curves) -> Iterator[Term]:
    for n in v.flows:
        for t in v.times[1:]:
            yield v.accepted(t, n) >= v.accepted(t - 1, n)


def _waste(v: Curves) -> Iterator[Term]:
    for t in v.times[1:]:
        yield v.waste[t] >= v.waste[t - 1]


def _waste_at_most(v: Curves) -> Iterator[Term]:
    for t in v.times[1:]:
        yield v.waste[t] <= v.waste[t - 1] + 1


def _served_was_accepted(v: Curves) -> Iterator[Term]:
    for n in v.flows:
        for t in v.times:
            yield v.passed[n][t] <= v.accepted(t, n)


def _at_most(v: Curves) -> Iterator[Term]:
    for t in v.times:
        yield v.all_passed(t) <= v.capacity(t)


def _at_least(v: Curves) -> Iterator[Term]:
    jitter = v.path.jitter
    for t in v.times:
        if t >= jitter:
            yield v.all_passed(t) >= v.capacity(t - jitter)
        else:
            # Before step 0 capacity grew by at most C a step.
            yield v.all_passed(t) >= v.first_capacity - (jitter - t)


def _lost_when_idle(v: Curves) -> Iterator[Term]:
    if v.path.server == "composed":
        for t in v.times[1:]:
            yield implies(v.waste[t] > v.waste[t - 1], v.accepted(t) <= v.capacity(t))


def _lost_when_empty(v: Curves) -> Iterator[Term]:
    if v.path.server == "plain":
        for t in v.times[1:]:
            yield implies(v.waste[t] > v.waste[t - 1], v.accepted(t) <= v.all_passed(t))


def _link(v: Curves) -> Iterator[Term]:
    if v.path.server == "link":
        yield v.capacity(0) <= v.accepted(0)
        for t in v.times[1:]:
            yield equal(v.capacity(t), smaller(v.capacity(t - 1) + 1, v.accepted(t)))


def _drop_above_buffer(v: Curves) -> Iterator[Term]:
    if v.path.buffer is not None:
        for t in v.times[1:]:
            yield implies(
                v.all_lost(t) > v.all_lost(t - 1),
                v.accepted(t) >= v.capacity(t - 1) + v.path.buffer,
            )


def _buffer_bounds(v: Curves) -> Iterator[Term]:
    if v.path.buffer is not None:
        for t in v.times:
            yield v.accepted(t) <= v.capacity(t) + v.path.buffer


def _no_drop(v: Curves) -> Iterator[Term]:
    if v.path.buffer is None:
        for n in v.flows:
            for t in v.times:
                yield equal(v.lost[n][t], v.noticed[n][0])


DUPLICATES = 3
"""Segments delivered after a lost one that make its loss known (RFC 5681)."""


def _past(v: Curves) -> Iterator[tuple[int, int, int, Term]]:
    """Flow, step, an earlier step, and whether drops before that are known at the step."""
    for n in v.flows:
        for t in v.times[1:]:
            for s in range(t):
                known = v.accepted(s, n) + v.segment * DUPLICATES <= v.served[n][t - 1]
                yield n, t, s, known


def _noticed_by_duplicates(v: Curves) -> Iterator[Term]:
    for n, t, s, known in _past(v):
        yield implies(all_of(negated(v.timeout[n][t]), known), v.noticed[n][t] >= v.lost[n][s])


def _not_noticed_before(v: Curves) -> Iterator[Term]:
    for n, t, s, known in _past(v):
        yield implies(
            all_of(negated(v.timeout[n][t]), negated(known)),
            v.noticed[n][t] <= larger(v.noticed[n][t - 1], v.lost[n][s]),
        )


def _silent(v: Curves, n: int, t: int) -> Term:
    """Say that all that is in flight at t was dropped, and some of it is not known to be."""
    return all_of(equal(v.served[n][t], v.accepted(t, n)), v.unnoticed(t, n) > 0)


def _timeout_in_silence(v: Curves) -> Iterator[Term]:
    for n in v.flows:
        yield negated(v.timeout[n][0])
        for t in v.times[1:]:
            yield implies(v.timeout[n][t], _silent(v, n, t - 1))


def _timeout_after_waiting(v: Curves) -> Iterator[Term]:
    for n in v.flows:
        for t in v.times[2:]:
            yield implies(v.timeout[n][t], equal(v.served[n][t - 1], v.served[n][t - 2]))


def _timeout_ends_silence(v: Curves) -> Iterator[Term]:
    for n in v.flows:
        for t in v.times[2:]:
            idle = all_of(
                equal(v.served[n][t - 1], v.served[n][t - 2]),
                equal(v.sent[n][t - 1], v.sent[n][t - 2]),
            )
            yield implies(all_of(_silent(v, n, t - 1), idle), v.timeout[n][t])


def _timeout_notices(v: Curves) -> Iterator[Term]:
    for n in v.flows:
        for t in v.times[1:]:
            yield implies(v.timeout[n][t], equal(v.noticed[n][t], v.lost[n][t - 1]))


def _sends(v: Curves) -> Iterator[Term]:
    for n in v.flows:
        for t in v.times[1:]:
            before = v.sent[n][t - 1]
            allowed = v.served[n][t - 1] + v.noticed[n][t] + v.window[n][t]
            most = smaller(allowed, before + v.rate[n][t]) if v.path.paced else allowed
            yield equal(v.sent[n][t], larger(most, before))


def _first_in_first_out(v: Curves) -> Iterator[Term]:
    if v.path.flows == 1:
        return
    for t in v.times:
        for s in range(t + 1):
            out = v.all_passed(t) >= v.accepted(s)
            for n in v.flows:
                came = v.accepted(s, n)
                yield implies(out, v.passed[n][t] >= came)
                yield implies(negated(out), v.passed[n][t] <= came)


def _passed_grows(v: Curves) -> Iterator[Term]:
    if v.path.access_jitter:
        for t in v.times[1:]:
            yield v.passed[-1][t] >= v.passed[-1][t - 1]


def _delivered_has_passed(v: Curves) -> Iterator[Term]:
    if v.path.access_jitter:
        for t in v.times:
            yield v.served[-1][t] <= v.passed[-1][t]


def _passed_is_delivered(v: Curves) -> Iterator[Term]:
    jitter = v.path.access_jitter
    if jitter:
        for t in v.times:
            if t >= jitter:
                yield v.served[-1][t] >= v.passed[-1][t - jitter]
            else:
                # Before step 0 it passed at most at rate C.
                yield v.served[-1][t] >= v.passed[-1][0] - (jitter - t)


def _whole_segments(v: Curves) -> Iterator[Term]:
    if v.path.quantum:
        for n in v.flows:
            for t in v.times[1:]:
                served = v.served[n]
                yield implies(served[t] > served[t - 1], served[t] >= served[t - 1] + v.segment)


CONSTRAINTS: tuple[Constraint, ...] = (
    Constraint("start", "Counting begins with the data delivered at step 0; windows are"
               " positive, and no more losses are known than there are.", _start),
    Constraint("served-grows", "What was delivered stays delivered.", _grows("served")),
    Constraint("lost-grows", "What was dropped stays dropped.", _grows("lost")),
    Constraint("noticed-grows", "A loss that is known stays known.", _grows("noticed")),
    Constraint("accepted-grows", "Only data that arrive are dropped, none that were accepted.",
               _accepted_grows),
    Constraint("waste-grows", "Capacity that was lost does not come back.", _waste),
    Constraint("waste-at-most", "Capacity is lost no faster than it comes.", _waste_at_most),
    Constraint("served-was-accepted", "Nothing is delivered that was not sent, or was dropped.",
               _served_was_accepted),
    Constraint("served-at-most", "No more is delivered than the rate allows.", _at_most),
    Constraint("served-at-least", "What the rate allowed a jitter ago is delivered.", _at_least),
    Constraint("lost-when-idle", "Capacity is lost only in a step at whose end all that was"
               " accepted could have been delivered.", _lost_when_idle),
    Constraint("lost-when-empty", "Capacity is lost only in a step at whose end nothing waits.",
               _lost_when_empty),
    Constraint("link", "Capacity is what a link of constant rate delivers that is never idle while"
               " data wait.", _link),
    Constraint("drop-above-buffer", "Data are dropped only if what waits for capacity fills the"
               " buffer.", _drop_above_buffer),
    Constraint("buffer-bounds", "No more waits for capacity than the buffer holds.",
               _buffer_bounds),
    Constraint("no-drop", "Nothing is dropped where the buffer has no bound.", _no_drop),
    Constraint("noticed-by-duplicates", "A loss is known a round trip after three segments beyond"
               " it were delivered.", _noticed_by_duplicates),
    Constraint("not-noticed-before", "A loss is not known before that, unless there is a timeout.",
               _not_noticed_before),
    Constraint("timeout-in-silence", "There is a timeout only where losses are not known and"
               " nothing else is in flight.", _timeout_in_silence),
    Constraint("timeout-after-waiting", "There is none in a step in which anything is"
               " acknowledged: a timer is no shorter than a round trip.", _timeout_after_waiting),
    Constraint("timeout-ends-silence", "There is one where that lasts for a step without sending.",
               _timeout_ends_silence),
    Constraint("timeout-notices", "A timeout makes all losses known.", _timeout_notices),
    Constraint("sends", "A sender sends what window and pacing allow, no more and no less.",
               _sends),
    Constraint("first-in-first-out", "Data of two flows pass the shared path in the order in which"
               " they were accepted.", _first_in_first_out),
    Constraint("passed-grows", "What of the last flow has passed the shared path stays so.",
               _passed_grows),
    Constraint("delivered-has-passed", "Of the last flow only what has passed the shared path is"
               " delivered.",
               _delivered_has_passed),
    Constraint("passed-is-delivered", "What of the last flow passed the shared path an access"
               " jitter ago is delivered.", _passed_is_delivered),
    Constraint("whole-segments", "A step that delivers anything delivers a segment.",
               _whole_segments),
)  # fmt: skip
"""What a path never does."""


def path_terms(curves: Curves) -> list[Term]:
    """Write the constraints of a path.

    Parameters
    ----------
    curves
        Its variables.
    """
    return [
        term
        for one in CONSTRAINTS
        if one.name not in curves.path.without
        for term in one.write(curves)
    ]
