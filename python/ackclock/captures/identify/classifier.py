"""Learns controls from labelled runs, with probabilities that are calibrated and "none of them".

Extremely randomised trees give shares of votes, which one temperature, fitted on folds of paths
that a tree did not see, makes probabilities. How far a flow is from the nearest runs of the control
that it resembles most, against how far runs are from each other across paths, says whether it is
one of them at all: a flow that is farther than nine of ten runs is in doubt in proportion.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.captures.identify.features import NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.captures.trace import Floats

__all__ = ["DATA", "Classifier", "calibrate", "fit", "load_classifier", "train"]

DATA = Path(__file__).with_name("training.npz")
"""Features of labelled runs; ``tools/write_training.py`` writes it."""

_FOLDS = 5
_TREES = 200
_NEIGHBOURS = 3
_DOUBT = 0.1
"""Share of the farthest runs from which on a flow is in doubt."""


@dataclass
class Classifier:
    """A trained classifier.

    Parameters
    ----------
    trees
        Of scikit-learn.
    names
        Controls, in the order of its columns.
    temperature
        Divides logarithms of shares.
    centre, scale
        Of the features.
    rows, labels
        Training data, scaled.
    distances
        Percentiles of the distances of runs to the runs of their control on other paths.
    """

    trees: Any
    names: list[str]
    temperature: float
    centre: Floats
    scale: Floats
    rows: Floats
    labels: Any
    distances: Floats

    def probabilities(self, rows: Floats, among: Sequence[str] = ()) -> Floats:
        """Probability of each control for each row, and in the last column of none of them.

        Parameters
        ----------
        rows
            Features.
        among
            Controls of which it can be one; left out: all.
        """
        shares = _soften(self.trees.predict_proba(rows), self.temperature)
        if among:
            shares = shares * np.isin(self.names, list(among))
            shares /= shares.sum(axis=1, keepdims=True)
        familiar = np.array([
            self._rate_familiarity(row, self.names[int(np.argmax(share))])
            for row, share in zip(rows, shares, strict=True)
        ])  # fmt: skip
        return np.column_stack([shares * familiar[:, None], 1 - familiar])

    def _rate_familiarity(self, row: Floats, name: str) -> float:
        scaled = (row - self.centre) / self.scale
        distance = _nearest(scaled, self.rows[self.labels == name])
        above = 1 - np.searchsorted(self.distances, distance) / len(self.distances)
        return float(min(1.0, above / _DOUBT))


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


def _trees(seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(
        _TREES, min_samples_leaf=1, max_features=0.3, random_state=seed, n_jobs=1
    )


def train(rows: Floats, names: Sequence[str], paths: Sequence[int]) -> Classifier:
    """Train a classifier; the same data give the same.

    Parameters
    ----------
    rows
        Features of runs.
    names
        Their controls.
    paths
        Numbers of their paths, by which folds are made.
    """
    return fit(rows, names, *calibrate(rows, names, paths))


def fit(rows: Floats, names: Sequence[str], temperature: float, distances: Floats) -> Classifier:
    """Train the trees.

    Parameters
    ----------
    rows, names
        As of `train`.
    temperature, distances
        As `calibrate` gives them.
    """
    labels = np.asarray(names)
    centre, scale = _scale(rows)
    return Classifier(
        _trees(0).fit(rows, labels), sorted({str(name) for name in names}), temperature, centre,
        scale, (rows - centre) / scale, labels, distances,
    )  # fmt: skip


def _scale(rows: Floats) -> tuple[Floats, Floats]:
    return np.median(rows, axis=0), rows.std(axis=0) + 1e-6


def calibrate(rows: Floats, names: Sequence[str], paths: Sequence[int]) -> tuple[float, Floats]:
    """Fit the temperature, and measure how far runs of one control are from each other.

    Parameters
    ----------
    rows, names, paths
        As of `train`.

    Returns
    -------
    tuple
        The temperature, and percentiles of the distances.
    """
    labels, groups = np.asarray(names), np.asarray(paths)
    controls = sorted(set(names))
    index = np.array([controls.index(name) for name in names])
    shares = np.zeros((len(rows), len(controls)))
    distances = np.full(len(rows), np.inf)
    centre, scale = _scale(rows)
    scaled = (rows - centre) / scale
    folds = np.array([sorted(set(paths)).index(path) % _FOLDS for path in paths])
    for fold in range(_FOLDS):
        inside, outside = folds != fold, folds == fold
        trees = _trees(fold).fit(rows[inside], labels[inside])
        columns = [controls.index(name) for name in trees.classes_]
        shares[np.ix_(outside, columns)] = trees.predict_proba(rows[outside])
    for number, row in enumerate(scaled):
        same = (labels == labels[number]) & (groups != groups[number])
        distances[number] = _nearest(row, scaled[same])
    temperatures = np.geomspace(0.1, 3, 60)
    losses = [
        -np.mean(np.log(_soften(shares, t)[np.arange(len(index)), index])) for t in temperatures
    ]
    temperature = float(temperatures[int(np.argmin(losses))])
    steps = np.linspace(0, 100, 401)
    percentiles: Floats = np.percentile(distances[np.isfinite(distances)], steps)
    return temperature, percentiles


@cache
def load_classifier() -> Classifier:
    """Train on the data that ship with ackclock."""
    with np.load(DATA, allow_pickle=False) as data:
        rows, names = data["rows"].astype(float), [str(name) for name in data["names"]]
        temperature, distances = float(data["temperature"]), data["distances"].astype(float)
    if rows.shape[1] != len(NAMES):
        message = f"{DATA.name} has {rows.shape[1]} features of {len(NAMES)}; write it again"
        raise ValueError(message)
    return fit(rows, names, temperature, distances)
