"""A random forest in place of runs: shares of the whole space, and what decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ackclock.errors import AckclockError, how_to_install

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.reproduce.search.space import Space

__all__ = ["Surrogate", "as_number", "fit", "need_library"]

TREES = 200

FEWEST = 8
"""Points below which no forest is grown."""

FOLDS = 4

REPEATS = 10
"""Permutations of a parameter in each fold."""

LEAST = 0.02
"""Permuting a parameter that decides explains at least this part of the variance less."""


class Surrogate(NamedTuple):
    """A fitted forest.

    Parameters
    ----------
    predict
        Gives predictions for points.
    quality
        Share of the variance that it explains out of the bag; at most 1.
    decides
        Parameters that matter beyond chance with their importance, the most important first.
    """

    predict: Any
    quality: float
    decides: dict[str, float]


def need_library() -> None:
    """Refuse to begin without scikit-learn.

    Raises
    ------
    AckclockError
        It is not installed.
    """
    try:
        import sklearn  # noqa: F401
    except ImportError:
        message = f'a search needs the extra "papers": {how_to_install("papers")}'
        raise AckclockError(message) from None


def fit(space: Space, points: Sequence[Mapping[str, Any]], values: Sequence[float]) -> Surrogate:
    """Fit a forest to a value at points.

    Parameters
    ----------
    space
        Its parameters are the columns: numbers as they are, names one column each.
    points
        Values by parameter.
    values
        One a point.

    Returns
    -------
    Surrogate
        Without quality and parameters that decide where values are constant or few.
    """
    import numpy as np
    from sklearn.ensemble import RandomForestRegressor

    y = np.asarray(values, dtype=float)
    if len(y) < FEWEST or np.ptp(y) == 0:
        return Surrogate(lambda at: np.full(len(at), y.mean()), 0.0, {})
    columns = _columns(space)
    x = _encode(columns, points)
    forest = RandomForestRegressor(TREES, oob_score=True, random_state=0, n_jobs=1)
    # With few points some are in every tree's bag: their prediction is NaN and R2 undefined.
    forest.fit(x, y)
    guess = forest.oob_prediction_
    is_finite = np.isfinite(guess)
    quality = 1 - float(np.mean((y - guess)[is_finite] ** 2) / np.var(y))
    decides = _importance(columns, x, y) if quality > 0 else {}
    return Surrogate(lambda at: forest.predict(_encode(columns, at)), quality, decides)


def _importance(columns: Sequence[tuple[str, str]], x: Any, y: Any) -> dict[str, float]:
    """Variance of points left out that is explained less when a parameter is permuted there.

    Forests know the points that they were grown on, noise included; so each of four is grown on
    three quarters of the points and scored on the rest.
    """
    import numpy as np
    from sklearn.ensemble import RandomForestRegressor

    generator = np.random.default_rng(0)
    permutation = generator.permutation(len(y))
    names = list(dict.fromkeys(name for name, _ in columns))
    drops: dict[str, list[float]] = {name: [] for name in names}
    for fold in range(FOLDS):
        out = permutation[fold::FOLDS]
        training = np.setdiff1d(permutation, out)
        forest = RandomForestRegressor(TREES // FOLDS, random_state=fold, n_jobs=1)
        forest.fit(x[training], y[training])
        error = np.mean((forest.predict(x[out]) - y[out]) ** 2)
        for name in names:
            encoded = [i for i, (other, _) in enumerate(columns) if other == name]
            for _ in range(REPEATS):
                mixed = x[out].copy()
                mixed[:, encoded] = x[out][generator.permutation(len(out))][:, encoded]
                worse = np.mean((forest.predict(mixed) - y[out]) ** 2)
                drops[name].append(float((worse - error) / np.var(y)))
    importance = {}
    for name, values in drops.items():
        # Permutations of one fold are not independent: the folds are what is repeated.
        folds = np.reshape(values, (FOLDS, REPEATS)).mean(axis=1)
        mean, error = float(folds.mean()), float(folds.std(ddof=1)) / FOLDS**0.5
        if mean - error > LEAST:
            importance[name] = mean
    return dict(sorted(importance.items(), key=lambda item: -item[1]))


def _columns(space: Space) -> list[tuple[str, str]]:
    """Parameter and value of each column; an empty value is a column of numbers."""
    made: list[tuple[str, str]] = []
    for parameter in space.parameters:
        values = [*parameter.values, parameter.default]
        if parameter.range or all(_is_number(value) for value in values):
            made.append((parameter.id, ""))
        else:
            made += [(parameter.id, label) for label in dict.fromkeys(map(str, values))]
    return made


def _encode(columns: Sequence[tuple[str, str]], points: Sequence[Mapping[str, Any]]) -> Any:
    import numpy as np

    return np.array(
        [
            [
                float(str(point[name]) == label) if label else as_number(point[name])
                for name, label in columns
            ]
            for point in points
        ]
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_number(value: Any) -> float:
    """The number of a value of a range, without its unit.

    Parameters
    ----------
    value
        A number, or text such as ``12 ms``.
    """
    return float(value) if _is_number(value) else float(str(value).split()[0].replace(",", ""))
