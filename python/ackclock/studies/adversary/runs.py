"""Runs of a search, each kept in a store: a search that was stopped goes on where it was."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from ackclock.experiments.executors.task import Request, perform, run_key
from ackclock.scenario.environments.scoring import goodput

if TYPE_CHECKING:
    from ackclock.experiments.store import Keeper
    from ackclock.scenario.scenario import Scenario

__all__ = ["Runs"]


class Runs:
    """Gives goodputs of scenarios; may be used by several threads.

    Parameters
    ----------
    keeper
        Where runs are kept.
    """

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._lock = Lock()
        self.simulated = 0
        self.stored = 0

    def goodput(self, scenario: Scenario) -> float:
        """Goodput of a scenario, as a part of the available bandwidth.

        Parameters
        ----------
        scenario
            In an environment; it is run unless the store has it.
        """
        key = run_key(scenario, scenario.fingerprint, scenario.seed)
        with self._lock:
            if key in self._keeper.find_stored([key]):
                self.stored += 1
                return goodput(self._keeper.summaries([key])[key])
        record = perform(Request(key, scenario, scenario.seed), pieces=self._keeper.pieces)
        with self._lock:
            self.simulated += 1
            self._keeper.add(record, scenario)
        return goodput(record.summary)
