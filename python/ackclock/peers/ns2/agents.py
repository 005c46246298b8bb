"""Senders and receivers of ns-2: agents by loss recovery and control, their variables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ackclock.peers.ns2.tcl import put
from ackclock.peers.written import number_text

if TYPE_CHECKING:
    from ackclock.peers.plan import Algorithm, Flow, SimulatorPlan
    from ackclock.peers.written import SimulatorLimits

__all__ = ["LARGEST_WINDOW", "agent_lines", "is_bare", "settle_senders", "traffic_lines"]

VARIANTS = {"tahoe": "", "reno": "/Reno", "newreno": "/Newreno", "sack": "/Sack1"}
"""Agents below ``Agent/TCP`` by loss recovery."""

LINUX = {
    "bic", "cubic", "htcp", "hybla", "illinois", "lp", "scalable", "veno", "westwood", "yeah",
    "compound",
}  # fmt: skip
"""Controls that ``Agent/TCP/Linux`` has under the same name."""

LINEAR = ("aimd", "aiad", "mimd", "miad", "linear", "binomial", "iiad", "sqrt")

CONTROLS = dict.fromkeys((*LINEAR, "highspeed", "vegas", *sorted(LINUX)))
"""Names of controls that can be written."""

SOURCES = dict.fromkeys(("cbr", "exponential-on-off", "pareto-on-off"))

LARGEST_WINDOW = 1_000_000
"""Stands for no limit [packets]."""

SAME = 1e-3
"""Numbers that differ by less, relative to them, were rounded when they were written down."""

RANDOM = "ns-2 draws its own random numbers"

MISBEHAVING = {
    "optimistic_acks": None,
    "ecn_echo": True,
    "out_of_profile": False,
    "first_priority": 0,
    "aqt": False,
    "trimming": False,
}
"""Settings without which a flow is not the scenario's, with the value at which it is."""

ABSENT = {
    "window_autotuning": "the receiver's window is constant",
    "accecn": "it has the ECN of RFC 3168",
    "dsack": "no reduction is taken back",
    "eifel": "no reduction is taken back",
    "frto": "no reduction is taken back",
    "offload": "packets leave one by one",
}
"""Settings that ns-2 lacks, and what it does."""

VARIABLES = {
    "precisionReduce": True,
    "bugFix": True,
    "bugfix_ss": True,
    "numdupacks": 3,
    "delay_growth": True,
    "rfc2988": True,
    "maxcwnd": 0,
}
"""Variables of ``Agent/TCP`` that scenarios may set, with ns-2.35's defaults."""

OF_NEWRENO = {"newreno_changes1": True, "partial_window_deflation": True}
"""The same of ``Agent/TCP/Newreno``."""


def settle_senders(plan: SimulatorPlan, limits: SimulatorLimits) -> None:
    """Note what of the flows ns-2 cannot express.

    Parameters
    ----------
    plan
        The compiled scenario.
    limits
        Gets it.
    """
    if plan.groups:
        limits.refuse("groups", "multicast groups cannot be written for ns-2")
    if plan.connections:
        limits.refuse("flows", "connections over several paths cannot be written for ns-2")
    if plan.waits:
        limits.refuse("flows", "flows that wait for others cannot be written for ns-2")
    if plan.switches:
        limits.refuse("switches", "memory and flow control cannot be written for ns-2")
    if not plan.is_of_ns2:
        limits.name(
            "era",
            f'is "{plan.era}"; senders, receivers and RTT clocks are ns-2.35\'s, which'
            ' era "ns2" reproduces',
        )
    for flow in plan.flows:
        if flow.kind == "quic":
            limits.refuse(f"{flow.path}.transport", 'is "quic", which ns-2 does not have')
        elif flow.kind == "tcp":
            _settle_tcp(plan, flow, limits)
        elif flow.kind == "source":
            _settle_source(flow, limits)


def _settle_source(flow: Flow, limits: SimulatorLimits) -> None:
    source, path = flow.sender["source"], f"{flow.path}.source"
    if not limits.offer(path, "source", source.kind, SOURCES):
        return
    if source.parameters.get("schedule"):
        limits.refuse(f"{path}.schedule", "changes of rate cannot be written; use periods")
    if source.kind != "cbr":
        limits.name(path, f"{RANDOM} for bursts and silences")
    elif source.number("jitter", 0.0):
        limits.name(f"{path}.jitter", f"{RANDOM}, within half an interval")


