"""Tests mutants of the package: each by the tests that call its function, then by more.

Which tests call it is found by a run of all tests of its folder that notes calls, which takes some
times as long as the tests. A folder with few mutants in the sample does without: they take the
tests of the folder, those whose files name the module first, and what kills a mutant must pass
without it.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple, Self

from mutation import Fate, UnmeasuredError
from mutation.annotations import annotated

__all__ = ["python"]

ROOT = Path(__file__).resolve().parents[2]
COSMIC_RAY = "cosmic-ray==8.7.0"

KEPT = ROOT / "target/mutants-python"
"""Lists of all mutants of a folder, as long as its source is the same: they take minutes."""

CPU_FACTOR, CPU_MORE_S = 10, 30
"""A mutant fails that needs so many times the time of its tests, and more CPU time."""
FEW = 4
"""Mutants of a folder up to which calls are not noted."""
FEW_CPU_S = 60.0
"""CPU time that tests of a folder take, where that was not measured [s]."""
WALL_S = 3600.0
"""A mutant fails whose tests wait so long [s]; no busy machine does."""

PYTHON = {
    "analysis": ["experiments/test_scores.py", "experiments/test_congestion_measures.py"],
    "experiments": [
        "experiments/test_statistics.py",
        "experiments/test_plans.py",
        "experiments/test_metrics.py",
        "experiments/test_executor_parts.py",
        "experiments/test_store_parts.py",
        "experiments/test_sweep.py",
        "experiments/test_foreign_store.py",
        "experiments/test_store.py",
    ],
    "reproduce": [
        "reproduce/test_verdicts.py",
        "reproduce/test_verdict_texts.py",
        "reproduce/test_search_parts.py",
        "reproduce/test_paper_faults.py",
        "reproduce/test_pages_by_hand.py",
        "reproduce/test_draw.py",
        "reproduce/test_papers_form.py",
        "reproduce/test_standings.py",
        "reproduce/test_foreign_papers.py",
        "reproduce/test_reports.py",
        "reproduce/test_reproduce.py",
    ],
    "dossier": ["dossier/test_dossier.py", "dossier/test_dossier_audits.py"],
    "peers": ["peers/test_end.py", "peers/test_emulate.py", "peers/test_export.py"],
    "engines/hybrid": ["engines/hybrid/test_hybrid.py", "engines/hybrid/test_pairs.py"],
    "studies/evaluate_control": ["studies/test_evaluate_judgement.py"],
    "studies/evaluate_queue": ["studies/test_evaluate_queue.py"],
    "studies/planner": [
        "studies/test_planner_resume.py",
        "studies/test_planner_flows.py",
        "studies/test_planner_paths.py",
        "studies/test_planner.py",
    ],
    "studies/twin": ["studies/test_twin.py"],
    "results": [
        "results/test_run_text.py",
        "results/test_capture_bytes.py",
        "results/test_summaries.py",
        "results/test_formats.py",
        "results/test_table_files.py",
        "results/test_engine_run.py",
    ],
}
"""Folders of the package that are mutated, and the tests that run first for each."""

WIDER = {
    "analysis": ["experiments", "plot", "studies/test_evaluate.py"],
    "experiments": ["packaging/test_data_classes.py", "experiments", "plot"],
    "reproduce": ["packaging/test_data_classes.py", "reproduce"],
    "dossier": ["packaging/test_data_classes.py", "dossier"],
    "peers": ["packaging/test_data_classes.py"],
    "engines/hybrid": ["packaging/test_data_classes.py"],
    "studies/planner": ["packaging/test_data_classes.py"],
    "studies/twin": ["packaging/test_data_classes.py"],
    "studies/evaluate_control": [
        "packaging/test_data_classes.py",
        "studies/test_evaluate.py",
        "dossier",
    ],
    "studies/evaluate_queue": ["packaging/test_data_classes.py"],
    "results": ["packaging/test_data_classes.py", "results", "experiments", "scenario"],
}
"""The tests that run for mutants that pass those."""


class _Place(NamedTuple):
    """A mutant before it is made: its job, and where in the package it is."""

    package: str
    job: str
    module: str
    row: int
    column: int
    operator: str
    arguments: dict[str, Any]
    occurrence: int
    definition: str


class _Server:
    """A process that has the libraries and runs tests in forks of it."""

    def __init__(self, copy: Path) -> None:
        self._copy = copy

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory()
        pipe = Path(self._folder.name) / "answers"
        os.mkfifo(pipe)
        self._process = subprocess.Popen(
            [ROOT / ".venv/bin/python", Path(__file__).with_name("server.py"), pipe],
            cwd=self._copy,
            env={
                **os.environ,
                "PYTHONPATH": str(self._copy / "python"),
                "PYTHONDONTWRITEBYTECODE": "1",
                "MPLBACKEND": "agg",
            },
            stdin=subprocess.PIPE,
            text=True,
        )
        self._answers = pipe.open(encoding="utf-8")
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._answers.close()
        self._folder.cleanup()

    def run(
        self,
        tests: list[str],
        *,
        calls: bool = False,
        collect: bool = False,
        usual_s: float = WALL_S,
    ) -> dict[str, Any]:
        """Run tests that usually take so long."""
        assert self._process.stdin is not None
        wanted = {
            "tests": tests,
            "calls": calls,
            "collect": collect,
            "cpu_s": CPU_FACTOR * usual_s + CPU_MORE_S,
            "wall_s": WALL_S,
        }
        print(json.dumps(wanted), file=self._process.stdin, flush=True)
        answer = self._answers.readline()
        if not answer:
            raise UnmeasuredError("the process that runs tests has ended")
        found: dict[str, Any] = json.loads(answer)
        return found


class _Tests:
    """Tests of a folder, with what each calls."""

    def __init__(self, server: _Server, copy: Path, package: str, mutants: int) -> None:
        self._server = server
        self._copy = copy
        self._package = package
        self._calls: dict[str, Any] = {}
        self._killers: set[str] = set()
        self.seconds = FEW_CPU_S
        if mutants > FEW:
            self._note_calls()
        elif not server.run([f"tests/{name}" for name in PYTHON[package]], collect=True)["passed"]:
            message = f"tests of {package} cannot be read: {' '.join(PYTHON[package])}"
            raise UnmeasuredError(message)

    def _note_calls(self) -> None:
        package, server = self._package, self._server
        started = time.monotonic()
        found = server.run([f"tests/{name}" for name in PYTHON[package]], calls=True)
        self.seconds = time.monotonic() - started
        if not found["passed"]:
            message = f"tests of {package} fail without a mutant: {' '.join(PYTHON[package])}"
            raise UnmeasuredError(message)
        self._calls = found["calls"]

    def _calling(self, place: _Place, text: str) -> list[str]:
        """Tests that call the function of a mutant, or any of its module if it is in none.

        Files that take least are first.
        """
        first, last = _function(text, place.row) or (1, len(text))
        file = str(self._copy / place.module)
        chosen = [
            test
            for test, (_, calls) in self._calls.items()
            if any(at == file and first <= line <= last for at, line in calls)
        ]
        cost: dict[str, float] = {}
        for test in chosen:
            name = test.partition("::")[0]
            cost[name] = cost.get(name, 0.0) + self._calls[test][0]
        return sorted(chosen, key=lambda test: cost[test.partition("::")[0]])

    def pass_first(self, place: _Place, text: str) -> bool:
        """Say whether the tests that call its function, or all, pass on a mutant that is there."""
        chosen = self._calling(place, text)
        if not chosen:
            word = re.compile(rf"\b{Path(place.module).stem}\b")
            names = [f"tests/{name}" for name in PYTHON[self._package]]
            names.sort(key=lambda name: not word.search((self._copy / name).read_text("utf-8")))
            return self._passed(names, self.seconds)
        return self._passed(chosen, sum(self._calls[test][0] for test in chosen))

    def pass_wider(self) -> bool:
        """Say whether more tests pass, which see it where its result is used."""
        names = dict.fromkeys((*PYTHON[self._package], *WIDER[self._package]))
        return self._passed([f"tests/{name}" for name in names], WALL_S)

    def _passed(self, tests: list[str], usual_s: float) -> bool:
        found = self._server.run(tests, usual_s=usual_s)
        if found["failed"]:
            self._killers.add(found["failed"])
        return bool(found["passed"])

    def check_killers(self) -> None:
        """Fail if a test that killed a mutant fails without one."""
        if self._killers and not self._server.run(sorted(self._killers))["passed"]:
            names = " ".join(sorted(self._killers))
            raise UnmeasuredError(f"of these tests some fail without a mutant: {names}")


def _function(text: str, row: int) -> tuple[int, int] | None:
    """Lines of the innermost function at a line; None if it is in none."""
    found = None
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            last = node.end_lineno or node.lineno
            # What is evaluated with the head of a function belongs to its module or class.
            if node.body[0].lineno <= row <= last and (found is None or first > found[0]):
                found = first, last
    return found


def python(count: int, seed: int, *, quick: bool = False) -> list[Fate]:
    """Test mutants of the package.

    Parameters
    ----------
    count, seed
        The sample: of the mutants of all folders together.
    quick
        Only by the tests that run first.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("python", "tests", "examples", "docs"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, copy / name, ignore=ignored)
        for name in ("pyproject.toml", "README.md", "CHANGELOG.md"):
            shutil.copy(ROOT / name, copy / name)
        every = [place for package in PYTHON for place in _places(copy, package)]
        sample = random.Random(seed).sample(every, min(count, len(every)))
        sample.sort(key=every.index)
        fates = []
        with _Server(copy) as server:
            tests: dict[str, _Tests] = {}
            for place, text in zip(sample, _texts(copy, sample), strict=True):
                if place.package not in tests:
                    mutants = sum(other.package == place.package for other in sample)
                    tests[place.package] = _Tests(server, copy, place.package, mutants)
                fates.append(_fate(copy, place, text, tests[place.package], quick=quick))
                print(f"{fates[-1].outcome:9} {fates[-1].name}", file=sys.stderr, flush=True)
            for of_folder in tests.values():
                of_folder.check_killers()
    return fates


