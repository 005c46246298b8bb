"""Speed of the planner: all single failures of links in drawn networks, up to 10,000 nodes.

Each network has twice as many links as nodes, of which each new node draws its two neighbours among
the nodes before it, so that hubs appear as in backbones.
Run: python benchmarks/planner.py [NODES PAIRS]...
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from ackclock import _core


def drawn(nodes: int, pairs: int) -> tuple[_core.IgpCore, int]:
    """Draw a network and a matrix.

    Parameters
    ----------
    nodes
        Number of nodes.
    pairs
        Number of demands.

    Returns
    -------
    tuple
        The network, and its number of directed links.
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
    core = _core.IgpCore(
        nodes=nodes,
        src=src.copy(),
        dst=dst.copy(),
        cost=cost,
        capacity=np.full(len(src), 1e11),
        source=source.copy(),
        target=target.copy(),
        volume=random.exponential(1e6, len(source)),
    )
    return core, len(src)


def main() -> None:
    """Print one line per size."""
    sizes = [int(v) for v in sys.argv[1:]] or [100, 9_900, 1_000, 100_000, 10_000, 1_000_000]
    for nodes, pairs in zip(sizes[::2], sizes[1::2], strict=True):
        core, core_links = drawn(nodes, pairs)
        links = np.arange(core_links, dtype=np.uint32)
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
