"""Cycles: paths that may be repeated for ever, because they end as they begin.

A violation in a finite number of round trips may be an accident of its first state. One in a cycle
is there for ever: after `period` steps windows, queues, unknown losses and the inner state of the
control are what they were, over as many steps as rules look back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.prove.terms import equal, implies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.prove.controls.relation import Relation
    from ackclock.prove.path import Curves, ModelPath
    from ackclock.prove.terms import Term

__all__ = ["cycle_terms", "steps_of"]


def steps_of(relation: Relation, period: int, path: ModelPath) -> int:
    """Count the steps of a path with a cycle of this period.

    Parameters
    ----------
    relation
        The control.
    period
        Steps after which it repeats.
    path
        Whose jitters data may be held for.
    """
    return period + relation.memory + path.jitter + path.access_jitter - 1


def cycle_terms(v: Curves, relation: Relation, period: int) -> Iterator[Term]:
    """Say that the last steps of a path are its first ones again.

    Parameters
    ----------
    v
        The path.
    relation
        The control.
    period
        Steps after which it repeats.
    """
    overlap = v.path.steps - period
    for n in v.flows:
        for k in range(overlap + 1):
            yield equal(v.window[n][period + k], v.window[n][k])
            if v.path.paced:
                yield equal(v.rate[n][period + k], v.rate[n][k])
            for curve in (v.sent, v.served, v.passed, v.lost, v.noticed):
                moved = curve[n][period + k] - curve[n][period]
                yield equal(moved, curve[n][k] - curve[n][0])
        yield equal(v.unnoticed(period, n), v.unnoticed(0, n))
        behind = v.accepted(period, n) - v.served[n][period]
        yield equal(behind, v.accepted(0, n) - v.served[n][0])
        if v.passed[n] is not v.served[n]:
            on_the_way = v.passed[n][period] - v.served[n][period]
            yield equal(on_the_way, v.passed[n][0] - v.served[n][0])
        # What was dropped before becomes known, where anything is delivered at all.
        delivers = v.served[n][period] > v.served[n][0]
        yield implies(delivers, v.noticed[n][period] >= v.lost[n][0])
        ends, begins = relation.state(v, n, v.path.steps), relation.state(v, n, overlap)
        for end, begin in zip(ends, begins, strict=True):
            yield equal(end, begin)
    for k in range(overlap + 1):
        unused = v.capacity(period + k) - v.all_passed(period + k)
        yield equal(unused, v.capacity(k) - v.all_passed(k))
