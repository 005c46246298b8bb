"""Writes type stubs of the classes that are made from the core's schema.

``python tools/write_stubs.py`` writes them; with ``--check`` it only says whether they are current.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.catalogue import records, schema

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["main", "stubs"]

STUBS = Path(__file__).resolve().parents[1] / "python/ackclock/catalogue/rooms"

_HEAD = """# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any

from ackclock.catalogue.records import Record
"""
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


def _annotation(field: str, rules: schema.Data, *, optional: bool) -> str:
    if rules.get("x-quantity") == "buffer size":
        kinds = ["str"]
    elif "x-quantity" in rules:
        kinds = ["float", "str"]
    elif "type" in rules:
        given = rules["type"] if isinstance(rules["type"], list) else [rules["type"]]
        kinds = [_BASIC[kind] for kind in given if kind != "null"]
    elif "enum" in rules:
        kinds = ["str"]
    else:
        words = records.type_words(rules)
        algorithm = [_ALGORITHMS.get(field.removeprefix("back_"), "Record | str | dict[str, Any]")]
        kinds = algorithm if words == "algorithm" else ["Any"]
    return " | ".join([*kinds, *(["None"] if optional and kinds != ["Any"] else [])])


def _class(name: str, rules: schema.Data) -> str:
    fields = {k: v for k, v in rules.get("properties", {}).items() if k != "kind"}
    required = set(rules.get("required", ()))
    lines = [f"class {name}(Record):"]
    if not fields:
        return "\n".join([*lines, "    def __init__(self) -> None: ..."])
    lines += ["    def __init__(", "        self,"]
    optional = False
    for field, given in fields.items():
        optional = optional or field not in required
        default = " = ..." if optional else ""
        lines.append(f"        {field}: {_annotation(field, given, optional=optional)}{default},")
    return "\n".join([*lines, "    ) -> None: ..."])


def _module(classes: Iterable[tuple[str, schema.Data]]) -> str:
    body = "\n\n".join(_class(name, rules) for name, rules in classes)
    text = f"{_HEAD}\n{body}\n"
    users = sorted(kind for kind in _ALGORITHMS.values() if kind in body)
    if users:
        imports = f"from ackclock.catalogue.user_types import {', '.join(users)}\n"
        text = text.replace(_HEAD, _HEAD + imports)
    if not re.search(r"\bAny\b", body):
        text = text.replace("from typing import Any\n\n", "")
    return text


def stubs() -> dict[str, str]:
    """Every stub file's text by its name."""
    files = {}
    for room in schema.ROOMS:
        entries = schema.catalogue()[room].values()
        named = [(records.class_name(e["name"]), e["params"]) for e in entries]
        files[f"{room}.pyi"] = _module(named)
    shapes = [(records.class_name(kind), rules) for kind, rules in schema.net_kinds().items()]
    files["topology.pyi"] = _module(shapes)
    names = ("Flow", "Group", "LinkChange", "TcpOptions", "Traffic")
    files["flows.pyi"] = _module([(name, schema.definition(name)) for name in names])
    return files


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
