"""What the layer above the engine costs: sweeps, the store, the start of the command line.

``python benchmarks/experiments.py [layer] [short] [store] [start] [--quick]`` measures all, or what
is named, and prints the goal beside it. Run it on a quiet machine with the Python of
``make setup``. Figures are CPU time where other programs would disturb the clock.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock import Scenario

CASE = """
duration = "{seconds} s"
[net]
kind = "dumbbell"
pairs = 10
rate = "10 Mbps"
rtt = "50 ms"
buffer = "1 bdp"
[[flows]]
pair = 0
count = 9
start = 0.1
[[traffic]]
generator = {{ kind = "poisson", rate = 1, pairs = 2, sizes = {{ kind = "fixed", mean = 15000 }} }}
"""
"""A dumbbell with long flows and a few short transfers; a second takes about 1.7 ms."""


def cpu_s() -> float:
    """CPU time of this process, all threads [s]."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def a_case(target_s: float) -> Scenario:
    """A case whose run takes about so long [s]."""
    import ackclock as ac

    def took(seconds: float) -> float:
        runs = [ac.load(CASE.format(seconds=seconds)).run(seed=s) for s in (1, 2, 3)]
        return statistics.median(float(run.summary["totals"]["cpu_s"]) for run in runs)

    seconds = 5.0
    for _ in range(4):
        seconds = max(1.0, round(seconds * target_s / took(seconds), 1))
    return ac.load(CASE.format(seconds=seconds))


def bare(case: Scenario, count: int, workers: int) -> tuple[float, float]:
    """Clock and CPU time per run of nothing but the core on threads [s]."""
    from ackclock import _core

    texts = iter([case.with_seed(1 + seed).core_json() for seed in range(count)])
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                text = next(texts, None)
            if text is None:
                return
            _core.run(text)

    threads = [threading.Thread(target=work) for _ in range(workers)]
    clock, used = time.perf_counter(), cpu_s()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (time.perf_counter() - clock) / count, (cpu_s() - used) / count


def swept(case: Scenario, count: int, workers: int) -> tuple[float, float]:
    """Clock and CPU time per run of a sweep into a new store [s]."""
    import ackclock as ac

    with tempfile.TemporaryDirectory() as folder:
        sweep = ac.sweep(case, {"net.buffer": ["1 bdp", "10 ms"]}, reps=count // 2)
        clock, used = time.perf_counter(), cpu_s()
        result = sweep.run(workers=workers, store=Path(folder) / "store", progress=False)
        clock, used = time.perf_counter() - clock, cpu_s() - used
        assert len(result.slots) == count
    return clock / count, used / count


def compared(target_s: float, count: int, workers: int) -> dict[str, float]:
    """Sweep against core, both halves of a turn one after another; medians over three turns."""
    case = a_case(target_s)
    # The grid of the sweep has two points, so the core runs both too.
    other = case.replace(**{"net.buffer": "10 ms"})
    swept(case, 4, workers)  # everything is imported
    turns = []
    for _ in range(3):
        half = count // 2
        one, two = bare(case, half, workers), bare(other, half, workers)
        layer = swept(case, count, workers)
        turns.append(
            {
                "bare_ms": 500 * (one[0] + two[0]),
                "sweep_ms": 1000 * layer[0],
                "clock": (one[0] + two[0]) / 2 / layer[0],
                "cpu": (one[1] + two[1]) / 2 / layer[1],
            }
        )
    return {key: sorted(turn[key] for turn in turns)[1] for key in turns[0]}


def layer(quick: bool) -> None:  # noqa: FBT001
    """Runs of 0.5 s: what the layer adds."""
    found = compared(0.5, 8 if quick else 24, 2)
    print(
        f"runs of 0.5 s: the layer adds {100 * (1 / found['cpu'] - 1):.1f} % of CPU time,"
        f" {100 * (1 / found['clock'] - 1):.1f} % by the clock (goal: under 5 %)"
    )


def short(quick: bool) -> None:  # noqa: FBT001
    """Short runs: which part of the cores' capacity is left for them."""
    count = 1000 if quick else 10_000
    found = compared(0.010, count, len(os.sched_getaffinity(0)))
    print(
        f"{count} runs of 10 ms: {100 * found['cpu']:.1f} % of the CPU time is the engine's,"
        f" {100 * found['clock']:.1f} % of its speed by the clock (goal: 90 %)"
    )


def store(quick: bool) -> None:  # noqa: FBT001
    """A large store: listing and filtering by the command line, and one look from Python."""
    from ackclock.experiments.executors.task import Request, RunRecord, perform
    from ackclock.experiments.store import Store, query

    count = 10_000 if quick else 100_000
    case = a_case(0.001).replace(duration="1 s", traffic=None)
    model = perform(Request("", case, 1))
    cases = [case.replace(**{"net.buffer": f"{b} pkt"}) for b in range(5, 105)]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "store"
        begin = time.perf_counter()
        with Store(place, writes=True) as made:
            made.describe({"sweep": "large"})
            for number in range(count):
                at, seed = divmod(number, count // len(cases))
                key = f"{number:064x}"
                record = RunRecord(key, seed, model.summary_json, model.tables, model.cpu_s)
                made.add(record, cases[at], {"net.buffer": f"{at + 5} pkt"})
                if number % 5000 == 4999:
                    made.flush()
        print(f"a store of {count} runs was written in {time.perf_counter() - begin:.0f} s")
        listed = ["results", "list", "--store", str(place)]
        wheres = ("net.buffer=7 pkt", "flows[*].pair=0", "seed<50")
        filters = [word for where in wheres for word in ("--where", where)]
        for name, arguments in {
            "list": listed,
            "list --json": [*listed, "--json"],
            "filter": [*listed, *filters],
            "filter --json": [*listed, *filters, "--json"],
        }.items():
            print(f"ackclock results {name}: {timed(arguments)} (goal: under 2 s)")
        took = []
        for _ in range(3):
            begin = time.perf_counter()
            with Store(place) as there:
                found = query.find(there, ["net.buffer=7 pkt"])
            took.append(time.perf_counter() - begin)
        print(f"{len(found)} runs found from Python in {min(took):.2f} s")
        (place / "index.sqlite").unlink()
        print(f"list after the index was lost: {timed(listed, 1)}")


def timed(arguments: list[str], times: int = 3) -> str:
    """Clock and CPU time of a command, the least of several."""
    took = []
    for _ in range(times):
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "ackclock", *arguments], check=True, stdout=subprocess.DEVNULL
        )
        clock, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append((clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    clock, used = (min(column) for column in zip(*took, strict=True))
    return f"{clock:.2f} s by the clock, {used:.2f} s of CPU time"


def start(quick: bool) -> None:  # noqa: FBT001
    """The command line's start."""
    for arguments in (["--help"], ["results", "--help"], ["version"]):
        times = timed(arguments, 5 if quick else 20)
        print(f"ackclock {' '.join(arguments)}: {times} (goal: under 0.3 s)")


PARTS = {"layer": layer, "short": short, "store": store, "start": start}


def main() -> None:
    """Measure what is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    parser.add_argument("--quick", action="store_true", help="a tenth of the runs")
    given = parser.parse_args()
    for part in given.parts or PARTS:
        PARTS[part](given.quick)


if __name__ == "__main__":
    main()
