"""Random drop-tail networks in ns-2.35 and in era ns2: the same events at every bottleneck.

ns-2 is run as a program (Debian's package ns2); the tests are skipped where it is not installed.
"""

import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import ackclock as ac

NS = shutil.which("ns")
NETWORKS = 60
DURATION_S = 20
AGENTS = {"tahoe": "TCP", "reno": "TCP/Reno", "newreno": "TCP/Newreno", "sack": "TCP/Sack1"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NS is None, reason="the command ns of ns-2.35 is not installed"),
]


@dataclass
class Flow:
    """One flow between two routers of the path."""

    enters: int
    leaves: int
    recovery: str
    delayed_acks: bool
    start_s: float
    access: tuple[int, float]
    exit: tuple[int, float]
    window: int
    a: float
    b: float


@dataclass
class Network:
    """A path of drop-tail bottlenecks and its flows."""

    tick_s: float
    min_rto_s: float
    packet_bytes: int
    initial_window: int
    limited_transmit: bool
    hops: list[tuple[int, float, int]]
    flows: list[Flow]


def draw(seed: int) -> Network:
    rng = random.Random(seed)
    hops = [
        (rng.randint(800_000, 6_000_000), round(rng.uniform(0.003, 0.06), 6), rng.randint(5, 40))
        for _ in range(rng.randint(1, 3))
    ]
    flows = []
    for _ in range(rng.randint(1, 6)):
        ends = sorted(rng.sample(range(len(hops) + 1), 2))
        if rng.random() < 0.3:
            ends.reverse()
        flows.append(
            Flow(
                *ends,
                recovery=rng.choice(list(AGENTS)),
                delayed_acks=rng.random() < 0.4,
                start_s=round(rng.uniform(0, 3), 6),
                access=(rng.randint(5_000_000, 50_000_000), round(rng.uniform(0.0005, 0.01), 6)),
                exit=(rng.randint(5_000_000, 50_000_000), round(rng.uniform(0.0005, 0.04), 6)),
                window=rng.choice([20, 64, 1000]),
                a=rng.choice([1, 1, 2, 0.5]),
                b=rng.choice([0.5, 0.5, 0.8]),
            )
        )
    return Network(
        tick_s=rng.choice([0.01, 0.1, 0.001]),
        min_rto_s=rng.choice([0.2, 1.0]),
        packet_bytes=rng.choice([552, 1000, 1460]),
        initial_window=rng.choice([1, 2, 4]),
        limited_transmit=rng.random() < 0.7,
        hops=hops,
        flows=flows,
    )


def tcl(net: Network) -> str:
    """The network as a script of ns-2."""
    settings = {
        "useHeaders": "false", "overhead": 0, "packetSize": net.packet_bytes,
        "tcpTick": net.tick_s, "minrto": net.min_rto_s, "windowInit": net.initial_window,
        "singledup": int(net.limited_transmit),
    }  # fmt: skip
    routers, ends = len(net.hops) + 1, 2 * len(net.flows)
    lines = [
        # The order in which nodes, and so agents, are initialised decides their random phases.
        "Simulator instproc nodes {} {$self instvar Node_; return [array names Node_]}",
        "set ns [new Simulator]; set out [open [lindex $argv 0] w]",
        f"for {{set i 0}} {{$i < {routers + ends}}} {{incr i}} {{set n($i) [$ns node]}}",
        "Queue/DropTail set limit_ 2000",
        *(f"Agent/TCP set {key}_ {value}" for key, value in settings.items()),
    ]
    for hop, (rate, delay, limit) in enumerate(net.hops):
        for a, b in ((hop, hop + 1), (hop + 1, hop)):
            lines += [
                f"$ns simplex-link $n({a}) $n({b}) {rate} {delay} DropTail",
                f"$ns queue-limit $n({a}) $n({b}) {limit}",
                f"$ns trace-queue $n({a}) $n({b}) $out",
            ]
    for i, flow in enumerate(net.flows):
        source, sink = routers + 2 * i, routers + 2 * i + 1
        kind = ("/Sack1" if flow.recovery == "sack" else "") + ("/DelAck" * flow.delayed_acks)
        for a, b, (rate, delay) in (
            (source, flow.enters, flow.access), (flow.leaves, sink, flow.exit),
        ):  # fmt: skip
            lines.append(f"$ns duplex-link $n({a}) $n({b}) {rate} {delay} DropTail")
        lines += [
            f"set t({i}) [new Agent/{AGENTS[flow.recovery]}]; set k({i}) [new Agent/TCPSink{kind}]",
            f"$ns attach-agent $n({source}) $t({i}); $ns attach-agent $n({sink}) $k({i})",
            f"$ns connect $t({i}) $k({i}); $t({i}) set fid_ {i}; $k({i}) set fid_ {i}",
            f"$t({i}) set window_ {flow.window}; $t({i}) set windowOption_ 1",
            f"$t({i}) set increase_num_ {flow.a}; $t({i}) set decrease_num_ {flow.b}",
            f'$ns at {flow.start_s} "$t({i}) send -1"',
        ]
    return "\n".join(
        [*lines, "puts [$ns nodes]", f'$ns at {DURATION_S} "$ns flush-trace; exit 0"', "$ns run"]
    )


