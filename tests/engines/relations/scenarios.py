"""Scenarios whose every quantity can be scaled, and what is compared of their runs."""

from __future__ import annotations

from typing import Any

import pytest

import ackclock as ac
from ackclock.catalogue.schema import catalogue

Counts = dict[str, tuple[int, ...]]

FLOW = (
    "delivered_packets",
    "sent_packets",
    "retransmits",
    "timeouts",
    "recoveries",
    "ecn_reductions",
    "lost_data_packets",
    "lost_ack_packets",
    "data_under_way",
    "acks_under_way",
)
LINK = ("arrived_packets", "departed_packets", "drops", "marks", "waiting_packets")
# One-way delays behind the bottleneck: no two flows have packets at the same time.
FAR_MS = (2.0, 7.5, 15.5)
NEEDS_COUNTS = ("dctcp", "prague")
# Those that `make test` tries; `make test-full` tries all.
SMALL = ("aimd", "cubic", "vegas", "dctcp", "bbr3", "fifo", "codel", "fq-codel", "drr", "red")
# Powers of a rate and of a size in the units of parameters.
POWERS = {
    "s": (-1, 0),
    "1/s": (1, 0),
    "segments/s^2": (2, 0),
    "segments/s^3": (3, 0),
    "bit/s": (1, 1),
    "Mbit/s": (1, 1),
    "B": (0, 1),
}


def names(room: str) -> list[str]:
    """List the algorithms of a room."""
    # What has no control but credit is refused without credit.
    return [name for name in catalogue()[room] if (room, name) != ("cc", "none")]


def each(room: str) -> list[Any]:
    """List the algorithms of a room as parameters of a test."""
    small = [name for name in names(room) if name in SMALL]
    rest = [pytest.param(name, marks=pytest.mark.slow) for name in names(room) if name not in SMALL]
    return small + rest


def scaled(room: str, name: str, rate: float, size: int) -> dict[str, Any]:
    """Write out an algorithm whose defaults are scaled by their units."""
    spec: dict[str, Any] = {"kind": name}
    for key, field in catalogue()[room][name]["params"].get("properties", {}).items():
        default, powers = field.get("default"), POWERS.get(field.get("x-unit", ""))
        if powers is None or isinstance(default, bool | str | None):
            continue
        value = default * rate ** powers[0] * size ** powers[1]
        if value == default:
            continue
        integer = "integer" in field["type"]
        spec[key] = (
            round(value) if integer else f"{value * 1e6!r} us" if powers == (-1, 0) else value
        )
    return spec


def build(
    control: str = "aimd",
    queue: str = "fifo",
    *,
    ecn: bool = False,
    rate: float = 1,
    size: int = 1,
    order: tuple[int, ...] = (0, 1, 2),
) -> dict[str, Any]:
    """Build three flows over 8 Mbit/s, with rates times `rate` and `size`, times by `rate`.

    Recovery is NewReno, whose ACKs have one size: blocks have eight bytes, whatever the scale.
    """

    def ms(time: float) -> str:
        return f"{time / rate * 1000!r} us"

    def link(a: str, b: str, mbps: float, delay: float, buffer: int, **more: Any) -> dict[str, Any]:
        speed = f"{mbps * rate * size} Mbps"
        ends = {"id": a + b, "a": a, "b": b}
        return ends | {"rate": speed, "delay": ms(delay), "buffer": f"{buffer} pkt", **more}

    links = [link("x", "y", 8, 8.0, 40, qdisc=scaled("qdisc", queue, rate, size))]
    for number, far in enumerate(FAR_MS):
        links += [link(f"s{number}", "x", 80, 1.0, 1000), link("y", f"d{number}", 80, far, 1000)]
    cc = scaled("cc", control, rate, size)
    flows = [
        {"id": f"f{n}", "src": f"s{n}", "dst": f"d{n}", "start": ms(130 * n), "cc": cc}
        for n in order
    ]
    tcp = {
        "mss": 1000 * size,
        "header": 40 * size,
        "ack_size": 40 * size,
        "initial_window": 4,
        "min_rto": ms(1000),
        "max_rto": ms(60_000),
        "initial_rto": ms(1000),
        "delayed_ack_timeout": ms(200),
        "ecn": ecn or control in NEEDS_COUNTS,
        "accecn": control in NEEDS_COUNTS,
    }
    net = {"kind": "graph", "links": links}
    return {
        "net": net,
        "flows": [flow | {"recovery": "newreno"} for flow in flows],
        "tcp": tcp,
        "duration": 10 / rate,
        "seed": 3,
    }


def run(data: dict[str, Any]) -> dict[str, Any]:
    """Run a scenario; its summary."""
    return ac.Scenario.from_data(data).run().summary


def count(summary: dict[str, Any]) -> Counts:
    """Count what every flow and every link did."""
    flows = {flow["id"]: tuple(flow[key] for key in FLOW) for flow in summary["flows"]}
    links = {link["id"]: tuple(link[key] for key in LINK) for link in summary["links"]}
    return flows | links


def differ(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    """Name the flows and links of the first run that did something else in the second."""
    one, other = count(run(first)), count(run(second))
    return [name for name in one if one[name] != other.get(name)]
