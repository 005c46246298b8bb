"""How every page and report folder is written: templates, pictures in the page, whole folders."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.json_text import json_text
from ackclock._util.output_folder import whole_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure

__all__ = ["inline", "render", "save_report"]


def render(template: Path, filters: Mapping[str, Any] | None = None, **values: Any) -> str:
    """Fill a template of ackclock's; values are escaped.

    Parameters
    ----------
    template
        Its file. What it extends or includes is beside it or beside this module.
    filters
        Functions that the template may use as filters.
    **values
        What it says.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([template.parent, Path(__file__).parent]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(filters or {})
    return environment.get_template(template.name).render(**values)


def inline(figure: Figure | str, prefix: str = "") -> str:
    """Make SVG that can be part of a page.

    Parameters
    ----------
    figure
        A figure, or the text of an SVG file.
    prefix
        Put before its ids, which must differ between the pictures of one page.
    """
    text = figure if isinstance(figure, str) else _draw_svg(figure)
    svg = text[text.index("<svg") :]
    if not prefix:
        return svg
    svg = svg.replace('id="', f'id="{prefix}-').replace('href="#', f'href="#{prefix}-')
    return svg.replace("url(#", f"url(#{prefix}-")


def _draw_svg(figure: Figure) -> str:
    import matplotlib as mpl

    text = StringIO()
    with mpl.rc_context({"svg.hashsalt": "ackclock"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def save_report(
    folder: Path,
    marker: str,
    data: dict[str, Any],
    pages: Mapping[str, str] | None = None,
    more: Callable[[Path], object] | None = None,
) -> Path:
    """Write a report; its folder appears when it is whole.

    Parameters
    ----------
    folder
        Is made, or replaced if it is such a report.
    marker
        The JSON file by which such a report is known.
    data
        What goes into that file.
    pages
        Texts by file name.
    more
        Writes further files into the folder that it is given.

    Returns
    -------
    Path
        The folder.
    """

    def fill(at: Path) -> None:
        (at / marker).write_text(json_text(data, indent=1) + "\n", encoding="utf-8")
        for name, text in (pages or {}).items():
            (at / name).write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8")
        if more is not None:
            more(at)

    return whole_folder(folder, fill, marker=marker)
