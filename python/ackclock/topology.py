"""Networks: the core's shapes as classes, and real networks from graphs, files and TopoHub."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.scenario.networks.graph_import import (
    from_csv,
    from_graphml,
    from_networkx,
    from_topohub,
)

if TYPE_CHECKING:
    from ackclock.catalogue.records import Record

_FUNCTIONS = ("from_csv", "from_graphml", "from_networkx", "from_topohub")
__all__ = ["from_csv", "from_graphml", "from_networkx", "from_topohub"]


def __getattr__(name: str) -> type[Record]:
    from ackclock.catalogue.records import shape
    from ackclock.errors import suggestion

    if name.startswith("_"):
        raise AttributeError(name)
    classes = shape()
    if name not in classes:
        message = f"there is no ackclock.topology.{name}; {suggestion(name, classes)}"
        raise AttributeError(message)
    return classes[name]


def __dir__() -> list[str]:
    from ackclock.catalogue.records import shape

    return sorted([*_FUNCTIONS, *shape()])
