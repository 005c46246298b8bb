"""Writes the pages of the Python reference: what is public, by the package that has it.

``python tools/write_api.py FOLDER`` writes Markdown in which Sphinx's autodoc puts signatures and
docstrings. The names are those of each package's ``__all__``, so that a new public name is in the
reference without a change here. Each object has a page.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

__all__ = ["MODULES", "main", "pages"]

MODULES = {
    "ackclock": "Scenarios, runs, sweeps, user-defined algorithms",
    "ackclock.plot": "Figures",
    "ackclock.analysis": "Scores of rates and of algorithms",
    "ackclock.experiments.store": "Stores",
    "ackclock.experiments.stored": "Sweeps read from stores",
    "ackclock.results.formats.registry": "Formats of other tools",
    "ackclock.engines.registry": "Cases of any engine",
    "ackclock.engines.fluid": "The fluid engine",
    "ackclock.engines.hybrid": "The hybrid engine",
    "ackclock.engines.model": "Closed forms",
    "ackclock.gym": "Environments for reinforcement learning",
}
"""Packages with a page, and the pages' titles."""

_MARK = "<!-- Written by python tools/write_api.py; do not edit. -->\n"


def _directive(module: ModuleType, name: str) -> str | None:
    """The autodoc directive of a name; None for modules, which have pages."""
    value = getattr(module, name)
    if inspect.ismodule(value):
        return None
    if inspect.isclass(value):
        options = "   :members:\n   :show-inheritance:\n"
        if issubclass(value, tuple):
            options = "   :members:\n   :exclude-members: count, index\n"
        return f".. autoclass:: {module.__name__}.{name}\n{options}"
    if callable(value):
        return f".. autofunction:: {module.__name__}.{name}\n"
    return f".. autodata:: {_home(module, name)}.{name}\n   :no-value:\n"


def _home(module: ModuleType, name: str) -> str:
    """The module that assigns a value, beside which its docstring is."""
    value = getattr(module, name)
    assigned = re.compile(rf"^{name}(:[^=]*)? = ", re.MULTILINE)
    for other in sorted(sys.modules):
        known = sys.modules[other]
        if other.startswith(module.__name__) and getattr(known, name, None) is value:
            file = getattr(known, "__file__", None)
            if file and assigned.search(Path(file).read_text(encoding="utf-8")):
                return other
    return module.__name__


def _objects(module: ModuleType) -> Iterator[tuple[str, str, str]]:
    """Each public object with its kind and directive: classes, functions, exceptions, values."""
    found = []
    for public in sorted(module.__all__, key=str.lower):
        directive = _directive(module, public)
        if directive is not None:
            found.append((public, _kind(getattr(module, public)), directive))
    for kind in KINDS:
        yield from (one for one in found if one[1] == kind)


KINDS = ("classes", "functions", "values", "exceptions and warnings")


def _kind(value: object) -> str:
    if inspect.isclass(value):
        return KINDS[3] if issubclass(value, BaseException) else KINDS[0]
    return KINDS[1] if callable(value) else KINDS[2]


def _sentence(module: ModuleType, name: str) -> str:
    """The first sentence of an object's description; of a plain value none."""
    value = getattr(module, name)
    if not (inspect.isclass(value) or callable(value)):
        return ""
    first = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    return first.replace("``", "`").replace("|", "\\|")


def _pages_of(name: str, title: str) -> Iterator[tuple[str, str]]:
    """The page of a module, which lists its objects, and a page for each of these."""
    module = importlib.import_module(name)
    folder = name.replace(".", "-")
    parts = [_MARK, f"# {name}", f"{title}."]
    head = (inspect.getdoc(module) or "").split("\n\n")[0]
    if head:
        parts.append(f"```{{eval-rst}}\n{head}\n```")
    objects = list(_objects(module))
    for kind in dict.fromkeys(kind for _, kind, _ in objects):
        rows = [
            f"| [`{public}`]({folder}/{public}.md) | {_sentence(module, public)} |"
            for public, other, _ in objects
            if other == kind
        ]
        table = "\n".join(["| name | what |", "| --- | --- |", *rows])
        parts.append(f"## {kind.capitalize()}\n\n{table}")
    files = "\n".join(f"{folder}/{public}" for public, _, _ in objects)
    parts.append(f"```{{toctree}}\n:hidden:\n\n{files}\n```")
    yield f"{folder}.md", "\n\n".join(parts) + "\n"
    for public, _, directive in objects:
        text = [_MARK, f"# {public}", f"Of [`{name}`](../{folder}.md)."]
        text.append(f"```{{eval-rst}}\n{directive}```")
        yield f"{folder}/{public}.md", "\n\n".join(text) + "\n"


def pages() -> dict[str, str]:
    """Every page's text by its path."""
    made = {path: text for name, title in MODULES.items() for path, text in _pages_of(name, title)}
    files = {name: name.replace(".", "-") for name in MODULES}
    rows = [f"- [`{name}`]({files[name]}.md): {title}." for name, title in MODULES.items()]
    index = [
        _MARK,
        "# Python",
        "What is public, from the docstrings. The classes of algorithms, such as `ackclock.cc.Aimd`"
        " and `ackclock.qdisc.Red`, are on the [algorithms' pages](../algorithms/index.md).",
        "\n".join(rows),
        "\n".join(["```{toctree}", ":hidden:", "", *files.values(), "```"]),
    ]
    return {"index.md": "\n\n".join(index) + "\n", **made}


def main(arguments: list[str] | None = None) -> int:
    """Write the pages into a folder.

    Parameters
    ----------
    arguments
        The folder; left out: those of this process.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1 or given[0].startswith("-"):
        sys.stderr.write("usage: python tools/write_api.py FOLDER\n")
        return 2
    folder = Path(given[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
