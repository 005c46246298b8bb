"""Audits in a dossier: worst environment, late-comers, selfish users."""

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from types import SimpleNamespace

import jsonschema
import pytest

from ackclock.catalogue.entries import schema_of
from ackclock.cli.main import main
from ackclock.dossier import audits
from ackclock.dossier.bind import BoundControl
from ackclock.dossier.form import DossierForm
from ackclock.reproduce.run.predict import (
    CHECK_S,
    FIGURE_S,
    FIGURES_START_S,
    REST,
    RUN_S,
    START_S,
    SWEEP_S,
)
from ackclock.studies.adversary.result import FRESH_SEEDS
from ackclock.studies.adversary.search import SEEDS
from ackclock.studies.late_comer.situations import TIERS, documents

PROFILE = """title = "t"
about = "a"
source = "s"
tiers.fast.about = "small"
tiers.fast.audits = { adversary = 10, latecomer = 1, game = 2 }
against.MIMD = "mimd"
[[family]]
id = "f"
title = "F"
"""
REQUIREMENT = """[[requirement]]
id = "r"
section = "1"
title = "t"
statement = "s"
level = "MUST"
family = "f"
figures = ["drawn"]
[[requirement.check]]
measure = "SELECT replicate, utilisation AS value FROM one.links WHERE id = 'r0->r1'"
expect = { at_least = 0.5 }
reason = "a reason"
trade = "a trade"
"""
FIGURE = """[[figure]]
id = "drawn"
title = "t"
kind = "bar"
data = "SELECT id AS x, replicate, utilisation AS y FROM two.links WHERE id = 'r0->r1'"
"""
STUDY = """reps = 2
[scenario]
duration = "5 s"
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


def run(*words):
    text = StringIO()
    with redirect_stdout(text), redirect_stderr(text):
        code = main(["evaluate", *words])
    assert code == 0, text.getvalue()
    return text.getvalue()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    at = tmp_path_factory.mktemp("audits")
    folder = at / "mine"
    (folder / "scenarios").mkdir(parents=True)
    (folder / "profile.toml").write_text(PROFILE)
    (folder / "requirements.toml").write_text(REQUIREMENT)
    (folder / "figures.toml").write_text(FIGURE)
    (folder / "scenarios/one.toml").write_text(STUDY)
    (folder / "scenarios/two.toml").write_text(STUDY.replace("5 s", "6 s"))
    words = ["aimd", "--profile", str(folder), "--store", str(at / "store")]
    output = run(*words, "--out", str(at / "out"))
    return at, words, json.loads((at / "out/dossier.json").read_text()), output


@pytest.mark.slow
def test_the_audits_of_the_tier_are_in_text_json_and_page(saved):
    at, _, data, output = saved
    jsonschema.Draft7Validator(schema_of(DossierForm)).validate(data)
    assert list(data["audits"]) == ["adversary", "latecomer", "game"]
    page = (at / "out/report.html").read_text()
    for audit in data["audits"].values():
        assert f"{audit['title']}. {audit['answer']}" in output
        assert audit["title"] in page
    assert (at / "out/audits/adversary/scenario.toml").is_file()
    assert (at / "out/audits/latecomer/index.html").is_file()


@pytest.mark.slow
def test_selfish_users_leave_reno_for_mimd_behind_drop_tail_only(saved):
    _, _, data, _ = saved
    answer = data["audits"]["game"]["answer"]
    assert "where all use aimd, one gains by changing to MIMD" in answer.split("FQ-CoDel")[0]
    assert "changing to MIMD" not in answer.split("Under FQ-CoDel")[1]


@pytest.mark.slow
def test_the_worst_environment_states_its_gap_to_the_rival(saved):
    _, _, data, _ = saved
    found = data["audits"]["adversary"]["data"]
    means = {name: value[0] for name, value in found["goodput"].items()}
    assert set(means) == {"aimd", "MIMD"}
    assert found["gap"][0] == pytest.approx(means["aimd"] - means["MIMD"])


@pytest.mark.slow
def test_a_late_comer_of_reno_is_not_favoured(saved):
    _, _, data, _ = saved
    rows = data["audits"]["latecomer"]["data"]["rows"]
    assert not any("persistent" in row["verdict"] for row in rows)


@pytest.mark.slow
def test_audits_are_predicted_and_what_is_stored_is_not_run_again(saved):
    _, words, _, _ = saved
    rows = {row["study"]: row for row in json.loads(run(*words, "--dry-run", "--json"))}
    for name in ("audit latecomer", "audit game"):
        assert rows[name]["runs"] == rows[name]["stored"] > 0
    # Of each of the two controls, and the worst pattern on fresh seeds.
    assert rows["audit adversary"]["points"] == 10
    assert rows["audit adversary"]["runs"] == 2 * (10 * SEEDS + FRESH_SEEDS)


@pytest.mark.slow
def test_studies_that_only_figures_read_are_predicted_too(saved):
    _, words, data, _ = saved
    rows = {row["study"]: row for row in json.loads(run(*words, "--dry-run", "--json"))}
    assert {name for name in rows if " " not in name} == set(data["studies"]) == {"one", "two"}
    for name, study in data["studies"].items():
        assert rows[name]["runs"] == rows[name]["stored"] == study["runs"] == 2
        assert rows[name]["cpu_s"] == 0


@pytest.mark.slow
def test_what_comes_after_the_runs_is_predicted_and_figures_only_if_they_are_written(saved):
    at, words, _, _ = saved

    def rest_s(*more):
        rows = json.loads(run(*words, *more, "--dry-run", "--json"))
        return next(row["cpu_s"] for row in rows if row["study"] == REST)

    without, drawn = rest_s(), rest_s("--out", str(at / "drawn"))
    assert drawn - without == pytest.approx(FIGURES_START_S + FIGURE_S)
    # Two studies with two runs each, and a check.
    assert without == pytest.approx(START_S + 2 * SWEEP_S + 4 * RUN_S + CHECK_S)


@pytest.mark.slow
def test_a_part_of_a_profile_has_no_audits(saved):
    _, words, _, _ = saved
    assert json.loads(run(*words, "--only", "r", "--json"))["audits"] == {}


def test_flows_of_an_audit_have_what_the_control_needs():
    # Only the documents: a build need not have the library.
    shipped = BoundControl("s2n/cubic", "s2n/cubic")
    for _, _, document in documents(shipped.value, TIERS["fast"], shipped.settings):
        own = [flow for flow in document["flows"] if flow.get("cc") == "s2n/cubic"]
        assert own
        assert {flow["recovery"] for flow in own} == {"rack"}
    assert BoundControl("dctcp", "dctcp", {"ecn": True}).settings == {"tcp": {"ecn": True}}
    assert BoundControl("cubic", "cubic").settings == {}


def test_a_control_is_no_rival_of_itself_under_any_name():
    others = {"CUBIC": "cubic", "Reno": "aimd", "slow": {"kind": "aimd", "a": 0.5}}
    for control, rivals in [
        (BoundControl("cubic", "cubic"), {"Reno", "slow"}),
        (BoundControl("mine", "aimd"), {"CUBIC", "slow"}),
        (BoundControl("slower", {"kind": "aimd", "a": 0.5}), {"CUBIC", "Reno"}),
        (BoundControl("vegas", "vegas"), {"CUBIC", "Reno", "slow"}),
    ]:
        task = SimpleNamespace(control=control, rivals=others, seed=None)
        assert set(audits._rivals(task)) == rivals
        assert set(audits._arena(task).controls) == {control.label, *rivals}
        assert set(audits._game(task, 2).strategies) == {control.label, *rivals}


def test_late_comers_are_reported_from_the_least_to_the_most_of_their_own_kind():
    def row(situation, low, high):
        return SimpleNamespace(situation=situation, low=low, high=high, at_rest=True)

    rows = [row("sequential", 0.5, 0.9), row("joining", 0.7, 1.5), row("mixed", 0.1, 9.0)]
    said = audits._late(SimpleNamespace(rows=rows, answer="Why.", gap_s=10.0))
    assert said == "Among its own kind a late-comer gets 0.5 to 1.5 times what the others get. Why."
