"""How Sphinx builds the documentation."""

import tomllib
from pathlib import Path

_project = tomllib.loads(
    (Path(__file__).resolve().parent.parent / "pyproject.toml").read_text(encoding="utf-8")
)["project"]

project = "ackclock"
author = "the ackclock authors"
copyright = author  # noqa: A001 - the name that Sphinx reads
release = version = _project["version"]

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"ackclock {release}"
html_show_sourcelink = False
nitpicky = True


def _list_other_pages(app, docname, source):
    """Put the pages beside the index that it does not name into its table of contents."""
    if docname == "index":
        others = sorted(page.stem for page in Path(app.srcdir).glob("*.md"))
        rest = [name for name in others if name not in ("index", "tutorial")]
        source[0] = source[0].replace("OTHER-PAGES", "\n".join(rest))


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", _list_other_pages)
