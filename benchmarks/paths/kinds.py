"""How often the kind of queue of a hidden path is named, from a capture file alone.

Draws a kind of queue with its parameters, a path, a control and the end of the capture from each
seed, runs a flow, writes its capture, and calibrates it. Prints a table of truths and answers, and
how often rate, base round trip and buffer (of drop-tail) are near, before the search and after.

A run in which most drops were not those of its kind (the buffer of an AQM overflowed) counts as
`drop-tail`; one with fewer than five losses is left out.

Exit status: 0.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import ackclock as ac
from ackclock.captures.calibrate.estimate import estimate
from ackclock.captures.calibrate.evidence import gather
from ackclock.captures.calibrate.fitting import improve
from ackclock.captures.calibrate.search import CandidateSender, search
from ackclock.captures.read.read import read_trace

KINDS = ("drop-tail", "codel", "fq-codel", "pie", "red", "policer", "shaper")
CONTROLS = ("reno", "cubic", "htcp", "highspeed", "illinois", "bbr", "compound", "westwood")
FEWEST = 5


def draw_scale(rng: random.Random, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform.

    Parameters
    ----------
    rng
        Source of the draw.
    low, high
        Bounds.
    """
    return float(math.exp(rng.uniform(math.log(low), math.log(high))))


def draw_queue(rng: random.Random, kind: str, rate: float, product: float) -> tuple[Any, float]:
    """Draw a queue discipline and its buffer.

    Parameters
    ----------
    rng
        Source of the draw.
    kind
        One of `KINDS`.
    rate
        Of the bottleneck [bit/s].
    product
        Bandwidth-delay product [packets].
    """
    deep = max(200.0, 6 * product)
    usual = max(10.0, rng.uniform(0.4, 3) * product)
    if kind == "drop-tail":
        return "fifo", usual
    if kind in ("codel", "fq-codel"):
        target = rng.choice((5.0, 5.0, rng.uniform(4, 20)))
        return {"kind": kind, "target": f"{target:.3g} ms"}, deep
    if kind == "pie":
        return {"kind": kind, "target": f"{rng.choice((15.0, rng.uniform(10, 30))):.3g} ms"}, deep
    if kind == "red":
        least = max(4.0, rng.uniform(0.1, 0.5) * product)
        limits = {"min_th": least, "max_th": least * rng.uniform(2, 4),
                  "max_p": draw_scale(rng, 0.02, 0.2)}  # fmt: skip
        return {"kind": kind, **rng.choice((limits, limits, {"adaptive": True}))}, deep
    size = max(6000.0, draw_scale(rng, 0.1, 2) * product * 1500)
    tokens = {"kind": kind, "rate": f"{rate:.6g} bps", "burst": f"{size:.0f} B"}
    return tokens, deep if kind == "policer" else usual


def draw_case(seed: int) -> dict[str, Any]:
    """Draw a path with its queue, and a flow.

    Parameters
    ----------
    seed
        Of the draw and of the run.
    """
    rng = random.Random(f"kind {seed}")
    rate, rtt = draw_scale(rng, 2e6, 40e6), draw_scale(rng, 0.01, 0.15)
    kind = KINDS[seed % len(KINDS)]
    qdisc, buffer = draw_queue(rng, kind, rate, rate * rtt / 8 / 1500)
    has_tokens = kind in ("policer", "shaper")
    return {
        "seed": seed, "kind": kind, "rate": rate, "rtt": rtt, "qdisc": qdisc,
        "buffer": round(buffer), "cc": rng.choice(CONTROLS),
        "link": rate * (rng.uniform(3, 20) if has_tokens else 1.0),
        "at": rng.choice(("sender", "receiver")),
        "duration": min(30.0, max(8.0, 80 * rtt, 4000 * 12000 / rate)),
    }  # fmt: skip


def run_case(case: dict[str, Any], file: Path) -> Counter[str]:
    """Run the flow, write its capture, and count the reasons of drops at the bottleneck.

    Parameters
    ----------
    case
        As `draw_case` gives it.
    file
        The capture.
    """
    net = ac.topology.Dumbbell(
        pairs=1, rate=f"{case['link']} bps", rtt=f"{case['rtt']} s",
        buffer=f"{case['buffer']} pkt", qdisc=case["qdisc"],
    )  # fmt: skip
    scenario = ac.Scenario(
        net, [ac.Flow(id="f", pair=0, cc=case["cc"])], duration=f"{case['duration']} s",
        seed=case["seed"], tcp={"timestamps": True}, record={"tables": ["packets"]},
    )  # fmt: skip
    run = scenario.run()
    run.to_pcapng(file, link="s0->r0" if case["at"] == "sender" else "r1->d0")
    link = next(link for link in run.summary["links"] if link["id"] == "r0->r1")
    return Counter({name: int(count) for name, count in link["drop_reasons"].items()})


