"""Writes the pages of the Python reference: what is public, by the package that has it.

``python tools/write_api.py FOLDER`` writes Markdown in which Sphinx's autodoc puts signatures and
docstrings. The names are those of each package's ``__all__``, so that a new public name is in the
reference without a change here.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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


def _page(name: str, title: str) -> str:
    module = importlib.import_module(name)
    parts = [_MARK, f"# {name}", f"{title}."]
    head = (inspect.getdoc(module) or "").split("\n\n")[0]
    if head:
        parts.append(f"```{{eval-rst}}\n{head}\n```")
    for public in sorted(module.__all__, key=str.lower):
        directive = _directive(module, public)
        if directive is not None:
            parts.append(f"## {public}\n\n```{{eval-rst}}\n{directive}```")
    return "\n\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    """Every page's text by its path."""
    made = {f"{name.replace('.', '-')}.md": _page(name, title) for name, title in MODULES.items()}
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
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
