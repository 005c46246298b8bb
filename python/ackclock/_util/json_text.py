"""JSON as commands and reports write it: null stands for NaN and infinity, which it has not."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["json_text"]


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
