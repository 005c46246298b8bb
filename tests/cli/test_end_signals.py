"""SIGINT and SIGTERM end a command, whatever it does; what was kept is counted and reported."""

import re
import signal
import subprocess
import sys

import pytest

import ackclock as ac
from ackclock._util.end_signals import EXIT_CODES
from ackclock.experiments.store import look, query
from conftest import SMALL

HANG_S = 300
"""A guard against tests that hang, not a measurement."""

SIGNALS = pytest.mark.parametrize("number", sorted(EXIT_CODES))


def begin(*arguments):
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# When the third pack is written, the signal comes.
SIGNALLED = """
import os, sys
from ackclock.experiments.store import pack
write, packs = pack.write, []
def write_and_signal(*arguments):
    made = write(*arguments)
    packs.append(made)
    if len(packs) == 3:
        os.kill(os.getpid(), {number})
    return made
pack.write = write_and_signal
from ackclock.cli.main import entry
entry()
"""


@pytest.mark.slow
@SIGNALS
def test_a_sweep_ends_with_its_code_and_says_what_is_kept(tmp_path, number):
    (tmp_path / "small.toml").write_text(SMALL)
    file = tmp_path / "sweep.toml"
    file.write_text('base = "small.toml"\nreps = 5000\nset = { record = {} }\n')
    place = tmp_path / "store"
    code = SIGNALLED.format(number=int(number))
    process = begin("-c", code, "sweep", file, "--store", place, "--quiet", "--workers", 1)
    _, err = process.communicate(timeout=HANG_S)
    assert process.returncode == EXIT_CODES[number], err
    assert "Traceback" not in err
    with look(place) as store:
        kept = len(query.find(store))
    assert 0 < kept < 5000
    counted = re.fullmatch(r"interrupted; ([\d,]+) of 5,000 runs are kept", err.strip())
    forced = err.strip() == "interrupted; what was written before is kept"
    assert forced or (counted and int(counted[1].replace(",", "")) == kept)


GAME = """
[game]
players = 2
reps = 1000
[strategies]
aimd = { cc = "aimd" }
cubic = { cc = "cubic" }
[networks]
fifo = { "net.qdisc" = "fifo" }
[scenario]
duration = "5 s"
net = { kind = "dumbbell", pairs = 2, rate = "1 Mbps", rtt = "40 ms", buffer = "10 pkt" }
"""


@pytest.mark.slow
@SIGNALS
def test_a_game_ends_with_its_code_and_says_that_runs_are_kept(tmp_path, number):
    file = tmp_path / "game.toml"
    file.write_text(GAME)
    code = SIGNALLED.format(number=int(number))
    process = begin("-c", code, "game", file, "--store", tmp_path / "store", "--quiet")
    out, err = process.communicate(timeout=HANG_S)
    assert process.returncode == EXIT_CODES[number], err
    assert out == ""
    assert err.strip().startswith("interrupted; ")
    assert len(err.strip().splitlines()) == 1


# The signal comes when the first run of the demonstration is reported.
SIGNALLED_DEMO = """
import os
from rich.console import Console
report = Console.print
def report_and_signal(*arguments, **options):
    report(*arguments, **options)
    os.kill(os.getpid(), {number})
Console.print = report_and_signal
from ackclock.cli.main import entry
entry()
"""


@pytest.mark.slow
@SIGNALS
def test_the_demonstration_ends_with_its_code_and_leaves_no_page(tmp_path, number):
    code = SIGNALLED_DEMO.format(number=int(number))
    process = begin("-c", code, "demo", "--quick", "--out", tmp_path / "demo")
    _, err = process.communicate(timeout=HANG_S)
    assert process.returncode == EXIT_CODES[number], err
    assert "interrupted; " in err.splitlines()[-1]
    assert not (tmp_path / "demo").exists()


# An endless loop in a user's control; the second one does not let go either.
LOOPS = {
    "lets go": "while True:\n            pass",
    "holds on": "while True:\n            try:\n                pass\n"
    "            except BaseException:\n                pass",
}


@pytest.mark.parametrize("loop", LOOPS)
def test_an_endless_loop_in_a_control_ends_and_says_where_it_was(tmp_path, loop):
    own = tmp_path / "mine.py"
    own.write_text(
        "import os\nimport ackclock as ac\n@ac.control\nclass Mine:\n"
        "    def on_ack(self, window, ack):\n"
        f"        os.write(1, b'r')\n        {LOOPS[loop]}\n"
        "    def on_congestion(self, window, event):\n        pass\n"
    )
    file = tmp_path / "loop.toml"
    file.write_text(
        'duration = 1\ntcp.initial_ssthresh = 1\nflows = [{ pair = 0, cc = "mine.py:Mine" }]\n'
        'net = { kind = "dumbbell", pairs = 1, rate = "1 Mbps", rtt = "40 ms" }\n'
    )
    process = begin("-c", "from ackclock.cli.main import entry; entry()", "run", file, "--quiet")
    assert process.stdout.read(1) == "r"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=HANG_S)
    assert process.returncode == 3, err
    line = re.fullmatch(r"interrupted; (.+), line (\d+), was running, in on_ack; (.*)", err.strip())
    assert line, err
    assert line[1] == str(own)
    # The signal may arrive while line 6 is still running.
    assert 6 <= int(line[2]) <= 11
    assert "kept" in line[3]


