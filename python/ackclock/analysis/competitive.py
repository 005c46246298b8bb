"""How an algorithm fares beside the best of a set, over many environments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ackclock.analysis.grouping import group_rows, numbers, table_of
from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

__all__ = ["competitive"]


def competitive(
    table: pa.Table,
    score: str,
    algorithm: str,
    environment: str,
    *,
    by: Sequence[str] = (),
    form: Literal["difference", "ratio"] = "difference",
    better: Literal["more", "less"] = "more",
) -> tuple[pa.Table, pa.Table]:
    """Competitive scores of algorithms.

    With s(a, e) the mean score of algorithm a in environment e:

    - s_max(e) = the best of s(a, e) over all a;
    - d(a, e) = s_max(e) − s(a, e), or s_max(e) / s(a, e) in the form ``ratio``; where less is
      better, s(a, e) − s_min(e), or s(a, e) / s_min(e);
    - C(a) = the greatest d(a, e) over all e;
    - D(a) = Σ d(a, e) over all e, and its mean over e. The paper's table of notation has the mean,
      its text and appendix the sum; so both are given.

    Parameters
    ----------
    table
        Tidy: rows of runs, with columns of score, algorithm and environment.
    score, algorithm, environment
        Names of these columns. Several rows of the same algorithm and environment are averaged.
    by
        Columns that keep tables apart, as setting or replicate; each has its own best.
    form
        ``difference``, or ``ratio`` (footnote 3 of the paper).
    better
        Whether more or less is better, as for loss and delay.

    Returns
    -------
    tuple of pyarrow.Table
        Per algorithm and environment: ``s``, ``s_max``, ``d``. Per algorithm: ``c``, ``d_sum``,
        ``d_mean``, ``environments``.

    Raises
    ------
    AckclockError
        A column is missing, or an algorithm was not run in every environment: then sums would
        not be comparable.

    References
    ----------
    A. Akella, S. Seshan, S. Shenker, I. Stoica, "Exploring Congestion Control", CMU-CS-02-139,
    2002, section 3 and table 1.
    """
    each: list[dict[str, Any]] = []
    totals: list[dict[str, Any]] = []
    for group, rows in group_rows(table, by, score, algorithm, environment):
        found = {
            (key[algorithm], key[environment]): float(numbers(cell, score).mean())
            for key, cell in group_rows(rows, [algorithm, environment], score)
        }
        algorithms = list(dict.fromkeys(name for name, _ in found))
        environments = list(dict.fromkeys(name for _, name in found))
        missing = [(a, e) for a in algorithms for e in environments if (a, e) not in found]
        if missing:
            a, e = missing[0]
            message = f'{algorithm} "{a}" has no {score} in {environment} "{e}"; all need all'
            raise AckclockError(message)
        choose = max if better == "more" else min
        best = {e: choose(found[a, e] for a in algorithms) for e in environments}
        for a in algorithms:
            d = [_behind(best[e], found[a, e], form, better) for e in environments]
            each += [
                {**group, algorithm: a, environment: e, "s": found[a, e], "s_max": best[e], "d": x}
                for e, x in zip(environments, d, strict=True)
            ]
            totals.append(
                {
                    **group,
                    algorithm: a,
                    "c": max(d),
                    "d_sum": float(np.sum(d)),
                    "d_mean": float(np.mean(d)),
                    "environments": len(d),
                }
            )
    return table_of(each), table_of(totals)


def _behind(best: float, own: float, form: str, better: str) -> float:
    if form == "difference":
        return best - own if better == "more" else own - best
    above, below = (best, own) if better == "more" else (own, best)
    return above / below if below else float("inf") if above else 1.0
