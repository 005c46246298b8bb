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

# Pages that stand beside the index without belonging to a part are listed by a pattern, which may
# match none.
suppress_warnings = ["toc.empty_glob"]
