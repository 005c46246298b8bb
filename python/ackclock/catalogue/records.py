"""Python classes of every algorithm, network shape and flow, made from the core's schema.

Names, parameters, defaults, documentation and checks all come from one place: the core. The
modules `ackclock.cc`, `ackclock.qdisc` and so on hand these classes out; ``python -m
tools/write_stubs.py`` writes their type stubs.
"""

from __future__ import annotations

import inspect
import keyword
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ackclock._util.json_text import MOST_DEEP
from ackclock._util.units import bare_problem, with_unit
from ackclock.catalogue import schema
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Record",
    "class_name",
    "from_data",
    "plain",
    "record",
    "room",
    "shape",
    "with_default_typed",
]


class Record:
    """A frozen value with the fields that its schema names.

    Only the fields that were given are stored, so that what is left out takes the default of the
    scenario's era.
    """

    _rules: ClassVar[schema.Data] = {}
    _kind: ClassVar[str | None] = None
    IS_OTHER_NAME: ClassVar[bool] = False
    """Whether the class is for a name beside the registry's."""
    _values: schema.Data

    def __init__(self, *args: object, **kwargs: object) -> None:
        names = list(_fields(self._rules))
        title = type(self).__name__
        if len(args) > len(names):
            message = f"{title} takes at most {len(names)} values: {', '.join(names)}"
            raise TypeError(message)
        values = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name in values:
                message = f"{title} got two values for {name}"
                raise TypeError(message)
            values[name] = value
        values = {name: plain(value) for name, value in values.items() if value is not None}
        object.__setattr__(self, "_values", values)
        self._check(("",))

    @classmethod
    def of_program(cls, given: schema.Data) -> Self:
        """Make one of fields that a program wrote: plain numbers are of SI units.

        Parameters
        ----------
        given
            Plain values by field.
        """
        return cls._build(given, None)

    @classmethod
    def _build(cls, given: schema.Data, typed: Iterable[str] | None) -> Self:
        made = cls.__new__(cls)
        known = {name: value for name, value in given.items() if value is not None}
        object.__setattr__(made, "_values", known)
        made._check(typed)
        return made

    def _check(self, typed: Iterable[str] | None) -> None:
        from ackclock.catalogue.form import parameter_problems

        found = parameter_problems(self._rules, self._to_plain(), typed=typed)
        if found:
            raise ScenarioError(found)

    def _to_plain(self) -> schema.Data:
        has_kind = "kind" in self._rules.get("properties", {})
        return {"kind": self._kind, **self._values} if has_kind else self._values

    def to_data(self) -> Any:
        """Give the value as it is written in a scenario file: a name, or a table."""
        if self._kind is None:
            return dict(self._values)
        needs_table = self._values or "kind" in self._rules.get("properties", {})
        return {"kind": self._kind, **self._values} if needs_table else self._kind

    def replace(self, **changes: object) -> Record:
        """Copy with some fields changed.

        Parameters
        ----------
        **changes
            New values by field.
        """
        new = {name: plain(value) for name, value in changes.items()}
        return self._build({**self._values, **new}, new)

    def __getattr__(self, name: str) -> Any:
        fields = _fields(self._rules)
        if name.startswith("_") or name not in fields:
            message = f"{type(self).__name__} has no field {name!r}"
            raise AttributeError(message)
        return self._values.get(name, fields[name].get("default"))

    def __setattr__(self, name: str, value: object) -> None:
        message = f"{type(self).__name__} cannot be changed; use .replace({name}=...)"
        raise AttributeError(message)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *_fields(self._rules)])

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Record):
            return NotImplemented
        return self._values == other._values

    def __hash__(self) -> int:
        return hash((type(self).__name__, repr(sorted(self._values.items()))))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self._values.items())
        return f"{type(self).__name__}({inside})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (type(self).__module__, type(self).__name__, self._values))


def _restore(module: str, name: str, given: schema.Data) -> Record:
    import importlib

    cls: type[Record] = getattr(importlib.import_module(module), name)
    return cls.of_program(given)


