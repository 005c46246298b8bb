"""The results of a sweep, read from a store without its file."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock._util.labels import label_text
from ackclock.errors import AckclockError, suggestion
from ackclock.experiments.design import Replicates
from ackclock.experiments.grid import Block, Choice, Point
from ackclock.experiments.plan import Slot
from ackclock.experiments.result import SweepResult

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ackclock.experiments.store import Store

__all__ = ["stored_result"]

_NUMBER = re.compile(r"\s*([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)")


@dataclass(frozen=True)
class _Case:
    """What a result reads of the case of its sweep."""

    name: str
    engine: str
    engine_version: str
    is_random: bool


@dataclass(frozen=True)
class _Stored:
    """A sweep as its stored runs describe it."""

    name: str
    case: Any
    grid: tuple[Block, ...]
    axes: tuple[str, ...]
    points: tuple[Point, ...]
    replicates: Replicates
    metrics: tuple[str, ...] = ()
    file: Path | None = None

    def case_at(self, point: Point, *, is_rough: bool = False) -> Any:
        """A stored sweep makes no cases."""
        message = f"{self.name}: a stored sweep cannot be run; run its file"
        raise AckclockError(message)


def stored_result(
    store: Store,
    sweep: str | None = None,
    filters: Sequence[str] = (),
    *,
    hidden: bool = False,
) -> SweepResult:
    """Read the runs of a sweep from a store.

    Labels of an axis are in the order of their numbers, or else of the alphabet; replicates are in
    the order of their seeds, which points share.

    Parameters
    ----------
    store
        The store.
    sweep
        Name of the sweep; left out: the only one.
    filters
        As of ``ackclock results list --where``.
    hidden
        Whether sweeps of commands such as ``evaluate`` are among them; a named one always is.

    Raises
    ------
    AckclockError
        No runs pass, or they are of several sweeps or several versions of the engine.
    """
    from ackclock.experiments.store import query

    rows = query.find(store, filters, hidden=hidden or sweep is not None)
    names = sorted({row["sweep"] for row in rows if row["sweep"]})
    if sweep is None:
        if len(names) != 1:
            trouble = (
                f"has several sweeps: {', '.join(names)}" if names else "has no runs of a sweep"
            )
            raise AckclockError(f"{store.folder} {trouble}{'; choose one' * bool(names)}")
        sweep = names[0]
    elif sweep not in names:
        message = f'{store.folder} has no sweep "{sweep}"; {suggestion(sweep, names)}'
        raise AckclockError(message)
    rows = [row for row in rows if row["sweep"] == sweep]
    versions = sorted({row["version"] for row in rows})
    if len(versions) > 1:
        message = f"{sweep} has runs of several versions; choose one by version={versions[-1]}"
        raise AckclockError(message)
    labels = [json.loads(row["labels"]) for row in rows]
    axes = tuple(dict.fromkeys(name for run_labels in labels for name in run_labels))
    if any(set(run_labels) != set(axes) for run_labels in labels):
        message = f"{sweep} has runs with other axes than {', '.join(axes)}; select by --where"
        raise AckclockError(message)
    labels_of_rows = [tuple(run_labels[name] for name in axes) for run_labels in labels]
    order = sorted(
        dict.fromkeys(labels_of_rows),
        key=lambda point_labels: [_rank(label) for label in point_labels],
    )
    index_of_point = {point_labels: i for i, point_labels in enumerate(order)}
    seeds = sorted({row["seed"] for row in rows})
    rank = {seed: i for i, seed in enumerate(seeds)}
    slots = sorted(
        {
            Slot(index_of_point[point_labels], rank[row["seed"]], row["seed"], row["key"])
            for point_labels, row in zip(labels_of_rows, rows, strict=True)
        },
        key=lambda slot: (slot.point, slot.replicate, slot.key),
    )
    blocks = tuple(
        Block((name,), tuple((Choice(label, {}),) for label in dict.fromkeys(p[i] for p in order)))
        for i, name in enumerate(axes)
    )
    points = tuple(
        Point(i, dict(zip(axes, point_labels, strict=True)), {})
        for i, point_labels in enumerate(order)
    )
    case = _Case(sweep, rows[0]["engine"], versions[0], is_random=True)
    design = _Stored(sweep, case, blocks, axes, points, Replicates(len(seeds)))
    return SweepResult(design, slots, store, requested=len(slots), stored=len(slots))


def _rank(label: Any) -> tuple[int, float, str]:
    """Numbers before text, quantities by their number."""
    if isinstance(label, int | float) and not isinstance(label, bool):
        return 0, float(label), ""
    text = label_text(label)
    found = _NUMBER.match(text)
    return (1, float(found[1]), text) if found else (2, 0.0, text)
