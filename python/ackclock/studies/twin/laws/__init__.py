"""The laws: one file and one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.studies.twin.laws import (
    bbr,
    cubic,
    dctcp,
    fair_delay,
    fair_queue,
    fast,
    green,
    ledbat,
    linear,
    little,
    md1,
    overload,
    pftk,
    red,
    sawtooth,
    square_root,
    vegas,
)

if TYPE_CHECKING:
    from ackclock.studies.twin.law import Law

__all__ = ["LAWS"]

LAWS: tuple[Law, ...] = (
    little.LAW,
    square_root.LAW,
    pftk.LAW,
    cubic.LAW,
    sawtooth.LAW,
    linear.LAW,
    fair_queue.LAW,
    vegas.LAW,
    fast.LAW,
    ledbat.LAW,
    dctcp.LAW,
    bbr.LAW,
    red.LAW,
    green.LAW,
    overload.LAW,
    md1.LAW,
    fair_delay.LAW,
)
