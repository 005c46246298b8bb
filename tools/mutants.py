"""Measures how many small faults the tests notice: `make mutants MUTANTS="rust:9 python:9"`.

A mutant is the code with one small change, such as `<` for `<=` or a function that returns 0. Of
all mutants of some folders a sample is drawn with a fixed seed. Each is tested by the tests of its
folder. The output is the share that the tests notice ("killed"), and the survivors. Survivors that
change nothing that can be seen are listed with the reason in `tools/mutants.toml` and do not count.

Mutants of Rust are those of cargo-mutants (`cargo install cargo-mutants --locked`), all of the
sample in one build (`mutation/`); those of Python are made by Cosmic Ray, which uv fetches. Both
work on copies of the source. A mutant takes the tests of its folder: seconds, and minutes of one
core where it passes them and more tests run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from mutation.rust import Fate, rust

ROOT = Path(__file__).resolve().parent.parent
KNOWN = Path(__file__).with_suffix(".toml")
COSMIC_RAY = "cosmic-ray==8.7.0"

TIMEOUT_S = 600.0
"""Longest time that the tests of a mutant may take [s]; it is killed then."""

PYTHON = {
    "analysis": [
        "experiments/test_scores.py",
        "experiments/test_statistics.py",
        "experiments/test_congestion_measures.py",
        "studies/test_evaluate.py",
    ],
    "experiments": [
        "experiments/test_statistics.py",
        "experiments/test_sweep.py",
        "experiments/test_scores.py",
        "experiments/test_store.py",
        "experiments/test_foreign_store.py",
        "experiments/test_executors.py",
    ],
    "reproduce": [
        "reproduce/test_verdicts.py",
        "reproduce/test_draw.py",
        "reproduce/test_papers_form.py",
        "reproduce/test_foreign_papers.py",
        "reproduce/test_reproduce.py",
        "reproduce/test_forensics.py",
    ],
    "studies/evaluate_control": ["studies/test_evaluate.py"],
    "studies/evaluate_queue": ["studies/test_evaluate_queue.py"],
    "results": ["results"],
}
"""Folders of the package that are mutated, and the tests that run first for each."""

WIDER = {
    "analysis": ["experiments", "plot", "studies"],
    "experiments": ["experiments", "plot"],
    "reproduce": ["reproduce"],
    "studies/evaluate_control": ["studies", "dossier"],
    "studies/evaluate_queue": ["studies"],
    "results": ["results", "experiments", "scenario"],
}
"""The tests that run for mutants that pass those."""


def place(name: str) -> str:
    """Give a mutant's name without line and column, which every edit changes.

    Parameters
    ----------
    name
        As `path:line:column: what`.
    """
    return re.sub(r":\d+:\d+: ", ": ", name)


def python(count: int, seed: int, folder: Path) -> list[Fate]:
    """Test mutants of the package.

    Parameters
    ----------
    count, seed
        The sample: as many of each folder as its part of all mutants.
    folder
        To work in.
    """
    copy = folder / "copy"
    for name in ("python", "tests", "examples", "docs"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, copy / name)
    everything: list[tuple[str, str]] = []
    for package in PYTHON:
        everything += [(package, job) for job in _start_session(copy, package)]
    chosen = set(random.Random(seed).sample(everything, min(count, len(everything))))
    fates = []
    for package in PYTHON:
        jobs = {job for of, job in chosen if of == package}
        if jobs:
            fates += _run_session(copy, package, jobs)
    return fates


def _cosmic_ray(copy: Path, *arguments: str, check: bool = True) -> int:
    uv = ROOT / ".venv/bin/uv"
    environment = {**os.environ, "PYTHONPATH": str(copy / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(uv), "tool", "run", "--quiet", "--from", COSMIC_RAY, "cosmic-ray", *arguments]
    return subprocess.run(command, cwd=copy, env=environment, check=check).returncode


def _files(copy: Path, package: str) -> tuple[str, str]:
    name = package.replace("/", "-")
    return str(copy / f"{name}.toml"), str(copy / f"{name}.sqlite")


def _modules(copy: Path, package: str) -> list[str]:
    files = (copy / "python/ackclock" / package).rglob("*.py")
    return sorted(str(file.relative_to(copy)) for file in files)


def _start_session(copy: Path, package: str) -> list[str]:
    """Find all mutants of a folder; the names of their jobs, the same in every call."""
    config, session = _files(copy, package)
    _configure(config, _modules(copy, package), PYTHON[package])
    _cosmic_ray(copy, "init", config, session)
    query = (
        "SELECT job_id FROM mutation_specs ORDER BY module_path, start_pos_row, start_pos_col,"
        " operator_name, operator_args, occurrence"
    )
    with sqlite3.connect(session) as database:
        return [str(row[0]) for row in database.execute(query)]


def _configure(config: str, modules: list[str], tests: list[str]) -> None:
    test = f"{ROOT / '.venv/bin/python'} -m pytest -q -x -m 'not slow' -p no:cacheprovider"
    # Sequential: a mutant is a change of a file, and tests would see each other's.
    text = {
        "module-path": modules,
        "timeout": TIMEOUT_S,
        "excluded-modules": [],
        "test-command": f"{test} {' '.join(f'tests/{name}' for name in tests)}",
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in text.items()]
    lines = ["[cosmic-ray]", *lines, "[cosmic-ray.distributor]", 'name = "local"']
    Path(config).write_text("\n".join(lines) + "\n")


def _run_tests(copy: Path, config: str, session: str) -> None:
    """Run the configured tests without a mutant, which they have to pass, and with each."""
    if _cosmic_ray(copy, "baseline", config, check=False) != 0:
        sys.exit(f"the tests fail without a mutant: {Path(config).read_text()}")
    _cosmic_ray(copy, "exec", config, session)


def _run_session(copy: Path, package: str, jobs: set[str]) -> list[Fate]:
    config, session = _files(copy, package)
    with sqlite3.connect(session) as database:
        every = [str(row[0]) for row in database.execute("SELECT job_id FROM work_items")]
        rest = [(job,) for job in every if job not in jobs]
        skip = "INSERT INTO work_results (worker_outcome, job_id) VALUES ('SKIPPED', ?)"
        database.executemany(skip, rest)
    _run_tests(copy, config, session)
    with sqlite3.connect(session) as database:
        passed = "DELETE FROM work_results WHERE test_outcome = 'SURVIVED'"
        survived = database.execute(passed).rowcount
    if survived:
        _configure(config, _modules(copy, package), WIDER[package])
        _run_tests(copy, config, session)
    query = (
        "SELECT module_path, start_pos_row, start_pos_col, operator_name, definition_name,"
        " test_outcome, worker_outcome FROM mutation_specs JOIN work_results USING (job_id)"
    )
    fates = []
    with sqlite3.connect(session) as database:
        for path, row, column, operator, where, outcome, worker in database.execute(query):
            if worker == "SKIPPED":
                continue
            what = f"{operator.removeprefix('core/')} in {where or 'the module'}"
            fate = {"SURVIVED": "survived", "INCOMPETENT": "no mutant"}.get(outcome, "killed")
            fates.append(Fate(f"{path}:{row}:{column}: {what}", fate))
    return fates


def report(language: str, fates: list[Fate]) -> None:
    """Print the share that is killed, and the survivors.

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


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("sample", nargs="*", default=["rust:40", "python:120"],
                        help="language:count; default rust:40 python:120")  # fmt: skip
    parser.add_argument("--seed", type=int, default=1, help="of the sample; default 1")
    given = parser.parse_args()
    for entry in given.sample:
        language, _, count = entry.partition(":")
        if language not in {"rust", "python"} or not count.isdigit():
            parser.error(f'"{entry}" is not a sample; expected rust:COUNT or python:COUNT')
        if language == "rust":
            fates = rust(int(count), given.seed)
        else:
            with tempfile.TemporaryDirectory() as folder:
                fates = python(int(count), given.seed, Path(folder))
        report(language, fates)


if __name__ == "__main__":
    main()
