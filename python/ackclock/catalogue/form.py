"""Finds everything that is wrong with a scenario's form, all at once.

The rules are the core's JSON Schema; what is ours is how a problem is reported: one sentence with
the value found, what was expected, and the nearest valid name. Meaning (does node X exist?) is
checked by the core afterwards.
"""

from __future__ import annotations

import copy
import json
import math
import re
import reprlib
import sys
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import jsonschema
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from ackclock import _core
from ackclock._util import paths
from ackclock._util.units import UNITS, bare_problem, parse, quantity_problem, with_unit
from ackclock.catalogue import schema
from ackclock.errors import Problem, nearest, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "default_with_units",
    "missing",
    "parameter_problems",
    "problems",
    "range_words",
    "with_units",
    "wrong",
]

_WORDS = {
    "object": "a table",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}


_MOST = {"uint16": 2**16 - 1, "uint32": 2**32 - 1, "uint64": 2**64 - 1}
"""What whole numbers of the core hold."""


def _show(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bool):
        return str(value).lower()
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _is(value: object, kind: str) -> bool:
    if kind == "null":
        return value is None
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str)
    if kind == "object":
        return isinstance(value, dict)
    if kind == "array":
        return isinstance(value, list | tuple)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or kind == "number"


def _is_huge(value: Any) -> bool:
    """Whether it is a whole number that no float can hold."""
    return isinstance(value, int) and abs(value) > sys.float_info.max


def _type(_: Any, types: Any, value: Any, rules: Any) -> Iterator[ValidationError]:
    if "x-quantity" in rules:
        return
    allowed = [types] if isinstance(types, str) else types
    if not any(_is(value, kind) for kind in allowed):
        wanted = " or ".join(_WORDS[kind] for kind in allowed if kind != "null")
        yield ValidationError(f"{_show(value)} is not {wanted}")
    elif isinstance(value, float) and not math.isfinite(value):
        yield ValidationError(f"{value} is not a finite number")
    elif _is_huge(value):
        yield ValidationError(f"{reprlib.repr(value)} is too large for a number")
    elif isinstance(value, int) and rules.get("format") in _MOST:
        most = _MOST[rules["format"]]
        if value > most:
            yield ValidationError(f"{value} is out of range; expected at most {most}")


def _quantity(_: Any, quantity: str, value: Any, rules: Any) -> Iterator[ValidationError]:
    if value is None and "null" in rules.get("type", ()):
        return
    message = quantity_problem(value, quantity)
    if message:
        yield ValidationError(message)


def _typed_quantity(_: Any, quantity: str, value: Any, rules: Any) -> Iterator[ValidationError]:
    """As `_quantity`, of what a person typed: a number without unit is a mistake."""
    wrong = list(_quantity(_, quantity, value, rules))
    if not wrong and not rules.get("x-bare") and (message := bare_problem(value, quantity)):
        yield _BareError(message)
    yield from wrong


def _bound(holds: Any) -> Any:
    def check(_: Any, bound: float, value: Any, rules: Any) -> Iterator[ValidationError]:
        number, shown = _in_si(value, rules)
        if number is not None and not holds(number, bound):
            expected = range_words(rules)
            error = _FormError(f"{shown} is out of range; expected {expected}")
            error.value, error.range = shown, expected
            yield error

    return check


def _in_si(value: Any, rules: Any) -> tuple[float | None, str]:
    """A value as a finite number, None if it is none, and how to show it."""
    if "x-quantity" in rules:
        unit = "" if isinstance(value, str) else f" {rules.get('x-unit', '')}"
        if quantity_problem(value, rules["x-quantity"]) or rules["x-quantity"] not in UNITS:
            return None, ""
        return parse(value, rules["x-quantity"]), f"{value}{unit}"
    usable = _is(value, "number") and not _is_huge(value) and math.isfinite(value)
    return (value, str(value)) if usable else (None, "")


