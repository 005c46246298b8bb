"""Measure how ackclock's cost grows: set-up, memory, many flows, sampling, two threads."""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import statistics
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scenarios
from measure import (
    BENCHMARKS,
    BenchmarkError,
    bench,
    bench_at_once,
    build,
    choose_core,
    machine,
)

if TYPE_CHECKING:
    from collections.abc import Callable

Report = dict[str, Any]

SIZES = (1_000, 10_000, 100_000)
SETUP_GOAL_FLOWS = 10_000


@dataclass(frozen=True)
class Figure:
    """A measured figure and what is promised of it."""

    what: str
    flows: int
    value: float
    unit: str
    goal: str = ""
    met: bool | None = None


def in_turns(
    sizes: list[int], turns: int, measure: Callable[[int], Report]
) -> dict[int, list[Report]]:
    """Measure every size in each turn, every other turn the other way round."""
    reports: dict[int, list[Report]] = {n: [] for n in sizes}
    for turn in range(turns):
        for n in sizes if turn % 2 == 0 else sizes[::-1]:
            reports[n].append(measure(n))
    return reports


def most_against_least(
    reports: dict[int, list[Report]], of: Callable[[int, Report], float]
) -> float:
    """Return what the last size has over what the first has: the median of the turns."""
    sizes = list(reports)
    least, most = sizes[0], sizes[-1]
    pairs = zip(reports[least], reports[most], strict=True)
    return statistics.median(of(most, b) / of(least, a) for a, b in pairs)


def setup_figures(
    program: Path, core: int, sizes: list[int], turns: int, seconds: float
) -> list[Figure]:
    """Measure time and memory of making everything ready, once in each process, as users do."""

    def measure(n: int) -> Report:
        return bench(program, "setup", scenarios.scaled(n, seconds), core)

    figures: list[Figure] = []
    reports = in_turns(sizes, turns, measure)
    for n, all_turns in reports.items():
        report = {key: statistics.median(turn[key] for turn in all_turns) for key in all_turns[0]}
        setup, engine = report["setup_s"], report["engine_kib"] * 1024 / n
        at_rest = engine + report["plan_kib"] * 1024 / n
        goal = "< 1 s" if n == SETUP_GOAL_FLOWS else ""
        figures += [
            Figure("set-up: parse", n, report["parse_s"], "s"),
            Figure("set-up: compile", n, report["compile_s"], "s"),
            Figure("set-up: build the engine", n, report["build_s"], "s"),
            Figure("set-up in all", n, setup, "s", goal, setup < 1 if goal else None),
            Figure("memory at rest: engine", n, engine, "B a flow"),
            Figure(
                "memory at rest: plan and engine", n, at_rest, "B a flow", "< 4096", at_rest < 4096
            ),
        ]
    growth = most_against_least(reports, lambda n, report: report["setup_s"] / n)
    what = f"set-up time a flow, against {sizes[0]} flows"
    figures.append(Figure(what, sizes[-1], growth, "times", "linear: < 2", growth < 2))
    return figures


