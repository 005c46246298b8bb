"""What goes into the fluid engine besides the network, and what comes out."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from ackclock import _core
    from ackclock.engines.fluid.graph import Graph

    Floats = npt.NDArray[np.float64]
    Ids = npt.NDArray[np.uint32]
    Algorithm = Any

__all__ = ["Accounts", "Rates", "Routers", "Senders", "Settled"]


@dataclass(frozen=True)
class Routers:
    """How links share among flows.

    Parameters
    ----------
    sharing
        Rule of the links that leave chosen nodes: a class of `ackclock.sharing`, its name, or a
        table with ``kind``.
    elsewhere
        Rule of all other links; left out: the same.
    node_names
        Names of the chosen nodes; left out: all.
    of_node
        Rules of the links that leave single nodes, by the node's name; they come before the others.
    """

    sharing: Algorithm = "max-min"
    elsewhere: Algorithm | None = None
    node_names: Sequence[str] | None = None
    of_node: Mapping[str, Algorithm] = field(default_factory=dict)

    def rules(self) -> str:
        """The rules as the core takes them."""
        return json.dumps(self._number_rules()[0])

    def _number_rules(self) -> tuple[list[Any], dict[str, int]]:
        from ackclock.catalogue.records import plain

        given = [plain(self.sharing)]
        given.append(given[0] if self.elsewhere is None else plain(self.elsewhere))
        return _number_algorithms(given, self.of_node)

    def of_link(self, graph: Graph | None) -> npt.NDArray[np.uint8]:
        """Number of the rule of each link, ``(n_links,)``; empty: the first everywhere.

        Parameters
        ----------
        graph
            The network; must be known where nodes are chosen.

        Raises
        ------
        ScenarioError
            A node is not there.
        """
        if self.elsewhere is None and not self.of_node:
            return np.empty(0, dtype=np.uint8)
        nodes = _check_nodes(graph, "routers.at", [*(self.node_names or ()), *self.of_node])
        first_rule_nodes = set(nodes if self.node_names is None else self.node_names)
        default = np.array([0 if name in first_rule_nodes else 1 for name in nodes], dtype=np.uint8)
        for name, number in self._number_rules()[1].items():
            default[nodes.index(name)] = number
        assert graph is not None, "invariant: its nodes are known"
        return default[graph.src]


@dataclass(frozen=True)
class Senders:
    """What senders do.

    Parameters
    ----------
    policy
        Policy of all senders: a class of `ackclock.policy`, its name, or a table with ``kind``.
    of_node
        Policies of the senders at single nodes, by the node's name.
    """

    policy: Algorithm = "naive"
    of_node: Mapping[str, Algorithm] = field(default_factory=dict)

    def of_link(self, graph: Graph | None) -> tuple[str, npt.NDArray[np.uint8]]:
        """The policies as the core takes them, and the number of that of each link's sender.

        Parameters
        ----------
        graph
            The network; must be known where nodes have different policies.

        Raises
        ------
        ScenarioError
            A node is not there.
        """
        from ackclock.catalogue.records import plain

        policies, numbers = _number_algorithms([plain(self.policy)], self.of_node)
        if not numbers:
            return json.dumps(policies), np.empty(0, dtype=np.uint8)
        nodes = _check_nodes(graph, "sender", self.of_node)
        of_node = np.array([numbers.get(name, 0) for name in nodes], dtype=np.uint8)
        assert graph is not None, "invariant: its nodes are known"
        return json.dumps(policies), of_node[graph.src]


def _number_algorithms(
    first: list[Any], of_node: Mapping[str, Algorithm]
) -> tuple[list[Any], dict[str, int]]:
    """All different algorithms, the first ones given, and the number of each node's."""
    from ackclock.catalogue.records import plain

    numbers = {}
    algorithms = list(first)
    for name, algorithm in of_node.items():
        plain_algorithm = plain(algorithm)
        if plain_algorithm not in algorithms:
            algorithms.append(plain_algorithm)
        numbers[name] = algorithms.index(plain_algorithm)
    if len(algorithms) > _MOST_KINDS:
        message = (
            f"{len(algorithms)} different algorithms are given; expected at most {_MOST_KINDS}"
        )
        raise ScenarioError([Problem("systems", message)])
    return algorithms, numbers


_MOST_KINDS = 256
"""Rules or policies that the core distinguishes."""


def _check_nodes(graph: Graph | None, path: str, names: Iterable[str]) -> list[str]:
    """Names of the nodes, when all those given are among them."""
    from ackclock.engines.fluid.graph import unknown_node

    if graph is None:
        message = "nodes are chosen, but the network was made without a graph"
        raise ScenarioError([Problem(path, message)])
    unknown = set(names) - set(graph.nodes)
    if unknown:
        raise ScenarioError([Problem(path, unknown_node(n, graph.nodes)) for n in sorted(unknown)])
    return list(graph.nodes)


@dataclass(frozen=True)
class Rates:
    """Rates of all flows on all their hops.

    Parameters
    ----------
    demand
        Rate at which each flow is offered, ``(n_flows,)``.
    goodput
        Rate at which each flow arrives at its destination, ``(n_flows,)``.
    sweeps
        Sweeps over the links that it took; 1 for an exact solution in one pass.
    """

    demand: Floats
    goodput: Floats
    sweeps: int
    _core: _core.Rates = field(repr=False)

    @property
    def leaving(self) -> Floats:
        """Rate at which each flow leaves each hop, ``(n_hops,)`` in the order of the routes."""
        return self._core.leaving


@dataclass(frozen=True)
class Settled:
    """Where senders and network came to rest, or that they did not.

    Parameters
    ----------
    rates
        Rates of the last round.
    converged
        Whether no demand changed by more than the tolerance.
    rounds
        How often the senders were queried.
    change
        Largest change of a demand in the last round, relative to the sender's link.
    period
        Rounds after which the demands repeat, where they oscillate; else None.
    damping
        Part of each change that was taken over in the end.
    """

    rates: Rates
    converged: bool
    rounds: int
    change: float
    period: int | None
    damping: float


@dataclass(frozen=True)
class Accounts:
    """Dead flow and zombies of one outcome. The Rust module ``fluid::account`` has the formulas.

    Parameters
    ----------
    offered, carried
        Per link, what arrives and what leaves, ``(n_links,)``.
    dead
        Per link, what it drops beyond the flows' access routers.
    zombies, zombies_edge
        Per link, zombies by M-C8 (what takes flows below their ideal) and by M-C7 (all that flows
        not above their ideal lose there).
    flow_dead
        Per flow, what was dropped beyond its access router, ``(n_flows,)``.
    suffered
        Per flow, what took it below its ideal, by M-C8.
    caused, caused_edge
        Per flow, the zombies that it caused, by M-C8 and by M-C7 (the paper's Z_i).
    uncaused, uncaused_edge
        Zombies at links where no flow from elsewhere was above its ideal.
    """

    offered: Floats
    carried: Floats
    dead: Floats
    zombies: Floats
    zombies_edge: Floats
    flow_dead: Floats
    suffered: Floats
    caused: Floats
    caused_edge: Floats
    uncaused: float
    uncaused_edge: float
