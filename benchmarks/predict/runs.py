"""Predicted against real work: events and CPU time of random scenarios, and of 1 to 100,000 flows.

Draws scenarios from a seed: shapes, rates, delays and buffers; every control, queue discipline and
source, and impairments; transfers of every kind; random loss; all eras. One in five is a data
centre: patterns and generators of transfers, incasts, memory and pauses of switches, trimming,
spraying, its controls. With ``--multipath`` all are connections over several paths, with what else
is on these. Each is predicted, as `ackclock check` does, and run. A ratio is predicted
over real. Below 1,000 events and 2 ms there is nothing to predict: both numbers count as at least
that.

Exit status: 0; 1 with `--most FACTOR` if a ratio of events is farther from 1 than that.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections import defaultdict
from typing import Any

from ackclock import _core

FEWEST_EVENTS = 1000.0
SHORTEST_S = 2e-3
MOST_EVENTS = 3e5
"""Events of a drawn scenario, predicted: longer ones are cut."""

DATA_CENTRES = 0.2
"""Share of the scenarios that are data centres."""

CENTRE_CONTROLS = ["dctcp", "dcqcn", "hpcc", "timely", "swift", "nscc", "cubic", "aimd"]
COUPLED = ["lia", "olia", "balia", "reno", "cubic", "bbr"]
SCHEDULERS = ["lowest-rtt", "round-robin", "redundant"]
PATTERNS = ["incast", "uniform-pairs", "all-to-all", "zipf-pairs", "ring-all-reduce"]

FACTORS = (3, 10)
"""Factors within which predictions are counted."""

CATALOGUE = json.loads(_core.catalogue())
NAMES = {room: [entry["name"] for entry in entries] for room, entries in CATALOGUE.items()}
ERAS = ["rfc", "rfc", "linux", "quic", "2007", "2002", "1999", "ns2"]
Scenario = dict[str, Any]


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def network(rng: random.Random) -> Scenario:
    """Draw a network with four pairs of hosts at least."""
    kind = rng.choice(["dumbbell", "dumbbell", "parking-lot", "star", "ring"])
    net: Scenario = {
        "kind": kind,
        "rate": round(log_uniform(rng, 3e5, 2e8)),
        "delay": log_uniform(rng, 1e-4, 0.05),
        "buffer": rng.choice(["20 pkt", "3 pkt", "1 bdp", "0.2 bdp", "60 kB", "5 bdp"]),
        "qdisc": rng.choice(NAMES["qdisc"]) if rng.random() < 0.5 else "fifo",
    }
    size = {"dumbbell": ("pairs", 8), "parking-lot": ("hops", 3), "star": ("hosts", 9)}
    key, value = size.get(kind, ("routers", 5))
    return {**net, key: value}


def flow(rng: random.Random, era: str, duration: float) -> Scenario:
    """Draw a flow: endless, a transfer, handed over in parts, frames, or a source without TCP."""
    made: Scenario = {"pair": rng.randrange(3), "start": rng.uniform(0, 0.3) * duration}
    if rng.random() < 0.2:
        names = [name for name in NAMES["source"] if name not in {"trace", "coded"}]
        return {**made, "source": rng.choice(names)}
    if era not in {"ns2", "1999", "2002", "2007"}:
        made["cc"] = rng.choice(NAMES["cc"])
    else:
        made["cc"] = rng.choice(["aimd", "vegas", "cubic", "iiad"])
    what = rng.random()
    modern = era in {"rfc", "linux", "quic"}
    if what < 0.3:
        made["size"] = round(log_uniform(rng, 1, 3e6))
    elif what < 0.4 and modern:
        made |= {"size": round(log_uniform(rng, 1, 1e5)), "every": log_uniform(rng, 1e-3, 1)}
    elif what < 0.5 and modern:
        made["media"] = {"fps": log_uniform(rng, 1, 500)}
    elif what < 0.55 and modern:
        made["app"] = [{"at": 0, "rate": round(log_uniform(rng, 1e4, 1e7))}]
    return made


def generator(rng: random.Random, duration: float) -> Scenario:
    """Draw a generator of transfers."""
    kind = rng.choice(["poisson", "users", "connection-vectors"])
    made: Scenario = {"kind": kind}
    if kind != "users":
        made["rate"] = log_uniform(rng, 1, 60) / duration
    return {"generator": made, "flow": {"pair": 0}}


def fabric(rng: random.Random) -> Scenario:
    """Draw the network of a data centre."""
    kind = rng.choice(["fat-tree", "leaf-spine"])
    net: Scenario = {
        "kind": kind,
        "rate": round(log_uniform(rng, 1e9, 1e11)),
        "delay": log_uniform(rng, 1e-7, 1e-5),
    }
    if kind == "fat-tree":
        return {**net, "k": rng.choice([4, 4, 6, 8])}
    return {**net, "leaves": rng.randint(2, 4), "spines": 2, "hosts": rng.choice([4, 8, 16])}


def centre_flows(rng: random.Random, net: Scenario, cc: str, duration: float) -> Scenario:
    """Draw patterns of transfers, and generators that draw ends for each arrival."""
    size = round(log_uniform(rng, 1e3, 3e6))
    pattern = rng.choice(PATTERNS)
    flows: Scenario = {"cc": cc, "between": pattern, "size": size}
    if pattern in {"uniform-pairs", "zipf-pairs"}:
        flows["count"] = round(log_uniform(rng, 4, 300))
    made: Scenario = {"flows": [flows], "traffic": []}
    if rng.random() < 0.6:
        hosts = 16 if net["kind"] == "fat-tree" else net["leaves"] * net["hosts"]
        load = rng.uniform(0.02, 0.6) * net["rate"] * hosts
        workload = rng.choice(["hadoop", "web-search"])
        generator = {
            "kind": "poisson",
            "load": load,
            "sizes": {"kind": "measured", "workload": workload},
            "until": duration * rng.uniform(0.2, 1),
        }
        made["traffic"].append(
            {"generator": generator, "flow": {"cc": cc, "between": "uniform-pairs", "count": 1}}
        )
    if rng.random() < 0.5:
        sizes = {"kind": "fixed", "mean": round(log_uniform(rng, 2e3, 5e5))}
        incasts = {"kind": "poisson", "rate": rng.uniform(1, 8) / duration, "sizes": sizes}
        between = {"kind": "incast", "random": True}
        flow = {"cc": cc, "between": between, "count": rng.randint(2, 15)}
        made["traffic"].append({"generator": incasts, "flow": flow})
    return made


def draw_centre(rng: random.Random) -> Scenario:
    """Draw a data centre: fabric, memory and pauses of switches, trimming, paths, controls."""
    duration = log_uniform(rng, 2e-4, 2e-2)
    net, cc = fabric(rng), rng.choice(CENTRE_CONTROLS)
    made: Scenario = {"duration": duration, "seed": rng.randrange(1000), "net": net}
    made["tcp"] = {
        "mss": rng.choice([1000, 1448, 4096]),
        "syn": rng.random() < 0.3,
        "delayed_ack": rng.choice([1, 1, 2, 4]),
        "min_rto": rng.choice(["1 ms", "5 ms"]),
        "accecn": True,
    }
    switches = rng.random()
    if switches < 0.5:
        made["switches"] = {"memory": round(log_uniform(rng, 2e5, 3e7)), "alpha": 0.125}
        if switches < 0.35:
            made["switches"]["pfc"] = {}
    else:
        net["buffer"] = rng.choice(["100 pkt", "1 MB", "30 pkt"])
    marks = {"kind": "codel", "ecn": True, "ce_threshold": "20 us"}
    net["qdisc"] = rng.choice(["fifo", marks, marks, "priority", "trim", "drr"])
    if cc not in {"hpcc", "nscc"} and rng.random() < 0.3:
        made["equal_paths"] = "spray"
    made |= centre_flows(rng, net, cc, duration)
    if "equal_paths" in made or net["qdisc"] == "trim":
        for described in [*made["flows"], *(each["flow"] for each in made["traffic"])]:
            described["recovery"] = "rack"
    if net["qdisc"] == "trim":
        made["tcp"]["trimming"] = True
    return made


def draw_multipath(rng: random.Random) -> Scenario:
    """Draw connections over several paths, which may share links, beside flows of one path."""
    duration = log_uniform(rng, 0.05, 60)
    era = rng.choice(["rfc", "rfc", "linux"])
    made: Scenario = {"era": era, "duration": duration, "seed": rng.randrange(1000)}
    middles = [f"r{i}" for i in range(rng.randint(1, 4))]
    links: list[Scenario] = []
    for middle in middles:
        access = {"rate": "1 Gbps", "delay": rng.choice(["1 us", "1 ms"])}
        links += [{"a": "a", "b": middle, **access}, {"a": f"h{middle}", "b": middle, **access}]
        way: Scenario = {
            "rate": round(log_uniform(rng, 3e5, 1e8)),
            "delay": log_uniform(rng, 1e-4, 0.1),
            "buffer": rng.choice(["20 pkt", "3 pkt", "1 bdp", "0.2 bdp", "60 kB", "5 bdp"]),
            "qdisc": rng.choice(["fifo", "fifo", "codel", "red", "fq-codel"]),
        }
        if rng.random() < 0.3:
            way["loss"] = log_uniform(rng, 1e-4, 0.3)
        links.append({"a": middle, "b": "z", **way})
    made["net"] = {"kind": "graph", "links": links}
    paths: list[Scenario] = []
    for middle in rng.choices(middles, k=rng.randint(2, 6)):
        nodes = ["a", middle, "z"]
        path: Scenario = {"route": nodes, "ack_route": nodes[::-1]}
        if rng.random() < 0.3:
            path["after"] = log_uniform(rng, 1e-3, 0.5) * duration
        paths.append(path)
    multipath = {"paths": paths, "scheduler": rng.choice(SCHEDULERS)}
    shared: Scenario = {"src": "a", "dst": "z", "cc": rng.choice(COUPLED), "multipath": multipath}
    count = rng.choice([1, 1, 1, 4, 20])
    flows = [{**shared, "count": count, "start_jitter": 0.1 * duration}]
    if rng.random() < 0.6:
        flows[0]["size"] = round(log_uniform(rng, 1, 1e7))
    for middle in middles:
        if rng.random() < 0.5:
            flows.append({"src": f"h{middle}", "dst": "z", "cc": rng.choice(COUPLED)})
    made["flows"] = flows
    if rng.random() < 0.2:
        sizes = {"kind": "exponential", "mean": round(log_uniform(rng, 1e3, 3e5))}
        arrivals = {"kind": "poisson", "rate": log_uniform(rng, 1, 60) / duration, "sizes": sizes}
        made["traffic"] = [{"generator": arrivals, "flow": shared}]
    made["tcp"] = {"mss": rng.choice([536, 1448, 1448, 8960])}
    if rng.random() < 0.4:
        made["tcp"]["receiver_window"] = round(log_uniform(rng, 2, 1e5))
    return made


def draw(rng: random.Random) -> Scenario:
    """Draw a scenario."""
    if rng.random() < DATA_CENTRES:
        return draw_centre(rng)
    era = rng.choice(ERAS)
    duration = log_uniform(rng, 0.05, 60)
    made: Scenario = {"era": era, "duration": duration, "seed": rng.randrange(1000)}
    made["net"] = network(rng)
    made["flows"] = [flow(rng, era, duration) for _ in range(rng.randint(1, 8))]
    if rng.random() < 0.2:
        made["traffic"] = [generator(rng, duration)]
    if rng.random() < 0.3:
        change: Scenario = {"link": "*"}
        if rng.random() < 0.6:
            change["loss"] = log_uniform(rng, 1e-4, 0.3)
        if rng.random() < 0.4:
            change["impairments"] = [rng.choice(["reorder", "duplicate", "gilbert-elliott", "arq"])]
        made["links"] = [change]
    if rng.random() < 0.3:
        made["tcp"] = {"mss": rng.choice([100, 536, 1448, 8960])}
    return made


def predicted(scenario: Scenario) -> dict[str, float] | None:
    """Predict a scenario; None if it cannot be run."""
    try:
        found: dict[str, float] = json.loads(_core.predict(json.dumps(scenario)))
    except _core.InputError:
        return None
    return found


def real(scenario: Scenario) -> tuple[float, float]:
    """Run a scenario: its events and CPU seconds."""
    begin = time.thread_time()
    done = _core.run(json.dumps(scenario))
    took = time.thread_time() - begin
    return float(json.loads(done["summary"])["totals"]["events"]), took


def ratio(of: float, real_of: float, least: float) -> float:
    """Predicted over real, of what counts."""
    return max(of, least) / max(real_of, least)


def shorten(scenario: Scenario) -> tuple[Scenario, dict[str, float]] | None:
    """Cut a scenario to so many events; None if it cannot be run."""
    found = predicted(scenario)
    while found is not None and found["events"] > MOST_EVENTS:
        scenario = {**scenario, "duration": scenario["duration"] / 4}
        found = predicted(scenario)
    return None if found is None else (scenario, found)


def connections(flows: list[Scenario]) -> dict[str, bool]:
    """Name what connections over several paths have, for the table."""
    found = [flow for flow in flows if "multipath" in flow]
    has = {"finite connections": any("size" in flow for flow in found)}
    has["endless connections"] = any("size" not in flow for flow in found)
    for scheduler in SCHEDULERS:
        has[scheduler] = any(flow["multipath"]["scheduler"] == scheduler for flow in found)
    return has


def kinds(scenario: Scenario) -> list[str]:
    """Name what a scenario has, for the table."""
    flows = scenario["flows"]
    has = {
        "sources": any("source" in flow for flow in flows),
        "parts and frames": any({"every", "media", "app"} & set(flow) for flow in flows),
        "generators": bool(scenario.get("traffic")),
        "random loss": any("loss" in link for link in scenario.get("links", ())),
        "impairments": any("impairments" in link for link in scenario.get("links", ())),
        "disciplines": scenario["net"].get("qdisc", "fifo") != "fifo",
        **connections(flows),
        "data centres": scenario["net"]["kind"] in {"fat-tree", "leaf-spine"},
        "pauses": "pfc" in scenario.get("switches", {}),
        f"era {scenario.get('era', 'rfc')}": True,
    }
    return ["all", *(name for name, there in has.items() if there)]


def row(name: str, events: list[float], seconds: list[float]) -> str:
    """Write a row of the table."""

    def text(values: list[float]) -> str:
        ordered = sorted(values)
        middle = ordered[len(ordered) // 2]
        within = [
            f"{sum(1 / most <= value <= most for value in values) / len(values):.1%}"
            for most in FACTORS
        ]
        return f"{ordered[0]:.2f} | {middle:.2f} | {ordered[-1]:.2f} | {' | '.join(within)}"

    return f"| {name} | {len(events)} | {text(events)} | {text(seconds)} |"


def scale() -> None:
    """Predict and run dumbbells of 1 to 100,000 flows."""
    print("\n| flows | events, predicted | real | CPU seconds, predicted | real |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for flows in (1, 10, 100, 1000, 10_000, 100_000):
        duration = max(2.0, min(100.0, 2e4 / flows))
        scenario = {
            "net": {"kind": "dumbbell", "pairs": flows, "rate": 200_000 * flows, "rtt": "100 ms"},
            "flows": [{"pair": 0, "count": flows, "start_jitter": "1 s"}],
            "duration": duration,
        }
        found = predicted(scenario)
        assert found is not None
        events, took = real(scenario)
        columns = f"{found['events']:.3g} | {events:.3g} | {found['cpu_s']:.3g} | {took:.3g}"
        print(f"| {flows:,} | {columns} |", flush=True)


def main() -> int:
    """Draw, predict, run, print; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=float, default=math.inf)
    parser.add_argument("--worst", type=int, default=0, help="print so many of the farthest")
    parser.add_argument("--multipath", action="store_true", help="draw connections alone")
    parser.add_argument("--no-scale", action="store_true")
    given = parser.parse_args()
    rng = random.Random(given.seed)
    events, seconds = defaultdict(list), defaultdict(list)
    failures: list[str] = []
    all_of: list[tuple[float, Scenario, dict[str, float], float]] = []
    while len(all_of) < given.count:
        cut = shorten((draw_multipath if given.multipath else draw)(rng))
        if cut is None:
            continue
        scenario, found = cut
        try:
            real_events, took = real(scenario)
        except _core.AlgorithmFailure as failure:
            # A control may leave the range of windows: there is nothing to compare with.
            failures.append(str(failure))
            continue
        of_events = ratio(found["events"], real_events, FEWEST_EVENTS)
        of_seconds = ratio(found["cpu_s"], took, SHORTEST_S)
        all_of.append((of_events, scenario, found, real_events))
        for kind in kinds(scenario):
            events[kind].append(of_events)
            seconds[kind].append(of_seconds)
    print("| scenarios | number | events: least | median | most | within 3 | within 10 |", end="")
    print(" seconds: least | median | most | within 3 | within 10 |")
    print("| --- " + "| ---: " * 11 + "|")
    for kind in sorted(events, key=lambda kind: -len(events[kind])):
        print(row(kind, events[kind], seconds[kind]))
    for text in failures:
        print(f"\nnot counted, ended early: {text}")
    farthest = sorted(all_of, key=lambda found: -abs(math.log(found[0])))
    for of_events, scenario, found, real_events in farthest[: given.worst]:
        print(f"{of_events:.3g} {found['events']:.0f} {real_events:.0f} {json.dumps(scenario)}")
    if not given.no_scale:
        scale()
    return int(max(abs(math.log(of[0])) for of in all_of) > math.log(given.most))


if __name__ == "__main__":
    raise SystemExit(main())
