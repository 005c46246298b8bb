"""Signatures of classes that are made from the registry."""

import copy
import inspect

import pytest

import ackclock as ac
from ackclock.catalogue.form import with_units
from ackclock.catalogue.records import documentation


@pytest.mark.parametrize("cls", [ac.cc.Vegas, ac.qdisc.Red, ac.Flow, ac.topology.Dumbbell])
def test_fields_may_be_given_by_place_and_by_name(cls):
    parameters = inspect.signature(cls).parameters.values()
    assert parameters
    assert {one.kind for one in parameters} == {inspect.Parameter.POSITIONAL_OR_KEYWORD}
    # What has no default comes first, as Python has it.
    has_default = [one.default is not inspect.Parameter.empty for one in parameters]
    assert has_default == sorted(has_default)


def test_the_signature_has_the_defaults_that_the_class_takes():
    parameters = inspect.signature(ac.cc.Vegas).parameters
    plain = ac.cc.Vegas()
    assert next(iter(parameters)) == "alpha"
    assert parameters["alpha"].default == plain.alpha
    assert ac.cc.Vegas(3.0) == ac.cc.Vegas(alpha=3.0) != plain


def test_a_documentation_has_every_default_that_is_one():
    rules = {
        "type": "object",
        "properties": {
            "zero": {"type": "integer", "default": 0, "description": "None\n at all."},
            "off": {"type": "boolean", "default": False, "description": "Is off."},
            "none": {"type": ["integer", "null"], "default": None},
            "must": {"type": "number", "minimum": 1, "maximum": 2, "description": "Is given."},
        },
        "required": ["must"],
    }
    text = documentation("A rule", "a source", "specified", rules)
    lines = text.splitlines()
    assert lines[0] == "A rule."
    assert any(line.startswith("zero : ") and line.endswith(", default 0") for line in lines)
    assert any(line.startswith("off : ") and line.endswith(", default False") for line in lines)
    assert not any("default" in line for line in lines if line.startswith(("none", "must")))
    assert "    None at all." in lines
    assert any(line.startswith("    Is given. Range: ") for line in lines)
    assert lines[-3:] == ["References", "----------", "a source (specified)"]
    assert "References" not in documentation("A rule.", "", "", rules)


def test_units_are_written_into_a_copy():
    net = {"kind": "dumbbell", "pairs": 1, "rate": 5e6, "rtt": 0.04}
    data = {"duration": 5, "net": net, "flows": [{"pair": 0, "start": 1}]}
    kept = copy.deepcopy(data)
    changed = with_units(data)
    assert data == kept
    assert changed != data
    assert changed["net"]["kind"] == "dumbbell"
