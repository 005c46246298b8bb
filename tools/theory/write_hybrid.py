"""Writes the tables of the pages on hybrid runs: hybrid runs beside all flows as packets.

``python tools/theory/write_hybrid.py`` runs each case both ways with several seeds, some minutes on
one core, and puts ratios with 95 % intervals between two markers of docs/explanation/hybrid.md.
``--pairs`` does so for pairs of controls, half an hour on one core, and writes that table into
docs/howto/hybrid.md too. ``--seeds N`` changes the number of seeds.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, NamedTuple

import hybrid_pairs
import numpy as np
from scipy import stats

from ackclock.engines.hybrid import HybridCase

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, HOWTO = DOCS / "explanation" / "hybrid.md", DOCS / "howto" / "hybrid.md"
BEGIN = "<!-- comparison: written by tools/theory/write_hybrid.py -->"
PAIRS = "<!-- pairs: written by tools/theory/write_hybrid.py --pairs -->"
END = "<!-- end of comparison -->"

JITTER = [{"kind": "jitter", "shape": "uniform", "mean": 5e-4, "spread": 5e-4, "keep_order": False}]
"""Of acknowledgements: without it drop-tail's phase effects decide who loses (see the page)."""

Data = dict[str, Any]


def network(core: list[Data], hosts: dict[str, tuple[str, float]]) -> Data:
    """Links of a core, and hosts by name: their router, the delay [s] of a link of 1 Tbit/s."""
    links = list(core)
    for name, (router, delay) in hosts.items():
        wide = {"rate": 1e12, "delay": delay, "buffer": "1000000 pkt"}
        links.append({"a": name, "b": router, **wide, "back_impairments": JITTER})
    return {"kind": "graph", "links": links}


def case(net: Data, flows: list[list[str]], behind: Data, cc: str, **more: Any) -> Data:
    """A hybrid case."""
    own = [{"src": a, "dst": b, "cc": cc} for a, b in flows]
    background = {"flow": {"cc": cc}, **behind}
    return {
        "net": net,
        "duration": 40,
        "warmup": 15,
        "flows": own,
        "background": background,
        **more,
    }


def one_link(cc: str, qdisc: str, buffer: str = "4000 pkt") -> Data:
    """2000 flows of two lengths over one link."""
    core = [{"a": "r0", "b": "r1", "rate": 2e9, "delay": 0.005, "buffer": buffer, "qdisc": qdisc}]
    hosts = {"near": ("r0", 0.005), "far": ("r0", 0.035), "sink": ("r1", 0.001)}
    pairs = [["near", "sink"], ["far", "sink"]]
    listed = {"kind": "listed", "flows": pairs}
    return case(network(core, hosts), pairs * 5, {"traffic": listed, "per_pair": 995}, cc)


def three_links(cc: str, qdisc: str, buffer: str = "2500 pkt") -> Data:
    """500 flows over three links in a row, 500 more over each of them."""
    core = [
        {"a": f"r{i}", "b": f"r{i + 1}", "rate": 7.5e8, "delay": 0.005, "buffer": buffer}
        | {"qdisc": qdisc}
        for i in range(3)
    ]
    hosts = {f"h{i}": (f"r{i}", 0.002) for i in range(4)}
    pairs = [["h0", "h3"], ["h0", "h1"], ["h1", "h2"], ["h2", "h3"]]
    listed = {"kind": "listed", "flows": pairs}
    net = network(core, hosts)
    return case(net, [pairs[0], pairs[2]] * 5, {"traffic": listed, "per_pair": 500}, cc)


def transfers(load: float, qdisc: str) -> Data:
    """Four flows among transfers of 300 kB on average, sizes with a heavy tail."""
    core = [{"a": "r0", "b": "r1", "rate": 1e9, "delay": 0.005, "buffer": "2500 pkt"}]
    core[0]["qdisc"] = qdisc
    hosts = {"s": ("r0", 0.01), "d": ("r1", 0.005)}
    sizes = {"kind": "pareto", "mean": "300 kB", "shape": 1.5}
    come = {"kind": "poisson", "load": load, "sizes": sizes, "duration": 40}
    listed = {"kind": "listed", "flows": [["s", "d"]]}
    behind = {"traffic": listed, "arrivals": come, "share": 0.2}
    return case(network(core, hosts), [["s", "d"]] * 4, behind, "cubic")


class Row(NamedTuple):
    """A case and what is compared: mean goodput of flows between these ends, delay of this link."""

    name: str
    document: Data
    ends: tuple[str, str]
    link: str