def uniforms(folder: Path, count: int) -> list[float]:
    """The first random numbers of a fresh ns-2."""
    script = folder / "uniforms.tcl"
    draw_one = "puts [$defaultRNG uniform 0.0 1.0]"
    script.write_text(f"for {{set i 0}} {{$i < {count}}} {{incr i}} {{{draw_one}}}\nexit 0\n")
    text = subprocess.run([str(NS), script], capture_output=True, text=True, check=True).stdout
    return [float(line) for line in text.split()]


Events = dict[tuple[str, str], list[tuple[int, int, int, int, bool]]]


def run_ns2(net: Network, folder: Path) -> tuple[list[float], Events]:
    """Phases of the flows' clocks, and the events by bottleneck and kind."""
    script, trace = folder / "network.tcl", folder / "trace"
    script.write_text(tcl(net))
    command = [str(NS), script, trace]
    order = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    n, routers = len(net.flows), len(net.hops) + 1
    ranked = sorted(range(n), key=lambda i: order.index(str(routers + 2 * i)))
    drawn = uniforms(folder, 2 * n)
    phases = [drawn[n + ranked.index(i)] * net.tick_s for i in range(n)]
    kinds = {"+": "arrival", "-": "departure", "d": "drop"}
    events: Events = {}
    for line in trace.read_text().splitlines():
        kind, at, a, b, what, size, _, flow, _, _, number, *_ = line.split()
        if kind in kinds:
            row = (round(float(at) * 1e6), int(flow), int(number), int(size), what == "ack")
            events.setdefault((f"n{a}->n{b}", kinds[kind]), []).append(row)
    return phases, events


def run_era(net: Network, phases: list[float]) -> Events:
    """The same of the packet engine."""
    links: list[dict[str, object]] = [
        {
            "a": f"n{hop}", "b": f"n{hop + 1}", "rate": rate, "delay": delay,
            "buffer": f"{limit} pkt", "back_buffer": f"{limit} pkt",
        }
        for hop, (rate, delay, limit) in enumerate(net.hops)
    ]  # fmt: skip
    flows = []
    for i, flow in enumerate(net.flows):
        for a, b, (rate, delay) in (
            (f"s{i}", f"n{flow.enters}", flow.access), (f"n{flow.leaves}", f"d{i}", flow.exit),
        ):  # fmt: skip
            links.append({"a": a, "b": b, "rate": rate, "delay": delay, "buffer": "2000 pkt"})
        tcp = {
            "boot": phases[i], "delayed_ack": 1 + flow.delayed_acks,
            "receiver_window": flow.window,
        }  # fmt: skip
        flows.append(
            {
                "src": f"s{i}", "dst": f"d{i}", "start": flow.start_s, "recovery": flow.recovery,
                "cc": {"kind": "aimd", "a": flow.a, "b": flow.b}, "tcp": tcp,
            }
        )  # fmt: skip
    traced = [
        f"n{a}->n{b}" for k in range(len(net.hops)) for a, b in ((k, k + 1), (k + 1, k))
    ]  # fmt: skip
    scenario = ac.Scenario.from_data(
        {
            "era": "ns2", "duration": DURATION_S, "flows": flows,
            "net": {"kind": "graph", "links": links},
            "tcp": {
                "mss": net.packet_bytes, "tick": net.tick_s, "min_rto": net.min_rto_s,
                "initial_window": net.initial_window, "limited_transmit": net.limited_transmit,
            },
            "record": {"tables": ["packets"], "links": traced},
        }
    )  # fmt: skip
    table = scenario.run().packets.to_pydict()
    columns = ("time_s", "link", "event", "flow", "seq", "size_bytes", "is_ack")
    events: Events = {}
    for at, link, event, flow, number, size, is_ack in zip(
        *(table[c] for c in columns), strict=True
    ):
        # An ACK's number is the next packet expected; ns-2's is the last one received.
        row = (round(at * 1e6), int(flow[1:]), number - is_ack, size, is_ack)
        events.setdefault((link, event), []).append(row)
    return events


@pytest.mark.parametrize("seed", range(NETWORKS))
def test_a_random_network_has_the_events_of_ns2(seed, tmp_path):
    net = draw(seed)
    phases, expected = run_ns2(net, tmp_path)
    found = run_era(net, phases)
    assert sum(map(len, expected.values())) > 500
    assert found.keys() == expected.keys()
    for key, events in expected.items():
        assert len(found[key]) == len(events), key
        for ours, theirs in zip(found[key], events, strict=True):
            # ns-2 prints times to the microsecond.
            assert abs(ours[0] - theirs[0]) <= 1 and ours[1:] == theirs[1:], key
