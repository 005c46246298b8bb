"""Cycles on a path that holds what it delivers and releases it at once, as aggregating links do.

A sender whose window travels in one burst fills a buffer of a BDP with a window of a BDP: in the
jitter D + 1 round trips pass from one burst to the next, and one BDP in each could be delivered. So
this path is among the worst for a control that answers loss. The long cycles that growth after a
cut takes are many for a solver that may choose everything; here it chooses growth alone:

- a link, which is idle at every release and whose data are held for D steps;
- losses in one step of the cycle, known after the next release, and one cut; neither a timeout nor
  slow start.

Each is a path of the whole model, so what violates a claim here refutes it. That nothing does says
nothing of other paths.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ackclock.prove.controls.window import cut, ssthresh
from ackclock.prove.terms import equal, negated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.prove.path import Curves, ModelPath
    from ackclock.prove.terms import Term

__all__ = ["SEGMENT", "held_terms", "periods_of"]

BURSTS = (4, 6, 8, 12)
"""Bursts in a cycle, of the cycles that are searched."""

SEGMENT = Fraction(1, 20)
"""Size of a segment, where it may be chosen [BDP]: a smaller one makes longer cycles."""


def periods_of(path: ModelPath) -> tuple[int, ...]:
    """List the periods of cycles that are searched [base round trips].

    Parameters
    ----------
    path
        Whose jitter holds what it delivers. There are none without jitter, or where a burst of a
        buffer takes longer than it is held.
    """
    if path.buffer is None or path.jitter == 0 or path.buffer > path.jitter:
        return ()
    return tuple((path.jitter + 1) * bursts for bursts in BURSTS)


def held_terms(v: Curves, period: int) -> Iterator[Term]:
    """Say that the only flow of a link sends in bursts, and loses in one of a cycle.

    Parameters
    ----------
    v
        The path.
    period
        Steps after which it repeats, a multiple of the steps from burst to burst.
    """
    between = v.path.jitter + 1
    lossy = between + 1
    known = (lossy + between) % period
    for t in v.times[1:]:
        step = t % period
        yield negated(v.timeout[0][t])
        yield ssthresh(0, t) <= v.window[0][t]
        if step != known:
            yield negated(cut(0, t))
        if step not in {known, (known + 1) % period}:
            yield equal(v.noticed[0][t], v.noticed[0][t - 1])
        if step != lossy:
            yield equal(v.lost[0][t], v.lost[0][t - 1])
        if t % between == 0:
            yield equal(v.served[0][t], v.accepted(t))
        else:
            yield equal(v.served[0][t], v.served[0][t - 1])
            if between == 2 and step != lossy:
                yield equal(v.capacity(t), v.accepted(t))
