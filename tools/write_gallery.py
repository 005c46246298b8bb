"""Writes the gallery: each kind of figure, with the code that made it.

``python tools/write_gallery.py FOLDER`` runs the code of every entry, and writes the figures as SVG
and pages in Markdown: one of pictures, and one for each. Each entry is a program whose first lines,
`BEGIN`, all share.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ackclock.plot.registry import FIGURES

__all__ = ["BEGIN", "ENTRIES", "main"]

BEGIN = """
import ackclock as ac

net = ac.topology.Dumbbell(pairs=2, rate="5 Mbps", rtt="40 ms", buffer="1 bdp")
flows = [ac.Flow(id="reno", pair=0, cc="aimd"), ac.Flow(id="vegas", pair=1, cc="vegas")]
scenario = ac.Scenario(net, flows, duration="10 s", seed=1)
run = scenario.run(
    record=["windows", "rtts", "states", "queues", "packets", "flow_samples"], interval="50 ms"
)

red = scenario.replace(**{"net.qdisc": "red"})
result = ac.sweep(
    red,
    {
        "net.buffer": ["0.5 bdp", "1 bdp", "2 bdp", "4 bdp"],
        "cc": ac.Axis("flows[vegas].cc", {"Reno": "aimd", "CUBIC": "cubic", "Vegas": "vegas"}),
    },
    reps=4,
    metrics=["flows[reno].goodput_bps", "max(links.delay_mean_s)"],
).run(store=False, progress=False)
"""
"""What every entry begins with."""

ENTRIES = {
    "cwnd": "figure = ac.plot.cwnd(run)",
    "throughput": "figure = ac.plot.throughput(run)",
    "queue": "figure = ac.plot.queue(run)",
    "delay": "figure = ac.plot.delay(run)",
    "rtt": "figure = ac.plot.rtt(run)",
    "queue-delay": "figure = ac.plot.queue_delay(run)",
    "fairness": "figure = ac.plot.fairness(run)",
    "phase": "figure = ac.plot.phase(run)",
    "completions": (
        'pages = {"kind": "poisson", "rate": 2, "sizes": {"kind": "fixed", "mean": "30 kB"}}\n'
        'browsing = scenario.replace(traffic=[{"generator": pages}])\n'
        "figure = ac.plot.completions(browsing.run())"
    ),
    "slowdown": (
        'sizes = {"kind": "measured", "workload": "web-search"}\n'
        'pages = {"kind": "poisson", "rate": 3, "sizes": sizes}\n'
        'browsing = scenario.replace(traffic=[{"generator": pages}])\n'
        "figure = ac.plot.slowdown(browsing.run())"
    ),
    "sequence": 'figure = ac.plot.sequence(run, flows=["reno"])',
    "states": "figure = ac.plot.states(run)",
    "ledger": (
        'source = {"kind": "cbr", "rate": "20 Mbps"}\n'
        "hoses = [\n"
        '    {"id": i, "src": f"S{i}", "dst": f"D{i}", "source": source}\n'
        '    for i in "12"\n'
        "]\n"
        'rates = {"S1-R1": 20, "S2-R1": 20, "R1-R2": 20, "R2-D1": 20, "R2-D2": 2}\n'
        'ways = [(*way.split("-"), f"{mbps} Mbps") for way, mbps in rates.items()]\n'
        'more = {"delay": "1 ms", "qdisc": "fq"}\n'
        'links = [{"a": a, "b": b, "rate": rate, **more} for a, b, rate in ways]\n'
        'dead = ac.Scenario({"kind": "graph", "links": links}, hoses, duration="5 s")\n'
        'figure = ac.plot.ledger(dead.run(record=["ledger"]))'
    ),
    "map": (
        'europe = ac.load("examples/geant.toml").replace(duration="3 s", warmup="1 s")\n'
        "figure = ac.plot.network_map(europe.run())"
    ),
    "overlay": (
        'short = scenario.replace(**{"net.buffer": "5 pkt"}).run(record=["windows"])\n'
        'figure = ac.plot.overlay("cwnd", {"1 bdp": run, "5 packets": short})'
    ),
    "lines": 'figure = result.plot("lines", x="net.buffer", by="cc")',
    "heatmap": 'figure = result.plot("heatmap", metric="max(links.delay_mean_s)")',
    "ranked": 'figure = result.plot("ranked", between="cc")',
    "ecdf": 'figure = result.plot("ecdf", by="cc")',
    "pareto": (
        "figure = result.plot(\n"
        '    "pareto", delay="max(links.delay_mean_s)", throughput="flows[reno].goodput_bps"\n'
        ")"
    ),
}
"""The last lines of each entry by kind; ``overlay`` is of several runs."""

HELP = {name: kind.help for name, kind in FIGURES.items()} | {"overlay": "several runs in one"}
GRID = "::::{grid} 1 2 3 3\n:gutter: 3"
"""One to three pictures in a row, by the width of the window."""
_MARK = "<!-- Written by python tools/write_gallery.py; do not edit. -->\n"


def draw(names: list[str], folder: Path) -> None:
    """Run the code of entries and write their figures.

    Parameters
    ----------
    names
        Of entries.
    folder
        Gets an SVG file for each.
    """
    import ackclock as ac

    shared: dict[str, Any] = {}
    exec(BEGIN, shared)
    for name in names:
        scope = dict(shared)
        exec(ENTRIES[name], scope)
        ac.plot.save(scope["figure"], folder / f"{name}.svg", command="tools/write_gallery.py")


def _sentence(name: str) -> str:
    return f"{HELP[name][0].upper()}{HELP[name][1:]}."


def pages() -> dict[str, str]:
    """Give the text of the page of pictures, and of a page for each figure, by path."""
    cards = [
        f":::{{grid-item-card}} {name}\n:img-top: gallery/{name}.svg\n:link: gallery/{name}\n"
        f":link-type: doc\n\n{_sentence(name)}\n:::"
        for name in ENTRIES
    ]
    grid = "\n\n".join([GRID, *cards, "::::"])
    files = "\n".join(f"gallery/{name}" for name in ENTRIES)
    index = [
        _MARK,
        "# Gallery",
        "Every kind of figure; each picture leads to its code. `ackclock plot` draws the same from"
        " a run bundle or a store, by `--kind`.",
        grid,
        f"```{{toctree}}\n:hidden:\n\n{files}\n```",
    ]
    made = {"gallery.md": "\n\n".join(index) + "\n"}
    for name, code in ENTRIES.items():
        parts = [
            _MARK,
            f"# {name}",
            _sentence(name),
            f"![{HELP[name]}]({name}.svg)",
            f"```py\n{code}\n```",
            "All figures of the [gallery](../gallery.md) begin with a run and a sweep:",
            f"```py\n{BEGIN.strip()}\n```",
        ]
        made[f"gallery/{name}.md"] = "\n\n".join(parts) + "\n"
    return made


def main(arguments: list[str] | None = None) -> int:
    """Write the figures and the page into a folder.

    Parameters
    ----------
    arguments
        The folder; left out: those of this process.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1:
        sys.stderr.write("usage: python tools/write_gallery.py FOLDER\n")
        return 2
    folder = Path(given[0])
    figures = folder / "gallery"
    figures.mkdir(parents=True, exist_ok=True)
    draw(list(ENTRIES), figures)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
