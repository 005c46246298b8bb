"""Senders and receivers of ns-3: classes by control, attributes of sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.peers.written import number_text

if TYPE_CHECKING:
    from ackclock.peers.plan import Flow, SimulatorPlan
    from ackclock.peers.written import SimulatorLimits

__all__ = ["flow_lines", "segment_bytes", "settle_senders"]

CONTROLS = {
    "aimd": "TcpLinuxReno",
    "cubic": "TcpCubic",
    "bbr": "TcpBbr",
    "bic": "TcpBic",
    "dctcp": "TcpDctcp",
    "highspeed": "TcpHighSpeed",
    "htcp": "TcpHtcp",
    "hybla": "TcpHybla",
    "illinois": "TcpIllinois",
    "ledbat": "TcpLedbat",
    "lp": "TcpLp",
    "scalable": "TcpScalable",
    "vegas": "TcpVegas",
    "veno": "TcpVeno",
    "westwood": "TcpWestwood",
    "yeah": "TcpYeah",
}
"""Classes of ns-3 by control."""

RECOVERIES = dict.fromkeys(("newreno", "sack", "rack"))

SOURCES = dict.fromkeys(("cbr",))

OF_CUBIC = {"c": "C", "beta": "Beta", "fast_convergence": "FastConvergence"}
"""Attributes of ns-3's CUBIC by our parameters."""

OF_VEGAS = {"alpha": "Alpha", "beta": "Beta", "gamma": "Gamma"}

PPP_BYTES = 2
TIMESTAMP_BYTES = 12
UDP_BYTES = 28

LARGEST_WINDOW = 20_000
"""Segments that buffers of sockets hold at most."""

ABSENT = {
    "accecn": "it has the ECN of RFC 3168",
    "dsack": "no reduction is taken back",
    "eifel": "no reduction is taken back",
    "frto": "no reduction is taken back",
    "offload": "segments leave one by one",
    "window_autotuning": "the receiver's window is constant",
}
"""Settings that ns-3 lacks, and what it does."""

MISBEHAVING = {
    "optimistic_acks": None,
    "ecn_echo": True,
    "out_of_profile": False,
    "first_priority": 0,
    "aqt": False,
    "trimming": False,
}


def segment_bytes(flow: Flow) -> int:
    """Compute the segment whose packets have the size on the wire that they have here.

    Parameters
    ----------
    flow
        Over TCP.
    """
    headers = 40 + PPP_BYTES + (TIMESTAMP_BYTES if flow.tcp["timestamps"] else 0)
    return flow.wire_bytes - headers


MOST_FLOWS = 60_000
"""Each has a port."""


def settle_senders(plan: SimulatorPlan, limits: SimulatorLimits) -> None:
    """Note what of the flows ns-3 cannot express.

    Parameters
    ----------
    plan
        The compiled scenario.
    limits
        Gets it.
    """
    if plan.groups:
        limits.refuse("groups", "multicast groups cannot be written for ns-3")
    if plan.connections:
        limits.refuse("flows", "connections over several paths cannot be written for ns-3")
    if plan.waits:
        limits.refuse("flows", "flows that wait for others cannot be written for ns-3")
    if plan.switches:
        limits.refuse("switches", "memory and flow control cannot be written for ns-3")
    if plan.is_of_ns2:
        limits.refuse("era", f'is "{plan.era}", whose senders are those of ns-2')
    if len(plan.flows) > MOST_FLOWS:
        limits.refuse("flows", f"are {len(plan.flows)}, programs for ns-3 have {MOST_FLOWS}")
    for flow in plan.flows:
        if flow.kind == "quic":
            limits.refuse(f"{flow.path}.transport", 'is "quic", which ns-3 does not have')
        elif flow.kind == "tcp":
            _settle_tcp(flow, limits)
        elif flow.kind == "source":
            _settle_source(flow, limits)


