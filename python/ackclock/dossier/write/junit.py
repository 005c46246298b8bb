"""A dossier as JUnit XML, which continuous integration shows as tests."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from ackclock.dossier.finding import Finding

__all__ = ["junit"]


def junit(dossier: Finding) -> str:
    """Write a dossier as JUnit XML: a test case for each requirement.

    A requirement that is not met is a failure; one that is undecided, needs text or does not apply
    is skipped. With a baseline, a number that is worse is a failure of the suite "baseline".

    Parameters
    ----------
    dossier
        The dossier.
    """
    results = dossier.results
    name = f"{results.task.control.label} {results.task.profile.name} {results.task.tier}"
    suites = ET.Element("testsuites", name=name)
    tests = [(row.requirement.id, row.requirement.title, row) for row in results.rows]
    suite = ET.SubElement(
        suites,
        "testsuite",
        name=results.task.profile.name,
        tests=str(len(tests)),
        failures=str(results.count("not met")),
        skipped=str(len(tests) - results.count("not met") - results.count("met")),
        errors="0",
    )
    for id_, title, row in tests:
        case = ET.SubElement(
            suite, "testcase", classname=f"{name}.{row.requirement.family}", name=f"{id_} {title}"
        )
        if row.verdict == "not met":
            ET.SubElement(case, "failure", message=row.reason, type=row.requirement.level)
        elif row.verdict != "met":
            ET.SubElement(case, "skipped", message=f"{row.verdict}: {row.reason}")
    if dossier.changes is not None:
        worse = [change for change in dossier.changes if change.is_regression]
        suite = ET.SubElement(
            suites,
            "testsuite",
            name="baseline",
            tests=str(len(dossier.changes)),
            failures=str(len(worse)),
            skipped="0",
            errors="0",
        )
        for change in dossier.changes:
            case = ET.SubElement(suite, "testcase", classname=f"{name}.baseline", name=change.title)
            if change.is_regression:
                ET.SubElement(case, "failure", message=str(change), type="regression")
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"
