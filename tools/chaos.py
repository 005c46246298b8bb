"""Run a sweep under faults, and compare what it kept with an undisturbed one, bit for bit.

In each round one or two sweeps run on the same store, beside `results gc`, while processes are
killed (the sweep, its workers, Dask workers, the Dask scheduler), the disk fills and comes back, or
the clock jumps (`tools/chaos_child.py`). Then the sweep runs once undisturbed. At the end each run
must be kept once, with every table and summary equal to those of an undisturbed sweep, except CPU
times and when, where and by what command it ran. All choices follow from the seed. The verdict
depends on no time.

Exit status: 0 as expected, 1 a difference or an unexpected exit.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

ROOT = Path(__file__).resolve().parent.parent
CHILD = Path(__file__).with_name("chaos_child.py")
#: Columns of `runs` that say when, where and by what a run was done.
OF_THE_MOMENT = {"cpu_s", "finished_at", "host", "command"}
#: Exit codes of a disturbed sweep: it ended well, it reports what it could not do, it was killed.
EXPECTED = {0, 2, -signal.SIGKILL}
#: Part of the rounds in which tables of runs of more than `ROWS` rows go to disk in pieces.
IN_PIECES, ROWS = 0.4, 50

PLAIN = """
name = "plain"
reps = {reps}
base = "base.toml"
[over]
"net.buffer" = ["5 pkt", "20 pkt"]
cc = {{ path = "flows[*].cc", values = {{ Reno = "aimd", Vegas = "vegas" }} }}
"""

OWN = """
name = "own"
reps = {reps}
base = "own.toml"
[over]
"net.buffer" = ["5 pkt", "20 pkt"]
"""

BASE = """
duration = "1 s"
warmup = "0.2 s"
net = { kind = "dumbbell", pairs = 2, rate = "2 Mbps", rtt = "40 ms", buffer = "20 pkt" }
record = { tables = ["windows", "drops", "flow_samples"], interval = "100 ms" }
flows = [{ pair = 0, cc = "aimd" }, { pair = 1, cc = "cubic", start_jitter = "50 ms" }]
"""

OWN_BASE = BASE.replace('"aimd"', '{ kind = "python", class = "mine.py:Mine" }')

MINE = """
import ackclock as ac


@ac.control(cadence="ack")
class Mine:
    growth: float = 1.0

    def on_ack(self, window, ack):
        window.cwnd += self.growth * ack.acked / window.cwnd

    def on_congestion(self, window, event):
        window.cwnd = max(1.0, window.cwnd / 2)
