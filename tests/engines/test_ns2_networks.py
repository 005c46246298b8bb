"""Random networks in ns-2.35 and in era ns2: the same events at every queue, the same quantities.

ns-2 is run as a program (Debian's package ns2); the tests are skipped where it is not installed.
"""

import random
import shutil

import pytest

import ackclock as ac
from ackclock.studies.differ.differ import differ

NETWORKS = {
    "fifo": 12, "bytes": 6, "drop": 8, "cbr": 8, "controls": 8, "drr": 8, "red": 12, "ecn": 12,
    "vegas": 8, "two-way": 8, "variables": 8, "timestamps": 8, "satellite": 6, "mixed": 6,
    "highspeed": 4,
}  # fmt: skip
"""Networks that are drawn, by what is in them beside drop-tail and AIMD(a, b)."""

CONTROLS = [
    {"kind": "aiad", "a": 1, "d": 2},
    {"kind": "mimd", "a": 1.05, "b": 0.8},
    {"kind": "miad", "a": 1.05, "d": 3.0},
    {"kind": "binomial", "alpha": 1, "beta": 0.5, "k": 0.5, "l": 0.5},
    "sqrt",
    "iiad",
]

VARIABLES = ("bugFix", "precisionReduce", "newreno_changes1", "partial_window_deflation", "rfc2988")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("ns") is None, reason="the command ns of ns-2.35 is not installed"
    ),
]


def link(rng, what, a, b):
    """A bottleneck, both directions alike."""
    made = {
        "a": a, "b": b, "rate": rng.randint(800_000, 6_000_000),
        "delay": round(rng.uniform(0.003, 0.06), 6), "buffer": f"{rng.randint(5, 40)} pkt",
    }  # fmt: skip
    if what in ("bytes", "drr"):
        made["buffer"] = f"{rng.randint(6000, 40_000)} B"
    if what == "satellite":
        # A geostationary hop, with a buffer of a tenth to twice its round trip.
        made["delay"] = round(rng.uniform(0.24, 0.28), 6)
        made["buffer"] = f"{rng.randint(10, 300)} pkt"
    if what == "highspeed":
        made["rate"] *= 5
        made["buffer"] = f"{rng.randint(20, 200)} pkt"
    if what == "drr":
        made["qdisc"] = {"kind": "drr", "quantum": rng.choice(["250 B", "500 B", "1000 B"])}
    if what == "drop":
        made["drop"] = sorted(rng.sample(range(300), rng.randint(1, 12)))
        made["back_drop"] = sorted(rng.sample(range(300), rng.randint(0, 4)))
    if what in ("red", "ecn") and a == "n0":
        made["qdisc"] = red(rng, what)
        made["back_qdisc"] = "fifo"
    return made


def red(rng, what):
    """RED with ns-2's random numbers: one queue of the network, as all of ns-2's share them."""
    low = rng.randint(2, 6)
    return {
        "kind": "red", "ns2_seed": rng.randint(1, 2**31 - 2), "ecn": what == "ecn",
        **sometimes(rng, 0.3, {"ns2_skip": rng.randint(1, 50)}),
        "min_th": low, "max_th": low * rng.randint(2, 4), "max_p": rng.choice([0.05, 0.1, 0.2]),
        "w_q": rng.choice([0.002, 0.01, 0.1]), "gentle": rng.random() < 0.7,
        "wait": rng.random() < 0.5, "bytes": rng.random() < 0.3, "mean_packet": 1000,
        **sometimes(rng, 0.3, {"mark_p": 1}), **sometimes(rng, 0.2, {"adaptive": True}),
    }  # fmt: skip


def access(rng, a, b, most_s):
    return {
        "a": a, "b": b, "rate": rng.randint(5_000_000, 50_000_000),
        "delay": round(rng.uniform(0.0005, most_s), 6), "buffer": "2000 pkt",
    }  # fmt: skip


def sometimes(rng, share, value):
    return value if rng.random() < share else {}


def tcp(rng, what):
    """Settings of a flow; the phase of its clock is any."""
    tick = rng.choice([0.01, 0.1, 0.001])
    common = tcp_of_all(rng, tick)
    if what == "ecn":
        common["ecn"] = rng.random() < 0.8
    if what == "timestamps":
        common["timestamps"] = rng.random() < 0.9
    if what in ("satellite", "highspeed"):
        common["receiver_window"] = rng.choice([200, 1000])
        common.pop("initial_ssthresh", None)
    if what == "mixed":
        common["mss"] = rng.choice([100, 296, 512, 552, 1000, 1460, 4000])
    if what == "variables":
        common["ns2"] = {
            **{name: rng.random() < 0.5 for name in rng.sample(VARIABLES, 3)},
            **sometimes(rng, 0.5, {"numdupacks": rng.randint(1, 5)}),
            **sometimes(rng, 0.5, {"maxcwnd": rng.choice([4, 9, 20, 33])}),
            **sometimes(rng, 0.3, {"bugfix_ss": False}),
            **(sometimes(rng, 0.4, {"delay_growth": False}) if common.get("syn", True) else {}),
        }
        common |= sometimes(rng, 0.4, {"max_burst": rng.randint(1, 6)})
    return common