def _settle_source(flow: Flow, limits: SimulatorLimits) -> None:
    source, path = flow.sender["source"], f"{flow.path}.source"
    if not limits.offer(path, "source", source.kind, SOURCES):
        return
    for key in ("schedule", "jitter", "periods"):
        if source.parameters.get(key):
            limits.refuse(f"{path}.{key}", "sources of constant rate only are written for ns-3")
    if source.number("packet", 1000, "size") <= UDP_BYTES + PPP_BYTES:
        limits.refuse(f"{path}.packet", f"is not larger than headers, {UDP_BYTES + PPP_BYTES} B")


def _settle_tcp(flow: Flow, limits: SimulatorLimits) -> None:
    path, tcp = flow.path, flow.tcp
    cc, recovery, slow_start = (flow.sender[room] for room in ("cc", "recovery", "slow_start"))
    if limits.offer(f"{path}.cc", "control", cc.kind, CONTROLS):
        _settle_control(flow, limits)
    is_offered = limits.offer(f"{path}.recovery", "loss recovery", recovery.kind, RECOVERIES)
    if is_offered and recovery.kind != "newreno":
        limits.name(f"{path}.recovery", "is ns-3's SACK with PRR (RFC 6937), its default")
    if slow_start.kind not in ("standard", "hystart") or (
        slow_start.kind == "hystart" and cc.kind != "cubic"
    ):
        limits.refuse(
            f"{path}.slow_start",
            f'is "{slow_start.kind}", ns-3 has "standard", and "hystart" with cubic',
        )
    if segment_bytes(flow) < 1:
        limits.refuse("tcp.mss", "packets are smaller than ns-3's headers")
    if flow.moves:
        limits.refuse(flow.path, "routes that change are not written for ns-3")
    if flow.has_credits:
        limits.refuse(f"{path}.credits", "ns-3 has no receivers that give credit")
    if flow.supplied or flow.stop_s is not None:
        limits.refuse(path, "flows that stop, or get data in time, cannot be written for ns-3")
    if not tcp["syn"]:
        limits.refuse("tcp.syn", "is false, connections of ns-3 have a handshake")
    if tcp["max_burst"]:
        limits.refuse("tcp.max_burst", "ns-3 has no bound")
    if tcp["max_rto"] != 60:
        limits.name("tcp.max_rto", "ns-3 has 60 s")
    for key, usual in MISBEHAVING.items():
        if tcp[key] != usual:
            limits.refuse(f"{path}.tcp.{key}", "ns-3 has nothing like it")
    for key, instead in ABSENT.items():
        if tcp[key]:
            limits.name(f"tcp.{key}", f"ns-3 does not have it: {instead}")
    if tcp["quick_acks"] or tcp["sack_delay"]:
        limits.name("tcp.quick_acks", "ns-3's receivers delay by count and time alone")
    limits.name(
        "tcp.ack_size",
        f"frames of ns-3 have {PPP_BYTES} B more: data has as much less payload, and an ACK"
        f" {40 + PPP_BYTES} B",
    )
    if flow.dscp:
        limits.name(f"{path}.dscp", "packets have no code point in the program")


def _settle_control(flow: Flow, limits: SimulatorLimits) -> None:
    cc, path = flow.sender["cc"], f"{flow.path}.cc"
    attributes: dict[str, str] = {}
    if cc.kind == "cubic":
        attributes = {**OF_CUBIC, "reno_friendly": ""}
        if cc.parameters.get("reno_friendly") in (None, True):
            limits.name(f"{path}.reno_friendly", "ns-3.37's CUBIC has no Reno-friendly region")
    elif cc.kind == "vegas":
        attributes = OF_VEGAS
    elif cc.kind == "aimd":
        usual = {"a": 1.0, "b": 0.5}
        if any(cc.number(key, value) != value for key, value in usual.items()):
            limits.refuse(path, "ns-3 has AIMD(1, 0.5) only")
        attributes = dict.fromkeys(usual, "")
    for key, value in cc.parameters.items():
        if value is not None and key not in attributes:
            limits.refuse(f"{path}.{key}", f"ns-3's {CONTROLS[cc.kind]} has no attribute for it")


def _constant(value: float) -> str:
    """A value of ns-3's attributes, as C++."""
    if isinstance(value, bool):
        return f"BooleanValue({'true' if value else 'false'})"
    if isinstance(value, int):
        return f"UintegerValue({value})"
    return f"DoubleValue({number_text(float(value))})"


