"""Fuzz the core for a time: libFuzzer with coverage, on stable Rust.

Builds `crates/ackclock-fuzz` instrumented into `target/fuzz`, then gives each target its share of
the time. What libFuzzer finds beyond the committed seeds (`corpus/`) grows in `target/fuzz/corpus`.
An input that fails is kept in `target/fuzz/failures` and named; once it is mended, move it to
`crates/ackclock-fuzz/regressions/TARGET/`, where `cargo test -p ackclock-fuzz` replays it. The
formats that Python reads and writes are fuzzed by Hypothesis (`tests/fuzz`) after that: twice as
many examples of each property as there are seconds. Of a part that fails the whole output is
printed and kept in `target/fuzz/failures/TARGET/seed-SEED-TIME.txt`.

Exit status: 0 nothing failed, 1 an input failed, 2 the targets do not build.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATE = ROOT / "crates" / "ackclock-fuzz"
WORK = ROOT / "target" / "fuzz"
TRIPLE = "x86_64-unknown-linux-gnu"
#: LLVM's coverage instrumentation, by flags that stable compilers have.
COVERAGE = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
]
#: Bytes of an input, and its share of the time.
TARGETS = {
    "controls": (400, 4),
    "queues": (400, 4),
    "transfers": (300, 3),
    "fluids": (200, 3),
    "documents": (2000, 2),
    "scenarios": (400, 3),
    "engines": (120, 3),
    "limits": (300, 4),
}
#: The formats that Python reads and writes; by number of examples, not by time.
FORMATS = "formats"
#: Longest time of one input [s], by the wall clock: a machine that does much else is slow.
LONGEST_S = 600


@dataclass(frozen=True)
class Count:
    """What became of one target."""

    inputs: int
    failure: Path | None


def build() -> Path | None:
    """Build the instrumented program and return its path; None if it does not build."""
    done = subprocess.run(
        [
            *("cargo", "build", "--locked", "--profile", "fuzz", "--target", TRIPLE),
            *("-p", "ackclock-fuzz", "--features", "libfuzzer", "--target-dir", str(WORK)),
            *("--message-format", "json-render-diagnostics"),
        ],
        cwd=ROOT,
        env=os.environ | {"CARGO_ENCODED_RUSTFLAGS": "\x1f".join(COVERAGE)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    programs = [json.loads(line).get("executable") for line in done.stdout.splitlines()]
    found = [Path(program) for program in programs if program]
    return found[-1] if done.returncode == 0 and found else None


def fuzz(program: Path, target: str, seconds: float, seed: int) -> Count:
    """Run one target for so many seconds."""
    length, _ = TARGETS[target]
    grown, failures = WORK / "corpus" / target, WORK / "failures" / target
    for folder in (grown, failures):
        folder.mkdir(parents=True, exist_ok=True)
    options = {
        "max_total_time": max(1, round(seconds)),
        "max_len": length,
        "len_control": 20,
        "timeout": LONGEST_S,
        "rss_limit_mb": 3000,
        "seed": seed,
        "print_final_stats": 1,
        "verbosity": 1,
        "artifact_prefix": f"{failures}/",
    }
    done = subprocess.run(
        [
            str(program),
            *(f"-{name}={value}" for name, value in options.items()),
            *(str(folder) for folder in (grown, CRATE / "corpus" / target)),
        ],
        env=os.environ | {"ACKCLOCK_FUZZ_TARGET": target, "RUST_BACKTRACE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    number = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stdout)
    seen = re.findall(r"^#(\d+)", done.stdout, re.MULTILINE)
    inputs = int(number[1]) if number else max((int(n) for n in seen), default=0)
    if done.returncode == 0:
        return Count(inputs, None)
    wrote = re.search(r"Test unit written to (\S+)", done.stdout)
    text = report(target, seed, done)
    return Count(inputs, Path(wrote[1]) if wrote else text)


def report(target: str, seed: int, done: subprocess.CompletedProcess[str]) -> Path:
    """Print the output of a target that failed, and keep it in a separate file."""
    folder = WORK / "failures" / target
    folder.mkdir(parents=True, exist_ok=True)
    text = f"{done.stdout}\n{target}, seed {seed}: exit status {done.returncode}\n"
    file = folder / f"seed-{seed}-{time.time_ns()}.txt"
    file.write_text(text, encoding="utf-8")
    print(text, file=sys.stderr)
    return file


def fuzz_formats(examples: int, seed: int) -> Count:
    """Give each property of the formats of files so many examples."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "--hypothesis-show-statistics"),
            *("tests/fuzz", "tests/captures/test_fuzzed_captures.py"),
            # The profile of `make test` draws the same examples whatever the seed.
            *("--hypothesis-profile=random", f"--hypothesis-seed={seed}"),
        ],
        cwd=ROOT,
        env=os.environ | {"ACKCLOCK_FUZZ_EXAMPLES": str(examples), "ACKCLOCK_FUZZ_SEED": str(seed)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    counts = re.findall(r"(\d+) (?:passing|failing|invalid)", done.stdout)
    if done.returncode == 0:
        return Count(sum(map(int, counts)), None)
    return Count(sum(map(int, counts)), report(FORMATS, seed, done))


def main() -> int:
    """Build, fuzz, report; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600, help="time of all targets together")
    parser.add_argument("--target", action="append", choices=[*TARGETS, FORMATS], help="only these")
    parser.add_argument("--seed", type=int, default=1, help="of libFuzzer's choices")
    given = parser.parse_args()
    chosen = given.target or [*TARGETS, FORMATS]
    program = build() if chosen != [FORMATS] else None
    if program is None and chosen != [FORMATS]:
        print("the fuzz targets do not build", file=sys.stderr)
        return 2
    shares = sum(TARGETS[target][1] for target in chosen if target != FORMATS)
    failed, total = False, 0
    for target in chosen:
        if target == FORMATS or program is None:
            count = fuzz_formats(max(100, round(2 * given.seconds)), given.seed)
        else:
            count = fuzz(program, target, given.seconds * TARGETS[target][1] / shares, given.seed)
        total += count.inputs
        failed = failed or count.failure is not None
        verdict = "0 failures" if count.failure is None else f"failed on {count.failure}"
        print(f"{target:10} {count.inputs:>10} inputs, {verdict}", flush=True)
    print(f"{'all':10} {total:>10} inputs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
