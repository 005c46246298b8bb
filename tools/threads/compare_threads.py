"""Run examples and papers on one thread and on several: digests and tables must be equal.

    .venv/bin/python tools/threads/compare_threads.py
    .venv/bin/python tools/threads/compare_threads.py --papers all --most-s 5 --threads 2,3
    .venv/bin/python tools/threads/compare_threads.py --papers akella2002 --each 40

Of papers the scenarios of the fast tier are run, without options one of each study; they are drawn
at random, the same each time. Cases of other engines are left out; those with Python code use one
thread in any case. Exit status: 0 all equal, 1 some differ.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ackclock as ac
from ackclock.reproduce.read.folder import names as available
from ackclock.reproduce.read.folder import read as load
from ackclock.reproduce.run.studies import sweep_of
from ackclock.scenario.threads import ALWAYS_THREADS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.scenario.scenario import Scenario

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = 1
"""Cases of a study in a sample."""
NOT_RESULTS = ("threads", "threads_reason", "cpu_s")
"""What a run took, among its totals."""


def examples() -> Iterator[tuple[str, Scenario]]:
    """Load each example that is a scenario of packets."""
    for file in sorted((ROOT / "examples").glob("*.toml")):
        yield file.name, ac.load(file)


def cases(name: str, most: int | None) -> Iterator[tuple[str, Scenario]]:
    """Make the scenarios of a paper's fast tier, of each study all or so many."""
    paper = load(name)
    for study in paper.studies.values():
        sweep = sweep_of(paper, study, "fast")
        points = list(sweep.points)
        random.Random(1).shuffle(points)
        for point in points[:most]:
            case = sweep.case_at(point)
            if isinstance(case, ac.Scenario):
                at = ", ".join(f"{axis} {label}" for axis, label in point.labels.items())
                yield f"{name}: {at}", case


def outcome(scenario: Scenario, threads: int) -> tuple[dict[str, Any], dict[str, Any], int, str]:
    """Run; return summary, tables, the threads that were used, and why not more."""
    os.environ[ALWAYS_THREADS] = "1"
    run = scenario.run(threads=threads, progress=None)
    summary = json.loads(json.dumps(run.summary))
    took = [summary["totals"].pop(key, None) for key in NOT_RESULTS]
    tables = {name: run.table(name) for name in run.tables}
    return summary, tables, took[0] or 1, took[1] or "it was not said"


class Comparison:
    """Counts of runs that were compared.

    Parameters
    ----------
    threads
        Each number of threads that is compared with one.
    """

    def __init__(self, threads: list[int]) -> None:
        self.threads = threads
        self.equal = 0
        self.different: list[str] = []
        self.on_one: Counter[str] = Counter()

    def add(self, name: str, scenario: Scenario) -> None:
        """Run a scenario on one thread and on several."""
        if scenario.holds_lock:
            self.on_one["user-defined algorithms are called by one thread"] += 1
            return
        one = outcome(scenario, 1)
        for threads in self.threads:
            several = outcome(scenario, threads)
            if several[:2] != one[:2]:
                self.different.append(f"{name}, {threads} threads")
                print(f"DIFFERS: {self.different[-1]}", file=sys.stderr)
            elif several[2] == 1:
                self.on_one[several[3]] += 1
            else:
                self.equal += 1

    def __str__(self) -> str:
        lines = [f"{self.equal} runs on several threads equal those on one, digest and tables"]
        lines += [
            f"{count} runs used one thread: {reason}" for reason, count in self.on_one.items()
        ]
        lines += [f"DIFFERS: {name}" for name in self.different]
        return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--papers",
        default="sample",
        help="sample, all, none, or the name of a paper, which is run without the examples",
    )
    parser.add_argument("--threads", default="2", help="numbers, separated by commas")
    parser.add_argument("--each", type=int, help="most cases of a study")
    parser.add_argument("--most-s", type=float, default=20.0, help="longest predicted run")
    options = parser.parse_args(arguments)
    found = Comparison([int(number) for number in options.threads.split(",")])
    names = [] if options.papers == "none" else list(available())
    todo = list(examples())
    if options.papers not in ("sample", "all", "none"):
        names, todo = [options.papers], []
    for name in names:
        todo += cases(name, SAMPLE if options.papers == "sample" else options.each)
    long = 0
    begin = time.monotonic()
    try:
        for number, (name, scenario) in enumerate(todo, 1):
            if scenario.cost().cpu_s > options.most_s:
                long += 1
                continue
            found.add(name, scenario)
            took = f"{time.monotonic() - begin:.0f} s"
            print(f"{number} of {len(todo)}, {took}: {name}", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"stopped after {number - 1} of {len(todo)} cases")
    print(found)
    if long:
        print(f"{long} cases are predicted to take more than {options.most_s:g} s: not run")
    return 1 if found.different else 0


if __name__ == "__main__":
    sys.exit(main())