ROWS = [
    Row("one FIFO, CUBIC, 20 ms", one_link("cubic", "fifo"), ("near", "sink"), "r0->r1"),
    Row("the same, 80 ms", one_link("cubic", "fifo"), ("far", "sink"), "r0->r1"),
    Row("one FIFO, AIMD, 80 ms", one_link("aimd", "fifo"), ("far", "sink"), "r0->r1"),
    Row("one PIE, AIMD, 80 ms", one_link("aimd", "pie", "20000 pkt"), ("far", "sink"), "r0->r1"),
    Row("one FQ, CUBIC, 80 ms", one_link("cubic", "fq", "20000 pkt"), ("far", "sink"), "r0->r1"),
    Row("one FIFO, BBRv3, 80 ms", one_link("bbr3", "fifo"), ("far", "sink"), "r0->r1"),
    Row(
        "three PIE, AIMD, over all", three_links("aimd", "pie", "15000 pkt"), ("h0", "h3"), "r1->r2"
    ),
    Row("three FIFO, AIMD, over all", three_links("aimd", "fifo"), ("h0", "h3"), "r1->r2"),
    Row("three FIFO, AIMD, over one", three_links("aimd", "fifo"), ("h1", "h2"), "r1->r2"),
    Row("transfers, load 0.5, FIFO", transfers(0.5, "fifo"), ("s", "d"), "r0->r1"),
    Row("transfers, load 0.8, FIFO", transfers(0.8, "fifo"), ("s", "d"), "r0->r1"),
    Row("transfers, load 0.95, PIE", transfers(0.95, "pie"), ("s", "d"), "r0->r1"),
]


class Both(NamedTuple):
    """A case run both ways with one seed: summaries, CPU times [s], table of the background."""

    hybrid: Data
    whole: Data
    hybrid_s: float
    whole_s: float
    links: list[Data]


def run_both(document: Data, seed: int) -> Both:
    """Run a case both ways."""
    question = HybridCase({**document, "seed": seed})
    begun = time.process_time()
    run = question.execute()
    middle = time.process_time()
    whole = question.whole().run()
    summary = whole.summary
    end = time.process_time()
    links = run.tables["background"].to_pylist()
    return Both(run.summary, summary, middle - begun, end - middle, links)


def goodput(flows: list[Data], ends: tuple[str, str]) -> float:
    """Mean of the flows that last."""
    return float(
        np.mean(
            [
                flow["goodput_bps"]
                for flow in flows
                if (flow["src"], flow["dst"]) == ends and flow.get("size_bytes") is None
            ]
        )
    )


def interval(ratios: list[float]) -> str:
    """A mean with its 95 % interval."""
    mean, n = np.mean(ratios), len(ratios)
    half = stats.t.ppf(0.975, n - 1) * np.std(ratios, ddof=1) / np.sqrt(n)
    return f"{mean:.3f} ± {half:.3f}"


def line(row: Row, runs: list[Both]) -> list[str]:
    """The cells of a row."""
    rates, delays, speeds = [], [], []
    for run in runs:
        own = run.hybrid["background"]["own"]
        finite = "arrivals" in row.document["background"]
        # Of finite flows the goodput is not a share; those of the scenario come first in both.
        last = own if finite else None
        there = goodput(run.hybrid["flows"][:last], row.ends)
        rates.append(there / goodput(run.whole["flows"][:last], row.ends))
        mine = next(link for link in run.links if link["link"] == row.link)
        theirs = next(link for link in run.whole["links"] if link["id"] == row.link)
        delays.append(mine["delay_mean_s"] / theirs["delay_mean_s"])
        speeds.append(run.whole_s / run.hybrid_s)
    counts = runs[0].hybrid["background"]
    packets = counts["own"] + counts["as_packets"]
    return [
        row.name,
        f"{packets:,} of {counts['flows']:,}",
        interval(rates),
        interval(delays),
        f"{np.median(speeds):.1f}",
    ]


def write(page: Path, begin: str, rows: list[list[str]]) -> None:
    """Put a table between its markers."""
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    before, rest = page.read_text(encoding="utf-8").split(begin)
    after = rest[rest.index(END) :]
    page.write_text(f"{before}{begin}\n\n{table}\n\n{after}", encoding="utf-8")


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, metavar="N")
    parser.add_argument("--pairs", action="store_true", help="the table of pairs of controls")
    given = parser.parse_args()
    seeds = range(1, given.seeds + 1)
    if given.pairs:
        rows = hybrid_pairs.rows(seeds)
        for page in (PAGE, HOWTO):
            write(page, PAIRS, rows)
        return
    known: dict[str, list[Both]] = {}
    head = ["case", "packet flows", "goodput", "queueing delay", "faster by"]
    rows = [head, ["---"] * len(head)]
    for row in ROWS:
        key = repr(row.document)
        if key not in known:
            known[key] = [run_both(row.document, seed) for seed in seeds]
        rows.append(line(row, known[key]))
        print(*rows[-1], sep=" | ", flush=True)
    write(PAGE, BEGIN, rows)


if __name__ == "__main__":
    main()