def range_words(rules: schema.Data) -> str | None:
    """Describe a value's range with its unit, as the core does; None if it has no bound.

    Parameters
    ----------
    rules
        The value's JSON Schema.
    """
    return _core.range_words(json.dumps({key: rules[key] for key in _RANGE if key in rules}))


_RANGE = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "x-unit",
    "x-quantity",
)


class _FormError(ValidationError):
    """A mistake with what a `Problem` says of it beyond path and message."""

    value: str | None = None
    range: str | None = None
    nearest: str | None = None


class _BareError(ValidationError):
    """A number without unit."""


def _unnamed(message: str, given: str, names: Iterable[str], **more: Any) -> ValidationError:
    """The error of a name that does not exist."""
    valid = list(names)
    error = _FormError(f"{message}; {suggestion(given, valid)}", **more)
    error.value, error.nearest = given, nearest(given, valid)
    return error


def _unknown_keys(_: Any, allowed: Any, value: Any, rules: Any) -> Iterator[ValidationError]:
    if allowed is not False or not isinstance(value, dict):
        return
    known = [key for key in rules.get("properties", {}) if key != "kind"]
    for key in value:
        if key != "kind" and key not in known:
            yield _unknown_key(str(key), known, rules, value)


def _unknown_key(key: str, known: list[str], rules: Any, value: Any) -> ValidationError:
    meant = _described(key, rules.get("properties", {}), value)
    if meant is None and (tables := _tables_with(key, rules.get("properties", {}))):
        return _FormError(f'"{key}" is not a key here, but of {" and ".join(tables)}', path=[key])
    if meant is None:
        return _unnamed(f'"{key}" is not a key here', key, known, path=[key])
    error = _FormError(f'"{key}" is not a key here; did you mean "{meant}"?', path=[key])
    error.value, error.nearest = key, meant
    return error


def _described(given: str, properties: Any, value: Any) -> str | None:
    """The one key left out whose description has the word that was written, where none is like it.

    ``extra``, "How much longer the path is than the link's own delay", for ``delay``.
    """
    if nearest(given, properties):
        return None
    text = {key: str(rules.get("description", "")).lower() for key, rules in properties.items()}
    found = [k for k in text if k not in value and re.search(rf"\b{re.escape(given)}\b", text[k])]
    return found[0] if len(found) == 1 else None


def _tables_with(given: str, properties: Any) -> list[str]:
    """The tables below this one, as in ``flows[]``, that have a key that nothing here is like."""
    if nearest(given, properties):
        return []
    found = []
    for key, rules in properties.items():
        is_list = "items" in rules
        inner = rules["items"] if is_list else rules
        for option in (inner, *inner.get("anyOf", ())):
            name = str(option.get("$ref", "")).rpartition("/")[2]
            if given in schema.scenario()["$defs"].get(name, {}).get("properties", {}):
                found.append(f"{key}[]" if is_list else key)
    return found


def _missing(_: Any, required: Any, value: Any, rules: Any) -> Iterator[ValidationError]:
    for key in required:
        if isinstance(value, dict) and key not in value:
            about = rules.get("properties", {}).get(key, {}).get("description", "")
            meaning = f" ({about.split('. ')[0].rstrip('.')})" if about else ""
            yield ValidationError(f'"{key}" is missing{meaning}')


def _choice(checker: Any, branches: Any, value: Any, _: Any) -> Iterator[ValidationError]:
    """A choice between branches, reported as one problem of the branch that was meant."""
    branches = [b for b in branches if b.get("type") != "null"]
    if value is None:
        return
    constants = [b["const"] for b in branches if "const" in b]
    for branch in branches:
        constants += branch.get("enum", [])
    if constants and len(constants) >= len(branches):
        yield from _one_of_names(value, constants)
    elif len(branches) == 1:
        yield from checker.descend(value, branches[0])
    elif all("kind" in b.get("properties", {}) for b in branches):
        yield from _tagged(checker, branches, value)
    elif all(b.get("required") for b in branches):
        yield from _keyed(checker, branches, value)
    elif not any(not any(True for _ in checker.descend(value, b)) for b in branches):
        yield from checker.descend(value, branches[0])


