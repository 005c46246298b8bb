"""Writes a page for each queue discipline: its rule, its parameters, what it does in one scenario.

``python tools/write_queues.py FOLDER`` runs the same scenario under every discipline of the
registry, and writes a figure of delays and rates over time, a page for each and a table of all. A
new discipline has its page as soon as it is in the registry. ``--only NAME`` (repeatable) writes
some pages alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import ackclock as ac
import write_reference
from ackclock.catalogue import schema
from ackclock.plot.style import figure, line, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["SCENARIO", "SETTINGS", "Measured", "draw", "main", "measure", "page", "table"]

SCENARIO = """
duration = "20 s"
warmup = "10 s"
seed = 1
net = { kind = "dumbbell", pairs = 4, rate = "20 Mbps", rtt = "30 ms", buffer = "2 bdp" }
flows = [
    { id = "cubic", pair = 0, cc = "cubic" },
    { id = "reno-ecn", pair = 1, cc = "aimd", start = "2 s", tcp = { ecn = true } },
    { id = "prague", pair = 2, cc = "prague", start = "4 s", tcp = { ecn = true, accecn = true } },
    { id = "voice", pair = 3, source = { kind = "cbr", rate = "100 kbps", packet = "200 B" } },
]
"""
"""The scenario of every page: CUBIC, Reno with ECN, Prague, and a flow of small packets."""

SETTINGS: dict[str, dict[str, Any]] = {
    "cake": {"rate": "20 Mbps"},
    "policer": {"rate": "10 Mbps", "burst": "40 kB"},
    "shaper": {"rate": "10 Mbps", "burst": "10 kB", "latency": "50 ms"},
}
"""Parameters for disciplines that do little without; all others have their defaults."""

LINK = "r0->r1"
"""The bottleneck of a dumbbell."""

MARK = "<!-- Written by python tools/write_queues.py; do not edit. -->\n"


class Measured:
    """What a run shows at the bottleneck.

    Parameters
    ----------
    run
        Of the scenario, with the tables ``packets`` and ``flow_samples``.

    Attributes
    ----------
    delays
        By flow: times of departures and queueing delays, arrays of shape ``(2, n)`` [s].
    run
        The run itself.
    """

    def __init__(self, run: ac.Run) -> None:
        self.run = run
        self.delays = _delays(run)

    def delay(self, flow: str, percentile: float) -> float:
        """Percentile of a flow's queueing delays after the warm-up [s]; nan without packets.

        Parameters
        ----------
        flow
            Its id.
        percentile
            0 to 100.
        """
        at, waited = self.delays[flow]
        begin = self.run.summary["duration_s"] - self.run.summary["window_s"]
        kept = waited[at >= begin]
        return float(np.percentile(kept, percentile)) if len(kept) else float("nan")


def _delays(run: ac.Run) -> dict[str, Any]:
    rows = run.table("packets").to_pandas()
    rows = rows[(rows["link"] == LINK) & ~rows["is_ack"]]
    found: dict[str, list[tuple[float, float]]] = {flow["id"]: [] for flow in run.summary["flows"]}
    waiting: dict[tuple[str, int], list[float]] = {}
    columns = (rows[name].to_list() for name in ("time_s", "flow", "event", "seq"))
    for time, flow, event, seq in zip(*columns, strict=True):
        if event == "arrival":
            waiting.setdefault((flow, seq), []).append(time)
        elif event == "drop":
            waiting[flow, seq].pop()
        elif event == "departure":
            found[flow].append((time, time - waiting[flow, seq].pop(0)))
    return {flow: np.array(pairs).reshape(-1, 2).T for flow, pairs in found.items()}


def measure(name: str) -> Measured:
    """Run the scenario of the pages under a queue discipline.

    Parameters
    ----------
    name
        Of the registry.
    """
    scenario = ac.load(SCENARIO).replace(**{"net.qdisc": {"kind": name, **SETTINGS.get(name, {})}})
    return Measured(scenario.run(record=["packets", "flow_samples"], interval="100 ms"))


def draw(name: str, seen: Measured) -> Figure:
    """Draw queueing delays and rates of a run over time.

    Parameters
    ----------
    name
        Of the discipline, for the title.
    seen
        Its run.
    """
    import matplotlib as mpl

    made = figure(seen.run.summary, height=5.2)
    with mpl.rc_context(style()["rc"]):
        above, below = made.subplots(2, sharex=True)
    above.set_title(f"{name}: the 95th percentile of queueing delays in 0.2 s", loc="left")
    below.set_title("Delivery rate, means over 0.2 s", loc="left")
    edges = np.arange(0.0, seen.run.summary["duration_s"] + 0.1, 0.2)
    rows = seen.run.table("flow_samples").to_pandas()
    for i, (flow, (at, waited)) in enumerate(seen.delays.items()):
        bins = np.digitize(at, edges)
        known = [b for b in range(1, len(edges)) if (bins == b).any()]
        high = [1e3 * np.percentile(waited[bins == b], 95) for b in known]
        above.plot([edges[b - 1] + 0.1 for b in known], high, label=flow, **line(i))
        own = rows[rows["flow"] == flow]
        time, count = own["time_s"].to_numpy()[::2], own["received_bytes"].to_numpy()[::2]
        rate = 8e-6 * np.diff(count) / np.diff(time)
        below.plot((time[1:] + time[:-1]) / 2, rate, label=flow, **line(i))
    above.set_ylabel("delay [ms]")
    below.set_ylabel("payload that arrived [Mbit/s]")
    below.set_xlabel("time [s]")
    for axes in (above, below):
        axes.set_ylim(bottom=0)
    above.legend(ncols=4, fontsize=8, loc="upper right")
    return made


def _row(seen: Measured) -> list[str]:
    flows = {flow["id"]: flow["goodput_bps"] / 1e6 for flow in seen.run.summary["flows"]}
    link = next(link for link in seen.run.summary["links"] if link["id"] == LINK)
    rates = [f"{flows[flow]:.2f}" for flow in ("cubic", "reno-ecn", "prague")]
    delays = [f"{1e3 * seen.delay(flow, 95):.2f}" for flow in ("cubic", "prague", "voice")]
    return [*rates, *delays, str(link["drops"]), str(link["marks"])]


HEAD = (
    "queue", "CUBIC", "Reno, ECN", "Prague", "delay CUBIC", "delay Prague", "delay voice",
    "drops", "marks",
)  # fmt: skip


def table(rows: dict[str, list[str]]) -> str:
    """Make the table of all disciplines, in Markdown.

    Parameters
    ----------
    rows
        The cells of each, by its name.
    """
    lines = [f"| {' | '.join(HEAD)} |", "|" + " --- |" + " ---: |" * (len(HEAD) - 1)]
    lines += [f"| [{name}]({name}.md) | {' | '.join(cells)} |" for name, cells in rows.items()]
    return "\n".join(lines)


def page(name: str, cells: list[str]) -> str:
    """Make the page of a discipline, in Markdown.

    Parameters
    ----------
    name
        Of the registry.
    cells
        Its row of the table.
    """
    entry = schema.catalogue()["qdisc"][name]
    given = {"kind": name, **SETTINGS.get(name, {})}
    inside = ", ".join(f"{key} = {json.dumps(value)}" for key, value in given.items())
    seen = dict(zip(HEAD[1:], cells, strict=True))
    parts = [
        MARK,
        f"# {name}",
        f"{write_reference.linked(entry['title'])}. "
        f"Source: {write_reference.linked(entry['source'])}; {entry['status']}.",
        f"![Delays and rates over time](figures/{name}.svg)",
        f"The [scenario of all queues](index.md) with `qdisc = {{ {inside} }}`. From 10 s on CUBIC"
        f" has {seen['CUBIC']}, Reno with ECN {seen['Reno, ECN']}, Prague {seen['Prague']}"
        f" Mbit/s; 95 of 100 voice packets wait at most {seen['delay voice']} ms;"
        f" {seen['drops']} packets were dropped and {seen['marks']} marked.",
        "## Rule",
        write_reference.header(entry["file"]) or "The sources are not installed.",
        "## Parameters",
        write_reference.parameters(entry["params"]),
    ]
    return "\n\n".join(parts) + "\n"


def _index(rows: dict[str, list[str]]) -> str:
    names = "\n".join(rows)
    parts = [
        MARK,
        "# Queues, one page each",
        "Every queue discipline with its rule, its parameters and the same scenario: a flow of"
        " CUBIC without ECN, one of Reno with ECN (from 2 s), one of Prague (from 4 s) and a flow"
        " of small packets with 100 kbit/s share a link of 20 Mbit/s.",
        f"```toml\n{SCENARIO.strip()}\n```",
        "Goodputs [Mbit/s] and 95th percentiles of queueing delays [ms] from 10 s on; drops and"
        " marks of the whole run. Parameters are the defaults, but for `cake` (a shaper at the"
        " link's rate) and `policer` and `shaper` (10 Mbit/s).",
        table(rows),
        f"```{{toctree}}\n:hidden:\n\n{names}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write the pages and figures into a folder.

    Parameters
    ----------
    arguments
        As on the command line; left out: those of this process.
    """
    parser = argparse.ArgumentParser(description="Writes a page for each queue discipline.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", help="a discipline; left out: all")
    given = parser.parse_args(arguments)
    known = list(schema.catalogue()["qdisc"])
    names = given.only or known
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(
            f'there is no queue discipline "{unknown[0]}"; expected one of {", ".join(known)}'
        )
    figures = given.folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    rows = {}
    for name in names:
        seen = measure(name)
        rows[name] = _row(seen)
        ac.plot.save(draw(name, seen), figures / f"{name}.svg", command="tools/write_queues.py")
        (given.folder / f"{name}.md").write_text(page(name, rows[name]), encoding="utf-8")
    (given.folder / "index.md").write_text(_index(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
