"""All questions on one page are what each command answers alone; a survey has a page, too."""

import json
from pathlib import Path

import pytest

from ackclock.cli import main as cli
from ackclock.studies.planner.overview import HEADINGS

LINKS = """Source;Target;Capacity [Gbit/s];weight
Ulm;Bonn;10,0;1
Bonn;Jena;2,5;1
Jena;Ulm;10;1
Jena;Kiel;1;1
"""
DEMANDS = """time;source;target;demand [Mbit/s]
08:00;Ulm;Kiel;300,5
20:00;Ulm;Kiel;800
20:00;Bonn;Kiel;150
20:00;Bonn;Jena;1200,25
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "links.csv").write_text(LINKS)
    (tmp_path / "demands.csv").write_text(DEMANDS)
    return [str(tmp_path / "links.csv"), "--demands", str(tmp_path / "demands.csv")]


def answer(capsys, *arguments):
    capsys.readouterr()
    assert cli.main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_each_question_of_a_report_has_the_answer_of_its_command(files, capsys):
    report = answer(capsys, "plan", "report", *files, "--tries", "100")
    assert report["without"] == {}
    for name in HEADINGS:
        more = {"upgrades": ["--count", "2"], "weights": ["--tries", "100"]}.get(name, [])
        alone = answer(capsys, "plan", name, *files, *more)
        assert report[name] == alone, name


@pytest.mark.slow
def test_the_page_of_a_report_has_a_part_and_a_map_for_each_question(files, tmp_path, capsys):
    out = tmp_path / "report"
    assert cli.main(["plan", "report", *files, "--tries", "50", "--out", str(out)]) == 0
    page = (out / "index.html").read_text(encoding="utf-8")
    for heading in HEADINGS.values():
        assert f"<h2>{heading}</h2>" in page
    assert page.count("<svg") == len(HEADINGS)
    # All load on Jena - Kiel: (800 + 150) Mbit/s of 1 Gbit/s.
    assert "Jena-&gt;Kiel, with a load of 95.0 % of its capacity at 20:00" in page
    assert {path.name for path in out.iterdir()} == {
        "index.html", "map.svg", "plan.json", "weights.csv"
    }  # fmt: skip


def test_a_question_without_an_answer_says_why_and_the_others_are_answered(files, capsys):
    with Path(files[-1]).open("a") as file:
        file.write("20:00;Kiel;Ulm;1\n")
    with Path(files[0]).open("a") as file:
        file.write("Hof;Gera;1;1\n")
    with Path(files[-1]).open("a") as file:
        file.write("20:00;Hof;Ulm;1\n")
    report = answer(capsys, "plan", "report", *files, "--tries", "20")
    assert report["load"]["without_path"] == ["Hof->Ulm"]
    for name, why in report["without"].items():
        assert name in HEADINGS
        assert "Hof" in why or "path" in why


def test_a_survey_with_a_folder_has_a_page_with_its_sentences_and_map(files, tmp_path, capsys):
    out = tmp_path / "survey"
    assert cli.main(["fluid", *files, "--at", "20:00", "--upgrade", "1", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    page = (out / "index.html").read_text(encoding="utf-8")
    assert str(out / "index.html") in printed
    assert page.count("<svg") == 1
    for sentence in ("3 flows", "20:00", "max-min: 2.15 Gbit/s in all"):
        assert sentence in printed
        assert sentence in page
    assert "senders of each kind" in page