def _one_of_names(value: Any, names: list[Any]) -> Iterator[ValidationError]:
    if value not in names:
        if isinstance(value, str):
            yield _unnamed(f"{_show(value)} is not known here", value, names)
        else:
            yield ValidationError(f"{_show(value)} is not known here; expected {names}")


def _tagged(checker: Any, branches: Any, value: Any) -> Iterator[ValidationError]:
    kinds = {b["properties"]["kind"]["const"]: b for b in branches}
    if not isinstance(value, dict):
        yield ValidationError(f"{_show(value)} is not a table with a key kind")
    elif "kind" not in value:
        yield ValidationError(f'"kind" is missing; expected one of: {", ".join(kinds)}')
    elif value["kind"] not in kinds:
        message = f"{_show(value['kind'])} is not known here"
        yield _unnamed(message, str(value["kind"]), kinds, path=["kind"])
    else:
        yield from checker.descend(value, kinds[value["kind"]])


def _keyed(checker: Any, branches: Any, value: Any) -> Iterator[ValidationError]:
    by_key = {b["required"][0]: b for b in branches}
    if not isinstance(value, dict) or len(value) != 1:
        yield ValidationError(f"{_show(value)} is not a table with one of: {', '.join(by_key)}")
        return
    key = next(iter(value))
    if isinstance(value[key], str) and f"{key}_file" in by_key:
        name = json.dumps(value[key], ensure_ascii=False)
        message = f"{_show(value[key])} is not a list; a file is given by {key}_file = {name}"
        yield ValidationError(message, path=[key])
    elif key in by_key:
        yield from checker.descend(value, by_key[key])
    else:
        yield _unnamed(f'"{key}" is not a key here', str(key), by_key, path=[key])


def _properties(checker: Any, properties: Any, value: Any, _: Any) -> Iterator[ValidationError]:
    if not isinstance(value, dict):
        return
    for key, rules in properties.items():
        if key in value:
            room = rules.get("x-room")
            given = value[key]
            if room is not None and _mentions_spec(rules):
                yield from _placed(_algorithm(checker, room, given), key)
            elif room is not None and isinstance(given, list) and _mentions_spec(rules["items"]):
                for i, one in enumerate(given):
                    yield from _placed(_algorithm(checker, room, one), key, i)
            else:
                yield from checker.descend(given, rules, path=key)


def _placed(errors: Iterator[ValidationError], *steps: str | int) -> Iterator[ValidationError]:
    for error in errors:
        error.path.extendleft(reversed(steps))
        yield error


def _mentions_spec(rules: Any) -> bool:
    options = [rules, *rules.get("anyOf", [])]
    return any(str(option.get("$ref", "")).endswith("/Spec") for option in options)


_LIBRARIES = {"noq": "noq-proto", "quinn": "quinn-proto", "s2n": "s2n-quic-core"}
"""What a build may have: the part of a name before the slash, and the crate."""


def _missing_library(name: str) -> str | None:
    """Say that this build lacks a control's library; None if it has it, or there is none."""
    stack = name.partition("/")[0]
    has = any(known.startswith(f"{stack}/") for known in schema.shipped())
    if "/" not in name or has or stack not in _LIBRARIES:
        return None
    return (
        f"{_show(name)} is of the crate {_LIBRARIES[stack]}, which this build lacks;"
        ' "make stacks" in a checkout builds it'
    )


