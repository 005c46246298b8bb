"""What is taken from a student's process, each by a small process that tries it."""

import itertools
import json
import signal
import struct
import subprocess
import sys

import pytest

from ackclock.course.students import system_calls

if sys.platform != "linux":
    pytest.skip("Landlock and seccomp are of Linux", allow_module_level=True)

HEAD = """
import json, os, resource, signal, socket, subprocess, sys, threading
from ackclock.course.students import confine

def outcome(attempt):
    try:
        attempt()
    except BaseException as error:
        return type(error).__name__
    return "done"
"""


def in_process(text, *arguments):
    """What a program prints as JSON, or its end."""
    command = [sys.executable, "-c", HEAD + text, *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(ended.stdout) if ended.returncode == 0 else ended.returncode


def test_only_what_is_named_is_read_and_nothing_is_written(tmp_path):
    (tmp_path / "own").mkdir()
    for name in ("own/student.py", "own/beside.txt", "other.txt"):
        (tmp_path / name).write_text("x = 1\n", encoding="ascii")
    text = """
folder = sys.argv[1]
holds = confine.take_files([folder + "/own/student.py"])
print(json.dumps([holds] + [outcome(attempt) for attempt in (
    lambda: open(folder + "/own/student.py").read(),
    lambda: open(folder + "/own/beside.txt").read(),
    lambda: open(folder + "/other.txt").read(),
    lambda: os.listdir(folder),
    lambda: open(folder + "/own/student.py", "a"),
    lambda: open(folder + "/new.txt", "w"),
    lambda: os.remove(folder + "/other.txt"),
    lambda: open("/dev/urandom", "rb").read(1),
    lambda: __import__("colorsys"),
)]))
"""
    holds, *outcomes = in_process(text, tmp_path)
    if not holds:
        pytest.skip("this kernel has no Landlock")
    assert outcomes == ["done", *["PermissionError"] * 6, "done", "done"]


def test_sockets_programs_processes_and_signals_are_refused_and_threads_are_not():
    text = """
holds = confine.take_network()
print(json.dumps([holds] + [outcome(attempt) for attempt in (
    lambda: socket.socket(),
    lambda: socket.socketpair(),
    lambda: os.fork(),
    lambda: subprocess.run(["/bin/true"]),
    lambda: os.kill(os.getpid(), 0),
    lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10)),
    lambda: threading.Thread(target=print, args=("",), kwargs={"file": sys.stderr}).start(),
    lambda: open("/dev/null").close(),
)]))
"""
    holds, *outcomes = in_process(text)
    if not holds:
        pytest.skip("this kernel has no seccomp, or its calls are not known")
    # Python says that of a limit which it may not change.
    assert outcomes == [*["PermissionError"] * 5, "ValueError", "done", "done"]


def test_a_process_grows_by_what_it_may_and_no_more():
    text = """
holds = confine.limit_memory(64 << 20)
limits = [resource.getrlimit(limit) for limit in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE)]
few, many = (outcome(lambda: bytearray(size << 20)) for size in (32, 96))
print(json.dumps([holds, few, many, limits]))
"""
    assert in_process(text) == [True, "done", "MemoryError", [[0, 0], [1 << 20, 1 << 20]]]


def test_time_is_counted_from_what_was_used_and_its_end_writes_the_line(tmp_path):
    text = """
report = open(sys.argv[1], "w")
os.times = lambda: os.times_result((1.2, 0.5, 100.0, 100.0, 100.0))
holds = confine.limit_time(5, report.fileno())
print(json.dumps([holds, resource.getrlimit(resource.RLIMIT_CPU)]))
"""
    # 1.7 s were used: the second second ends at 2, five more at 7; two after that it is killed.
    assert in_process(text, tmp_path / "report") == [True, [7, 9]]
    text += "os.kill(os.getpid(), signal.SIGXCPU)\n"
    assert in_process(text, tmp_path / "report") == -signal.SIGXCPU
    last = len((HEAD + text).splitlines())
    assert f"line {last} in <module>" in (tmp_path / "report").read_text(encoding="ascii")


def decide(program, architecture, number, flags):
    """What a filter returns of a call: classic BPF of the four instructions that it has."""
    data = struct.pack("=iIQQ", number, architecture, 0, flags)
    words = {0: data[0:4], 4: data[4:8], 16: data[16:20]}
    steps = list(struct.iter_unpack("=HBBI", program))
    place, held = 0, 0
    while True:
        code, if_true, if_false, operand = steps[place]
        place += 1
        if code == 0x06:
            return operand
        if code == 0x20:
            (held,) = struct.unpack("=I", words[operand])
            continue
        holds = {0x15: held == operand, 0x35: held >= operand, 0x45: bool(held & operand)}[code]
        place += if_true if holds else if_false


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_filter_refuses_the_listed_calls_and_processes_and_no_other(machine):
    rules = system_calls._REFUSED[machine]
    program = system_calls._program(rules, rules["calls"])
    refused, absent, allowed = 0x00050001, 0x00050026, 0x7FFF0000
    clone, thread = rules["clone"], 0x10000
    for number, flags in itertools.product([*range(500), 1 << 30, (1 << 30) + 1], [0, thread]):
        expected = refused if number in rules["calls"] or number >= 1 << 30 else allowed
        if number == rules["clone3"]:
            expected = absent
        elif number == clone:
            expected = allowed if flags else refused
        assert decide(program, rules["architecture"], number, flags) == expected, (number, flags)
        assert decide(program, 0x40000003, number, flags) == refused
