"""Runs tests on version after version of the package, each in a fork that has the libraries.

Reads from standard input a line of JSON for each: ``tests``, ids as pytest has them; ``calls``,
whether to find out which functions of the package each test calls; ``collect``, whether to read the
tests and run none; ``cpu_s`` and ``wall_s``, after which the tests fail. Answers with a line of the
file whose name is the first argument: ``passed``; ``failed``, the first test that did not pass, if
it was a test; ``calls``, by test the seconds that it takes and pairs of file and first line.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

LIBRARIES = (
    "numpy", "pyarrow.parquet", "pyarrow.compute", "pandas", "scipy.stats", "scipy.special",
    "matplotlib.pyplot", "pytest", "duckdb",
)  # fmt: skip
"""What tests load; a fork has it already."""

PACKAGE = "/ackclock/"


class Calls:
    """Notes the functions of the package that each test calls.

    What fixtures of a module call is called for all of its tests.
    """

    def __init__(self) -> None:
        self.found: dict[str, tuple[float, set[tuple[str, int]]]] = {}
        self._now: set[tuple[str, int]] = set()
        self._of_file: dict[str, set[tuple[str, int]]] = {}

    def _note(self, frame: Any, event: str, _: object) -> None:
        if event == "call":
            code = frame.f_code
            if PACKAGE in code.co_filename:
                self._now.add((code.co_filename, code.co_firstlineno))

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> None:
        """Begin with the calls of another test."""
        del item, nextitem
        self._began = time.monotonic()
        self._now = set()
        sys.setprofile(self._note)
        threading.setprofile(self._note)

    def pytest_runtest_call(self, item: Any) -> None:
        """Keep what was called before the test itself for all of its file."""
        self._of_file.setdefault(item.nodeid.partition("::")[0], set()).update(self._now)

    def pytest_runtest_logfinish(self, nodeid: str, location: object) -> None:
        """Keep the calls of a test."""
        del location
        sys.setprofile(None)
        threading.setprofile(None)
        self.found[nodeid] = (time.monotonic() - self._began, self._now)

    def of_tests(self) -> dict[str, Any]:
        """Give seconds and calls of each test."""
        return {
            test: [seconds, sorted(calls | self._of_file.get(test.partition("::")[0], set()))]
            for test, (seconds, calls) in self.found.items()
        }


class Failures:
    """Notes the first test that fails."""

    def __init__(self) -> None:
        self.first = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the name of a test that failed."""
        if report.failed:
            self.first = self.first or report.nodeid


def answer(given: dict[str, Any], file: str) -> int:
    """Run tests in this process; the exit status of pytest."""
    import pytest

    limit = int(given["cpu_s"])
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    sink = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(sink, number)
    calls, failures = Calls(), Failures()
    options = ["-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:randomly"]
    if given["collect"]:
        options.append("--collect-only")
    if given["calls"]:
        status = int(pytest.main([*options, *given["tests"]], [calls, failures]))
    else:
        status = int(pytest.main([*options, "-x", *given["tests"]], [failures]))
    found = {"failed": failures.first, "calls": calls.of_tests()}
    Path(file).write_text(json.dumps(found), encoding="utf-8")
    return status


def forked(given: dict[str, Any]) -> dict[str, Any]:
    """Run tests in a fork."""
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/found.json"
        child = os.fork()
        if child == 0:
            os.setsid()
            status = 1
            try:
                status = answer(given, file)
            finally:
                os._exit(status)
        ends = time.monotonic() + given["wall_s"]
        status = 1
        while True:
            done, code = os.waitpid(child, os.WNOHANG)
            if done:
                status = os.waitstatus_to_exitcode(code)
                break
            if time.monotonic() > ends:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                break
            time.sleep(0.02)
        found = json.loads(Path(file).read_text()) if Path(file).exists() else {}
        return {"passed": status == 0, "failed": "", "calls": {}, **found}


def main() -> None:
    """Answer until the input ends."""
    for name in LIBRARIES:
        importlib.import_module(name)
    sys.path.insert(0, str(Path.cwd()))
    with Path(sys.argv[1]).open("w", encoding="utf-8") as out:
        for line in sys.stdin:
            print(json.dumps(forked(json.loads(line))), file=out, flush=True)


if __name__ == "__main__":
    main()
