"""How near a calibrated path is to the one that a run had: hidden paths, through capture files.

Draws paths from a seed (rate, delay, buffer, control, end at which is captured), runs a flow on
each, writes its capture, and calibrates the path from that file alone. Prints for how many of those
whose buffer overflowed rate, delay and buffer are within 3, 2 and 15 %, and lists what is not.

With `--kernel SECONDS` flows are Reno, CUBIC and BBR of the running kernel, in real time over our
links, captured at the sender; the control is identified too. Runs with late packets are marked.

Exit status: 0.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import tempfile
from pathlib import Path
from typing import Any

import ackclock as ac
from ackclock.captures.calibrate.estimate import estimate
from ackclock.captures.calibrate.evidence import gather
from ackclock.captures.calibrate.fitting import improve
from ackclock.captures.calibrate.search import CandidateSender, search
from ackclock.captures.identify.identification import identify
from ackclock.captures.read.read import read_trace
from ackclock.peers.emulate.emulate import emulate

GOALS = {"rate": 0.03, "base": 0.02, "buffer": 0.15}
CONTROLS = ("reno", "cubic", "htcp", "highspeed", "illinois", "bbr", "compound", "westwood")

KERNEL_CONTROLS = ("aimd", "cubic", "bbr")
KERNEL_PATHS = ((20.0, 0.04, 70), (8.0, 0.08, 120), (40.0, 0.02, 100))
"""Rate [Mbit/s], round trip [s], buffer [packets]."""


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def draw_path(seed: int, qdisc: str = "fifo", loss: float = 0.0) -> dict[str, Any]:
    """Draw a path and a flow on it.

    Parameters
    ----------
    seed
        Of the draw and of the run.
    qdisc
        Queue discipline of the bottleneck.
    loss
        Random loss.
    """
    rng = random.Random(f"path {seed}")
    rate = log_uniform(rng, 1e6, 50e6)
    rtt = log_uniform(rng, 0.01, 0.2)
    buffer = max(10, round(rng.uniform(0.4, 3) * rate * rtt / 8 / 1500))
    return {
        "rate": rate,
        "rtt": rtt,
        "buffer": buffer,
        "cc": rng.choice(CONTROLS),
        "at": rng.choice(("sender", "receiver")),
        "duration": min(30.0, max(6.0, 60 * rtt, 4000 * 12000 / rate)),
        "qdisc": qdisc,
        "loss": loss,
        "seed": seed,
    }


def run_path(path: dict[str, Any], file: Path) -> dict[str, Any]:
    """Run the flow, write its capture, and return the figures of the bottleneck.

    Parameters
    ----------
    path
        The path.
    file
        The capture.
    """
    links = {"sender": ["s0->r0", "r0->s0"], "receiver": ["r1->d0", "d0->r1"]}
    net = ac.topology.Dumbbell(
        pairs=1, rate=f"{path['rate']} bps", rtt=f"{path['rtt']} s", buffer=f"{path['buffer']} pkt",
        qdisc=path["qdisc"], loss=path["loss"],
    )  # fmt: skip
    scenario = ac.Scenario(
        net,
        [ac.Flow(id="f", pair=0, cc=path["cc"])],
        duration=f"{path['duration']} s",
        seed=path["seed"],
        tcp={"timestamps": True},
        record={"tables": ["packets"]},
    )
    run = scenario.run()
    run.to_pcapng(file, link=links[path["at"]][0])
    return next(link for link in run.summary["links"] if link["id"] == "r0->r1")


def judge(path: dict[str, Any], *, searched: bool = False) -> dict[str, Any]:
    """Calibrate a hidden path from its capture and compare.

    Parameters
    ----------
    path
        The path.
    searched
        Whether paths are simulated too.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.pcapng"
        link = run_path(path, file)
        flow = read_trace(file).flows[0]
    evidence = gather(flow)
    guess = estimate(evidence)
    if searched:
        senders = [CandidateSender(path["cc"], era) for era in ("linux", "rfc")]
        guess = improve(guess, search(guess, flow, evidence, senders=senders))
    size = 1512
    truth = {"rate": path["rate"], "base": path["rtt"], "buffer": path["buffer"] * size}
    values = {"rate": guess.rate_bps, "base": guess.base_s, "buffer": guess.buffer_bytes}
    errors = {
        name: None if value is None else value.value / truth[name] - 1
        for name, value in values.items()
    }
    inside = {
        name: None if value is None else bool(value.low <= truth[name] <= value.high)
        for name, value in values.items()
    }
    return {
        **path, "overflows": link["drop_reasons"].get("overflow", 0), "drop": guess.drop,
        "errors": errors,
        "inside": inside, "position": flow.position, "doubts": guess.doubts,
        "random_loss": None if guess.loss is None else guess.loss.value, "facts": guess.facts,
    }  # fmt: skip


