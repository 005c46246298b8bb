"""The registry of peers: who runs a scenario beside us, and what a peer has to offer."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock.errors import Problem, ScenarioError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

__all__ = ["PEERS", "Prepared", "named", "prepare"]

PEERS = {
    "quinn": "ackclock.studies.differ.shipped:quinn",
    "s2n": "ackclock.studies.differ.shipped:s2n",
}
"""By name, the function that makes a `Prepared` of a scenario; imported on first use."""


@dataclass(frozen=True)
class Prepared:
    """A scenario that a peer can run.

    Parameters
    ----------
    ours
        What runs here beside it: the scenario, in the era that the peer corresponds to.
    run
        The peer's run with a seed. Its summary has all flows in the order of ours; its table
        ``windows`` has those that are compared.
    flows
        Numbers of the flows that are compared, of a run of the peer.
    release
        Name and version of what ran, of a run of the peer.
    cost
        How long a run takes, relative to one of ours.
    """

    ours: Scenario
    run: Callable[[int], Run]
    flows: Callable[[Run], list[int]]
    release: Callable[[Run], str]
    cost: float = 1.0


def named(text: str) -> list[str]:
    """Read a list of peers.

    Parameters
    ----------
    text
        As typed, with commas between.

    Raises
    ------
    ScenarioError
        There is no such peer.
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in PEERS]
    if unknown or not names:
        given = unknown[0] if unknown else ""
        message = f'there is no peer "{given}"; {suggestion(given, list(PEERS))}'
        raise ScenarioError([Problem("--against", message)])
    return names


def prepare(peer: str, scenario: Scenario) -> Prepared:
    """Prepare a scenario for a peer.

    Parameters
    ----------
    peer
        One of `PEERS`.
    scenario
        With our controls.

    Raises
    ------
    ScenarioError
        The peer cannot run it.
    """
    make: Callable[[Scenario], Prepared] = pkgutil.resolve_name(PEERS[peer])
    return make(scenario)
