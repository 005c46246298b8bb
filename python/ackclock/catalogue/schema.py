"""The core's schema and catalogue, read once, and the few kinds of network that Python adds."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock.catalogue.network_kinds import all_kinds, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "ROOMS",
    "Data",
    "catalogue",
    "definition",
    "entries",
    "entry",
    "find_bundled",
    "find_replayed_parameter",
    "list_offered",
    "names",
    "net_kinds",
    "quantities",
    "registry_name",
    "room_of",
    "rooms_with",
    "scenario",
]

Data = dict[str, Any]
"""A piece of a scenario as plain data: what TOML and JSON can hold."""

ROOMS = (
    "cc",
    "recovery",
    "slow_start",
    "credits",
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


def room_of(key: str) -> str | None:
    """Find the room of the algorithm, or of the list of algorithms, under a key of a scenario.

    Parameters
    ----------
    key
        A key such as ``cc`` or ``back_qdisc``.
    """
    return _rooms().get(key)


@cache
def _rooms() -> dict[str, str]:
    """Rooms by key, as the fields of scenarios and of parameters name them; Python adds no key."""
    room_of_key: dict[str, str] = {}
    parameters = [entry["params"] for room in catalogue().values() for entry in room.values()]
    level: list[Any] = [_core_schema(), *parameters]
    while level:
        for rules in level:
            if isinstance(rules, dict):
                properties = rules.get("properties", {})
                room_of_key |= {k: v["x-room"] for k, v in properties.items() if "x-room" in v}
        level = [
            inner
            for rules in level
            for inner in (rules.values() if isinstance(rules, dict) else rules)
            if isinstance(inner, dict | list)
        ]
    return room_of_key


def quantities(steps: Iterable[object]) -> frozenset[str]:
    """Find what values at a path of a scenario are: quantities such as ``rate``, ``number``.

    Parameters
    ----------
    steps
        Keys, and anything else for an entry of a list.
    """
    level: list[tuple[Data, Data]] = [(scenario(), scenario())]
    for step in steps:
        level = [
            (inner, root)
            for rules, schema_root in level
            for branch in _branches(rules, schema_root)
            for inner, root in _inner(branch, schema_root, step)
        ]
    return frozenset[str]().union(*(_quantities_of(rules, root) for rules, root in level))


def _inner(rules: Data, root: Data, step: object) -> Iterator[tuple[Data, Data]]:
    """Rules of a key, or of the entries of a list."""
    if not isinstance(step, str):
        if "items" in rules:
            yield {**rules["items"], **{k: rules[k] for k in ("x-room",) if k in rules}}, root
    elif "x-room" in rules:
        for algorithm in catalogue()[rules["x-room"]].values():
            yield from _inner(algorithm["params"], algorithm["params"], step)
    elif step in rules.get("properties", {}):
        yield rules["properties"][step], root


def _branches(rules: Data, root: Data) -> Iterator[Data]:
    """Rules, and the forms between which they let a value choose."""
    yield rules
    for branch in [*rules.get("anyOf", []), *rules.get("oneOf", [])]:
        yield from _branches(branch, root)
    if (name := str(rules.get("$ref", "")).rpartition("/")[2]) in root.get("$defs", {}):
        yield from _branches(root["$defs"][name], root)


def _quantities_of(rules: Data, root: Data) -> frozenset[str]:
    found = set()
    for branch in _branches(rules, root):
        types = branch.get("type", [])
        if "x-quantity" in branch:
            found.add(branch["x-quantity"])
        elif {"number", "integer"} & {*([types] if isinstance(types, str) else types)}:
            found.add("number")
    return frozenset(found)


def find_replayed_parameter(room: str, name: str) -> str | None:
    """Name the parameter of an algorithm that is a list which may be in a file; None if none is.

    Parameters
    ----------
    room, name
        The algorithm.
    """
    properties = catalogue()[room][name]["params"].get("properties", {})
    return next((key for key, rules in properties.items() if rules.get("x-file")), None)


@cache
def list_replayed_parameters() -> frozenset[tuple[str, str]]:
    """Algorithms with the parameters that `find_replayed_parameter` names for them."""
    every = ((room, name) for room, entries in catalogue().items() for name in entries)
    return frozenset(
        (name, key) for room, name in every if (key := find_replayed_parameter(room, name))
    )


@cache
def catalogue() -> dict[str, dict[str, Data]]:
    """Every algorithm: room, then registry name, then name, title, source, status, file, params."""
    read: dict[str, list[Data]] = json.loads(_core.catalogue())
    return {room: {entry["name"]: entry for entry in read.get(room, [])} for room in ROOMS}


def _entries(params: Data, key: str) -> Data:
    name = params["properties"][key]["items"]["$ref"].rsplit("/", 1)[-1]
    found: Data = params["$defs"][name]
    return found


def entries(room: str, name: str) -> Data:
    """The schema of an entry of the list that an algorithm replays.

    Parameters
    ----------
    room, name
        The algorithm, for which `find_replayed_parameter` names a parameter.
    """
    return _entries(catalogue()[room][name]["params"], str(find_replayed_parameter(room, name)))


@cache
def find_bundled() -> dict[str, Data]:
    """Congestion controls of released libraries in this build, by name: an entry and its crate."""
    read: list[Data] = json.loads(_core.shipped())
    return {entry["name"]: entry for entry in read}


def list_offered(room: str) -> dict[str, Data]:
    """The algorithms that a scenario may name: a room's, and those of this build's libraries.

    Parameters
    ----------
    room
        One of `ROOMS`.
    """
    return {**catalogue()[room], **find_bundled()} if room == "cc" else catalogue()[room]


@cache
def _other_names(room: str) -> dict[str, str]:
    """Registry names by the other names that algorithms of a room have."""
    return {other: name for name, entry in catalogue()[room].items() for other in entry["also"]}


def registry_name(room: str, name: str) -> str:
    """Find the registry's name of an algorithm; a name that the room does not know stays.

    Parameters
    ----------
    room
        One of `ROOMS`.
    name
        Any of its names, such as ``reno`` for ``aimd``.
    """
    return _other_names(room).get(name, name)


def entry(room: str, name: str) -> Data | None:
    """Look up one algorithm; None if there is no such.

    Parameters
    ----------
    room
        One of `ROOMS`.
    name
        Any of its names, such as ``aimd`` or ``reno``.
    """
    return list_offered(room).get(registry_name(room, name))


def names(room: str) -> list[str]:
    """All names that a scenario may use in a room, the registry's first.

    Parameters
    ----------
    room
        One of `ROOMS`.
    """
    return [*list_offered(room), *_other_names(room)]


def rooms_with(name: str) -> list[str]:
    """The rooms that have an algorithm of a name.

    Parameters
    ----------
    name
        Any of its names.
    """
    return [room for room in ROOMS if entry(room, name) is not None]


@cache
def _core_schema() -> Data:
    schema: Data = json.loads(_core.schema())
    definitions = schema["$defs"]
    definitions["RateSpec"]["oneOf"] += [
        {
            "description": description,
            "type": "object",
            "properties": {key: {"type": "string"}},
            "required": [key],
            "additionalProperties": False,
        }
        for key, description in _SCHEDULE_FILES.items()
    ]
    return schema


@lru_cache(32)
def scenario(net_kind: str | None = None) -> Data:
    """The schema of what users may write: the core's and the inputs that Python expands.

    Parameters
    ----------
    net_kind
        A kind of network: of those that Python spells out only this one is in the schema, and the
        modules of the others are not imported. Left out: all.
    """
    schema = _core_schema()
    definitions = schema["$defs"]
    net = definitions["Net"]
    core_kinds = [branch["properties"]["kind"]["const"] for branch in net["oneOf"]]
    if net_kind is None:
        kinds = all_kinds()
    else:
        kind = kind_of({"kind": net_kind})
        kinds = {} if kind is None else {net_kind: kind}
        if kind is None and net_kind not in core_kinds:
            return scenario()
    branches = [
        {
            "description": added.description,
            "type": "object",
            "properties": {"kind": {"const": kind}, **added.properties},
            "required": ["kind", *added.required],
            "additionalProperties": False,
        }
        for kind, added in kinds.items()
    ]
    whole_net = {**net, "oneOf": [*net["oneOf"], *branches]}
    return {**schema, "$defs": {**definitions, "Net": whole_net}}


_SCHEDULE_FILES = {
    "mahimahi_file": "A Mahimahi trace file; path relative to the scenario file.",
    "file": "A CSV file of steps: at (s) and rate (bit/s), loss (0 to 1), or both, in other units"
    " where heads or cells have them; path relative to the scenario file.",
}


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
