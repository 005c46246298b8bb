"""The laws: one file and one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.studies.twin.laws import (
    bbr,
    cubic,
    dctcp,
    fair_queue,
    fast,
    ledbat,
    little,
    pftk,
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
    fair_queue.LAW,
    vegas.LAW,
    fast.LAW,
    ledbat.LAW,
    dctcp.LAW,
    bbr.LAW,
)
