"""Controls of shipped libraries in the place of ours: which flows, which links, which releases."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ackclock.catalogue import schema
from ackclock.errors import ScenarioError
from ackclock.peers import shipped
from ackclock.peers.registry import Options

DATA = {
    "net": {"kind": "dumbbell", "pairs": 5, "rate": "8 Mbps", "rtt": "20 ms", "buffer": "20 pkt"},
    "duration": 3,
    "flows": [
        {"pair": 0, "cc": "cubic"},
        {"pair": 1, "cc": {"kind": "aimd", "b": 0.3}},
        {"pair": 2, "source": "cbr"},
        {"pair": 3, "cc": {"kind": "aimd"}},
        {"pair": 4},
    ],
}


class Scenario:
    """A scenario that keeps what it is changed to, and may have any control."""

    def __init__(self, data, changes=None, calls=None):
        self.data, self.changes = data, changes
        self.calls = [] if calls is None else calls

    def replace(self, **changes):
        return Scenario(self.data, {**(self.changes or {}), **changes}, self.calls)

    def check(self):
        self.calls.append("checked")

    def with_seed(self, seed):
        self.calls.append(seed)
        return self

    def run(self):
        return self.changes


@pytest.mark.parametrize(
    ("peer", "changed"),
    [
        ("quinn", {0: "quinn/cubic", 3: "quinn/newreno", 4: "quinn/cubic"}),
        ("noq", {0: "noq/cubic", 3: "noq/newreno", 4: "noq/cubic"}),
        ("s2n", {0: "s2n/cubic", 4: "s2n/cubic"}),
    ],
)
def test_controls_without_parameters_get_those_of_the_same_rule(peer, changed):
    """CUBIC is the default; a source and a control with other parameters stay."""
    scenario = Scenario(DATA)
    done = shipped.swap_controls(scenario, peer)
    assert done.changes == {f"flows[{i}].cc": name for i, name in changed.items()}
    assert scenario.calls == ["checked"]


def test_without_such_a_control_the_sentence_names_what_would_do():
    vegas = Scenario({**DATA, "flows": [{"cc": "vegas"}, {"source": "cbr"}]})
    with pytest.raises(ScenarioError, match='expected cc = "cubic" or "bbr2", no parameters'):
        shipped.swap_controls(vegas, "s2n")


def test_all_flows_of_the_library_are_compared_and_no_others(monkeypatch):
    monkeypatch.setattr(shipped, "plan_of", lambda _: plan())
    crates = {"s2n/cubic": "s2n-quic 1.2", "s2n/bbr2": "s2n-quic 1.2", "quinn/bbr": "quinn 0.11"}
    bundled = {name: {"crate": crate} for name, crate in crates.items()}
    monkeypatch.setattr(schema, "find_bundled", lambda: bundled)
    scenario = Scenario(DATA)
    ours = shipped.library("s2n", scenario, Options())
    controls = ["s2n/cubic", "s2n-like", "aimd", "s2n/bbr2", "quinn/bbr", "s2n/cubic"]
    run = SimpleNamespace(summary={"flows": [{"cc": name} for name in controls]})
    assert ours.flows(run) == [0, 3, 5]
    assert ours.release(run) == "s2n-quic 1.2"
    assert ours.ours is scenario
    assert ours.links == ("b", "d")
    # Its controls drive our sender: packets are compared one by one.
    assert ours.has_events
    assert ours.run(7)["record.tables"] == ["windows", "packets"]
    assert scenario.calls == ["checked", 7]
    theirs = shipped.library("quinn", Scenario(DATA), Options())
    assert not theirs.has_events
    assert theirs.run(7)["record.tables"] == ["windows"]
    assert theirs.flows(run) == [4]


def plan():
    """Four links, of which two are bottlenecks, in the order of the plan."""
    links = [SimpleNamespace(id=name) for name in "abcd"]
    return SimpleNamespace(links=links, bottlenecks=[links[3], links[1]])
