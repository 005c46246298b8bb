"""What of a scenario a peer can take over, and the scenario with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.errors import Problem, ScenarioError, suggestion

if TYPE_CHECKING:
    from ackclock.scenario.scenario import Scenario

__all__ = ["PEERS", "named", "swapped"]

PEERS: dict[str, dict[str, str]] = {
    "quinn": {"cubic": "quinn/cubic", "aimd": "quinn/newreno"},
    "s2n": {"cubic": "s2n/cubic", "bbr2": "s2n/bbr2"},
}
"""By peer, the names of its controls by those of ours that follow the same rule."""


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


def swapped(scenario: Scenario, peer: str) -> Scenario:
    """Put a peer's controls in the place of ours.

    Parameters
    ----------
    scenario
        With our controls.
    peer
        One of `PEERS`.

    Returns
    -------
    Scenario
        Flows whose control the peer does not have are as before.

    Raises
    ------
    ScenarioError
        No flow has a control that the peer has, or the scenario cannot be with the peer's.
    """
    known = PEERS[peer]
    changes = {}
    for i, flow in enumerate(scenario.data.get("flows", [])):
        if "source" in flow:
            continue
        cc = flow.get("cc", "cubic")
        bare = cc["kind"] if isinstance(cc, dict) and set(cc) == {"kind"} else cc
        if isinstance(bare, str) and bare in known:
            changes[f"flows[{i}].cc"] = known[bare]
    if not changes:
        listed = " or ".join(f'"{name}"' for name in known)
        message = f"no flow has a control that {peer} has; expected cc = {listed}, no parameters"
        raise ScenarioError([Problem("flows", message)])
    made = scenario.replace(**changes)
    made.check()
    return made
