"""User-defined code inside a run; what handles it is loaded only where there is some."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from ackclock.catalogue.class_names import list_classes
from ackclock.catalogue.guest_programs import list_guests

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ackclock.catalogue.python_class import Definition
    from ackclock.catalogue.python_source import Workshop
    from ackclock.catalogue.schema import Data

__all__ = ["bind_classes", "contain_exits", "open_workshop"]


def bind_classes(data: Data, folder: Path) -> dict[str, Definition]:
    """Look up the classes of a scenario by the names that it has for them.

    Parameters
    ----------
    data
        The scenario as plain data, checked.
    folder
        What file names are relative to.
    """
    if not any(True for _ in list_classes(data)):
        return {}
    from ackclock.catalogue.python_source import bound

    return bound(data, folder)


def open_workshop(
    data: Data, seed: int, classes: Mapping[str, Definition], folder: Path
) -> Workshop | None:
    """Give the maker of a scenario's user-defined algorithms and guests; None if it has none.

    Parameters
    ----------
    data, seed, classes, folder
        As of `ackclock.catalogue.python_source.Workshop`.
    """
    if not classes and not any(True for _ in list_guests(data)):
        return None
    from ackclock.catalogue.python_source import Workshop

    return Workshop(data, seed, classes, folder)


def contain_exits(workshop: Workshop | None) -> AbstractContextManager[None]:
    """Treat user code that would end the program as code that fails.

    Parameters
    ----------
    workshop
        The maker of the scenario's user-defined algorithms; None: it has none.
    """
    if workshop is None:
        return nullcontext()
    from ackclock.catalogue import python_source

    return python_source.contain_exits()
