"""Environments: available bandwidth that varies, as in Akella et al. (2002).

A scenario names one in place of a network::

    [net]
    kind = "environment"
    name = "sq-high"

and its flows are the test flows. What takes bandwidth away is made from the name, the settings and
the seed; `scores` gives the paper's metrics of a run.
"""

from __future__ import annotations

from ackclock.scenario.environments.patterns import Pattern
from ackclock.scenario.environments.scoring import SCORES, scores
from ackclock.scenario.environments.table import ENVIRONMENTS, Environment

__all__ = ["ENVIRONMENTS", "SCORES", "Environment", "Pattern", "scores"]
