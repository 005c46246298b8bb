"""The registry of simulators: a new one is a module here and one line in `SIMULATORS`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock.errors import find_by_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from ackclock.peers.plan import SimulatorPlan
    from ackclock.peers.written import Written
    from ackclock.scenario.scenario import Scenario

__all__ = ["SIMULATORS", "Simulator", "write_for"]


@dataclass(frozen=True)
class Simulator:
    """A simulator for which scenarios can be written out.

    Parameters
    ----------
    name
        As in ``--to ns2``.
    title
        Name, version and language, for the command line.
    suffix
        Of its programs' files.
    home
        The module with ``write``.
    """

    name: str
    title: str
    suffix: str
    home: str

    @property
    def write(self) -> Callable[[SimulatorPlan], Written]:
        """Write a plan as a program."""
        writer: Callable[[SimulatorPlan], Written] = importlib.import_module(self.home).write
        return writer


SIMULATORS = {
    one.name: one
    for one in (
        Simulator("ns2", "ns-2.35, a Tcl script", ".tcl", "ackclock.peers.ns2.script"),
        Simulator("ns3", "ns-3.37, a C++ program", ".cc", "ackclock.peers.ns3.program"),
    )
}
"""Simulators by name."""


def write_for(scenario: Scenario, simulator: str) -> Written:
    """Write a scenario out for a simulator.

    Parameters
    ----------
    scenario
        The scenario.
    simulator
        A name of `SIMULATORS`.

    Raises
    ------
    UnsupportedError
        There is no such simulator.
    ScenarioError
        The scenario is wrong, or has what the simulator cannot express: every reason at once.
    """
    from ackclock.peers.plan import plan_of

    return find_by_name(simulator, SIMULATORS, "simulator").write(plan_of(scenario))