def judge(seed: int) -> dict[str, Any]:
    """Calibrate a hidden path from its capture.

    Parameters
    ----------
    seed
        Of the path.
    """
    case = draw_case(seed)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.pcapng"
        reasons = run_case(case, file)
        flow = read_trace(file).flows[0]
    truth = "codel" if case["kind"] == "fq-codel" else case["kind"]
    overflows = reasons["overflow"]
    if truth not in ("drop-tail", "shaper") and overflows > sum(reasons.values()) / 2:
        truth = "drop-tail"
    evidence = gather(flow)
    guess = estimate(evidence)
    start = time.process_time()
    fit = search(
        guess,
        flow,
        evidence,
        senders=[CandidateSender(case["cc"], era) for era in ("linux", "rfc")],
    )
    better = improve(guess, fit)
    return {
        **case, "truth": truth, "losses": sum(reasons.values()), "before": guess.drop,
        "answer": fit.kind, "kinds": fit.kinds, "reason": fit.reason, "runs": fit.runs,
        "cpu_s": time.process_time() - start,
        "best": {
            kind: {"distance": x.distance, "parts": x.parts, "qdisc": x.candidate.qdisc,
                   "buffer": x.candidate.draw.buffer_bytes}
            for kind, x in fit.best.items()
        },
        "rates": [x.rate_bps.value if x.rate_bps else None for x in (guess, better)],
        "buffers": [x.buffer_bytes.value if x.buffer_bytes else None for x in (guess, better)],
    }  # fmt: skip


def count_near(rows: list[dict[str, Any]], number: int) -> str:
    """Say how many rates are within 3 %, and how many buffers are within 15 % or are none.

    Parameters
    ----------
    rows
        As `judge` gives them.
    number
        0 for what closed forms say, 1 for what is left after the search.
    """
    rates = [row["rates"][number] or 0.0 for row in rows]
    near = sum(abs(x / row["rate"] - 1) <= 0.03 for x, row in zip(rates, rows, strict=True))
    full = [row for row in rows if row["truth"] in ("drop-tail", "shaper")]
    sizes = [(row["buffers"][number] or 0.0) / (row["buffer"] * 1512) for row in full]
    others = [row for row in rows if row not in full]
    wrong = sum(row["buffers"][number] is not None for row in others)
    return (
        f"rate within 3 % in {near} of {len(rows)}; buffer that drops within 15 % in"
        f" {sum(abs(x - 1) <= 0.15 for x in sizes)} of {len(full)}; a buffer named of {wrong} of"
        f" {len(others)} that did not drop"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--first", type=int, default=3001, help="first seed")
    parser.add_argument("--count", type=int, default=70, help="paths")
    parser.add_argument("--json", type=Path, help="write each path's figures")
    arguments = parser.parse_args()
    rows = []
    for seed in range(arguments.first, arguments.first + arguments.count):
        rows.append(judge(seed))
        if arguments.json:
            arguments.json.write_text(json.dumps(rows, indent=1, default=float))
    rows = [row for row in rows if row["losses"] >= FEWEST]
    truths = [kind for kind in dict.fromkeys([*KINDS]) if any(r["truth"] == kind for r in rows)]
    answers = sorted({row["answer"] for row in rows})
    print(f"| most drops were | paths | {' | '.join(answers)} |")
    print(f"| --- | ---: |{' ---: |' * len(answers)}")
    for kind in truths:
        counts = Counter(row["answer"] for row in rows if row["truth"] == kind)
        cells = " | ".join(str(counts[answer]) for answer in answers)
        print(f"| {kind} | {sum(counts.values())} | {cells} |")
    named = [row for row in rows if row["answer"] != "not known"]
    correct = sum(row["answer"] == row["truth"] for row in named)
    print(f"named {len(named)} of {len(rows)}, of which {correct} are correct")
    for low, high in ((0.5, 0.7), (0.7, 0.9), (0.9, 1.01)):
        part = [row for row in named if low <= max(row["kinds"].values()) < high]
        hits = sum(row["answer"] == row["truth"] for row in part)
        print(f"probability {low:g} to {min(1, high):g}: {hits} of {len(part)}")
    for number, when in enumerate(("before", "after")):
        print(f"{when} the search: {count_near(rows, number)}")
    print(f"CPU time of a search: {sum(row['cpu_s'] for row in rows) / len(rows):.2f} s")


if __name__ == "__main__":
    main()
