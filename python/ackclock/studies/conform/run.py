"""Runs a conformance suite on a control."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.errors import Problem, ScenarioError
from ackclock.studies.algorithm_argument import Subject, read_subject
from ackclock.studies.conform.draw import Shown, show
from ackclock.studies.conform.judge import (
    FAIL,
    INEXPRESSIBLE,
    PASS,
    UNDECIDED,
    ConformanceRow,
    judge,
)
from ackclock.studies.conform.page import html, junit, text
from ackclock.studies.conform.stages import Staged, merge, stage
from ackclock.studies.conform.suite import find_suite
from ackclock.studies.outcome import StudyOutcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ackclock.scenario.scenario import Scenario
    from ackclock.studies.conform.suite import ConformanceCase, Suite

__all__ = ["Conformance", "conform"]


@dataclass(frozen=True)
class Conformance(StudyOutcome):
    """What a suite found of a control. Printing it gives the table.

    Parameters
    ----------
    suite, title, source
        Name, title and source of the suite.
    control
        Name of the control.
    rows
        One a check.
    details
        What a page shows of each case; empty where that was not requested.
    beside
        Name of our control that it was measured beside; empty: none.
    unseen
        What the suite cannot show of any control.
    """

    MARKER = "conformance.json"

    suite: str
    title: str
    source: str
    control: str
    rows: tuple[ConformanceRow, ...]
    details: Mapping[str, Shown] = field(default_factory=dict, repr=False)
    beside: str = ""
    unseen: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return all(row.verdict != FAIL for row in self.rows)

    def verdicts(self) -> dict[str, str]:
        """Verdict by case: it fails if one of its checks does."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            found.setdefault(row.case, []).append(row.verdict)
        order = (FAIL, UNDECIDED, PASS, INEXPRESSIBLE)
        return {case: next(v for v in order if v in all_) for case, all_ in found.items()}

    def __str__(self) -> str:
        head = f"{self.title} ({self.source})"
        parts = [text(head, self.rows, self.verdicts(), self.answer), self.about_ours, self.unseen]
        return "\n\n".join(part for part in parts if part)

    @property
    def about_ours(self) -> str:
        """What being measured beside our control means; empty: it was not."""
        if not self.beside:
            return ""
        return (
            f"Ours: {self.beside} over our QUIC on the same path. What it fails too is undecided:"
            " the version of the algorithm or our engine may be the reason."
        )

    @property
    def answer(self) -> str:
        """The whole in one sentence."""
        cases, checks = Counter(self.verdicts().values()), Counter(r.verdict for r in self.rows)
        left = "".join(f", {cases[v]} {v}" for v in (UNDECIDED, INEXPRESSIBLE) if cases[v])
        return (
            f"{self.control}: {cases[PASS]} of {cases.total()} cases pass{left};"
            f" {checks[PASS]} of {checks.total()} checks"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, for JSON."""
        return {
            "suite": self.suite,
            "title": self.title,
            "source": self.source,
            "control": self.control,
            "beside": self.beside,
            "passed": self.passed,
            "cases": self.verdicts(),
            "checks": [row.to_dict() for row in self.rows],
        }

    def to_junit(self) -> str:
        """As JUnit XML, which services for continuous integration show: a test a case."""
        return junit(self.suite, self.control, self.rows, self.verdicts())

    def to_html(self, command: str = "") -> str:
        """As a page that needs no other file: verdicts, then each case.

        Parameters
        ----------
        command
            What the user typed.
        """
        return html(
            self.rows,
            self.verdicts(),
            self.details,
            control=self.control,
            title=self.title,
            source=self.source,
            answer=self.answer,
            command=command,
        )

    def pages(self, command: str) -> dict[str, str]:
        """The table and JUnit XML.

        Parameters
        ----------
        command
            What the user typed.
        """
        return {"table.txt": f"$ {command}\n{self}\n", "junit.xml": self.to_junit()}


def conform(
    suite: str | Suite,
    control: str,
    *,
    cases: Iterable[str] = (),
    seed: int = 1,
    workers: int | None = None,
    folder: Path | None = None,
    draw: bool = False,
    beside: str | None = None,
) -> Conformance:
    """Run a conformance suite on a control.

    Parameters
    ----------
    suite
        A suite, its name, or a folder with one.
    control
        Registry name, ``file.py:Class``, a table as ``{kind = "bbr3", beta = 0.8}``, or
        ``guest:COMMAND``. A guest is put through the suite that is in the place of this one for
        guests, if there is one.
    cases
        Numbers of cases; none: all.
    seed
        Of every run.
    workers
        Cases at a time; left out: one per core.
    folder
        What files of classes are relative to; left out: the working directory.
    draw
        Whether the cases are drawn, for `Conformance.to_html`.
    beside
        Our control that a failure is compared with, as ``bbr2``; left out: for a guest the suite's.

    Returns
    -------
    Conformance
        A row a check, with its verdict.

    Raises
    ------
    ScenarioError
        There is no such suite, case or control, or a file of the suite is wrong.
    """
    from concurrent.futures import ThreadPoolExecutor

    from ackclock.experiments.executors.local import cores

    conformance_suite = find_suite(suite) if isinstance(suite, str) else suite
    subject = read_under_test(conformance_suite, control, seed, folder)
    if subject.is_guest and conformance_suite.for_guests:
        conformance_suite = find_suite(conformance_suite.for_guests)
    cases_to_run = conformance_suite.choose_cases(cases)
    named = conformance_suite.beside if beside is None and subject.is_guest else beside
    ours = read_under_test(conformance_suite, named, seed, folder) if named else None

    def run(case: ConformanceCase) -> tuple[list[ConformanceRow], Staged | None]:
        rows, staged = _run_case(conformance_suite, case, subject, seed)
        if ours is not None:
            rows = _compare(rows, _run_case(conformance_suite, case, ours, seed)[0])
        return rows, staged if draw else None

    with ThreadPoolExecutor(workers or cores()) as pool:
        case_results = list(pool.map(run, cases_to_run))
    rows = tuple(row for rows, _ in case_results for row in rows)
    # In this thread: Matplotlib has settings that threads share.
    pairs = zip(cases_to_run, case_results, strict=True) if draw else ()
    drawings = {case.key: show(case, staged) for case, (_, staged) in pairs}
    return Conformance(
        conformance_suite.name,
        conformance_suite.title,
        conformance_suite.source,
        subject.label,
        rows,
        drawings,
        ours.label if ours is not None else "",
        conformance_suite.unseen,
    )


def _compare(rows: list[ConformanceRow], ours: list[ConformanceRow]) -> list[ConformanceRow]:
    """What was measured of ours beside each row; where both fail nothing is decided."""
    return [
        replace(
            row,
            ours=mine.measured,
            verdict=UNDECIDED if row.verdict == mine.verdict == FAIL else row.verdict,
        )
        for row, mine in zip(rows, ours, strict=True)
    ]


def read_under_test(suite: Suite, control: str, seed: int, folder: Path | None) -> Subject:
    """Read and check the control under test.

    Parameters
    ----------
    suite
        Whose scenario it is tried in.
    control, seed, folder
        As of `conform`.

    Raises
    ------
    ScenarioError
        There is no such control, or a parameter is wrong.
    """

    def trial(cc: Any) -> dict[str, Any]:
        return document(suite, None, cc, seed)

    return read_subject(control, folder or Path.cwd(), "cc", trial)


def document(suite: Suite, case: ConformanceCase | None, control: Any, seed: int) -> dict[str, Any]:
    """Write the scenario of a case.

    Parameters
    ----------
    suite, case
        The suite, and the case; None: what all have in common.
    control
        As a scenario says it; goes into the first flow.
    seed
        Of the run.
    """
    data: dict[str, Any] = merge(suite.scenario, case.scenario if case is not None else {})
    flows = [{**data["flows"][0], "cc": control}, *data["flows"][1:]]
    return {"seed": seed, "duration": "1 s", **data, "flows": flows}


def _run_case(
    suite: Suite, case: ConformanceCase, subject: Subject, seed: int
) -> tuple[list[ConformanceRow], Staged | None]:
    from ackclock.scenario.scenario import Scenario

    if case.inexpressible:
        why = case.inexpressible
        return [ConformanceRow(case.key, case.title, 1, "", "", "", None, INEXPRESSIBLE, why)], None
    try:
        data = document(suite, case, subject.value, seed)
        data["record"] = {"flows": [0]}
        scenario = Scenario.from_data(data)
        staged = stage(case, scenario)
    except ScenarioError as error:
        raise ScenarioError(
            [Problem(p.path, p.message, p.file or str(case.file)) for p in error.problems]
        ) from None
    return judge(suite, case, staged, facts(scenario)), staged


def facts(scenario: Scenario) -> dict[str, float]:
    """Facts of the path of a scenario's first flow by name, before anything changes.

    Parameters
    ----------
    scenario
        The scenario.

    Returns
    -------
    dict
        `rate_bps` of its bottleneck, `payload_bps` that it carries, round-trip propagation `rtt_s`,
        `mss_bits`, `bdp_segments`, `duration_s`.
    """
    import json

    from ackclock._util.units import parse

    data = json.loads(scenario.to_json())
    flow, tcp = scenario.explain().data["flows"][0], data.get("tcp", {})
    rate, rtt = flow["bottleneck_bps"], flow["rtt_s"]
    mss = int(tcp.get("mss", 1460))
    wire = mss + int(tcp.get("header", 40)) + (12 if tcp.get("timestamps") else 0)
    return {
        "rate_bps": rate,
        "payload_bps": rate * mss / wire,
        "rtt_s": rtt,
        "mss_bits": 8.0 * mss,
        "bdp_segments": rate * rtt / 8 / wire,
        "duration_s": parse(data["duration"], "duration"),
    }
