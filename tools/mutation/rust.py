"""Tests mutants of the Rust core: all in one build, each by the tests of its room."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Any

from mutation import Fate, UnmeasuredError
from mutation.schemata import (
    MODULE,
    VARIABLE,
    Mutant,
    Placed,
    changed_line,
    mutants_of,
    with_mutants,
)

__all__ = ["ROOMS", "rust"]

ROOT = Path(__file__).resolve().parents[2]
FACE = "core"
"""The crate whose tests in files run what the others are together."""

ROOMS: dict[str, dict[str, list[str]]] = {
    "cc": {"controls": ["cc::"], "transport": ["tcp::"]},
    "recovery": {"controls": ["recovery::"], "transport": ["tcp::"]},
    "slow_start": {"controls": ["slow_start::"], "transport": ["tcp::"]},
    "scoreboard": {"controls": ["scoreboard::", "recovery::"], "transport": ["tcp::"]},
    "tcp": {"transport": ["tcp::"]},
    "quic": {"transport": ["quic::"]},
    "packet": {"packet": ["packet::"]},
    "impairment": {"queues": ["impairment::"]},
    "traffic": {"transport": ["traffic::"]},
    "qdisc": {"queues": ["qdisc::"]},
    "fluid": {"fluid": []},
    "sharing": {"fluid": ["fluid::", "sharing::"]},
    "policy": {"fluid": ["fluid::", "policy::"]},
}
"""Rooms of the core that are mutated, and for each the unit tests that run first, by crate; its own
crate comes first."""

CRATES = (
    "base",
    "endpoint",
    "scenario",
    "controls",
    "queues",
    "fluid",
    "transport",
    "packet",
    FACE,
)
"""The crates of the core, lowest first, without `ackclock-`."""

COPY = ROOT / "target/mutants"
"""Where the source with mutants is."""

BUILT = ROOT / "target/of-mutants"
"""Where it is built, not in the folder of the checkout: to Cargo both sources are one package, so
that it would take the mutants' build for the checkout's, and tests would run on old code."""

LEAST_OF_ROOM = 3
"""Mutants of each room in the sample at least."""

MOST_BYTES = 8 << 30
CPU_FACTOR, CPU_MORE_S = 10, 30
"""A mutant fails that needs so many times the CPU time of the tests without it, and more."""


def _listed() -> list[Mutant]:
    if shutil.which("cargo-mutants") is None:
        raise UnmeasuredError("cargo-mutants is missing: cargo install cargo-mutants --locked")
    command = ["cargo", "mutants", "--list", "--json", "--no-config", *_packages()]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return sorted(mutants_of(json.loads(done.stdout)))


def _packages() -> list[str]:
    return [part for crate in CRATES for part in ("-p", f"ackclock-{crate}")]


def _folder(crate: str) -> str:
    return f"crates/ackclock-{crate}"


def _room(file: str) -> str:
    """Name the room of a file: what is below `src` of its crate."""
    return file.split("/")[3].removesuffix(".rs")


def _sample(every: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Draw from each room as its part of all mutants, and some from the small ones."""
    rooms: dict[str, list[Mutant]] = {room: [] for room in ROOMS}
    for mutant in every:
        if _room(mutant.file) in rooms:
            rooms[_room(mutant.file)].append(mutant)
    total = sum(map(len, rooms.values()))
    draw = random.Random(seed)
    sample = []
    for of in rooms.values():
        wanted = max(LEAST_OF_ROOM, round(count * len(of) / total))
        sample += draw.sample(of, min(wanted, len(of)))
    return sample


