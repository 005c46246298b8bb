"""Live figures: a scenario that a reader of the documentation runs and changes in the page.

    ```{live} ../web/lessons/collapse.toml
    What happens as the second link narrows?
    ```

The file is relative to ``docs``; a lesson of the lab comes with its question and slider. The figure
is the lab's page with the scenario in its address, in a frame that is loaded when a reader opens it,
and a link to it. It works from disk. Without the lab's page (``make web``) the figure says how to run
the scenario in a checkout.
"""

import html
import shutil
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

PAGE = "lab.html"
HEIGHT = 700


def _built_page():
    from ackclock.lab.server import PAGE as page

    return page if page.is_file() else None


class Live(SphinxDirective):
    """The directive ``live``."""

    required_arguments = 1
    final_argument_whitespace = False
    has_content = True

    def run(self):
        """Make the figure."""
        from ackclock.lab.server import fragment_of
        from ackclock.scenario.load import load

        file = (Path(self.env.srcdir) / self.arguments[0]).resolve()
        self.env.note_dependency(str(file))
        load(file).check()
        sentence = " ".join(self.content)
        if _built_page() is None:
            name = file.relative_to(Path(self.env.srcdir).parent.resolve())
            return self.parse_text_to_nodes(f"{sentence} `ackclock lab {name}` opens it.")
        depth = "../" * self.env.docname.count("/")
        is_lesson = file.parent.name == "lessons"
        coded = f"#lesson={file.stem}" if is_lesson else fragment_of(file.read_text("utf-8"))
        address = html.escape(f"{depth}_static/{PAGE}{coded}")
        title = html.escape(sentence)
        figure = (
            f'<details class="live"><summary>{title} <strong>Run it here.</strong></summary>\n'
            f'<iframe src="{address}" title="{title}" loading="lazy" '
            f'style="width: 100%; height: {HEIGHT}px; border: 1px solid #888"></iframe>\n'
            f'<p><a href="{address}">Open it in a separate page</a></p></details>'
        )
        return [nodes.raw("", figure, format="html")]


def _copy_page(app, error):
    """Put the lab's page beside the built pages."""
    page = _built_page()
    if error is None and page is not None and app.builder.format == "html":
        shutil.copyfile(page, Path(app.outdir) / "_static" / PAGE)


def setup(app):
    """Called by Sphinx."""
    app.add_directive("live", Live)
    app.connect("build-finished", _copy_page)
    return {"parallel_read_safe": True, "version": "1"}
