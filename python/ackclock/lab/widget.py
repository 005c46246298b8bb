"""The lab in a notebook: the page in a frame, with a scenario."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from ackclock.errors import AckclockError, how_to_install
from ackclock.lab.server import fragment_of, read_page

__all__ = ["lab_widget"]

PROGRAM = Path(__file__).parent / "widget.js"
"""What runs in the notebook's page."""


def lab_widget(toml: str, height: int = 760) -> Any:
    """Make a widget that shows the lab with a scenario.

    Parameters
    ----------
    toml
        The scenario as TOML text, with nothing in other files.
    height
        Of the frame [px].

    Returns
    -------
    anywidget.AnyWidget
        Is shown as the value of a cell in Jupyter and in programs that show anywidget.

    Raises
    ------
    AckclockError
        anywidget is not installed, or the page has not been built.
    """
    try:
        anywidget = importlib.import_module("anywidget")
        traitlets = importlib.import_module("traitlets")
    except ImportError:
        message = f"anywidget is not installed; {how_to_install('notebook')}"
        raise AckclockError(message) from None
    page = read_page()

    def answer(widget: Any, content: Any, _: Any) -> None:
        if isinstance(content, dict) and content.get("type") == "page":
            widget.send({"type": "page"}, [page])

    members = {
        "_esm": PROGRAM,
        "fragment": traitlets.Unicode().tag(sync=True),
        "height": traitlets.Int().tag(sync=True),
    }
    made = type("LabWidget", (anywidget.AnyWidget,), members)(
        fragment=fragment_of(toml), height=height
    )
    made.on_msg(answer)
    return made