def _settle_tcp(plan: SimulatorPlan, flow: Flow, limits: SimulatorLimits) -> None:
    path, tcp = flow.path, flow.tcp
    cc, recovery, slow_start = (flow.sender[room] for room in ("cc", "recovery", "slow_start"))
    if limits.offer(f"{path}.cc", "control", cc.kind, CONTROLS):
        _settle_control(plan, flow, cc, limits)
    limits.offer(f"{path}.recovery", "loss recovery", recovery.kind, VARIANTS)
    if slow_start.kind not in ("standard", "limited"):
        limits.refuse(
            f"{path}.slow_start",
            f'is "{slow_start.kind}", ns-2 has "standard" and "limited"',
        )
    if flow.moves:
        limits.refuse(flow.path, "routes that change are not written for ns-2")
    if flow.has_credits:
        limits.refuse(f"{path}.credits", "ns-2 has no receivers that give credit")
    if flow.supplied:
        limits.refuse(path, "data that its application hands over in time cannot be written")
    if tcp["delayed_ack"] > 2:
        limits.refuse(
            f"{path}.tcp.delayed_ack", f"is {tcp['delayed_ack']}, ns-2's receivers have 1 or 2"
        )
    for key, usual in MISBEHAVING.items():
        if tcp[key] != usual:
            limits.refuse(f"{path}.tcp.{key}", "ns-2 has nothing like it")
    for key, instead in ABSENT.items():
        if tcp[key]:
            limits.name(f"tcp.{key}", f"ns-2 does not have it: {instead}")
    if tcp["quick_acks"] or tcp["sack_delay"]:
        limits.name("tcp.quick_acks", "ns-2's receivers delay by count and time alone")
    if tcp["header"] not in (0, tcp["ack_size"]):
        limits.name("tcp.header", f"a connection request has {tcp['header']} B in ns-2")
    if flow.ns2.get("first_decrease") is False:
        limits.refuse(f"{path}.tcp.ns2.first_decrease", "ns-2.35 always halves at first")
    if flow.dscp:
        limits.name(f"{path}.dscp", "packets of ns-2 have no code point here")
    if cc.kind in LINUX:
        limits.name(f"{path}.cc", "is that of Linux 2.6 as ns-2.35 carries it")


def _settle_low_p(plan: SimulatorPlan, cc: Algorithm, path: str, limits: SimulatorLimits) -> None:
    """Note where the loss rate at HighSpeed TCP's low window is not the one that ns-2 computes."""
    of_ns2 = 1.5 / cc.number("low_window", 38.0) ** 2
    stated = cc.parameters.get("low_p")
    here = (of_ns2 if plan.is_of_ns2 else 1e-3) if stated is None else float(stated)
    if abs(here / of_ns2 - 1) < SAME:
        return
    message = f"is {here:g}; ns-2's HighSpeed TCP computes {of_ns2:.5g} from low_window"
    if stated is None:
        limits.name(f"{path}.low_p", message)
    else:
        limits.refuse(f"{path}.low_p", message)


def _settle_control(
    plan: SimulatorPlan, flow: Flow, cc: Algorithm, limits: SimulatorLimits
) -> None:
    path = f"{flow.path}.cc"
    if cc.kind == "linear" and _binomial(cc) is None:
        limits.refuse(path, "ns-2 has linear controls of which each side is one rule, not two")
    if cc.kind == "vegas" and cc.number("loss_factor", 0.75) != 0.75:
        limits.refuse(f"{path}.loss_factor", "ns-2's Vegas has 0.75")
    if cc.kind == "highspeed":
        _settle_low_p(plan, cc, path, limits)
    if cc.kind in LINUX and cc.parameters:
        key = next(iter(cc.parameters))
        limits.refuse(f"{path}.{key}", f"parameters of ns-2's {cc.kind} cannot be set")
    for key in ("count", "first_cut", "beta_ecn"):
        if cc.parameters.get(key) is not None:
            limits.refuse(f"{path}.{key}", "ns-2 does not have it")


