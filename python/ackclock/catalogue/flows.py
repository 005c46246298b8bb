"""Flows, traffic, TCP settings and changes of links as classes, from the core's schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.catalogue.records import Record

_NAMES = ("Flow", "LinkChange", "TcpOptions", "Traffic")


def __getattr__(name: str) -> type[Record]:
    from ackclock.catalogue.records import record

    if name not in _NAMES:
        raise AttributeError(name)
    return record(name)


def __dir__() -> list[str]:
    return sorted(_NAMES)
