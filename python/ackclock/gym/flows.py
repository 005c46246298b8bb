"""Puts agents in place of the controls of a scenario's flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock.errors import UnsupportedError, suggestion
from ackclock.gym.control import Agent, Learner, Link
from ackclock.gym.measures import GymPath

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

__all__ = ["Flows"]


class Flows:
    """The flows of a scenario that agents decide.

    Parameters
    ----------
    scenario
        The scenario; its flows are listed one by one.
    agents
        Numbers or ids of entries of ``flows``.
    action
        Kind of action.

    Raises
    ------
    UnsupportedError
        There is no such flow, or its entry is of several.
    """

    def __init__(self, scenario: Scenario, agents: Sequence[int | str], action: str) -> None:
        self.scenario = scenario
        self.action = action
        entries = scenario.data.get("flows", [])
        if not agents:
            raise UnsupportedError("an environment needs a flow in `flows` for each agent")
        explained = scenario.explain().data["flows"]
        self.indices: dict[str, int] = {}
        self.paths: dict[str, GymPath] = {}
        for given in agents:
            place = _place(entries, given)
            entry = entries[place]
            if entry.get("count", 1) != 1 or "between" in entry or "source" in entry:
                message = f"flows[{place}] must be one flow with a window to be an agent's"
                raise UnsupportedError(message)
            before = [each.get("count", 1) for each in entries[:place]]
            flow = explained[sum(before)]
            name = str(entry.get("id", f"flow_{place}"))
            self.indices[name] = place
            self.paths[name] = GymPath(
                flow["rtt_s"], flow["bottleneck_bps"], flow["bdp_segments"], flow["mss_bytes"]
            )

    @property
    def rtt_s(self) -> float:
        """The longest RTT of the agents' paths without load [s]."""
        return max(path.rtt_s for path in self.paths.values())

    def flow_summary(self, run: Run, agent: str) -> dict[str, Any]:
        """Give what a run's summary says of an agent's flow.

        Parameters
        ----------
        run
            Of this scenario.
        agent
            Its name.
        """
        before = self.scenario.data["flows"][: self.indices[agent]]
        flow: dict[str, Any] = run.summary["flows"][sum(e.get("count", 1) for e in before)]
        return flow

    def link(self, interval_s: float | None, seed: int) -> tuple[Link, Scenario]:
        """Make what joins one run with its environment, and the scenario of that run.

        Parameters
        ----------
        interval_s
            Simulated time of a step [s]; None: a round trip.
        seed
            Of the run.
        """
        agents = {name: Agent(path, self.action) for name, path in self.paths.items()}
        link = Link(agents, interval_s)
        changes: dict[str, Any] = {
            f"flows[{place}].cc": Learner(link=link.number, agent=name)
            for name, place in self.indices.items()
        }
        return link, self.scenario.replace(seed=seed, **changes)


def _place(entries: Sequence[Any], given: int | str) -> int:
    ids = [str(entry.get("id", "")) for entry in entries]
    if isinstance(given, int) and 0 <= given < len(entries):
        return given
    if isinstance(given, str) and given in ids:
        return ids.index(given)
    hint = suggestion(str(given), [one for one in ids if one] or map(str, range(len(ids))))
    raise UnsupportedError(f"there is no flow {given!r}; {hint}")
