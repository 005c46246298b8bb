"""Standard output on which names command no terminal, wherever they are printed."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

from ackclock._util.text_table import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["plain_output"]


class _Plain:
    """A text stream that writes control characters as escapes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def plain_output() -> Iterator[None]:
    """Write control characters as escapes on standard output, for the time being."""
    before = sys.stdout
    if before is None:  # closed before this process began
        yield
        return
    sys.stdout = cast("TextIO", _Plain(before))
    try:
        yield
    finally:
        sys.stdout = before
