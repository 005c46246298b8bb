"""What is measured of late-comers in one situation, and how it is judged."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LateComerRow", "Predicted", "predict_ratio", "verdict"]

FAIR = 1.25
"""A late-comer that gets up to this factor more or less than the others is treated fairly."""
NEAR = 0.15
"""A ratio this near to the model's, as a part of it, counts as what the model predicts."""


@dataclass(frozen=True)
class Predicted:
    """What persistent congestion makes of a situation: late-comer over others, and shares."""

    ratio: float
    shares: tuple[float, ...]


@dataclass(frozen=True)
class LateComerRow:
    """What was measured in one situation, for one number of flows, with or without losses."""

    situation: str
    flows: int
    overflows: bool
    ratio: float
    low: float
    high: float
    predicted: float | None
    share: float
    share_predicted: float | None
    share_fair: float
    shares: tuple[float, ...]
    at_rest: bool
    worst: str
    utilisation: float
    verdict: str


def predict_ratio(situation: str, flows: int) -> Predicted | None:
    """Give what equations (11) and (15) predict; None where they do not apply.

    Parameters
    ----------
    situation
        Key of the situation.
    flows
        Number n.
    """
    from ackclock.engines.model import fast

    if situation == "sequential":
        shares = tuple(map(float, fast.sequential_shares(flows)))
        return Predicted(shares[-1] / shares[0], shares)
    if situation == "joining":
        found = fast.joining(flows)
        old, new = float(found["share_old"]), float(found["share_new"])
        return Predicted(float(found["fairness_ratio"]), (*[old] * flows, new))
    return None


def verdict(ratio: float, model: float | None) -> str:
    """Judge a ratio: fair, favoured, favoured as the model predicts, or starved.

    Parameters
    ----------
    ratio
        What the late-comer gets over the others.
    model
        What persistent congestion would make of it.
    """
    if ratio < 1 / FAIR:
        return "late-comer starved"
    if ratio <= FAIR:
        return "fair"
    if model is not None and abs(ratio / model - 1) <= NEAR:
        return "late-comer favoured, as by persistent congestion"
    return "late-comer favoured"
