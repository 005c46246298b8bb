"""Entries of documents: the JSON Schema and the reader of the class that holds one.

A table of a document is a dataclass or a TypedDict. Its keys are the fields whose type has a
sentence; what else the form requires is a `Key` behind it::

    @dataclass(frozen=True, kw_only=True)
    class Margin:
        \"\"\"A distance that counts as none.\"\"\"

        id: Annotated[str, "As bounds name it."]
        value: Annotated[float, "The distance.", Key(exclusiveMinimum=0)]
        unit: Annotated[str, "Its unit."] = ""

A key without default must be there; a field that is None where its key is absent has the type
``Annotated[...] | None``. Fields of a dataclass that are not annotated are no keys: readers fill
them. The module of such a class evaluates its annotations, so it has no ``from __future__ import
annotations``.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin

__all__ = ["Algorithm", "Duration", "Key", "Rate", "defaults_of", "read_entry", "schema_of"]

Schema = dict[str, Any]
Entry = TypeVar("Entry")

_NONE = type(None)
_TYPES: dict[type, str]
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", _NONE: "null"}
_CHOICES = {"$ref", "anyOf", "oneOf", "enum", "const", "x-quantity"}
"""Rules that replace those of the field's type."""


class Key:
    """What the form requires of a key beside its type.

    Parameters
    ----------
    name
        The key, where the field has another name.
    **rules
        Keywords of JSON Schema, as in ``minimum=1``, ``x_room="qdisc"``. A choice (``enum``,
        ``anyOf``) replaces the rules of the type.
    """

    def __init__(self, name: str = "", **rules: Any) -> None:
        self.name = name
        self.rules = {re.sub("^x_", "x-", key): rule for key, rule in rules.items()}


Algorithm = Annotated[str | Mapping[str, Any], Key(**{"$ref": "#/$defs/Spec"})]
"""The name of an algorithm, or a table with ``kind``; `Key` names its room."""

Duration = Annotated[float | str, Key(x_quantity="duration", x_unit="s")]
Rate = Annotated[float | str, Key(x_quantity="rate", x_unit="bit/s")]


class _FormKey(NamedTuple):
    """A key of a table, and the field that holds it."""

    name: str
    field: str
    type: Any
    rules: Schema
    is_required: bool


@cache
def schema_of(entry: Any) -> Schema:
    """Give the JSON Schema of a table; not to be changed.

    Parameters
    ----------
    entry
        A dataclass or a TypedDict.
    """
    keys = _keys(entry)
    about = (entry.__doc__ or "").partition("\n\n")[0].replace("``", "`")
    return {
        "type": "object",
        "properties": {key.name: key.rules for key in keys},
        "required": [key.name for key in keys if key.is_required],
        "additionalProperties": False,
        "description": " ".join(about.split()),
    }


def defaults_of(rules: Mapping[str, Any]) -> Schema:
    """Give the defaults of keys that have one.

    Parameters
    ----------
    rules
        JSON Schema of a table.
    """
    known = rules["properties"].items()
    return {key: inner["default"] for key, inner in known if "default" in inner}


def read_entry(entry: type[Entry], data: Any, **beside: Any) -> Entry | None:
    """Make an entry of a table; None where a key that must be there is missing or was wrong.

    Parameters
    ----------
    entry
        A dataclass.
    data
        The table without what the check of form reported; no table where it was wrong altogether.
    **beside
        Values of fields that are no keys, or in place of those of keys.
    """
    form: type = entry
    if not isinstance(data, Mapping) or not set(schema_of(form)["required"]) <= set(data):
        return None
    values = {
        key.field: _read(key.type, data[key.name])
        for key in _keys(form)
        if key.name in data and key.field not in beside
    }
    return entry(**values, **beside)


def _read(hint: Any, value: Any) -> Any:
    """A key's value as its field holds it: lists are tuples, entries in them are read."""
    if get_origin(hint) is tuple:
        items = [_read(get_args(hint)[0], item) for item in value]
        return tuple(item for item in items if item is not None)
    return read_entry(hint, value) if isinstance(hint, type) and is_dataclass(hint) else value


@cache
def _keys(entry: Any) -> tuple[_FormKey, ...]:
    """The keys of a table, in their order."""
    hints = typing.get_type_hints(entry, include_extras=True)
    if typing.is_typeddict(entry):
        # Where annotations are text, only the hints know what is required.
        kinds = {name: get_origin(hint) for name, hint in hints.items()}
        needed = {name for name, kind in kinds.items() if kind is typing.Required}
        needed |= {n for n in entry.__required_keys__ if kinds[n] is not typing.NotRequired}
        return tuple(_key(name, hint, is_required=name in needed) for name, hint in hints.items())
    keys = []
    for field in fields(entry):
        hint = hints[field.name]
        if _is_optional(hint) or get_origin(hint) is Annotated:
            is_required = field.default is field.default_factory is MISSING
            keys.append(_key(field.name, hint, is_required=is_required))
            # What is false in Python is how a field says that its key is absent.
            if field.default is not MISSING and field.default:
                keys[-1].rules["default"] = field.default
    return tuple(keys)


def _is_optional(hint: Any) -> bool:
    """Whether a field is None where its key is absent."""
    branches = get_args(hint)
    return _NONE in branches and any(get_origin(branch) is Annotated for branch in branches)


def _key(field: str, hint: Any, *, is_required: bool) -> _FormKey:
    while get_origin(hint) in (typing.Required, typing.NotRequired) or _is_optional(hint):
        hint = get_args(hint)[0]
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    name = next((note.name for note in notes if isinstance(note, Key) and note.name), field)
    return _FormKey(name, field, kind, dict(_rules(hint)), is_required)


def _rules(hint: Any) -> Schema:
    """JSON Schema of a type."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        rules: Schema = {}
        for note in inner[1:]:
            rules |= {"description": note} if isinstance(note, str) else note.rules
        return rules if _CHOICES & set(rules) else {**_rules(inner[0]), **rules}
    if origin is typing.Literal:
        return {"const": inner[0]} if len(inner) == 1 else {"enum": list(inner)}
    if origin in (typing.Union, types.UnionType):
        branches = [_rules(branch) for branch in inner]
        if all(set(branch) == {"type"} for branch in branches):
            return {"type": [branch["type"] for branch in branches]}
        return {"oneOf" if all("properties" in b for b in branches) else "anyOf": branches}
    if origin in (tuple, list):
        return {"type": "array", "items": _rules(inner[0])}
    if origin is Mapping:
        values = _rules(inner[1])
        return {"type": "object", **({"additionalProperties": values} if values else {})}
    if hint is Any:
        return {}
    if hint in _TYPES:
        return {"type": _TYPES[hint]}
    if is_dataclass(hint) or typing.is_typeddict(hint):
        return schema_of(hint)
    raise TypeError(f"a document cannot hold {hint}")
