"""How often traffic of others on a hidden path is found, and how often its interval has the truth.

Draws a path, a control, the end of the capture and what others send (nothing, a constant rate,
bursts, one TCP flow, two of them) from each seed, runs them, and estimates the path from the
capture of one flow alone. The truth is the share that others had of the bytes that left the
bottleneck. A link whose rate changes is there to be taken for others.

Exit status: 0.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import ackclock as ac
from ackclock.captures.calibrate.estimate import estimate
from ackclock.captures.calibrate.evidence import gather
from ackclock.captures.read.read import read_trace

KINDS = ("none", "constant", "bursts", "one flow", "two flows", "rate changes")
CONTROLS = ("reno", "cubic", "htcp", "illinois", "bbr", "compound", "westwood")
OTHERS = ("reno", "cubic", "bbr")
WIRE_BYTES = 1512


def draw_case(seed: int) -> dict[str, Any]:
    """Draw a path and who sends on it.

    Parameters
    ----------
    seed
        Of the draw and of the run; its rest by six is the kind.
    """
    rng = random.Random(f"others {seed}")
    rate = math.exp(rng.uniform(math.log(3e6), math.log(40e6)))
    rtt = math.exp(rng.uniform(math.log(0.01), math.log(0.12)))
    packets = rate * rtt / 8 / 1500
    return {
        "seed": seed, "kind": KINDS[seed % len(KINDS)], "rate": rate, "rtt": rtt,
        "buffer": max(20, round(rng.uniform(0.6, 3) * packets)), "cc": rng.choice(CONTROLS),
        "share": rng.uniform(0.1, 0.6), "others": [rng.choice(OTHERS) for _ in range(2)],
        "at": rng.choice(("sender", "receiver")),
        "duration": min(30.0, max(12.0, 100 * rtt)),
    }  # fmt: skip


def scenario_of(case: dict[str, Any]) -> ac.Scenario:
    """Make the scenario of a case.

    Parameters
    ----------
    case
        As `draw_case` gives it.
    """
    kind, rate = case["kind"], case["rate"]
    flows = [ac.Flow(id="f", pair=0, cc=case["cc"])]
    sent = f"{case['share'] * rate:.6g} bps"
    if kind == "constant":
        source: dict[str, Any] = {"kind": "cbr", "rate": sent, "packet": "1000 B"}
        flows.append(ac.Flow(id="x", pair=1, source=source))
    elif kind == "bursts":
        source = {"kind": "exponential-on-off", "rate": f"{1.5 * case['share'] * rate:.6g} bps",
                  "burst": "0.5 s", "idle": "0.25 s", "packet": "1000 B"}  # fmt: skip
        flows.append(ac.Flow(id="x", pair=1, source=source))
    elif kind in ("one flow", "two flows"):
        count = 1 if kind == "one flow" else 2
        flows += [
            ac.Flow(id=f"x{i}", pair=1 + i, cc=cc) for i, cc in enumerate(case["others"][:count])
        ]
    net: dict[str, Any] = {
        "pairs": 3, "rate": f"{rate:.6g} bps", "rtt": f"{case['rtt']:.6g} s",
        "buffer": f"{case['buffer']} pkt",
    }  # fmt: skip
    if kind == "rate changes":
        third = case["duration"] / 3
        lower = f"{(1 - case['share']) * rate:.6g} bps"
        steps = [{"at": f"{third} s", "rate": lower}, {"at": f"{2 * third} s", "rate": net["rate"]}]
        net["schedule"] = {"steps": steps}
    return ac.Scenario(
        ac.topology.Dumbbell(**net), flows, duration=f"{case['duration']} s", seed=case["seed"],
        tcp={"timestamps": True}, record={"tables": ["packets"]},
    )  # fmt: skip


def judge(seed: int) -> dict[str, Any]:
    """Estimate a case from its capture.

    Parameters
    ----------
    seed
        Of the case.
    """
    case = draw_case(seed)
    run = scenario_of(case).run()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.pcapng"
        run.to_pcapng(file, link="s0->r0" if case["at"] == "sender" else "r1->d0")
        path = estimate(gather(read_trace(file).flows[0]))
    flow = run.summary["flows"][0]
    link = next(link for link in run.summary["links"] if link["id"] == "r0->r1")
    own = (flow["sent_packets"] - flow["lost_data_packets"]) * WIRE_BYTES
    truth = max(0.0, 1 - own / link["departed_bytes"])
    return {**case, "truth": truth, "value": path.others, "link": path.capacity_bps,
            "own": path.rate_bps}  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--count", type=int, default=60, help="cases")
    arguments = parser.parse_args()
    rows = [judge(seed) for seed in range(arguments.first, arguments.first + arguments.count)]
    print("| others | cases | said | interval has the truth | within 0.03 | median error |"
          " link's rate within 1 % |")  # fmt: skip
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind in KINDS:
        part = [row for row in rows if row["kind"] == kind]
        known = [row for row in part if row["value"] is not None]
        inside = sum(row["value"].low <= row["truth"] <= row["value"].high for row in known)
        errors = [abs(row["value"].value - row["truth"]) for row in known]
        rates = [abs((row["link"] or row["own"]).value / row["rate"] - 1) for row in known]
        middle = f"{np.median(errors):.3f}" if errors else "-"
        near = sum(error <= 0.03 for error in errors)
        exact = sum(rate <= 0.01 for rate in rates)
        print(f"| {kind} | {len(part)} | {len(known)} | {inside} | {near} | {middle} | {exact} |")
    for row in rows:
        value = row["value"]
        if value is not None and not value.low <= row["truth"] <= value.high:
            print(
                f"seed {row['seed']}: {row['kind']}, {row['cc']} at the {row['at']},"
                f" {row['rate'] / 1e6:.1f} Mbit/s {row['rtt'] * 1e3:.0f} ms {row['buffer']} pkt:"
                f" {row['truth']:.3f}, said {value.value:.3f} [{value.low:.3f}, {value.high:.3f}]"
            )


if __name__ == "__main__":
    main()
