"""PettingZoo's parallel environment of several flows."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ackclock.errors import AckclockError, how_to_install
from ackclock.gym.flows import Flows
from ackclock.gym.measures import Step, check_action, default_reward
from ackclock.gym.single import (
    action_space,
    observation_space,
    read_action,
    step_interval,
)

try:
    import pettingzoo
except ImportError:
    message = f"pettingzoo is not installed; {how_to_install('gym')}"
    raise AckclockError(message) from None

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt
    from gymnasium.spaces import Box

    from ackclock.gym.control import Link
    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

    Values = npt.NDArray[np.float32]

__all__ = ["CongestionParallelEnv"]


class CongestionParallelEnv(pettingzoo.ParallelEnv):
    """Several flows of one network, each with a separate policy; all decide at the same times.

    A step ends for all with the first acknowledgement or congestion event of any agent's flow
    after an interval. The action of another flow takes effect with its next acknowledgement, before
    which it can send nothing anyway. The rest is as in `ackclock.gym.CongestionEnv`.

    Parameters
    ----------
    scenario
        The scenario, of era ``rfc``.
    flows
        Numbers or ids of the agents' flows in ``flows``; left out: all.
    step
        Length of a step: ``"base-rtt"``, the longest RTT of the agents' paths without load, or a
        time such as ``"50 ms"`` [s].
    action
        As of `ackclock.gym.CongestionEnv`.
    reward
        Of a step of one agent.

    Raises
    ------
    UnsupportedError
        There is no such flow or action.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "name": "ackclock_v0"}

    def __init__(
        self,
        scenario: Scenario,
        flows: Sequence[int | str] | None = None,
        *,
        step: float | str = "base-rtt",
        action: str = "window-factor",
        reward: Callable[[Step], float] = default_reward,
    ) -> None:
        chosen = range(len(scenario.data.get("flows", []))) if flows is None else flows
        self.flows = Flows(scenario, list(chosen), check_action(action))
        interval = step_interval(step, self.flows.rtt_s)
        if interval is None:
            message = 'agents decide together: step must be "base-rtt" or a time, not "rtt"'
            raise AckclockError(message)
        self.interval_s = interval
        self.reward = reward
        self.possible_agents = list(self.flows.indices)
        self.agents: list[str] = []
        self.observation_spaces = {name: observation_space() for name in self.possible_agents}
        self.action_spaces = {name: action_space(action) for name in self.possible_agents}
        self.render_mode = None
        self.run: Run | None = None
        """The run of the episode that ended last."""
        self._random = np.random.default_rng()
        self._link: Link | None = None
        self._ends: Any = None
        self._last: dict[str, Step] = {}

    def observation_space(self, agent: str) -> Box:
        """The space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Box:
        """The space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Values], dict[str, dict[str, Any]]]:
        """Begin an episode: a run up to its first decision.

        Parameters
        ----------
        seed
            From which the seeds of the runs are drawn; equal seeds and actions give equal runs.
        options
            Has no entries.
        """
        del options
        self.close()
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self._link, scenario = self.flows.link(self.interval_s, int(self._random.integers(2**31)))
        # Ends the thread too where an environment is dropped, or the program ends, without close.
        self._ends = weakref.finalize(self, self._link.stop)
        self._link.start(scenario)
        found = self._link.next()
        if not isinstance(found, dict):
            self.run = found
            raise AckclockError("the run ends before any agent is to decide; make it longer")
        self.agents = list(self.possible_agents)
        self._last = found
        return self._observations(), {name: {"step": found[name]} for name in self.agents}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[
        dict[str, Values],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Act, and go on to the next decision.

        Parameters
        ----------
        actions
            By agent; one number each, cut to the action space. An agent that is left out keeps its
            window.

        Returns
        -------
        tuple
            By agent: observation, reward, terminated (never), truncated (at the end of the run),
            information. Without agents, when the run is over, all are empty.
        """
        if not self.agents:
            return {}, {}, {}, {}, {}
        assert self._link is not None
        decisions = {
            name: read_action(action, self.action_spaces[name], name)
            for name, action in actions.items()
        }
        self._link.decide(decisions)
        found = self._link.next()
        over = not isinstance(found, dict)
        if isinstance(found, dict):
            self._last = found
        else:
            self._ends.detach()
            end_s = found.summary["duration_s"]
            self._last = {
                name: agent.end(self.flows.flow_summary(found, name), end_s)
                for name, agent in self._link.agents.items()
            }
            self.run, self._link = found, None
        names = self.agents
        answer = (
            self._observations(),
            {name: float(self.reward(self._last[name])) for name in names},
            dict.fromkeys(names, False),
            dict.fromkeys(names, over),
            {name: {"step": self._last[name]} for name in names},
        )
        if over:
            self.agents = []
        return answer

    def _observations(self) -> dict[str, Values]:
        return {name: self._last[name].observation(self.flows.paths[name]) for name in self.agents}

    def render(self) -> None:
        """Draw nothing: `run` has what figures are drawn from."""

    def close(self) -> None:
        """End the run that is going on, and its thread."""
        if self._link is not None:
            self._ends.detach()
            link, self._link = self._link, None
            link.stop()