def _binomial(cc: Algorithm) -> tuple[float, float, float, float] | None:
    """A linear or binomial control as ns-2's: increase, decrease, k, l; None if it is none.

    The window grows by ``increase / w^(k + 1)`` an acknowledgement and a loss takes
    ``(1 - decrease) w^l`` off.
    """
    number = cc.number
    if cc.kind == "aimd":
        return number("a", 1.0), number("b", 0.5), 0.0, 1.0
    if cc.kind == "aiad":
        return number("a", 1.0), 1 - number("d", 3.0), 0.0, 0.0
    if cc.kind == "mimd":
        return number("a", 1.125) - 1, number("b", 0.8), -1.0, 1.0
    if cc.kind == "miad":
        return number("a", 1.125) - 1, 1 - number("d", 3.0), -1.0, 0.0
    if cc.kind == "binomial":
        alpha, beta = number("alpha", 1.0), number("beta", 0.5)
        return alpha, 1 - beta, number("k", 0.0), number("l", 1.0)
    if cc.kind in ("iiad", "sqrt"):
        exponents = (1.0, 0.0) if cc.kind == "iiad" else (0.5, 0.5)
        return number("alpha", 1.0), 1 - number("beta", 2 / 3), *exponents
    grows = number("a_i", 1.0), number("b_i", 1.0)
    shrinks = number("a_d", 0.0), number("b_d", 0.5)
    if (grows[0] and grows[1] != 1) or (shrinks[0] and shrinks[1] != 1):
        return None
    k, increase = (0.0, grows[0]) if grows[0] else (-1.0, grows[1] - 1)
    ell, decrease = (0.0, 1 + shrinks[0]) if shrinks[0] else (1.0, shrinks[1])
    return increase, decrease, k, ell


def _control_lines(name: str, cc: Algorithm) -> list[str]:
    """How the control of an agent is set."""
    if cc.kind == "vegas":
        usual = {"alpha": 1, "beta": 3, "gamma": 1}
        return [put(name, {f"v_{key}": cc.number(key, value) for key, value in usual.items()})]
    if cc.kind == "highspeed":
        of_rfc = (
            ("low_window", 38.0), ("high_window", 83000.0), ("high_p", 1e-7),
            ("high_decrease", 0.1),
        )  # fmt: skip
        agent_values = {key: cc.number(key, value) for key, value in of_rfc}
        return [put(name, {"windowOption": 8, **agent_values})]
    if cc.kind in LINUX:
        return [f'$ns at 0 "{name} select_ca {cc.kind}"']
    binomial = _binomial(cc)
    assert binomial is not None
    increase, decrease, k, ell = binomial
    if decrease == 0.5 and (k, ell) != (0.0, 1.0):
        # Exactly this value means to ns-2 that the window is halved, whatever l is.
        decrease = math.nextafter(decrease, 1.0)
    values: dict[str, float] = {"increase_num": increase, "decrease_num": decrease}
    if (k, ell) == (0.0, 1.0):
        return [put(name, {"windowOption": 1, **values})]
    return [put(name, {"windowOption": 6, "k_parameter": k, "l_parameter": ell, **values})]


def is_bare(flow: Flow) -> bool:
    """Whether ns-2's agent of a flow sends no headers and no connection request.

    Parameters
    ----------
    flow
        A flow of TCP.
    """
    return flow.control == "vegas"


def _agent(flow: Flow) -> str:
    kind = flow.control
    if kind == "vegas":
        return "Agent/TCP/Vegas"
    if kind in LINUX:
        return "Agent/TCP/Linux"
    return f"Agent/TCP{VARIANTS[flow.sender['recovery'].kind]}"


def _sink(flow: Flow) -> str:
    blocks = flow.sender["recovery"].kind == "sack" and flow.control != "vegas"
    blocks = blocks or flow.control in LINUX
    delays = flow.tcp["delayed_ack"] == 2
    return f"Agent/TCPSink{'/Sack1' * blocks}{'/DelAck' * delays}"


