"""The demonstration: one real network, many TCP flows, four queue disciplines in turn.

``python -m ackclock.demo`` (or ``make demo``) runs it on all cores and writes a page.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.errors import AckclockError
from ackclock.tabular import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.run import Run
    from ackclock.scenario import Scenario

__all__ = ["main"]

QDISCS = ("fifo", "red", "drr", "fq")


@dataclass(frozen=True)
class Metric:
    """A column of the result."""

    key: str
    title: str
    unit: str
    factor: float


METRICS = (
    Metric("mean", "mean goodput", "Mbit/s", 1e-6),
    Metric("minimum", "minimum goodput", "kbit/s", 1e-3),
    Metric("jain", "Jain's index", "1", 1.0),
    Metric("loss", "loss", "%", 100.0),
    Metric("delay", "queueing delay", "ms", 1e3),
)


@dataclass(frozen=True)
class Size:
    """How much is simulated."""

    flows: int = 120
    reps: int = 5
    duration_s: float = 20.0
    warmup_s: float = 5.0


def network() -> tuple[dict[str, Any], str]:
    """The network as plain data, and the rule of its capacities in a sentence."""
    from ackclock.graphs import LinkOptions, csv_data, topohub_data

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
    net = topohub_data("topozoo/Geant2009", "degree", LinkOptions(rate="4 Mbps", **options))
    return net, (
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
    from ackclock.scenario import Scenario

    draw = random.Random(seed)
    cities = sorted({end for link in net["links"] for end in (link["a"], link["b"])})
    reachable = _components(net)
    flows: list[dict[str, Any]] = []
    while len(flows) < size.flows:
        a, b = draw.sample(cities, 2)
        if reachable[a] == reachable[b]:
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


def _components(net: dict[str, Any]) -> dict[str, str]:
    """For each node the name of the part of the network that it is in."""
    part: dict[str, str] = {}
    for link in net["links"]:
        a, b = part.setdefault(link["a"], link["a"]), part.setdefault(link["b"], link["b"])
        if a != b:
            part = {node: a if name == b else name for node, name in part.items()}
    return part


def measured(run: Run) -> dict[str, float]:
    """What one run is judged by.

    Parameters
    ----------
    run
        A finished run.
    """
    from ackclock.plot.figures import jain

    flows, links = run.summary["flows"], run.summary["links"]
    goodput = np.array([flow["goodput_bps"] for flow in flows])
    sent = sum(flow["sent_packets"] for flow in flows)
    lost = sum(flow["lost_data_packets"] for flow in flows)
    used = np.array([link["utilisation"] for link in links])
    delay = np.array([link["delay_mean_s"] or 0.0 for link in links])
    return {
        "mean": float(goodput.mean()),
        "minimum": float(goodput.min()),
        "jain": jain(goodput),
        "loss": lost / sent if sent else float("nan"),
        # Links weigh as much as they carry, so that idle ones do not dilute the mean.
        "delay": float(np.average(delay, weights=used)) if used.sum() > 0 else float("nan"),
    }


@dataclass
class Results:
    """All that was simulated."""

    size: Size
    rule: str
    runs: dict[str, list[Run]]

    def interval(self, qdisc: str, metric: Metric) -> tuple[float, float, float]:
        """Mean and ends of the 95 % interval over replications, in the metric's unit."""
        from ackclock.replication import mean_interval

        values = [measured(run)[metric.key] * metric.factor for run in self.runs[qdisc]]
        return mean_interval(values)

    def cells(self, qdisc: str) -> list[str]:
        """The table's row."""
        out = []
        for metric in METRICS:
            mean, low, high = self.interval(qdisc, metric)
            half = "" if np.isnan(low) else f" ± {(high - low) / 2:.2g}"
            out.append(f"{mean:.3g}{half}")
        return out

    def answer(self) -> str:
        """The finding in a sentence, from the data."""
        jain, delay = METRICS[2], METRICS[4]
        fairness = {q: self.interval(q, jain) for q in self.runs}
        wait = {q: self.interval(q, delay) for q in self.runs}
        fairest = max(fairness, key=lambda q: fairness[q][0])
        unfairest = min(fairness, key=lambda q: fairness[q][0])
        shortest = min(wait, key=lambda q: wait[q][0])
        longest = max(wait, key=lambda q: wait[q][0])
        best, worst = fairness[fairest], fairness[unfairest]
        if best[1] > worst[2]:
            first = f"{fairest.upper()} shares most evenly: Jain's index {best[0]:.2f} against"
            first += f" {worst[0]:.2f} under {unfairest.upper()}"
        else:
            first = "No queue shares clearly more evenly than the others: Jain's index is"
            first += f" {worst[0]:.2f} to {best[0]:.2f}"
        least, most = wait[shortest], wait[longest]
        if least[2] < most[1]:
            second = f"{shortest.upper()} keeps packets waiting least, {least[0]:.3g} ms per link"
            second += f" against {most[0]:.3g} ms under {longest.upper()}"
        else:
            second = f"packets wait about as long under each, {least[0]:.3g} to {most[0]:.3g} ms"
        return f"{first}; {second}."


def simulate(size: Size) -> Results:
    """Run all disciplines and replications on all cores.

    Parameters
    ----------
    size
        How much is simulated.
    """
    from rich.console import Console
    from rich.progress import Progress

    from ackclock.replication import run_all

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
    return Results(size, rule, runs)


