"""Dry runs beside what the run then takes: CPU seconds of whole commands, Python's share included.

Each profile is predicted for CUBIC with a folder written, each paper for its fast tier; then it is
run, and once more with all runs stored, which is what tables, verdicts and figures take. Minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ACKCLOCK = Path(sys.executable).with_name("ackclock")
PROFILES, PAPERS = ["quick", "prudentia", "rmcat", "rfc9743"], ["example", "c4", "fast2013"]


def run(words: list[str], folder: Path) -> tuple[float, str]:
    """Run a command; CPU seconds of it and its workers, and what it printed."""
    environment = {**os.environ, "ACKCLOCK_STORE": str(folder / "store")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [str(ACKCLOCK), *words], check=True, env=environment, stdout=subprocess.PIPE, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu_s, done.stdout


def measure(words: list[str]) -> str:
    """A row of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [*words, "--quiet", "--out", str(folder / "out")]
        dry_s, text = run([*command, "--dry-run", "--json"], folder)
        rows = json.loads(text)
        least, most = (sum(row[key] for row in rows) for key in ("cpu_s", "most_cpu_s"))
        rest = next(row["cpu_s"] for row in rows if not row["runs"])
        first_s, _ = run(command, folder)
        again_s, _ = run(command, folder)
    cells = (f"{least:.3g} to {most:.3g}", f"{first_s:.3g}", f"{rest:.3g}", f"{again_s:.3g}")
    return f"| `{' '.join(words)}` | {dry_s:.2g} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="profiles and papers; left out: those of the page")
    names = parser.parse_args().names or [*PROFILES, *PAPERS]
    print("| command | dry run | predicted | took | predicted without runs | took, all stored |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in names:
        is_profile = name in PROFILES
        words = ["evaluate", "cubic", "--profile", name] if is_profile else ["reproduce", name]
        print(measure(words), flush=True)


if __name__ == "__main__":
    main()
