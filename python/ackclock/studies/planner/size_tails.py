"""Tails and moments of the distributions of sizes of flows.

The core draws sizes: `crates/ackclock-fluid/src/fluid/dynamics/sizes.rs`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Data = dict[str, Any]

__all__ = ["beyond", "second_moment", "still_to_send"]


def _read_values(sizes: Data) -> tuple[Floats, Floats]:
    """Values of an empirical distribution, and their probabilities."""
    values = np.array(sizes["values"], dtype=np.float64)
    weights = np.array(sizes.get("weights") or np.ones(len(values)), dtype=np.float64)
    return values, weights / weights.sum()


def beyond(sizes: Data, x: Floats) -> Floats:
    """Probability that a size is above each of some amounts.

    Parameters
    ----------
    sizes
        Kind and parameters, in numbers.
    x
        Amounts, above 0.
    """
    probability: Floats
    match sizes["kind"]:
        case "fixed":
            probability = np.where(x < sizes["mean"], 1.0, 0.0)
        case "exponential":
            probability = np.exp(-x / sizes["mean"])
        case "pareto":
            shape = sizes["shape"]
            least = sizes["mean"] * (shape - 1) / shape
            probability = np.minimum(1.0, least / x) ** shape
        case "bounded-pareto":
            least, most, shape = sizes["least"], sizes["most"], sizes["shape"]
            end = (least / most) ** shape
            probability = np.clip((np.minimum(1.0, least / x) ** shape - end) / (1 - end), 0.0, 1.0)
        case "log-normal":
            from scipy.stats import norm

            sigma = sizes["sigma"]
            if sigma == 0:
                return beyond({"kind": "fixed", "mean": sizes["mean"]}, x)
            probability = norm.sf((np.log(x / sizes["mean"]) + sigma**2 / 2) / sigma)
        case _:
            values, share = _read_values(sizes)
            probability = (share * (values > x[:, None])).sum(axis=1)
    return probability


def second_moment(sizes: Data) -> float:
    """Mean of the square of a size; infinite for a Pareto distribution of shape 2 or less.

    Parameters
    ----------
    sizes
        Kind and parameters, in numbers.
    """
    match sizes["kind"]:
        case "fixed":
            return float(sizes["mean"] ** 2)
        case "exponential":
            return float(2 * sizes["mean"] ** 2)
        case "pareto":
            shape = sizes["shape"]
            least = sizes["mean"] * (shape - 1) / shape
            return float(shape * least**2 / (shape - 2)) if shape > 2 else math.inf
        case "bounded-pareto":
            least, most, shape = sizes["least"], sizes["most"], sizes["shape"]
            end = (least / most) ** shape
            if abs(shape - 2) < 1e-9:
                return float(2 * least**2 * math.log(most / least) / (1 - end))
            return float(shape / (shape - 2) * (least**2 - most**2 * end) / (1 - end))
        case "log-normal":
            return float(sizes["mean"] ** 2 * math.exp(sizes["sigma"] ** 2))
        case _:
            values, share = _read_values(sizes)
            return float((share * values**2).sum())


def still_to_send(sizes: Data, count: int, random: np.random.Generator) -> Floats:
    """Draw what flows under way at a random moment still have to send.

    Sizes of flows under way are drawn in proportion to the size, as long ones are there longer, and
    the moment is anywhere in them: the equilibrium distribution of renewal theory.

    Parameters
    ----------
    sizes
        Kind and parameters, in numbers.
    count
        How many flows.
    random
        What is drawn from.
    """
    uniform = random.random(count)
    flow_size: Floats
    match sizes["kind"]:
        case "fixed":
            flow_size = np.full(count, float(sizes["mean"]))
        case "exponential":
            flow_size = random.gamma(2.0, sizes["mean"], count)
        case "pareto":
            shape = sizes["shape"]
            least = sizes["mean"] * (shape - 1) / shape
            flow_size = least * (1 - random.random(count)) ** (-1 / (shape - 1))
        case "bounded-pareto":
            # In proportion to the size the shape is smaller by 1, and may be 0 or below.
            least, most, shape = sizes["least"], sizes["most"], sizes["shape"] - 1
            quantile = random.random(count)
            if abs(shape) < 1e-9:
                flow_size = least * (most / least) ** quantile
            else:
                end = (least / most) ** shape
                flow_size = least * (1 - quantile * (1 - end)) ** (-1 / shape)
        case "log-normal":
            sigma = sizes["sigma"]
            flow_size = sizes["mean"] * np.exp(sigma * random.standard_normal(count) + sigma**2 / 2)
        case _:
            values, share = _read_values(sizes)
            flow_size = random.choice(values, count, p=share * values / (share * values).sum())
    return np.asarray(uniform * flow_size, dtype=np.float64)
