"""Hands the catalogue's classes out as attributes of modules.

The modules are `ackclock.cc` and its like. Beside this file are the stubs that type checkers read,
written by ``tools/write_stubs.py``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ackclock.catalogue.records import Record

    Classes = Callable[[], Mapping[str, type[Record]]]
    Face = tuple[Callable[[str], type[Record]], Callable[[], list[str]]]

__all__ = ["attach", "attach_room"]


def attach(module: str, classes: Classes, other_names: tuple[str, ...] = ()) -> Face:
    """Make ``__getattr__`` and ``__dir__`` of a module.

    Parameters
    ----------
    module
        Its name.
    classes
        Gives the classes by name; called on first use.
    other_names
        What the module defines itself.
    """

    def find(name: str) -> type[Record]:
        from ackclock.errors import suggestion

        if name.startswith("_"):
            raise AttributeError(name)
        known = classes()
        if name not in known:
            message = f"there is no {module}.{name}; {suggestion(name, [*other_names, *known])}"
            raise AttributeError(message)
        return known[name]

    def names() -> list[str]:
        made = classes()
        # Other names of an algorithm are found, but not listed beside its own.
        return sorted([*other_names, *(name for name in made if not made[name].IS_OTHER_NAME)])

    return find, names


def attach_room(module: str) -> Face:
    """Make ``__getattr__`` and ``__dir__`` of the module of a room, which is named as the room is.

    Parameters
    ----------
    module
        Its name.
    """
    return attach(module, partial(_room, module.rpartition(".")[2]))


def _room(name: str) -> Mapping[str, type[Record]]:
    from ackclock.catalogue.records import room

    return room(name)
