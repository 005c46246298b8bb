"""What a conformance suite found, as a table, as a page and as JUnit XML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from ackclock._util.page import render
from ackclock._util.text_table import table
from ackclock.studies.conform.draw import Shown
from ackclock.studies.conform.judge import FAIL, INEXPRESSIBLE, PASS, UNDECIDED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.studies.conform.judge import ConformanceRow

__all__ = ["html", "junit", "text"]

HEAD = ["case", "step", "check", "expected", "measured", "verdict"]
OURS = "ours"


def text(
    head: str, rows: Sequence[ConformanceRow], verdicts: Mapping[str, str], answer: str
) -> str:
    """Write the table.

    Parameters
    ----------
    head
        What comes before it.
    rows
        All checks.
    verdicts
        Verdict by case.
    answer
        What comes after it.
    """
    titles = {row.case: row.title for row in rows}
    has_ours = any(row.ours for row in rows)
    columns = [*HEAD[:-1], OURS, HEAD[-1]] if has_ours else HEAD
    cells = [
        [
            row.case, str(row.step), row.text, row.expected, row.measured,
            *([row.ours] if has_ours else []), row.verdict,
        ]
        for row in rows
    ]  # fmt: skip
    blocks = [head, table(columns, cells, most=len(cells))]
    lines = [f"{case:>4}  {verdict:15}  {titles[case]}" for case, verdict in verdicts.items()]
    blocks.append("\n".join(lines))
    why = [
        row.sentence if row.place or row.advice else f"{row.case}.{row.step}: {row.why}"
        for row in rows
        if row.verdict in (FAIL, INEXPRESSIBLE) and (row.why or row.advice)
    ]
    if why:
        blocks.append("\n".join(dict.fromkeys(why)))
    return "\n\n".join([*blocks, answer])


def junit(
    suite: str, control: str, rows: Sequence[ConformanceRow], verdicts: Mapping[str, str]
) -> str:
    """Write JUnit XML: a test a case, with one failure for all its failed checks.

    Parameters
    ----------
    suite, control
        Their names.
    rows
        All checks.
    verdicts
        Verdict by case.
    """
    root = ET.Element(
        "testsuite",
        name=f"ackclock conform {suite} {control}",
        tests=str(len(verdicts)),
        failures=str(sum(v == FAIL for v in verdicts.values())),
        skipped=str(sum(v in (INEXPRESSIBLE, UNDECIDED) for v in verdicts.values())),
        errors="0",
    )
    for case, verdict in verdicts.items():
        of = [row for row in rows if row.case == case]
        test = ET.SubElement(
            root, "testcase", classname=f"conform.{suite}", name=f"{case} {of[0].title}"
        )
        if verdict == FAIL:
            failed = [
                f"step {row.step}, {row.text}: expected {row.expected}, measured {row.measured}"
                for row in of
                if row.verdict == FAIL
            ]
            failure = ET.SubElement(test, "failure", message=failed[0], type="check")
            failure.text = "\n".join(failed)
        elif verdict in (INEXPRESSIBLE, UNDECIDED):
            ET.SubElement(test, "skipped", message=of[0].why)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def html(
    rows: Sequence[ConformanceRow],
    verdicts: Mapping[str, str],
    drawings: Mapping[str, Shown],
    **about: Any,
) -> str:
    """Write the page: verdicts first, then each case with its checks, figure and recipe.

    Parameters
    ----------
    rows
        All checks.
    verdicts
        Verdict by case.
    drawings
        What is shown of a case beside its checks, if anything.
    **about
        ``control``, ``title``, ``source``, ``answer`` and ``command``.
    """
    from ackclock import _core

    cases = []
    for key, verdict in verdicts.items():
        of = [row for row in rows if row.case == key]
        more = drawings.get(key, Shown(""))
        cases.append(
            {
                "key": key,
                "title": of[0].title,
                "verdict": verdict,
                "rows": of,
                "passed": sum(row.verdict == PASS for row in of),
                "note": more.note,
                "events": more.events,
                "picture": more.picture,
                "recipe": more.recipe,
            }
        )
    return render(
        Path(__file__).with_name("conform.html"),
        cases=cases,
        version=_core.version(),
        **about,
    )
