"""The scenarios of the benchmarks, as ackclock reads them."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Scenario = dict[str, Any]

# Whose TCP ackclock runs when it is compared: "rfc" or, event for event that of ns-2.35, "ns2".
ERA = "rfc"

# As in benchmarks/peers/ns2/common.tcl: 1000 bytes on the wire, ACKs of 40 bytes, none delayed.
TCP = {
    "mss": 1000,
    "header": 0,
    "ack_size": 40,
    "initial_window": 2,
    "receiver_window": 10_000,
    "delayed_ack": 1,
    "min_rto": "200 ms",
}

# Marks packets that wait for longer, as DCTCP has it.
MARKING = {"kind": "codel", "ecn": True, "ce_threshold": "78 us"}


def far_delays(n: int) -> list[float]:
    """Delays of the right-hand access links in seconds: 1 + 499 (i + 0.5) / n ms."""
    return [0.001 + 0.499 * (i + 0.5) / n for i in range(n)]


def dumbbell(n: int, seconds: float, *, era: str = ERA) -> Scenario:
    """Return the dumbbell of benchmarks/peers: n flows through 155 Mb/s."""
    return {
        "name": f"dumbbell-{n}",
        "net": {
            "kind": "dumbbell",
            "pairs": n,
            "rate": "155 Mbps",
            "delay": "30 ms",
            "access_rate": "10 Mbps",
            "access_delay": "1 ms",
            "right_delays": far_delays(n),
            "buffer": "1000 pkt",
            "access_buffer": "1000 pkt",
        },
        "flows": [{"pair": 0, "count": n, "stagger": 1 / n, "cc": "aimd", "recovery": "sack"}],
        "tcp": TCP,
        "era": era,
        "duration": seconds,
    }


def green(n: int, seconds: float, qdisc: str | dict[str, Any] = "fifo") -> Scenario:
    """Return the network of "GREEN + IDMaps" as papers/green2002 has it, with any queue."""
    return {
        "name": f"green-{n}",
        "net": {
            "kind": "dumbbell",
            "pairs": n,
            "rate": "155 Mbps",
            "delay": "30 ms",
            "access_rate": "10 Mbps",
            "access_delay": "1 ms",
            "right_delays": [0.001 + 0.499 * i / (n - 1) for i in range(n)],
            "buffer": "500 pkt",
            "access_buffer": "500 pkt",
            "qdisc": qdisc,
            "back_qdisc": "fifo",
        },
        "flows": [
            {
                "pair": 0,
                "count": n,
                "stagger": 1 / n,
                "cc": {"kind": "aimd", "count": "acks"},
                "recovery": "sack",
                "tcp": {"mss": 1000, "delayed_ack": 2, "receiver_window": 10_000},
            }
        ],
        "era": "2002",
        "duration": seconds,
    }


def overloaded(n: int, packets: int, qdisc: str | dict[str, Any]) -> Scenario:
    """Return a link that n constant-rate sources overload by a quarter: all classes are busy.

    Sources have names of as many digits and send at different times. The buffer holds two packets
    of each, and is full after ten.
    """
    rate, size = 100_000_000, 1000
    each = 1.25 * rate / n
    spacing = size * 8 / (each * n)
    return {
        "name": f"overloaded-{n}",
        "net": {
            "kind": "graph",
            "links": [
                {
                    "a": "a",
                    "b": "b",
                    "rate": rate,
                    "delay": "1 ms",
                    "buffer": f"{2 * n} pkt",
                    "qdisc": qdisc,
                }
            ],
        },
        "flows": [
            {
                "id": f"{i:0{len(str(n - 1))}}",
                "src": "a",
                "dst": "b",
                # Neighbours in time are no neighbours by number.
                "start": spacing * (i * 7919 % n),
                "source": {"kind": "cbr", "rate": int(each), "packet": f"{size} B"},
            }
            for i in range(n)
        ],
        "era": "rfc",
        "duration": packets * spacing,
    }


def scaled(n: int, seconds: float) -> Scenario:
    """Return a dumbbell whose bottleneck grows: 310 kb/s and two packets of buffer a flow."""
    scenario = dumbbell(n, seconds, era="rfc")
    scenario["name"] = f"scaled-{n}"
    scenario["net"] |= {"rate": 310_000 * n, "buffer": f"{2 * n} pkt"}
    return scenario


def shared(n: int, seconds: float) -> Scenario:
    """Return `scaled` with 1000 pairs of hosts for all flows: n is a multiple of 1000."""
    each = n // 1000
    scenario = scaled(1000, seconds)
    scenario["name"] = f"shared-{n}"
    scenario["net"] |= {
        "rate": 310_000 * n,
        "buffer": f"{2 * n} pkt",
        "access_rate": 10_000_000 * each,
    }
    first = scenario["flows"][0]
    scenario["flows"] = [first | {"start": i / n} for i in range(each)]
    return scenario


def wan(n: int, seconds: float) -> Scenario:
    """Return GEANT of 2009, the map of examples/geant.toml, with n flows between random places."""
    return {
        "name": f"geant-{n}",
        "routing": "delay",
        "net": {
            "kind": "topohub",
            "name": "topozoo/Geant2009",
            "rate": "400 Mbps",
            "rule": "degree",
            "buffer": "2000 pkt",
        },
        "flows": [
            {
                "between": {"kind": "uniform-pairs"},
                "count": n,
                "start_jitter": "1 s",
                "cc": "cubic",
            }
        ],
        "duration": seconds,
    }


def table(path: Path) -> list[dict[str, str]]:
    """Read a CSV file whose first line may be a comment."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def hierarchy(folder: Path, seconds: float, *, era: str = ERA) -> Scenario:
    """Return the hierarchy that benchmarks/peers/make_hierarchy.py wrote into ``folder``."""
    links = [
        {
            "a": f"n{row['src']}",
            "b": f"n{row['dst']}",
            "rate": int(row["bw_bps"]),
            "delay": float(row["delay_s"]),
            "buffer": f"{row['queue']} pkt",
        }
        # A cable is two rows, one for each direction.
        for row in table(folder / "links.csv")[::2]
    ]
    flows = []
    for row, path in zip(table(folder / "flows.csv"), table(folder / "paths.csv"), strict=True):
        route = [f"n{node}" for node in path["path"].split("-")]
        flows.append(
            {
                "src": route[0],
                "dst": route[-1],
                "route": route,
                "ack_route": route[::-1],
                "start": float(row["start_s"]),
                "cc": "aimd",
                "recovery": "sack",
            }
        )
    return {
        "name": "hierarchy",
        "net": {"kind": "graph", "links": links},
        "flows": flows,
        "tcp": TCP,
        "era": era,
        "duration": seconds,
    }


