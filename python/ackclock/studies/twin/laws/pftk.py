"""PFTK: throughput of Reno with timeouts.

J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP throughput", SIGCOMM 1998, equation (32);
see `ackclock.engines.model.pftk`. Its own validation finds mean errors up to a third.

It gives the rate at which packets are sent; the goodput is the part of them that is delivered. The
share of timeouts among loss events is an estimate in it, min(1, 3 sqrt(3 b p / 8)), for losses that
go on to the end of a round; where the run's own share in its place brings them together, that is
the reason. It also assumes that no acknowledgement is lost.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ackclock._util.number_text import percent
from ackclock.engines.model.pftk import rate_bps
from ackclock.studies.twin.law import Law, Prediction
from ackclock.studies.twin.shared.aimd_window import acks_per_increase
from ackclock.studies.twin.shared.loss_events import event_ratio
from ackclock.studies.twin.shared.timer import first_timeout_s

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.measurements import SeenFlow, TheoryMeasurements

__all__ = ["LAW"]


def _predict(measurements: TheoryMeasurements) -> Iterator[Prediction]:
    for flow in measurements.flows:
        ratio = event_ratio(flow)
        parameters = flow.parameters or {}
        is_reno = flow.cc == "aimd" and (parameters.get("a"), parameters.get("b")) == (1, 0.5)
        if not ratio or not is_reno or not flow.row["timeouts"]:
            continue
        rtt = flow.row["srtt_mean_s"]
        timer = first_timeout_s(measurements, flow)
        per_ack = acks_per_increase(measurements, flow)
        delivered = flow.row["delivered_packets"] / flow.row["sent_packets"]
        mss = measurements.mss_bytes(flow)
        rate = delivered * float(rate_bps(ratio, rtt, mss, per_ack, timer, float("inf")))
        share = flow.row["timeouts"] / (ratio * flow.row["sent_packets"])
        waits = timer * share * ratio * (1 + 32 * ratio**2)
        approximate_bps = 8 * delivered * mss / (rtt * math.sqrt(2 * per_ack * ratio / 3) + waits)
        limit = _limit(flow, ratio * per_ack, share, approximate_bps)
        yield Prediction(flow.name, rate, rate, flow.row["goodput_bps"], limit)


def _limit(flow: SeenFlow, scaled: float, share: float, own_bps: float) -> str:
    """What the form does not know: how losses are repaired, lost ACKs, clustered timeouts.

    `own_bps` is the goodput by the form with the run's own share of timeouts.
    """
    row = flow.row
    if row["recovery"] != "reno":
        return f"{row['recovery']} repairs losses that cost Reno a timeout"
    lost = row["lost_ack_packets"] / max(row["delivered_packets"], 1)
    if lost >= _LOST_ACKS:
        return f"{percent(lost)} of its acknowledgements were lost"
    if abs(row["goodput_bps"] / own_bps - 1) <= LAW.accuracy:
        expected = min(1.0, 3 * math.sqrt(3 * scaled / 8))
        return f"{percent(share)} of its loss events were timeouts, not {percent(expected)}"
    if row["timeouts"] < _ENOUGH_TIMEOUTS:
        return f"{row['timeouts']} timeouts, whose mean length backoffs leave open"
    return ""


_LOST_ACKS = 0.01

_ENOUGH_TIMEOUTS = 36
"""Lengths of timeouts spread like their mean, as each backoff doubles one: of fewer three standard
errors of the mean are more than half of it, and they are most of the time of such flows."""


LAW = Law(
    "pftk",
    "Reno's rate with timeouts, from loss events, round trip and timer.",
    "Padhye et al., SIGCOMM 1998, equation (32)",
    "goodput_bps",
    0.35,
    _predict,
)
