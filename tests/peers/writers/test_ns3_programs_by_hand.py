"""A scenario in ns-3: what is compiled, how often, and what each run is started with."""

from __future__ import annotations

from pathlib import Path

import pytest

import ackclock as ac
from ackclock.errors import UnsupportedError
from ackclock.peers.ns3 import run
from ackclock.peers.registry import Options


@pytest.fixture
def scenario():
    return ac.Scenario.from_data({
        "net": {"kind": "dumbbell", "pairs": 1, "rate": "8 Mbps", "rtt": "20 ms",
                "buffer": "20 pkt"},
        "flows": [{"pair": 0, "cc": "aimd", "recovery": "newreno"}], "duration": 3, "warmup": 1,
    })  # fmt: skip


class Machine:
    """A compiler that copies, and programs that write what they were started with."""

    def __init__(self, monkeypatch):
        self.compiled, self.started, self.limits = [], [], set()
        monkeypatch.setattr(run, "flags_of", lambda prefix: [f"-I{prefix}"])
        monkeypatch.setattr(run, "find", lambda *_: Path("/usr/bin/g++"))
        monkeypatch.setattr(run, "run_program", self)

    def __call__(self, command, folder, limit_s, peer):
        self.limits.add(limit_s)
        if peer == "the compiler for ns-3":
            self.compiled.append([str(x) for x in command])
            (folder / "net").write_bytes(b"program of " + (folder / "net.cc").read_bytes())
            return ""
        assert peer == "ns-3"
        program = folder / "net"
        assert program.read_bytes().startswith(b"program of ")
        assert program.stat().st_mode & 0o777 == 0o700
        self.started.append([str(x) for x in command[1:]])
        (folder / "flows.csv").write_text("flow,bytes,sent,lost\n0,250000,300,2\n")
        (folder / "links.csv").write_text("link,dropped,arrived,wait_s\n")
        (folder / "windows.csv").write_text("time_s,flow,cwnd_segments\n1.0,0,7\n")
        return ""


def test_a_program_is_compiled_once_and_started_with_a_seed_that_is_not_0(scenario, monkeypatch):
    machine = Machine(monkeypatch)
    prepared = run.ns3(scenario, Options(paths={"ns3": Path("/opt/ns3")}, time_limit_s=50.0))
    assert machine.compiled == []
    runs = [prepared.run(seed) for seed in (0, 4)]
    assert machine.compiled == [
        ["/usr/bin/g++", "-std=c++17", "-O1", "net.cc", "-o", "net", "-I/opt/ns3"]
    ]
    assert machine.started == [[".", "1"], [".", "5"]]
    assert machine.limits == {50.0}
    assert [done.summary["seed"] for done in runs] == [0, 4]
    assert [done.summary["engine"] for done in runs] == ["ns-3", "ns-3"]
    assert runs[0].tables["windows"].to_pydict()["cwnd_segments"] == [7.0]


def test_what_is_compared_is_every_flow_and_the_bottleneck_both_ways(scenario, monkeypatch):
    Machine(monkeypatch)
    prepared = run.ns3(scenario, Options())
    assert prepared.flows(None) == [0]
    assert prepared.links == ("r0->r1", "r1->r0")
    assert prepared.release(None) == "ns-3"
    assert prepared.ours is scenario
    assert any("payload" in note for note in prepared.notes)


def test_without_ns3_nothing_begins(scenario, tmp_path):
    with pytest.raises(UnsupportedError, match="ns3 is not installed"):
        run.ns3(scenario, Options(paths={"ns3": tmp_path}))
