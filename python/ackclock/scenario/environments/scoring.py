"""What a run in an environment is worth: goodput, fairness, loss and delay of its test flows.

Source: Akella et al. (2002), sections 3.3 and 4.

Rule (g the goodputs of the test flows, counted with headers)::

    goodput   sum(g) / available bandwidth
    fairness  (max(g) - min(g)) / mean(g);  0 is equal
    loss      data packets lost / data packets sent, over the whole run [%]
    delay     mean round trip less propagation, over the flows' samples [ms]

Available is what cross traffic leaves: capacity less what cross traffic was carried. With this the
goodput is in [0, 1], as the paper says. By the paper's words it is capacity less what the source
sends; since the source loses packets too, aggressive controls then get more than 1. That ratio is
here as ``goodput_offered``. Many sources under fair queueing take what test flows leave unused,
so there the share that fair queueing grants is the available bandwidth, as under a link's own rate.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from ackclock._util.arrow import Tables
from ackclock._util.units import parse
from ackclock.scenario.environments.expansion import (
    CBR,
    meant_available,
    ring_bandwidths,
    round_trips,
)
from ackclock.scenario.environments.form import Settings, settings
from ackclock.scenario.environments.transfers import CROSS, HOLD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.case import Outcome

__all__ = ["SCORES", "annotate", "scores"]

Data = dict[str, Any]

SCORES: dict[str, tuple[str, str]] = {
    "goodput": ("fraction of the available bandwidth", "high"),
    "fairness": ("(max - min) / mean of goodputs", "low"),
    "loss_percent": ("data packets lost [%]", "low"),
    "delay_ms": ("queueing delay [ms]", "low"),
}
"""The paper's four metrics: what each is, and which end of it is good."""


def annotate(run: Outcome, data: Data) -> None:
    """Add ``environment`` to a run's summary and tables; leave out the flows of cross traffic.

    Parameters
    ----------
    run
        A finished run in an environment.
    data
        Its scenario, before environments are spelled out.
    """
    import numpy as np

    options = settings(data["net"])
    flows = run.summary["flows"]
    test = [flow for flow in flows if not _is_cross(str(flow["id"]))]
    measured = _measure(data, options, test, flows)
    run.summary["environment"] = measured
    run.summary["flows"] = test
    test_ids = {str(flow["id"]) for flow in test}
    assert isinstance(run.tables, Tables)
    run.tables.keep("flows", [str(flow["id"]) in test_ids for flow in flows])
    numbers = {key: value for key, value in measured.items() if not isinstance(value, str)}
    columns = {**numbers, **scores(run.summary)}
    row: Data = {key: np.array([_number(value)]) for key, value in columns.items()}
    run.tables.put("environment", {"name": [measured["name"]], "by": [measured["by"]], **row})


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _is_cross(name: str) -> bool:
    return any(name.startswith(part) and name != part + "s" for part in (CBR, CROSS, HOLD))


def _measure(data: Data, options: Settings, test: Sequence[Data], flows: Sequence[Data]) -> Data:
    begin = parse(data.get("warmup", 0), "duration")
    end = parse(data["duration"], "duration")
    wire = _wire(data)
    n = options.flows
    carried = {str(f["id"]): f["goodput_bps"] for f in flows if _is_cross(str(f["id"]))}
    offered: float | None = None
    if options.environment.has_transfers:
        cross = sum(rate for name, rate in carried.items() if name.startswith(CROSS))
        available = options.capacity_bps - cross * wire
    elif options.topology == "ring":
        available = (2 * options.capacity_bps - sum(carried.values())) / 2
        offered = sum(p.mean(begin, end) for p in ring_bandwidths(data, options))
        if options.by == "cbr-flows":
            available = offered
    elif options.by in ("link", "cbr-flows"):
        available = offered = n * meant_available(data, options).mean(begin, end)
    else:
        available = options.capacity_bps - sum(carried.values())
        offered = n * meant_available(data, options).mean(begin, end)
    rtts = round_trips(data, options)
    waits = [
        flow["srtt_mean_s"] - rtt
        for flow, rtt in zip(test, rtts, strict=False)
        if flow.get("srtt_mean_s") is not None
    ]
    got = [flow["goodput_bps"] * wire for flow in test]
    return {
        "name": options.environment.name,
        "by": options.by,
        "flows": n,
        "capacity_bps": options.capacity_bps,
        "available_bps": available,
        "offered_bps": offered,
        "got_bps": sum(got),
        "delay_s": sum(waits) / len(waits) if waits else None,
    }


def goodput(summary: Mapping[str, Any]) -> float:
    """Goodput of a run as a part of the available bandwidth; NaN where there is none.

    Parameters
    ----------
    summary
        Of a run in an environment; its flows may be left out.
    """
    measured = summary["environment"]
    available: float = measured["available_bps"]
    return float(measured["got_bps"] / available) if available > 0 else float("nan")


def scores(summary: Mapping[str, Any]) -> dict[str, float]:
    """Compute the paper's metrics of a run.

    Parameters
    ----------
    summary
        Of a run in an environment.

    Returns
    -------
    dict
        ``goodput``, ``fairness``, ``loss_percent``, ``delay_ms``, and besides
        ``goodput_offered``, ``jain``, ``timeouts`` (per flow). NaN for what is not known.
    """
    from ackclock.analysis import jain

    measured = summary["environment"]
    flows = summary["flows"]
    got = [flow["goodput_bps"] for flow in flows]
    mean = sum(got) / len(got)
    sent = sum(flow["sent_packets"] for flow in flows)
    nan = float("nan")
    delay = measured["delay_s"]
    offered = measured["offered_bps"]
    return {
        "goodput": goodput(summary),
        "fairness": (max(got) - min(got)) / mean if mean > 0 else nan,
        "loss_percent": 100 * sum(f["lost_data_packets"] for f in flows) / sent if sent else nan,
        "delay_ms": 1e3 * delay if delay is not None else nan,
        "goodput_offered": measured["got_bps"] / offered if offered else nan,
        "jain": jain(got),
        "timeouts": sum(flow["timeouts"] for flow in flows) / len(flows),
    }


def _wire(data: Data) -> float:
    """Bytes on the wire of a full segment per byte of its payload."""
    tcp = data.get("tcp", {})
    mss, header = _era_sizes(str(data.get("era", "rfc")))
    mss = int(tcp.get("mss", mss))
    return (mss + int(tcp.get("header", header))) / mss


@cache
def _era_sizes(era: str) -> tuple[int, int]:
    """Payload and header bytes of an era, as the core has them."""
    from ackclock import _core

    net = {"kind": "dumbbell", "pairs": 1, "rate": 1e6, "rtt": 0.1}
    requested = {"net": net, "flows": [{"pair": 0}], "duration": 1, "era": era}
    lines = json.loads(_core.explain(json.dumps(requested)))["defaults"]
    values = {line["path"]: line["value"] for line in lines}
    return int(values["tcp.mss"].split()[0]), int(values["tcp.header"].split()[0])
