"""Counts names that say nothing: variables such as ``found``, functions called by a participle.

A bound name of `VAGUE` in a scope of more than `SHORT` lines counts, and a function whose name is
one participle; of fields of classes (properties too) and of options and arguments of commands a
name of `VAGUE`. Each may be at most the share in `MOST`; `make lint` runs this. In Rust the same
words count after ``let`` and ``for`` and as parameters and fields, in scopes of any length. At most
`MOST_DOUBLED` names of public classes are defined in two modules or more.

``python tools/lint/check_names.py --list`` prints them all.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]

VAGUE = frozenset(
    re.findall(
        r"\w+",
        "found made given wanted kept own whole chosen done said shown seen at one known part parts"
        " place places what rest words others drawn listed held took",
    )
)
PARTICIPLES = VAGUE - frozenset(
    re.findall(r"\w+", "own whole at one part parts place places what rest words others took")
)
"""Those that do not end in ``ed``."""
NO_PARTICIPLES = {"seed", "need", "feed", "speed", "embed", "exceed", "proceed"}
SHORT = 10
MOST_DOUBLED = 4


class Share(NamedTuple):
    """How many of all there are."""

    vague: int
    all: int

    def __str__(self) -> str:
        return f"{self.vague} of {self.all}, {100 * self.vague / self.all:.1f} %"


MOST = dict.fromkeys(
    ("variables", "functions", "fields", "options", "rust variables", "rust functions"), 1.0
)
"""Largest shares [%]; none may become larger."""


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int, bool]]:
    """Name every variable and argument with its line, and whether it counts if it is vague.

    Parameters
    ----------
    tree
        A module.
    """
    stack: list[tuple[ast.AST, int]] = [(tree, 10**6)]
    while stack:
        node, lines = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno, lines > SHORT
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno, lines > SHORT
        stack += [(inner, lines) for inner in ast.iter_child_nodes(node)]


def field_names(kind: ast.ClassDef) -> dict[str, int]:
    """Name the fields of a class, those that its methods set and its properties, with their lines.

    Parameters
    ----------
    kind
        The class.
    """
    fields: dict[str, int] = {}
    for statement in kind.body:
        if isinstance(statement, ast.FunctionDef):
            decorators = {d.id for d in statement.decorator_list if isinstance(d, ast.Name)}
            if decorators & {"property", "cached_property"}:
                fields.setdefault(statement.name, statement.lineno)
        for node in ast.walk(statement):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
            ):
                fields.setdefault(node.attr, node.lineno)
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        for target in targets:
            if isinstance(target, ast.Name):
                fields.setdefault(target.id, target.lineno)
    return fields


def option_names(call: ast.Call) -> Iterator[str]:
    """Name what `click.option` or `click.argument` defines, without leading hyphens.

    Parameters
    ----------
    call
        Any call.
    """
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("option", "argument"):
        return
    texts = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    for name in (part.strip().lstrip("-") for text in texts for part in text.split("/")):
        if len(name) > 1:
            yield name


def is_participle(name: str) -> bool:
    """Whether a function's name is one participle, such as ``joined``.

    Parameters
    ----------
    name
        The name.
    """
    word = name.strip("_")
    return word in PARTICIPLES or (
        word.isalpha() and word.endswith("ed") and word not in NO_PARTICIPLES
    )


def measure(folder: Path, lines: list[str]) -> dict[str, Share]:
    """Count the names of the package.

    Parameters
    ----------
    folder
        The package.
    lines
        Receives a line for each.
    """
    counts = {kind: [0, 0] for kind in ("variables", "functions", "fields", "options")}

    def count(kind: str, name: str, where: str) -> None:
        counts[kind][1] += 1
        if name.strip("_") in VAGUE:
            counts[kind][0] += 1
            lines.append(f"{where}: {name} ({kind})")

    for file in sorted(folder.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for name, number, counts_if_vague in bound_names(tree):
            counts["variables"][1] += 1
            if counts_if_vague and name in VAGUE:
                counts["variables"][0] += 1
                lines.append(f"{file.relative_to(ROOT)}:{number}: {name}")
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                for name, number in field_names(node).items():
                    count("fields", name, f"{file.relative_to(ROOT)}:{number}")
            elif isinstance(node, ast.Call):
                for name in option_names(node):
                    count("options", name, f"{file.relative_to(ROOT)}:{node.lineno}")
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                counts["functions"][1] += 1
                if is_participle(node.name):
                    counts["functions"][0] += 1
                    lines.append(f"{file.relative_to(ROOT)}:{node.lineno}: {node.name}()")
    return {kind: Share(*count) for kind, count in counts.items()}


RUST_NAMES = (
    re.compile(r"\blet (?:mut )?([a-z_]\w*)\b"),
    re.compile(r"\bfor &?(?:mut )?([a-z_]\w*) in\b"),
)
RUST_SIGNATURE = re.compile(r"\bfn \w+[^{;]*")
RUST_PARAMETER = re.compile(r"(?<!')\b([a-z_]\w*): ")
RUST_TYPE = re.compile(
    r"^( *)(?:pub(?:\([a-z]+\))? )?(?:struct|enum) [^;{}]*\{\n(.*?)^\1\}", re.MULTILINE | re.DOTALL
)
RUST_FIELD = re.compile(r"^ *(?:pub(?:\([a-z]+\))? )?([a-z_]\w*): ", re.MULTILINE)
RUST_FUNCTION = re.compile(r"\bfn ([a-z_]\w*)")


def rust_names(text: str) -> dict[str, list[tuple[str, int]]]:
    """Name the variables (parameters and fields too) and functions of a Rust file, with lines.

    Parameters
    ----------
    text
        The file. What patterns bind beside plain ``let`` and ``for`` is left out.
    """
    code = re.sub(r"//.*", "", text)
    bound = [(m[1], m.start(1)) for pattern in RUST_NAMES for m in pattern.finditer(code)]
    for pattern, group, inner in ((RUST_SIGNATURE, 0, RUST_PARAMETER), (RUST_TYPE, 2, RUST_FIELD)):
        for outer in pattern.finditer(code):
            begin = outer.start(group)
            bound += [(m[1], begin + m.start(1)) for m in inner.finditer(outer[group])]
    functions = [(m[1], m.start(1)) for m in RUST_FUNCTION.finditer(code)]
    kinds = {"rust variables": bound, "rust functions": functions}
    return {
        kind: [(name, code.count("\n", 0, start) + 1) for name, start in names]
        for kind, names in kinds.items()
    }


def measure_rust(folder: Path, lines: list[str]) -> dict[str, Share]:
    """Count the names of the crates, those of tests and benches too.

    Parameters
    ----------
    folder
        Holds the crates.
    lines
        Receives a line for each.
    """
    counts = {"rust variables": [0, 0], "rust functions": [0, 0]}
    tests = {"rust variables": VAGUE.__contains__, "rust functions": is_participle}
    for file in sorted(folder.glob("*/*/**/*.rs")):
        for kind, names in rust_names(file.read_text(encoding="utf-8")).items():
            counts[kind][1] += len(names)
            for name, number in names:
                if tests[kind](name):
                    counts[kind][0] += 1
                    mark = "()" if kind == "rust functions" else ""
                    lines.append(f"{file.relative_to(ROOT)}:{number}: {name}{mark}")
    return {kind: Share(*count) for kind, count in counts.items()}


def doubled_classes(folder: Path) -> dict[str, list[str]]:
    """List public classes of modules whose name several modules define.

    Parameters
    ----------
    folder
        Of a package.

    Returns
    -------
    dict
        By name, the files that define it.
    """
    files: dict[str, list[str]] = {}
    for file in sorted(folder.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files.setdefault(node.name, []).append(str(file.relative_to(folder)))
    return {name: places for name, places in files.items() if len(places) > 1}


def main() -> int:
    """Report shares that are too large and names that are doubled; the exit code is 1 if one is."""
    lines: list[str] = []
    shares = measure(ROOT / "python/ackclock", lines)
    shares |= measure_rust(ROOT / "crates", lines)
    if "--list" in sys.argv:
        sys.stdout.write("\n".join([*lines, *(f"{k}: {s}" for k, s in shares.items()), ""]))
    large = {k: s for k, s in shares.items() if 100 * s.vague > MOST[k] * s.all}
    for kind, share in large.items():
        sys.stderr.write(f"vague names: {kind} are {share}; expected at most {MOST[kind]} %\n")
    doubled = doubled_classes(ROOT / "python/ackclock")
    too_many = len(doubled) > MOST_DOUBLED
    if too_many:
        names = "; ".join(f"{name} in {', '.join(places)}" for name, places in doubled.items())
        sys.stderr.write(f"class names in several modules: {names}; at most {MOST_DOUBLED}\n")
    return 1 if large or too_many else 0


if __name__ == "__main__":
    sys.exit(main())
