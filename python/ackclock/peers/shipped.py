"""Peers `noq`, `quinn` and `s2n`: the code of released libraries in the place of our controls."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ackclock.catalogue.schema import registry_name
from ackclock.errors import Problem, ScenarioError
from ackclock.peers.plan import plan_of
from ackclock.peers.registry import PreparedPeer

if TYPE_CHECKING:
    from ackclock.peers.registry import Options
    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

__all__ = ["CONNECTIONS", "CONTROLS", "library", "noq", "quinn", "s2n", "swap_controls"]

CONTROLS: dict[str, dict[str, str]] = {
    "noq": {"cubic": "noq/cubic", "aimd": "noq/newreno", "bbr3": "noq/bbr3"},
    "quinn": {"cubic": "quinn/cubic", "aimd": "quinn/newreno", "bbr": "quinn/bbr"},
    "s2n": {"cubic": "s2n/cubic", "bbr2": "s2n/bbr2"},
}
"""By peer, the names of its controls by those of ours that follow the same rule."""

CONNECTIONS = ("noq", "quinn")
"""Peers with whole connections of QUIC."""

OURS_SEND = ("s2n",)
"""Peers whose controllers drive our sender, so that packets are the same until windows are not."""


def library(peer: str, scenario: Scenario, options: Options) -> PreparedPeer:
    """Prepare a scenario for the controls of a library.

    Parameters
    ----------
    peer
        One of `CONTROLS`.
    scenario
        With our controls.
    options
        Not used: nothing runs but this program.

    Raises
    ------
    ScenarioError
        As of `swap_controls`.
    """
    del options
    is_our_sender = peer in OURS_SEND
    tables = ["windows", *(["packets"] if is_our_sender else [])]
    theirs = swap_controls(scenario, peer).replace(**{"record.tables": tables})

    def flows(run: Run) -> list[int]:
        controls = [flow["cc"] for flow in run.summary["flows"]]
        return [i for i, cc in enumerate(controls) if cc.startswith(f"{peer}/")]

    def release(run: Run) -> str:
        from ackclock.catalogue import schema

        controls = {run.summary["flows"][i]["cc"] for i in flows(run)}
        return ", ".join(sorted({schema.find_bundled()[cc]["crate"] for cc in controls}))

    plan = plan_of(scenario)
    crossed = {link.id for link in plan.bottlenecks}
    return PreparedPeer(
        scenario,
        lambda seed: theirs.with_seed(seed).run(),
        flows,
        release,
        links=tuple(link.id for link in plan.links if link.id in crossed),
        has_events=is_our_sender,
    )


def swap_controls(scenario: Scenario, peer: str) -> Scenario:
    """Put a peer's controls in the place of ours.

    Parameters
    ----------
    scenario
        With our controls.
    peer
        One of `CONTROLS`.

    Returns
    -------
    Scenario
        Flows whose control the peer does not have are as before.

    Raises
    ------
    ScenarioError
        No flow has a control that the peer has, or the scenario cannot be with the peer's.
    """
    peer_controls = CONTROLS[peer]
    changes = {}
    for i, flow in enumerate(scenario.data.get("flows", [])):
        if "source" in flow:
            continue
        cc = flow.get("cc", "cubic")
        bare = cc["kind"] if isinstance(cc, dict) and set(cc) == {"kind"} else cc
        bare = registry_name("cc", bare) if isinstance(bare, str) else bare
        if isinstance(bare, str) and bare in peer_controls:
            changes[f"flows[{i}].cc"] = peer_controls[bare]
    if not changes:
        expected_names = " or ".join(f'"{name}"' for name in peer_controls)
        message = (
            f"no flow has a control that {peer} has; expected cc = {expected_names}, no parameters"
        )
        raise ScenarioError([Problem("flows", message)])
    replaced = scenario.replace(**changes)
    replaced.check()
    return replaced


noq = partial(library, "noq")
quinn = partial(library, "quinn")
s2n = partial(library, "s2n")
