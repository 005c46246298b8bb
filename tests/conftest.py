"""Scenarios and runs that tests share."""

import json
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import ackclock as ac
from ackclock.reproduce.read.folder import PAPERS

# How long an example takes says nothing on a machine that does other things too.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("random", UNTIMED)
settings.register_profile("same", UNTIMED, derandomize=True)
settings.load_profile("same")

SMALL = """
name = "small"
duration = "10 s"
warmup = "2 s"
seed = 3
[net]
kind = "dumbbell"
pairs = 2
rate = "5 Mbps"
rtt = "40 ms"
buffer = "20 pkt"
[[flows]]
pair = 0
cc = "aimd"
recovery = "sack"
[[flows]]
pair = 1
cc = "vegas"
recovery = "sack"
[record]
tables = ["windows", "rtts", "states", "drops", "packets", "flow_samples", "link_samples"]
interval = "100 ms"
"""


@pytest.fixture(scope="session")
def small():
    return ac.load(SMALL)


@pytest.fixture(scope="session")
def run(small):
    return small.run()


@pytest.fixture
def small_file(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    return file


@pytest.fixture
def paper(tmp_path):
    """A copy of the example of a paper, in which tests put faults."""
    return Path(shutil.copytree(PAPERS / "example", tmp_path / "mine"))


@pytest.fixture(scope="session")
def everything():
    """All that the runs of a sweep left, without what the clock says."""

    def of(result):
        summaries = []
        for slot in result.slots:
            summary = json.loads(json.dumps(result.summaries[slot.key]))
            del summary["totals"]["cpu_s"]
            summaries.append(summary)
        tables = {name: result.tables[name].to_pylist() for name in sorted(result.tables)}
        return summaries, tables

    return of


@pytest.fixture
def with_python_code():
    """A scenario whose control is written in Python."""

    @ac.control
    class Fixed:
        """A window that stays."""

        def on_ack(self, window, ack):
            window.cwnd = 10.0

        def on_congestion(self, window, event):
            window.cwnd = 10.0

    net = ac.topology.Dumbbell(pairs=1, rate="10 Mbps", rtt="20 ms")
    return ac.Scenario(net, [ac.Flow(pair=0, cc=Fixed())], duration=1)


@pytest.fixture(scope="session", autouse=True)
def _interrupts_are_heard():
    """A shell's background jobs ignore SIGINT, and so would the commands that tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def run_of_cubic(tmp_path_factory):
    """A run of CUBIC at 20 Mbit/s and 40 ms with timestamps off, and the capture at its sender."""
    net = ac.topology.Dumbbell(pairs=1, rate="20 Mbps", rtt="40 ms", buffer="1 bdp")
    scenario = ac.Scenario(net, [ac.Flow(id="f", pair=0, cc="cubic")], duration="5 s")
    run = scenario.run(record=["packets", "rtts", "windows", "drops", "flow_samples"])
    path = tmp_path_factory.mktemp("captures") / "cubic.pcapng"
    run.to_pcapng(path, link="s0->r0")
    return run, path
