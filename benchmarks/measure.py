"""What the benchmark scripts share: the release binary, pinned processes and their cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).resolve().parent
ROOT = BENCHMARKS.parent
PEERS = BENCHMARKS / "peers"


Command = list[str | Path]


class BenchmarkError(Exception):
    """A program that is measured did not do its work."""


@dataclass(frozen=True)
class Finished:
    """A process that ended well.

    ``peak_kib`` counts from the fork on, so it is never less than what this script holds, some
    15 MiB; the bench program reports its memory itself.
    """

    output: str
    peak_kib: int


def choose_core() -> int:
    """Return the last of the processors that this process may use."""
    return max(os.sched_getaffinity(0))


def measured(command: Command, core: int | None, env: dict[str, str] | None = None) -> Finished:
    """Run a command on one processor and return what it cost as the system accounts for it."""
    pin = None if core is None else (lambda: os.sched_setaffinity(0, {core}))
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdout=out,
            stderr=err,
            env=os.environ | (env or {}),
            preexec_fn=pin,  # noqa: PLW1509 (no threads here)
        )
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        output = out.read()
        if process.returncode != 0:
            said = (err.read() or output).strip()[-2000:]
            msg = f"{command[0]} ended with {process.returncode}: {said}"
            raise BenchmarkError(msg)
    return Finished(output, usage.ru_maxrss)


def build() -> Path:
    """Build the bench program in release mode and return its path."""
    command = ["cargo", "build", "--release", "--locked", "-p", "ackclock-bench"]
    print("building ackclock (release) ...", file=sys.stderr)
    done = subprocess.run(
        [*command, "--message-format", "json-render-diagnostics"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise BenchmarkError("ackclock does not build")
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "ackclock-bench":
            return Path(message["executable"])
    raise BenchmarkError("cargo did not name the program it built")


def bench(
    program: Path, command: str, scenario: dict[str, Any], core: int | None, *options: str | Path
) -> dict[str, Any]:
    """Run a command of the bench program on a scenario and return its report."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(scenario, file)
        file.flush()
        finished = measured([program, command, file.name, *options], core)
    report: dict[str, Any] = json.loads(finished.output)
    return report


def bench_at_once(
    runs: list[tuple[Path, dict[str, Any]]], core: int, *options: str | Path
) -> list[dict[str, Any]]:
    """Run bench programs, each on its scenario, at the same time on one processor.

    A machine that is busy changes its speed twofold within seconds. Programs that take turns every
    few milliseconds meet the same moments, so the ratios of their CPU times hold where times hold
    nothing. They compare the cost of the two: each has its part of the caches.
    """
    with tempfile.TemporaryDirectory() as folder:
        running = []
        for i, (program, scenario) in enumerate(runs):
            file = Path(folder) / f"{i}.json"
            file.write_text(json.dumps(scenario), encoding="utf-8")
            command = [str(part) for part in (program, "run", file, *options)]
            running.append(
                subprocess.Popen(
                    command,
                    stdout=subprocess.PIPE,
                    text=True,
                    preexec_fn=lambda: os.sched_setaffinity(0, {core}),  # noqa: PLW1509
                )
            )
        outputs = [process.communicate()[0] for process in running]
    for (program, _), process in zip(runs, running, strict=True):
        if process.returncode != 0:
            msg = f"{program} ended with {process.returncode}"
            raise BenchmarkError(msg)
    return [json.loads(output) for output in outputs]


def hierarchy_files(folder: Path) -> Path:
    """Write the hierarchy's CSV files into ``folder`` and return it."""
    subprocess.run(
        [sys.executable, str(PEERS / "make_hierarchy.py"), "--out", str(folder)], check=True
    )
    return folder


def machine() -> str:
    """Describe the processor."""
    model = "unknown processor"
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} processors"
