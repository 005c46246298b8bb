"""How the process of a student's code ended, by hand."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ackclock.course.students import run
from ackclock.course.students.run import StudentLimits
from ackclock.errors import AckclockError

FILE = Path("/srv/student.py")
LIMITS = StudentLimits(seconds=2, memory_bytes=1 << 30)
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are of POSIX")


@pytest.mark.parametrize(
    ("code", "slept", "sentence"),
    [
        (0, True, f"was still there after {LIMITS.wall_s:g} s, waiting; it was ended"),
        (-signal.SIGKILL, True, f"was still there after {LIMITS.wall_s:g} s, waiting"),
        (-signal.SIGXCPU, False, "was still running after 2 s of CPU time; it was ended"),
        (-signal.SIGKILL, False, "was still running after 2 s of CPU time"),
        (-signal.SIGSEGV, False, "its process was ended by SIGSEGV, as when memory is short"),
        (3, False, "it ended its process (exit code 3) before all was measured"),
    ],
)
def test_an_end_is_said_by_what_ended_it(code, slept, sentence):
    assert run._of_end("", code, FILE, LIMITS, slept=slept).startswith(f"student.py: {sentence}")


class Process:
    """A process that answers at the first, second or third request."""

    def __init__(self, *answers):
        self.answers, self.happened = list(answers), []

    def communicate(self, job=None, timeout=None):
        self.happened.append(("communicate", timeout))
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def send_signal(self, number):
        self.happened.append(("signal", number))

    def kill(self):
        self.happened.append("kill")

    def wait(self):
        self.happened.append("wait")


LATE = subprocess.TimeoutExpired("x", 1.0)


def test_a_process_that_waits_is_to_write_its_line_then_killed():
    prompt = Process((b"out", b"err"))
    assert run._wait(prompt, b"job", LIMITS) == ("out", "err", False)
    assert prompt.happened == [("communicate", LIMITS.wall_s)]
    waiting = Process(LATE, (b"a\xff", b"line"))
    assert run._wait(waiting, b"job", LIMITS) == ("a\ufffd", "line", True)
    assert waiting.happened[1:] == [("signal", signal.SIGXCPU), ("communicate", 2)]
    deaf = Process(LATE, LATE, (b"", b""))
    assert run._wait(deaf, b"job", LIMITS) == ("", "", True)
    assert deaf.happened[3:] == ["kill", ("communicate", None)]
    stopped = Process(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run._wait(stopped, b"job", LIMITS)
    assert stopped.happened[1:] == ["kill", "wait"]


def read(*lines, code=0, slept=False):
    return run._read_results(list(lines), "", code, FILE, LIMITS, slept=slept)


def test_results_are_by_item_and_the_first_error_is_the_problem():
    error = {"kind": "ValueError", "message": "bad", "trace": ""}
    results = [{"name": "a", "result": 1}, {"name": "b", "error": error},
               {"name": "c", "error": {**error, "message": "worse"}}, {"cpu_s": 0.5}]  # fmt: skip
    measured, holds = read(*results)
    assert (measured.results, measured.cpu_s, holds) == ({"a": 1}, 0.5, None)
    assert measured.problem == "student.py: ValueError: bad (on b)"
    memory = {"kind": "MemoryError", "message": "", "trace": ""}
    measured, _ = read({"name": "a", "error": memory}, {"cpu_s": 0.5})
    assert measured.problem == "student.py: MemoryError: it took more memory than its limit (on a)"
    quiet, _ = read({"name": "a", "error": {**error, "message": ""}}, {"cpu_s": 0.5})
    assert quiet.problem == "student.py: ValueError (on a)"


def test_a_process_without_a_last_line_took_all_its_time():
    measured, _ = read({"name": "a", "result": 1}, code=3)
    assert measured.cpu_s == LIMITS.seconds
    assert "exit code 3" in measured.problem
    silent, _ = read({"name": "a", "result": 1})
    assert "exit code 0" in silent.problem
    whole, _ = read({"name": "a", "result": 1}, {"cpu_s": 1.5})
    assert (whole.problem, whole.cpu_s) == ("", 1.5)
    with pytest.raises(AckclockError, match=r"the process for student\.py could not be set up"):
        read(code=run.FAILED)
