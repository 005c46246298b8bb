"""Which files of the Rust core import which, layers of rooms, and circles.

An import is a path that begins with `crate::` or `super::`, in a `use` or elsewhere, outside of
tests. A `mod.rs` that declares or re-exports its own submodules does not import them.
"""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Graph = dict[Path, dict[Path, int]]
"""File -> file that it imports -> line of the first import."""


def code_of(path: Path) -> str:
    """Return a file's text without comments and without the unit tests at its end."""
    text = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
    return re.split(r"#\[cfg\(test\)\]\s*mod \w+ \{", text, maxsplit=1)[0]


def expand(path: str) -> Iterator[str]:
    """Yield the paths of a use tree: `a::{b, c::{d, e}}` is `a::b`, `a::c::d`, `a::c::e`."""
    begin = path.find("{")
    if begin < 0:
        yield path
        return
    head, depth, item = path[:begin], 0, ""
    for letter in path[begin + 1 : path.rfind("}")] + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            if item:
                yield from expand(head + item)
            item = ""
        else:
            item += letter


def paths_in(code: str) -> Iterator[tuple[int, str]]:
    """Yield the line and text of every path that begins with `crate` or `super`."""
    tree = r"(?:\{[^;]*?\})?(?=;)"
    for match in re.finditer(rf"\b(?:crate|super)(?:::\w+)*(?:::{tree}|\b)", code):
        line = code.count("\n", 0, match.start()) + 1
        for path in expand(re.sub(r"\s", "", match.group())):
            yield line, path.split("as ")[0]


def resolve(path: str, file: Path, root: Path) -> Path | None:
    """Return the file of the innermost module that a path names, if it has one below ``root``."""
    folder = file.parent if file.name in ("mod.rs", "lib.rs") else file.with_suffix("")
    parts = path.split("::")
    while parts and parts[0] in ("crate", "super"):
        folder = root if parts.pop(0) == "crate" else folder.parent
    found = None
    for part in ["", *parts]:
        folder = folder / part
        for candidate in (folder / "mod.rs", folder.with_suffix(".rs")):
            if candidate.is_file():
                found = candidate
                break
        else:
            if part:
                break
    return found


def imports(files: Iterable[Path], root: Path) -> Graph:
    """Return the graph of imports among Rust files."""
    graph: Graph = {}
    for file in files:
        arrows = graph.setdefault(file, {})
        for line, path in paths_in(code_of(file)):
            target = resolve(path, file, root)
            is_own = file.name == "mod.rs" and target is not None and file.parent in target.parents
            if target is not None and target != file and not is_own:
                arrows.setdefault(target, line)
    return graph


def circle_in(graph: Mapping[Path, Iterable[Path]]) -> list[Path] | None:
    """Return the files of a circle, the first one again at the end, if there is a circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle: list[Path] = error.args[1]
        return circle[::-1]
    return None


def against_layers(
    graph: Graph, folder: Path, layers: Sequence[str]
) -> Iterator[tuple[Path, int, str, str]]:
    """Yield imports of a higher layer (``layers``: lowest first): file, line, both layers."""
    layer_of = {file: file.relative_to(folder).parts[0] for file in graph if folder in file.parents}
    for file, arrows in graph.items():
        for target, line in arrows.items():
            here, there = layer_of.get(file, ""), layer_of.get(target, "")
            if here in layers and there in layers and layers.index(there) > layers.index(here):
                yield file, line, here, there
