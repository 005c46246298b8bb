"""The packet scenario of a hybrid case: its own flows, the sample, and links with what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ackclock.engines.fluid.arrivals import Transfers
    from ackclock.engines.fluid.net import FluidNet
    from ackclock.engines.hybrid.leftover import Leftover
    from ackclock.engines.hybrid.mixture import Mixture
    from ackclock.scenario.scenario import Scenario

    Floats = npt.NDArray[np.float64]
    Data = dict[str, Any]

__all__ = ["SCALES", "changed_links", "sampled_flows", "sampled_transfers", "scenario"]

SCALES = ("fifo", "red", "pie", "dualpi2", "fq", "drr")
"""Queues whose loss ratio and delay stay the same when rate, buffer and flows are scaled together.

CoDel and what is made of it are not: they drop at times, not packets."""

WHOLE_PACKET = 1500
"""A buffer in bytes has room for one [bytes]."""

FEW_PACKETS = 10.0
"""A buffer with room for fewer is too coarse a picture of the whole one."""


def find_crossed_links(mixture: Mixture, left: Leftover) -> npt.NDArray[np.bool_]:
    """Find the links that packets cross, their data or their acknowledgements.

    Parameters
    ----------
    mixture
        All flows.
    left
        Who of the background are packets.
    """
    is_crossed = mixture.own_links()
    for pair in np.flatnonzero(left.as_packets):
        route = mixture.pairs.route(int(pair))
        is_crossed[route] = True
        back = mixture.opposite[route]
        is_crossed[back[back >= 0]] = True
    return is_crossed


def changed_links(
    mixture: Mixture, left: Leftover, links: list[Data], duration_s: float
) -> tuple[list[Data], list[str]]:
    """Write what is different at links that packets share with the background.

    Parameters
    ----------
    mixture
        All flows.
    left
        What the background leaves.
    links
        As a scenario explains them, in the order of the graph.
    duration_s
        Of the run [s].

    Returns
    -------
    tuple
        Entries of ``links``, and warnings.

    Raises
    ------
    ScenarioError
        A queue that cannot be scaled, a link whose rate changes by itself.
    """
    capacity = mixture.graph.capacity
    rates = left.left(capacity)
    mean = left.mean_over(rates, duration_s) / capacity
    shared = find_crossed_links(mixture, left) & (left.taken > 0).any(axis=0)
    link_changes: list[Data] = []
    problems: list[Problem] = []
    warnings: list[str] = []
    for link in np.flatnonzero(shared):
        is_like = links[link]
        name = str(is_like["id"])
        if is_like["qdisc"] not in SCALES:
            message = (
                f"the link {name} has the queue {is_like['qdisc']}, which behaves otherwise with a"
                f" part of the flows; expected one of: {', '.join(SCALES)}"
            )
            problems.append(Problem("net", message))
        if is_like["varies"]:
            message = f"the rate of {name} changes by itself; expected a constant rate"
            problems.append(Problem("net", message))
        change: Data = {"link": name}
        steps = _steps(left.times, rates[:, link])
        if len(steps) == 1:
            change["rate"] = steps[0]["rate"]
        else:
            change["schedule"] = {"steps": steps}
        room, unit = is_like["buffer_packets"], "pkt"
        if room is None:
            room, unit = is_like["buffer_bytes"], "B"
        if room is not None:
            scaled_buffer = max(1 if unit == "pkt" else WHOLE_PACKET, round(room * mean[link]))
            change["buffer"] = f"{scaled_buffer} {unit}"
            fits = scaled_buffer if unit == "pkt" else scaled_buffer / WHOLE_PACKET
            if left.full[link] and fits < FEW_PACKETS:
                warnings.append(
                    f"of the buffer of {name} the packets have {scaled_buffer} {unit}, too few to"
                    " behave like the whole one; expected more flows as packets"
                    " (background.packets)"
                )
        link_changes.append(change)
    if problems:
        raise ScenarioError(problems)
    return link_changes, warnings


def _steps(times: Floats, rates: Floats) -> list[Data]:
    steps: list[Data] = []
    for at, rate in zip(times, rates, strict=True):
        if not steps or abs(steps[-1]["rate"] - rate) > 1e-9 * rate:
            steps.append({"at": float(at), "rate": float(rate)})
    return steps


def sampled_flows(
    pairs: FluidNet,
    counts: npt.NDArray[np.int64],
    template: Data,
    spread_s: float,
    seed: int,
) -> list[Data]:
    """Write flows of the background as flows of packets.

    Parameters
    ----------
    pairs
        The background.
    counts
        How many of each pair.
    template
        What such a flow is, but for its ends.
    spread_s
        They start at random within this time [s].
    seed
        Of the starts.
    """
    rng = np.random.default_rng([seed, 2])
    flows: list[Data] = []
    for pair in np.flatnonzero(counts):
        nodes = pairs.nodes_along(int(pair))
        for start in rng.uniform(0, spread_s, int(counts[pair])):
            ends = {"src": nodes[0], "dst": nodes[-1], "route": nodes, "start": float(start)}
            flows.append({"id": f"background-{len(flows)}", **template, **ends})
    return flows


def sampled_transfers(
    pairs: FluidNet, transfers: Transfers, as_packets: npt.NDArray[np.bool_], template: Data
) -> list[Data]:
    """Write transfers of the background as flows of packets.

    Parameters
    ----------
    pairs
        The background.
    transfers
        All transfers.
    as_packets
        Which.
    template
        What such a flow is, but for its ends.
    """
    flows: list[Data] = []
    for i in np.flatnonzero(as_packets):
        nodes = pairs.nodes_along(int(transfers.flow[i]))
        ends = {"src": nodes[0], "dst": nodes[-1], "route": nodes}
        size = max(1, round(float(transfers.size[i]) / 8))
        flows.append(
            {"id": f"background-{i}", **template, **ends, "start": float(transfers.time[i])}
            | {"size": size}
        )
    return flows


def scenario(packet_scenario: Scenario, links: list[Data], flows: list[Data]) -> Scenario:
    """Write the packet scenario.

    Parameters
    ----------
    packet_scenario
        The scenario with its own flows alone.
    links
        What is different at links.
    flows
        Flows of the background that run as packets.
    """
    data = packet_scenario.data
    data["links"] = [*data.get("links", ()), *links]
    data["flows"] = [*data["flows"], *flows]
    return type(packet_scenario).from_data(data, packet_scenario._file)
