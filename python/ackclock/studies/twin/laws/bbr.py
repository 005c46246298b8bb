"""A BBR flow alone fills its link, with at most a bandwidth-delay product waiting.

N. Cardwell et al., "BBR: congestion-based congestion control", ACM Queue 14(5), 2016: it cruises at
the rate that it measures, with a window of two bandwidth-delay products. A ProbeRTT of 200 ms and
two round trips every ten seconds, and the drain after each probe, leave the link idle for a few
per cent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.studies.twin.law import Law, Prediction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.measurements import TheoryMeasurements

__all__ = ["LAW"]


def _predict(seen: TheoryMeasurements) -> Iterator[Prediction]:
    for flow in seen.flows:
        link = seen.alone(flow)
        if flow.cc != "bbr" or not flow.is_endless or link is None:
            continue
        full = link.row["rate_bps"] * seen.mss_bytes(flow) / seen.packet_bytes(flow)
        lost = link.row["drops"] + link.row["drop_reasons"].get("wire", 0)
        limit = f"{lost} lost packets" if lost else ""
        yield Prediction(flow.name, 0.92 * full, full, flow.row["goodput_bps"], limit)


LAW = Law(
    "bbr",
    "A BBR flow alone fills its link but for its probes of the round trip.",
    "Cardwell et al., ACM Queue 14(5), 2016",
    "goodput_bps",
    0.02,
    _predict,
)
