"""Runs a student's file in a separate process, and says what became of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.course.students.confine import Holds
from ackclock.course.students.worker import FAILED
from ackclock.course.tasks import find_task
from ackclock.course.tasks.source import NotUsableError, line_of
from ackclock.course.tasks.task import Measured
from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ackclock.course.tasks.task import Item

__all__ = ["StudentLimits", "run_student"]


@dataclass(frozen=True)
class StudentLimits:
    """What one student's code may use.

    Attributes
    ----------
    seconds
        CPU time for all items together [s].
    memory_bytes
        Memory beside what an empty run takes [B].
    """

    seconds: int = 10
    memory_bytes: int = 1024 << 20

    @property
    def wall_s(self) -> float:
        """Time after which a process that sleeps is ended [s]; long, as machines are shared."""
        return 10.0 * self.seconds + 30.0


def run_student(
    kind: str, file: Path, items: Sequence[Item], limits: StudentLimits
) -> tuple[Measured, Holds | None]:
    """Run one student's file on all items.

    Parameters
    ----------
    kind
        Of the task.
    file
        Of the student.
    items
        What it is put to.
    limits
        Of the process.

    Returns
    -------
    tuple
        What became of it, and which limits this machine enforced; None if it never began.
    """
    file = file.resolve()
    try:
        entry = find_task(kind).find_entry(file)
    except NotUsableError as error:
        return Measured(problem=str(error)), None
    job = {
        "kind": kind,
        "file": str(file),
        "entry": entry.name,
        "seconds": limits.seconds,
        "memory_bytes": limits.memory_bytes,
        "items": [{"name": item.name, "data": item.data} for item in items],
    }
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "ackclock.course.students.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_plain_environment(),
        cwd=file.parent,
        start_new_session=True,
    )
    out, report, slept = _wait(process, json.dumps(job).encode(), limits)
    lines = [parsed for line in out.splitlines() if (parsed := _parse_line(line)) is not None]
    return _read_results(lines, report, process.returncode, file, limits, slept=slept)


def _plain_environment() -> dict[str, str]:
    """Nothing of the teacher's environment, and one thread for libraries of mathematics."""
    kept = {
        name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR") if name in os.environ
    }
    return {**kept, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}


def _wait(
    process: subprocess.Popen[bytes], job: bytes, limits: StudentLimits
) -> tuple[str, str, bool]:
    slept = False
    try:
        out, report = process.communicate(job, timeout=limits.wall_s)
    except subprocess.TimeoutExpired:
        slept = True
        if hasattr(signal, "SIGXCPU"):
            process.send_signal(signal.SIGXCPU)  # writes its line
            try:
                out, report = process.communicate(timeout=2)
                return out.decode("utf-8", "replace"), report.decode("utf-8", "replace"), slept
            except subprocess.TimeoutExpired:
                pass
        process.kill()
        out, report = process.communicate()
    except BaseException:
        process.kill()
        process.wait()
        raise
    return out.decode("utf-8", "replace"), report.decode("utf-8", "replace"), slept


def _parse_line(line: str) -> dict[str, Any] | None:
    try:
        parsed = json.loads(line)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None


def _read_results(
    lines: list[dict[str, Any]],
    report: str,
    code: int,
    file: Path,
    limits: StudentLimits,
    *,
    slept: bool,
) -> tuple[Measured, Holds | None]:
    if code == FAILED and not lines:
        raise AckclockError(f"the process for {file.name} could not be set up:\n{report}")
    holds = Holds(**lines[0]) if lines and {*lines[0]} == {*Holds._fields} else None
    results = {line["name"]: line["result"] for line in lines if "result" in line}
    problem = ""
    for line in lines:
        if "error" in line and not problem:
            problem = _of_error(line["error"], file, line["name"])
    cpu_s = next((line["cpu_s"] for line in lines if "cpu_s" in line), float(limits.seconds))
    if code != 0 or not any("cpu_s" in line for line in lines):
        problem = problem or _of_end(report, code, file, limits, slept=slept)
    return Measured(results, problem, cpu_s), holds


def _place(file: Path, line: int | None) -> str:
    return file.name if line is None else f"{file.name}, line {line}"


def _of_error(error: dict[str, str], file: Path, item: str) -> str:
    line = line_of(error["trace"], str(file)) or line_of(error["trace"], file.name)
    raised = f"{error['kind']}: {error['message']}".strip().removesuffix(":")
    if error["kind"] == "MemoryError":
        raised = "MemoryError: it took more memory than its limit"
    return f"{_place(file, line)}: {raised} (on {item})"


def _of_end(report: str, code: int, file: Path, limits: StudentLimits, *, slept: bool) -> str:
    place = _place(file, line_of(report, str(file), innermost_first=True))
    if slept:
        return f"{place}: was still there after {limits.wall_s:g} s, waiting; it was ended"
    if hasattr(signal, "SIGXCPU") and -code in (signal.SIGXCPU, signal.SIGKILL):
        return f"{place}: was still running after {limits.seconds} s of CPU time; it was ended"
    if code < 0:
        name = signal.Signals(-code).name
        return f"{place}: its process was ended by {name}, as when memory is short"
    return f"{place}: it ended its process (exit code {code}) before all was measured"