"""


class Chaos:
    """The sweeps, their stores, and what happened to them."""

    def __init__(self, folder: Path, runs: int, seed: int) -> None:
        self.folder = folder
        self.choose = random.Random(seed)
        self.happened: Counter[str] = Counter()
        self.exits: Counter[int] = Counter()
        self.faults: list[str] = []
        self.number = 0
        own = max(2, runs // 10 // 2 * 2)
        plain = max(4, (runs - own) // 4 * 4)
        self.runs = own + plain
        for name, text in {
            "base.toml": BASE,
            "own.toml": OWN_BASE,
            "mine.py": MINE,
            "plain-sweep.toml": PLAIN.format(reps=plain // 4),
            "own-sweep.toml": OWN.format(reps=own // 2),
        }.items():
            (folder / name).write_text(text, encoding="utf-8")
        self.calls = {"plain": 0, "own": 0}

    def start(self, which: str, store: str, faults: dict[str, Any], *more: str) -> _Child:
        """Begin a sweep with faults."""
        self.number += 1
        plan, report = (self.folder / f"{self.number}-{kind}.json" for kind in ("plan", "report"))
        plan.write_text(json.dumps({**faults, "report": str(report)}), encoding="utf-8")
        file, place = self.folder / f"{which}-sweep.toml", self.folder / store
        options = ["--store", str(place), "--quiet", *more]
        if not more:
            options += ["--workers", "2"]
        command = [sys.executable, str(CHILD), str(plan), "sweep", str(file), *options]
        return _Child(command, self.folder / f"{self.number}.log", report)

    def end(self, child: _Child) -> int:
        """Wait for a sweep and note how it ended."""
        code = child.process.wait()
        self.exits[code] += 1
        said = child.log.read_text(encoding="utf-8", errors="replace")
        # Dask logs tracebacks of lost connections itself.
        is_broken = "internal error" in said or ("Traceback" in said and "distributed" not in said)
        if code not in EXPECTED or is_broken:
            self.faults.append(f"exit code {code}: {said[-2000:]}")
        if child.report.exists():
            self.happened.update(json.loads(child.report.read_text())["happened"])
        return code

    def peace(self, store: str) -> None:
        """Run both sweeps to their ends, undisturbed."""
        for which in ("plain", "own"):
            child = self.start(which, store, {})
            code = self.end(child)
            if code != 0:
                self.faults.append(f"the undisturbed sweep {which} ended with {code}")
            elif store == "quiet":
                self.calls[which] = json.loads(child.report.read_text())["calls"]

    def ways(self, rounds: int) -> list[str]:
        """Give a way of disturbance for each round: each as often as another, in any order."""
        ways = ["drive", "two", "disk", "clock", "worker", "gc"]
        order = [ways[number % len(ways)] for number in range(rounds)]
        self.choose.shuffle(order)
        return order

    def round(self, way: str, rounds: int) -> None:
        """Disturb one or two sweeps on the store."""
        which, more = "own" if way == "worker" else "plain", 0
        most = max(20, self.calls[which] // (rounds + 1))
        moment = self.choose.randint(1, most)
        faults: dict[str, Any] = {"die": moment}
        if way == "two":
            more = 1
        elif way == "disk":
            last = moment + self.choose.randint(1, most)
            faults = {"disk": [moment, last, self.choose.choice([0, 100, 4096, 20_000])]}
            faults["die"] = last + self.choose.randint(1, most)
        elif way == "clock":
            faults["clock"] = self.choose.randrange(2**32)
        elif way == "worker":
            # The pool starts anew, and the sweep goes on until it is killed.
            faults["worker"] = 1
        if self.choose.random() < IN_PIECES:
            faults["rows"] = ROWS
            self.happened["tables in pieces"] += 1
        children = [self.start(which, "chaos", faults)]
        for _ in range(more):
            children.append(self.start("plain", "chaos", {"die": self.choose.randint(1, most)}))
        if way in ("gc", "two"):
            log = (self.folder / "gc.log").open("a", encoding="utf-8")
            arguments = ["results", "gc", "--store", str(self.folder / "chaos")]
            done = subprocess.run(
                [sys.executable, "-m", "ackclock", *arguments],
                stdout=log, stderr=log, check=False,
            )  # fmt: skip
            self.happened["gc beside sweeps"] += 1
            # There may be no store yet.
            if done.returncode not in (0, 2):
                self.faults.append(f"gc ended with {done.returncode}")
        for child in children:
            self.end(child)

    def cluster(self, what: str) -> None:
        """Run the sweep on a Dask cluster of which a part is killed."""
        with _cluster(self.folder) as (address, pids):
            faults = {"kill": [1, pids[what], f"Dask {what} killed"]}
            self.end(self.start("plain", "chaos", faults, "--cluster", address))


class _Child:
    def __init__(self, command: list[str], log: Path, report: Path) -> None:
        self.log, self.report = log, report
        with log.open("w", encoding="utf-8") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out)


@contextmanager
def _cluster(folder: Path) -> Iterator[tuple[str, dict[str, int]]]:
    """A scheduler and two workers; gives its address and the processes that may be killed."""
    from distributed import Client

    file = folder / "scheduler.json"
    file.unlink(missing_ok=True)
    logs = (folder / "dask.log").open("a", encoding="utf-8")

    def begin(*arguments: str) -> subprocess.Popen[bytes]:
        program = Path(sys.executable).with_name("dask")
        command = [str(program), *arguments, "--scheduler-file", str(file), "--host", "127.0.0.1"]
        return subprocess.Popen(command, stdout=logs, stderr=logs, cwd=folder)

    begun = [begin("scheduler", "--port", "0", "--no-dashboard")]
    worker = ("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")
    begun += [begin(*worker, "--local-directory", str(folder)) for _ in range(2)]
    try:
        with Client(scheduler_file=str(file), timeout=600, set_as_default=False) as client:
            client.wait_for_workers(2)
            address = client.scheduler.address
        yield address, {"scheduler": begun[0].pid, "worker": begun[1].pid}
    finally:
        for process in reversed(begun):
            process.kill()
            process.wait()


def kept(store: Path) -> dict[str, pa.Table]:
    """Every table of a store, by run and otherwise in order, without what is of the moment."""
    import pyarrow as pa

    from ackclock.experiments.store import pack

    tables: dict[str, list[pa.Table]] = {}
    for at in sorted((store / "packs").iterdir()):
        if not pack.is_whole(at):
            raise SystemExit(f"{at}: the pack is not whole")
        for file in sorted(at.glob("*.parquet")):
            rows = pack.rows_of(at, file.stem)
            if rows is not None:
                tables.setdefault(file.stem, []).append(_plain(rows, file.stem))
    return {name: _ordered(pa.concat_tables(parts)) for name, parts in tables.items()}


def _plain(rows: pa.Table, name: str) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = {}
    for field in rows.schema:
        if name == "runs" and field.name in OF_THE_MOMENT:
            continue
        column = rows[field.name]
        if pa.types.is_dictionary(field.type):
            column = pc.cast(column, field.type.value_type)
        if field.name == "summary":
            column = pa.chunked_array([[_timeless(text) for text in column.to_pylist()]])
        columns[field.name] = column
    return pa.table(columns)


def _timeless(summary: str) -> str:
    made = json.loads(summary)
    del made["totals"]["cpu_s"]
    return json.dumps(made)


def _ordered(rows: pa.Table) -> pa.Table:
    """Rows by key; those of one run keep their order."""
    import numpy as np

    order = np.argsort(np.array(rows["key"].to_pylist()), kind="stable")
    return rows.take(order).combine_chunks()


def differences(quiet: dict[str, pa.Table], chaos: dict[str, pa.Table], runs: int) -> list[str]:
    """Name what the two stores do not have in common."""
    found = []
    if quiet.keys() != chaos.keys():
        found.append(f"tables {sorted(quiet)} and {sorted(chaos)}")
    for name in quiet.keys() & chaos.keys():
        one, other = quiet[name], chaos[name]
        if name == "runs" and not len(set(other["key"].to_pylist())) == other.num_rows == runs:
            found.append(f"{other.num_rows} runs are kept, expected each of {runs} once")
        if one.schema != other.schema or one.num_rows != other.num_rows:
            found.append(f"{name}: {one.num_rows} and {other.num_rows} rows, or other columns")
            continue
        for column in one.column_names:
            if not _same_bits(one[column], other[column]):
                found.append(f"{name}.{column} differs")
    return found


def _same_bits(one: pa.ChunkedArray, other: pa.ChunkedArray) -> bool:
    import pyarrow as pa

    if not pa.types.is_floating(one.type):
        return bool(one.equals(other))
    # Not by value: NaN is unlike itself, and 0 is like -0.
    return bool(one.to_numpy().tobytes() == other.to_numpy().tobytes())


def main() -> int:
    """Disturb, compare, report; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000, help="runs of the sweeps together")
    parser.add_argument(
        "--rounds", type=int, default=40, help="disturbed sweeps, one after another"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-cluster", action="store_true", help="leave the Dask cluster out")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="ackclock-chaos-"))
    os.environ["PYTHONPATH"] = os.pathsep.join(
        part for part in (str(ROOT / "python"), os.environ.get("PYTHONPATH")) if part
    )
    chaos = Chaos(folder, given.runs, given.seed)
    chaos.peace("quiet")
    order = chaos.ways(given.rounds)
    if not given.no_cluster:
        for what in ("Dask worker", "Dask scheduler"):
            order.insert(chaos.choose.randrange(len(order) // 2 + 1), what)
    for way in order:
        if way.startswith("Dask "):
            chaos.cluster(way.removeprefix("Dask "))
        else:
            chaos.round(way, given.rounds)
    chaos.peace("chaos")
    found = chaos.faults + differences(kept(folder / "quiet"), kept(folder / "chaos"), chaos.runs)
    for what, count in sorted(chaos.happened.items()):
        print(f"{what:20} {count:>5}")
    exits = ", ".join(f"{count} with {code}" for code, count in sorted(chaos.exits.items()))
    print(f"sweeps ended: {exits}")
    if found:
        print("\n".join(found), f"seed {given.seed}; all is kept in {folder}", sep="\n")
        return 1
    print(f"{chaos.runs} runs, each kept once and equal to the undisturbed one in all tables")
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
