"""The demonstration: one real network, many TCP flows, four queue disciplines in turn.

``ackclock demo`` (or ``make demo``) runs it on all cores and writes a page.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.number_text import interval, number
from ackclock._util.text_table import table
from ackclock.errors import how_to_install

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    from matplotlib.figure import Figure

    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

__all__ = ["demonstrate"]

QDISCS = ("fifo", "red", "drr", "fq")


@dataclass(frozen=True)
class DemoMetric:
    """A column of the result; the unit is empty where there is none."""

    key: str
    title: str
    unit: str
    factor: float


MEAN = DemoMetric("mean", "mean goodput", "Mbit/s", 1e-6)
MINIMUM = DemoMetric("minimum", "minimum goodput", "kbit/s", 1e-3)
FAIR = DemoMetric("fair", "Jain against max-min", "", 1.0)
JAIN = DemoMetric("jain", "Jain, raw", "", 1.0)
LOSS = DemoMetric("loss", "loss", "%", 100.0)
DELAY = DemoMetric("delay", "queueing delay", "ms", 1e3)
USED = DemoMetric("used", "busiest links used", "%", 100.0)
METRICS = (MEAN, MINIMUM, FAIR, JAIN, LOSS, DELAY, USED)
LEAST_RATE_BPS = 4_000_000
"""Of a link at a city with no other."""

NO_FIGURES = f"\nfor its figures: {how_to_install('papers')}"

BUSIEST = 10
"""Directions of links whose mean utilisation shows whether the network was congested."""


@dataclass(frozen=True)
class Size:
    """How much is simulated."""

    flows: int = 120
    reps: int = 6
    duration_s: float = 60.0
    warmup_s: float = 10.0


def network() -> tuple[dict[str, Any], str]:
    """The network as plain data, and the rule of its capacities in a sentence."""
    from ackclock.scenario.networks.graph_import import LinkOptions, csv_data

    options: dict[str, Any] = {"buffer": "100 pkt", "qdisc": "fifo"}
    folder = Path(os.environ.get("ACKCLOCK_DATA", "")) / "topologies" / "geant2009"
    if os.environ.get("ACKCLOCK_DATA") and (folder / "edges.csv").is_file():
        net = csv_data(folder, LinkOptions(rate="155 Mbps", scale=2e-3, **options))
        for link in net["links"]:
            link["rate"] = max(link["rate"], 2_000_000)
        return net, (
            "Capacities are the published link speeds divided by 500, at least 2 Mbit/s"
            " (155 Mbit/s before division where no speed is published)."
        )
    data = json.loads(Path(__file__).with_name("geant2009.json").read_text("utf-8"))
    degree = Counter(end for link in data["links"] for end in (link["a"], link["b"]))
    links = [
        {**link, "rate": LEAST_RATE_BPS * min(degree[link["a"]], degree[link["b"]]), **options}
        for link in data["links"]
    ]
    return {"kind": "graph", "nodes": data["nodes"], "links": links}, (
        "The collection has no link speeds, so each link has 4 Mbit/s times the smaller number of"
        " links at its two ends: links between hubs are wider."
    )


def scenario(net: dict[str, Any], qdisc: str, seed: int, size: Size) -> Scenario:
    """One run: the same seed gives the same pairs of cities under every queue discipline.

    Parameters
    ----------
    net
        The network.
    qdisc
        Queue discipline of every link.
    seed
        Chooses pairs, starts, and the run's own random numbers.
    size
        How much is simulated.
    """
    from ackclock.scenario.scenario import Scenario

    draw = random.Random(seed)
    cities = sorted({end for link in net["links"] for end in (link["a"], link["b"])})
    part = parts_of(net["links"])
    flows: list[dict[str, Any]] = []
    while len(flows) < size.flows:
        a, b = draw.sample(cities, 2)
        if part[a] == part[b]:
            start = round(draw.uniform(0, size.warmup_s / 2), 6)
            flows.append({"src": a, "dst": b, "start": start, "cc": "cubic", "recovery": "sack"})
    links = [{**link, "qdisc": qdisc} for link in net["links"]]
    data = {
        "name": f"GEANT 2009, {size.flows} flows, {qdisc}",
        "duration": size.duration_s,
        "warmup": size.warmup_s,
        "seed": seed,
        "routing": "delay",
        "net": {**net, "links": links},
        "flows": flows,
    }
    return Scenario.from_data(data)


def parts_of(links: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Find the connected parts of a network: for each node, one node of its part.

    Parameters
    ----------
    links
        With their ends, ``a`` and ``b``.
    """
    part: dict[str, str] = {}
    for link in links:
        a, b = (part.setdefault(link[end], link[end]) for end in ("a", "b"))
        if a != b:
            part |= {city: a for city, other in part.items() if other == b}
    return part


