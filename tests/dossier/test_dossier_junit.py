"""The XML of a dossier that servers of continuous integration read, by hand."""

import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest

from ackclock.dossier.baseline import BaselineChange
from ackclock.dossier.finding import Finding
from ackclock.dossier.write.junit import junit

VERDICTS = ("met", "not met", "undecided", "text needed", "not met", "reported")


def finding(changes=None):
    rows = [
        SimpleNamespace(
            verdict=verdict, reason=f"why {i}",
            requirement=SimpleNamespace(id=f"r{i}", title=f"t{i}", family="f", level="MUST",
                                        section=str(i)),
        )
        for i, verdict in enumerate(VERDICTS)
    ]  # fmt: skip
    task = SimpleNamespace(
        control=SimpleNamespace(label="mine"), profile=SimpleNamespace(name="quick"), tier="fast"
    )
    results = SimpleNamespace(task=task, rows=rows, count=VERDICTS.count)
    return Finding(results, changes)


def change(name, *, is_worse):
    return BaselineChange("r", name, 1.0, 2.0, 1.0, 0.5, 1.5, "", is_worse=is_worse)


def test_a_requirement_is_a_case_that_passes_fails_or_is_skipped():
    suites = ET.fromstring(junit(finding()))
    (suite,) = suites
    assert suites.get("name") == "mine quick fast"
    counts = {name: suite.get(name) for name in ("name", "tests", "failures", "skipped", "errors")}
    assert counts == {"name": "quick", "tests": "6", "failures": "2", "skipped": "3", "errors": "0"}
    assert [case.get("name") for case in suite] == [f"r{i} t{i}" for i in range(6)]
    assert {case.get("classname") for case in suite} == {"mine quick fast.f"}
    inside = [[(part.tag, part.get("message"), part.get("type")) for part in case]
              for case in suite]  # fmt: skip
    assert inside == [
        [], [("failure", "why 1", "MUST")], [("skipped", "undecided: why 2", None)],
        [("skipped", "text needed: why 3", None)], [("failure", "why 4", "MUST")],
        [("skipped", "reported: why 5", None)],
    ]  # fmt: skip


def test_a_baseline_is_a_suite_in_which_regressions_fail():
    changes = [change("a", is_worse=False), change("b", is_worse=True), change("c", is_worse=False)]
    _, suite = ET.fromstring(junit(finding(changes)))
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("baseline", "3", "1")
    assert [case.get("name") for case in suite] == ["a", "b", "c"]
    assert [[part.get("message") for part in case] for case in suite] == [
        [], [str(changes[1])], [],
    ]  # fmt: skip
    assert len(ET.fromstring(junit(finding([])))) == 2


@pytest.mark.parametrize(
    ("changes", "failures"), [(None, ["1 t1", "4 t4"]), ([], []), ([True, False], 1)]
)
def test_a_strict_run_with_a_baseline_fails_by_what_is_worse_alone(changes, failures):
    """Also where nothing changed: then what was not met before does not fail it."""
    compared = changes and [change("x", is_worse=is_worse) for is_worse in changes]
    found = finding(changes if not changes else compared).failures
    assert (len(found) if isinstance(failures, int) else found) == failures
