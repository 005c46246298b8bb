"""Which runs ``reproduce``, ``forensics`` and ``artifact`` start, and where results go."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from ackclock.cli import main as cli
from ackclock.reproduce.run import inference, reproduction, sensitivity
from ackclock.reproduce.search import design, search, space, surrogate
from ackclock.reproduce.write import artifact, folder, forensics, html, text
from ackclock.reproduce.write import sensitivity as written_sensitivity


@pytest.fixture
def seen(monkeypatch, tmp_path):
    """What is called, in the place of hours of runs."""
    monkeypatch.chdir(tmp_path)
    calls = []

    def reproduce(paper, *, tier, figures, claims, options, inference):
        calls.append(("reproduce", paper.name, tier, figures, claims, options, inference))
        claim = SimpleNamespace(claim=SimpleNamespace(id="E-2"))
        return SimpleNamespace(paper=paper, deviations=[claim])

    def write(result, target):
        calls.append(("write", result.paper.name, target))
        target.mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(inference, "load", lambda paper, file: ("inferred", file))
    monkeypatch.setattr(reproduction, "reproduce", reproduce)
    monkeypatch.setattr(folder, "write", write)
    monkeypatch.setattr(folder, "as_data", lambda result: {"paper": result.paper.name})
    monkeypatch.setattr(text, "summary", lambda result: f"of {result.paper.name}")
    monkeypatch.setattr(html, "index_page", lambda target: f"index of {target}")
    return calls


def test_a_paper_is_reproduced_into_its_folder_and_the_index_is_written(seen, capsys):
    assert cli.main(["reproduce", "example"]) == 0
    (kind, name, tier, figures, claims, options, inferred), wrote = seen
    assert (kind, name, tier, figures, claims) == ("reproduce", "example", "fast", (), ())
    assert inferred == ("inferred", None)
    assert (options.workers, options.cluster, options.store) == (None, None, None)
    assert options.progress is True
    target = Path("reproductions/example")
    assert wrote == ("write", "example", target)
    assert capsys.readouterr().out == f"of example\n\nwrote {target / 'report.html'}\n"
    assert Path("reproductions/index.html").read_text() == "index of reproductions"


def test_parts_of_a_paper_go_beside_the_whole(seen):
    assert cli.main(["reproduce", "example", "--claim", "E-1", "--figure", "1"]) == 0
    assert seen[0][3:5] == (("1",), ("E-1",))
    assert seen[1][2] == Path("reproductions/example.part")


def test_a_folder_that_is_named_is_of_the_paper_and_has_no_index(seen):
    assert cli.main(["reproduce", "example", "--out", "mine", "--tier", "full"]) == 0
    assert seen[0][2] == "full"
    assert seen[1][2] == Path("mine")
    assert not Path("mine/index.html").exists()
    assert not Path("reproductions").exists()


def test_several_papers_have_a_folder_each_in_the_one_that_is_named(seen, capsys):
    assert cli.main(["reproduce", "example", "legout1999", "--out", "mine", "--json"]) == 0
    assert [call[2] for call in seen if call[0] == "write"] == [
        Path("mine/example"), Path("mine/legout1999"),
    ]  # fmt: skip
    assert Path("mine/index.html").read_text() == "index of mine"
    assert json.loads(capsys.readouterr().out) == [{"paper": "example"}, {"paper": "legout1999"}]
    assert seen[0][5].progress is False


def test_one_paper_is_one_object_of_json(seen, capsys):
    assert cli.main(["reproduce", "example", "--json"]) == 0
    seen_out = capsys.readouterr()
    assert json.loads(seen_out.out) == {"paper": "example"}


def test_options_of_runs_are_passed_on(seen, capsys):
    more = ["--workers", "3", "--store", "kept", "--inferred", "i.toml", "--quiet"]
    assert cli.main(["reproduce", "example", *more]) == 0
    options = seen[0][5]
    assert (options.workers, options.store, options.progress) == (3, Path("kept"), False)
    assert seen[0][6] == ("inferred", Path("i.toml"))
    assert capsys.readouterr().out == ""


def test_strict_exits_with_1_where_a_deviation_is_not_listed(seen, capsys, monkeypatch):
    assert cli.main(["reproduce", "example"]) == 0
    assert cli.main(["reproduce", "example", "legout1999", "--strict"]) == 1
    assert capsys.readouterr().err.endswith(
        "deviations that are not listed as known: example E-2, legout1999 E-2\n"
    )
    none = SimpleNamespace(deviations=[])
    monkeypatch.setattr(
        reproduction, "reproduce", lambda paper, **_: SimpleNamespace(paper=paper, **vars(none))
    )
    assert cli.main(["reproduce", "example", "--strict"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a paper, as in: ackclock reproduce example; --list lists them"),
        (["example", "--pairs"], "--pairs goes with --sensitivity CLAIM"),
        (["example", "legout1999", "--claim", "x"],
         "--figure, --claim, --inferred and --sensitivity are for one paper"),
        (["--all", "--figure", "1"],
         "--figure, --claim, --inferred and --sensitivity are for one paper"),
        (["--all", "--sensitivity", "x"],
         "--figure, --claim, --inferred and --sensitivity are for one paper"),
        (["--all", "--inferred", "x"],
         "--figure, --claim, --inferred and --sensitivity are for one paper"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_refused(seen, capsys, arguments, message):
    assert cli.main(["reproduce", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert seen == []


def test_a_folder_of_others_is_refused_before_the_runs(seen, capsys):
    Path("mine").mkdir()
    Path("mine/thesis.tex").write_text("x")
    assert cli.main(["reproduce", "example", "--out", "mine"]) == 2
    assert "mine" in capsys.readouterr().err
    assert seen == []


def test_a_sensitivity_is_of_one_claim_and_its_folder_is_named_by_it(seen, capsys, monkeypatch):
    class Result:
        def to_dict(self):
            return {"claim": "E-1"}

        def __str__(self):
            return "the table"

    def vary(paper, claim, *, tier, options, pairs):
        seen.append((paper.name, claim, tier, pairs))
        return Result()

    monkeypatch.setattr(sensitivity, "sensitivity", vary)
    monkeypatch.setattr(
        written_sensitivity, "write", lambda result, target: seen.append(("write", target))
    )
    assert cli.main(["reproduce", "example", "--sensitivity", "E-1", "--pairs"]) == 0
    target = Path("reproductions/example.E-1")
    assert seen == [("example", "E-1", "fast", True), ("write", target)]
    assert capsys.readouterr().out == f"the table\n\nwrote {target}\n"
    assert cli.main(["reproduce", "example", "--sensitivity", "E-1", "--out", "s", "--json"]) == 0
    assert seen[2:] == [("example", "E-1", "fast", False), ("write", Path("s"))]
    assert json.loads(capsys.readouterr().out) == {"claim": "E-1"}
    assert cli.main(["reproduce", "example", "--sensitivity", "E-1", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_papers_are_listed_with_what_can_be_checked_of_them(capsys):
    assert cli.main(["reproduce", "--list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert list(rows[0]) == ["paper", "year", "claims", "checkable", "figures", "title"]
    by_name = {row["paper"]: row for row in rows}
    assert by_name["legout1999"]["year"] == "1999"
    assert all(0 < row["checkable"] <= row["claims"] for row in rows)
    assert any(row["checkable"] < row["claims"] for row in rows)
    assert cli.main(["reproduce", "--list"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["paper", "year", "claims", "checkable", "figures", "title"]
    assert [line.split()[0] for line in lines] == [row["paper"] for row in rows]


@pytest.fixture
def searched(seen, monkeypatch):
    class Planned:
        def to_dict(self):
            return {"points": 9}

        def __str__(self):
            return "the plan"

        def command(self, claims, vary):
            return f"again {claims} {vary}"

    def find(data, tier, claims, vary):
        seen.append(("space", data.name, tier, claims, vary))
        return "space"

    def plan(of, tier, points, minutes):
        seen.append(("plan", of, tier, points, minutes))
        return Planned()

    def write(result, target, command):
        seen.append(("write", target, command))
        return {"best": 1}

    monkeypatch.setattr(surrogate, "need_library", lambda: None)
    monkeypatch.setattr(space, "find_space", find)
    monkeypatch.setattr(design, "plan", plan)
    monkeypatch.setattr(search, "search", lambda planned, options: options)
    monkeypatch.setattr(forensics, "write", write)
    monkeypatch.setattr(forensics, "summary", lambda written: f"best {written['best']}")
    return seen


def test_a_search_is_planned_and_written_as_the_options_say(searched, capsys):
    assert cli.main(["forensics", "example"]) == 0
    target = Path("reproductions/example.forensics")
    assert searched == [
        ("space", "example", "fast", (), ()), ("plan", "space", "fast", None, None),
        ("write", target, "again () ()"),
    ]  # fmt: skip
    said = capsys.readouterr()
    assert said.out == f"best 1\n\nwrote {target / 'forensics.html'}\n"
    assert said.err.startswith("the plan\n")
    searched.clear()
    options = ["--claim", "E-1", "--vary", "buffer", "--points", "5", "--minutes", "2.5"]
    more = ["--tier", "first", "--out", "f", "--json"]
    assert cli.main(["forensics", "example", *options, *more]) == 0
    assert searched == [
        ("space", "example", "first", ("E-1",), ("buffer",)),
        ("plan", "space", "first", 5, 2.5), ("write", Path("f"), "again ('E-1',) ('buffer',)"),
    ]  # fmt: skip
    said = capsys.readouterr()
    assert json.loads(said.out) == {"best": 1}
    assert said.err == ""


def test_a_search_may_be_planned_alone(searched, capsys):
    assert cli.main(["forensics", "example", "--dry-run"]) == 0
    assert capsys.readouterr().out == "the plan\n"
    assert cli.main(["forensics", "example", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"points": 9}
    assert "write" not in [call[0] for call in searched]


def test_an_artifact_is_named_by_paper_and_tier(seen, capsys, monkeypatch):
    monkeypatch.setattr(
        artifact, "pack",
        lambda data, file, *, tier, options: seen.append((data.name, file, tier, options.workers)),
    )  # fmt: skip
    assert cli.main(["artifact", "example"]) == 0
    assert capsys.readouterr().out == "wrote example-fast.tar.gz\n"
    assert cli.main(["artifact", "example", "--tier", "full", "--out", "a.tar.gz", "--workers",
                     "2", "--quiet"]) == 0  # fmt: skip
    assert seen == [
        ("example", Path("example-fast.tar.gz"), "fast", None),
        ("example", Path("a.tar.gz"), "full", 2),
    ]  # fmt: skip
    assert capsys.readouterr().out == ""