class _Build:
    """A copy of the checkout with mutants in it."""

    def __init__(self, folder: Path, sample: list[Mutant]) -> None:
        self.folder = folder
        self.mutants = dict(enumerate(sample, 1))
        self.wrong: set[int] = set()
        self.left: set[int] = set()
        files = subprocess.run(
            ["git", "ls-files", "-z", "Cargo.*", "crates", "examples", "docs"],
            cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
        ).stdout.split("\0")  # fmt: skip
        for name in filter(None, files):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, folder / name)
        names = {mutant.file for mutant in sample}
        self.texts = {name: (folder / name).read_text(encoding="utf-8") for name in names}
        for crate in {next(iter(tests)) for tests in ROOMS.values()}:
            source = folder / _folder(crate) / "src"
            (source / "mutant.rs").write_text(MODULE, encoding="utf-8")
            top = source / "lib.rs"
            top.write_text(top.read_text() + "\nmod mutant;\n", encoding="utf-8")

    def name(self, number: int) -> str:
        """Name a mutant, with the line that it changes."""
        mutant = self.mutants[number]
        return f"{mutant.name}: {changed_line(self.texts[mutant.file], mutant)}"

    def _write(self) -> dict[str, list[Placed]]:
        placed = {}
        for file in sorted({mutant.file for mutant in self.mutants.values()}):
            of = {n: m for n, m in self.mutants.items() if m.file == file and n not in self.wrong}
            made, placed[file], left = with_mutants(self.texts[file], of)
            self.left |= {*left}
            (self.folder / file).write_text(made, encoding="utf-8")
        return placed

    def _cargo(self, *arguments: str) -> tuple[bool, list[dict[str, Any]]]:
        done = subprocess.run(
            ["cargo", "test", "--no-run", "--message-format", "json", *arguments],
            cwd=self.folder,
            env=os.environ | {"CARGO_TARGET_DIR": str(BUILT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return done.returncode == 0, messages

    def unit_tests(self) -> dict[str, str]:
        """Build the unit tests, without the mutants that do not compile; programs by crate."""
        while True:
            placed = self._write()
            good, messages = self._cargo("--lib", *_packages())
            if good:
                return dict(self._programs(messages))
            errors = [m["message"] for m in messages if m["reason"] == "compiler-message"]
            errors = [error for error in errors if error["level"] == "error"]
            spans = [span for error in errors for span in error["spans"] if span["is_primary"]]
            found = {
                place.number
                for span in spans
                for place in placed.get(span["file_name"], [])
                if place.first <= span["line_start"] <= place.last
            }
            if not found:
                raise UnmeasuredError("\n".join(e["rendered"] for e in errors) or "no build")
            self.wrong |= found

    def other_tests(self) -> list[str]:
        """Build the tests in files of the crate besides; the programs."""
        good, messages = self._cargo("--tests", "-p", f"ackclock-{FACE}")
        if not good:
            raise UnmeasuredError("the tests with mutants do not build")
        tests = [m for m in messages if m.get("target", {}).get("kind") == ["test"]]
        return [program for _, program in self._programs(tests)]

    def _programs(self, messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
        """Give the programs that were built, each with the crate, or the file, that it tests."""
        built = [m for m in messages if m.get("executable") and m.get("profile", {}).get("test")]
        name = "ackclock_"
        return [(m["target"]["name"].removeprefix(name), str(m["executable"])) for m in built]


def _run(
    program: str, filters: list[str], number: int, limit_s: float, crate: str
) -> tuple[bool, float]:
    """Run tests of a crate on a mutant, 0 for none; whether all passed, and the CPU time [s]."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit_s) + 1, int(limit_s) + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [program, "-q", *filters],
        cwd=ROOT / _folder(crate),
        env=os.environ | {VARIABLE: str(number), "PROPTEST_RNG_SEED": "1", "RUST_BACKTRACE": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=limit,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.returncode == 0, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class _Tests:
    """Test programs, and the CPU time that they need without mutants."""

    def __init__(self, build: _Build) -> None:
        self._build = build
        self._unit = build.unit_tests()
        self._needed: dict[tuple[str, ...], float] = {}

    def _passes(self, program: str, filters: list[str], number: int, crate: str) -> bool:
        key = (program, *filters)
        if key not in self._needed:
            passed, self._needed[key] = _run(program, filters, 0, 3600, crate)
            if not passed:
                message = f"{program} {' '.join(filters)} fails without a mutant"
                raise UnmeasuredError(message)
        limit_s = CPU_FACTOR * self._needed[key] + CPU_MORE_S
        return _run(program, filters, number, limit_s, crate)[0]

    def passes_room(self, mutant: Mutant, number: int) -> bool:
        """Say whether the unit tests of its room pass on a mutant."""
        tests = ROOMS[_room(mutant.file)].items()
        return all(self._passes(self._unit[c], filters, number, c) for c, filters in tests)

    @cached_property
    def _all(self) -> list[tuple[str, str]]:
        others = [(FACE, program) for program in self._build.other_tests()]
        return [*self._unit.items(), *others]

    def passes_all(self, number: int) -> bool:
        """Say whether all tests pass on a mutant."""
        return all(self._passes(program, [], number, crate) for crate, program in self._all)


def rust(count: int, seed: int) -> list[Fate]:
    """Test mutants of the core.

    Mutants are those of cargo-mutants within functions that are neither ``const`` nor return an
    ``impl Trait``. Each is tested by the unit tests of its room; what these do not notice by all
    tests of the core that run without reference data.

    Parameters
    ----------
    count, seed
        The sample.
    """
    sample = _sample(_listed(), count, seed)
    outcomes: dict[int, str] = {}
    shutil.rmtree(COPY, ignore_errors=True)
    build = _Build(COPY, sample)
    tests = _Tests(build)
    for number, mutant in build.mutants.items():
        if number in build.wrong:
            outcomes[number] = "no mutant"
        elif number not in build.left:
            passes = tests.passes_room(mutant, number)
            outcomes[number] = "survived" if passes else "killed"
            print(f"{number:3} {outcomes[number]:9} {mutant.name}", file=sys.stderr, flush=True)
    for number in [n for n, outcome in outcomes.items() if outcome == "survived"]:
        outcomes[number] = "survived" if tests.passes_all(number) else "killed"
    if build.left:
        print(f"rust: {len(build.left)} of the sample are in functions that cannot have them")
    fates = [Fate(build.name(number), outcome) for number, outcome in outcomes.items()]
    rooms = Counter(_room(name) for name, _ in fates)
    print(f"rust: {', '.join(f'{n} of {room}' for room, n in sorted(rooms.items()))}")
    return fates
