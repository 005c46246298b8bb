"""JSON Schemas of documents for editors: what `ackclock schema` writes.

They are made from the schemas that the checks use. Those have further keywords (units) and leave
the parameters of algorithms to the catalogue, so they are translated to plain draft 7.
"""

from __future__ import annotations

import inspect
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from ackclock.catalogue import schema
from ackclock.catalogue.entries import schema_of
from ackclock.dossier.form import ComparisonForm, DossierForm
from ackclock.dossier.profile import AboutProfile, RequirementsFile
from ackclock.engines.fluid import document
from ackclock.engines.hybrid import document as hybrid
from ackclock.engines.model import MODELS, model, parameters
from ackclock.engines.model.ranges import ranges_of
from ackclock.experiments.file_form import SweepFile, SweepTier
from ackclock.reproduce import figure, paper
from ackclock.studies.game.form import GameFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.engines.model.ranges import Range

__all__ = ["FORMS", "schemas"]

Data = dict[str, Any]

_DIALECT = "http://json-schema.org/draft-07/schema#"
_LEFT_OUT = {
    "$schema",
    "$defs",
    "format",
    "title",
    "x-unit",
    "x-bare",
    "x-quantity",
    "x-room",
    "x-file",
}
_BRANCHES = {"oneOf", "anyOf", "allOf"}
_INNER = {"items", "additionalProperties", "propertyNames"}
_MOST = {"uint16": 2**16 - 1, "uint32": 2**32 - 1}
_OF_USERS = ("cc", "qdisc")
"""Rooms in which a class of a Python file may be named."""

_ALGORITHM: Data = {
    "anyOf": [
        {"type": "string"},
        {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]},
    ]
}
"""An algorithm under a key that accepts only part of a room, as ``aqm`` does."""


class _Translation:
    """Translates schemas of the checks; what they refer to gathers in ``definitions``."""

    def __init__(self) -> None:
        self.definitions: dict[str, Data] = {}
        for name, rules in schema.scenario()["$defs"].items():
            if name != "Spec":
                self.definitions[name] = self.plain(rules, {}, None)

    def plain(self, rules: Any, names: Mapping[str, str], room: str | None) -> Any:
        """Translate a schema; ``names`` renames what it refers to, ``room`` is that of its key."""
        if not isinstance(rules, dict):
            return rules
        made: Data = {}
        for key, value in rules.items():
            if key in _LEFT_OUT:
                continue
            if key == "$ref":
                target = str(value).rsplit("/", 1)[-1]
                name = self._room(room) if target == "Spec" else names.get(target, target)
                made["$ref"] = f"#/definitions/{name}"
            elif key == "properties":
                made[key] = {p: self.plain(v, names, v.get("x-room")) for p, v in value.items()}
            elif key in _BRANCHES:
                constants = _constants(value)
                if constants:
                    made["enum"] = constants
                else:
                    branches = [self.plain(branch, names, room) for branch in value]
                    made["allOf" if key == "allOf" else "anyOf"] = branches
            elif key in _INNER:
                made[key] = self.plain(value, names, room)
            else:
                made[key] = value
        if "x-quantity" in rules:
            made.setdefault("type", ["number", "string"])
        if rules.get("format") in _MOST:
            made.setdefault("maximum", _MOST[rules["format"]])
        if "x-unit" in rules and "description" in made:
            made["description"] = f"{made['description']} [{rules['x-unit']}]"
        if "$ref" in made and len(made) > 1:
            # Draft 7 ignores what is beside a reference.
            made["allOf"] = [{"$ref": made.pop("$ref")}, *made.get("allOf", [])]
        return made

    def _room(self, room: str | None) -> str:
        """The definition of an algorithm of a room: a name, or a table with ``kind``."""
        if room is None:
            self.definitions["algorithm"] = _ALGORITHM
            return "algorithm"
        name = f"room-{room}"
        if name not in self.definitions:
            self.definitions[name] = {}  # A queue may hold queues.
            entries = schema.catalogue()[room]
            choices: list[Data] = [{"enum": schema.names(room)}]
            choices += [self._algorithm(room, entry) for entry in entries.values()]
            if room in _OF_USERS:
                choices += _user_defined()
            self.definitions[name] = {"anyOf": choices}
        return name

    def _algorithm(self, room: str, entry: Data) -> Data:
        rules = entry["params"]
        definitions: dict[str, str] = {}
        for name in rules.get("$defs", {}):
            definitions[name] = f"{room}-{entry['name']}-{name}"
        for name, inner in rules.get("$defs", {}).items():
            if name != "Spec":
                self.definitions[definitions[name]] = self.plain(inner, definitions, None)
        made: Data = self.plain(rules, definitions, None)
        replayed = schema.find_replayed_parameter(room, entry["name"])
        required = [key for key in made.get("required", ()) if key != replayed]
        made["required"] = ["kind", *required]
        if replayed is not None:
            made["anyOf"] = [{"required": [replayed]}, {"required": ["file"]}]
        names = [entry["name"], *entry["also"]]
        kind = {"const": names[0]} if len(names) == 1 else {"enum": names}
        made["properties"] = {"kind": kind, **made.get("properties", {})}
        made["description"] = f"{entry['title'].rstrip('.')}. Source: {entry['source']}."
        made["type"] = "object"
        made["additionalProperties"] = False
        return made

    def document(self, rules: Data, title: str) -> Data:
        """A schema with the definitions that it needs."""
        needed: dict[str, Data] = {}
        waiting = [rules]
        while waiting:
            for name in _references(waiting.pop()):
                if name not in needed:
                    needed[name] = self.definitions[name]
                    waiting.append(needed[name])
        definitions = {name: needed[name] for name in sorted(needed)}
        more = {"definitions": definitions} if definitions else {}
        return {"$schema": _DIALECT, "title": title, **rules, **more}


