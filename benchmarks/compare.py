"""Run the same scenarios in ackclock, ns-2 and ns-3 and compare their CPU time and results.

All run on one processor, one after another, in turns. The time that counts is the CPU time of the
run itself without set-up; per-flow results are beside it, so that a simulator which is fast
because it does something else shows. Simulators that are not installed are named and skipped.
"""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import scenarios
from measure import (
    BENCHMARKS,
    PEERS,
    BenchmarkError,
    Command,
    bench,
    build,
    choose_core,
    hierarchy_files,
    machine,
    measured,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (50, 100, 200, 500)
DUMBBELL_SECONDS = 100.0
HIERARCHY_SECONDS = 50.0
NS3_SECONDS = 10.0
PACKET_BITS = 8000
NS3_MODULES = (
    "applications",
    "internet",
    "network",
    "nix-vector-routing",
    "point-to-point",
    "traffic-control",
    "core",
)
# How many times less run time than each peer ackclock promises.
TARGETS = {("ns-2", "dumbbell"): 7.0, ("ns-2", "hierarchy"): 9.0, ("ns-3", "dumbbell"): 150.0}


@dataclass(frozen=True)
class Run:
    """One run of one simulator."""

    setup_s: float
    run_s: float
    packet_hops: int
    peak_mib: float
    goodput_mbps: float
    jain: float
    delivered: int
    sent: int
    retransmitted: int


@dataclass
class Case:
    """A scenario in one simulator, with all its runs."""

    scenario: str
    flows: int
    seconds: float
    simulator: str
    execute: Callable[[Path], Run]
    runs: list[Run] = field(default_factory=list)

    def median_s(self) -> float:
        """Return the median of the run times."""
        return statistics.median(run.run_s for run in self.runs)


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    scenario: str
    flows: int
    seconds: float
    simulator: str
    runs: int
    setup_s: float
    run_s: float
    run_min_s: float
    run_max_s: float
    packet_hops: int
    mhops_per_s: float
    peak_mib: float
    goodput_mbps: float
    jain: float
    delivered: int
    sent: int
    retransmitted: int
    ratio: float | None


def jain(values: list[int]) -> float:
    """Jain's fairness index."""
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 0.0


def outcome(
    csv_file: Path, seconds: float, peak_kib: int, *, setup_s: float, run_s: float, hops: int
) -> Run:
    """Put the per-flow table and the costs of a run together."""
    rows = scenarios.table(csv_file)
    delivered = [int(row["delivered_packets"]) for row in rows]
    return Run(
        setup_s=setup_s,
        run_s=run_s,
        packet_hops=hops,
        peak_mib=peak_kib / 1024,
        goodput_mbps=sum(delivered) * PACKET_BITS / seconds / 1e6,
        jain=jain(delivered),
        delivered=sum(delivered),
        sent=sum(int(row["sent_packets"]) for row in rows),
        retransmitted=sum(int(row["retransmitted_packets"]) for row in rows),
    )


def ackclock(
    program: Path, scenario: scenarios.Scenario, core: int, repeat: int
) -> Callable[[Path], Run]:
    """Run in ackclock, each process ``repeat`` times over, of which the median counts."""

    def execute(table: Path) -> Run:
        report = bench(program, "run", scenario, core, "--flows", table, "--repeat", str(repeat))
        return outcome(
            table,
            scenario["duration"],
            report["peak_kib"],
            setup_s=report["setup_cpu_s"],
            run_s=report["run_cpu_median_s"],
            hops=report["packet_hops"],
        )

    return execute


def peer(command: Command, csv_option: str, core: int) -> Callable[[Path], Run]:
    """Run a peer, which prints one line of key=value and writes its flows to a file."""

    def execute(table: Path) -> Run:
        finished = measured([*command, f"{csv_option}{table}"], core)
        line = next(x for x in finished.output.splitlines() if x.startswith("simulator="))
        said = dict(pair.split("=", 1) for pair in line.split())
        return outcome(
            table,
            float(said["seconds"]),
            finished.peak_kib,
            setup_s=float(said["setup_cpu_s"]),
            run_s=float(said["run_cpu_s"]),
            hops=int(said["packet_hops"]),
        )

    return execute


def find_ns2() -> str | None:
    """Return the command of ns-2, unless there is none."""
    return shutil.which("ns") or shutil.which("ns2")


def build_ns3(prefix: Path, folder: Path) -> tuple[Path | None, str]:
    """Compile the ns-3 program; return it, or nothing and the reason."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        return None, "no C++ compiler"
    if not (prefix / "include" / "ns3" / "core-module.h").exists():
        return None, f"no headers in {prefix}/include/ns3 (Debian: libns3-dev)"
    libraries = []
    for module in NS3_MODULES:
        # Debian: libns3-core.so; built from source: libns3.37-core-optimized.so, libns3.37-core.so
        found = [
            path
            for end in ("-optimized", "-release", "")
            for start in ("libns3-", "libns3.*[0-9]-")
            for where in ("lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu")
            for path in (prefix / where).glob(f"{start}{module}{end}.so")
        ]
        if not found:
            return None, f"no library of ns-3's module {module} below {prefix}"
        libraries.append(found[0])
    program = folder / "ns3-dumbbell"
    command = [compiler, "-O3", f"-I{prefix / 'include'}", "-o", program]
    # Old tags: the path holds for the libraries that these libraries need, too.
    rpath = f"-Wl,--disable-new-dtags,-rpath,{libraries[0].parent}"
    command += [PEERS / "ns3" / "dumbbell.cc", *libraries, rpath]
    print("building the ns-3 program ...", file=sys.stderr)
    # Releases of ns-3 differ in the C++ that their headers need.
    for standard in ("c++17", "c++20", "c++23"):
        done = subprocess.run(
            [*map(str, command), f"-std={standard}"], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return program, ""
    return None, f"dumbbell.cc does not compile: {done.stderr[-400:]}"


def cases(options: argparse.Namespace, folder: Path) -> tuple[list[list[Case]], list[str]]:
    """Return the groups of cases that are compared with each other, and what is left out."""
    core = choose_core()
    program = options.program or build()
    files = hierarchy_files(folder / "hierarchy")
    skipped = []
    ns2 = find_ns2()
    if ns2 is None:
        skipped.append("ns-2 is not installed (Debian: package ns2)")
    ns3, reason = (None, "left out by --ns3-seconds 0")
    if options.ns3_seconds > 0:
        ns3, reason = build_ns3(options.ns3_prefix, folder)
    if ns3 is None:
        skipped.append(f"ns-3: {reason}")

    groups = []
    command: Command
    for n in options.sizes:
        scenario = scenarios.dumbbell(n, options.seconds, era=options.era)
        run = ackclock(program, scenario, core, options.inner)
        group = [Case("dumbbell", n, options.seconds, "ackclock", run)]
        if ns2:
            command = [ns2, PEERS / "ns2" / "dumbbell.tcl", str(n), str(options.seconds)]
            group.append(Case("dumbbell", n, options.seconds, "ns-2", peer(command, "", core)))
        groups.append(group)
    if options.hierarchy_seconds > 0:
        seconds = options.hierarchy_seconds
        scenario = scenarios.hierarchy(files, seconds, era=options.era)
        run = ackclock(program, scenario, core, options.inner)
        group = [Case("hierarchy", 1000, seconds, "ackclock", run)]
        if ns2:
            command = [ns2, PEERS / "ns2" / "hierarchy.tcl", files, str(seconds)]
            group.append(Case("hierarchy", 1000, seconds, "ns-2", peer(command, "", core)))
        groups.append(group)
    if ns3:
        for n in options.ns3_sizes:
            scenario = scenarios.dumbbell(n, options.ns3_seconds, era=options.era)
            run = ackclock(program, scenario, core, 2 * options.inner + 1)
            command = [ns3, f"--n={n}", f"--seconds={options.ns3_seconds}"]
            run3 = peer(command, "--csv=", core)
            groups.append(
                [
                    Case("dumbbell", n, options.ns3_seconds, "ackclock", run),
                    Case("dumbbell", n, options.ns3_seconds, "ns-3", run3),
                ]
            )
    return groups, skipped


def rows(group: list[Case]) -> list[Row]:
    """Summarise a group; the ratio is the median of the pairs of runs made one after the other."""
    own = group[0]
    result = []
    for case in group:
        ratio = None
        if case is not own:
            pairs = zip(case.runs, own.runs, strict=True)
            ratio = statistics.median(theirs.run_s / ours.run_s for theirs, ours in pairs)
        # Runs of one simulator differ in time only: the rest may come from any.
        last = case.runs[-1]
        times = [run.run_s for run in case.runs]
        result.append(
            Row(
                scenario=case.scenario,
                flows=case.flows,
                seconds=case.seconds,
                simulator=case.simulator,
                runs=len(case.runs),
                setup_s=statistics.median(run.setup_s for run in case.runs),
                run_s=case.median_s(),
                run_min_s=min(times),
                run_max_s=max(times),
                packet_hops=last.packet_hops,
                mhops_per_s=last.packet_hops / case.median_s() / 1e6,
                peak_mib=max(run.peak_mib for run in case.runs),
                goodput_mbps=last.goodput_mbps,
                jain=last.jain,
                delivered=last.delivered,
                sent=last.sent,
                retransmitted=last.retransmitted,
                ratio=ratio,
            )
        )
    return result


HEADINGS = (
    "scenario | flows | simulated s | simulator | set-up s | run s (min to max) | Mhops | Mhops/s "
    "| peak MiB | goodput Mb/s | Jain | retransmitted | times ackclock's run"
)


def markdown(table: list[Row]) -> str:
    """Return the table for people."""
    lines = [f"| {HEADINGS} |", "|" + " --- |" * len(HEADINGS.split("|"))]
    for row in table:
        goal = TARGETS.get((row.simulator, row.scenario))
        ratio = "" if row.ratio is None else f"{row.ratio:.1f} (goal {goal:g})"
        cells = [
            row.scenario,
            f"{row.flows}",
            f"{row.seconds:g}",
            row.simulator,
            f"{row.setup_s:.3f}",
            f"{row.run_s:.3f} ({row.run_min_s:.3f} to {row.run_max_s:.3f})",
            f"{row.packet_hops / 1e6:.2f}",
            f"{row.mhops_per_s:.2f}",
            f"{row.peak_mib:.1f}",
            f"{row.goodput_mbps:.2f}",
            f"{row.jain:.4f}",
            f"{row.retransmitted}",
            ratio,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def write(table: list[Row], notes: list[str], out: Path) -> str:
    """Write the CSV and the markdown file of today; return the latter."""
    out.mkdir(parents=True, exist_ok=True)
    stem = out / dt.datetime.now(tz=dt.UTC).date().isoformat()
    with stem.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(asdict(table[0])), lineterminator="\n")
        writer.writeheader()
        for row in table:
            short = {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in asdict(row).items()}
            writer.writerow(short)
    text = markdown(table) + "\n" + "".join(f"- {note}\n" for note in notes)
    stem.with_suffix(".md").write_text(text, encoding="utf-8")
    print(f"written: {stem}.csv, {stem}.md", file=sys.stderr)
    return text


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    add = parser.add_argument
    add("--sizes", type=int, nargs="*", default=SIZES, help="flows on the dumbbell against ns-2")
    add("--seconds", type=float, default=DUMBBELL_SECONDS, help="simulated time of the dumbbell")
    add("--hierarchy-seconds", type=float, default=HIERARCHY_SECONDS, help="0 leaves it out")
    add(
        "--ns3-sizes", type=int, nargs="*", default=(50,), help="flows on the dumbbell against ns-3"
    )
    add("--ns3-seconds", type=float, default=NS3_SECONDS, help="simulated time with ns-3; 0: none")
    add(
        *("--ns3", "--ns3-prefix"),
        dest="ns3_prefix",
        metavar="PREFIX",
        type=Path,
        default=Path("/usr"),
        help="folder of ns-3's include and lib",
    )
    add("--program", type=Path, help="the bench program, if it is built already")
    add("--repeat", type=int, default=5, help="turns: every simulator runs once in each")
    add("--inner", type=int, default=3, help="runs of ackclock in each turn; their median counts")
    add("--era", default=scenarios.ERA, choices=("rfc", "ns2"), help="whose TCP ackclock runs")
    add("--out", type=Path, default=BENCHMARKS / "results", help="folder for the tables")
    return parser.parse_args()


def main() -> int:
    """Measure and write the tables."""
    options = arguments()
    table: list[Row] = []
    text = ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            groups, skipped = cases(options, folder)
            notes = [
                f"{machine()}; one processor, simulators in turns, median of {options.repeat} "
                f"turns ({options.inner} runs of ackclock to a turn)",
                f"ackclock: era {options.era}, recording off, CPU time user and system together",
                "ns-2 and ns-3: user CPU time; the ratio is the median of the turns' ratios",
                *(f"skipped: {reason}" for reason in skipped),
            ]
            for group in groups:
                for turn in range(options.repeat):
                    # The other way round in every other turn, so that a machine whose speed drifts
                    # does not favour the simulator that runs first.
                    for case in reversed(group) if turn % 2 else group:
                        case.runs.append(case.execute(folder / "flows.csv"))
                        line = f"{case.scenario} {case.flows} {case.simulator} turn {turn + 1}"
                        print(f"{line}: {case.runs[-1].run_s:.3f} s", file=sys.stderr)
                # After every group, so that an interrupted benchmark leaves what it measured.
                table += rows(group)
                text = write(table, notes, options.out)
        except BenchmarkError as error:
            print(f"compare: {error}", file=sys.stderr)
            return 1
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
