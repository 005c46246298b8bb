"""The core's schema and catalogue, read once, and the few kinds of network that Python adds."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from ackclock import _core

__all__ = [
    "REPLAYED",
    "ROOMS",
    "Data",
    "catalogue",
    "definition",
    "entries",
    "entry",
    "net_kinds",
    "room_of",
    "scenario",
]

Data = dict[str, Any]
"""A piece of a scenario as plain data: what TOML and JSON can hold."""

ROOMS = (
    "cc",
    "recovery",
    "slow_start",
    "qdisc",
    "source",
    "arrivals",
    "pattern",
    "impairment",
    "sharing",
    "policy",
)
"""Rooms of interchangeable algorithms."""

_ROOM_OF_KEY = {
    "cc": "cc",
    "recovery": "recovery",
    "slow_start": "slow_start",
    "qdisc": "qdisc",
    "back_qdisc": "qdisc",
    "source": "source",
    "generator": "arrivals",
    "between": "pattern",
    "impairments": "impairment",
    "back_impairments": "impairment",
    "sharing": "sharing",
    "elsewhere": "sharing",
    "sender": "policy",
}


def room_of(key: str) -> str | None:
    """Find the room of the algorithm, or of the list of algorithms, under a key of a scenario.

    Parameters
    ----------
    key
        A key such as ``cc`` or ``back_qdisc``.
    """
    return _ROOM_OF_KEY.get(key)


REPLAYED = {("source", "trace"): "packets", ("arrivals", "trace"): "arrivals"}
"""Algorithms that replay a list, which may stand in a file, and the parameter that it is."""


@cache
def catalogue() -> dict[str, dict[str, Data]]:
    """Every algorithm: room, then registry name, then name, title, source, status, file, params."""
    read: dict[str, list[Data]] = json.loads(_core.catalogue())
    rooms = {room: {entry["name"]: entry for entry in read.get(room, [])} for room in ROOMS}
    for (room, name), key in REPLAYED.items():
        params = rooms[room][name]["params"]
        columns = ", ".join(_entries(params, key)["properties"])
        text = (
            f"CSV file with what {key} would list, columns {columns}; path relative to the scenario"
            " file."
        )
        params["properties"]["file"] = {"type": "string", "description": text}
    return rooms


def _entries(params: Data, key: str) -> Data:
    name = params["properties"][key]["items"]["$ref"].rsplit("/", 1)[-1]
    found: Data = params["$defs"][name]
    return found


def entries(room: str, name: str) -> Data:
    """The schema of an entry of the list that an algorithm of `REPLAYED` replays.

    Parameters
    ----------
    room, name
        The algorithm.
    """
    return _entries(catalogue()[room][name]["params"], REPLAYED[room, name])


def entry(room: str, name: str) -> Data | None:
    """Look up one algorithm; None if there is no such.

    Parameters
    ----------
    room
        One of `ROOMS`.
    name
        Registry name, such as ``aimd``.
    """
    return catalogue()[room].get(name)


def _quantity(quantity: str, unit: str, description: str, default: object = None) -> Data:
    kind = {"x-quantity": quantity, "x-unit": unit, "description": description}
    return kind if default is None else {**kind, "default": default}


def _weight(holder: str) -> Data:
    text = f"{holder} that holds the routing weight; where it is not given the weight is 1."
    return {"type": "string", "default": "weight", "description": text}


_COMMON: Data = {
    "buffer": {
        "x-quantity": "buffer size",
        "default": "1 bdp",
        "description": "Buffer of every link.",
    },
    "qdisc": {
        "$ref": "#/$defs/Spec",
        "default": "fifo",
        "description": "Queue discipline of every link.",
    },
    "signal_speed": {
        "type": "number",
        "exclusiveMinimum": 0,
        "default": 2e8,
        "description": "Speed in m/s by which length gives delay where none is given.",
    },
    "scale": {
        "type": "number",
        "exclusiveMinimum": 0,
        "default": 1.0,
        "description": "Every capacity is multiplied by this.",
    },
}

_IMPORTED: dict[str, tuple[str, Data, list[str]]] = {
    "topohub": (
        "A real network of the TopoHub collection; its links' capacities by a stated rule.",
        {
            "name": {"type": "string", "description": "Name there, such as topozoo/Geant2009."},
            "rate": _quantity("rate", "bit/s", "Capacity that the rule starts from."),
            "rule": {
                "enum": ["uniform", "degree"],
                "default": "uniform",
                "description": "uniform: every link has the rate; degree: the rate times the"
                " smaller number of links at the two ends.",
            },
        },
        ["name", "rate"],
    ),
    "graphml": (
        "A network from a GraphML file, as in the Internet Topology Zoo.",
        {
            "file": {"type": "string", "description": "Path, relative to the scenario file."},
            "rate": _quantity("rate", "bit/s", "Capacity of links whose speed is not given."),
            "weight": _weight("Attribute of edges"),
        },
        ["file"],
    ),
    "csv": (
        "A network from a folder with nodes.csv (id, name, lat, lon) and edges.csv"
        " (source, target, capacity_bps, delay_s, length_km, weight).",
        {
            "folder": {"type": "string", "description": "Path, relative to the scenario file."},
            "rate": _quantity("rate", "bit/s", "Capacity of links whose capacity is not given."),
            "weight": _weight("Column of edges.csv"),
        },
        ["folder"],
    ),
}


@cache
def scenario() -> Data:
    """The schema of what users may write: the core's and the inputs that Python expands."""
    schema: Data = json.loads(_core.schema())
    branches = schema["$defs"]["Net"]["oneOf"]
    for kind, (description, properties, required) in _IMPORTED.items():
        branches.append(
            {
                "description": description,
                "type": "object",
                "properties": {"kind": {"const": kind}, **properties, **_COMMON},
                "required": ["kind", *required],
                "additionalProperties": False,
            }
        )
    from ackclock.scenario.environments import form

    branches.append(
        {
            "description": form.TEXT,
            "type": "object",
            "properties": {"kind": {"const": "environment"}, **form.RULES},
            "required": ["kind", "name"],
            "additionalProperties": False,
        }
    )
    schema["$defs"]["RateSpec"]["oneOf"].append(
        {
            "description": "A Mahimahi trace file; path relative to the scenario file.",
            "type": "object",
            "properties": {"mahimahi_file": {"type": "string"}},
            "required": ["mahimahi_file"],
            "additionalProperties": False,
        }
    )
    return schema


def definition(name: str) -> Data:
    """One of the schema's named types, such as ``Flow``.

    Parameters
    ----------
    name
        Its name under ``$defs``.
    """
    found: Data = scenario()["$defs"][name]
    return found


def net_kinds() -> dict[str, Data]:
    """The schema of each kind of network by its ``kind``."""
    return {branch["properties"]["kind"]["const"]: branch for branch in definition("Net")["oneOf"]}
