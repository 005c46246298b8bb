"""Lines of Tcl that several parts of a script have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.peers.written import number_text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["put"]


def put(object_: str, values: Mapping[str, float | bool]) -> str:
    """Set variables of an object.

    Parameters
    ----------
    object_
        As Tcl names it.
    values
        By names without the underscore at their ends.
    """
    pairs = " ".join(f"{key} {number_text(value)}" for key, value in values.items())
    return f"put {object_} {{{pairs}}}"