def _fields(rules: schema.Data) -> dict[str, schema.Data]:
    fields = {k: v for k, v in rules.get("properties", {}).items() if k != "kind"}
    return {k: with_default_typed(v, rules) for k, v in fields.items()}


def with_default_typed(field: schema.Data, rules: schema.Data) -> schema.Data:
    """Copy a field's rules with the default written as a person would: with units.

    Parameters
    ----------
    field
        Its JSON Schema.
    rules
        The schema that it is part of.
    """
    value: Any = field.get("default")
    quantity = field.get("x-quantity")
    if isinstance(value, dict) and value:
        from ackclock.catalogue.form import default_with_units

        return {**field, "default": default_with_units(field, rules)}
    if field.get("x-bare") or value is None or bare_problem(value, str(quantity)) is None:
        return field
    return {**field, "default": with_unit(value, str(quantity))}


def plain(value: Any, _depth: int = 0) -> Any:
    """Turn records, tuples and NumPy numbers inside a value into plain data.

    Parameters
    ----------
    value
        Any value a user gave.

    Raises
    ------
    ScenarioError
        It is nested deeper than any scenario, or contains itself.
    """
    if isinstance(value, Record):
        return value.to_data()
    if hasattr(value, "__ackclock__"):
        from ackclock.catalogue.python_class import to_data

        return to_data(value)
    if isinstance(value, dict | list | tuple):
        if _depth > MOST_DEEP:
            message = (
                f"tables and lists are nested more than {MOST_DEEP} levels deep; expected a few"
            )
            raise ScenarioError([Problem("", message)])
        inner = _depth + 1
        if isinstance(value, dict):
            return {key: plain(item, inner) for key, item in value.items() if item is not None}
        return [plain(item, inner) for item in value]
    if hasattr(value, "item") and not isinstance(value, str | bytes):
        return value.item()
    return value


def class_name(name: str) -> str:
    """Turn a registry name into a class name: ``fq-codel`` into ``FqCodel``.

    A ``+`` is spelt out, and a word of Python's own gets an underscore: ``None_``.

    Parameters
    ----------
    name
        Registry name in kebab-case.
    """
    pieces = name.replace("+", "-plus").replace("_", "-").split("-")
    title = "".join(piece[:1].upper() + piece[1:] for piece in pieces)
    return f"{title}_" if keyword.iskeyword(title) else title


def type_words(rules: schema.Data) -> str:
    """Describe a field's type for documentation: what may be given, with its unit.

    Parameters
    ----------
    rules
        The field's schema.
    """
    if "x-quantity" in rules:
        bare = f" or number [{rules['x-unit']}]" if rules.get("x-bare") else ""
        return f"{rules['x-quantity']}{bare}"
    if "enum" in rules:
        return " or ".join(map(str, (name for name in rules["enum"] if name is not None)))
    if "$ref" in rules or "anyOf" in rules:
        refs = [str(o.get("$ref", "")).rsplit("/", 1)[-1] for o in [rules, *rules.get("anyOf", [])]]
        name = next((ref for ref in refs if ref), "value")
        return "algorithm" if name == "Spec" else name
    kinds = rules.get("type", "value")
    kinds = [kinds] if isinstance(kinds, str) else [kind for kind in kinds if kind != "null"]
    return " or ".join(kinds)


def _choices(field: schema.Data, root: schema.Data) -> str:
    """The names between which a field of a named type chooses; empty for any other field."""
    options = [field, *field.get("anyOf", [])]
    refs = [str(option.get("$ref", "")).rsplit("/", 1)[-1] for option in options]
    types = [root["$defs"][ref] for ref in refs if ref in root.get("$defs", {})]
    if len(types) != 1:
        return ""
    branches = types[0].get("oneOf", [])
    names = types[0].get("enum") or [branch.get("const") for branch in branches]
    return " or ".join(names) if names and all(isinstance(n, str) for n in names) else ""


