"""The core's schema and catalogue, read once, and the few kinds of network that Python adds."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from ackclock import _core
from ackclock.catalogue.network_kinds import all_kinds

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
    "multicast",
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
    "control": "multicast",
    "impairments": "impairment",
    "back_impairments": "impairment",
    "sharing": "sharing",
    "elsewhere": "sharing",
    "sender": "policy",
    "policy": "policy",
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
"""Algorithms that replay a list, which may be in a file, and the parameter that it is."""


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


@cache
def scenario() -> Data:
    """The schema of what users may write: the core's and the inputs that Python expands."""
    schema: Data = json.loads(_core.schema())
    branches = schema["$defs"]["Net"]["oneOf"]
    for kind, added in all_kinds().items():
        branches.append(
            {
                "description": added.description,
                "type": "object",
                "properties": {"kind": {"const": kind}, **added.properties},
                "required": ["kind", *added.required],
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
