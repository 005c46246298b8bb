"""Learns controls from labelled runs, with probabilities that are calibrated and "none of them".

Extremely randomised trees give shares of votes. How far a flow is from the nearest runs of the
control that it resembles most says whether it is one of them at all: a logistic function of the
logarithm of that distance, fitted on labelled runs, held against those of their control on other
paths, and on runs of foreign controls, which no class is. One temperature makes probabilities: the
least, from the most likely on, at which of the foreign runs hardly one is called by a name with
more than `SURE`. The trees that foreign runs and held-out paths are judged by did not see them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ackclock.captures.identify.features import NAMES
from ackclock.captures.identify.forest import Forest, grow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.captures.trace import Floats

__all__ = ["DATA", "FOREST", "SURE", "Calibrated", "Classifier", "calibrate", "fit",
           "grow_trees", "load_classifier", "train"]  # fmt: skip

DATA = Path(__file__).with_name("training.npz")
"""Features of labelled runs; ``tools/write_training.py`` writes it."""
FOREST = Path(__file__).with_name("forest.npz")
"""The trees that were grown from them; written beside it."""

SURE = 0.9
"""Probability of an answer that may be relied on."""

_FOLDS = 5
_TREES = 100
_NEIGHBOURS = 3
_FOREIGN = 0.03
"""Share of flows whose control is none of the classes."""
_CALLED = 0.01
"""Share of foreign runs of which a name may be sure."""
_TEMPERATURES = np.geomspace(0.1, 3, 60)


class Calibrated(NamedTuple):
    """What makes probabilities of votes and distances.

    Attributes
    ----------
    temperature
        Divides logarithms of shares of votes.
    offset, slope
        Of the logarithm of the odds that a flow is of a class, by that of its distance.
    """

    temperature: float
    offset: float
    slope: float


@dataclass
class Classifier:
    """A trained classifier.

    Parameters
    ----------
    trees
        The forest; its classes are the columns.
    calibrated
        What makes probabilities.
    centre, scale
        Of the features.
    rows, labels
        Training data, scaled.
    """

    trees: Forest
    calibrated: Calibrated
    centre: Floats
    scale: Floats
    rows: Floats
    labels: Any

    @property
    def names(self) -> list[str]:
        """Controls, in the order of columns."""
        return self.trees.classes

    def probabilities(self, rows: Floats, among: Sequence[str] = ()) -> Floats:
        """Probability of each control for each row, and in the last column of none of them.

        Parameters
        ----------
        rows
            Features.
        among
            Controls of which it can be one; left out: all.
        """
        shares = _soften(self.trees.vote(rows), self.calibrated.temperature)
        if among:
            shares = shares * np.isin(self.names, list(among))
            shares /= shares.sum(axis=1, keepdims=True)
        distances = [
            _nearest(row, self.rows[self.labels == self.names[int(np.argmax(share))]])
            for row, share in zip((rows - self.centre) / self.scale, shares, strict=True)
        ]
        familiar = _rate_familiarity(np.asarray(distances), self.calibrated)
        return np.column_stack([shares * familiar[:, None], 1 - familiar])


def _rate_familiarity(distances: Floats, calibrated: Calibrated) -> Floats:
    """Compute the probability that flows are of a class, by their distances."""
    odds = calibrated.offset + calibrated.slope * np.log(np.maximum(distances, 1e-9))
    result: Floats = 1 / (1 + np.exp(-np.clip(odds, -50, 50)))
    return result


def _soften(shares: Floats, temperature: float) -> Floats:
    logs = np.log(shares + 1e-3) / temperature
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    result: Floats = powers / powers.sum(axis=1, keepdims=True)
    return result


def _nearest(row: Floats, others: Floats) -> float:
    if not len(others):
        return float("inf")
    distances = np.sqrt(np.mean((others - row) ** 2, axis=1))
    count = min(_NEIGHBOURS, len(distances))
    return float(np.sort(distances)[:count].mean())


def train(rows: Floats, names: Sequence[str], paths: Sequence[int], foreign: Floats) -> Classifier:
    """Train a classifier; the same data give the same.

    Parameters
    ----------
    rows
        Features of runs.
    names
        Their controls.
    paths
        Numbers of their paths, by which folds are made.
    foreign
        Features of runs whose controls are no class.
    """
    return fit(rows, names, grow_trees(rows, names), calibrate(rows, names, paths, foreign))


def grow_trees(rows: Floats, names: Sequence[str]) -> Forest:
    """Grow the trees of a classifier.

    Parameters
    ----------
    rows, names
        As of `train`.
    """
    return grow(rows, names, _TREES, 0)


def fit(rows: Floats, names: Sequence[str], trees: Forest, calibrated: Calibrated) -> Classifier:
    """Join what a classifier consists of.

    Parameters
    ----------
    rows, names
        As of `train`.
    trees
        Grown from them.
    calibrated
        As `calibrate` gives it.
    """
    centre, scale = _scale(rows)
    return Classifier(
        trees, calibrated, centre, scale, (rows - centre) / scale, np.asarray(names)
    )  # fmt: skip


def _scale(rows: Floats) -> tuple[Floats, Floats]:
    return np.median(rows, axis=0), rows.std(axis=0) + 1e-6


def calibrate(
    rows: Floats, names: Sequence[str], paths: Sequence[int], foreign: Floats
) -> Calibrated:
    """Fit the temperature, and how far a flow may be from the runs of its control.

    Parameters
    ----------
    rows, names, paths, foreign
        As of `train`.
    """
    labels, groups = np.asarray(names), np.asarray(paths)
    controls = sorted(set(names))
    index = np.array([controls.index(name) for name in names])
    shares = np.zeros((len(rows), len(controls)))
    foreign_shares = np.zeros((len(foreign), len(controls)))
    folds = np.array([sorted(set(paths)).index(path) % _FOLDS for path in paths])
    for fold in range(_FOLDS):
        inside, outside = folds != fold, folds == fold
        trees = grow(rows[inside], labels[inside].tolist(), _TREES, fold)
        columns = [controls.index(name) for name in trees.classes]
        shares[np.ix_(outside, columns)] = trees.vote(rows[outside])
        foreign_shares[:, columns] += trees.vote(foreign) / _FOLDS
    centre, scale = _scale(rows)
    scaled, strange = (rows - centre) / scale, (foreign - centre) / scale
    best = [controls[number] for number in shares.argmax(axis=1)]
    distances = np.array([
        _nearest(row, scaled[(labels == best[number]) & (groups != groups[number])])
        for number, row in enumerate(scaled)
    ])  # fmt: skip
    best = [controls[number] for number in foreign_shares.argmax(axis=1)]
    far = np.array([
        _nearest(row, scaled[labels == name]) for row, name in zip(strange, best, strict=True)
    ])  # fmt: skip
    near = np.isfinite(distances)
    offset, slope = _fit_odds(distances[near], far)
    losses = [
        -np.mean(np.log(_soften(shares, t)[np.arange(len(index)), index])) for t in _TEMPERATURES
    ]
    for temperature in _TEMPERATURES[int(np.argmin(losses)) :]:
        result = Calibrated(float(temperature), offset, slope)
        top = _soften(foreign_shares, result.temperature).max(axis=1)
        if np.mean(top * _rate_familiarity(far, result) > SURE) <= _CALLED:
            break
    return result


def _fit_odds(near: Floats, far: Floats) -> tuple[float, float]:
    """Fit logistic odds to distances of runs of classes and of others, by Newton's method."""
    table = np.column_stack([np.ones(len(near) + len(far)), np.log(np.concatenate([near, far]))])
    truth = np.concatenate([np.ones(len(near)), np.zeros(len(far))])
    weights = np.concatenate([
        np.full(len(near), (1 - _FOREIGN) / len(near)), np.full(len(far), _FOREIGN / len(far)),
    ])  # fmt: skip
    # A little is taken from large numbers, which distances without an overlap would lead to.
    ridge = 1e-5 * np.eye(2)
    beta = np.zeros(2)
    for _ in range(100):
        chance = 1 / (1 + np.exp(-np.clip(table @ beta, -50, 50)))
        slopes = table.T @ (weights * (truth - chance)) - ridge @ beta
        bends = (table * (weights * chance * (1 - chance))[:, None]).T @ table + ridge
        beta = beta + np.linalg.solve(bends, slopes)
    return float(beta[0]), float(beta[1])


@cache
def load_classifier() -> Classifier:
    """Read the classifier that ships with ackclock."""
    with np.load(DATA, allow_pickle=False) as data:
        rows, names = data["rows"].astype(float), [str(name) for name in data["names"]]
        calibrated = Calibrated(*data["calibrated"].tolist())
    with np.load(FOREST, allow_pickle=False) as data:
        trees = Forest.unpack(data)
    if rows.shape[1] != len(NAMES):
        message = f"{DATA.name} has {rows.shape[1]} features of {len(NAMES)}; write it again"
        raise ValueError(message)
    return fit(rows, names, trees, calibrated)
