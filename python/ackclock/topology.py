"""Networks: the core's shapes as classes, and real networks from graphs, files and TopoHub."""

# ruff: noqa: PLC0414  type checkers take what is imported under its own name for public
from typing import TYPE_CHECKING

from ackclock.scenario.networks.graph_import import from_csv as from_csv
from ackclock.scenario.networks.graph_import import from_graph_file as from_graph_file
from ackclock.scenario.networks.graph_import import from_networkx as from_networkx
from ackclock.scenario.networks.graph_import import from_topohub as from_topohub

if TYPE_CHECKING:
    from ackclock.catalogue.rooms.topology import *
else:
    from ackclock.catalogue.records import shape
    from ackclock.catalogue.rooms import attach

    _OWN = ("from_csv", "from_graph_file", "from_networkx", "from_topohub")
    __getattr__, __dir__ = attach(__name__, shape, _OWN)
