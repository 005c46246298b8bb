"""The dossier: profiles as folders, verdicts, the baseline, what is written."""

import copy
import json
import re
import xml.etree.ElementTree as ET
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest

from ackclock.catalogue.entries import schema_of
from ackclock.cli.main import main
from ackclock.dossier import baseline
from ackclock.dossier.form import DossierForm
from ackclock.dossier.read import PROFILES, names, read
from ackclock.dossier.rows import NO_BOUND, find_distance
from ackclock.dossier.write.page import order
from ackclock.errors import AckclockError, ScenarioError, UnsupportedError
from ackclock.reproduce.run.judge import target

ONLY = ["--only", "5.1.1-backoff", "--only", "7.10-shared", "--only", "8-security"]
WORSE = f"{Path(__file__).with_name('dossier_controls.py')}:IgnoresLoss"


def run(*words):
    text = StringIO()
    with redirect_stdout(text), redirect_stderr(text):
        code = main(["evaluate", *words, "--workers", "1"])
    return SimpleNamespace(exit_code=code, output=text.getvalue())


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    at = tmp_path_factory.mktemp("dossier")
    store = ["--store", str(at / "store"), "--reps", "2"]
    out = run("aimd", "--profile", "rfc9743", *ONLY, *store, "--out", str(at / "out"))
    assert out.exit_code == 0, out.output
    return at, store, out.output


def edited(tmp_path, **files):
    """A profile of the user's: a copy of quick with files replaced."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text)
    return folder


ABOUT = """title = "t"
about = "a"
source = "s"
tiers.fast.about = "small"
[[family]]
id = "f"
title = "F"
"""
ENTRY = """[[requirement]]
id = "r"
section = "1"
title = "t"
statement = "s"
level = "MUST"
family = "f"
"""


@pytest.mark.parametrize("name", names())
def test_a_shipped_profile_reads_without_a_problem_and_every_threshold_has_its_reason(name):
    found = read(name)
    assert found.requirements
    for one in found.requirements.values():
        for why in one.thresholds:
            assert why.reason, one.id
            assert why.trade, one.id
            assert why.source, one.id


def test_rfc9743_has_a_row_for_every_criterion_of_sections_five_to_seven():
    sections = {one.section for one in read("rfc9743").requirements.values()}
    wanted = {"5.2", "6", *(f"5.1.{i}" for i in range(1, 6)), *(f"5.2.{i}" for i in range(1, 4))}
    wanted |= {
        "5.3.1",
        "5.3.2",
        *(f"6.{i}" for i in range(1, 5)),
        *(f"7.{i}" for i in range(1, 12)),
    }
    assert wanted <= sections


def test_a_profile_is_a_folder_and_needs_no_code(tmp_path):
    check = """[[requirement.check]]
measure = "SELECT replicate, utilisation AS value FROM one.links WHERE id = 'r0->r1'"
expect = { at_least = 0.9 }
reason = "a reason"
trade = "a trade"
"""
    folder = edited(tmp_path, profile=ABOUT, requirements=ENTRY + check)
    (folder / "scenarios").mkdir()
    (folder / "scenarios/one.toml").write_text(
        """reps = 2