# A mutex that is locked twice waits for ever, in C, where Python calls no signal handler.
STUCK = """
import ctypes
from ackclock._util.end_signals import ended_by_signals
library, mutex = ctypes.CDLL(None), (ctypes.c_char * 256)()
with ended_by_signals():
    ready = False
    while True:
        try:
            if not ready:
                ready = True
                print("ready", flush=True)
            library.pthread_mutex_lock(mutex)
        except KeyboardInterrupt:
            pass
"""


@pytest.mark.slow
@SIGNALS
def test_a_command_that_is_stuck_in_the_core_is_ended(number):
    process = begin("-c", STUCK)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=HANG_S)
    assert process.returncode == EXIT_CODES[number]
    assert err == "interrupted; what was written before is kept\n"


@SIGNALS
def test_a_run_ends_with_its_code(tmp_path, number):
    file = tmp_path / "small.toml"
    file.write_text(SMALL.replace('duration = "10 s"', 'duration = "1000000 s"'))
    code = "import os; from ackclock.scenario import scenario\n" + (
        "run = scenario.Scenario.run\n"
        "def signalled(self, *a, progress=None, **k):\n"
        "    def tick(*_):\n"
        f"        os.kill(os.getpid(), {int(number)})\n"
        "    return run(self, *a, progress=tick, **k)\n"
        "scenario.Scenario.run = signalled\n"
        "from ackclock.cli.main import entry; entry()\n"
    )
    process = begin("-c", code, "run", file, "--set", "record={}", "--quiet")
    _, err = process.communicate(timeout=HANG_S)
    assert process.returncode == EXIT_CODES[number], err
    assert err.strip().startswith("interrupted; ")
    assert len(err.strip().splitlines()) == 1


ENDLESS_CODE = """
import os
import ackclock as ac

@ac.control(cadence="ack")
class Endless:
    def on_ack(self, window, ack):
        os.kill(os.getpid(), {number})
        while True:
            pass

    def on_congestion(self, window, event):
        pass
"""


@SIGNALS
def test_a_run_that_is_stuck_in_user_code_ends_with_its_code(tmp_path, number):
    (tmp_path / "mine.py").write_text(ENDLESS_CODE.format(number=int(number)))
    file = tmp_path / "small.toml"
    file.write_text(SMALL.replace('"aimd"', '"mine.py:Endless"'))
    process = begin("-m", "ackclock", "run", file, "--quiet")
    _, err = process.communicate(timeout=HANG_S)
    assert process.returncode == EXIT_CODES[number], err
    assert err.strip().startswith("interrupted; ")
    assert len(err.strip().splitlines()) == 1


# DuckDB looks at signals itself, and raises a RuntimeError.
SIGNALLED_QUERY = """
import os, sys, threading
from ackclock._util import confined_sql
fetch = confined_sql.fetch
def fetch_and_signal(*arguments, **options):
    threading.Timer(0.5, os.kill, (os.getpid(), {number})).start()
    return fetch(*arguments, **options)
confined_sql.fetch = fetch_and_signal
from ackclock.cli.main import entry
entry()
"""


@pytest.mark.slow
@SIGNALS
def test_a_query_ends_with_its_code(tmp_path, number):
    store = tmp_path / "store"
    ac.sweep(ac.load(SMALL), {"net.buffer": ["5 pkt"]}).run(store=store, progress=False)
    text = "SELECT sum(hash(range)) FROM range(1000000000000)"
    code = SIGNALLED_QUERY.format(number=int(number))
    process = begin("-c", code, "results", "query", text, "--store", store)
    _, err = process.communicate(timeout=HANG_S)
    assert process.returncode == EXIT_CODES[number], err
    assert err.strip().startswith("interrupted; ")
    assert len(err.strip().splitlines()) == 1


def test_no_signal_leaves_the_handlers_as_they_were():
    before = [signal.getsignal(number) for number in EXIT_CODES]
    done = begin("-m", "ackclock", "version")
    out, err = done.communicate(timeout=HANG_S)
    assert (done.returncode, err) == (0, "")
    assert out
    assert before == [signal.getsignal(number) for number in EXIT_CODES]