def _algorithm(checker: Any, room: str, value: Any) -> Iterator[ValidationError]:
    word = _word(room)
    if room in ("cc", "qdisc"):
        from ackclock.catalogue import python_source

        if python_source.reference(value) is not None:
            message = python_source.form_problem(value)
            if message is not None:
                yield ValidationError(message)
            return
    if isinstance(value, str):
        name, given = value, {}
    elif isinstance(value, dict) and isinstance(value.get("kind"), str):
        name, given = value["kind"], {k: v for k, v in value.items() if k != "kind"}
    else:
        yield ValidationError(
            f"{_show(value)} is not a {word}; expected a name or a table with kind"
        )
        return
    entry = schema.entry(room, name)
    if entry is None:
        if room == "cc" and (missing := _missing_library(name)):
            yield ValidationError(missing)
            return
        if elsewhere := schema.rooms_with(name):
            yield ValidationError(_of_other_room(room, name, elsewhere))
            return
        if name.endswith(".py"):
            message = f'"{name}" names a file without its class; expected "{name}:CLASS"'
            yield ValidationError(message)
            return
        yield _unnamed(f'there is no {word} "{name}"', name, schema.names(room))
        return
    yield from type(checker)(entry["params"]).iter_errors(given)


_ROOM_WORDS = {
    "cc": "congestion control",
    "recovery": "loss recovery",
    "multicast": "layer control",
    "source": "source",
    "arrivals": "generator of transfers",
    "qdisc": "queue discipline",
    "impairment": "impairment",
    "sharing": "sharing of fluid links",
    "policy": "policy of fluid senders",
    "pattern": "traffic pattern",
}
_ROOM_KEYS = {
    "cc": "cc",
    "recovery": "recovery",
    "slow_start": "slow_start",
    "qdisc": "qdisc",
    "source": "source",
}


def _word(room: str) -> str:
    return "layer control" if room == "multicast" else room.replace("_", " ")


def _of_other_room(room: str, name: str, elsewhere: list[str]) -> str:
    """Say of which rooms a name is, and how a scenario names it there."""
    kinds = " and ".join(f"a {_ROOM_WORDS.get(other, _word(other))}" for other in elsewhere)
    keys = [f'{_ROOM_KEYS[other]} = "{name}"' for other in elsewhere if other in _ROOM_KEYS]
    written = f": {' or '.join(keys)}" if keys else ""
    alike = [f'"{own}"' for own in schema.names(room) if own in name or name in own]
    near = (
        f"; as a {_ROOM_WORDS.get(room, _word(room))} there is {', '.join(alike)}" if alike else ""
    )
    return f'"{name}" is {kinds}{written}{near}'


_VALIDATOR: Any = extend(
    jsonschema.Draft202012Validator,
    {
        "type": _type,
        "x-quantity": _quantity,
        "minimum": _bound(lambda v, b: v >= b),
        "maximum": _bound(lambda v, b: v <= b),
        "exclusiveMinimum": _bound(lambda v, b: v > b),
        "exclusiveMaximum": _bound(lambda v, b: v < b),
        "additionalProperties": _unknown_keys,
        "required": _missing,
        "oneOf": _choice,
        "anyOf": _choice,
        "properties": _properties,
        "enum": lambda _c, names, value, _r: _one_of_names(value, names),
        "const": lambda _c, name, value, _r: _one_of_names(value, [name]),
    },
)


_TYPED: Any = extend(_VALIDATOR, {"x-quantity": _typed_quantity})


@cache
def _scenario_checker(*, typed: bool = False) -> Any:
    return (_TYPED if typed else _VALIDATOR)(schema.scenario())


def problems(
    data: schema.Data, file: str | None = None, *, typed: Iterable[str] | None = None
) -> list[Problem]:
    """Find every problem of form.

    Parameters
    ----------
    data
        The scenario as plain data.
    file
        Where it came from, for the messages.
    typed
        Paths of what a person typed, where a quantity needs its unit; ``""`` is all. Left out: a
        program wrote the scenario, and numbers are of SI units.

    Returns
    -------
    list of Problem
        In the order of the schema; empty if the form is valid.
    """
    if typed is None:
        return _problems(_scenario_checker().iter_errors(data), file)
    return _problems(_scenario_checker(typed=True).iter_errors(data), file, list(typed))


