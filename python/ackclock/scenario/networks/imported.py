"""Networks from collections and files: TopoHub, GraphML, SNDlib, Repetita, CSV."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ackclock.catalogue.entries import schema_of
from ackclock.catalogue.network_kinds import NetworkKind, quantity
from ackclock.scenario.networks.link_defaults import LinkOptions

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CSV", "GRAPHML", "GRAPH_FILE", "TOPOHUB"]

Data = dict[str, Any]


_OF_LINKS: Data = schema_of(LinkOptions)["properties"]
_COMMON: Data = {key: rules for key, rules in _OF_LINKS.items() if key not in ("rate", "weight")}


def _weight(holder: str) -> Data:
    text = f"{holder} that holds the routing weight; where it is not given the weight is 1."
    return {**_OF_LINKS["weight"], "description": text}


def _options(net: Data) -> LinkOptions:
    return LinkOptions(**{f.name: net[f.name] for f in fields(LinkOptions) if f.name in net})


def _topohub(net: Data, folder: Path) -> Data:
    from ackclock.scenario.networks.graph_import import topohub_data

    del folder
    return topohub_data(net["name"], net.get("rule", "uniform"), _options(net))


def _graphml(net: Data, folder: Path) -> Data:
    from ackclock.scenario.networks.graph_import import graphml_data

    return graphml_data(folder / net["file"], _options(net))


def _graph_file(net: Data, folder: Path) -> Data:
    from ackclock.scenario.networks.graph_import import graph_file_data

    return graph_file_data(folder / net["file"], _options(net))


def _csv(net: Data, folder: Path) -> Data:
    from ackclock.scenario.networks.graph_import import csv_data

    return csv_data(folder / net["folder"], _options(net))


TOPOHUB = NetworkKind(
    "A real network of the TopoHub collection; its links' capacities by a stated rule.",
    {
        "name": {"type": "string", "description": "Name there, such as topozoo/Geant2009."},
        "rate": quantity("rate", "bit/s", "Capacity that the rule starts from."),
        "rule": {
            "enum": ["uniform", "degree"],
            "default": "uniform",
            "description": "uniform: every link has the rate; degree: the rate times the"
            " smaller number of links at the two ends.",
        },
        **_COMMON,
    },
    ("name", "rate"),
    resolve=_topohub,
)
GRAPHML = NetworkKind(
    "A network from a GraphML file, as in the Internet Topology Zoo.",
    {
        "file": {"type": "string", "description": "Path, relative to the scenario file."},
        "rate": quantity("rate", "bit/s", "Capacity of links whose speed is not given."),
        "weight": _weight("Attribute of edges"),
        **_COMMON,
    },
    ("file",),
    resolve=_graphml,
)
GRAPH_FILE = NetworkKind(
    "A network from a file of a public collection: SNDlib (XML or native), Repetita (.graph), or"
    " GraphML.",
    {
        "file": {"type": "string", "description": "Path, relative to the scenario file."},
        "rate": quantity("rate", "bit/s", "Capacity of links whose capacity is not given."),
        "weight": _weight("Attribute of edges"),
        **_COMMON,
    },
    ("file",),
    resolve=_graph_file,
)
CSV = NetworkKind(
    "A network from a folder with nodes.csv (id, name, lat, lon) and edges.csv"
    " (source, target, capacity_bps, delay_s, length_km, weight).",
    {
        "folder": {"type": "string", "description": "Path, relative to the scenario file."},
        "rate": quantity("rate", "bit/s", "Capacity of links whose capacity is not given."),
        "weight": _weight("Column of edges.csv"),
        **_COMMON,
    },
    ("folder",),
    resolve=_csv,
)
