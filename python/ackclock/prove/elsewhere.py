"""Counterexamples in shipped code: the scenario of a replay with QUIC libraries, or in the kernel.

The link, its buffer and its jitter are those of the replay; only who sends differs. Constants are
those of the shipped code, so a control whose constants were changed is refused. Libraries have
virtual time; the kernel's TCP runs in real time, as `ackclock emulate` has it, with its own first
window.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from ackclock.errors import UnsupportedError
from ackclock.prove.counterexample import packets_of
from ackclock.prove.measures import measure_of
from ackclock.prove.replay import Replay
from ackclock.scenario.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from ackclock.prove.controls.relation import Relation
    from ackclock.prove.properties import PathClaim
    from ackclock.results.run import Run

__all__ = ["WHERE", "Where", "check_elsewhere", "replay_elsewhere"]

Where = Literal["packet", "stacks", "kernel"]
WHERE: tuple[Where, ...] = ("packet", "stacks", "kernel")
"""Who runs a counterexample: our packets alone; QUIC libraries, or the kernel, beside them."""


def check_elsewhere(where: Where, relation: Relation, values: Mapping[str, Fraction]) -> None:
    """Check, before anything is proved, that a counterexample could be run there.

    Parameters
    ----------
    where
        One of `WHERE`.
    relation, values
        The control.

    Raises
    ------
    UnsupportedError
        This build does not have the control, or it has other constants.
    """
    if where == "packet":
        return
    constants = {name for name in values if name not in relation.units}
    changed = [name for name in constants if values[name] != relation.parameters[name]]
    if changed:
        names = ", ".join(sorted(changed))
        raise UnsupportedError(f"--replay {where}: shipped code has its constants; leave {names}")
    if where == "stacks":
        _libraries(relation.name)
        return
    from ackclock.peers.emulate import controls

    name = controls.KERNEL.get(relation.name)
    if name not in controls.available():
        raise UnsupportedError(f"--replay kernel: this kernel has no control like {relation.name}")


def _libraries(control: str) -> list[str]:
    from ackclock.catalogue import schema
    from ackclock.peers.shipped import CONTROLS

    peers = [peer for peer, controls in CONTROLS.items() if control in controls]
    if not peers:
        raise UnsupportedError(f"--replay stacks: no library has a control like {control}")
    shipped = schema.find_bundled()
    built = [peer for peer in peers if CONTROLS[peer][control] in shipped]
    if not built:
        raise UnsupportedError(
            f"--replay stacks: this build lacks {', '.join(peers)};"
            ' "make stacks" in a checkout builds them'
        )
    return built


def replay_elsewhere(
    done: Replay, relation: Relation, claim: PathClaim, where: Where
) -> dict[str, Replay]:
    """Run a counterexample in shipped code.

    Parameters
    ----------
    done
        The counterexample in packets.
    relation
        The control.
    claim
        What it violates.
    where
        One of `WHERE`.

    Returns
    -------
    dict
        By the name of the code.

    Raises
    ------
    ScenarioError
        The scenario cannot be run there.
    """
    if done.data is None or where == "packet":
        return {}
    data = dict(done.data)
    data["flows"] = [{**flow, "cc": relation.name} for flow in data["flows"]]
    tables = list(measure_of(claim).tables)
    if tables:
        data["record"] = {"tables": tables}
    packets = packets_of(data)
    if where == "kernel":
        return {"kernel": _in_kernel(data, claim, packets)}
    from ackclock.peers.shipped import CONNECTIONS, swap_controls

    result = {}
    for peer in _libraries(relation.name):
        flows = [_over_quic(flow) if peer in CONNECTIONS else flow for flow in data["flows"]]
        theirs = swap_controls(Scenario.from_data({**data, "flows": flows}), peer)
        result[peer] = _judged(theirs.run(record=tables or None), claim, packets, theirs)
    return result


def _in_kernel(data: dict[str, Any], claim: PathClaim, packets: int) -> Replay:
    """Run a counterexample in real time with the kernel's TCP, whose first window is its own."""
    from ackclock.peers.emulate.emulate import emulate

    theirs = {"initial_window", "initial_ssthresh", "delayed_ack", "accecn"}
    flows = [
        {**flow, "tcp": {key: value for key, value in flow["tcp"].items() if key not in theirs}}
        for flow in data["flows"]
    ]
    scenario = Scenario.from_data({**data, "flows": flows})
    run = emulate(scenario)
    replay = _judged(run, claim, packets, scenario)
    if run.is_valid:
        return replay
    late = "; the run does not count, as packets were handed over late"
    return replace(replay, replayed=False, sentence=replay.sentence + late)


def _over_quic(flow: dict[str, Any]) -> dict[str, Any]:
    """Copy a flow of TCP for a library that brings its own connection, with its first window."""
    tcp = flow["tcp"]
    rest = {key: value for key, value in flow.items() if key != "tcp"}
    return {**rest, "transport": "quic", "quic": {"ecn": True} if tcp.get("ecn") else {}}


def _judged(run: Run, claim: PathClaim, packets: int, scenario: Scenario) -> Replay:
    measure = measure_of(claim)
    shown, measured, sentence = measure.judge(measure.read(run, packets))
    return Replay(shown, measured, dict(scenario.data), f"{sentence} in packets of it")
