"""The square-root law for AIMD(a, b) with loss events of probability p.

M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The macroscopic behavior of the TCP congestion avoidance
algorithm", ACM SIGCOMM CCR 27(3), 1997; for any a and b: S. Floyd, M. Handley, J. Padhye, "A
comparison of equation-based and AIMD congestion control", 2000, section 2.

    mean window = sqrt(a (1 + b) / (2 (1 - b) p)) segments, goodput = mean window × MSS / RTT

b is the part that is kept. It assumes congestion avoidance with one increase per round trip, and
events evenly spaced; with drop-tail queues the round trip moves with the window, which it ignores.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ackclock.studies.twin.law import Law
from ackclock.studies.twin.shared.aimd_window import window_constant
from ackclock.studies.twin.shared.loss_events import event_ratio, predict_goodput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.law import Prediction
    from ackclock.studies.twin.measurements import TheoryMeasurements

__all__ = ["LAW"]


def _predict(seen: TheoryMeasurements) -> Iterator[Prediction]:
    for flow in seen.flows:
        ratio = event_ratio(flow)
        constant = window_constant(seen, flow)
        if not ratio or constant is None:
            continue
        yield predict_goodput(seen, flow, constant / math.sqrt(ratio))


LAW = Law(
    "square-root",
    "AIMD's rate falls with the root of the probability of a loss event.",
    "Mathis et al., CCR 27(3), 1997; Floyd, Handley, Padhye, 2000",
    "goodput_bps",
    0.25,
    _predict,
)
