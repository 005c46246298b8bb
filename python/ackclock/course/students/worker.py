"""The process of one student's code: ``python -I -m ackclock.course.students.worker``.

It reads one line of JSON from standard input, with ``kind``, ``file``, ``entry``, ``seconds``,
``memory_bytes`` and ``items``, and writes a line for what this machine enforces, one for each item,
and the last one for its CPU time. What the student's code prints is thrown away.
"""

from __future__ import annotations

import os
import sys
import traceback

FAILED = 70
"""Exit code of a fault of the grader's."""


def _report(error: BaseException) -> dict[str, object]:
    from ackclock.catalogue.python_source import describe_failure

    text = describe_failure(error) or "".join(traceback.format_exception(error))
    last = str(error).splitlines() or [""]
    return {"kind": type(error).__name__, "message": last[0], "trace": text}


def main() -> None:
    """Confine this process, then run the student's code on every item."""
    report = os.dup(2)
    try:
        _work(report)
    except BaseException:
        os.write(report, traceback.format_exc().encode())
        os._exit(FAILED)


def _work(report: int) -> None:
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDWR)
    text = sys.stdin.read()
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)

    import json

    from ackclock.course.students.confine import limit_memory, limit_time, take_files, take_network

    job = json.loads(text)
    files = take_files([job["file"], *(i["data"].get("file", "") for i in job["items"])])

    def say(line: object) -> None:
        results.write(json.dumps(line) + "\n")
        results.flush()

    import faulthandler

    # Everything that a run needs, so that the limits count the student's code and not Python's.
    import numpy as np  # noqa: F401
    import pyarrow.compute  # noqa: F401

    from ackclock.course.tasks import find_task
    from ackclock.scenario.scenario import Scenario  # noqa: F401

    task = find_task(job["kind"])
    faulthandler.enable(report, all_threads=True)
    memory = limit_memory(job["memory_bytes"])
    time = limit_time(job["seconds"], report)
    network = take_network()
    say({"time": time, "memory": memory, "files": files, "network": network})
    for item in job["items"]:
        try:
            say(
                {"name": item["name"], "result": task.work(job["file"], job["entry"], item["data"])}
            )
        except BaseException as error:
            say({"name": item["name"], "error": _report(error)})
            if isinstance(error, MemoryError):
                break
    used = os.times()
    say({"cpu_s": used.user + used.system})
    results.flush()
    # No thread or handler of the student's code holds the end up.
    os._exit(0)


if __name__ == "__main__":
    main()
