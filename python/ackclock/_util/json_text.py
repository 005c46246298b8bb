"""JSON, as it comes from anybody and as commands and reports write it.

What is read is nested no deeper than code that calls itself can follow. In what is written null
stands for NaN and infinity, which JSON has not.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MOST_DEEP", "JsonError", "is_deep", "json_text", "parse_json"]

MOST_DEEP = 100
"""Levels of tables and lists in a document; none that means something has ten."""


class JsonError(ValueError):
    """Text is not JSON, or is nested too deep: one sentence without the file's name."""


def parse_json(text: str | bytes) -> Any:
    """Read data of JSON, of at most `MOST_DEEP` levels.

    Parameters
    ----------
    text
        The document.

    Raises
    ------
    JsonError
        It is none, or is nested deeper.
    """
    try:
        data = json.loads(text)
        deep = is_deep(data)
    except RecursionError:
        deep = True
    except ValueError as error:
        raise JsonError(f"it is not JSON: {str(error)[:200]}") from None
    if deep:
        message = f"its tables and lists are nested more than {MOST_DEEP} levels deep"
        raise JsonError(f"{message}; expected a few")
    return data


def is_deep(data: Any) -> bool:
    """Whether something is nested deeper than code that calls itself can follow.

    Parameters
    ----------
    data
        Tables and lists.
    """
    level = [data] if isinstance(data, dict | list) else []
    for _ in range(MOST_DEEP):
        level = [
            value
            for outer in level
            for value in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(value, dict | list)
        ]
        if not level:
            return False
    return True


def _finite(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return data


def json_text(
    data: Any, *, indent: int | None = None, default: Callable[[Any], Any] | None = None
) -> str:
    """Write plain data as JSON.

    Parameters
    ----------
    data
        Dicts, lists, text and numbers; what is not finite becomes null.
    indent
        Spaces a level; left out: one line.
    default
        Turns what JSON has no form for, such as a date, into what it has; left out: refused.
    """
    return json.dumps(
        _finite(data),
        indent=indent,
        default=default,
        ensure_ascii=indent is None,
        allow_nan=False,
    )