def _fate(copy: Path, place: _Place, text: str | None, tests: _Tests, *, quick: bool) -> Fate:
    file = copy / place.module
    before = file.read_text(encoding="utf-8")
    what = f"{place.operator.removeprefix('core/')} in {place.definition or 'the module'}"
    name = f"{place.module}:{place.row}:{place.column}: {what}: {_changed(before, text or '')}"
    try:
        compile(text or "(", place.module, "exec")
    except SyntaxError:
        return Fate(name, "no mutant")
    try:
        file.write_text(text or "", encoding="utf-8")
        passes = tests.pass_first(place, before) and (quick or tests.pass_wider())
    finally:
        file.write_text(before, encoding="utf-8")
    return Fate(name, "survived" if passes else "killed")


def _changed(before: str, after: str) -> str:
    """The lines of a text that are others than before."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return " ".join(line.strip() for line in new) or "the line is gone"


def _environment() -> list[str]:
    uv = ROOT / ".venv/bin/uv"
    if not uv.is_file():
        raise UnmeasuredError("uv is missing, which fetches Cosmic Ray: make setup")
    return [str(uv), "run", "--quiet", "--no-project", "--with", COSMIC_RAY]


def _places(copy: Path, package: str) -> list[_Place]:
    """Find all mutants of a folder, in the same order in every call."""
    modules = sorted(
        str(file.relative_to(copy)) for file in (copy / "python/ackclock" / package).rglob("*.py")
    )
    found = hashlib.sha256(COSMIC_RAY.encode())
    for module in modules:
        found.update(f"\0{module}\0".encode() + (copy / module).read_bytes())
    kept = KEPT / f"{found.hexdigest()}.sqlite"
    if not kept.is_file():
        KEPT.mkdir(parents=True, exist_ok=True)
        config, session = str(copy / "session.toml"), copy / "session.sqlite"
        # Cosmic Ray requires a command, which is not used here.
        Path(config).write_text(
            f"[cosmic-ray]\nmodule-path = {json.dumps(modules)}\ntimeout = 1.0\n"
            'excluded-modules = []\ntest-command = "false"\n'
            '[cosmic-ray.distributor]\nname = "local"\n'
        )
        command = [*_environment(), "cosmic-ray", "init", config, str(session)]
        subprocess.run(command, cwd=copy, check=True)
        shutil.move(session, kept)
    columns = (
        "job_id, module_path, start_pos_row, start_pos_col, operator_name, operator_args,"
        " occurrence, definition_name"
    )
    order = "module_path, start_pos_row, start_pos_col, operator_name, operator_args, occurrence"
    with sqlite3.connect(kept) as base:
        rows = base.execute(f"SELECT {columns} FROM mutation_specs ORDER BY {order}").fetchall()
    left = {module: annotated((copy / module).read_text(encoding="utf-8")) for module in modules}
    return [
        _Place(package, job, module, row, column, name, _arguments(given), number, within)
        for job, module, row, column, name, given, number, within in rows
        if not any(begin <= (row, column) < end for begin, end in left[module])
    ]


def _arguments(given: str | None) -> dict[str, Any]:
    """Arguments of an operator, which Cosmic Ray keeps as JSON of JSON."""
    found = json.loads(given or "{}")
    return dict(json.loads(found) if isinstance(found, str) else found)


def _texts(copy: Path, sample: list[_Place]) -> list[str | None]:
    """Make the mutants: texts of their modules."""
    wanted = [[at.module, at.operator, at.arguments, at.occurrence] for at in sample]
    done = subprocess.run(
        [*_environment(), "python", str(Path(__file__).with_name("apply.py"))],
        cwd=copy,
        input=json.dumps(wanted),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    texts: list[str | None] = json.loads(done.stdout)
    return texts
