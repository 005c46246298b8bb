"""Named queries of a paper: what several claims and figures begin with is written once.

``views.toml`` has them by name. Where a query says ``views.NAME``, the named query is inserted in
brackets, before anything else looks at the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ackclock.errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Report = Callable[[str, str], object]

__all__ = ["FILE", "filled"]

FILE = "views.toml"

_NAMED = re.compile(r"\bviews\.(\w+)")
_QUERIES = ("measure", "data", "printed", "model")
"""Keys whose values are queries."""

_NOTHING = "(SELECT NULL)"
"""Replaces a wrong view, so that its problem is reported once and not again by its readers."""


def filled(value: Any, views: Mapping[str, str], report: Report, path: str = "") -> Any:
    """Copy a document with the named queries in place.

    Parameters
    ----------
    value
        The document, or a part of it.
    views
        Queries by name.
    report
        Receives path and message of names that there are not, and of views made of themselves.
    path
        Of the value in the document.
    """
    if isinstance(value, dict):
        made = {}
        for key, item in value.items():
            at = f"{path}.{key}" if path else key
            is_query = key in _QUERIES and isinstance(item, str)
            made[key] = (
                _put(item, views, report, at) if is_query else filled(item, views, report, at)
            )
        return made
    if isinstance(value, list):
        return [filled(item, views, report, f"{path}[{i}]") for i, item in enumerate(value)]
    return value


def _put(
    text: str, views: Mapping[str, str], report: Report, path: str, inside: tuple[str, ...] = ()
) -> str:
    def one(match: re.Match[str]) -> str:
        name = match[1]
        if name not in views:
            report(path, f'there is no view "{name}" in {FILE}; {suggestion(name, views)}')
            return _NOTHING
        if name in inside:
            report(path, f'the view "{name}" of {FILE} is made of itself')
            return _NOTHING
        return f"({_put(views[name].strip(), views, report, path, (*inside, name))})"

    return _NAMED.sub(one, text)
