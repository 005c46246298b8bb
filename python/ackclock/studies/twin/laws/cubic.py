"""CUBIC's response function, and Reno's where that is larger.

RFC 9438, section 5.1 and figure 5: with C = 0.4 and b = 0.7,

    mean window = (C (3 + b) / (4 (1 - b)))^(1/4) × RTT^(3/4) / p^(3/4) segments

In the Reno-friendly region, and never below it: sqrt(3 / (2 p)).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ackclock.studies.twin.law import Law
from ackclock.studies.twin.shared.loss_events import event_ratio, predict_goodput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.law import Prediction
    from ackclock.studies.twin.measurements import TheoryMeasurements

__all__ = ["LAW"]

_C = 0.4
_KEPT = 0.7


def _predict(measurements: TheoryMeasurements) -> Iterator[Prediction]:
    for flow in measurements.flows:
        ratio = event_ratio(flow)
        if not ratio or flow.cc != "cubic":
            continue
        rtt = flow.row["srtt_mean_s"]
        cubic = (_C * (3 + _KEPT) / (4 * (1 - _KEPT))) ** 0.25 * (rtt / ratio) ** 0.75
        yield predict_goodput(measurements, flow, max(cubic, math.sqrt(1.5 / ratio)))


LAW = Law(
    "cubic",
    "CUBIC's rate, from loss events and round trip.",
    "RFC 9438, section 5",
    "goodput_bps",
    0.35,
    _predict,
)
