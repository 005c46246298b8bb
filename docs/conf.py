"""How Sphinx builds the documentation."""

import re
import sys
import tomllib
from pathlib import Path

_project = tomllib.loads(
    (Path(__file__).resolve().parent.parent / "pyproject.toml").read_text(encoding="utf-8")
)["project"]

project = "ackclock"
author = "the ackclock authors"
copyright = author  # noqa: A001 - the name that Sphinx reads
release = version = _project["version"]

sys.path.insert(0, str(Path(__file__).resolve().parent))
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "live_figures",
]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False
default_role = "code"
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "static"]

html_theme = "furo"
html_title = f"ackclock {release}"
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_js_files = ["sort.js"]
nitpicky = True
# Signatures name types of other packages and of the package's inside, which have no pages.
nitpick_ignore_regex = [("py:.*", ".*")]


def _complete(app, docname, source):
    """Put the source's address where pages name it, and other pages into the index's contents."""
    source[0] = source[0].replace("SOURCE-ADDRESS", _project["urls"]["Source"])
    if docname == "index":
        others = sorted(page.stem for page in Path(app.srcdir).glob("*.md"))
        rest = [name for name in others if name not in ("index", "install", "tutorial")]
        source[0] = source[0].replace("OTHER-PAGES", "\n".join(rest))


def _escape_names(app, what, name, obj, options, lines):
    """Keep names of ns-2 that end in an underscore from being read as links."""
    lines[:] = [re.sub(r"(?<![`\w])(\w+)_(?=[\s,.;:)]|$)", r"\1\\_", line) for line in lines]


def setup(app):
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _escape_names)
    app.connect("source-read", _complete)