def documentation(title: str, source: str, status: str, rules: schema.Data) -> str:
    """Write a docstring.

    Parameters
    ----------
    title
        What it is.
    source
        Citation; empty for shapes and flows.
    status
        How far the source was followed; empty for shapes and flows.
    rules
        JSON Schema of the parameters.
    """
    from ackclock.catalogue.form import range_words

    lines = [title.rstrip(".") + "."]
    fields = _fields(rules)
    if fields:
        lines += ["", "Parameters", "----------"]
        for name, field in fields.items():
            bounds = range_words(field)
            has_default = "default" in field and field["default"] is not None
            default = f", default {field['default']!r}" if has_default else ""
            lines.append(f"{name} : {_choices(field, rules) or type_words(field)}{default}")
            text = " ".join(str(field.get("description", "See the source.")).split())
            lines.append(f"    {text}" + (f" Range: {bounds}." if bounds else ""))
    if source:
        lines += ["", "References", "----------", f"{source} ({status})"]
    return "\n".join(lines)


def _make(name: str, module: str, kind: str | None, rules: schema.Data, doc: str) -> type[Record]:
    required = set(rules.get("required", ()))
    parameters = [
        inspect.Parameter(
            field,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty
            if field in required and index == _leading(rules, required, index)
            else rules_of_field.get("default"),
        )
        for index, (field, rules_of_field) in enumerate(_fields(rules).items())
    ]
    body = {
        "__doc__": doc,
        "__module__": module,
        "__signature__": inspect.Signature(parameters),
        "_rules": rules,
        "_kind": kind,
    }
    return type(name, (Record,), body)


def _leading(rules: schema.Data, required: set[str], index: int) -> int:
    """Signatures may not have a field without default after one with: -1 for such."""
    before = list(_fields(rules))[:index]
    return index if all(field in required for field in before) else -1


@cache
def room(name: str) -> dict[str, type[Record]]:
    """The classes of a room by class name.

    Parameters
    ----------
    name
        One of ``cc``, ``recovery``, ``slow_start``, ``qdisc``, ``source``, ``arrivals``,
        ``pattern``.
    """
    classes = {}
    for entry in schema.catalogue()[name].values():
        title = class_name(entry["name"])
        doc = documentation(entry["title"], entry["source"], entry["status"], entry["params"])
        classes[title] = _make(title, f"ackclock.{name}", entry["name"], entry["params"], doc)
    for entry in schema.catalogue()[name].values():
        doc = f"Another name of `{class_name(entry['name'])}`."
        for other in entry["also"]:
            title = class_name(other)
            if title.isidentifier() and title not in classes:
                classes[title] = _make(title, f"ackclock.{name}", other, entry["params"], doc)
                classes[title].IS_OTHER_NAME = True
    return classes


@cache
def shape() -> dict[str, type[Record]]:
    """The kinds of network by class name."""
    made = {}
    for kind, rules in schema.net_kinds().items():
        title = class_name(kind)
        doc = documentation(rules.get("description", title), "", "", rules)
        made[title] = _make(title, "ackclock.topology", kind, rules, doc)
    return made


@cache
def record(definition: str) -> type[Record]:
    """The class of one of the schema's named types: ``Flow``, ``Traffic``, ``TcpOptions``.

    Parameters
    ----------
    definition
        Its name in the schema.
    """
    rules = schema.definition(definition)
    doc = documentation(rules.get("description", definition).split("\n")[0], "", "", rules)
    return _make(definition, "ackclock.catalogue.flows", None, rules, doc)


def from_data(name: str, data: Any) -> Record:
    """Build the algorithm that a scenario names.

    Parameters
    ----------
    name
        The room.
    data
        A registry name, or a table with ``kind`` and parameters.
    """
    kind, table = (data, {}) if isinstance(data, str) else (data["kind"], data)
    fields = {key: value for key, value in table.items() if key != "kind"}
    return room(name)[class_name(kind)].of_program(fields)
