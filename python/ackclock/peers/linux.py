"""The running kernel as a peer: the scenario emulated in real time, beside era ``linux``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ackclock.peers.registry import PreparedPeer

if TYPE_CHECKING:
    from ackclock.peers.emulate.run import EmulatedRun
    from ackclock.peers.registry import Options
    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

__all__ = ["ATTEMPTS", "SAMPLES_S", "linux"]

SAMPLES_S = 0.01
"""Interval at which windows are looked at, the kernel's and ours [s]."""
ATTEMPTS = 3
"""Emulations with one seed until one is valid; after the last one an invalid one is taken."""
JITTER = "1 ms"
"""Within which flows begin that would begin at set times, so that the seed makes a difference."""
COST = 2000.0
"""How long a run takes, relative to ours: real time."""


def linux(scenario: Scenario, _: Options) -> PreparedPeer:
    """Prepare a scenario for the kernel's TCP.

    Parameters
    ----------
    scenario
        The scenario.

    Raises
    ------
    UnsupportedError
        This machine cannot emulate.
    ScenarioError
        The scenario cannot be emulated: every reason at once.
    """
    from ackclock import _core
    from ackclock.peers.emulate.emulate import check, emulate

    notes = (
        ["era linux is put in place of the scenario's"]
        if scenario.data.get("era") != "linux"
        else []
    )
    ours = scenario.replace(era="linux")
    flows = ours.data.get("flows", [])
    fixed = [i for i, flow in enumerate(flows) if "start_jitter" not in flow]
    if fixed and sum(flow.get("count", 1) for flow in flows) > 1:
        ours = ours.replace(**{f"flows[{i}].start_jitter": JITTER for i in fixed})
        notes.append(
            f"flows begin within {JITTER} of their start, drawn by the seed, here and there"
        )
    check(ours)
    theirs = ours.replace(**{"record.tables": ["windows"], "record.interval": SAMPLES_S})
    late: list[EmulatedRun] = []

    def run(seed: int) -> Run:
        for _ in range(ATTEMPTS):
            done = emulate(theirs.with_seed(seed))
            if done.is_valid:
                break
        late.append(done)
        return done

    def release(_: Run) -> str:
        return describe(late)

    explained = json.loads(_core.Emulator(ours.core_json()).describe())
    return PreparedPeer(
        ours=ours,
        run=run,
        flows=lambda other: list(range(len(other.summary["flows"]))),
        release=release,
        cost=COST,
        links=(explained["bottleneck"],),
        resolution={"time_s": SAMPLES_S},
        notes=tuple(notes),
        samples_s=SAMPLES_S,
    )


def describe(runs: list[EmulatedRun]) -> str:
    """Name the kernel, and say how late packets were.

    Parameters
    ----------
    runs
        All that are compared.
    """
    emulations = [run.summary["emulation"] for run in runs]
    p99, most = (
        max(emulation["lateness"][name] for emulation in emulations) for name in ("p99_s", "max_s")
    )
    text = (
        f"Linux {emulations[0]['kernel']}; packets at most {1e3 * p99:.3g} ms late (p99),"
        f" {1e3 * most:.3g} ms (all)"
    )
    invalid = sum(not emulation["valid"] for emulation in emulations)
    if not invalid:
        return text
    return f"{text}: {invalid} of {len(runs)} runs INVALID, the machine was too busy"
