"""Write the 225-node hierarchy that every simulator of the speed benchmark runs.

Three levels, after Tiers: a WAN ring of 5 nodes with one chord, 20 MANs of two nodes, and 180 LAN
leaves. Flows join distinct random leaves. Three files go to the output folder:

    links.csv  src,dst,bw_bps,delay_s,queue   one row for each direction; queue in packets, DropTail
    flows.csv  flow,src,dst,start_s           bulk transfers
    paths.csv  flow,path                      node list of the data path; ACKs take it backwards

A first line that starts with # says the same inside each file. Paths are shortest by delay; delays
are whole microseconds, equal both ways, and the script refuses a seed that leaves a tie. Only
``Random.random`` is used, so a seed means the same files on every Python version.
"""

from __future__ import annotations

import argparse
import csv
import heapq
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SEED = 1
FLOWS = 1000

WANS = 5
WAN_CHORD = (0, 2)
MANS = 20
LANS = 180
QUEUE_PACKETS = 50

WAN_BPS, MAN_BPS, LAN_BPS = 155_000_000, 55_000_000, 10_000_000
# Delay ranges in microseconds.
WAN_DELAY = (10_000, 30_000)
MAN_WAN_DELAY = (1_000, 5_000)
MAN_DELAY = (500, 3_000)
LAN_DELAY = (100, 1_000)


class TieError(Exception):
    """Two shortest paths of equal delay join the same pair of nodes."""


@dataclass(frozen=True)
class Link:
    """One direction of a cable."""

    src: int
    dst: int
    bw_bps: int
    delay_us: int


@dataclass(frozen=True)
class Flow:
    """One bulk transfer."""

    src: int
    dst: int
    start_us: int


def below(rng: random.Random, bound: int) -> int:
    """Draw an integer in [0, bound)."""
    return int(rng.random() * bound)


def between(rng: random.Random, limits: tuple[int, int]) -> int:
    """Draw an integer in [low, high]."""
    low, high = limits
    return low + below(rng, high - low + 1)


def make_links(rng: random.Random) -> list[Link]:
    """Nodes 0..4 are the WAN, 5..44 the MANs in pairs (A, B), 45..224 the LAN leaves."""
    links: list[Link] = []

    def cable(a: int, b: int, bw_bps: int, delay: tuple[int, int]) -> None:
        delay_us = between(rng, delay)
        links.append(Link(a, b, bw_bps, delay_us))
        links.append(Link(b, a, bw_bps, delay_us))

    for wan in range(WANS):
        cable(wan, (wan + 1) % WANS, WAN_BPS, WAN_DELAY)
    cable(*WAN_CHORD, WAN_BPS, WAN_DELAY)
    for man in range(MANS):
        first = WANS + 2 * man
        cable(first, man % WANS, MAN_BPS, MAN_WAN_DELAY)
        cable(first, first + 1, MAN_BPS, MAN_DELAY)
    for lan in range(LANS):
        gateway = WANS + lan % (2 * MANS)
        cable(WANS + 2 * MANS + lan, gateway, LAN_BPS, LAN_DELAY)
    return links


def make_flows(rng: random.Random, count: int) -> list[Flow]:
    """Flows between two different leaves, each starting within the first second."""
    first_leaf = WANS + 2 * MANS
    flows = []
    for _ in range(count):
        src = below(rng, LANS)
        dst = (src + 1 + below(rng, LANS - 1)) % LANS
        flows.append(Flow(first_leaf + src, first_leaf + dst, below(rng, 1_000_000)))
    return flows


def shortest_paths(links: list[Link], source: int) -> dict[int, int]:
    """Predecessor of each node on its shortest path by delay from ``source``.

    Raises
    ------
    TieError
        If a node has two shortest paths.
    """
    neighbours: dict[int, list[tuple[int, int]]] = {}
    for link in links:
        neighbours.setdefault(link.src, []).append((link.dst, link.delay_us))
    delay = {source: 0}
    predecessor = {source: source}
    heap = [(0, source)]
    while heap:
        here, node = heapq.heappop(heap)
        if here > delay[node]:
            continue
        for neighbour, step in neighbours[node]:
            there = here + step
            if there == delay.get(neighbour):
                msg = f"two paths of {there} us from node {source} to node {neighbour}"
                raise TieError(msg)
            if there < delay.get(neighbour, there + 1):
                delay[neighbour] = there
                predecessor[neighbour] = node
                heapq.heappush(heap, (there, neighbour))
    return predecessor


def make_paths(links: list[Link], flows: list[Flow]) -> list[list[int]]:
    """Node list of every flow's data path."""
    trees: dict[int, dict[int, int]] = {}
    paths = []
    for flow in flows:
        if flow.src not in trees:
            trees[flow.src] = shortest_paths(links, flow.src)
        tree = trees[flow.src]
        path = [flow.dst]
        while path[-1] != flow.src:
            path.append(tree[path[-1]])
        paths.append(path[::-1])
    return paths


def write_table(
    path: Path, note: str, columns: list[str], rows: Iterable[Iterable[object]]
) -> None:
    """Write a CSV file whose first line is a comment."""
    with path.open("w", encoding="utf-8", newline="") as out:
        out.write(f"# {note}\n")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def seconds(us: int) -> str:
    """Microseconds as decimal seconds, exactly."""
    return f"{us // 1_000_000}.{us % 1_000_000:06d}"


def write_hierarchy(out: Path, *, flow_count: int = FLOWS, seed: int = SEED) -> None:
    """Write links.csv, flows.csv and paths.csv into ``out``."""
    rng = random.Random(seed)
    links = make_links(rng)
    flows = make_flows(rng, flow_count)
    paths = make_paths(links, flows)

    def link_rows() -> Iterator[tuple[object, ...]]:
        for link in links:
            yield link.src, link.dst, link.bw_bps, seconds(link.delay_us), QUEUE_PACKETS

    out.mkdir(parents=True, exist_ok=True)
    write_table(
        out / "links.csv",
        "one row for each direction; queue: DropTail limit in packets of any size",
        ["src", "dst", "bw_bps", "delay_s", "queue"],
        link_rows(),
    )
    write_table(
        out / "flows.csv",
        "bulk transfers that last to the end",
        ["flow", "src", "dst", "start_s"],
        ((i, flow.src, flow.dst, seconds(flow.start_us)) for i, flow in enumerate(flows)),
    )
    write_table(
        out / "paths.csv",
        "data path by least delay (no ties); ACKs take it backwards",
        ["flow", "path"],
        ((i, "-".join(map(str, path))) for i, path in enumerate(paths)),
    )


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="Write the 225-node hierarchy as CSV files.")
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")
    parser.add_argument("--flows", type=int, default=FLOWS, help=f"number of flows ({FLOWS})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"random seed ({SEED})")
    arguments = parser.parse_args()
    try:
        write_hierarchy(arguments.out, flow_count=arguments.flows, seed=arguments.seed)
    except TieError as tie:
        print(f"make_hierarchy: seed {arguments.seed}: {tie}; take another seed", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
