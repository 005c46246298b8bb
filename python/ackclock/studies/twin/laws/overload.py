"""What a link loses of constant-rate sources that together exceed its rate.

Conservation: while the link never idles, all that arrives above its rate is dropped, whatever the
queue discipline.

    loss = 1 - C / (sum of the sources' rates)

Said where nothing was lost on the way to the link, all sources started within the warm-up and go
on, and packets have one size, so that packets are lost in the proportion of bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock._util.units import parse
from ackclock.studies.twin.law import Law, Prediction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.measurements import SeenFlow, SeenLink, TheoryMeasurements

__all__ = ["LAW"]

# Nearer to its rate a link's queue is not full all the time.
_LEAST_LOAD = 1.05


def _predict(measurements: TheoryMeasurements) -> Iterator[Prediction]:
    warmup = measurements.run.summary["duration_s"] - measurements.run.summary["window_s"]
    by_name = {link.name: link for link in measurements.links}
    for link in measurements.links:
        if not link.flows or link.acks or link.explained["varies"]:
            continue
        if not all(_is_constant(flow, warmup) for flow in link.flows):
            continue
        sources = [flow.source for flow in link.flows if flow.source]
        if len({str(source["packet"]) for source in sources}) > 1:
            continue
        if any(_lost_before(flow, link, by_name) for flow in link.flows):
            continue
        load = sum(parse(source["rate"], "rate") for source in sources) / link.row["rate_bps"]
        if load < _LEAST_LOAD:
            continue
        loss = 1 - 1 / load
        yield Prediction(link.name, loss, loss, link.row["loss_ratio"])


def _is_constant(flow: SeenFlow, warmup_s: float) -> bool:
    return flow.cc == "cbr" and flow.goes_on and flow.start_s < warmup_s


def _lost_before(flow: SeenFlow, link: SeenLink, by_name: dict[str, SeenLink]) -> bool:
    upstream = flow.links[: flow.links.index(link.name)]
    return any(by_name[name].row["window_drops"] for name in upstream)


LAW = Law(
    "overload",
    "A link drops what constant-rate sources send above its rate.",
    "Conservation of packets",
    "loss_ratio",
    0.03,
    _predict,
)
