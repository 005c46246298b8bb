"""Runs the published simulator of SCReAM and prints what its media got beside what ours gets.

    python benchmarks/peers/scream.py SCREAM [--trace MAHIMAHI] [--keep FILE] [--only TEXT]

SCREAM is a checkout of EricssonResearch/scream (the page's numbers are those of commit c8f84c3).
Its `scream_simulator.cpp` is built in a temporary folder (needs a C++ compiler) with another link:
rates by a table, the round trip, whether packets are marked, the length of the run. It runs three
times: with the arguments that it ships with; with those of the draft, an increase of 2 % in place
of 5, in flight 1.5 in place of 2 times, no faster pacing of large frames; and with these and 1.2,
the draft's, in place of 1.1 as what the rate of the window is divided by. Nothing else in it is
changed, but that it does not sleep. MAHIMAHI is a trace of delivery opportunities, of which the
mean rates of half seconds are the last link; FILE keeps what the program did.

Ours is the flow of `examples/data-centre/scream.toml` with `media`: frames each 20 ms (their sizes
have the mean absolute deviation of its `trace_no_key.txt`, 15.4 %), packets of 1012 bytes, marks
from 8 to 12 ms of waiting, and `reduce_jitter`, which the program always has. Feedback is as the
draft recommends and the program does, after the last packet of a frame or 40 ms, but each 7 packets
in place of 16, as the counter of marks in TCP's acknowledgements has three bits.

Printed are means over each period: the rate of media that arrives, the target of the encoder, the
reference window, and the round trip: of the three runs of the program; and of ours over seeds. A
period agrees with the program that has the draft's arguments (the second number) if each is within
TOLERANCE, which was set before any of these runs. With `--plain` ours is without `reduce_jitter`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from ackclock import Scenario

TOLERANCE = {"rate": 0.10, "target": 0.10, "window": 0.15, "round trip": 0.10}
"""Relative. The program differs from the draft by these rules, which set the scale: it divides by
1.1 and adds 1 ms to the round trip where the draft divides by 1.2 (5 % more at 25 ms), reacts each
30 ms in place of 25, and tolerates half a frame of waiting in place of a fourth."""
UNITS = {"rate": "Mbit/s", "target": "Mbit/s", "window": "kB", "round trip": "ms"}
PACKET, PAYLOAD = 1012, 1000
CONTROL = "ScreamV2Tx"
SOURCES = (
    *("ScreamTx", "ScreamV2TxStream", "ScreamRx"),
    *("RtpQueue", "NetQueue", "OooQueue", "VideoEnc"),
)
SHIPPED = "10000, 1.5f, 1.5f, 2.0f, 0.05f"
BY_DRAFT = "10000, 1.5f, 1.0f, 1.5f, 0.02f"
DIVISOR = "rateLeft /= 1.1f;"


class Link(NamedTuple):
    """A link, and the periods of which means are printed."""

    name: str
    rates: list[tuple[float, float]]
    """Rate in bit/s from each second on."""
    rtt_s: float
    periods: list[tuple[float, float]]
    marks: bool = True

    @property
    def end_s(self) -> float:
        """Length of a run."""
        return self.periods[-1][1]


def links(trace: Path | None) -> list[Link]:
    """The links that are compared."""
    step = [(0.0, 10e6), (3.0, 5e6), (6.0, 10e6)]
    parts = [(1.0, 3.0), (3.0, 4.0), (4.0, 6.0), (6.0, 8.0), (8.0, 20.0)]
    steady = [(5.0, 30.0)]
    chosen = [
        Link("constant 10 Mbit/s, 25 ms, marks", [(0.0, 10e6)], 0.025, steady),
        Link("constant 10 Mbit/s, 25 ms, no marks", [(0.0, 10e6)], 0.025, steady, marks=False),
        Link("constant 10 Mbit/s, 100 ms, marks", [(0.0, 10e6)], 0.1, steady),
        Link("10, 5 and 10 Mbit/s, 25 ms, marks", step, 0.025, parts),
        Link("10, 5 and 10 Mbit/s, 25 ms, no marks", step, 0.025, parts, marks=False),
    ]
    if trace:
        periods = [(5.0, 20.0), (20.0, 40.0), (40.0, 60.0)]
        chosen.append(Link(f"{trace.name}, 25 ms, marks", read_rates(trace), 0.025, periods))
    return chosen


def read_rates(
    trace: Path, until_s: float = 60.0, every_s: float = 0.5
) -> list[tuple[float, float]]:
    """Read the mean rates of a Mahimahi trace, at least 0.5 Mbit/s."""
    counts = [0] * int(until_s / every_s)
    for line in trace.read_text("utf-8").split():
        if (slot := int(int(line) / 1000 / every_s)) < len(counts):
            counts[slot] += 1
    return [(i * every_s, max(0.5e6, count * 1500 * 8 / every_s)) for i, count in enumerate(counts)]


def change(text: str, before: str, after: str) -> str:
    """Put one text into the place of another, which must be there once."""
    if text.count(before) != 1:
        sys.exit(
            f"scream: scream_simulator.cpp has {before!r} {text.count(before)} times, not once"
        )
    return text.replace(before, after)


def build(code: Path, folder: Path, link: Link, arguments: str, *, divides: bool) -> Path:
    """Build the program with this link; `divides` has it divide by 1.2, as the draft does."""
    text = (code / "scream_simulator.cpp").read_text("utf-8")
    table = ", ".join(f"{{{at}f, {rate}f}}" for at, rate in link.rates)
    text = change(text, "const float Tmax = 20;", f"const float Tmax = {link.end_s};")
    text = change(text, "const float RTT = 0.025f;", f"const float RTT = {link.rtt_s}f;")
    text = change(text, SHIPPED, arguments)
    if not link.marks:
        text = change(text, "const bool ecnCapable = true;", "const bool ecnCapable = false;")
    for rate in ("10000e3", "5000e3"):
        text = change(text, f"netQueueRate->rate = {rate};", "netQueueRate->rate = rateAt(time);")
    header = f"""static const float kRates[][2] = {{{table}}};
