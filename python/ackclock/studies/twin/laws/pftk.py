"""PFTK: throughput of Reno with timeouts.

J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP throughput", SIGCOMM 1998, equation (32);
see `ackclock.engines.model.pftk`. Its own validation finds mean errors up to a third.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.engines.model.pftk import rate_bps
from ackclock.studies.twin.law import Law, Prediction
from ackclock.studies.twin.laws.aimd_window import acks_per_increase
from ackclock.studies.twin.laws.loss_events import event_ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.seen import Seen

__all__ = ["LAW"]


def _predict(seen: Seen) -> Iterator[Prediction]:
    for flow in seen.flows:
        ratio = event_ratio(flow)
        given = flow.parameters or {}
        is_reno = flow.cc == "aimd" and (given.get("a"), given.get("b")) == (1, 0.5)
        if not ratio or not is_reno or not flow.row["timeouts"]:
            continue
        rtt = flow.row["srtt_mean_s"]
        timer = max(seen.number(flow, "min_rto", "duration"), 2 * rtt)
        per_ack = acks_per_increase(seen, flow)
        rate = float(rate_bps(ratio, rtt, seen.mss_bytes(flow), per_ack, timer, float("inf")))
        better = flow.row["recovery"] != "reno"
        limit = f"{flow.row['recovery']} repairs losses that cost Reno a timeout" if better else ""
        yield Prediction(flow.name, rate, rate, flow.row["goodput_bps"], limit)


LAW = Law(
    "pftk",
    "Reno's rate with timeouts, from loss events, round trip and timer.",
    "Padhye et al., SIGCOMM 1998, equation (32)",
    "goodput_bps",
    0.35,
    _predict,
)
