"""`ackclock schema`: the JSON Schemas accept what is valid, and refuse a wrong key."""

import json
import tomllib
from dataclasses import fields
from functools import cache
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource

import ackclock as ac
from ackclock import document_schemas
from ackclock.catalogue import schema
from ackclock.catalogue.entries import defaults_of, schema_of
from ackclock.cli import main as cli
from ackclock.cli.look.schema import NAMES
from ackclock.engines.model.case import ModelCase
from ackclock.experiments import file_form
from ackclock.experiments.statistics import Precision

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (".", "fluid", "hybrid")
EXAMPLES = sorted(file for folder in FOLDERS for file in ROOT.glob(f"examples/{folder}/*.toml"))
PAPERS = ROOT / "python/ackclock/papers"
OF_PAPERS = {
    "paper.toml": "paper",
    "claims.toml": "claims",
    "errata.toml": "claims",
    "figures.toml": "figures",
    "unstated.toml": "unstated",
    "views.toml": "views",
}


FILES = Registry().with_resources(
    (name, Resource.from_contents(json.loads(text)))
    for name, text in document_schemas.schemas().items()
)


@cache
def validator(name):
    rules = json.loads(document_schemas.schemas()[f"{name}.json"])
    jsonschema.Draft7Validator.check_schema(rules)
    return jsonschema.Draft7Validator(rules, registry=FILES)


def read(file):
    return tomllib.loads(file.read_text())


def faults(name, document):
    return [
        f"{list(e.absolute_path)}: {e.message[:200]}" for e in validator(name).iter_errors(document)
    ]


def kind(document):
    if "base" in document or "scenario" in document:
        return "sweep"
    return {"packet": "scenario"}.get(document.get("engine", "packet"), document.get("engine"))


def test_every_kind_of_document_has_a_schema():
    assert sorted(document_schemas.schemas()) == sorted(f"{name}.json" for name in NAMES)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_names_its_schema_and_is_valid(file):
    first = file.read_text().splitlines()[0]
    word, place = first.split()
    assert word == "#:schema"
    named = (file.parent / place).resolve()
    assert named == (ROOT / "python/ackclock/schemas" / named.name)
    document = read(file)
    assert named.stem == kind(document)
    assert faults(named.stem, document) == []
    assert faults(named.stem, {**document, "durations": "1 s"}) != []


@pytest.mark.parametrize(
    "file", sorted(PAPERS.glob("*/*.toml")), ids=lambda f: f"{f.parent.name}-{f.stem}"
)
def test_a_papers_files_are_valid(file):
    name, document = OF_PAPERS[file.name], read(file)
    assert faults(name, document) == []
    assert faults(name, {**document, "no_such_key": 1}) != []


STUDIES = [f for f in sorted(PAPERS.glob("*/scenarios/**/*.toml")) if kind(read(f)) in NAMES]


@pytest.mark.parametrize("file", STUDIES, ids=lambda f: f"{f.parents[1].name}-{f.stem}")
def test_a_papers_scenarios_and_sweeps_are_valid(file):
    document = read(file)
    for tier in document.get("tiers", {}).values():
        tier.pop("skip", None)  # A key of papers, which `ackclock sweep` refuses.
    assert faults(kind(document), document) == []
    assert faults(kind(document), {**document, "no_such_key": 1}) != []


def small(**flow):
    return {
        "net": {"kind": "dumbbell", "pairs": 1, "rate": "1 Mbps", "rtt": "10 ms"},
        "flows": [{"pair": 0, **flow}],
        "duration": 1,
    }


@pytest.mark.parametrize(
    ("document", "is_valid"),
    [
        (small(), True),
        (small(cc="cubic"), True),
        (small(cc="cubik"), False),
        (small(cc={"kind": "aimd", "a": 2}), True),
        (small(cc={"kind": "aimd", "alpha": 2}), False),
        (small(cc={"kind": "aimd", "b": 1.5}), False),
        (small(cc={"kind": "aimd", "count": "segments"}), True),
        (small(cc={"kind": "aimd", "count": "segment"}), False),
        (small(cc="mine.py:Mine"), True),
        (small(cc={"kind": "python", "class": "mine.py:Mine", "target": 1}), True),
        (small(cc={"kind": "python"}), False),
        (small(recovery="mine.py:Mine"), False),
        ({**small(), "engine": "packet"}, True),
        ({**small(), "engine": "fluid"}, False),
        ({**small(), "era": "1066"}, False),
    ],
)
def test_algorithms_are_checked_by_the_parameters_of_their_kind(document, is_valid):
    assert (faults("scenario", document) == []) is is_valid


