"""A scenario as a C++ program for ns-3.

Names from the scenario are in comments only, percent-encoded: the program itself has numbers.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.peers.ns3.links import discipline_lines, queue_size, settle_links
from ackclock.peers.ns3.sockets import flow_lines, settle_senders
from ackclock.peers.routes import find_routes
from ackclock.peers.written import (
    SimulatorLimits,
    Written,
    comment_text,
    number_text,
    sentence_text,
)

if TYPE_CHECKING:
    from ackclock.peers.plan import Flow, SimulatorLink, SimulatorPlan

__all__ = ["FLOWS", "LINKS", "WINDOWS", "write"]

FLOWS, LINKS, WINDOWS = "flows.csv", "links.csv", "windows.csv"
"""Files that the program writes."""

FRAME = Path(__file__).with_name("frame.cc")
"""What is the same in every program."""


def write(plan: SimulatorPlan) -> Written:
    """Write a plan as a program.

    Parameters
    ----------
    plan
        The compiled scenario.

    Raises
    ------
    ScenarioError
        It has what ns-3 cannot express: every reason at once.
    """
    limits = SimulatorLimits("ns-3")
    settle_senders(plan, limits)
    settle_links(plan, limits)
    routes = find_routes(plan, limits, _address)
    limits.raise_refused()
    body = [
        f"    NODES.Create({len(plan.nodes)});",
        "    InternetStackHelper stack;",
        "    stack.SetIpv6StackInstall(false);",
        "    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());",
        "    stack.Install(NODES);",
        f"    SENT.resize({len(plan.flows)});",
        f"    WATCHED.resize({len(plan.links)});",
        f"    ADDRESSES.resize({2 * len(plan.links)});",
        f"    INTERFACES.resize({len(plan.links)});",
    ]
    for link in plan.links:
        if link.number in plan.used:
            body += _link_lines(plan, link)
    body += [
        f"    Route({node}, {address}, {link});"
        for (node, address), (link, _) in sorted(routes.items())
    ]
    for flow in plan.flows:
        body += ["", f"    // {comment_text(flow.id)}", *flow_lines(plan, flow)]
    text = FRAME.read_text(encoding="ascii")
    different = [f"{sentence_text(n.path)}: {sentence_text(n.message)}" for n in limits.named]
    title = [
        f"// {comment_text(plan.name)}, for ns-3.37. Arguments: a folder, the seed.",
        "// Writes into it: flows.csv, links.csv, windows.csv.",
        "// Written by ackclock; names are percent-encoded.",
        *(f"// Different: {line}" for line in different),
        *(f"// node {i}: {comment_text(name)}" for i, name in enumerate(plan.nodes)),
    ]
    for key, value in (
        ("TITLE", "\n".join(title)),
        ("WARMUP", number_text(plan.warmup_s)),
        ("DURATION", number_text(plan.duration_s)),
        ("BODY", "\n".join(body)),
    ):
        text = text.replace(f"//@{key}@", value)
    return limits.settle(text)


def _address(flow: Flow, are_acks: bool) -> int:  # noqa: FBT001  a callback
    """The address that packets of a flow go to, by number: two a link, of its two ends.

    ns-3 gives a connection the address at which its data leaves the sender.
    """
    return 2 * flow.route[0] if are_acks else 2 * flow.route[-1] + 1


def _link_lines(plan: SimulatorPlan, link: SimulatorLink) -> list[str]:
    is_fifo = link.qdisc.kind == "fifo"
    lines = ["", f"    // {comment_text(link.id)}"]
    if not is_fifo:
        lines += ["    discipline = ObjectFactory();", "    quantum = 0;", *discipline_lines(link)]
    ends = f"{link.number}, {link.source}, {link.target}"
    rate, delay = int(link.rate_bps), number_text(link.delay_s)
    lines.append(
        f'    Join({ends}, {rate}ULL, Seconds({delay}), "{queue_size(link) if is_fifo else "1p"}",'
        f" {'false' if is_fifo else 'true'});"
    )
    for time_s, rate_bps in link.steps:
        lines.append(
            f"    ChangeRate({link.number}, Seconds({number_text(time_s)}), {int(rate_bps)}ULL);"
        )
    return lines
