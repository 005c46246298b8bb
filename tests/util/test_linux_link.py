"""The link between namespaces: what it records, and that nothing is left of it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TOOL = ROOT / "tools" / "record_linux.py"


def record(out, *arguments):
    """Run the command in a separate process: a user namespace cannot be left again."""
    return subprocess.run(
        [sys.executable, TOOL, "--out", out, "--rate", "10", "--seconds", "1", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(scope="module", autouse=True)
def allowed(tmp_path_factory):
    """Skip with the tool's own sentence where the kernel refuses namespaces."""
    done = record(tmp_path_factory.mktemp("try"), "--cc", "reno", "--buffer", "2")
    if done.returncode == 2:
        pytest.skip(done.stderr.strip())
    return done


def test_a_control_that_the_kernel_lacks_is_one_sentence(tmp_path):
    done = record(tmp_path, "--cc", "no-such-control")
    assert done.returncode == 2
    assert done.stderr.startswith('record_linux: the kernel has no congestion control "no-such-')
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_command_reports_how_late_it_was(allowed):
    assert "p99" in allowed.stdout
    assert allowed.returncode in (0, 1)  # 1: the machine was too busy for a valid recording


@pytest.mark.slow
def test_a_recording_conserves_packets(tmp_path):
    script = """
import sys
from linux_link.record import Case, prepare, record
import numpy as np
prepare()
case = Case("reno", 2, 10_000_000, 0.04, 20, 2.0)
recording = record(case, headers=True)
waited = recording.waited_s
lost = int(np.isnan(waited).sum())
assert lost > 0 and len(waited) > 500, (lost, len(waited))
# A packet waits no longer than a full buffer takes: 20 packets and the rest of one, 1.2 ms each.
assert np.nanmax(waited) <= 21 * 1.2e-3 + 1e-6, np.nanmax(waited)
# What passed took the link one after the other: never more than the rate.
sizes = [int.from_bytes(h[2:4], "big") for h in recording.passed.headers]
left = [(b, s) for b, s in zip(recording.passed.began, sizes) if b]
assert all(b2 - b1 >= int(s1 * 800) for (b1, s1), (b2, _) in zip(left, left[1:]))
last = {flow: 0 for flow in (0, 1)}
for flow, acked in zip(recording.samples["flow"], recording.samples["bytes_acked"]):
    assert acked >= last[int(flow)]
    last[int(flow)] = acked
assert 0 < sum(last.values()) * 8 <= 2.2 * 10e6
print("ok", lost)
"""
    environment = {**os.environ, "PYTHONPATH": str(TOOL.parent)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        check=False,
    )
    assert done.stdout.startswith("ok"), done.stderr


def children(pid):
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return (
        [int(word) for word in listed.read_text(encoding="ascii").split()]
        if listed.exists()
        else []
    )


def test_nothing_outlives_the_process(tmp_path):
    command = [sys.executable, TOOL, "--out", tmp_path, "--seconds", "50"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        ours = Path("/proc/self/ns/net").readlink()
        ends: list[int] = []
        deadline = time.monotonic() + 30
        while len(ends) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
            found = children(process.pid)
            # Each enters its namespace a moment after it began.
            ends = [end for end in found if Path(f"/proc/{end}/ns/net").readlink() != ours]
        assert len(ends) == 2
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{end}").exists() for end in ends) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{end}").exists() for end in ends)
    assert not list(tmp_path.iterdir())
