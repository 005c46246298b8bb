"""One LEDBAT flow adds its target to the delay of a link.

RFC 6817, sections 2.4.2 and 3.3: the window settles where the queueing delay is `target`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock._util.units import parse
from ackclock.studies.twin.law import Law, Prediction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.measurements import TheoryMeasurements

__all__ = ["LAW"]


def _predict(seen: TheoryMeasurements) -> Iterator[Prediction]:
    for flow in seen.flows:
        link = seen.alone(flow)
        if flow.cc != "ledbat" or not flow.is_endless or not flow.parameters or link is None:
            continue
        if link.row["drops"]:
            continue
        target = parse(flow.parameters["target"], "duration")
        yield Prediction(link.name, target, target, link.row["delay_mean_s"])


LAW = Law(
    "ledbat",
    "A LEDBAT flow alone adds its target to the delay.",
    "RFC 6817, section 2.4.2",
    "delay_mean_s",
    0.15,
    _predict,
)
