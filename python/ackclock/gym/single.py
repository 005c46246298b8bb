"""Gymnasium's environment of one flow."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ackclock._util import units
from ackclock.errors import AckclockError, how_to_install
from ackclock.gym.flows import Flows
from ackclock.gym.measures import MOST, OBSERVATION, Step, check_action, default_reward

try:
    import gymnasium
    from gymnasium.spaces import Box
except ImportError:
    message = f"gymnasium is not installed; {how_to_install('gym')}"
    raise AckclockError(message) from None

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ackclock.gym.control import Link
    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

    Values = npt.NDArray[np.float32]

__all__ = ["CongestionEnv", "action_space", "observation_space", "read_action", "step_interval"]


def observation_space() -> Box:
    """The space of observations; see `ackclock.gym.OBSERVATION`."""
    return Box(0.0, MOST, (len(OBSERVATION),), np.float32)


def action_space(action: str) -> Box:
    """The space of actions of a kind.

    Parameters
    ----------
    action
        The kind.
    """
    return Box(0.0 if action == "window" else -1.0, 1.0, (1,), np.float32)


def read_action(action: Any, space: Box, agent: str) -> float:
    """Read an action: one number, cut to its space.

    Parameters
    ----------
    action
        A number, or an array of one.
    space
        The space of actions.
    agent
        Whose action it is.

    Raises
    ------
    AckclockError
        It is not one finite number.
    """
    values = np.asarray(action, dtype=np.float32).ravel()
    if values.shape != (1,) or not np.isfinite(values[0]):
        message = f"the action of {agent} is {action!r}; expected one finite number"
        raise AckclockError(message)
    return float(np.clip(values, space.low, space.high)[0])


def step_interval(step: float | str, usual_s: float) -> float | None:
    """Read the length of a step.

    Parameters
    ----------
    step
        ``rtt`` for a round trip, ``base-rtt``, or a time such as ``"50 ms"`` [s].
    usual_s
        What ``base-rtt`` is [s].

    Returns
    -------
    float or None
        Simulated time [s]; None for round trips.
    """
    if step == "rtt":
        return None
    if step == "base-rtt":
        return usual_s
    problem = units.quantity_problem(step, "duration")
    length = 0.0 if problem else units.parse(step, "duration")
    if length <= 0:
        message = f'step is {step!r}; expected "rtt", "base-rtt" or a time such as "50 ms"'
        raise AckclockError(message)
    return length


class CongestionEnv(gymnasium.Env):
    """A flow whose window or rate a policy decides; other flows have the scenario's controls.

    An episode is a run of the scenario: it is truncated at the scenario's end, or terminated when
    a flow with a size is done. A step lasts a round trip, or ends with the first acknowledgement or
    congestion event after an interval. The policy alone decides the window: neither slow start nor
    losses change it, except that after a timeout it is one segment (RFC 5681).

    The observation is `ackclock.gym.OBSERVATION`, the reward `default_reward`; ``info["step"]`` has
    what both were made from.

    Parameters
    ----------
    scenario
        The scenario, of era ``rfc``.
    agent
        Number or id of the flow in ``flows``.
    step
        Length of a step: ``"rtt"``, ``"base-rtt"``, or a time such as ``"50 ms"`` [s].
    action
        ``"window-factor"``: the window is multiplied by 2^a, a in [-1, 1]. ``"window"``: a in
        [0, 1] is a window from 1 segment to four bandwidth-delay products, by ratio.
        ``"rate-factor"``: the pacing rate is multiplied by 2^a.
    reward
        Of a step.

    Raises
    ------
    UnsupportedError
        There is no such flow or action.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        scenario: Scenario,
        agent: int | str = 0,
        *,
        step: float | str = "rtt",
        action: str = "window-factor",
        reward: Callable[[Step], float] = default_reward,
    ) -> None:
        self.flows = Flows(scenario, [agent], check_action(action))
        (self.agent,) = self.flows.indices
        self.interval_s = step_interval(step, self.flows.rtt_s)
        self.reward = reward
        self.observation_space = observation_space()
        self.action_space = action_space(action)
        self.run: Run | None = None
        """The run of the episode that ended last."""
        self._link: Link | None = None
        self._ends: Any = None
        self._last = _nothing()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Values, dict[str, Any]]:
        """Begin an episode: a run up to its first decision.

        Parameters
        ----------
        seed
            From which the seeds of the runs are drawn; equal seeds and actions give equal runs.
        options
            Has no entries.
        """
        super().reset(seed=seed)
        del options
        self.close()
        self._link, scenario = self.flows.link(self.interval_s, _draw_seed(self.np_random))
        # Ends the thread too where an environment is dropped, or the program ends, without close.
        self._ends = weakref.finalize(self, self._link.stop)
        self._link.start(scenario)
        found = self._link.next()
        if not isinstance(found, dict):
            self.run = found
            message = f"the run ends before flow {self.agent} is to decide; make it longer"
            raise AckclockError(message)
        self._last = found[self.agent]
        return self._last.observation(self._path), {"step": self._last}

    def step(self, action: Any) -> tuple[Values, float, bool, bool, dict[str, Any]]:
        """Act, and go on to the next decision.

        Parameters
        ----------
        action
            One number of the action space; what is outside is cut.

        Returns
        -------
        tuple
            Observation, reward, whether the flow is done, whether the run is over, information.
            The last step of an episode lasts from the last decision to the end of the run, or of
            the flow.

        Raises
        ------
        AckclockError
            The action is no finite number, or the episode is over.
        """
        if self._link is None:
            message = "the episode is over; call reset()"
            raise AckclockError(message)
        self._link.decide({self.agent: read_action(action, self.action_space, self.agent)})
        found = self._link.next()
        over = not isinstance(found, dict)
        if isinstance(found, dict):
            self._last = found[self.agent]
        else:
            self._ends.detach()
            flow = self.flow_summary(found)
            end_s = found.summary["duration_s"]
            if flow["completed_after_s"] is not None:
                end_s = flow["start_s"] + flow["completed_after_s"]
            self._last = self._link.agents[self.agent].end(flow, end_s)
            self.run, self._link = found, None
        done = over and self.run is not None and self._is_done(self.run)
        last = self._last
        reward = float(self.reward(last))
        return last.observation(self._path), reward, done, over and not done, {"step": last}

    def flow_summary(self, run: Run) -> dict[str, Any]:
        """Give what a run's summary says of the agent's flow.

        Parameters
        ----------
        run
            Of this environment.
        """
        return self.flows.flow_summary(run, self.agent)

    def _is_done(self, run: Run) -> bool:
        return self.flow_summary(run)["completed_after_s"] is not None

    @property
    def _path(self) -> Any:
        return self.flows.paths[self.agent]

    def close(self) -> None:
        """End the run that is going on, and its thread."""
        if self._link is not None:
            self._ends.detach()
            link, self._link = self._link, None
            link.stop()


def _nothing() -> Step:
    return Step(0.0, 0.0, 0, 0, 0, 0, 0, np.nan, np.nan, 0.0, 0.0, 0, 0.0, 0.0)


def _draw_seed(random: np.random.Generator) -> int:
    return int(random.integers(2**31))
