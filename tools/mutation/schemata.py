"""Puts mutants of Rust functions into one source, of which an environment variable selects one.

A function with mutants becomes

```rust
fn f(x: u32) -> bool {
    match crate::mutant::chosen() {
        17 => return { x <= 3 },
        _ => {}
    }
    x < 3
}
```

so that one build serves all (mutant schemata: Untch, Offutt and Harrold, "Mutation Analysis Using
Mutant Schemata", ISSTA 1993, doi:10.1145/154183.154265).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

__all__ = ["MODULE", "Mutant", "Placed", "changed_line", "mutants_of", "with_mutants"]

VARIABLE = "ACKCLOCK_MUTANT"

MODULE = f"""//! The mutant that this process runs.

use std::sync::LazyLock;

static CHOSEN: LazyLock<u32> =
    LazyLock::new(|| std::env::var("{VARIABLE}").ok().and_then(|n| n.parse().ok()).unwrap_or(0));

pub(crate) fn chosen() -> u32 {{
    *CHOSEN
}}
"""


class Mutant(NamedTuple):
    """A change of one function, as cargo-mutants lists it; lines and columns count from 1."""

    name: str
    file: str
    function: tuple[tuple[int, int], tuple[int, int]]
    span: tuple[tuple[int, int], tuple[int, int]]
    replacement: str


class Placed(NamedTuple):
    """Lines of a file with mutants that belong to one of them."""

    number: int
    first: int
    last: int


def _span(data: dict[str, Any]) -> tuple[tuple[int, int], tuple[int, int]]:
    start, end = ((data[key]["line"], data[key]["column"]) for key in ("start", "end"))
    return start, end


def mutants_of(listed: list[dict[str, Any]]) -> list[Mutant]:
    """Read what ``cargo mutants --list --json`` gives; what is in no function is left out.

    Parameters
    ----------
    listed
        The list.
    """
    return [
        Mutant(
            entry["name"],
            entry["file"],
            _span(entry["function"]["span"]),
            _span(entry["span"]),
            entry["replacement"],
        )
        for entry in listed
        if entry.get("function")
    ]


def changed_line(text: str, mutant: Mutant) -> str:
    """Write the line that a mutant changes as it is then; of a whole body what replaces it.

    Parameters
    ----------
    text
        The file without it.
    mutant
        Of this file.
    """
    (first, begin), (last, end) = mutant.span
    lines = text.split("\n")
    if first != last:
        return mutant.replacement
    line = lines[first - 1]
    return f"{line[: begin - 1]}{mutant.replacement}{line[end - 1 :]}".strip()


_SKIPPED = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'', re.DOTALL
)
"""Comments, texts and characters, in which braces are none."""


def _body(function: str) -> int | None:
    """Where the body of a function begins, behind its brace; None if it cannot have mutants.

    A ``const fn`` cannot read which one is chosen, and what returns ``impl Trait`` has one type.
    """
    depth = at = 0
    while at < len(function):
        if skipped := _SKIPPED.match(function, at):
            at = skipped.end()
            continue
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(function[at], 0)
        if function[at] == "{" and depth == 0:
            head = re.sub(r"//[^\n]*", "", function[:at])
            return None if re.search(r"\bconst fn\b|->\s*impl\b", head) else at + 1
        at += 1
    return None


def with_mutants(
    text: str, mutants: dict[int, Mutant]
) -> tuple[str, list[Placed], dict[int, Mutant]]:
    """Put mutants into a file.

    Parameters
    ----------
    text
        The file.
    mutants
        Of this file, by number, from 1.

    Returns
    -------
    tuple
        The file with all; the lines of each; those that could not be put in.
    """
    starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def offset(place: tuple[int, int]) -> int:
        return starts[place[0] - 1] + place[1] - 1

    left: dict[int, Mutant] = {}
    by_function: dict[tuple[int, int], dict[int, Mutant]] = {}
    for number, mutant in mutants.items():
        key = offset(mutant.function[0]), offset(mutant.function[1])
        by_function.setdefault(key, {})[number] = mutant
    pieces: list[str | tuple[int, str]] = []
    done = 0
    for (begin, end), of in sorted(by_function.items()):
        start = _body(text[begin:end])
        # Of functions within functions the outer one has its mutants.
        if start is None or begin < done:
            left |= of
            continue
        inner, stop = begin + start, end - 1
        pieces += [text[done:inner], "\nmatch crate::mutant::chosen() {\n"]
        for number, mutant in of.items():
            first, last = (offset(place) for place in mutant.span)
            body = text[inner:first] + mutant.replacement + text[last:stop]
            pieces += [(number, f"{number} => return {{\n{body}\n}},\n")]
        pieces += ["_ => {}\n}\n", text[inner:stop]]
        done = stop
    pieces.append(text[done:])
    made, placed, line = [], [], 1
    for piece in pieces:
        part = piece if isinstance(piece, str) else piece[1]
        if not isinstance(piece, str):
            placed.append(Placed(piece[0], line, line + part.count("\n") - 1))
        made.append(part)
        line += part.count("\n")
    return "".join(made), placed, left