static float rateAt(float t) {{
    float rate = kRates[0][1];
    for (auto& row : kRates) if (t >= row[0]) rate = row[1];
    return rate;
}}
// The loop sleeps for no time in each of its 65536 steps a second.
extern "C" unsigned int sleep(unsigned int) {{ return 0; }}
"""
    main = folder / "scream_simulator.cpp"
    main.write_text(
        change(text, "using namespace std;", f"using namespace std;\n{header}"), "utf-8"
    )
    files = [str(code / f"{name}.cpp") for name in SOURCES]
    control = (code / f"{CONTROL}.cpp").read_text("utf-8")
    if divides:
        control = change(control, DIVISOR, DIVISOR.replace("1.1f", "1.2f"))
    (folder / f"{CONTROL}.cpp").write_text(control, "utf-8")
    files.append(str(folder / f"{CONTROL}.cpp"))
    program = folder / "scream_sim"
    command = ["g++", "-O2", "-w", "-DIGNORE_PACKET", f"-I{code}", str(main), *files, "-lpthread"]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


Means = list[dict[str, float]]


def run_theirs(checkout: Path, link: Link, arguments: str, *, divides: bool) -> Means:
    """Run the published program on a link."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build(checkout / "code", folder, link, arguments, divides=divides)
        shutil.copytree(checkout / "traces", folder / "traces")
        subprocess.run([str(program)], check=True, cwd=folder, capture_output=True)
        lines = (folder / "log.txt").read_text("utf-8").splitlines()
    # Time, queueing delay, round trip, window, ..., newly acknowledged (9), ..., target (17).
    rows = [[float(cell) for cell in line.split(",")[:18]] for line in lines]
    means = []
    for begin_s, end_s in link.periods:
        part = [row for row in rows if begin_s <= row[0] < end_s]
        arrived = sum(row[9] for row in part) * 8 / (end_s - begin_s)
        means.append(
            {
                "rate": arrived * PAYLOAD / PACKET / 1e6,
                "target": weigh(part, 17, begin_s, end_s) / 1e6,
                "window": weigh(part, 3, begin_s, end_s) / 1e3,
                "round trip": mean(row[2] for row in part) * 1e3,
            }
        )
    return means


def weigh(rows: list[list[float]], column: int, begin_s: float, end_s: float) -> float:
    """The mean over time of what rows report, each until the next."""
    times = [begin_s, *(row[0] for row in rows[1:]), end_s]
    gaps = [later - before for before, later in itertools.pairwise(times)]
    weighted = (row[column] * gap for row, gap in zip(rows, gaps, strict=True))
    return sum(weighted) / (end_s - begin_s)


