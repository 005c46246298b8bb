"""What goes into the fluid engine besides the network, and what comes out."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ackclock import _core
    from ackclock.engines.fluid.graph import Graph

    Floats = npt.NDArray[np.float64]
    Ids = npt.NDArray[np.uint32]
    Algorithm = Any

__all__ = ["Accounts", "Allocation", "Change", "Rates", "Routers", "Settled"]


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
    at
        Names of the chosen nodes; left out: all.
    """

    sharing: Algorithm = "max-min"
    elsewhere: Algorithm | None = None
    at: Sequence[str] | None = None

    def rules(self) -> str:
        """The one or two rules as the core takes them."""
        from ackclock.catalogue.records import plain

        given = [self.sharing] if self.elsewhere is None else [self.sharing, self.elsewhere]
        return json.dumps(plain(given))

    def of_link(self, graph: Graph | None) -> npt.NDArray[np.uint8]:
        """Per link 0 for the chosen rule, 1 for the other; empty: the chosen everywhere.

        Parameters
        ----------
        graph
            The network; must be known where nodes are chosen.

        Raises
        ------
        ScenarioError
            A node is not there.
        """
        if self.elsewhere is None:
            return np.empty(0, dtype=np.uint8)
        if graph is None:
            message = "nodes are chosen, but the network was made without a graph"
            raise ScenarioError([Problem("routers.at", message)])
        from ackclock.engines.fluid.graph import unknown_node

        chosen = set(graph.nodes if self.at is None else self.at)
        unknown = chosen - set(graph.nodes)
        if unknown:
            raise ScenarioError(
                [Problem("routers.at", unknown_node(n, graph.nodes)) for n in sorted(unknown)]
            )
        fair = np.array([name in chosen for name in graph.nodes])
        return np.where(fair[graph.src], 0, 1).astype(np.uint8)


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
        How often the senders were asked.
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


@dataclass(frozen=True)
class Allocation:
    """A max-min allocation with what is needed to change it by a flow.

    Parameters
    ----------
    rate
        Rate of each flow, ``(n_flows,)``.
    level
        Rate per weight at which each link is full, ``(n_links,)``; infinite where it is not.
    """

    rate: Floats
    level: Floats
    _core: _core.Allocation = field(repr=False)


@dataclass(frozen=True)
class Change:
    """What a flow that joins or leaves changes in the max-min allocation.

    Parameters
    ----------
    flows, rates
        Flows whose rate is another now, and that rate. A flow that joined has the number after the
        last; one that left is not told.
    links, levels
        Links whose level is another now, and that level.
    whole
        Whether the whole network was filled, because the change reached too far.
    """

    flows: Ids
    rates: Floats
    links: Ids
    levels: Floats
    whole: bool