def agent_lines(plan: SimulatorPlan, flow: Flow, numbers: tuple[int, ...]) -> list[str]:
    """Write the agents of a flow with their variables.

    Parameters
    ----------
    plan
        The compiled scenario.
    flow
        One of its flows.
    numbers
        What ns-2 calls the nodes of the plan.
    """
    i = flow.number
    send, sink = f"$t({i})", f"$k({i})"
    ends = f"attach {i} {numbers[flow.source]} {numbers[flow.target]}"
    if flow.kind == "source":
        agents = f"set t({i}) [new Agent/UDP]; set k({i}) [new Agent/LossMonitor]"
        return [agents, ends, *_source_lines(flow)]
    tcp = flow.tcp
    values: list[tuple[str, float | bool]] = [
        ("packetSize", tcp["mss"]),
        ("useHeaders", tcp["header"] > 0),
        ("tcpip_base_hdr_size", tcp["header"] or tcp["ack_size"]),
        ("ts_option_size", 0),
        ("timestamps", tcp["timestamps"]),
        ("syn", tcp["syn"]),
        ("window", min(tcp["receiver_window"], LARGEST_WINDOW)),
        ("windowInit", tcp["initial_window"]),
        ("overhead", 0),
        ("minrto", tcp["min_rto"]),
        ("maxrto", tcp["max_rto"]),
        ("rtxcur_init", tcp["initial_rto"]),
        ("singledup", tcp["limited_transmit"]),
        ("maxburst", tcp["max_burst"]),
        ("ecn", tcp["ecn"]),
        # Flows of ns-2's eras never pause; the window of one that has finished stays what it is.
        ("slow_start_restart", False),
    ]
    old = plan.era in ("1999", "2002")
    # Without a request there is nothing after which the window could open.
    defaults = {**VARIABLES, "bugfix_ss": not old, "delay_growth": tcp["syn"]}
    if flow.sender["recovery"].kind == "newreno":
        defaults |= OF_NEWRENO
    values += [(key, flow.ns2.get(key, usual)) for key, usual in defaults.items()]
    slow_start = flow.sender["slow_start"]
    if slow_start.kind == "limited":
        values.append(("max_ssthresh", slow_start.number("max_ssthresh", 100)))
    receiver: dict[str, float] = {"packetSize": tcp["ack_size"]}
    if tcp["delayed_ack"] == 2:
        receiver["interval"] = tcp["delayed_ack_timeout"]
    threshold = tcp["initial_ssthresh"]
    wide = threshold is None or threshold >= tcp["receiver_window"]
    return [
        f"set t({i}) [new {_agent(flow)}]; set k({i}) [new {_sink(flow)}]",
        ends,
        put(send, dict(values)),
        put(sink, receiver),
        *_control_lines(send, flow.sender["cc"]),
        f"watch {i}",
        f'$ns at 0 "settle {i} {number_text(tcp["boot"])} {number_text(tcp["tick"])}'
        f' {0 if wide else number_text(threshold)}"',
    ]


def traffic_lines(plan: SimulatorPlan, flow: Flow) -> list[str]:
    """Write when a flow has how much to send.

    Parameters
    ----------
    plan
        The compiled scenario.
    flow
        One of its flows.
    """
    if flow.kind == "source":
        return _period_lines(plan, flow)
    start, send = number_text(flow.start_s), f"$t({flow.number})"
    amount = -1 if flow.size_bytes is None else flow.size_bytes
    lines = [f'$ns at {start} "{send} send {amount}"']
    if flow.stop_s is not None:
        lines.append(f'$ns at {number_text(flow.stop_s)} "fall_silent {flow.number}"')
    return lines


def _source_lines(flow: Flow) -> list[str]:
    source, i = flow.sender["source"], flow.number
    kinds = {"cbr": "CBR", "exponential-on-off": "Exponential", "pareto-on-off": "Pareto"}
    rate, size = (1e6, 1000) if source.kind == "cbr" else (64_000, 210)
    app = f"$a({i})"
    size = int(source.number("packet", size, "size"))
    lines = [
        f"set a({i}) [new Application/Traffic/{kinds[source.kind]}]",
        f"{app} attach-agent $t({i})",
        put(f"$t({i})", {"packetSize": size}),
        put(app, {"packetSize": size, "rate": source.number("rate", rate, "rate")}),
    ]
    if source.kind == "cbr":
        lines.append(put(app, {"random": bool(source.number("jitter", 0.0))}))
    else:
        times = {f"{key}_time": source.number(key, 0.5, "duration") for key in ("burst", "idle")}
        if source.kind == "pareto-on-off":
            times["shape"] = source.number("shape", 1.5)
        lines.append(put(app, times))
    return lines


def _period_lines(plan: SimulatorPlan, flow: Flow) -> list[str]:
    """When a source is on."""
    app, lines = f"$a({flow.number})", []
    end = plan.duration_s if flow.stop_s is None else flow.stop_s
    periods = flow.sender["source"].parameters.get("periods") or [
        {"on": 0.0, "off": plan.duration_s}
    ]
    for period in periods:
        on, off = (flow.start_s + _seconds(period[key]) for key in ("on", "off"))
        if on < min(off, end):
            lines.append(f'$ns at {number_text(on)} "{app} start"')
            lines.append(f'$ns at {number_text(min(off, end))} "{app} stop"')
    return lines


def _seconds(value: float | str) -> float:
    from ackclock import _core

    return _core.quantity(value, "duration") if isinstance(value, str) else float(value)
