"""Peers ``guest:COMMAND``: a program that uses the guest protocol in the place of our flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock.catalogue.guest_programs import guest_of
from ackclock.errors import Problem, ScenarioError
from ackclock.peers.plan import plan_of
from ackclock.peers.registry import PreparedPeer

if TYPE_CHECKING:
    from ackclock.peers.registry import Options
    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

__all__ = ["guest", "swap_guest"]

NOTES = (
    "it has its own handshake, packets and acknowledgements: windows are of datagrams of its"
    " largest size, and known only if it reports them",
    "compare it with our flow over QUIC; TCP has other headers",
)


def guest(command: str, scenario: Scenario, options: Options) -> PreparedPeer:
    """Prepare a scenario for a guest.

    Parameters
    ----------
    command
        ``guest:COMMAND``.
    scenario
        With our controls.
    options
        Not used: a guest is found by its command.

    Raises
    ------
    ScenarioError
        As of `swap_guest`.
    """
    del options
    changed, numbers, name = swap_guest(scenario, command)
    theirs = changed.replace(**{"record.tables": ["windows"]})
    plan = plan_of(scenario)
    crossed = {link.id for link in plan.bottlenecks}

    def flows(run: Run) -> list[int]:
        del run
        return numbers

    return PreparedPeer(
        scenario,
        lambda seed: theirs.with_seed(seed).run(),
        flows,
        lambda _: name,
        links=tuple(link.id for link in plan.links if link.id in crossed),
        notes=NOTES,
    )


def swap_guest(scenario: Scenario, command: str) -> tuple[Scenario, list[int], str]:
    """Put a guest in the place of the flows that have the control of the first one.

    Parameters
    ----------
    scenario
        With our controls.
    command
        ``guest:COMMAND``.

    Returns
    -------
    tuple
        The scenario with guests, the numbers of their flows, and the guest's name.

    Raises
    ------
    ScenarioError
        No flow has a control, or the guest cannot have such a flow.
    """
    try:
        table = guest_of(command)
    except ValueError as error:
        message = f"is {command}: {error}; expected guest:COMMAND as a shell reads it"
        raise ScenarioError([Problem("--against", message)]) from None
    flows = scenario.data.get("flows", [])
    senders = {
        number: _control(flow)
        for number, flow in enumerate(flows)
        if "source" not in flow and "guest" not in flow
    }
    if not table or not senders:
        message = "no flow has a control in whose place the guest could be; expected one"
        raise ScenarioError([Problem("flows", message)])
    first = next(iter(senders.values()))
    numbers = [number for number, control in senders.items() if control == first]
    if any(_count(flow) > 1 for flow in flows[: max(numbers) + 1]):
        message = "has a count, and flows beside guests are compared one by one; expected none"
        raise ScenarioError([Problem("flows", message)])
    changed = scenario.replace(
        **{f"flows[{number}].cc": {"kind": "guest", **table} for number in numbers}
    )
    changed.check()
    return changed, numbers, str(table["name"])


def _control(flow: Any) -> Any:
    return flow.get("cc", "cubic")


def _count(flow: Any) -> int:
    return int(flow.get("count", 1))
