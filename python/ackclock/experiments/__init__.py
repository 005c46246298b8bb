"""Experiments: grids over cases, replications, statistics. See `ackclock.sweep`."""

from __future__ import annotations

from ackclock.experiments.comparison import Comparison, RankingWarning
from ackclock.experiments.grid import Axis, SweepError
from ackclock.experiments.plan import Plan
from ackclock.experiments.result import SweepResult
from ackclock.experiments.statistics import Precision
from ackclock.experiments.sweeps import Sweep, sweep

__all__ = [
    "Axis",
    "Comparison",
    "Plan",
    "Precision",
    "RankingWarning",
    "Sweep",
    "SweepError",
    "SweepResult",
    "sweep",
]