def scenario_of(link: Link, seed: int, *, plain: bool = False) -> dict[str, Any]:
    """Our scenario of a link; `plain` is without `reduce_jitter`."""
    marks = {
        "kind": "dualpi2",
        "threshold": "10 ms",
        "ramp": "4 ms",
    }
    media = {
        "min": "100 kbps",
        "max": "20 Mbps",
        "fps": 50,
        "lag": "0 s",
        "scale_t": 0,
        "scale_b": 0.154,
        "patience": "1 s",
    }
    flow = {
        "pair": 0,
        "cc": {"kind": "scream", "l4s": link.marks, "reduce_jitter": not plain},
        "media": media,
    }
    return {
        "name": link.name,
        "seed": seed,
        "duration": link.end_s,
        "net": {
            "kind": "dumbbell",
            "pairs": 1,
            "rate": link.rates[0][1],
            "rtt": link.rtt_s,
            "buffer": "2000 pkt",
            "qdisc": marks if link.marks else "fifo",
            "schedule": {"steps": [{"at": at, "rate": rate} for at, rate in link.rates]},
        },
        "tcp": FEEDBACK | {"mss": PAYLOAD, "header": PACKET - PAYLOAD},
        "flows": [flow],
        "record": {"tables": ["flow_samples", "probe_series"], "interval": "10 ms"},
    }


FEEDBACK = {"delayed_ack": 7, "delayed_ack_timeout": "40 ms", "frame_acks": True}
"""How often the receiver acknowledges."""


def run_ours(link: Link, seed: int, *, plain: bool = False) -> Means:
    """Run our scenario of a link."""
    run = Scenario.from_data(scenario_of(link, seed, plain=plain)).run()
    samples = run.tables["flow_samples"].to_pydict()
    probes = run.tables["probe_series"].to_pydict()
    series: dict[str, list[list[float]]] = {}
    for time, name, value in zip(probes["time_s"], probes["probe"], probes["value"], strict=True):
        series.setdefault(name, []).append([time, value])
    means = []
    for begin_s, end_s in link.periods:
        part = [i for i, time in enumerate(samples["time_s"]) if begin_s <= time < end_s]
        arrived = samples["delivered_bytes"][part[-1]] - samples["delivered_bytes"][part[0]]
        means.append(
            {
                "rate": arrived * 8 / (end_s - begin_s) / 1e6,
                "target": hold(series["target_bps"], begin_s, end_s) / 1e6,
                "window": hold(series["reference_window"], begin_s, end_s) * PACKET / 1e3,
                "round trip": mean(samples["srtt_s"][i] for i in part) * 1e3,
            }
        )
    return means


def hold(rows: list[list[float]], begin_s: float, end_s: float) -> float:
    """The mean over time of a value that is reported when it changes."""
    before = [row for row in rows if row[0] <= begin_s][-1:]
    part = [row for row in rows if begin_s < row[0] < end_s]
    return weigh([*before, *part], 1, begin_s, end_s)


def recall(given: argparse.Namespace, link: Link, options: str, *, divides: bool = False) -> Means:
    """What the published program does on a link, from the file that keeps it if it is there."""
    kept = {}
    if given.keep and given.keep.exists():
        kept = json.loads(given.keep.read_text("utf-8"))
    key = f"{link.name}: {options}{', 1.2' if divides else ''}"
    if key not in kept:
        kept[key] = run_theirs(given.scream, link, options, divides=divides)
        if given.keep:
            given.keep.write_text(json.dumps(kept, indent=1), "utf-8")
    means: Means = kept[key]
    return means


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scream", type=Path)
    parser.add_argument("--trace", type=Path, help="a Mahimahi trace")
    parser.add_argument("--keep", type=Path, help="a file that keeps what the program did")
    parser.add_argument("--only", default="", help="links whose name has this")
    parser.add_argument("--plain", action="store_true", help="ours without reduce_jitter")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    head = " | ".join(f"{name}, {unit}" for name, unit in UNITS.items())
    print(f"| link | s | {head} | agrees |\n|{' --- |' * (len(UNITS) + 3)}")
    for link in links(arguments.trace):
        if arguments.only not in link.name:
            continue
        shipped = recall(arguments, link, SHIPPED)
        theirs = recall(arguments, link, BY_DRAFT)
        divided = recall(arguments, link, BY_DRAFT, divides=True)
        seeds = range(1, arguments.seeds + 1)
        ours = [run_ours(link, seed, plain=arguments.plain) for seed in seeds]
        for i, (begin_s, end_s) in enumerate(link.periods):
            cells, apart = [], []
            for name, tolerance in TOLERANCE.items():
                here = mean(run[i][name] for run in ours)
                there = theirs[i][name]
                published = (run[i][name] for run in (shipped, theirs, divided))
                cells.append(f"{', '.join(f'{value:.1f}' for value in published)}; {here:.1f}")
                if abs(here / there - 1) > tolerance:
                    apart.append(f"{name} {here / there - 1:+.0%}")
            verdict = ", ".join(apart) or "yes"
            period = f"{begin_s:g} to {end_s:g}"
            print(f"| {link.name} | {period} | {' | '.join(cells)} | {verdict} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
