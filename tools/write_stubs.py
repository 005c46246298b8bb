"""Writes type stubs of the classes that are made from the core's schema.

``python tools/write_stubs.py`` writes them; with ``--check`` it only reports whether
they are current.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.catalogue import records, schema
from ackclock.catalogue.form import range_words
from ackclock.results.recorded import recorded_tables

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["main", "stubs"]

STUBS = Path(__file__).resolve().parents[1] / "python/ackclock"
ROOMS = "catalogue/rooms"

_HEAD = "# Written by `python tools/write_stubs.py`; do not edit."
_BASIC = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list[Any] | tuple[Any, ...]",
    "object": "dict[str, Any]",
}


_ALGORITHMS = {"cc": "AnyControl", "qdisc": "AnyQueue"}
"""Where a user-defined class is allowed too."""


def _names(rules: schema.Data, types: schema.Data) -> list[str]:
    """The names that a field accepts; none if it accepts anything else besides."""
    if "$ref" in rules:
        return _names(types.get(str(rules["$ref"]).rsplit("/", 1)[-1], {}), types)
    if "const" in rules or "enum" in rules:
        values = rules["enum"] if "enum" in rules else [rules["const"]]
        names = [value for value in values if value is not None]
        return names if all(isinstance(name, str) for name in names) else []
    branches: list[schema.Data] = rules.get("oneOf") or rules.get("anyOf") or []
    found = [_names(branch, types) for branch in branches if branch.get("type") != "null"]
    return [name for names in found for name in names] if all(found) else []


def _annotation(field: str, rules: schema.Data, types: schema.Data, *, optional: bool) -> str:
    names = _names(rules, types)
    if names:
        kinds = [f"Literal[{', '.join(json.dumps(name) for name in names)}]"]
    elif rules.get("x-quantity") == "buffer size":
        kinds = ["str"]
    elif "x-quantity" in rules:
        kinds = ["float", "str"]
    elif "type" in rules:
        given = rules["type"] if isinstance(rules["type"], list) else [rules["type"]]
        kinds = [_BASIC[kind] for kind in given if kind != "null"]
    else:
        words = records.type_words(rules)
        algorithm = [_ALGORITHMS.get(field.removeprefix("back_"), "Record | str | dict[str, Any]")]
        kinds = algorithm if words == "algorithm" else ["Any"]
    return " | ".join([*kinds, *(["None"] if optional and kinds != ["Any"] else [])])


def _default(rules: schema.Data) -> str:
    """A default as a stub may show it; one that the era or a table decides is an ellipsis."""
    value = rules.get("default")
    is_plain = value is not None and isinstance(value, bool | int | float | str)
    text = json.dumps(value) if isinstance(value, str) else repr(value)
    return text if is_plain else "..."


def _sentence(field: str, rules: schema.Data) -> str:
    """A line about a field: meaning, unit, range."""
    bounds = range_words(rules)  # With the unit.
    unit = f" [{rules['x-unit']}]" if "x-unit" in rules and not bounds else ""
    about = _first_sentence(str(rules.get("description", "See the source.")))
    return f"{field}: {about}{unit}." + (f" Range: {bounds}." if bounds else "")


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.;]) ", " ".join(text.split()), maxsplit=1)[0].rstrip(".;")


def _class(name: str, title: str, rules: schema.Data) -> str:
    fields = {k: v for k, v in rules.get("properties", {}).items() if k != "kind"}
    required = set(rules.get("required", ()))
    types = {**schema.scenario()["$defs"], **rules.get("$defs", {})}
    about = _first_sentence(title)
    lines = [f"class {name}(Record):"]
    if not fields:
        return "\n".join([*lines, f'    """{about}."""', "    def __init__(self) -> None: ..."])
    lines += [f'    r"""{about}.', ""]
    lines += [f"    {_sentence(field, given)}" for field, given in fields.items()]
    lines += ['    """', "    def __init__(", "        self,"]
    optional = False
    for field, given in fields.items():
        optional = optional or field not in required
        default = f" = {_default(given)}" if optional else ""
        kinds = _annotation(field, given, types, optional=optional)
        lines.append(f"        {field}: {kinds}{default},")
    return "\n".join([*lines, "    ) -> None: ..."])


def _module(classes: Iterable[tuple[str, str, schema.Data]]) -> str:
    body = "\n\n".join(_class(name, title, rules) for name, title, rules in classes)
    code = re.sub(r'r?""".*?"""', "", body, flags=re.DOTALL)
    typing = [name for name in ("Any", "Literal") if re.search(rf"\b{name}\b", code)]
    head = [_HEAD]
    if typing:
        head += [f"from typing import {', '.join(typing)}", ""]
    head.append("from ackclock.catalogue.records import Record")
    users = sorted(kind for kind in _ALGORITHMS.values() if kind in code)
    if users:
        head.append(f"from ackclock.catalogue.user_types import {', '.join(users)}")
    return "\n".join(head) + f"\n\n{body}\n"


def _other_names(room: str) -> str:
    """Classes of the other names that algorithms of a room have."""
    canonical = {records.class_name(name): name for name in schema.catalogue()[room]}
    return "".join(
        f'\nclass {title}({made.__doc__.split("`")[1]}):\n    """{made.__doc__}"""\n'
        for title, made in records.room(room).items()
        if title not in canonical and made.__doc__
    )


def stubs() -> dict[str, str]:
    """Every stub file's text by its path in the package."""
    files = {}
    for room in schema.ROOMS:
        entries = schema.catalogue()[room].values()
        named = [(records.class_name(e["name"]), e["title"], e["params"]) for e in entries]
        files[f"{ROOMS}/{room}.pyi"] = _module(named) + _other_names(room)
    shapes = [
        (records.class_name(kind), rules.get("description", kind), rules)
        for kind, rules in schema.net_kinds().items()
    ]
    files[f"{ROOMS}/topology.pyi"] = _module(shapes)
    names = ("Flow", "Group", "LinkChange", "QuicOptions", "TcpOptions", "Traffic")
    named_types = [(name, schema.definition(name)) for name in names]
    files[f"{ROOMS}/flows.pyi"] = _module(
        [(name, rules.get("description", name), rules) for name, rules in named_types]
    )
    files["results/recorded.pyi"] = _recorded()
    return files


def _recorded() -> str:
    """The class with a property for each table that can be recorded."""
    lines = [
        _HEAD,
        "from typing import Any",
        "",
        "from ackclock._util.table_type import Table",
        "",
        "def recorded_tables() -> dict[str, dict[str, Any]]: ...",
        "",
        "class RecordedTables:",
        "    def table(self, name: str) -> Table: ...",
    ]
    for name, table in recorded_tables().items():
        lines += ["    @property", f"    def {name}(self) -> Table:"]
        lines.append(f'        """{table["description"]}"""')
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write the stubs beside the modules, or check them.

    Parameters
    ----------
    arguments
        Left out: those of this process.
    """
    check = "--check" in (sys.argv[1:] if arguments is None else arguments)
    old = []
    for name, text in stubs().items():
        path = STUBS / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            old.append(name)
            if not check:
                path.write_text(text, encoding="utf-8")
    if check and old:
        sys.stderr.write(f"not current: {', '.join(old)}; run python tools/write_stubs.py\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
