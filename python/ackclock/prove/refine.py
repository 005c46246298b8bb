"""Whether a control in packets obeys its relation: curves of a run, put into the relation.

A run is sampled once in a base round trip, at the sender, over as many steps as a proof has. Its
numbers are put into path and relation with a slack of some segments, and a solver says whether the
rest, what a run does not show, can be chosen. If it cannot, the rules are left out one at a time:
those without which it can are the ones that packets do not obey. A control whose packets leave its
relation is not provable by it.

Sampling costs a step: within a step a link may be idle and then get a burst, which looks like
capacity that was lost with data waiting. A path whose jitter is a step more allows that, since a
delay and a token bucket of a step are among its paths.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ackclock.prove.path import CONSTRAINTS, Curves, ModelPath, path_terms
from ackclock.prove.solvers import SolverLimits, decide

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ackclock.prove.controls.relation import Relation
    from ackclock.prove.terms import Term
    from ackclock.results.run import Run

__all__ = ["TABLES", "Samples", "left_rules", "obeys", "sample", "times_of"]

TABLES = ("windows", "packets", "drops")
"""Tables of a run that samples are taken from."""

_SYN = 2
"""Flag of the handshake's packets."""

SLACK = 3
"""Segments by which a sample may differ from a curve: packets are whole, and take time."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Curves of a flow in packets, a number for each step [segments].

    Attributes
    ----------
    sent, served, lost, noticed, window
        As of the path model; ``served`` at a step is what is acknowledged a step later.
    packets
        Segments to a BDP.
    jitter
        Of the run [base round trips].
    buffer
        Of the run [BDP]; None: nothing was dropped.
    """

    sent: tuple[float, ...]
    served: tuple[float, ...]
    lost: tuple[float, ...]
    noticed: tuple[float, ...]
    window: tuple[float, ...]
    packets: float
    jitter: int
    buffer: Fraction | None


def sample(
    run: Run, begin_s: float, steps: int, *, jitter: int, buffer: Fraction | None
) -> Samples:
    """Sample the only flow of a run on a dumbbell.

    Parameters
    ----------
    run
        With `TABLES`, without delayed acknowledgements.
    begin_s
        Time of step 0 [s].
    steps
        Last step.
    jitter
        Of the path [base round trips].
    buffer
        Of the path [BDP].
    """
    import numpy as np

    flow = run.summary["flows"][0]
    round_trip = float(flow["rtt_min_s"])
    sent_s = times_of(run.packets, "s0->r0", "arrival", is_ack=False)
    known_s = times_of(run.packets, "r0->s0", "departure", is_ack=True)
    drops_s = np.asarray([row["time_s"] for row in run.drops.to_pylist() if not row["is_ack"]])
    windows = run.windows
    times = np.asarray(windows["time_s"])
    at = begin_s + round_trip * np.arange(steps + 2)
    last = np.maximum(np.searchsorted(times, at, side="right") - 1, 0)
    cwnd = np.asarray(windows["cwnd_segments"])[last]
    in_flight = np.asarray(windows["in_flight_segments"])[last]
    sent = np.searchsorted(sent_s, at, side="right")
    known = np.searchsorted(known_s, at, side="right")
    noticed = np.maximum(sent - known - in_flight, 0) if len(drops_s) else 0 * sent
    rate = next(link["rate_bps"] for link in run.summary["links"] if link["id"] == "r0->r1")
    # What is on the way to the queue is not there yet.
    lost = np.searchsorted(drops_s, at + float(round_trip) / 100, side="right")
    keep = slice(0, steps + 1)
    return Samples(
        sent=tuple(map(float, sent[keep])),
        served=tuple(map(float, known[1 : steps + 2])),
        lost=tuple(map(float, lost[keep])),
        noticed=tuple(map(float, np.minimum(noticed, lost)[keep])),
        window=tuple(map(float, cwnd[keep])),
        packets=rate * round_trip / 8 / 1500,
        jitter=jitter,
        buffer=buffer,
    )


def times_of(packets: Any, link: str, event: str, *, is_ack: bool) -> Any:
    """Read when data, or acknowledgements, passed a link; without those of the handshake [s].

    Parameters
    ----------
    packets
        The table.
    link, event
        Where, as in the table.
    is_ack
        Whether of acknowledgements.
    """
    import pyarrow.compute as pc

    from ackclock._util.arrow import numbers as read_numbers

    chosen = pc.and_(pc.equal(packets["link"], link), pc.equal(packets["event"], event))
    chosen = pc.and_(chosen, pc.equal(packets["is_ack"], is_ack))
    chosen = pc.and_(chosen, pc.equal(pc.bit_wise_and(packets["flags"], _SYN), 0))
    return read_numbers(packets["time_s"].filter(chosen))


def _formulas(
    samples: Samples,
    relation: Relation,
    values: Mapping[str, Fraction],
    without: frozenset[str],
    slack: float,
) -> list[Term]:
    segment = Fraction(1 / samples.packets).limit_denominator(10**6)
    path = ModelPath(
        steps=len(samples.sent) - 1,
        jitter=samples.jitter + 1,
        buffer=samples.buffer,
        segment=(segment, segment),
        paced=relation.paced,
        without=without,
    )
    v = Curves(path)
    return [
        *path_terms(v),
        *relation.write(v, values, without),
        *_pinned(v, samples, segment, Fraction(slack)),
    ]


def _pinned(v: Curves, samples: Samples, segment: Fraction, slack: Fraction) -> Iterator[Term]:
    first = samples.served[0]
    for t in v.times:
        for curve, numbers, shift in (
            (v.sent, samples.sent, first),
            (v.served, samples.served, first),
            (v.lost, samples.lost, 0.0),
            (v.noticed, samples.noticed, 0.0),
            (v.window, samples.window, 0.0),
        ):
            value = Fraction(numbers[t] - shift) * segment
            yield curve[0][t] >= value - slack * segment
            yield curve[0][t] <= value + slack * segment


def obeys(
    samples: Samples,
    relation: Relation,
    values: Mapping[str, Fraction],
    *,
    without: frozenset[str] = frozenset(),
    limits: SolverLimits | None = None,
    slack: float = SLACK,
) -> bool:
    """Say whether a run can be a path of the model with the control of the relation.

    Parameters
    ----------
    samples
        Of the run.
    relation
        Of its control.
    values
        Of the parameters.
    without
        Constraints and rules that are left out.
    limits
        Of the solver; one is enough, as what it says possible is computed again.
    slack
        Segments by which a sample may differ from a curve.
    """
    bounds = limits or SolverLimits(solvers=("z3",))
    answer = decide(_formulas(samples, relation, values, without, slack), bounds)
    return answer.word == "possible"


def left_rules(
    samples: Samples, relation: Relation, values: Mapping[str, Fraction]
) -> tuple[str, ...]:
    """Name the rules that a run does not obey; empty if it obeys all.

    Parameters
    ----------
    samples
        Of the run.
    relation
        Of its control.
    values
        Of the parameters.

    Returns
    -------
    tuple
        Each rule or constraint without which the run is a path; or ``("several",)``.
    """
    if obeys(samples, relation, values):
        return ()
    names = [rule.name for rule in relation.rules] + [one.name for one in CONSTRAINTS]
    single = tuple(
        name for name in names if obeys(samples, relation, values, without=frozenset({name}))
    )
    return single or ("several",)
