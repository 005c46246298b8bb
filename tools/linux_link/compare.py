"""The same path in era `linux`: run a recorded case, compute the same numbers, compare them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import ackclock as ac

if TYPE_CHECKING:
    from ackclock.results.run import Run

#: The control that has a kernel control's name here.
CONTROLS = {"reno": "aimd", "cubic": "cubic", "bbr": "bbr"}
#: Largest difference from what was recorded, relative to it. Where it was recorded more than once,
#: all between the least and the most of the repetitions agrees too.
LIMITS = {
    "goodput_bps": 0.01,
    "drops": 0.05,
    "cwnd_min": 0.05,
    "cwnd_mean": 0.05,
    "cwnd_max": 0.05,
}
BBR_LIMITS = {"goodput_bps": 0.02, "queue_mean_packets": 0.2}
#: Runs here of a case of several flows, whose starts differ by up to 1 ms.
SEEDS = range(1, 6)
#: A window so small is one in which BBR probes for the smallest round trip.
PROBE_RTT_CWND = 4
SAMPLES_EVERY_S = 0.01
COLUMNS = ("time_s", "flow", "cwnd_segments")


@dataclass(frozen=True)
class Verdict:
    """One number of a case: the least and most recorded, the one here, whether it agrees."""

    case: str
    quantity: str
    least: float
    most: float
    here: float
    limit: float
    agrees: bool


def run(case: dict[str, Any], since_s: float, seed: int = 1) -> Run:
    """Run a recorded case in era `linux`."""
    document = {
        "era": "linux",
        "duration": case["seconds"],
        "warmup": since_s,
        "seed": seed,
        "net": {
            "kind": "graph",
            "links": [
                {
                    "a": "sender",
                    "b": "receiver",
                    "rate": case["rate_bps"],
                    "delay": case["rtt_s"] / 2,
                    "buffer": f"{case['buffer_packets']} pkt",
                }
            ],
        },
        "flows": [
            {
                "src": "sender",
                "dst": "receiver",
                "cc": CONTROLS[case["cc"]],
                "count": case["flows"],
                "stagger": case["stagger_s"],
                # Repetitions differ by when their flows begin, as those of the kernel do.
                "start_jitter": 0.001 if case["flows"] > 1 else 0,
            }
        ],
        "record": {
            "tables": ["flow_samples", "link_samples", "drops"],
            "interval": SAMPLES_EVERY_S,
        },
    }
    return ac.Scenario.from_data(document).run()


def summarise(result: Run, case: dict[str, Any], since_s: float) -> dict[str, Any]:
    """Compute from a run what `record.summarise` computes from a recording."""
    samples = {name: np.array(result.flow_samples[name]) for name in COLUMNS}
    inside = samples["time_s"] >= since_s
    least, mean, most = [], [], []
    for flow in range(case["flows"]):
        cwnd = samples["cwnd_segments"][inside & (samples["flow"] == f"f{flow}")]
        least.append(float(cwnd.min()))
        mean.append(float(cwnd.mean()))
        most.append(float(cwnd.max()))
    flows = result.summary["flows"]
    link = result.summary["links"][0]
    return {
        "goodput_bps": [flow["goodput_bps"] for flow in flows],
        "drops": link["window_drops"],
        "cwnd_min": least,
        "cwnd_mean": mean,
        "cwnd_max": most,
        "queue_mean_packets": link["queue_mean_packets"],
    }


def total(numbers: dict[str, Any], quantity: str) -> float:
    """Return a quantity of a case as one number: a sum for goodput, extremes of windows."""
    value = numbers[quantity]
    if not isinstance(value, list):
        return float(value)
    if quantity == "goodput_bps":
        return float(sum(value))
    if quantity == "cwnd_min":
        return float(min(value))
    return float(max(value)) if quantity == "cwnd_max" else _mean(value)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def compare(about: dict[str, Any]) -> list[Verdict]:
    """Compare a recorded case, as `files.read` returns it beside the table, with era `linux`."""
    case, since_s = about["case"], about["since_s"]
    seeds = SEEDS if case["flows"] > 1 or case["cc"] == "bbr" else range(1, 2)
    runs = [summarise(run(case, since_s, seed), case, since_s) for seed in seeds]
    rate = f"{case['rate_bps'] / 1e6:g} Mbit/s"
    name = f"{case['flows']} {case['cc']}, {rate}, {case['buffer_packets']} packets"
    verdicts = []
    limits = BBR_LIMITS if case["cc"] == "bbr" else LIMITS
    for quantity, limit in limits.items():
        recorded = [total(numbers, quantity) for numbers in about["repeats"]]
        here = _mean([total(numbers, quantity) for numbers in runs])
        least, most = min(recorded), max(recorded)
        slack = limit * _mean(recorded)
        agrees = min(least, _mean(recorded) - slack) <= here <= max(most, _mean(recorded) + slack)
        verdicts.append(Verdict(name, quantity, least, most, here, limit, agrees))
    return verdicts


def probes_of(at: Any, cwnd: Any) -> list[float]:
    """Return the times at which BBR began to probe for the smallest round trip [s]."""
    small = np.asarray(cwnd) <= PROBE_RTT_CWND
    began = small & ~np.concatenate(([False], small[:-1]))
    return [float(t) for t in np.asarray(at)[began]]