def with_units(data: schema.Data) -> schema.Data:
    """Copy a scenario with units written to its plain numbers, as a person would type it.

    Parameters
    ----------
    data
        The scenario as plain data, of valid form.
    """
    result: schema.Data = _with_units(_scenario_checker(typed=True), data)
    return result


def default_with_units(field: schema.Data, rules: schema.Data) -> Any:
    """Copy a parameter's default with units written to its plain numbers, at any depth.

    Parameters
    ----------
    field
        JSON Schema of the parameter.
    rules
        The schema that it is part of.
    """
    definitions = rules.get("$defs") or schema.scenario()["$defs"]
    return _with_units(_TYPED({**field, "$defs": definitions}), field["default"])


def _with_units(checker: Any, data: Any) -> Any:
    result = {"": copy.deepcopy(data)}
    for error in checker.iter_errors(data):
        if isinstance(error, _BareError):
            *steps, last = ("", *error.absolute_path)
            table: Any = result
            for step in steps:
                table = table[step]
            value: Any = error.instance
            table[last] = with_unit(value, str(error.validator_value))
    return result[""]


def wrong(data: schema.Data) -> list[list[paths.Step]]:
    """Find the places of values of wrong form and of missing ones.

    Parameters
    ----------
    data
        The scenario as plain data.
    """
    return [steps if key is None else [*steps, key] for steps, _, key in _mistakes(data)]


def missing(
    data: schema.Data,
) -> Iterator[tuple[list[paths.Step], schema.Data, str, schema.Data]]:
    """Find tables of a scenario that lack a key: where, the table, the key, and the key's rules.

    Parameters
    ----------
    data
        The scenario as plain data.
    """
    for steps, error, key in _mistakes(data):
        if key is not None:
            yield steps, error.instance, key, error.schema["properties"].get(key, {})


def _mistakes(data: schema.Data) -> Iterator[tuple[list[paths.Step], Any, str | None]]:
    """Where a mistake is, the error, and the key if it is one that is missing."""
    for error in _scenario_checker().iter_errors(data):
        steps = list(error.absolute_path)
        if error.validator != "required":
            yield steps, error, None
            continue
        for key in error.validator_value:
            if key not in error.instance:
                yield steps, error, key


def parameter_problems(
    rules: schema.Data, data: schema.Data, *, typed: Iterable[str] | None = None
) -> list[Problem]:
    """Find every problem in the parameters of one algorithm, network or flow.

    Parameters
    ----------
    rules
        Its JSON Schema.
    data
        The parameters as plain data.
    typed
        As of `problems`.
    """
    if "$defs" not in rules:
        rules = {**rules, "$defs": schema.scenario()["$defs"]}
    if typed is None:
        return _problems(_VALIDATOR(rules).iter_errors(data), None)
    return _problems(_TYPED(rules).iter_errors(data), None, list(typed))


def _problems(
    errors: Iterator[ValidationError], file: str | None, typed: Iterable[str] = ()
) -> list[Problem]:
    seen: dict[tuple[str, str], Problem] = {}
    bare: set[str] = set()
    for error in errors:
        path = paths.text(list(error.absolute_path))
        problem = Problem(path, error.message, file)
        if isinstance(error, _FormError):
            problem = replace(problem, value=error.value, range=error.range, nearest=error.nearest)
        elif isinstance(error, _BareError):
            if not any(_is_within(path, place) for place in typed):
                continue
            bare.add(path)
        seen.setdefault((path, error.message), problem)
    # Without its unit nobody knows whether a number is in its range.
    return [p for p in seen.values() if p.range is None or p.path not in bare]


def _is_within(path: str, place: str) -> bool:
    """Whether a path is inside a place that may name entries of lists by ``[*]`` or by id."""
    if not place:
        return True
    inner, outer = paths.split(path), paths.split(place)
    return len(inner) >= len(outer) and all(
        a == b or (isinstance(a, int) and not isinstance(b, str))
        for a, b in zip(inner, outer, strict=False)
    )
