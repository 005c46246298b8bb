"""The summary of a dossier as Markdown, line by line."""

from types import SimpleNamespace

import pytest

from ackclock.dossier.write import summary
from ackclock.dossier.write.summary import write_summary


def row(section, title, verdict="", standing="measured", decisive=None):
    requirement = SimpleNamespace(section=section, title=title, level="MUST")
    return SimpleNamespace(
        requirement=requirement,
        section=section,
        title=title,
        level="MUST",
        verdict=verdict,
        standing=standing,
        decisive=decisive,
    )


@pytest.fixture(autouse=True)
def _short_sentences(monkeypatch):
    monkeypatch.setattr(summary, "answer", lambda dossier: "It holds.")
    monkeypatch.setattr(summary, "standing", lambda dossier: dossier.standing)
    monkeypatch.setattr(summary, "write_measured", lambda row: "0.5")


def dossier(*rows, source="RFC 9743", standing="One is open.", rivals=("CUBIC", "Reno")):
    task = SimpleNamespace(
        profile=SimpleNamespace(about={"title": "New controls"}),
        control=SimpleNamespace(label="a|b"),
        rivals=dict.fromkeys(rivals),
        tier="fast",
    )
    results = SimpleNamespace(task=task, rows=rows, runs=40)
    return SimpleNamespace(
        results=results,
        source=source,
        standing=standing,
        version="1.2",
        command="ackclock dossier x",
    )


END = [
    "Beside CUBIC, Reno; tier fast, 40 runs by ackclock 1.2. Intervals are of 95 % over seeds;"
    " thresholds are ours unless the report names a source.",
    "",
    "    ackclock dossier x",
]
HEAD = [
    "| section | requirement | level | verdict | measured | threshold | where |",
    "| --- | --- | --- | --- | --- | --- | --- |",
]


def test_what_is_not_met_comes_first_then_what_is_undecided_then_what_is_not_measured():
    decisive = SimpleNamespace(title="a [bus]", result=SimpleNamespace(expected="at most 1"))
    text = write_summary(dossier(
        row("5", "Harm", "undecided"), row("6", "Met", "met"), row("7", "Other", "met"),
        row("8", "Security", standing="argued"), row("9", "Delay", "not met", decisive=decisive),
        row("10", "Speed", "reported"),
    ))  # fmt: skip
    assert text.endswith("\n")
    assert text.splitlines() == [
        r"# a\|b (RFC 9743): New controls",
        "",
        "It holds. One is open.",
        "",
        *HEAD,
        r"| 9 | Delay | MUST | not met | 0.5 | at most 1 | a \[bus\] |",
        "| 5 | Harm | MUST | undecided | 0.5 |  |  |",
        "| 8 | Security | MUST | argued | | | |",
        "",
        "Met: 6 Met; 7 Other.",
        "",
        "Without a threshold: Speed.",
        "",
        *END,
    ]


def test_what_there_is_not_is_left_out():
    text = write_summary(dossier(source="", standing="", rivals=()))
    assert text.splitlines() == [
        r"# a\|b: New controls", "", "It holds.", "", *HEAD, "",
        END[0].replace("CUBIC, Reno", "none"), *END[1:],
    ]  # fmt: skip