def speed_figures(
    program: Path, core: int, sizes: list[int], turns: int, seconds: float
) -> list[Figure]:
    """Measure the speed with ever more flows through a bottleneck that grows with them."""
    figures: list[Figure] = []
    for hosts, scenario in (
        ("separate hosts", scenarios.scaled),
        ("1000 pairs of hosts", scenarios.shared),
    ):
        if any(n % 1000 for n in sizes) and scenario is scenarios.shared:
            continue

        def measure(n: int, scenario: Any = scenario) -> Report:
            # Small ones are over soon: repeated, they have a like chance of a quiet moment.
            repeat = str(max(1, min(20, 50_000 // n)))
            return bench(program, "run", scenario(n, seconds), core, "--repeat", repeat)

        reports = in_turns(sizes, turns, measure)
        for n, all_turns in reports.items():
            run = statistics.median(r["run_cpu_median_s"] for r in all_turns)
            hops = all_turns[0]["packet_hops"] / 1e6
            peak = max(r["peak_kib"] for r in all_turns) * 1024 / n
            figures += [
                Figure(f"run, {hosts}", n, run, "s"),
                Figure(f"packet-hops, {hosts}", n, hops, "million"),
                Figure(f"speed, {hosts}", n, hops / run, "Mhops/s"),
                Figure(f"peak memory of the process, {hosts}", n, peak, "B a flow"),
            ]
        ratio = most_against_least(reports, lambda _, report: _speed(report))
        what = f"speed against {sizes[0]} flows, {hosts}"
        figures.append(Figure(what, sizes[-1], ratio, "times", ">= 0.5", ratio >= 0.5))
    return figures


def _speed(report: Report) -> float:
    return float(report["packet_hops"] / report["run_cpu_median_s"])


def sampling_figures(program: Path, core: int, turns: int, seconds: float) -> list[Figure]:
    """Measure what sampling every flow each 100 ms adds, beside the same run without it."""
    figures = []
    for n in (50, 500):
        plain = scenarios.dumbbell(n, seconds, era="rfc")
        sampled: dict[str, Any] = plain | {
            "record": {"tables": ["flow_samples"], "interval": "100 ms"}
        }
        ratios = []
        for turn in range(turns):
            pair = [plain, sampled] if turn % 2 == 0 else [sampled, plain]
            reports = bench_at_once([(program, scenario) for scenario in pair], core)
            without, with_samples = reports if turn % 2 == 0 else reports[::-1]
            if with_samples["samples"] < n * (seconds * 10 - 1):
                raise BenchmarkError("the samples are not there")
            if without["delivered_packets"] != with_samples["delivered_packets"]:
                raise BenchmarkError("sampling changed the run")
            ratios.append(_speed(without) / _speed(with_samples))
        low, cost, high = ((r - 1) * 100 for r in statistics.quantiles(ratios, n=4))
        figures += [
            Figure("sampling every 100 ms adds", n, cost, "%", "< 5", cost < 5),
            Figure("... in a quarter of the turns less than", n, low, "%"),
            Figure("... in a quarter of the turns more than", n, high, "%"),
        ]
    return figures


def thread_figures(program: Path, turns: int, seconds: float) -> list[Figure]:
    """Two replications at a time against one after the other; on all processors, wall time."""
    n = 500
    report = bench(
        program, "pair", scenarios.dumbbell(n, seconds, era="rfc"), None, "--repeat", str(turns)
    )
    if not report["same_digests"]:
        raise BenchmarkError("a run on two threads differs from the run alone")
    pairs = zip(report["serial_s"], report["parallel_s"], strict=True)
    low, speedup, high = statistics.quantiles([alone / both for alone, both in pairs], n=4)
    alone, both = min(report["serial_s"]), min(report["parallel_s"])
    return [
        Figure("two replications one after the other, least time", n, alone, "s"),
        Figure("two replications on two threads, least time", n, both, "s"),
        Figure("two threads are faster by, in least times", n, alone / both, "times"),
        Figure("two threads are faster by", n, speedup, "times", ">= 1.8", speedup >= 1.8),
        Figure("... in a quarter of the turns by less than", n, low, "times"),
        Figure("... in a quarter of the turns by more than", n, high, "times"),
    ]


def write(figures: list[Figure], out: Path) -> None:
    """Write the CSV and the markdown file of today."""
    out.mkdir(parents=True, exist_ok=True)
    stem = out / f"{dt.datetime.now(tz=dt.UTC).date().isoformat()}-scale"
    with stem.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(asdict(figures[0])), lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(f) | {"value": f"{f.value:.6g}"} for f in figures)
    lines = ["| figure | flows | value | goal | met |", "| --- | --- | --- | --- | --- |"]
    for f in figures:
        met = "" if f.met is None else "yes" if f.met else "no"
        lines.append(f"| {f.what} | {f.flows} | {f.value:.4g} {f.unit} | {f.goal} | {met} |")
    text = "\n".join(lines) + f"\n\n- {machine()}\n"
    stem.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)
    print(f"written: {stem}.csv, {stem}.md", file=sys.stderr)


def main() -> int:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of flows")
    parser.add_argument("--seconds", type=float, default=5.0, help="simulated time with many flows")
    parser.add_argument("--turns", type=int, default=7, help="turns of what is compared in turns")
    parser.add_argument(
        "--out", type=Path, default=BENCHMARKS / "results", help="folder for tables"
    )
    parser.add_argument("--program", type=Path, help="the bench program, if it is built already")
    options = parser.parse_args()
    try:
        program, core = options.program or build(), choose_core()
        figures = [
            *setup_figures(program, core, options.sizes, 3 * options.turns, options.seconds),
            *speed_figures(program, core, options.sizes, min(options.turns, 5), options.seconds),
            *sampling_figures(program, core, 4 * options.turns, 30.0),
            # By the clock, which counts what others do on both processors: many, and short.
            *thread_figures(program, 8 * options.turns, 30.0),
        ]
    except BenchmarkError as error:
        print(f"scale: {error}", file=sys.stderr)
        return 1
    write(figures, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
