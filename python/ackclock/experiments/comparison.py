"""Paired differences between the labels of an axis, and what ranking they support."""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util import number_text
from ackclock._util.labels import label_column
from ackclock._util.text_table import table as text_table
from ackclock.experiments.groups import Cells, Group, balance_pair
from ackclock.experiments.statistics import (
    Method,
    equal_values,
    holm,
    interval,
    mean_p_value,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

__all__ = ["Comparison", "RankingWarning", "compare"]


class RankingWarning(UserWarning):
    """A ranking was read that the intervals do not support."""


@dataclass(frozen=True)
class Pair:
    """Two labels under the same other labels.

    ``clear``: the difference is above chance among all pairs under these other labels.
    """

    others: tuple[Any, ...]
    one: Any
    other: Any
    mean_one: float
    mean_other: float
    difference: float
    low: float
    high: float
    seeds: int
    overlap: bool
    clear: bool
    note: str = ""


class Comparison:
    """Differences between the labels of an axis, replicate by replicate.

    Replicates share their random numbers, so a difference varies less than either of its sides:
    two intervals may overlap and the difference be clear all the same. Where the interval of the
    difference holds 0, the data do not say which is larger. Of several pairs of equal labels some
    interval leaves out 0 by chance: a pair is clear only if Holm's procedure over all pairs under
    the same other labels says so, by which the probability that any pair is clear by chance is at
    most 1 less the confidence.

    Parameters
    ----------
    between
        The axis.
    others
        Axes that are kept apart.
    pairs
        Every pair of labels, under all other labels.
    confidence
        Level of the intervals.
    metric
        What was compared, such as ``mean(flows.goodput_bps)``; text has its unit.
    """

    def __init__(
        self,
        between: str,
        others: Sequence[str],
        pairs: Sequence[Pair],
        confidence: float,
        metric: str = "",
    ) -> None:
        self.between = between
        self.others = tuple(others)
        self.pairs = tuple(pairs)
        self.confidence = confidence
        self.metric = metric

    @property
    def table(self) -> pa.Table:
        """A row per pair.

        Columns: the other axes; one, other; mean_one, mean_other; difference (one minus other)
        with ci_low, ci_high (null for fewer than two seeds, and where all seeds give one run);
        seeds; overlap (whether the two intervals overlap); clear (whether the difference is above
        chance among the pairs); note (runs left out, missing values, equal runs).
        """
        from ackclock._util.arrow import array, table

        pairs = self.pairs
        columns = {
            name: label_column([p.others[i] for p in pairs]) for i, name in enumerate(self.others)
        }
        columns["one"] = label_column([p.one for p in pairs])
        columns["other"] = label_column([p.other for p in pairs])
        real = {
            "mean_one": "mean_one",
            "mean_other": "mean_other",
            "difference": "difference",
            "ci_low": "low",
            "ci_high": "high",
        }
        for name, field in real.items():
            columns[name] = array(np.array([getattr(p, field) for p in pairs], dtype=float))
        columns["seeds"] = array(np.array([p.seeds for p in pairs], dtype=np.int64))
        columns["overlap"] = array(np.array([p.overlap for p in pairs], dtype=np.bool_))
        columns["clear"] = array(np.array([p.clear for p in pairs], dtype=np.bool_))
        columns["note"] = array([p.note for p in pairs])
        return table(columns)

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for each pair whose ranking the data do not support."""
        reported = []
        for pair in self.pairs:
            if pair.clear:
                continue
            conditions = [
                f"{n} = {label}" for n, label in zip(self.others, pair.others, strict=True)
            ]
            where = f" at {', '.join(conditions)}" if conditions else ""
            if pair.seeds < 2:
                why = "one seed gives no interval"
            elif pair.low > 0 or pair.high < 0:
                count = sum(other.others == pair.others for other in self.pairs)
                why = f"among {count} pairs such a difference comes by chance"
            elif pair.low == pair.high == pair.difference == 0:
                why = "they are equal"
            else:
                percent = f"{100 * self.confidence:g} %"
                low, high = self._number(pair.low), self._number(pair.high)
                why = f"the {percent} interval of their difference, {low} to {high}, holds 0"
            reported.append(f"{pair.one} and {pair.other} cannot be ranked{where}: {why}")
        return tuple(reported)

    def ranking(self, *others: Any) -> list[Any]:
        """Give the labels from the largest mean to the smallest.

        Warns with `RankingWarning` for each two neighbours that the data cannot rank.

        Parameters
        ----------
        *others
            Labels on the other axes, in their order; none if there are none.
        """
        pairs = [pair for pair in self.pairs if pair.others == others]
        means = {p.one: p.mean_one for p in pairs} | {p.other: p.mean_other for p in pairs}
        order = sorted(means, key=lambda label: -means[label])
        pair_of_labels = {frozenset((p.one, p.other)): p for p in pairs}
        for above, below in itertools.pairwise(order):
            pair = pair_of_labels[frozenset((above, below))]
            if not pair.clear:
                found_alone = Comparison(
                    self.between, self.others, [pair], self.confidence, self.metric
                )
                warnings.warn(found_alone.warnings[0], RankingWarning, stacklevel=2)
        return order

    def _number(self, value: float) -> str:
        return number_text.metric(self.metric, value)

    def __str__(self) -> str:
        head = [*self.others, "", "", "difference", "low", "high", "seeds", ""]
        rows = [
            [
                *map(str, p.others),
                str(p.one),
                f"- {p.other}",
                self._number(p.difference),
                self._number(p.low),
                self._number(p.high),
                str(p.seeds),
                "" if p.clear else "not clear",
            ]
            for p in self.pairs
        ]
        notes = dict.fromkeys(pair.note for pair in self.pairs if pair.note)
        blocks = [text_table(head, rows), *(f"note: {note}" for note in notes)]
        return "\n".join([*blocks, *(f"warning: {reported}" for reported in self.warnings)])


def compare(
    groups: Mapping[tuple[Any, ...], Cells],
    between: str,
    other_axes: Sequence[str],
    confidence: float,
    method: Method,
    *,
    is_random: bool,
    metric: str = "",
) -> Comparison:
    """Pair values by replicate.

    Parameters
    ----------
    groups
        Values by group (label on the axis, then other labels), point and replicate.
    between, others
        Names of the axes.
    confidence, method
        Of the intervals.
    is_random
        If not, values are exact and any difference is clear.
    metric
        What was compared.
    """
    by_rest: dict[tuple[Any, ...], dict[Any, Cells]] = {}
    for group, cells in groups.items():
        by_rest.setdefault(group[1:], {})[group[0]] = cells
    pairs = []
    for at_labels, labels in by_rest.items():
        tested_pairs = [
            _pair(at_labels, names, balance_pair(*cells), confidence, method, is_random=is_random)
            for names, cells in (
                ((left, right), (first, second))
                for (left, first), (right, second) in itertools.combinations(labels.items(), 2)
            )
        ]
        clear = holm([p_value for _, p_value in tested_pairs], 1 - confidence)
        pairs += [
            replace(pair, clear=above) for (pair, _), above in zip(tested_pairs, clear, strict=True)
        ]
    return Comparison(between, other_axes, pairs, confidence, metric)


def _pair(
    at_labels: tuple[Any, ...],
    names: tuple[Any, Any],
    groups: tuple[Group, Group],
    confidence: float,
    method: Method,
    *,
    is_random: bool,
) -> tuple[Pair, float]:
    """Two labels, not yet said to be clear, and the p-value of their difference."""
    first, second = groups[0].values, groups[1].values
    common = [r for r in first if not np.isnan(first[r]) and not np.isnan(second[r])]
    first_values, second_values = [first[r] for r in common], [second[r] for r in common]
    differences = [_minus(a, b) for a, b in zip(first_values, second_values, strict=True)]
    is_one_run = len(common) > 1 and all(group.is_one_run for group in groups)
    if is_one_run:
        first_values, second_values, differences = (
            first_values[:1],
            second_values[:1],
            differences[:1],
        )
    difference, low, high = interval(differences, confidence, method)
    a, b = interval(first_values, confidence, method), interval(second_values, confidence, method)
    if difference != 0 and (not is_random or is_one_run):
        p_value = 0.0
    elif method == "t":
        p_value = mean_p_value(differences)
    else:
        p_value = _bootstrap_p_value(differences)
    note = groups[0].note(confidence) if is_one_run or groups[0].unused else ""
    if len(common) < len(first):
        missing = f"{len(common)} of {len(first)} replicates have both values"
        note = "; ".join(filter(None, (note, missing)))
    pair = Pair(
        at_labels, *names, a[0], b[0], difference, low, high, len(common),
        overlap=bool(a[1] <= b[2] and b[1] <= a[2]), clear=False, note=note,
    )  # fmt: skip
    return pair, p_value


def _bootstrap_p_value(differences: Sequence[float]) -> float:
    """The level at which the bootstrap interval ends at 0, to a thousandth part of an octave."""
    if len(differences) < 2 or equal_values(differences):
        return mean_p_value(differences)
    low, high = 1e-4, 1.0
    while high > 1.001 * low:
        level = math.sqrt(low * high)
        _, least, most = interval(differences, 1 - level, "bootstrap")
        low, high = (low, level) if least > 0 or most < 0 else (level, high)
    return high


def _minus(a: float, b: float) -> float:
    """The difference; 0 where it is no more than the rounding of sums."""
    return 0.0 if math.isclose(a, b, rel_tol=1e-12) else a - b
