"""Runs that a command does for its report: named by it, and left out of lists unless requested."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["is_hidden", "name_of", "runs_of"]

_BEGIN = "ackclock "

_command: ContextVar[str] = ContextVar("command", default="")


@contextmanager
def runs_of(command: str) -> Iterator[None]:
    """Name runs that are kept by a command, for the time being; the outermost counts.

    Parameters
    ----------
    command
        Such as ``evaluate``.
    """
    token = _command.set(_command.get() or command)
    try:
        yield
    finally:
        _command.reset(token)


def name_of(sweep: str) -> str:
    """Name the sweep of runs as the store has it: ``ackclock evaluate: NAME`` within a command.

    Parameters
    ----------
    sweep
        Its name.
    """
    command = _command.get()
    return f"{_BEGIN}{command}: {sweep}" if command else sweep


def is_hidden(row: Mapping[str, Any]) -> bool:
    """Whether a run was done for a command's report.

    Parameters
    ----------
    row
        Columns of the run.
    """
    return str(row["sweep"] or "").startswith(_BEGIN)
