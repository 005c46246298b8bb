"""Measures how many small faults the tests notice: `make mutants MUTANTS="rust:9 python:9"`.

A mutant is the code with one small change, such as `<` for `<=` or a function that returns 0. Of
all mutants of some folders a sample is drawn with a fixed seed. Each is tested by the tests of its
folder. The output is the share that the tests notice ("killed"), and the survivors. Survivors that
change nothing that can be seen are listed with the reason in `tools/mutants.toml` and do not count.

Mutants of Rust are those of cargo-mutants (`cargo install cargo-mutants --locked`), all of the
sample in one build (`mutation/`); those of Python are made by Cosmic Ray, which uv fetches, within
what a run evaluates: not in annotations. Both work on copies of the source. A mutant takes the
tests of its folder: seconds, and minutes of one core where it passes them and more tests run.

Exit status: 0 if at least 90 % of each language are killed, 1 if fewer, 2 if it cannot be measured.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from mutation import Fate, UnmeasuredError
from mutation.python import python
from mutation.rust import rust

KNOWN = Path(__file__).with_suffix(".toml")

REQUIRED = 0.9
"""Share of the mutants that tests are to notice."""


def place(name: str) -> str:
    """Give a mutant's name without line and column, which every edit changes.

    Parameters
    ----------
    name
        As `path:line:column: what: the changed line`.
    """
    return re.sub(r":\d+:\d+: ", ": ", name)


def report(language: str, fates: list[Fate]) -> bool:
    """Print the share that is killed, and the survivors; say whether it is as large as required.

    Parameters
    ----------
    language
        Heading.
    fates
        Of the sample.
    """
    known = {entry["name"]: entry["reason"] for entry in tomllib.loads(KNOWN.read_text())["mutant"]}
    viable = [fate for fate in fates if fate.outcome != "no mutant"]
    survivors = [fate.name for fate in viable if fate.outcome == "survived"]
    same = [name for name in survivors if place(name) in known]
    tried, killed = len(viable) - len(same), len(viable) - len(survivors)
    share = f"{100 * killed / tried:.0f} %" if tried else "none"
    print(f"{language}: {killed} of {tried} mutants killed ({share});", end=" ")
    print(f"{len(fates) - len(viable)} are no programs, {len(same)} are equivalent")
    for name in survivors:
        reason = known.get(place(name))
        print(f"  survived: {name}" + (f" (equivalent: {reason})" if reason else ""))
    return killed >= REQUIRED * tried


def main() -> int:
    """Run from the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("sample", nargs="*", default=["rust:40", "python:120"],
                        help="language:count; default rust:40 python:120")  # fmt: skip
    parser.add_argument("--seed", type=int, default=1, help="of the sample; default 1")
    parser.add_argument("--quick", action="store_true", help="Python: by the first tests only")
    given = parser.parse_args()
    wanted = [entry.partition(":") for entry in given.sample]
    for (language, _, count), entry in zip(wanted, given.sample, strict=True):
        if language not in {"rust", "python"} or not count.isdigit():
            parser.error(f'"{entry}" is not a sample; expected rust:COUNT or python:COUNT')
    enough = True
    for language, _, count in wanted:
        try:
            if language == "rust":
                fates = rust(int(count), given.seed)
            else:
                fates = python(int(count), given.seed, quick=given.quick)
        except (UnmeasuredError, subprocess.CalledProcessError) as error:
            print(f"{language}: {error}", file=sys.stderr)
            return 2
        enough &= report(language, fates)
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
