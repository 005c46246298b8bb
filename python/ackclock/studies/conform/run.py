"""Runs a conformance suite on a control."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.errors import Problem, ScenarioError
from ackclock.studies.algorithm_argument import Subject, read_subject
from ackclock.studies.conform.draw import Shown, show
from ackclock.studies.conform.judge import FAIL, INEXPRESSIBLE, PASS, Row, judge
from ackclock.studies.conform.page import html, junit, text
from ackclock.studies.conform.stages import Staged, merge, stage
from ackclock.studies.conform.suite import find_suite
from ackclock.studies.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ackclock.scenario.scenario import Scenario
    from ackclock.studies.conform.suite import Case, Suite

__all__ = ["Conformance", "conform"]


@dataclass(frozen=True)
class Conformance(Outcome):
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
    """

    MARKER = "conformance.json"

    suite: str
    title: str
    source: str
    control: str
    rows: tuple[Row, ...]
    details: Mapping[str, Shown] = field(default_factory=dict, repr=False)

    @property
    def passed(self) -> bool:
        """Whether nothing failed."""
        return all(row.verdict != FAIL for row in self.rows)

    def verdicts(self) -> dict[str, str]:
        """Verdict by case: it fails if one of its checks does."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            found.setdefault(row.case, []).append(row.verdict)
        return {
            case: FAIL if FAIL in all_ else PASS if PASS in all_ else INEXPRESSIBLE
            for case, all_ in found.items()
        }

    def __str__(self) -> str:
        head = f"{self.title} ({self.source})"
        return text(head, self.rows, self.verdicts(), self.answer)

    @property
    def answer(self) -> str:
        """The whole in one sentence."""
        cases, checks = Counter(self.verdicts().values()), Counter(r.verdict for r in self.rows)
        left = f", {cases[INEXPRESSIBLE]} not expressible" if cases[INEXPRESSIBLE] else ""
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
) -> Conformance:
    """Run a conformance suite on a control.

    Parameters
    ----------
    suite
        A suite, its name, or a folder with one.
    control
        Registry name, ``file.py:Class``, or a table as ``{kind = "bbr3", beta = 0.8}``.
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
    cases_to_run = conformance_suite.choose_cases(cases)

    def run(case: Case) -> tuple[list[Row], Staged | None]:
        rows, staged = _run_case(conformance_suite, case, subject, seed)
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
    )


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


def document(suite: Suite, case: Case | None, control: Any, seed: int) -> dict[str, Any]:
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
    suite: Suite, case: Case, subject: Subject, seed: int
) -> tuple[list[Row], Staged | None]:
    from ackclock.scenario.scenario import Scenario

    if case.inexpressible:
        why = case.inexpressible
        return [Row(case.key, case.title, 1, "", "", "", None, INEXPRESSIBLE, why)], None
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
