"""A user's file that changes within one process is read again for what is made afterwards."""

import os

import pytest

import ackclock as ac
from ackclock.errors import ScenarioError

CONTROL = """
import ackclock as ac

@ac.control
class Mine:
    growth: float = {growth}

    def on_ack(self, window, ack):
        window.cwnd += self.growth * ack.acked / window.cwnd

    def on_congestion(self, window, event):
        window.cwnd = max(1.0, window.cwnd / 2)
"""

SCENARIO = """
duration = 2
[net]
kind = "dumbbell"
pairs = 1
rate = "5 Mbps"
rtt = "20 ms"
buffer = "20 pkt"
[[flows]]
pair = 0
slow_start = "none"
cc = "mine.py:Mine"
"""


@pytest.fixture
def write(tmp_path):
    (tmp_path / "s.toml").write_text(SCENARIO)

    def write(growth):
        file = tmp_path / "mine.py"
        time = file.stat().st_mtime_ns if file.exists() else None
        file.write_text(CONTROL.format(growth=growth))
        if time is not None:
            # Kept bytecode is recognised by whole seconds and by size, which are the same.
            os.utime(file, ns=(time, time + 1))
        return ac.load(tmp_path / "s.toml")

    return write


def outcome(scenario):
    summary = scenario.run().summary
    return summary["digest"], summary["user_code"][0]["sha256"]


def test_a_scenario_that_is_loaded_again_has_the_new_code(write):
    slow = outcome(write(0.1))
    fast = outcome(write(4.0))
    assert fast[0] != slow[0]
    assert fast[1] != slow[1]


def test_a_scenario_keeps_the_code_that_it_was_checked_with(write, tmp_path):
    first = write(0.1)
    before = outcome(first), first.fingerprint
    second = write(4.0)
    assert outcome(second)[1] != before[0][1]
    assert (outcome(first), first.fingerprint) == before
    assert outcome(first.with_seed(1)) == before[0]
    first.run().save(tmp_path / "run")
    assert "0.1" in (tmp_path / "run/code/mine.py").read_text()


def test_the_same_text_written_again_is_the_same_class(write):
    assert write(0.1).fingerprint == write(0.1).fingerprint


def test_an_error_in_the_new_text_is_reported_and_mended_by_the_next(write, tmp_path):
    write(0.1).check()
    (tmp_path / "mine.py").write_text("def broken(:\n")
    with pytest.raises(ScenarioError, match=r"mine\.py, line 1"):
        ac.load(tmp_path / "s.toml").check()
    assert write(0.2).run().summary["flows"]