def law(**params):
    return {"engine": "model", "model": "square_root_law", "params": params}


@pytest.mark.parametrize(
    ("params", "is_valid"),
    [
        ({"loss_ratio": 0.01}, True),
        ({"loss_ratio": {"from": 0.001, "to": 0.1, "points": 5, "scale": "log"}}, True),
        ({"loss_ratio": 0.01, "rtt_s": [0.1, 0.2]}, True),
        ({"loss_ratio": 0.01, "rtt_s": [0.1, 0.0]}, False),
        ({"loss_ratio": 1}, False),
        ({"loss_ratio": {"from": 0.0, "to": 0.1, "points": 5}}, False),
        ({"loss_ratio": {"from": 0.001, "to": 0.1}}, False),
        ({"rtt_s": 0.1}, False),
        ({"loss_ratio": 0.01, "rtt": 0.1}, False),
    ],
)
def test_a_closed_form_is_checked_by_the_ranges_of_its_parameters(params, is_valid):
    assert (faults("model", law(**params)) == []) is is_valid
    try:
        ModelCase({"model": law()["model"], "params": params}).execute()
    except ac.ScenarioError:
        assert not is_valid
    else:
        assert is_valid


@pytest.mark.parametrize("room", ["cc", "qdisc", "recovery", "slow_start"])
def test_every_algorithm_may_be_named(room):
    for name in schema.catalogue()[room]:
        document = small() if room == "qdisc" else small(**{room: name})
        if room == "qdisc":
            document["net"]["qdisc"] = {"kind": name}
        assert faults("scenario", document) == [], name


@pytest.mark.parametrize(
    ("change", "is_valid"),
    [
        ({}, True),
        ({"over": {"seed": [1, 2]}}, True),
        ({"over": {"seed": []}}, False),
        ({"over": {"cc": {"path": "flows[*].cc", "values": {"Reno": "aimd"}}}}, True),
        ({"over": {"cc": {"path": "flows[*].cc"}}}, False),
        ({"reps": 0}, False),
        ({"reps": 2, "until": {"metric": "mean(flows.goodput_bps)"}}, False),
        ({"until": {"half_width": 0.1}}, False),
        ({"base": "other.toml"}, False),
        ({"tiers": {"fast": {"reps": 2, "metrics": []}}}, False),
        ({"scenario": {**small(), "duratoin": 1}}, False),
        ({"scenario": {"engine": "fluid", "net": {"kind": "links", "links": []}}}, True),
        ({"scenario": {"engine": "fluid", **small()}}, False),
        ({"scenario": law(loss_ratio=[0.01, 0.1])}, True),
        ({"scenario": law(loss_ratio=1.5)}, False),
    ],
)
def test_a_sweep_is_checked_with_its_scenario(change, is_valid):
    assert (faults("sweep", {"scenario": small(), **change}) == []) is is_valid


def test_defaults_of_a_precision_are_those_that_are_read():
    defaults = {field.name: field.default for field in fields(Precision) if field.name != "metric"}
    assert defaults_of(schema_of(file_form.Until)) == defaults


def references(rules):
    items = rules.values() if isinstance(rules, dict) else rules if isinstance(rules, list) else ()
    here = [rules["$ref"]] if isinstance(rules, dict) and "$ref" in rules else []
    return [*here, *(ref for item in items for ref in references(item))]


def test_the_command_prints_and_writes_them(tmp_path, capsys):
    assert cli.main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Scenario"
    assert cli.main(["schema", "sweep"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert ".json" not in str(references(printed))
    alone = jsonschema.Draft7Validator(printed)
    assert not list(alone.iter_errors({"scenario": small(cc="mine.py:Mine")}))
    assert list(alone.iter_errors({"scenario": small(cc="cubik")}))
    assert list(alone.iter_errors({"scenario": {"engine": "fluid", **small()}}))
    out = tmp_path / "new" / "schemas"
    assert cli.main(["schema", "--out", str(out)]) == 0
    assert {f.name: f.read_text() for f in out.iterdir()} == document_schemas.schemas()
    assert cli.main(["schema", "views", "--out", str(tmp_path / "one")]) == 0
    assert [f.name for f in (tmp_path / "one").iterdir()] == ["views.json"]


def test_an_unknown_kind_of_document_is_refused(capsys):
    assert cli.main(["schema", "scenarios"]) == cli.EXIT_INPUT
    assert "scenario" in capsys.readouterr().err