def tcp_of_all(rng, tick):
    return {
        "tick": tick,
        "boot": rng.random() * tick,
        "delayed_ack": rng.choice([1, 1, 2]),
        "receiver_window": rng.choice([20, 64, 1000]),
        "min_rto": rng.choice([0.2, 1.0]),
        "initial_window": rng.choice([1, 2, 4]),
        "limited_transmit": rng.random() < 0.7,
        **sometimes(rng, 0.15, {"mss": rng.choice([552, 1460])}),
        **sometimes(rng, 0.2, {"header": 40}),
        **sometimes(rng, 0.1, {"syn": False}),
        **sometimes(rng, 0.1, {"max_burst": 4}),
        **sometimes(rng, 0.1, {"initial_ssthresh": rng.choice([4, 10])}),
        **sometimes(rng, 0.1, {"ns2": {rng.choice(VARIABLES): False}}),
    }


def flow(rng, what, i):
    start = round(rng.uniform(0, 3), 6)
    made = {"src": f"s{i}", "dst": f"d{i}", "start": start}
    if what in ("cbr", "mixed") and rng.random() < 0.4 and i:
        source = {
            "kind": "cbr", "rate": rng.randint(100_000, 1_500_000),
            "packet": rng.choice([40, 200, 500, 1000]),
        }  # fmt: skip
        periods = [{"on": 0, "off": 1.5}, {"on": 3.25, "off": 6.5}]
        return {**made, "source": {**source, **sometimes(rng, 0.5, {"periods": periods})}}
    rule = {"kind": "aimd", "a": rng.choice([1, 1, 2, 0.5]), "b": rng.choice([0.5, 0.5, 0.8])}
    others = CONTROLS if what == "controls" else []
    if what == "vegas":
        others = [{"kind": "vegas", **sometimes(rng, 0.3, {"alpha": 2, "beta": 5, "gamma": 2})}] * 9
    if what == "highspeed":
        low = rng.choice([8, 20, 38])
        others = [{"kind": "highspeed", "low_window": low, "high_window": low * 50}] * 9
    return {
        **made,
        "recovery": rng.choice(["tahoe", "reno", "newreno", "sack"]),
        "cc": rng.choice([rule, rule, rule, *others]),
        "tcp": tcp(rng, what),
        **sometimes(rng, 0.15, {"size": rng.choice([1000, 20_000, 151_500, 600_000])}),
        **sometimes(rng, 0.1, {"stop": round(start + rng.uniform(1, 6), 6)}),
    }


def draw(what, seed):
    """A path of one to three bottlenecks with one to six flows in both directions."""
    rng = random.Random(f"{what} {seed}")
    hops = rng.randint(1, 3)
    links = [link(rng, what, f"n{hop}", f"n{hop + 1}") for hop in range(hops)]
    flows = []
    ends = []
    for i in range(rng.randint(1, 6)):
        if what == "two-way" and i % 2:
            # Data against the acknowledgements of the flow before.
            ends.append(ends[-1][::-1])
        else:
            ends.append(rng.sample(range(hops + 1), 2))
        enters, leaves = ends[-1]
        links.append(access(rng, f"s{i}", f"n{enters}", 0.01))
        links.append(access(rng, f"n{leaves}", f"d{i}", 0.04))
        flows.append(flow(rng, what, i))
    # One goes on to the end: a network with a single short transfer shows little.
    flows[0].pop("size", None)
    flows[0].pop("stop", None)
    return ac.Scenario.from_data(
        {
            "era": "ns2", "duration": 20, "warmup": 4,
            "net": {"kind": "graph", "links": links}, "flows": flows,
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("what", "seed"), [(what, seed) for what, count in NETWORKS.items() for seed in range(count)]
)
def test_a_random_network_has_the_events_of_ns2(what, seed):
    found = differ(draw(what, seed), ["ns2"]).peers[0]
    assert found.meeting.events > 500
    assert found.meeting.time_s is None, found.meeting.sentence("ns2", found.state)
    assert {row.verdict for row in found.rows} == {"equal"}
