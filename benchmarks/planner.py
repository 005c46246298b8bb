"""Speed of the planner: all single failures of links in drawn networks, up to 10,000 nodes.

Each network has twice as many links as nodes, of which each new node draws its two neighbours among
the nodes before it, so that hubs appear as in backbones.
Run: python benchmarks/planner.py [NODES PAIRS]...
With --write FOLDER the networks and matrices are written as `ackclock plan` reads them, and none is
computed.
"""

from __future__ import annotations

import argparse
import csv
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np

from ackclock import _core


def draw(nodes: int, pairs: int) -> dict[str, Any]:
    """Draw a network and a matrix: arguments of the planner's core.

    Parameters
    ----------
    nodes
        Number of nodes.
    pairs
        Number of demands.

    """
    random = np.random.default_rng(1)
    ends: set[tuple[int, int]] = {(1, 0)}
    stubs = [0, 1]
    for node in range(2, nodes):
        chosen = {stubs[int(random.integers(len(stubs)))] for _ in range(2)}
        for other in chosen:
            ends.add((node, other))
            stubs += [node, other]
    both = [pair for a, b in sorted(ends) for pair in ((a, b), (b, a))]
    src, dst = np.array(both, dtype=np.uint32).T
    cost = np.repeat(random.integers(1, 20, len(ends)), 2).astype(np.float64)
    source = random.integers(0, nodes, 2 * pairs, dtype=np.uint32)
    target = random.integers(0, nodes, 2 * pairs, dtype=np.uint32)
    differ = source != target
    source, target = source[differ][:pairs], target[differ][:pairs]
    return {
        "nodes": nodes,
        "src": src.copy(),
        "dst": dst.copy(),
        "cost": cost,
        "capacity": np.full(len(src), 1e11),
        "source": source.copy(),
        "target": target.copy(),
        "volume": random.exponential(1e6, len(source)),
    }


def write(network: dict[str, Any], folder: Path) -> None:
    """Write a network and its matrix; several demands of a pair are one."""
    folder.mkdir(parents=True, exist_ok=True)
    links = zip(network["src"][::2], network["dst"][::2], network["cost"][::2], strict=True)
    with (folder / "edges.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "target", "capacity_bps", "weight"])
        writer.writerows([f"n{a}", f"n{b}", 1e11, int(cost)] for a, b, cost in links)
    demands: dict[tuple[str, str], float] = {}
    for a, b, volume in zip(network["source"], network["target"], network["volume"], strict=True):
        pair = f"n{a}", f"n{b}"
        demands[pair] = demands.get(pair, 0.0) + float(volume)
    with (folder / "demands.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "target", "demand_bps"])
        writer.writerows([*pair, volume] for pair, volume in demands.items())


def main() -> None:
    """Print one line per size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("sizes", nargs="*", type=int, metavar="NODES PAIRS")
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    sizes = options.sizes or [100, 9_900, 1_000, 100_000, 10_000, 1_000_000]
    for nodes, pairs in zip(sizes[::2], sizes[1::2], strict=True):
        network = draw(nodes, pairs)
        if options.write:
            write(network, options.write / f"{nodes}-{pairs}")
            continue
        core = _core.IgpCore(**network)
        links = np.arange(len(network["src"]), dtype=np.uint32)
        count = len(links) // 2
        offsets = 2 * np.arange(count + 1, dtype=np.uint32)
        began = time.process_time()
        found = core.failures(
            link_offsets=offsets,
            links=links,
            node_offsets=np.zeros(count + 1, dtype=np.uint32),
            nodes=np.empty(0, dtype=np.uint32),
            across=False,
            memory=2 << 30,
        )
        seconds = time.process_time() - began
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        worst = float(found["utilisation"].max())
        print(
            f"{nodes} nodes, {pairs} demands, {count} failures: {seconds:.1f} CPU s,"
            f" {memory:.0f} MiB; busiest link {100 * worst:.1f} %"
        )


if __name__ == "__main__":
    main()
