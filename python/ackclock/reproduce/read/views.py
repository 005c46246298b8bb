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

__all__ = ["FILE", "MOST_CHARACTERS", "MOST_DEEP", "insert_queries", "join_views"]

FILE = "views.toml"

MOST_CHARACTERS = 2**20
"""Longest query with its views [characters]; the longest of those that ship has some thousands."""

MOST_DEEP = 50
"""Levels of views made of views."""

_NAMED = re.compile(r"\bviews\.(\w+)")
_QUERIES = ("measure", "data", "printed", "model")
"""Keys whose values are queries."""

_NOTHING = "(SELECT NULL)"
"""Replaces a wrong view, so that its problem is reported once and not again by its readers."""


def join_views(views: Mapping[str, Any], report: Report) -> dict[str, str]:
    """Insert into each view those that it names.

    Parameters
    ----------
    views
        Queries by name.
    report
        Receives path and message of names that there are not, of views made of themselves, and of
        views that become too long or are nested too deep.
    """
    view_texts: dict[str, str] = {}
    # Without calling itself: a chain of thousands is only reported.
    for first in views:
        stack = [first]
        while stack:
            name = stack[-1]
            text = str(views[name]).strip()
            needed = [other for other in _NAMED.findall(text) if other in views]
            open_ = [other for other in needed if other not in view_texts]
            around = next((other for other in open_ if other in stack), None)
            if around is not None:
                message = f'the view "{around}" of {FILE} is made of itself'
                report(f"view.{name}", message)
                view_texts[name] = _NOTHING
            elif len(stack) > MOST_DEEP:
                message = f"views are made of each other more than {MOST_DEEP} levels deep"
                report(f"view.{first}", f"{message}; expected a few")
                view_texts[name] = _NOTHING
            elif open_:
                stack.append(open_[0])
                continue
            else:
                view_texts[name] = _put(text, view_texts, report, f"view.{name}")
            stack.pop()
    return view_texts


def insert_queries(value: Any, views: Mapping[str, str], report: Report) -> Any:
    """Copy a document with the named queries in place.

    Parameters
    ----------
    value
        The document.
    views
        What `join_views` made.
    report
        Receives path and message of names that there are not, and of queries that become too long.
    """
    return _Filler(views, report).fill(value, "")


class _Filler:
    """Fills one document, whose queries together are bounded too."""

    def __init__(self, views: Mapping[str, str], report: Report) -> None:
        self._views, self._report = views, report
        self._left = 64 * MOST_CHARACTERS

    def fill(self, value: Any, path: str) -> Any:
        if isinstance(value, dict):
            return {key: self._item(key, one, path) for key, one in value.items()}
        if isinstance(value, list):
            return [self.fill(item, f"{path}[{i}]") for i, item in enumerate(value)]
        return value

    def _item(self, key: str, item: Any, path: str) -> Any:
        at = f"{path}.{key}" if path else key
        if key not in _QUERIES or not isinstance(item, str):
            return self.fill(item, at)
        text = _put(item, self._views, self._report, at, self._left)
        self._left -= len(text)
        return text


def _put(
    text: str,
    views: Mapping[str, str],
    report: Report,
    path: str,
    most: int = MOST_CHARACTERS,
) -> str:
    size = len(text) + sum(len(views.get(name, "")) for name in _NAMED.findall(text))
    if size > min(most, MOST_CHARACTERS):
        message = f"becomes longer than {MOST_CHARACTERS:,} characters with its views"
        if most < MOST_CHARACTERS:
            message = f"makes the queries longer than {64 * MOST_CHARACTERS:,} characters together"
        report(path, f"{message}; expected less")
        return _NOTHING

    def one(match: re.Match[str]) -> str:
        name = match[1]
        if name not in views:
            report(path, f'there is no view "{name}" in {FILE}; {suggestion(name, views)}')
            return _NOTHING
        return f"({views[name]})"

    return _NAMED.sub(one, text)
