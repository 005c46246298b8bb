"""Which runs `differ` takes, here and by its peers, without a run."""

import pytest

from ackclock.peers.registry import PreparedPeer
from ackclock.studies.differ import differ as module


class Scenario:
    """A scenario of an era that records tables."""

    def __init__(self, era="rfc", tables=()):
        self.era, self.tables, self.name, self.seed = era, tables, "mine", 7
        self.fingerprint = era

    def check(self):
        pass

    def replace(self, **changes):
        return Scenario(self.era, tuple(changes["record.tables"]))


@pytest.fixture
def differed(monkeypatch):
    happened = []

    def run_here(scenario, seed):
        happened.append(("ours", scenario.era, scenario.tables, seed))
        return f"ours {scenario.era} {seed}"

    monkeypatch.setattr(module, "_run", run_here)
    monkeypatch.setattr(
        module, "_compare_runs", lambda name, peer, sides, tolerance: (name, sides, tolerance)
    )
    monkeypatch.setattr(module, "sample_windows", lambda run, every: f"{run} each {every}")

    def work(eras, **words):
        """Differ from peers by name, each of an era."""
        happened.clear()

        def prepare(name, scenario, options):
            def run(seed):
                happened.append((name, seed))
                return f"{name} {seed}"

            more = {"samples_s": 0.5} if name == "sampled" else {}
            return PreparedPeer(
                Scenario(eras[name]), run, lambda run: [0], lambda run: "1", cost=3.0,
                has_events=name == "exact", **more,
            )  # fmt: skip

        monkeypatch.setattr(module, "prepare", prepare)
        monkeypatch.setattr(
            module, "prepare_all",
            lambda scenario, options: (
                {name: prepare(name, scenario, options) for name in eras}, {"other": "not here"}
            ),
        )  # fmt: skip
        return module.differ(Scenario(), **words), happened

    return work


def test_each_side_has_the_seeds_from_that_of_the_scenario_on(differed):
    found, happened = differed({"a": "rfc"}, peers=["a"], reps=2, tolerance=0.2)
    tables = ("windows", "states")
    assert happened == [("ours", "rfc", tables, 7), ("ours", "rfc", tables, 8), ("a", 7), ("a", 8)]
    assert found.seeds == (7, 8)
    assert found.peers == (("a", (["ours rfc 7", "ours rfc 8"], ["a 7", "a 8"]), 0.2),)
    assert (found.name, found.left_out) == ("mine", {})


def test_peers_of_one_era_have_the_same_runs_beside_them(differed):
    said = []
    found, happened = differed(
        {"a": "rfc", "exact": "rfc", "sampled": "linux"}, progress=said.append
    )
    # One that has events needs the packets, also beside another.
    ours = [entry for entry in happened if entry[0] == "ours"]
    assert ours == [
        ("ours", "rfc", ("windows", "states", "packets"), 7),
        ("ours", "linux", ("windows", "states"), 7),
    ]
    # Two runs of ours, and three that take three times as long.
    assert said == pytest.approx([0, 1 / 11, 4 / 11, 7 / 11, 8 / 11])
    sides = {name: sides for name, sides, _ in found.peers}
    assert sides["sampled"] == (["ours linux 7 each 0.5"], ["sampled 7"])
    assert sides["exact"] == (["ours rfc 7"], ["exact 7"])
    assert found.left_out == {"other": "not here"}
