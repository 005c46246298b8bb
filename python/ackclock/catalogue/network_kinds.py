"""The kinds of network that Python spells out before the core gets them: a registry.

To add one: a `NetworkKind` in a separate module, and one line in `KINDS`.
"""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ackclock.case import Outcome

    Data = dict[str, Any]

__all__ = ["KINDS", "NetworkKind", "all_kinds", "expand", "kind_of", "quantity"]


@dataclass(frozen=True)
class NetworkKind:
    """A kind of network, as ``[net] kind = "..."`` names it.

    Parameters
    ----------
    description
        One sentence or more, for the reference.
    properties
        JSON Schema of each key but ``kind``.
    required
        Keys that must be given.
    resolve
        Reads what the table ``[net]`` names, relative to a folder, and gives a table that names no
        file. Left out: the table names none.
    expand
        Copies a whole scenario with the network in the core's form; what it makes may depend on
        the scenario's seed. Left out: the core knows what `resolve` gives.
    annotate
        Adds what only this kind knows to the outcome of a run of the scenario.
    """

    description: str
    properties: Mapping[str, Any]
    required: tuple[str, ...]
    resolve: Callable[[Data, Path], Data] | None = None
    expand: Callable[[Data], Data] | None = None
    annotate: Callable[[Outcome, Data], None] | None = None


KINDS = {
    "topohub": "ackclock.scenario.networks.imported:TOPOHUB",
    "graphml": "ackclock.scenario.networks.imported:GRAPHML",
    "graph-file": "ackclock.scenario.networks.imported:GRAPH_FILE",
    "csv": "ackclock.scenario.networks.imported:CSV",
    "environment": "ackclock.scenario.environments.kind:ENVIRONMENT",
    "path": "ackclock.scenario.paths.kind:PATH",
    "measured": "ackclock.scenario.paths.measured:MEASURED",
}
"""Kinds by name, as ``module:name``; modules are imported when one is first needed."""


def quantity(kind: str, unit: str, description: str, default: object = None) -> Data:
    """Write the schema of a key that holds a quantity.

    Parameters
    ----------
    kind
        ``rate``, ``duration``, ``size``.
    unit
        What a bare number is in.
    description
        One sentence.
    default
        What applies where the key is left out; left out: nothing does.
    """
    rules = {"x-quantity": kind, "x-unit": unit, "description": description}
    return rules if default is None else {**rules, "default": default}


def all_kinds() -> dict[str, NetworkKind]:
    """Every kind by its name."""
    return {name: pkgutil.resolve_name(home) for name, home in KINDS.items()}


def kind_of(net: object) -> NetworkKind | None:
    """Find the kind of a network; None if it is one that the core knows.

    Parameters
    ----------
    net
        The table ``[net]``.
    """
    home = KINDS.get(str(net.get("kind"))) if isinstance(net, dict) else None
    kind: NetworkKind | None = None if home is None else pkgutil.resolve_name(home)
    return kind


def expand(data: Data) -> Data:
    """Copy a scenario with its network in the core's form.

    Parameters
    ----------
    data
        The scenario; it is given back as it is if the core knows its network.

    Raises
    ------
    ScenarioError
        Settings contradict each other.
    """
    kind = kind_of(data.get("net"))
    return data if kind is None or kind.expand is None else kind.expand(data)