def _seconds(value: float) -> str:
    return f"TimeValue(Seconds({number_text(value)}))"


def flow_lines(plan: SimulatorPlan, flow: Flow) -> list[str]:
    """Write a flow: defaults of its sockets, then the sockets.

    Parameters
    ----------
    plan
        The compiled scenario.
    flow
        One of its flows.
    """
    if flow.kind == "source":
        source = flow.sender["source"]
        packet = int(source.number("packet", 1000, "size"))
        gap = 8 * packet / source.number("rate", 1e6, "rate")
        end = plan.duration_s if flow.stop_s is None else flow.stop_s
        return [
            f"    SendUdp({flow.number}, {flow.source}, {flow.target}, {flow.route[-1]},"
            f" {packet - UDP_BYTES - PPP_BYTES}, Seconds({number_text(gap)}),"
            f" Seconds({number_text(flow.start_s)}), Seconds({number_text(end)}));"
        ]
    tcp, segment = flow.tcp, segment_bytes(flow)
    window = min(tcp["receiver_window"], LARGEST_WINDOW) * segment
    values = {
        "TcpSocket::SegmentSize": _constant(segment),
        "TcpSocket::InitialCwnd": _constant(int(tcp["initial_window"])),
        "TcpSocket::SndBufSize": _constant(window),
        "TcpSocket::RcvBufSize": _constant(window),
        "TcpSocket::DelAckCount": _constant(int(tcp["delayed_ack"])),
        "TcpSocket::DelAckTimeout": _seconds(tcp["delayed_ack_timeout"]),
        "TcpSocket::ConnTimeout": _seconds(tcp["initial_rto"]),
        "TcpSocketBase::MinRto": _seconds(tcp["min_rto"]),
        "TcpSocketBase::ClockGranularity": _seconds(tcp["tick"]),
        "TcpSocketBase::Timestamp": _constant(bool(tcp["timestamps"])),
        "TcpSocketBase::Sack": _constant(flow.sender["recovery"].kind != "newreno"),
        "TcpSocketBase::LimitedTransmit": _constant(bool(tcp["limited_transmit"])),
        "TcpSocketBase::UseEcn": f'StringValue("{"On" if tcp["ecn"] else "Off"}")',
        "RttEstimator::InitialEstimation": _seconds(tcp["initial_rto"]),
    }
    threshold = tcp["initial_ssthresh"]
    most = 2**32 - 1
    wide = most if threshold is None else min(int(threshold * segment), most)
    values["TcpSocket::InitialSlowStartThreshold"] = _constant(wide)
    cc = flow.sender["cc"]
    if cc.kind == "cubic":
        # What the scenario leaves out is RFC 9438's here, so the same is written there.
        usual = {"c": 0.4, "beta": 0.7, "fast_convergence": True}
        for key, name in OF_CUBIC.items():
            value = cc.parameters.get(key)
            values[f"TcpCubic::{name}"] = _constant(usual[key] if value is None else value)
        values["TcpCubic::HyStart"] = _constant(flow.sender["slow_start"].kind == "hystart")
    elif cc.kind == "vegas":
        for key, number in (("alpha", 2), ("beta", 4), ("gamma", 1)):
            values[f"TcpVegas::{OF_VEGAS[key]}"] = _constant(int(cc.number(key, number)))
    # PRR is ns-3's default beside SACK.
    is_plain = flow.sender["recovery"].kind == "newreno"
    recovery = "TcpClassicRecovery" if is_plain else "TcpPrrRecovery"
    size = 0
    if flow.size_bytes is not None:
        # As many segments as here; a last one that is short is short by the same share.
        size = max(1, round(flow.size_bytes * segment / tcp["mss"]))
    return [
        *(
            f'    Config::SetDefault("ns3::{name}", {value});'
            for name, value in sorted(values.items())
        ),
        f"    SendTcp({flow.number}, {flow.source}, {flow.target}, {flow.route[-1]},"
        f" {CONTROLS[cc.kind]}::GetTypeId(), {recovery}::GetTypeId(), {segment}, {size}U,"
        f" Seconds({number_text(flow.start_s)}));",
    ]
