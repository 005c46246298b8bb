"""The same case in packets: constant-rate senders through fair queues with longest-queue drop.

A fluid link of capacity c becomes a link of ``c * bps_per_unit`` with an FQ queue; a flow of rate d
becomes a source of that constant rate on the same route. What every hop let through is counted from
the drops, so that dead flow and zombies of the packets come from the same formulas.

Packets and fluids differ by what queues hold. In a window of T seconds a flow's count on a hop is
off by at most the packets that wait there at the window's ends, and each packet is one unit of
``size * 8 / T`` bit/s: `tolerance` gives the bound for a whole route.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ackclock.engines.fluid.net import FluidNet
    from ackclock.engines.fluid.outcome import Rates
    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

    Floats = npt.NDArray[np.float64]

__all__ = ["measure", "scenario", "tolerance"]


def scenario(
    net: FluidNet,
    demand: npt.ArrayLike,
    *,
    bps_per_unit: float = 1.0,
    duration_s: float = 60.0,
    warmup_s: float = 10.0,
    packet_bytes: int = 1000,
    buffer_packets: int = 50,
    seed: int = 1,
) -> Scenario:
    """Write a fluid network and the demands of its flows as a packet scenario.

    Parameters
    ----------
    net
        Capacities and routes, with a graph and ends of flows.
    demand
        Rate at which each flow is sent, ``(n_flows,)``.
    bps_per_unit
        Bit/s of one unit of capacity.
    duration_s, warmup_s
        Simulated time, and the part of it that is not counted [s].
    packet_bytes
        Size of all packets [B].
    buffer_packets
        Room of each queue.
    seed
        Of the phases: each source begins within its first packet interval.

    Raises
    ------
    ScenarioError
        The network was made without a graph.
    """
    from ackclock.scenario.scenario import Scenario

    if net.graph is None:
        message = "is not known; a twin needs a network made of a graph"
        raise ScenarioError([Problem("graph", message)])
    graph, rates = net.graph, np.asarray(demand, dtype=np.float64)
    rng = np.random.default_rng(seed)
    back = {
        (int(u), int(v)): c * bps_per_unit
        for u, v, c in zip(graph.src, graph.dst, graph.capacity, strict=True)
    }
    links = []
    for (u, v), rate in back.items():
        if (v, u) in back and v < u:
            continue
        there = {"a": graph.nodes[u], "b": graph.nodes[v], "rate": rate, "delay": "1 ms"}
        links.append({**there, "back_rate": back.get((v, u), rate)})
    for link in links:
        link |= {"qdisc": "fq", "buffer": f"{buffer_packets} pkt"}
    flows = []
    for flow, rate in enumerate(rates):
        if rate <= 0:
            continue
        nodes = net.nodes_along(flow)
        bps = rate * bps_per_unit
        begin = rng.uniform(0, packet_bytes * 8 / bps)
        flows.append(
            {
                "id": str(flow),
                "src": nodes[0],
                "dst": nodes[-1],
                "route": nodes,
                "start": float(begin),
                "source": {"kind": "cbr", "rate": float(bps), "packet": packet_bytes},
            }
        )
    return Scenario.from_data(
        {
            "net": {"kind": "graph", "links": links},
            "flows": flows,
            "duration": duration_s,
            "warmup": warmup_s,
            "seed": seed,
            "record": {"tables": ["drops"]},
            "classes": "flow",
        }
    )


def measure(net: FluidNet, run: Run, *, bps_per_unit: float = 1.0) -> Rates:
    """Count what each hop let through in a twin's window.

    A hop's arrivals are what left it and what it dropped, from the destination back to the source.

    Parameters
    ----------
    net
        The network of the twin.
    run
        The finished twin.
    bps_per_unit
        As the twin was written with.

    Returns
    -------
    Rates
        To be given to `FluidNet.account`.
    """
    summary = run.summary
    window = summary["window_s"]
    begin = summary["duration_s"] - window
    packet = {flow["id"]: flow["goodput_bps"] / bps_per_unit for flow in summary["flows"]}
    drops = run.table("drops")
    late = drops["time_s"].to_numpy() >= begin
    columns = (
        drops["link"].to_pylist(),
        drops["flow"].to_pylist(),
        drops["size_bytes"].to_pylist(),
    )
    lost: dict[tuple[str, str], float] = {}
    for counts, link, flow, size in zip(late, *columns, strict=True):
        if counts:
            lost[flow, link] = lost.get((flow, link), 0.0) + size * 8 / window / bps_per_unit
    leaving = np.zeros(len(net.hops))
    demand = np.zeros(net.n_flows)
    for flow in range(net.n_flows):
        rate = packet.get(str(flow), 0.0)
        for hop in reversed(range(net.offsets[flow], net.offsets[flow + 1])):
            leaving[hop] = rate
            rate += lost.get((str(flow), _pair(net, int(net.hops[hop]))), 0.0)
        demand[flow] = rate
    return net.take_measured(demand, leaving)


def _pair(net: FluidNet, link: int) -> str:
    assert net.graph is not None, "invariant: a twin has a graph"
    u, v = net.graph.src[link], net.graph.dst[link]
    return f"{net.graph.nodes[u]}->{net.graph.nodes[v]}"


def tolerance(net: FluidNet, run: Run, *, bps_per_unit: float = 1.0) -> Floats:
    """Bound by how much each flow's rate in a twin may differ from the fluid's, ``(n_flows,)``.

    On each hop up to the buffer's packets may wait at one end of the window and not at the other,
    and a fair queue serves a flow within one packet of its share.

    Parameters
    ----------
    net
        The network of the twin.
    run
        The finished twin.
    bps_per_unit
        As the twin was written with.
    """
    data = run.scenario.data
    packets = int(data["net"]["links"][0]["buffer"].split()[0])
    size = data["flows"][0]["source"]["packet"] * 8
    hops = np.diff(net.offsets).astype(np.float64)
    bound: Floats = hops * (packets + 1) * size / run.summary["window_s"] / bps_per_unit
    return bound
