"""Entries of documents: a class gives the form and the reader."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

import jsonschema
import pytest

from ackclock.catalogue.entries import Algorithm, Key, Rate, defaults_of, read_entry, schema_of
from ackclock.catalogue.form import parameter_problems
from ackclock.engines.fluid.listed import ListedLinks


class Span(TypedDict, total=False):
    """A span."""

    low: Required[Annotated[float, "Its lower end."]]
    high: Annotated[float | str, "Its upper end."]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a thing.

    More is not in the form.
    """

    place: str = ""
    name: Annotated[str, "Its name."]
    span: Annotated[Span, "Where it is."] | None = None


@dataclass(frozen=True)
class Thing:
    """A thing."""

    file: Path
    count: Annotated[int, "How many.", Key(minimum=1)]
    parts: Annotated[tuple[Part, ...], "What it has.", Key("part", minItems=1)] = ()
    kind: Annotated[Literal["a", "b"], "Which."] = "b"
    level: Annotated[str, "How high.", Key(enum=["low", "high"])] = ""
    more: Annotated[Mapping[str, float], "By name."] = field(default_factory=dict)
    anything: Annotated[Any, "Of any type."] = None


def test_the_form_has_names_types_bounds_sentences_and_defaults_of_the_fields():
    part = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Its name."},
            "span": {
                "type": "object",
                "properties": {
                    "low": {"type": "number", "description": "Its lower end."},
                    "high": {"type": ["number", "string"], "description": "Its upper end."},
                },
                "required": ["low"],
                "additionalProperties": False,
                "description": "Where it is.",
            },
        },
        "required": ["name"],
        "additionalProperties": False,
        "description": "A part of a thing.",
    }
    assert schema_of(Thing) == {
        "type": "object",
        "properties": {
            "count": {"type": "integer", "description": "How many.", "minimum": 1},
            "part": {
                "type": "array",
                "items": part,
                "description": "What it has.",
                "minItems": 1,
            },
            "kind": {"enum": ["a", "b"], "description": "Which.", "default": "b"},
            "level": {"description": "How high.", "enum": ["low", "high"]},
            "more": {
                "type": "object",
                "additionalProperties": {"type": "number"},
                "description": "By name.",
            },
            "anything": {"description": "Of any type."},
        },
        "required": ["count"],
        "additionalProperties": False,
        "description": "A thing.",
    }
    jsonschema.Draft202012Validator.check_schema(schema_of(Thing))


def test_the_core_reports_what_is_wrong_by_that_form():
    data = {"count": 0, "part": [{"nam": "x"}], "level": "hig"}
    assert [str(problem) for problem in parameter_problems(schema_of(Thing), data)] == [
        "count: 0 is out of range; expected at least 1",
        'part[0].nam: "nam" is not a key here; did you mean "name"?',
        'part[0]: "name" is missing (Its name)',
        'level: "hig" is not known here; did you mean "high"?',
    ]


def test_a_table_is_read_with_its_entries_and_without_those_that_are_not_complete():
    table = {"count": 2, "part": [{"name": "x", "span": {"low": 1}}, {}, None], "more": {"y": 1}}
    thing = read_entry(Thing, table, file=Path("f"))
    part = Part(name="x", span={"low": 1})
    assert thing == Thing(Path("f"), 2, parts=(part,), more={"y": 1})
    assert read_entry(Thing, table, file=Path("f"), parts=()).parts == ()


@pytest.mark.parametrize("data", [{}, None, {"kind": "a"}])
def test_what_lacks_a_key_is_no_entry(data):
    assert read_entry(Thing, data, file=Path("f")) is None


class Circle(TypedDict):
    """A circle."""

    kind: Literal["circle"]
    radius: Annotated[Rate, "Its radius.", Key(minimum=0, x_bare=True)]


class Square(TypedDict):
    """A square."""

    kind: Literal["square"]
    side: NotRequired[Annotated[float | None, "Its side."]]


class Drawing(TypedDict, total=False):
    """A drawing."""

    shape: Annotated[Circle | Square, "What is drawn."]
    rule: Annotated[Algorithm, Key(x_room="sharing", default="fifo"), "Who draws."]
    scale: Annotated[float, "How large.", Key(default=0.0)]


def test_a_choice_of_tables_is_by_their_kind_and_further_keywords_are_written_as_they_are():
    rules = schema_of(Drawing)["properties"]
    circle, square = rules["shape"]["oneOf"]
    assert circle["properties"]["kind"] == {"const": "circle"}
    assert circle["properties"]["radius"] == {
        "x-quantity": "rate",
        "x-unit": "bit/s",
        "description": "Its radius.",
        "minimum": 0,
        "x-bare": True,
    }
    assert square["required"] == ["kind"]
    assert square["properties"]["side"]["type"] == ["number", "null"]
    assert rules["rule"] == {
        "$ref": "#/$defs/Spec",
        "x-room": "sharing",
        "default": "fifo",
        "description": "Who draws.",
    }


def test_the_core_names_what_a_kind_has():
    data = {"shape": {"kind": "circle", "side": 1}}
    assert [str(problem) for problem in parameter_problems(schema_of(Drawing), data)] == [
        'shape.side: "side" is not a key here; expected one of: radius',
        'shape: "radius" is missing (Its radius)',
    ]


def test_defaults_are_those_of_keys_that_have_one():
    assert defaults_of(schema_of(Drawing)) == {"rule": "fifo", "scale": 0.0}
    assert defaults_of(schema_of(Thing)) == {"kind": "b"}


def test_annotations_may_be_text():
    """As in modules with ``from __future__ import annotations``."""
    rules = schema_of(ListedLinks)
    assert rules["required"] == ["links"]
    assert list(rules["properties"]) == ["links", "nodes", "directed"]


def test_a_type_that_no_document_holds_is_refused():
    class Wrong(TypedDict):
        """Wrong."""

        file: Path

    with pytest.raises(TypeError, match=r"a document cannot hold .*Path"):
        schema_of(Wrong)
