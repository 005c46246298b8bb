"""Count the instructions of fixed scenarios and compare them with instructions.toml.

Times on a shared machine differ by a tenth from run to run, instruction counts by a thousandth. A
count that grew by more than the tolerance fails the check. So does one that shrank as much: the
stored count is then out of date and would hide the next loss. Each scenario's outcome is compared
too, so that a fast run with wrong results is no success. A packet-hop of paced flows of BBR may
cost at most so many times one of CUBIC (PACED). Another compiler makes other counts: with one that
is not the stored one, counts are printed and only outcomes are checked.

Exit status: 0 all agree, 1 something differs, 2 wrong use, 3 valgrind is not there.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import scenarios
from measure import BENCHMARKS, BenchmarkError, bench, build, hierarchy_files, measured

STORE = BENCHMARKS / "instructions.toml"
PACED = ("bbr", "cubic", 1.6)
"""A scenario, another, and how many times as much a packet-hop of the first may cost."""
OUTCOMES = ("packet_hops", "delivered_packets", "retransmits", "drops", "marks", "digest")
HEAD = """\
# Instructions of fixed scenarios under callgrind, and their outcomes. `make bench-check`
# compares; `python benchmarks/check.py --update` rewrites this file after a change that is meant.
# In a commit that changes an outcome, say why; in one that only makes things faster or slower, no
# outcome changes.

"""


def compiler() -> str:
    """Return the version of rustc."""
    done = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def instructions(
    program: Path, scenario: dict[str, Any], folder: Path, command: str = "run"
) -> tuple[int, dict[str, Any]]:
    """Run under callgrind; return the instructions of the whole process and its report."""
    file, profile = folder / "scenario.json", folder / "callgrind.out"
    file.write_text(json.dumps(scenario), encoding="utf-8")
    finished = measured(
        [
            "valgrind",
            "--tool=callgrind",
            "-q",
            f"--callgrind-out-file={profile}",
            program,
            command,
            file,
        ],
        core=None,
    )
    for line in profile.read_text(encoding="utf-8").splitlines():
        if line.startswith(("summary:", "totals:")):
            return int(line.split()[1]), json.loads(finished.output)
    raise BenchmarkError("callgrind wrote no total")


def count_all(program: Path, only: list[str]) -> dict[str, dict[str, Any]]:
    """Count every scenario."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for scenario_name, scenario in scenarios.fixed(hierarchy_files(folder)).items():
            if only and scenario_name not in only:
                continue
            print(f"counting {scenario_name} ...", file=sys.stderr)
            alone = bench(program, "run", scenario, None)
            count, report = instructions(program, scenario, folder)
            outcome = {key: alone[key] for key in OUTCOMES}
            if any(report[key] != alone[key] for key in OUTCOMES):
                msg = f"{scenario_name} ends otherwise under callgrind than alone"
                raise BenchmarkError(msg)
            found[scenario_name] = {"instructions": count, **outcome}
    return found


def write(found: dict[str, dict[str, Any]], tolerance: float) -> None:
    """Write the store."""
    lines = [HEAD + f'rustc = "{compiler()}"', f"tolerance = {tolerance}"]
    for name, entry in found.items():
        lines.append(f"\n[{name}]")
        for key, value in entry.items():
            lines.append(f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value:_}")
    STORE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"written: {STORE}")


def compare(found: dict[str, dict[str, Any]], stored: dict[str, Any]) -> bool:
    """Print the comparison; return whether everything agrees."""
    same = compiler() == stored["rustc"]
    tolerance = stored["tolerance"] if same else math.inf
    good = True
    print(f"{'scenario':16} {'stored':>15} {'now':>15} {'change':>8} {'a hop':>7}")
    for name, now in found.items():
        then = stored.get(name)
        if then is None:
            print(f"{name:16} is not in {STORE.name}")
            good = False
            continue
        change = now["instructions"] / then["instructions"] - 1
        words = [
            f"{key} was {then[key]}, is {now[key]}" for key in OUTCOMES if then[key] != now[key]
        ]
        if abs(change) > tolerance:
            words.append(
                f"{'more' if change > 0 else 'fewer'} instructions than {tolerance:.0%} allow"
            )
        good = good and not words
        print(
            f"{name:16} {then['instructions']:15,} {now['instructions']:15,} {change:+8.2%} "
            f"{now['instructions'] / now['packet_hops']:7.0f}  {'; '.join(words) or 'ok'}"
        )
    dear, plain, most = PACED
    if dear in found and plain in found:
        each = [found[name]["instructions"] / found[name]["packet_hops"] for name in (dear, plain)]
        ratio = each[0] / each[1]
        good = good and ratio <= most
        print(f"a hop of {dear} is {ratio:.2f} times one of {plain}; at most {most}")
    if not same:
        print(f"Counts are not checked: stored with {stored['rustc']}, this is {compiler()}.")
    if not good:
        print("If that is meant: python benchmarks/check.py --update, and say why in the commit.")
    return good


def main() -> int:
    """Count, then compare or store."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--update", action="store_true", help="store what is counted now")
    parser.add_argument("only", nargs="*", help="names of scenarios; all if none is given")
    options = parser.parse_args()
    if options.update and options.only:
        parser.error("--update stores all scenarios")
    if shutil.which("valgrind") is None:
        print("check: valgrind is not installed; nothing is checked", file=sys.stderr)
        return 3
    stored = tomllib.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    if not stored and not options.update:
        parser.error(f"{STORE} is missing: make it with --update")
    try:
        found = count_all(build(), options.only)
    except BenchmarkError as error:
        print(f"check: {error}", file=sys.stderr)
        return 1
    if not found:
        parser.error("there is no such scenario")
    if options.update:
        write(found, stored.get("tolerance", 0.02))
        return 0
    return 0 if compare(found, stored) else 1


if __name__ == "__main__":
    sys.exit(main())