def max_min(run: Run) -> npt.NDArray[np.float64]:
    """Max-min share of each flow [bit/s].

    Flows are endless, and links give their whole rate to data: acknowledgements take nothing.

    Parameters
    ----------
    run
        Its scenario's links and routes are taken.
    """
    from ackclock.engines.fluid import FluidNet

    explained = run.scenario.explain().data
    number = {link["id"]: i for i, link in enumerate(explained["links"])}
    routes = [
        [number[f"{a}->{b}"] for a, b in pairwise(flow["route"])] for flow in explained["flows"]
    ]
    return FluidNet.from_routes([link["rate_bps"] for link in explained["links"]], routes).max_min()


def measure_run(run: Run) -> dict[str, float]:
    """What one run is judged by.

    Parameters
    ----------
    run
        A finished run.
    """
    from ackclock.analysis import jain

    flows, links = run.summary["flows"], run.summary["links"]
    goodput = np.array([flow["goodput_bps"] for flow in flows])
    shares = max_min(run)
    sent = sum(flow["sent_packets"] for flow in flows)
    lost = sum(flow["lost_data_packets"] for flow in flows)
    used = np.array([link["utilisation"] for link in links])
    delay = np.array([link["delay_mean_s"] or 0.0 for link in links])
    return {
        "mean": float(goodput.mean()),
        "minimum": float(goodput.min()),
        "fair": jain(goodput / shares),
        "jain": jain(goodput),
        "jain_of_shares": jain(shares),
        "loss": lost / sent if sent else float("nan"),
        # Links weigh as much as they carry, so that idle ones do not dilute the mean.
        "delay": float(np.average(delay, weights=used)) if used.sum() > 0 else float("nan"),
        "used": float(np.sort(used)[-BUSIEST:].mean()),
    }


