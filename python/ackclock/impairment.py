"""Impairments of a link's wire, one class per algorithm; ``dir(ackclock.impairment)`` lists them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.catalogue.records import Record


def __getattr__(name: str) -> type[Record]:
    from ackclock.catalogue.records import room
    from ackclock.errors import suggestion

    if name.startswith("_"):
        raise AttributeError(name)
    classes = room("impairment")
    if name not in classes:
        message = f"there is no ackclock.impairment.{name}; {suggestion(name, classes)}"
        raise AttributeError(message)
    return classes[name]


def __dir__() -> list[str]:
    from ackclock.catalogue.records import room

    return sorted(room("impairment"))
