"""Predicted against real work: events and CPU time of random scenarios, and of 1 to 100,000 flows.

Draws scenarios from a seed: shapes, rates, delays and buffers; every control, queue discipline and
source, and impairments; transfers of every kind; random loss; all eras. Each is predicted, as
`ackclock check` does, and run. A ratio is predicted over real. Below 1,000 events and 2 ms there is
nothing to predict: both numbers count as at least that.

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


def draw(rng: random.Random) -> Scenario:
    """Draw a scenario."""
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


def kinds(scenario: Scenario) -> list[str]:
    """Name what a scenario has, for the table."""
    flows = scenario["flows"]
    has = {
        "sources": any("source" in flow for flow in flows),
        "parts and frames": any({"every", "media", "app"} & set(flow) for flow in flows),
        "generators": "traffic" in scenario,
        "random loss": any("loss" in link for link in scenario.get("links", ())),
        "impairments": any("impairments" in link for link in scenario.get("links", ())),
        "disciplines": scenario["net"]["qdisc"] != "fifo",
        f"era {scenario['era']}": True,
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
    parser.add_argument("--no-scale", action="store_true")
    given = parser.parse_args()
    rng = random.Random(given.seed)
    events, seconds = defaultdict(list), defaultdict(list)
    failures: list[str] = []
    all_of: list[tuple[float, Scenario, dict[str, float], float]] = []
    while len(all_of) < given.count:
        cut = shorten(draw(rng))
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