@dataclass
class DemoResults:
    """All that was simulated."""

    size: Size
    rule: str
    runs: dict[str, list[Run]]

    @cached_property
    def values(self) -> dict[str, list[dict[str, float]]]:
        """What was measured, by discipline and replication."""
        return {qdisc: [measure_run(run) for run in runs] for qdisc, runs in self.runs.items()}

    def interval(self, qdisc: str, metric: DemoMetric) -> tuple[float, float, float]:
        """Mean and ends of the 95 % interval over replications, in the metric's unit."""
        from ackclock.experiments.replication import mean_interval

        return mean_interval([run[metric.key] * metric.factor for run in self.values[qdisc]])

    def difference(self, qdisc: str, other: str, metric: DemoMetric) -> tuple[float, float, float]:
        """Mean and 95 % interval of the difference, seed by seed, in the metric's unit.

        Both disciplines meet the same flows under a seed, so the difference varies less than
        either of them.
        """
        from ackclock.experiments.replication import mean_interval

        pairs = zip(self.values[qdisc], self.values[other], strict=True)
        return mean_interval([(a[metric.key] - b[metric.key]) * metric.factor for a, b in pairs])

    def cells(self, qdisc: str) -> list[str]:
        """The table's row."""
        return [interval(*self.interval(qdisc, metric)) for metric in METRICS]

    def differences(self, qdisc: str) -> list[str]:
        """The row of the table of differences from FIFO."""
        return [interval(*self.difference(qdisc, QDISCS[0], m), sign=True) for m in METRICS]

    def extremes(self, metric: DemoMetric) -> tuple[str, str, bool]:
        """Disciplines of the largest and smallest mean; whether they differ clearly."""
        means = {qdisc: self.interval(qdisc, metric)[0] for qdisc in self.runs}
        most, least = max(means, key=lambda q: means[q]), min(means, key=lambda q: means[q])
        return most, least, self.difference(most, least, metric)[1] > 0

    def alike(self, qdisc: str, metric: DemoMetric) -> list[str]:
        """A discipline with those that it does not clearly differ from and that read the same."""
        mean = self.interval(qdisc, metric)[0]
        out = [qdisc]
        for other in self.runs:
            _, low, high = self.difference(other, qdisc, metric)
            if other != qdisc and low <= 0 <= high:
                near = abs(self.interval(other, metric)[0] - mean) < 0.05 * abs(mean)
                out += [other] if near else []
        return sorted(out, key=QDISCS.index)

    def answer(self) -> str:
        """The finding in a few sentences, from the data."""

        def mean(qdisc: str, metric: DemoMetric) -> str:
            # An index near 1 is not to read as 1.
            digits = 4 if metric is FAIR else 3
            return number(self.interval(qdisc, metric)[0], digits)

        def both(one: str, other: str, metric: DemoMetric) -> str:
            unit = f" {metric.unit}" if metric.unit else ""
            alike = " and ".join(q.upper() for q in self.alike(one, metric))
            first, second = mean(one, metric), mean(other, metric)
            return f"{first}{unit} under {alike} against {second}{unit} under {other.upper()}"

        out = []
        most, least, clear = self.extremes(FAIR)
        head = "Sharing is fairest" if clear else "Which queue shares most fairly is not clear"
        ideal = float(np.mean([run["jain_of_shares"] for run in self.values[most]]))
        out.append(
            f"{head}, by Jain's index of goodput / max-min share: {both(most, least, FAIR)}. Raw"
            f" goodputs give {mean(most, JAIN)} against {mean(least, JAIN)}, for routes differ: the"
            f" max-min shares themselves have {number(ideal, 3)}"
        )
        most, least, clear = self.extremes(MINIMUM)
        head = "The slowest flow gets" if clear else "What is best for the slowest is not clear:"
        out.append(f"{head} {both(most, least, MINIMUM)}")
        most, least, clear = self.extremes(DELAY)
        head = "Packets wait least" if clear else "Where packets wait least is not clear"
        cost = self.difference(least, QDISCS[0], LOSS)
        price = ""
        if least != QDISCS[0] and cost[1] > 0:
            price = (
                f", at a loss of {mean(least, LOSS)} % against {mean(QDISCS[0], LOSS)} % under FIFO"
            )
        out.append(f"{head}, per link: {both(least, most, DELAY)}{price}")
        return ". ".join(out) + "."


def simulate(size: Size) -> DemoResults:
    """Run all disciplines and replications on all cores.

    Parameters
    ----------
    size
        How much is simulated.
    """
    from rich.console import Console
    from rich.progress import Progress

    from ackclock.experiments.replication import run_all

    net, rule = network()
    seeds = range(1, size.reps + 1)
    jobs = [(qdisc, seed) for seed in seeds for qdisc in QDISCS]
    scenarios = [scenario(net, qdisc, seed, size) for qdisc, seed in jobs]
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task(f"{len(jobs)} runs of {size.flows} flows", total=1.0)
        done = run_all(
            scenarios,
            progress=lambda fraction: progress.update(task, completed=fraction),
            on_finish=lambda i, _: progress.console.print(
                f"finished {jobs[i][0]}, seed {jobs[i][1]}", style="dim"
            ),
        )
    if len(done) < len(jobs):
        raise KeyboardInterrupt
    runs: dict[str, list[Run]] = {qdisc: [] for qdisc in QDISCS}
    for index, (qdisc, _) in enumerate(jobs):
        runs[qdisc].append(done[index])
    return DemoResults(size, rule, runs)


