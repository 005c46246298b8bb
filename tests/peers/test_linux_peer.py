"""The kernel as a peer: which starts are drawn, and which runs are taken, without an emulation."""

import json
import sys
from types import SimpleNamespace

import pytest

if sys.platform != "linux":
    pytest.skip("emulation needs Linux", allow_module_level=True)

import ackclock as ac
from ackclock import _core
from ackclock.peers import linux as module


def scenario(*flows, era="linux"):
    net = {"kind": "dumbbell", "pairs": 2, "rate": "5 Mbps", "rtt": "40 ms"}
    return ac.Scenario.from_data({"duration": "5 s", "era": era, "net": net, "flows": list(flows)})


@pytest.fixture
def emulated(monkeypatch):
    """Emulations by whether each is valid."""
    valid, seeds = [], []

    def emulate(scenario):
        seeds.append(scenario.seed)
        return SimpleNamespace(is_valid=valid.pop(0), seed=scenario.seed)

    monkeypatch.setattr("ackclock.peers.emulate.emulate.check", lambda scenario: None)
    monkeypatch.setattr("ackclock.peers.emulate.emulate.emulate", emulate)
    monkeypatch.setattr(
        _core, "Emulator",
        lambda text: SimpleNamespace(describe=lambda: json.dumps({"bottleneck": "r0->r1"})),
    )  # fmt: skip
    return valid, seeds


@pytest.mark.parametrize(
    ("flows", "jitters"),
    [
        ([{"pair": 0}], [None]),
        ([{"pair": 0}, {"pair": 1}], [module.JITTER] * 2),
        ([{"pair": 0, "count": 2}], [module.JITTER]),
        ([{"pair": 0, "start_jitter": "1 s"}, {"pair": 1}], ["1 s", module.JITTER]),
        ([{"pair": 0, "start_jitter": "1 s"}], ["1 s"]),
    ],
)
def test_starts_are_drawn_where_several_flows_would_begin_at_fixed_times(emulated, flows, jitters):
    peer = module.linux(scenario(*flows), None)
    assert [flow.get("start_jitter") for flow in peer.ours.data["flows"]] == jitters
    drawn = [note for note in peer.notes if "drawn by the seed" in note]
    assert len(drawn) == (module.JITTER in jitters)
    assert peer.links == ("r0->r1",)


def test_the_era_is_that_of_the_kernel_and_said_where_it_is_another(emulated):
    assert module.linux(scenario({"pair": 0}), None).notes == ()
    peer = module.linux(scenario({"pair": 0}, era="rfc"), None)
    assert peer.ours.data["era"] == "linux"
    assert peer.notes == ("era linux is put in place of the scenario's",)


def test_a_run_that_was_late_is_tried_again_a_few_times(emulated):
    valid, seeds = emulated
    peer = module.linux(scenario({"pair": 0}), None)
    valid[:] = [False, True]
    assert peer.run(9).is_valid
    assert seeds == [9, 9]
    valid[:] = [False] * 9
    assert not peer.run(4).is_valid
    assert seeds[2:] == [4] * module.ATTEMPTS
