"""Counts names that say nothing: variables such as ``found``, functions called by a participle.

A bound name of `VAGUE` in a scope of more than `SHORT` lines counts, and a public function whose
name is one participle. Each may be at most the share in `MOST`; `make lint` runs this. In Rust the
same words count after ``let``.

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


class Share(NamedTuple):
    """How many of all there are."""

    vague: int
    all: int

    def __str__(self) -> str:
        return f"{self.vague} of {self.all}, {100 * self.vague / self.all:.1f} %"


MOST = {"variables": 1.0, "functions": 1.0, "rust": 7.6}
"""Largest shares [%]. Rust is to become 1; none may become larger."""


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
    counts = {"variables": [0, 0], "functions": [0, 0]}
    for file in sorted(folder.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for name, number, counts_if_vague in bound_names(tree):
            counts["variables"][1] += 1
            if counts_if_vague and name in VAGUE:
                counts["variables"][0] += 1
                lines.append(f"{file.relative_to(ROOT)}:{number}: {name}")
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                counts["functions"][1] += 1
                if is_participle(node.name):
                    counts["functions"][0] += 1
                    lines.append(f"{file.relative_to(ROOT)}:{node.lineno}: {node.name}()")
    return {kind: Share(*count) for kind, count in counts.items()}


def measure_rust(folder: Path, lines: list[str]) -> Share:
    """Count what ``let`` binds in Rust.

    Parameters
    ----------
    folder
        Holds the crates.
    lines
        Receives a line for each.
    """
    vague = total = 0
    for file in sorted(folder.glob("*/src/**/*.rs")):
        for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            for name in re.findall(r"\blet (?:mut )?([a-z_][a-z0-9_]*)\b", text):
                total += 1
                if name in VAGUE:
                    vague += 1
                    lines.append(f"{file.relative_to(ROOT)}:{number}: {name}")
    return Share(vague, total)


def main() -> int:
    """Report shares that are too large; the exit code is 1 if one is."""
    lines: list[str] = []
    shares = measure(ROOT / "python/ackclock", lines)
    shares["rust"] = measure_rust(ROOT / "crates", lines)
    if "--list" in sys.argv:
        sys.stdout.write("\n".join([*lines, *(f"{k}: {s}" for k, s in shares.items()), ""]))
    large = {k: s for k, s in shares.items() if 100 * s.vague > MOST[k] * s.all}
    for kind, share in large.items():
        sys.stderr.write(f"vague names: {kind} are {share}; expected at most {MOST[kind]} %\n")
    return 1 if large else 0


if __name__ == "__main__":
    sys.exit(main())
