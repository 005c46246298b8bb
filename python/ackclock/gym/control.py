"""The control behind the environments: it hands each decision to another thread and waits.

A run goes on in its thread until an agent is to decide; then it waits while the policy goes on in
the caller's thread. Never do both go on at once, so the order of all that happens is the
simulation's, and equal seeds and actions give equal runs.
"""

from __future__ import annotations

import itertools
import math
import threading
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from ackclock.catalogue.python_class import control
from ackclock.errors import AckclockError
from ackclock.gym.measures import GymPath, Step, apply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

__all__ = ["Agent", "Learner", "Link"]


@dataclass
class _Sums:
    """What has been seen of a flow since its last step."""

    lost: int = 0
    written_off: int = 0
    spurious: int = 0
    timeouts: int = 0
    acks: int = 0
    marked: int = 0
    rtt_sum: float = 0.0
    rtts: int = 0


@dataclass
class Agent:
    """A flow whose window a policy decides."""

    path: GymPath
    action: str
    sums: _Sums = field(default_factory=_Sums)
    begun_s: float = math.nan
    delivered: int = 0
    delivered_before: int = 0
    lost_before: int = 0
    in_flight: int = 0
    cwnd: float = 0.0
    min_rtt_s: float = math.nan
    srtt_s: float = math.nan
    waiting: float | None = None
    timeout_s: float = math.nan
    lost_s: float = math.nan
    lost_then: int = 0

    def count_lost(self, now_s: float) -> None:
        """Count a segment that was declared lost, by a timeout if there is one at this time."""
        self.lost_then = self.lost_then + 1 if now_s == self.lost_s else 1
        self.lost_s = now_s
        self.sums.lost += 1
        self.sums.written_off += now_s == self.timeout_s

    def count_timeout(self, now_s: float) -> None:
        """Count a timeout; what was declared lost just before it is of it as well."""
        self.sums.timeouts += 1
        self.timeout_s = now_s
        if now_s == self.lost_s:
            self.sums.written_off += self.lost_then

    def see(self, window: Any, fact: Any) -> None:
        """Take an acknowledgement or a congestion event into account."""
        if math.isnan(self.begun_s):
            self.begun_s = fact.now_s
        self.in_flight, self.cwnd = fact.in_flight, window.cwnd
        self.min_rtt_s = self.min_rtt_s if fact.min_rtt_s is None else fact.min_rtt_s
        self.srtt_s = self.srtt_s if fact.srtt_s is None else fact.srtt_s

    def act(self, window: Any) -> None:
        """Apply the action that is waiting, if there is one."""
        if self.waiting is not None and not math.isnan(self.srtt_s):
            apply(self.action, self.waiting, window, self.path, self.srtt_s)
            self.waiting = None
            self.cwnd = window.cwnd

    def end(self, flow: Mapping[str, Any], now_s: float) -> Step:
        """End the last step of a run.

        Parameters
        ----------
        flow
            What the run's summary says of the flow: losses of its links that the sender has not
            noticed belong to this step, and so does how many it declared lost that were not.
        now_s
            End of the run, or of the flow [s].
        """
        unnoticed = flow["lost_data_packets"] - self.lost_before - self.sums.lost
        self.sums.lost += max(0, unnoticed)
        self.sums.spurious = max(0, -unnoticed)
        return self.step(now_s)

    def step(self, now_s: float) -> Step:
        """End a step, and begin the next."""
        sums, self.sums = self.sums, _Sums()
        self.lost_before += sums.lost
        begun = now_s if math.isnan(self.begun_s) else self.begun_s
        duration = max(0.0, now_s - begun)
        delivered = self.delivered - self.delivered_before
        could = duration * self.path.bottleneck_bps / self.path.segment_bits
        if not math.isnan(self.begun_s):
            self.begun_s, self.delivered_before = now_s, self.delivered
        return Step(
            time_s=now_s,
            duration_s=duration,
            delivered=delivered,
            lost=sums.lost,
            written_off=sums.written_off,
            spurious=sums.spurious,
            timeouts=sums.timeouts,
            rtt_s=sums.rtt_sum / sums.rtts if sums.rtts else math.nan,
            min_rtt_s=self.min_rtt_s,
            ecn_share=sums.marked / sums.acks if sums.acks else 0.0,
            cwnd=self.cwnd,
            in_flight=self.in_flight,
            goodput_bps=8 * self.path.mss_bytes * delivered / duration if duration > 0 else 0.0,
            goodput_share=delivered / could if could > 0 else 0.0,
        )


class _Stopped(Exception):  # noqa: N818  it is no error: the environment was closed
    """The run is not wanted any more."""


