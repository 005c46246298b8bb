"""Networks and traffic of fluid cases as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ackclock.errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ids = npt.NDArray[np.uint32]

__all__ = ["Graph", "Traffic", "unknown_node"]


@dataclass(frozen=True)
class Graph:
    """A network: nodes, and directed links with capacities.

    Parameters
    ----------
    nodes
        Names, unique.
    src, dst
        Ends of each link as node numbers, ``(n_links,)``.
    capacity
        Capacity of each link, ``(n_links,)``, above 0.
    cost
        What routes by ``cost`` add up, ``(n_links,)``; left out: 1 everywhere.
    links
        Names of links; left out: ``a->b``.
    hosts
        The network's hosts, where flows of a pattern begin and end. Left out: it is a map of
        routers, and flows go between all nodes.
    """

    nodes: tuple[str, ...]
    src: Ids
    dst: Ids
    capacity: Floats
    cost: Floats | None = None
    links: tuple[str, ...] = field(default=())
    hosts: Ids | None = None

    def link_names(self) -> list[str]:
        """Names of the links, ``a->b`` where they have none."""
        if self.links:
            return list(self.links)
        return [
            f"{self.nodes[u]}->{self.nodes[v]}" for u, v in zip(self.src, self.dst, strict=True)
        ]


@dataclass(frozen=True)
class Traffic:
    """Who sends to whom.

    Parameters
    ----------
    src, dst
        Ends of each flow as node numbers, ``(n_flows,)``.
    demand
        What each flow's application has to send at most, ``(n_flows,)``; left out: no bound.
    weight
        Weight of each flow where routers weigh, ``(n_flows,)``; left out: 1.
    routes
        Node numbers along the way of each flow, both ends included, ``None`` for a shortest path;
        left out: shortest paths for all.
    ends
        Between which nodes flows were drawn, in words; empty where flows are listed.
    """

    src: Ids
    dst: Ids
    demand: Floats | None = None
    weight: Floats | None = None
    routes: Sequence[Sequence[int] | None] | None = None
    ends: str = ""


_FEW = 12
"""Nodes that a message lists."""


def unknown_node(name: object, nodes: Iterable[str]) -> str:
    """Say that there is no such node, and which may have been meant.

    Parameters
    ----------
    name
        What was found.
    nodes
        The names that there are.
    """
    node_names = list(nodes)
    hint = suggestion(str(name), node_names)
    if len(node_names) > _FEW and not hint.startswith("did you mean"):
        hint = f"none of {len(node_names)} is like it"
    return f'there is no node "{name}"; {hint}'