def _constants(branches: list[Data]) -> list[Any]:
    """The values of a choice between constants; none if it is another choice."""
    if not all("const" in branch or "enum" in branch for branch in branches):
        return []
    return [value for b in branches for value in b.get("enum", [b.get("const")])]


def _references(rules: Any) -> list[str]:
    if isinstance(rules, list):
        return [name for item in rules for name in _references(item)]
    if not isinstance(rules, dict):
        return []
    found = [str(rules["$ref"]).rsplit("/", 1)[-1]] if isinstance(rules.get("$ref"), str) else []
    return found + [name for value in rules.values() for name in _references(value)]


def _user_defined() -> list[Data]:
    reference = {
        "type": "string",
        "pattern": r"\.py:\w+$",
        "description": "A class of a Python file, as in mine.py:Mine; path relative to this file.",
    }
    table = {
        "type": "object",
        "properties": {"kind": {"const": "python"}, "class": reference},
        "required": ["kind", "class"],
        "description": "A class of a Python file, with its parameters.",
    }
    return [reference, table]


def _with_engine(rules: Data, engine: str, *, required: bool) -> Data:
    key = {"const": engine, "description": "The engine that runs the document."}
    needed = ["engine"] if required else []
    return {
        **rules,
        "properties": {"engine": key, **rules["properties"]},
        "required": [*needed, *rules["required"]],
    }


def _model() -> Data:
    """A document of the engine model: parameters by the closed form that it names."""
    return {
        "type": "object",
        "properties": {
            "engine": {"const": "model", "description": "The engine that runs the document."},
            "model": {"enum": list(MODELS), "description": "The closed form."},
            "params": {"type": "object", "description": "Values; lists and ranges multiply."},
            "name": {"type": "string", "description": "A name for titles and file names."},
        },
        "required": ["engine", "model"],
        "additionalProperties": False,
        "allOf": [
            {"if": {"properties": {"model": {"const": name}}}, "then": _closed_form(name)}
            for name in MODELS
        ],
        "description": "A closed form over a grid of its parameters.",
    }


def _closed_form(name: str) -> Data:
    bounds = ranges_of(model(name))
    known = parameters(name)
    needed = [key for key, default in known.items() if default is inspect.Parameter.empty]
    params = {
        "properties": {key: _parameter(bounds.get(key)) for key in known},
        "required": needed,
        "additionalProperties": False,
    }
    return {"properties": {"params": params}, "required": ["params"] if needed else []}


def _parameter(bounds: Range | None) -> Data:
    """A number in its range, a list of such, or a range; a text, where no range is stated."""
    if bounds is None:
        one: Data = {"type": ["number", "string"]}
        end: Data = {"type": "number"}
        described = {}
    else:
        rules = bounds.rules()
        described = {"description": f"[{rules.pop('x-unit')}]"} if "x-unit" in rules else {}
        one = end = rules
    between = {
        "type": "object",
        "properties": {
            "from": end,
            "to": end,
            "points": {"type": "integer", "minimum": 1},
            "scale": {"enum": ["linear", "log"]},
        },
        "required": ["from", "to", "points"],
        "additionalProperties": False,
    }
    return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}, between], **described}


