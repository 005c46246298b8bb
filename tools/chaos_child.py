"""Run one command of ackclock while faults are put in; `tools/chaos.py` starts it.

    python tools/chaos_child.py FAULTS.json sweep FILE --store STORE ...

Moments are counts of calls into the store's code, or of tasks submitted, never times.
FAULTS has

    die         SIGKILL to this process at this call
    disk        [from, to, bytes]: between these calls no file can grow beyond so many bytes
    clock       seed: each look at the wall clock gives another time, up to 100 days away
    worker      after so many tasks SIGKILL to a process of this machine that does runs
    rows        from so many recorded rows on tables of runs in this process go to disk in pieces
    kill        [tasks, pid, name]: after so many tasks SIGKILL to this process: a Dask worker, ...
    report      file to which the faults that took place, and the number of calls, are written
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

STORE = str(Path("experiments") / "store")
DAYS_S = 86_400.0


def enlarge_disk() -> None:
    """Let files grow without limit."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


class Faults:
    """Faults, their moments, and which of them took place."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.calls = 0
        self.tasks = 0
        self.happened: list[str] = []
        self.report = Path(given["report"])

    def write(self) -> None:
        """Write what took place so far."""
        text = json.dumps({"calls": self.calls, "happened": self.happened})
        beside = self.report.with_suffix(f".{threading.get_ident()}")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.write(descriptor, text.encode())
        os.close(descriptor)
        beside.replace(self.report)

    def on_call(self, frame: FrameType, event: str, _: object) -> None:
        """Count a call into the store's code; a fault may be due."""
        if event != "call" or STORE not in frame.f_code.co_filename:
            return
        self.calls += 1
        if self.calls == self.given.get("die"):
            self.happened.append("drive killed")
            self.write()
            os.kill(os.getpid(), signal.SIGKILL)
        first, last, size = self.given.get("disk", (0, 0, 0))
        if self.calls == first:
            self.happened.append("disk full")
            self.write()
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        elif self.calls == last:
            enlarge_disk()

    def on_tasks(self, count: int, processes: list[int]) -> None:
        """Count submitted tasks; a fault may be due."""
        self.tasks += count
        after = self.given.get("worker")
        if after is not None and self.tasks >= after and processes:
            del self.given["worker"]
            self._kill("worker killed", processes[0])
        after, pid, what = self.given.get("kill", (None, 0, ""))
        if after is not None and self.tasks >= after:
            del self.given["kill"]
            self._kill(what, pid)

    def _kill(self, what: str, pid: int) -> None:
        self.happened.append(what)
        self.write()
        os.kill(pid, signal.SIGKILL)


def put_in(faults: Faults) -> None:
    """Arrange for the faults."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if (seed := faults.given.get("clock")) is not None:
        jumps, now = random.Random(seed), time.time
        faults.happened.append("clock jumps")

        def jump() -> float:
            return now() + jumps.uniform(-100, 100) * DAYS_S

        time.time = jump
        time.time_ns = lambda: int(jump() * 1e9)
    from ackclock.experiments.executors.dask import Cluster
    from ackclock.experiments.executors.local import Processes
    from ackclock.results import table_files

    table_files.ROWS = faults.given.get("rows", table_files.ROWS)
    near, far = Processes.submit, Cluster.submit

    def submit_near(self: Any, task: Any) -> None:
        near(self, task)
        faults.on_tasks(1, list(self._pool._processes))

    def submit_far(self: Any, task: Any) -> None:
        far(self, task)
        faults.on_tasks(1, [])

    Processes.submit = submit_near  # type: ignore[method-assign]
    Cluster.submit = submit_far  # type: ignore[method-assign]
    threading.setprofile(faults.on_call)
    sys.setprofile(faults.on_call)


def main() -> int:
    """Run the command with the faults; return its exit status."""
    faults = Faults(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    put_in(faults)
    from ackclock.cli.main import main as run

    try:
        return run(sys.argv[2:])
    finally:
        sys.setprofile(None)
        enlarge_disk()
        faults.write()


if __name__ == "__main__":
    sys.exit(main())