def _goodputs(results: Results) -> Figure:
    from ackclock.plot.figures import _axes
    from ackclock.plot.style import line

    made = _figure(results)
    axes = _axes(made, "Goodput of flows", "goodput [Mbit/s]", "share of flows at most this")
    for i, (qdisc, runs) in enumerate(results.runs.items()):
        values = [flow["goodput_bps"] / 1e6 for run in runs for flow in run.summary["flows"]]
        axes.ecdf(values, label=qdisc, **line(i))
    axes.set_xscale("symlog", linthresh=0.01)
    axes.set_xlim(left=0)
    axes.legend(loc="upper left", frameon=False)
    return made


def _comparison(results: Results) -> Figure:
    from ackclock.plot.style import line

    made = _figure(results, 9.0, 2.8)
    axes = made.subplots(1, len(METRICS))
    for ax, metric in zip(axes, METRICS, strict=True):
        top = 0.0
        for i, qdisc in enumerate(results.runs):
            mean, low, high = results.interval(qdisc, metric)
            half = 0.0 if np.isnan(low) else (high - low) / 2
            colour = line(i)["color"]
            top = max(top, mean + half)
            ax.errorbar([i], [mean], yerr=[half], fmt="o", color=colour, capsize=4)
        ax.set_xticks(range(len(results.runs)), list(results.runs))
        ax.set_xlim(-0.5, len(results.runs) - 0.5)
        ax.set_ylim(0, 1.1 * top if top > 0 else 1.0)
        ax.set_title(metric.title, fontsize=9)
        ax.set_ylabel(f"[{metric.unit}]", fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    return made


def _figure(results: Results, width: float = 7.2, height: float = 4.0) -> Figure:
    from ackclock.plot.style import figure, recipe

    made = figure(None, width, height)
    first = next(iter(results.runs.values()))[0].summary
    seeds = f"1 to {results.size.reps}"
    hashes = [runs[0].summary["scenario_hash"] for runs in results.runs.values()]
    recipe(made, scenario=" ".join(str(h) for h in hashes), seeds=seeds, version=first["version"])
    return made


def _map(results: Results) -> Figure:
    from ackclock.plot import network_map

    runs = results.runs["fifo"]
    used: dict[str, float] = {}
    for run in runs:
        for link in run.summary["links"]:
            name = str(link["id"])
            used[name] = used.get(name, 0.0) + link["utilisation"] / len(runs)
    return network_map(runs[0], used)


def write(results: Results, out: Path, command: str) -> Path:
    """Write figures, data and the page.

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
    import csv

    from jinja2 import Environment, PackageLoader, StrictUndefined

    from ackclock.plot import save

    out.mkdir(parents=True, exist_ok=True)
    figures = {
        "comparison": (_comparison(results), "Means and 95 % intervals over replications."),
        "goodput": (_goodputs(results), "Goodput of every flow of every replication."),
        "map": (
            _map(results),
            "Utilisation under FIFO, mean of the replications; wider lines have more capacity.",
        ),
    }
    inline = []
    for name, (made, caption) in figures.items():
        for kind in ("svg", "png"):
            save(made, out / f"{name}.{kind}", command=command)
        text = (out / f"{name}.svg").read_text(encoding="utf-8")
        # Ids must differ between figures of one page.
        svg = text[text.index("<svg") :].replace('id="', f'id="{name}-')
        svg = svg.replace('href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")
        inline.append({"svg": svg, "caption": caption})
    with (out / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["qdisc", "seed", *(metric.key for metric in METRICS)])
        for qdisc, runs in results.runs.items():
            for run in runs:
                values = measured(run)
                seed = run.summary["seed"]
                writer.writerow([qdisc, seed, *(values[metric.key] for metric in METRICS)])
    for qdisc, runs in results.runs.items():
        (out / f"{qdisc}.toml").write_text(runs[0].scenario.to_toml(), encoding="utf-8")
    environment = Environment(
        loader=PackageLoader("ackclock"), autoescape=True, undefined=StrictUndefined
    )
    first = results.runs["fifo"][0]
    page = environment.get_template("demo.html").render(
        answer=results.answer(),
        metrics=METRICS,
        rows=[(qdisc, results.cells(qdisc)) for qdisc in results.runs],
        figures=inline,
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


def main(arguments: list[str] | None = None) -> int:
    """Run the demonstration.

    Parameters
    ----------
    arguments
        Left out: those of this process.

    Returns
    -------
    int
        The exit code, as that of the command line.
    """
    parser = argparse.ArgumentParser(prog="python -m ackclock.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/demo"), help="folder to write into")
    parser.add_argument("--quick", action="store_true", help="2 replications of 4 s")
    given = parser.parse_args(arguments)
    size = Size(reps=2, duration_s=4.0, warmup_s=1.0) if given.quick else Size()
    command = "python -m ackclock.demo" + (" --quick" if given.quick else "")
    try:
        results = simulate(size)
        page = write(results, given.out, command)
    except AckclockError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 3
    head = ["qdisc", *(f"{metric.title} [{metric.unit}]" for metric in METRICS)]
    rows = [[qdisc, *results.cells(qdisc)] for qdisc in results.runs]
    count = f"GEANT 2009, {size.flows} CUBIC flows, {size.reps} replications"
    answer = results.answer()
    sys.stdout.write(f"\n{count}; mean ± half of the 95 % interval\n\n{table(head, rows)}\n\n")
    sys.stdout.write(f"{answer}\n\npage: {page}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
