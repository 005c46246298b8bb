"""Environments for reinforcement learning: a policy decides the window or rate of flows.

`CongestionEnv` is Gymnasium's environment of one flow, `CongestionParallelEnv` PettingZoo's of
several, each a flow of the same network. Needs ``ackclock[gym]``.

Examples
--------
>>> import ackclock as ac
>>> from ackclock.gym import CongestionEnv
>>> env = CongestionEnv(ac.load("scenario.toml"), agent=0)
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step([0.5])
"""

from __future__ import annotations

from ackclock.gym.measures import OBSERVATION, Step, default_reward
from ackclock.gym.parallel import CongestionParallelEnv
from ackclock.gym.policies import POLICIES, baseline_table
from ackclock.gym.single import CongestionEnv

__all__ = [
    "OBSERVATION",
    "POLICIES",
    "CongestionEnv",
    "CongestionParallelEnv",
    "Step",
    "baseline_table",
    "default_reward",
]