def _goodputs(results: DemoResults) -> Figure:
    from ackclock.plot.figures import _axes
    from ackclock.plot.log_axis import make_logarithmic
    from ackclock.plot.style import line

    made = _figure(results)
    axes = _axes(made, "Goodput of flows", "goodput [Mbit/s]", "share of flows at most this")
    every: list[float] = []
    for i, (qdisc, runs) in enumerate(results.runs.items()):
        values = [flow["goodput_bps"] / 1e6 for run in runs for flow in run.summary["flows"]]
        every += values
        # DRR and FQ give almost the same curve: a narrow line on a wide one hides it nowhere.
        wide = i % 2 == 0
        look = {"color": line(i)["color"], "linewidth": 3.5 if wide else 1.3}
        look |= {"alpha": 0.55, "zorder": 2} if wide else {"alpha": 1.0, "zorder": 3}
        axes.ecdf(values, label=qdisc, **look)
    least = min(value for value in every if value > 0)
    axes.set_xlim(max(least, 1e-3 * max(every)), max(every))
    make_logarithmic(axes, "x")
    axes.set_ylim(0, 1)
    axes.legend(loc="upper left", frameon=False)
    return made


def _comparison(results: DemoResults) -> Figure:
    from ackclock.plot.style import line

    made = _figure(results, 9.2, 4.4)
    axes = made.subplots(2, -(-len(METRICS) // 2))
    made.set_layout_engine("constrained", h_pad=0.12)
    for ax in axes.flat[len(METRICS) :]:
        ax.remove()
    for ax, metric in zip(axes.flat[: len(METRICS)], METRICS, strict=True):
        top = 0.0
        for i, qdisc in enumerate(results.runs):
            mean, low, high = results.interval(qdisc, metric)
            half = 0.0 if np.isnan(low) else (high - low) / 2
            colour = line(i)["color"]
            top = max(top, mean + half)
            drawn = ax.errorbar([i], [mean], yerr=[half], fmt="o", color=colour, capsize=4)
            drawn.lines[0].set_clip_on(False)  # a dot on the axis is whole
        ax.set_xticks(range(len(results.runs)), list(results.runs))
        ax.set_xlim(-0.5, len(results.runs) - 0.5)
        ax.set_ylim(0, 1.1 * top if top > 0 else 1.0)
        ax.set_title(metric.title, fontsize=10, loc="left")
        ax.set_ylabel(f"[{metric.unit}]" if metric.unit else "")
        ax.grid(axis="y", color="#dddddd", linewidth=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    return made


def _figure(results: DemoResults, width: float = 7.2, height: float = 4.0) -> Figure:
    from ackclock.plot.style import figure

    made = figure(None, width, height)
    _record_recipe(results, made)
    return made


def _record_recipe(results: DemoResults, made: Figure, qdiscs: Sequence[str] = QDISCS) -> None:
    from ackclock.plot.style import recipe

    # Every seed draws other flows, so its scenarios have other hashes: those of the first
    # stand for them.
    first = {qdisc: results.runs[qdisc][0].summary for qdisc in qdiscs}
    recipe(
        made,
        scenario=" ".join(f"{qdisc} {run['scenario_hash']}" for qdisc, run in first.items()),
        seeds=f"1 (as named) to {results.size.reps}",
        version=first[qdiscs[0]]["version"],
    )


def _map(results: DemoResults) -> Figure:
    from ackclock.plot import network_map

    runs = results.runs["fifo"]
    used: dict[str, float] = {}
    for run in runs:
        for link in run.summary["links"]:
            name = str(link["id"])
            used[name] = used.get(name, 0.0) + link["utilisation"] / len(runs)
    made = network_map(runs[0], used)
    _record_recipe(results, made, ["fifo"])
    return made


def _pictures(results: DemoResults, out: Path, command: str) -> list[dict[str, str]]:
    """Write the figures; as SVG for the page, with their captions."""
    from ackclock._util.page import inline
    from ackclock.plot import save

    figures = {
        "comparison": (
            _comparison(results),
            f"Means with 95 % Student-t intervals over {results.size.reps} replications.",
        ),
        "goodput": (
            _goodputs(results),
            "Goodput of every flow of every replication: where a curve begins is what the slowest"
            " flow got.",
        ),
        "map": (
            _map(results),
            "Utilisation of links under FIFO, mean of the replications, in the busier direction;"
            " wider lines have more capacity.",
        ),
    }
    pictures = []
    for name, (made, caption) in figures.items():
        for kind in ("svg", "png"):
            save(made, out / f"{name}.{kind}", command=command)
        text = (out / f"{name}.svg").read_text(encoding="utf-8")
        pictures.append({"svg": inline(text, name), "caption": caption})
    return pictures


def write(results: DemoResults, out: Path, command: str) -> Path:
    """Write figures, data and the page; without Matplotlib no figures.

    Parameters
    ----------
    results
        All that was simulated.
    out
        Folder to write into.
    command
        How to make all of it again.

    Returns
    -------
    Path
        The page.
    """
    from ackclock._util.page import render

    out.mkdir(parents=True, exist_ok=True)
    pictures = _pictures(results, out, command) if find_spec("matplotlib") else []
    _write_values(results, out / "results.csv")
    for qdisc, runs in results.runs.items():
        (out / f"{qdisc}.toml").write_text(runs[0].scenario.to_toml(), encoding="utf-8")
    first = results.runs["fifo"][0]
    page = render(
        Path(__file__).with_name("geant_demo.html"),
        answer=results.answer(),
        metrics=METRICS,
        rows=[(qdisc, results.cells(qdisc)) for qdisc in results.runs],
        differences=[(qdisc, results.differences(qdisc)) for qdisc in list(results.runs)[1:]],
        figures=pictures,
        install=how_to_install("papers"),
        busiest=BUSIEST,
        size=results.size,
        rule=results.rule,
        cities=len(first.scenario.data["net"]["nodes"]),
        links=len(first.scenario.data["net"]["links"]),
        summary=first.summary,
        hashes=[(q, runs[0].summary["scenario_hash"]) for q, runs in results.runs.items()],
        hops=sum(r.summary["totals"]["packet_hops"] for rs in results.runs.values() for r in rs),
        command=command,
    )
    path = out / "index.html"
    path.write_text(page, encoding="utf-8")
    return path


def _write_values(results: DemoResults, file: Path) -> None:
    """Write what was measured of every run as CSV."""
    import csv

    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["qdisc", "seed", *(metric.key for metric in METRICS)])
        for qdisc, runs in results.runs.items():
            for run, values in zip(runs, results.values[qdisc], strict=True):
                seed = run.summary["seed"]
                writer.writerow([qdisc, seed, *(values[metric.key] for metric in METRICS)])


def demonstrate(out: Path, *, quick: bool = False) -> str:
    """Run the demonstration.

    Parameters
    ----------
    out
        Folder to write into.
    quick
        2 replications of 4 s.

    Returns
    -------
    str
        The answer with its table, and where the page is.
    """
    size = Size(reps=2, duration_s=4.0, warmup_s=1.0) if quick else Size()
    results = simulate(size)
    page = write(results, out, "ackclock demo" + (" --quick" if quick else ""))
    units = [f" [{metric.unit}]" if metric.unit else "" for metric in METRICS]
    head = ["qdisc", *(m.title + unit for m, unit in zip(METRICS, units, strict=True))]
    rows = [[qdisc, *results.cells(qdisc)] for qdisc in results.runs]
    count = f"GEANT 2009, {size.flows} CUBIC flows, {size.reps} replications"
    return (
        f"\n{count}; mean ± half of the 95 % interval\n\n{table(head, rows)}\n\n"
        f"{results.answer()}\n\npage: {page}{'' if find_spec('matplotlib') else NO_FIGURES}"
    )