def print_kernel(seconds: float) -> None:
    """Print the table of the kernel's controls.

    Parameters
    ----------
    seconds
        Length of each run.
    """
    print("| control | path | rate | base | buffer | identified | among three | valid |")
    print("| --- | --- | ---: | ---: | ---: | --- | --- | --- |")
    for rate, rtt, buffer in KERNEL_PATHS:
        for control in KERNEL_CONTROLS:
            print(judge_kernel(control, rate, rtt, buffer, seconds), flush=True)


def judge_kernel(control: str, rate: float, rtt: float, buffer: int, seconds: float) -> str:
    """Run a control of the kernel and write its row.

    Parameters
    ----------
    control
        Name of ours.
    rate
        Of the bottleneck [Mbit/s].
    rtt
        Round trip without queues [s].
    buffer
        Of the bottleneck [packets].
    seconds
        Length of the run.
    """
    net = {
        "kind": "dumbbell", "pairs": 1, "rate": f"{rate} Mbps", "rtt": f"{rtt} s",
        "buffer": f"{buffer} pkt",
    }  # fmt: skip
    flow = {"id": "f", "pair": 0, "cc": control}
    data = {"duration": f"{seconds} s", "era": "linux", "net": net, "flows": [flow]}
    run = emulate(ac.Scenario.from_data(data), captures=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.pcapng"
        run.to_pcapng(file)
        guess = estimate(gather(read_trace(file, interface=0).flows[0]))
        answer = identify(file, interface=0)
        three = identify(file, interface=0, among=KERNEL_CONTROLS)
    truth = {"rate": rate * 1e6, "base": rtt, "buffer": buffer * 1500.0}
    values = {"rate": guess.rate_bps, "base": guess.base_s, "buffer": guess.buffer_bytes}
    cells = []
    for name, value in values.items():
        if value is None:
            cells.append("not known")
            continue
        error = value.value / truth[name] - 1
        cells.append(f"{error:+.1%}{'' if abs(error) <= GOALS[name] else ' (far)'}")
    named = [
        f"{one.answer} {max(one.probabilities.values(), default=0.0):.2f}"
        for one in (answer, three)
    ]
    path = f"{rate:g} Mbit/s, {rtt * 1e3:g} ms, {buffer} pkt"
    valid = "yes" if run.is_valid else "late"
    return f"| {control} | {path} | {' | '.join(cells)} | {' | '.join(named)} | {valid} |"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--first", type=int, default=1001, help="first seed")
    parser.add_argument("--count", type=int, default=200, help="paths")
    parser.add_argument("--qdisc", default="fifo", help="queue discipline")
    parser.add_argument("--loss", type=float, default=0.0, help="random loss")
    parser.add_argument("--search", action="store_true", help="simulate paths too")
    parser.add_argument("--json", type=Path, help="write each path's figures")
    parser.add_argument("--kernel", type=float, metavar="SECONDS", help="the kernel's controls")
    arguments = parser.parse_args()
    if arguments.kernel:
        print_kernel(arguments.kernel)
        return
    rows = []
    for seed in range(arguments.first, arguments.first + arguments.count):
        path = draw_path(seed, arguments.qdisc, arguments.loss)
        rows.append(judge(path, searched=arguments.search))
        if arguments.json:
            arguments.json.write_text(json.dumps(rows, indent=1, default=float))
    full = [row for row in rows if row["overflows"] > 0]
    print(f"{len(rows)} paths, of which {len(full)} overflowed")
    for name, goal in GOALS.items():
        errors = [row["errors"][name] for row in full]
        known = [abs(error) for error in errors if error is not None]
        within = sum(error <= goal for error in known)
        inside = sum(row["inside"][name] is True for row in full)
        median = sorted(known)[len(known) // 2] if known else math.nan
        print(
            f"{name}: {within} of {len(full)} within {goal:.0%}, {len(errors) - len(known)} not"
            f" known, median error {median:.2%}, interval has the truth in {inside}"
        )
    kinds = sorted({row["drop"] for row in rows})
    print("drop:", ", ".join(f"{k} {sum(row['drop'] == k for row in rows)}" for k in kinds))
    for row in full:
        wrong = {
            name: error for name, error in row["errors"].items()
            if error is None or abs(error) > GOALS[name]
        }  # fmt: skip
        if wrong:
            texts = [f"{k} {'-' if e is None else format(e, '+.1%')}" for k, e in wrong.items()]
            print(
                f"seed {row['seed']}: {row['cc']} at the {row['at']},"
                f" {row['rate'] / 1e6:.1f} Mbit/s {row['rtt'] * 1e3:.0f} ms {row['buffer']} pkt,"
                f" {row['overflows']} overflows,"
                f" {row['drop']}: {', '.join(texts)}"
            )


if __name__ == "__main__":
    main()