[scenario]
duration = "10 s"
warmup = "5 s"
[scenario.net]
kind = "dumbbell"
pairs = 1
rate = "5 Mbps"
rtt = "20 ms"
[[scenario.flows]]
pair = 0
cc = "@mine"
start_jitter = "1 s"
"""
    )
    out = run("aimd", "--profile", str(folder), "--store", str(tmp_path / "store"))
    assert out.exit_code == 0, out.output
    assert "1 met" in out.output


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"profile": ABOUT, "requirements": ENTRY}, "needs a check"),
        ({"profile": ABOUT, "requirements": ENTRY.replace('"f"', '"g"')}, 'no family "g"'),
        ({"profile": ABOUT, "requirements": ENTRY.replace("MUST", "must")}, "level"),
        ({"profile": ABOUT + 'base = "rfc"\n'.join(["", ""])}, "no such file"),
        ({"profile": 'base = "rfc97"\n' + ABOUT}, 'did you mean "rfc9743"'),
        ({"profile": 'base = "rfc9743"\ntake = ["5.1.1"]\n' + ABOUT}, 'no requirement "5.1.1"'),
        ({"profile": ABOUT, "requirements": ENTRY, "claims": ""}, "is not part of a profile"),
        (
            {"profile": "family = [3]\n" + ABOUT.partition("[[family]]")[0]},
            "family[0]: 3 is not a table",
        ),
        ({"profile": 'base = "rfc9743"\ntake = [3]\n' + ABOUT}, "take[0]: 3 is not text"),
        (
            {"profile": ABOUT, "requirements": f"{ENTRY}figures = [[]]\n"},
            "requirement[r].figures[0]: a list is not text",
        ),
    ],
)
def test_what_is_wrong_in_a_profile_is_reported_by_file_and_key(tmp_path, files, message):
    with pytest.raises(ScenarioError, match="mine") as caught:
        read(edited(tmp_path, **files))
    assert message in str(caught.value)


def test_a_profile_that_is_none_is_reported_with_the_nearest_name():
    with pytest.raises(UnsupportedError, match='did you mean "quick"'):
        read("quik")


def test_distances_are_parts_of_the_nearest_bound():
    assert find_distance(1.5, target({"at_most": 1}, {})) == pytest.approx(-0.5)
    assert find_distance(1.5, target({"at_least": 1}, {})) == pytest.approx(0.5)
    assert find_distance(0.3, target({"between": [0.25, 0.75]}, {})) == pytest.approx(0.2)
    assert find_distance(-0.1, target({"at_least": 0}, {})) == pytest.approx(-0.1)
    assert find_distance(None, target({"at_least": 0}, {})) is None
    # A bound below 0: inside is positive, and a part of its size.
    assert find_distance(-1.0, target({"at_least": -2}, {})) == pytest.approx(0.5)
    assert find_distance(-3.0, target({"at_least": -2}, {})) == pytest.approx(-0.5)
    assert find_distance(-3.0, target({"at_most": -2}, {})) == pytest.approx(0.5)
    assert find_distance(-1.0, target({"at_most": -2}, {})) == pytest.approx(-0.5)
    assert find_distance(0.5, target({"between": [-2, 1]}, {})) == pytest.approx(0.5)
    assert find_distance(0.5, None) is None
    assert find_distance(0.5, target({"between": NO_BOUND}, {})) is None


def test_the_page_has_verdicts_and_what_only_people_answer(saved):
    _, _, output = saved
    assert "aimd: of 3 requirements 1 met, 2 text needed." in output
    assert "tier fast; beside Reno, CUBIC, BBRv3." in output
    security = next(line for line in output.splitlines() if "Security" in line)
    assert "text needed" in security


def test_the_json_has_its_schema_and_every_number_its_replicates(saved):
    at, _, _ = saved
    data = json.loads((at / "out/dossier.json").read_text())
    jsonschema.Draft7Validator(schema_of(DossierForm)).validate(data)
    backoff = next(row for row in data["rows"] if row["id"] == "5.1.1-backoff")
    assert {n["check"] for n in backoff["numbers"]} == {"no feedback", "half lost"}
    for number in backoff["numbers"]:
        assert len(number["values"]) == 2
        assert number["measured"] == pytest.approx(sum(number["values"]) / 2)
    shared = next(row for row in data["rows"] if row["id"] == "7.10-shared")
    assert shared["verdict"] == "text needed"
    assert [n["decides"] for n in shared["numbers"]] == [False]


def test_the_folder_has_page_figures_studies_and_junit(saved):
    at, _, _ = saved
    page = (at / "out/report.html").read_text()
    assert "RFC 9743" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    # The verdicts come first, and every place that the page names is in it.
    assert page.index("<h2") == page.index('<h2 id="verdicts"')
    places = set(re.findall(r'href="#([^"]*)"', page))
    assert places <= set(re.findall(r'id="([^"]*)"', page))
    assert {"f-collapse", "provenance", "r-5.1.1-backoff"} <= places
    suites = ET.fromstring((at / "out/junit.xml").read_text())
    (suite,) = suites
    assert suite.attrib["tests"] == "3"
    assert suite.attrib["skipped"] == "2"
    study = json.loads((at / "out/scenarios/blackout.json").read_text())
    assert {flow["cc"] for flow in study["scenario"]["flows"]} == {"aimd"}


def test_the_same_control_has_no_difference_from_its_baseline(saved):
    at, store, _ = saved
    words = ["--baseline", str(at / "out"), "--strict"]
    out = run("aimd", "--profile", "rfc9743", *ONLY, *store, *words)
    assert out.exit_code == 0, out.output
    assert "0 worse, 0 better" in out.output


@pytest.mark.slow
def test_a_worse_control_fails_by_the_baseline_with_the_size_of_the_change(saved):
    at, store, _ = saved
    words = ["--baseline", str(at / "out/dossier.json"), "--strict"]
    out = run(WORSE, "--profile", "rfc9743", *ONLY, *store, *words)
    assert out.exit_code == 1
    assert "5.1.1 Full backoff when feedback ends: met before, not met now" in out.output
    assert "packets in 30 s now; difference +" in out.output


@pytest.mark.slow
def test_strict_fails_by_what_is_not_met_and_names_no_folder_of_the_author(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    store = ["--store", str(tmp_path / "store"), "--reps", "2", "--out", str(tmp_path / "out")]
    words = ["--profile", "rfc9743", "--only", "5.1.1-backoff", *store, "--strict"]
    out = run(WORSE, *words)
    assert out.exit_code == 1
    folders = [str(folder).encode() for folder in (Path(__file__).parent, tmp_path)]
    files = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert len(files) > 4
    for file in files:
        assert not [folder for folder in folders if folder in file.read_bytes()], file
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "dossier_controls.py:IgnoresLoss" in page
    # What is not met comes first, and leads to its requirement.
    assert page.index("<h2") == page.index('<h2 id="missed"')
    assert '<a href="#r-5.1.1-backoff">5.1.1 Full backoff' in page[: page.index('id="verdicts"')]
    assert "not met: 5.1.1 Full backoff when feedback ends" in out.output


def test_one_seed_is_said_to_decide_nothing(tmp_path):
    store = ["--store", str(tmp_path), "--reps", "1"]
    out = run("aimd", "--profile", "rfc9743", *ONLY, *store)
    answer = next(line for line in out.output.splitlines() if line.startswith("aimd: of 3"))
    assert answer.endswith(
        "One seed has no interval and decides nothing: leave --reps out, or give more."
    )
    assert "undecided" in answer


def test_rows_begin_with_what_is_not_met_and_keep_their_order_otherwise():
    verdicts = ["met", "reported", "undecided", "met", "not met", "text needed", "not met"]
    numbered = sorted(enumerate(verdicts), key=lambda row: order(row[1]))
    assert [number for number, _ in numbered] == [4, 6, 2, 0, 1, 3, 5]


def test_a_baseline_of_another_profile_or_none_is_refused(saved, tmp_path):
    at, store, _ = saved
    out = run("aimd", "--profile", "quick", *store, "--baseline", str(at / "out"))
    assert out.exit_code == 2
    assert 'is of profile "rfc9743"; expected one of "quick"' in out.output
    (tmp_path / "x.json").write_text('{"dossier": 1}')
    out = run("aimd", "--profile", "quick", *store, "--baseline", str(tmp_path / "x.json"))
    assert out.exit_code == 2
    assert "is not a dossier" in out.output


def number(values, **bounds):
    found = {"check": "", "part": "", "unit": "", "at_least": None, "at_most": None}
    return {**found, "values": values, **bounds}


def change(old, new, **more):
    """What is decided of one number that is compared alone."""
    change = baseline.compare_pair("r", "t", {**old, **more}, {**new, **more})
    (decided,) = baseline.decide([change])
    return decided


def test_differences_are_paired_and_have_a_direction():
    old, new = number([10.0, 20.0, 30.0], at_most=50), number([11.0, 21.1, 30.9], at_most=50)
    # Unpaired, the spread of 10 would hide a difference of 1; it is 2 % of the bound.
    small = change(old, new)
    assert small.difference == pytest.approx(1.0)
    assert not small.is_worse
    # A tenth of the values, and 4 % of the bound, which is larger.
    within = change(old, number([12.0, 22.1, 31.9], at_most=50))
    assert within.is_significant
    assert within.size == pytest.approx(0.04)
    assert not within.is_worse
    more = number([16.0, 26.1, 35.9], at_most=50)
    assert change(old, more).is_worse
    lower = [{**copy.deepcopy(n), "at_most": None, "at_least": 5} for n in (old, more)]
    assert change(*lower).is_better
    noisy = number([30.0, 0.0, 60.0], at_most=50)
    assert not change(old, noisy).is_worse


def test_one_seed_or_few_equal_differences_are_no_evidence_unless_nothing_is_random():
    one, other = number([10.0], at_most=9), number([20.0], at_most=9)
    assert not change(one, other).is_worse
    assert change(one, other, exact=True).is_worse
    assert not change(number([10.0] * 5, at_most=9), number([20.0] * 5, at_most=9)).is_worse
    assert change(number([10.0] * 6, at_most=9), number([20.0] * 6, at_most=9)).is_worse


def test_dossiers_of_other_seeds_are_refused(saved):
    at, store, _ = saved
    words = ["--baseline", str(at / "out"), "--strict", "--seed", "1007"]
    out = run("aimd", "--profile", "rfc9743", *ONLY, *store, *words)
    assert out.exit_code == 2
    assert "has other seeds, and is compared seed by seed; use no --seed" in out.output
    data = json.loads((at / "out/dossier.json").read_text())
    moved = copy.deepcopy(data)
    for study in moved["studies"].values():
        study["seeds"] = [study["seeds"][0] + 1, study["seeds"][1] + 1]
    with pytest.raises(AckclockError, match="numbers are compared seed by seed"):
        baseline.changes(moved, data)


def test_a_control_whose_draws_alone_change_rarely_has_a_regression():
    generator = np.random.default_rng(5)

    def dossier():
        numbers = [
            {**number(generator.normal(1.0, 0.2, 6).tolist(), at_most=2.0), "part": str(i),
             "decides": True, "outcome": "met"}
            for i in range(40)
        ]  # fmt: skip
        row = {"id": "r", "section": "1", "title": "t", "verdict": "met", "numbers": numbers}
        return {"studies": {}, "rows": [row]}

    found = [baseline.changes(dossier(), dossier()) for _ in range(100)]
    failing = sum(any(change.is_regression for change in one) for one in found)
    # Each 99 % interval alone: 1 - 0.995^40 = 0.18. Together at most 0.05, give or take 0.022.
    assert failing <= 9


@pytest.mark.parametrize(
    ("now", "more", "is_worse"),
    [
        ([1.9, 2.3, 1.8, 2.2, 1.7, 2.4], {"at_most": 2.0}, False),  # by chance
        ([2.5, 2.6, 2.4, 2.5, 2.7, 2.3], {"at_most": 2.0}, True),
        ([1.9, 2.3, 1.8, 2.2, 1.7, 2.4], {"at_most": 2.0, "exact": True}, True),
        ([1.9, 2.3, 1.8, 2.2, 1.7, 2.4], {}, True),  # a share of what is true
    ],
)
def test_a_requirement_that_is_missed_now_is_a_regression_if_more_than_chance_is_behind(
    now, more, is_worse
):
    def dossier(values, verdict, outcome):
        about = {"part": "", "decides": True, "outcome": outcome, **more}
        row = {"id": "r", "section": "1", "title": "t", "verdict": verdict,
               "numbers": [{**number(values), **about}]}  # fmt: skip
        return {"studies": {}, "rows": [row]}

    before = dossier([2.1, 1.8, 2.2, 1.7, 2.3, 1.6], "met", "met")
    after = dossier(now, "not met", "missed")
    change = baseline.changes(before, after)[0]
    assert change.verdicts == ("met", "not met")
    assert change.is_worse == is_worse
    back = baseline.changes(after, before)[0]
    assert (back.is_better, back.is_worse) == (True, False)


def test_the_default_method_refuses_options_of_profiles():
    out = run("aimd", "--strict")
    assert out.exit_code == 2
    assert "--strict is for profiles with requirements" in out.output


def test_a_dry_run_predicts_and_runs_nothing(tmp_path):
    out = run("aimd", "--profile", "quick", "--dry-run", "--store", str(tmp_path / "s"))
    assert out.exit_code == 0
    assert "predicted" in out.output
    assert not (tmp_path / "s").exists()


def test_every_shipped_study_names_the_control_or_the_others():
    for file in PROFILES.glob("*/scenarios/*.toml"):
        assert "@mine" in file.read_text() or "@against" in file.read_text(), Path(file).name