class Link:
    """Joins one run, in its thread, with the caller of an environment.

    Parameters
    ----------
    agents
        By name.
    interval_s
        Simulated time of a step [s]; None: a round trip of the only agent.
    """

    def __init__(self, agents: Mapping[str, Agent], interval_s: float | None) -> None:
        self.agents = dict(agents)
        self.interval_s = interval_s
        self.number = next(_numbers)
        # End of the step in hand; of steps of a round trip, its beginning.
        self._due_s = math.inf if interval_s is None else interval_s
        self._round: int | None = None
        self._built_agents: set[str] = set()
        self._to_caller: SimpleQueue[dict[str, Step] | Run | BaseException] = SimpleQueue()
        self._to_run: SimpleQueue[Mapping[str, float] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._waits = False

    def start(self, scenario: Scenario) -> None:
        """Begin the run in its thread."""
        _links[self.number] = self
        self._thread = threading.Thread(
            target=self._run, args=(scenario,), name=f"ackclock-gym-{self.number}", daemon=True
        )
        self._thread.start()

    def _run(self, scenario: Scenario) -> None:
        try:
            result: Run | BaseException = scenario.run()
        except BaseException as error:
            result = error
        self._to_caller.put(result)

    def next(self) -> dict[str, Step] | Run:
        """Wait until the agents are to decide, or for the end of the run.

        Returns
        -------
        dict or Run
            What each agent has seen, or the run.

        Raises
        ------
        Exception
            What ended the run before its time.
        """
        found = self._to_caller.get()
        if isinstance(found, dict):
            self._waits = True
            return found
        self._end()
        if isinstance(found, BaseException):
            raise found
        return found

    def decide(self, actions: Mapping[str, float]) -> None:
        """Let the run go on with the actions of the agents."""
        self._waits = False
        self._to_run.put(actions)

    def stop(self) -> None:
        """End the run, if it has not ended, and its thread."""
        if self._thread is None:
            return
        if not self._waits:
            # It is on its way to the next decision, or to its end.
            found = self._to_caller.get()
            if not isinstance(found, dict):
                self._end()
                return
        self._to_run.put(None)
        self._to_caller.get()
        self._end()

    def _end(self) -> None:
        assert self._thread is not None
        self._thread.join()
        self._thread = None
        self._waits = False
        _links.pop(self.number, None)

    def join(self, name: str) -> Agent:
        """Give the agent of a control that is made for a flow.

        Parameters
        ----------
        name
            Of the agent.

        Raises
        ------
        AckclockError
            The agent has a flow already.
        """
        if name in self._built_agents:
            message = f'the entry of agent "{name}" is of several flows; an agent has one flow'
            raise AckclockError(message)
        self._built_agents.add(name)
        return self.agents[name]

    def pause(self, now_s: float, round_: int | None, srtt_s: float = math.inf) -> None:
        """Hand over to the caller if a step has ended.

        Parameters
        ----------
        now_s
            The present [s].
        round_
            Count of round trips of the flow, where it is known.
        srtt_s
            Smoothed RTT [s].
        """
        if self.interval_s is None:
            if round_ is None or (
                round_ == self._round
                # While a retransmission is missing, no window of data is acknowledged whole, and
                # the count does not rise.
                and not now_s - self._due_s > _LONGEST_STEP * srtt_s
            ):
                return
            first, self._round = self._round is None, round_
            self._due_s = now_s
            if first:
                return
        elif now_s < self._due_s:
            return
        else:
            self._due_s += self.interval_s * (
                1 + math.floor((now_s - self._due_s) / self.interval_s)
            )
        self._to_caller.put({name: agent.step(now_s) for name, agent in self.agents.items()})
        actions = self._to_run.get()
        if actions is None:
            raise _Stopped
        for name, value in actions.items():
            self.agents[name].waiting = value


_LONGEST_STEP = 2.0
"""Smoothed RTTs after which a step of a round trip ends though the count has not risen."""

_numbers = itertools.count(1)
_links: dict[int, Link] = {}


@control(cadence="ack", slow_start=False)
class Learner:
    """The control of a flow whose window a policy decides."""

    link: int = 0
    agent: str = ""

    def __post_init__(self) -> None:
        self._link: Link | None = None
        self._agent: Agent | None = None

    def _require_joined(self) -> tuple[Link, Agent]:
        if self._link is None or self._agent is None:
            if self.link not in _links:
                message = "a flow of an environment runs in its environment only"
                raise AckclockError(message)
            self._link = _links[self.link]
            self._agent = self._link.join(self.agent)
        return self._link, self._agent

    def on_ack(self, window: Any, ack: Any) -> None:
        """Take an acknowledgement into account, and decide at the end of a step."""
        link, agent = self._require_joined()
        agent.see(window, ack)
        sums = agent.sums
        agent.delivered = ack.delivered
        sums.acks += ack.acks
        sums.marked += ack.acks * ack.ecn_echo
        if ack.rtt_s is not None:
            sums.rtt_sum += ack.rtt_s
            sums.rtts += 1
        link.pause(ack.now_s, ack.round, agent.srtt_s)
        agent.act(window)

    def on_lost(self, window: Any, lost: Any) -> None:
        """Count a segment that was declared lost."""
        del window
        self._require_joined()[1].count_lost(lost.now_s)

    def on_congestion(self, window: Any, event: Any) -> None:
        """Count timeouts; the policy decides what follows."""
        link, agent = self._require_joined()
        agent.see(window, event)
        if event.kind == "timeout":
            agent.count_timeout(event.now_s)
        link.pause(event.now_s, None)
        if event.kind != "timeout":
            # After a timeout the window is one segment, as RFC 5681 has it.
            agent.act(window)