_CASE = {
    "allOf": [
        {
            "if": {"properties": {"engine": {"const": "model"}}, "required": ["engine"]},
            "then": {"$ref": "model.json"},
        },
        {
            "if": {"properties": {"engine": {"const": "fluid"}}, "required": ["engine"]},
            "then": {"$ref": "fluid.json"},
        },
        {
            "if": {"properties": {"engine": {"const": "hybrid"}}, "required": ["engine"]},
            "then": {"$ref": "hybrid.json"},
        },
        {
            "if": {"properties": {"engine": {"const": "packet"}}},
            "then": {"$ref": "scenario.json"},
        },
    ]
}

_NOT_BOTH = {"not": {"required": ["reps", "until"]}}


def _sweep() -> Data:
    """The form of a sweep: what its class says, what depends on the engine, what excludes what."""
    form = schema_of(SweepFile)
    keys = dict(form["properties"])
    keys["scenario"] = {**keys["scenario"], **_CASE}
    keys["tiers"] = {**keys["tiers"], "additionalProperties": {**schema_of(SweepTier), **_NOT_BOTH}}
    choice = [{"required": ["base"]}, {"required": ["scenario"]}]
    return {**form, "properties": keys, "oneOf": choice, **_NOT_BOTH}


FORMS: dict[str, tuple[type, str]] = {
    "game": (GameFile, "FILE.toml of a game"),
    "paper": (paper.AboutPaper, "paper.toml of a paper"),
    "claims": (paper.ClaimsFile, "claims.toml of a paper"),
    "figures": (figure.FiguresFile, "figures.toml of a paper"),
    "unstated": (paper.UnstatedFile, "unstated.toml of a paper"),
    "views": (paper.ViewsFile, "views.toml of a paper"),
    "profile": (AboutProfile, "profile.toml of a profile"),
    "requirements": (RequirementsFile, "requirements.toml of a profile"),
    "comparison": (ComparisonForm, "comparison.json of a comparison"),
    "dossier": (DossierForm, "dossier.json of a dossier"),
}
"""Documents of which a class says the form, and their titles."""


@cache
def schemas() -> dict[str, str]:
    """Every schema file's text by its name."""
    made = _Translation()
    packet = _with_engine(made.plain(schema.scenario(), {}, None), "packet", required=False)
    fluid = _with_engine(made.plain(document.rules(), {}, None), "fluid", required=True)
    fluid["description"] = "A fluid case: a network, its flows, who decides their rates."
    mixed = _with_engine(made.plain(hybrid.rules(), {}, None), "hybrid", required=True)
    mixed["description"] = "A hybrid case: a scenario of packets, and others that are rates."
    documents = {
        "scenario": made.document(packet, "Scenario"),
        "fluid": made.document(fluid, "Fluid case"),
        "hybrid": made.document(mixed, "Hybrid case"),
        "model": made.document(_model(), "Closed form"),
    }
    for name in ("fluid", "hybrid"):
        documents[name] = _sharing(documents[name], documents["scenario"], "scenario.json")
    documents["sweep"] = {"$schema": _DIALECT, "title": "Sweep", **_sweep()}
    for name, (form, title) in FORMS.items():
        documents[name] = made.document(schema_of(form), title)
    return {
        f"{name}.json": json.dumps(rules, indent=1, ensure_ascii=False) + "\n"
        for name, rules in documents.items()
    }


def _sharing(rules: Data, base: Data, file: str) -> Data:
    """A schema whose definitions that another has are those of the other's file."""
    shared = {
        f"#/definitions/{name}"
        for name, definition in rules["definitions"].items()
        if base["definitions"].get(name) == definition
    }

    def refer(value: Any) -> Any:
        if isinstance(value, list):
            return [refer(item) for item in value]
        if not isinstance(value, dict):
            return value
        if isinstance(value.get("$ref"), str) and value["$ref"] in shared:
            return {**value, "$ref": f"{file}{value['$ref']}"}
        return {key: refer(item) for key, item in value.items()}

    own = {k: v for k, v in rules["definitions"].items() if f"#/definitions/{k}" not in shared}
    result: Data = refer({**rules, "definitions": own})
    return result
