"""Networks: the core's shapes as classes, and real networks from graphs, files and TopoHub."""

from typing import TYPE_CHECKING

from ackclock.scenario.networks.graph_import import (
    from_csv,
    from_graphml,
    from_networkx,
    from_topohub,
)

__all__ = ["from_csv", "from_graphml", "from_networkx", "from_topohub"]

if TYPE_CHECKING:
    from ackclock.catalogue.rooms.topology import *
else:
    from ackclock.catalogue.records import shape
    from ackclock.catalogue.rooms import attach

    __getattr__, __dir__ = attach(__name__, shape, tuple(__all__))
