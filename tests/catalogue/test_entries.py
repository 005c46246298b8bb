"""Entries of documents: a class gives the form and the reader."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Required, TypedDict

import jsonschema
import pytest

from ackclock.catalogue.entries import Key, read_entry, schema_of
from ackclock.catalogue.form import parameter_problems


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


def test_a_type_that_no_document_holds_is_refused():
    class Wrong(TypedDict):
        """Wrong."""

        file: Path

    with pytest.raises(TypeError, match=r"a document cannot hold .*Path"):
        schema_of(Wrong)
