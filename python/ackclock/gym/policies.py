"""Baseline policies, and the table that compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ackclock._util.number_text import engineering, interval, percent
from ackclock._util.text_table import table
from ackclock.experiments.statistics import mean_interval
from ackclock.gym.single import CongestionEnv

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ackclock.gym.measures import Step
    from ackclock.scenario.scenario import Scenario

    Policy = Callable[[Step, np.random.Generator], float]

__all__ = ["POLICIES", "Baseline", "baseline_table", "baselines", "write_table"]


def reno_like(step: Step, random: np.random.Generator) -> float:
    """Add a segment each step, halve after a loss: Reno with steps of a round trip.

    Parameters
    ----------
    step
        What happened.
    random
        Not used.
    """
    del random
    if step.timeouts:
        return 0.0
    if step.lost:
        return -1.0
    return float(np.log2(1 + 1 / max(1.0, step.cwnd)))


def delay_target(step: Step, random: np.random.Generator) -> float:
    """Grow while the RTT is less than 1.25 times the smallest, else shrink, by an eighth.

    Parameters
    ----------
    step
        What happened.
    random
        Not used.
    """
    del random
    return 0.17 if step.rtt_inflation < 0.25 and not step.lost else -0.17


def at_random(step: Step, random: np.random.Generator) -> float:
    """Draw a factor between a half and 2.

    Parameters
    ----------
    step
        Not used.
    random
        What is drawn from.
    """
    del step
    return float(random.uniform(-1.0, 1.0))


def constant(step: Step, random: np.random.Generator) -> float:
    """Keep the window.

    Parameters
    ----------
    step
        Not used.
    random
        Not used.
    """
    del step, random
    return 0.0


POLICIES: dict[str, Policy] = {
    "reno-like": reno_like,
    "delay-target": delay_target,
    "random": at_random,
    "constant": constant,
}
"""Baseline policies by name, for the action ``window-factor``."""


class Baseline(NamedTuple):
    """What a policy reached: mean and 95 % interval over episodes."""

    policy: str
    reward: tuple[float, float, float]
    """Mean reward of a step."""
    goodput_bps: tuple[float, float, float]
    srtt_s: tuple[float, float, float]
    loss_ratio: tuple[float, float, float]


def baselines(
    scenario: Scenario, agent: int | str = 0, *, episodes: int = 5, seed: int = 1, **options: Any
) -> list[Baseline]:
    """Run each baseline policy.

    Parameters
    ----------
    scenario, agent
        As of `ackclock.gym.CongestionEnv`.
    episodes
        Runs of each policy; the same seeds for all.
    seed
        Of the first episode; they count on.
    **options
        ``step`` and ``reward`` of the environment.
    """
    found = []
    for name, policy in POLICIES.items():
        rows = []
        for number in range(episodes):
            env = CongestionEnv(scenario, agent, **options)
            try:
                rows.append(_episode(env, policy, seed + number))
            finally:
                env.close()
        means = [mean_interval(column) for column in zip(*rows, strict=True)]
        found.append(Baseline(name, *means))
    return found


def _episode(env: CongestionEnv, policy: Policy, seed: int) -> tuple[float, ...]:
    random = np.random.default_rng(seed)
    info = env.reset(seed=seed)[1]
    rewards = []
    over = False
    while not over:
        action = [policy(info["step"], random)]
        _, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
        rewards.append(reward)
    assert env.run is not None
    flow = env.flow_summary(env.run)
    lost = flow["window_lost_data_packets"] / max(1, flow["window_sent_packets"])
    return float(np.mean(rewards)), flow["goodput_bps"], flow["srtt_mean_s"], lost


def baseline_table(scenario: Scenario, agent: int | str = 0, **options: Any) -> str:
    """Write the baselines as a text table.

    Parameters
    ----------
    scenario, agent, **options
        As of `baselines`.
    """
    return write_table(baselines(scenario, agent, **options))


def write_table(found: Sequence[Baseline]) -> str:
    """Write baselines as a text table, with 95 % intervals over episodes.

    Parameters
    ----------
    found
        What `baselines` gives.
    """
    head = ["policy", "reward a step", "goodput", "mean SRTT", "data lost"]
    rows = [
        [
            one.policy,
            interval(*one.reward),
            engineering(one.goodput_bps[0], "bit/s", 3),
            engineering(one.srtt_s[0], "s", 3),
            percent(one.loss_ratio[0], 2),
        ]
        for one in found
    ]
    return table(head, rows)
