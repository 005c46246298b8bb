"""The 13 environments of Akella et al., Table 2, as data.

References
----------
A. Akella, S. Seshan, S. Shenker, I. Stoica, "Exploring Congestion Control", CMU-CS-02-139, 2002,
section 3.1 and Table 2.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ENVIRONMENTS", "FREE", "Environment"]

MBPS = 1e6


@dataclass(frozen=True)
class Environment:
    """How the bandwidth that is left for the test flows varies.

    Parameters
    ----------
    name
        As in Table 2.
    short
        The abbreviation there.
    rule
        Which rule of `ackclock.scenario.environments.patterns` makes it; ``transfers`` for the
        three whose cross traffic is made of TCP transfers.
    base_bps
        B0 [bit/s per test flow]; of transfers, the capacity per test flow, not in Table 2.
    low_bps
        The lower rate of a square wave [bit/s per test flow].
    reach
        Delta in B0 of the random walks, mu of the multiplicative one.
    text
        One sentence.
    """

    name: str
    short: str
    rule: str
    base_bps: float
    low_bps: float
    reach: float
    text: str

    @property
    def is_random(self) -> bool:
        """Whether the pattern depends on the seed."""
        return self.rule not in ("constant", "square", "steps")

    @property
    def has_transfers(self) -> bool:
        """Whether cross traffic is made of TCP transfers (environments 11 to 13)."""
        return self.rule == "transfers"


def _all() -> tuple[Environment, ...]:
    def env(
        name: str,
        short: str,
        rule: str,
        text: str,
        *,
        base: float,
        low: float = 0.0,
        reach: float = 0.0,
    ) -> Environment:
        return Environment(name, short, rule, base * MBPS, low * MBPS, reach, text)

    walk = "uniform within half of B0 about the rate before"
    pareto = "Pareto transfers, one in"
    return (
        env("cons-low", "CL", "constant", "constant at 1 Mbit/s", base=1),
        env("cons-high", "CH", "constant", "constant at 10 Mbit/s", base=10),
        env("sq-low", "SQL", "square", "10 and 5 Mbit/s in turn", base=10, low=5),
        env("sq-high", "SQH", "square", "10 and 1 Mbit/s in turn", base=10, low=1),
        env("rw-low", "RWL", "walk", f"{walk}, B0 = 1 Mbit/s", base=1, reach=0.5),
        env("rw-high", "RWH", "walk", f"{walk}, B0 = 10 Mbit/s", base=10, reach=0.5),
        env("rd-low", "RDL", "uniform", "uniform up to 1 Mbit/s", base=1),
        env("rd-high", "RDH", "uniform", "uniform up to 10 Mbit/s", base=10),
        env(
            "rw-additive",
            "RWA",
            "additive",
            "uniform up to the rate before and a quarter of B0 = 1 Mbit/s",
            base=1,
            reach=0.25,
        ),
        env(
            "rw-multiplicative",
            "RWM",
            "multiplicative",
            "uniform up to 5/3 of the rate before, B0 = 1 Mbit/s",
            base=1,
            reach=5 / 3,
        ),
        env("real-cons-low", "RCL", "transfers", f"{pareto} 0.03 s on average", base=10),
        env("real-cons-high", "RCH", "transfers", f"{pareto} 0.01 s on average", base=10),
        env("real-sq", "RSQ", "transfers", f"{pareto} 0.03 s and 0.01 s in turn", base=10),
    )


ENVIRONMENTS: dict[str, Environment] = {env.name: env for env in _all()}
"""By name, in the order of Table 2."""

FREE = Environment("steps", "steps", "steps", 10 * MBPS, 0.0, 0.0, "as a list of steps says")
"""A user-defined pattern."""