def fat_tree(k: int, seconds: float, qdisc: str | dict[str, Any], cc: str) -> Scenario:
    """Return a fat tree of 10 Gbit/s whose hosts send each to one in another pod.

    The network is that of examples/fat-tree.toml.
    """
    hosts = k**3 // 4
    ecn = cc == "dctcp"
    return {
        "name": f"fat-tree-{hosts}",
        "net": {
            "kind": "fat-tree",
            "k": k,
            "rate": "10 Gbps",
            "delay": "1 us",
            "buffer": "500 pkt",
            "qdisc": qdisc,
        },
        "links": [{"link": "h*->*", "buffer": "500 pkt", "qdisc": qdisc}],
        "tcp": {"ecn": ecn, "accecn": ecn, "min_rto": "5 ms", "delayed_ack_timeout": "1 ms"},
        "flows": [{"pair": 0, "count": hosts, "stagger": "10 us", "cc": cc}],
        "duration": seconds,
    }


def fixed(folder: Path) -> dict[str, Scenario]:
    """Return the scenarios whose instructions are counted."""
    base = dumbbell(50, 10, era="rfc")

    def varied(n: int, net: Scenario, tcp: Scenario, cc: str, recovery: str = "sack") -> Scenario:
        flows = [{"pair": 0, "count": n, "stagger": 1 / n, "cc": cc, "recovery": recovery}]
        shape = {"pairs": n, "right_delays": far_delays(n), "rate": "45 Mbps"} | net
        return base | {"net": base["net"] | shape, "tcp": TCP | tcp, "flows": flows}

    red = {"kind": "red", "min_th": 30, "max_th": 90, "max_p": 0.1, "w_q": 0.002, "ecn": True}
    return {
        "fifo-sack": base,
        "red-ecn": varied(20, {"qdisc": red, "buffer": "300 pkt"}, {"ecn": True}, "aimd"),
        "fq-lqd": varied(20, {"qdisc": "fq", "buffer": "200 pkt"}, {}, "aimd"),
        "fq-codel-cubic": varied(20, {"qdisc": "fq-codel", "buffer": "1000 pkt"}, {}, "cubic"),
        "cubic": varied(20, {"buffer": "300 pkt"}, {}, "cubic"),
        "bbr": varied(20, {"buffer": "300 pkt"}, {}, "bbr3", "rack"),
        "hierarchy": hierarchy(folder, 1.5, era="rfc"),
        "fat-tree-dctcp": fat_tree(8, 0.004, MARKING, "dctcp"),
        "fat-tree-cubic": fat_tree(8, 0.004, "fifo", "cubic"),
    }
