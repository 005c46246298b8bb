"""What a sweep gives: tidy tables with one column per axis, summaries, comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.html_table import show_tables
from ackclock._util.labels import label_column, label_text, own_name
from ackclock.errors import AckclockError, suggestion
from ackclock.experiments import metrics
from ackclock.experiments.groups import Cells, RunMetric, balance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa
    import xarray as xr
    from matplotlib.figure import Figure

    from ackclock._util.table_type import Table
    from ackclock.experiments.comparison import Comparison
    from ackclock.experiments.design import Design
    from ackclock.experiments.grid import Label
    from ackclock.experiments.metrics import Reader
    from ackclock.experiments.plan import Slot
    from ackclock.experiments.statistics import Method
    from ackclock.experiments.store.keeper import Keeper

__all__ = ["SweepResult"]

USUAL = (
    "mean(flows.goodput_bps)",
    "jain(flows.goodput_bps)",
    "max(links.utilisation)",
    "max(links.delay_mean_s)",
)
"""Metrics that a report shows if the sweep names none and its runs have them."""

Groups = dict[tuple[Any, ...], Cells]
"""Values by group, point within the group, and replicate."""


class SweepResult:
    """Results of a sweep. Printing it shows the sweep's metrics.

    Parameters
    ----------
    sweep
        What was run.
    slots
        Places whose runs are done, in order of point and replicate.
    keeper
        Has the runs.
    requested
        Runs wanted in all.
    stored
        Runs that were there before.
    seconds
        Time that the sweep took [s].
    interrupted
        Whether it was stopped before its end.
    """

    def __init__(
        self,
        sweep: Design,
        slots: Sequence[Slot],
        keeper: Keeper,
        *,
        requested: int,
        stored: int = 0,
        seconds: float = 0.0,
        interrupted: bool = False,
    ) -> None:
        self.sweep = sweep
        self.slots = tuple(slots)
        self.keeper = keeper
        self.requested = requested
        self.stored = stored
        self.seconds = seconds
        self.interrupted = interrupted
        self.tables: Mapping[str, Table] = _Tidy(sweep, self.slots, keeper)
        self._summaries: dict[str, dict[str, Any]] | None = None
        self._digests: dict[str, str] | None = None
        show_tables()

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes."""
        return self.sweep.axes

    @property
    def keys(self) -> list[str]:
        """Keys of the runs, each once."""
        return _keys(self.slots)

    @property
    def summaries(self) -> dict[str, dict[str, Any]]:
        """Summaries of the runs by key."""
        if self._summaries is None:
            from ackclock.results.summary import QUEUES, lacks, whole

            stored_summaries = self.keeper.summaries(self.keys)
            table_names = {
                table_name for summary in stored_summaries.values() for table_name in lacks(summary)
            }
            rows = {table_name: self._rows(table_name) for table_name in (*table_names, QUEUES)}
            self._summaries = {
                key: whole(
                    summary,
                    {
                        table_name: rows_by_key.get(key, [])
                        for table_name, rows_by_key in rows.items()
                    }.__getitem__,
                )
                for key, summary in stored_summaries.items()
            }
        return self._summaries

    @property
    def digests(self) -> dict[str, str]:
        """What distinguishes runs, by key: equal runs have equal digests, whatever their seeds.

        Where an engine computes no digest it is the key, which has the seed.
        """
        if self._digests is None:
            kept = self.keeper.summaries(self.keys)
            self._digests = {key: str(one.get("digest") or key) for key, one in kept.items()}
        return self._digests

    @property
    def warnings(self) -> list[str]:
        """What the means may mislead about: warm-ups of runs that are measured from 0 s."""
        from ackclock.results.warm_up import describe_warm_ups

        return describe_warm_ups(self.keeper.summaries(self.keys).values())

    def _rows(self, name: str) -> dict[str, list[dict[str, Any]]]:
        """Rows of a table by the key of the run."""
        from ackclock._util.arrow import rows
        from ackclock.experiments.store.keeper import KEY

        rows_by_key: dict[str, list[dict[str, Any]]] = {}
        table = self.keeper.table(name, self.keys)
        if table is not None:
            table = _respell(self.sweep, self.slots, table)
        for row in rows(table) if table is not None else ():
            rows_by_key.setdefault(row.pop(KEY), []).append(row)
        return rows_by_key

    def labels(self, axis: str) -> list[Label]:
        """Give the label of each slot on an axis.

        Parameters
        ----------
        axis
            Its name.
        """
        return _labels(self.sweep, self.slots, axis)

    def per_run(self, metric: str | Reader) -> npt.NDArray[np.float64]:
        """Read a metric of every run.

        Parameters
        ----------
        metric
            As of `summary`; one number per run.

        Returns
        -------
        numpy.ndarray
            In the order of `slots`; NaN where not known.

        Raises
        ------
        MetricError
            The runs have no such metric.
        """
        if callable(metric):
            return np.array([metric(tables) for tables in self._each_run()], dtype=float)
        parsed = metrics.parse(metric)
        if parsed.table not in self.tables:
            stored_summaries = self.keeper.summaries(self.keys)
            values = {
                key: metrics.of_summary(summary, parsed)
                for key, summary in stored_summaries.items()
            }
            return np.array([values[slot.key] for slot in self.slots], dtype=float)
        groups = self._group_values(parsed, ())
        return np.array([groups.get((number,), np.nan) for number in range(len(self.slots))])

    def _each_run(self) -> Iterator[Mapping[str, Any]]:
        cuts = {name: _starts(self, name) for name in self.tables}
        for number, slot in enumerate(self.slots):
            tables: dict[str, Any] = {"summary": self.summaries[slot.key]}
            for name, starts in cuts.items():
                begin, end = int(starts[number]), int(starts[number + 1])
                tables[name] = self.tables[name].slice(begin, end - begin)
            yield tables

    def _group_values(
        self, metric: metrics.Metric, own_columns: Sequence[str]
    ) -> dict[tuple[Any, ...], float]:
        """Value by number of the slot and values of columns of the table."""
        from ackclock._util.arrow import array

        table = self.tables[metric.table]
        number = array(np.repeat(np.arange(len(self.slots)), _lengths(self, metric.table)))
        table = table.append_column("__slot", number)
        rows = metrics.select_rows(table, _rename_columns(metric, table))
        values = metrics.numbers(rows, _rename_columns(metric, table))
        columns = [rows["__slot"].to_pylist(), *(rows[name].to_pylist() for name in own_columns)]
        rows_of_group: dict[tuple[Any, ...], list[int]] = {}
        if not own_columns:
            rows_of_group = {(n,): [] for n in range(len(self.slots))}
        for row_number, group in enumerate(zip(*columns, strict=True)):
            rows_of_group.setdefault(group, []).append(row_number)
        return {
            group: metric.reduce(values[np.array(row_numbers, dtype=int)], "in a run")
            for group, row_numbers in rows_of_group.items()
        }

    def _groups(self, metric: str | Reader, by: Sequence[str]) -> Groups:
        """Values by group, by what else the grid varies, and by replicate."""
        axes = [name for name in by if name in self.axes]
        own_columns = [name for name in by if name not in self.axes]
        labels = [self.labels(name) for name in axes]
        other_labels = [self.labels(name) for name in self.axes if name not in axes]
        values_by_group: dict[tuple[Any, ...], dict[Any, dict[int, list[tuple[float, str]]]]] = {}
        digests = self.digests

        def put(number: int, group: tuple[Any, ...], value: float) -> None:
            by_name = dict(zip(own_columns, group, strict=True))
            by_name |= {name: label[number] for name, label in zip(axes, labels, strict=True)}
            whole = tuple(by_name[name] for name in by)
            point = tuple(label_text(label[number]) for label in other_labels)
            slot = self.slots[number]
            of_point = values_by_group.setdefault(whole, {}).setdefault(point, {})
            of_point.setdefault(slot.replicate, []).append((value, digests[slot.key]))

        if own_columns:
            if callable(metric):
                message = f'by "{own_columns[0]}": a function of runs can be grouped by axes only'
                raise metrics.MetricError(message)
            parsed = metrics.parse(metric)
            names = self.tables[parsed.table].column_names if parsed.table in self.tables else []
            for name in own_columns:
                if name not in names or name in ("replicate", "seed"):
                    column_names = [*self.axes, *names]
                    raise metrics.MetricError(f'by "{name}": {suggestion(name, column_names)}')
            for (number, *group), value in self._group_values(parsed, own_columns).items():
                put(number, tuple(group), value)
        else:
            for number, value in enumerate(self.per_run(metric)):
                put(number, (), float(value))
        return {
            group: {
                point: {
                    replicate: RunMetric(
                        float(np.mean([value for value, _ in entries])),
                        " ".join(digest for _, digest in entries),
                    )
                    for replicate, entries in sorted(replicates.items())
                }
                for point, replicates in points.items()
            }
            for group, points in values_by_group.items()
        }

    def summary(
        self,
        metric: str | Reader,
        by: Sequence[str] | None = None,
        *,
        confidence: float = 0.95,
        method: Method = "t",
    ) -> Table:
        """Mean and confidence interval of a metric over replicates.

        Within a run the metric's function joins rows; axes that are not in ``by`` are averaged
        within a replicate, so that replicates are the independent observations. Only replicates
        that every point of a group has count: points that were repeated more often, as under
        sequential stopping or after Ctrl-C, would weigh more.

        Parameters
        ----------
        metric
            As in ``mean(flows.goodput_bps)``, ``links[r0->r1].utilisation``, ``totals.events``;
            or a function of a run's tables.
        by
            Axes, and columns of the metric's table, that groups differ in; left out: all axes.
        confidence
            Level of the interval, in (0, 1).
        method
            ``t`` (Student) or ``bootstrap`` (BCa).

        Returns
        -------
        pyarrow.Table
            Columns of ``by``, then mean, ci_low, ci_high (null for fewer than two values, and where
            all seeds give one and the same run), min, max, seeds (replicates with a value), runs
            (replicates that differ in more than their seed), and note, what a reader must know
            besides: runs left out, missing values, equal runs, a precision that was not reached.

        Raises
        ------
        MetricError
            The runs have no such metric, or several values where one is needed.
        """
        names = list(self.axes if by is None else [by] if isinstance(by, str) else by)
        groups = {
            key: (balance(cells), cells) for key, cells in self._groups(metric, names).items()
        }
        rows, notes = [], []
        for group, cells in groups.values():
            present = group.measured or [np.nan]
            mean, *ends = group.interval(confidence, method)
            low, high = metrics.within_range(metric, *ends)
            rows.append(
                (mean, low, high, min(present), max(present), len(group.measured), group.runs)
            )
            notes.append(
                "; ".join(
                    filter(None, (group.note(confidence, method), self._short(metric, cells)))
                )
            )
        label_columns = {
            name: label_column([group[i] for group in groups]) for i, name in enumerate(names)
        }
        return _with_numbers(label_columns, rows, notes)

    def _short(self, metric: str | Reader, cells: Cells) -> str:
        """Which points of a group ended before their precision was reached, in words."""
        until = getattr(getattr(self.sweep, "replicates", None), "until", None)
        if until is None or metric != until.metric:
            return ""
        short = [
            point
            for point, of in cells.items()
            if not until.is_reached([value.value for value in of.values()])
        ]
        if not short:
            return ""
        which = "" if len(cells) == 1 else f" at {len(short)} of {len(cells)} points"
        return f"the precision of {100 * until.half_width:g} % was not reached{which}"

    def places(self) -> Table:
        """Give axes, seed and replicate of every run; reads no table and no summary."""
        from ackclock._util.arrow import table

        return table(_places(self.sweep, self.slots, np.arange(len(self.slots))))

    def values(self, metric: str | Reader) -> Table:
        """Give a metric of every run: axes, seed, replicate, value.

        Parameters
        ----------
        metric
            As of `summary`; one number per run.
        """
        from ackclock._util.arrow import array, table

        return table(
            {
                **_places(self.sweep, self.slots, np.arange(len(self.slots))),
                "value": array(self.per_run(metric)),
            }
        )

    def compare(
        self,
        metric: str | Reader,
        between: str,
        by: Sequence[str] | None = None,
        *,
        confidence: float = 0.95,
        method: Method = "t",
    ) -> Comparison:
        """Paired differences between the labels of an axis, under common random numbers.

        Parameters
        ----------
        metric
            As of `summary`.
        between
            The axis.
        by
            Other axes that are kept apart; left out: all others.
        confidence
            Level of the intervals, in (0, 1).
        method
            ``t`` or ``bootstrap``.

        Returns
        -------
        Comparison
            Its ``table`` has a row per pair, its ``warnings`` say which rankings the data do not
            support.

        Raises
        ------
        AckclockError
            There is no such axis.
        """
        from ackclock.experiments.comparison import compare

        if between not in self.axes:
            message = f'there is no axis "{between}"; {suggestion(between, self.axes)}'
            raise AckclockError(message)
        other_axes = [name for name in self.axes if name != between] if by is None else list(by)
        groups = self._groups(metric, [between, *other_axes])
        is_random = self.sweep.case.is_random
        return compare(
            groups,
            between,
            other_axes,
            confidence,
            method,
            is_random=is_random,
            metric=metric if isinstance(metric, str) else "",
        )

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics that a report shows: those of the sweep, or the usual ones that the runs have."""
        if self.sweep.metrics or not self.slots:
            return self.sweep.metrics
        parsed = {metric: metrics.parse(metric) for metric in USUAL}
        return tuple(
            metric
            for metric, one in parsed.items()
            if one.table in self.tables and one.column in self.tables[one.table].column_names
        )

    @property
    def recipe(self) -> dict[str, str]:
        """What figures name of the runs: sweep with a hash of their keys, seeds, version."""
        import hashlib

        digest = hashlib.sha256("".join(sorted(self.keys)).encode()).hexdigest()
        seeds = sorted({slot.seed for slot in self.slots})
        is_range = len(seeds) > 2 and seeds == list(range(seeds[0], seeds[-1] + 1))
        return {
            "scenario": f"{self.sweep.name.replace(' ', '-')} {digest}",
            "seeds": f"{seeds[0]} to {seeds[-1]}" if is_range else " ".join(map(str, seeds)),
            "version": self.sweep.case.engine_version,
        }

    def plot(self, kind: str = "lines", **options: Any) -> Figure:
        """Draw a figure of the results.

        Parameters
        ----------
        kind
            ``lines`` (means with bands along an axis), ``heatmap`` (over two axes), ``ranked``
            (differences to the best), ``ecdf`` (distribution over runs) or ``pareto`` (throughput
            against delay).
        **options
            Of the function of that name in `ackclock.plot`: ``metric``; ``x`` and ``by``, axes;
            ``between`` (ranked); ``delay`` and ``throughput``, metrics (pareto).

        Raises
        ------
        UnsupportedError
            There is no such figure, axis or option.
        """
        from ackclock.plot import draw_sweep

        return draw_sweep(kind, self, **options)

    def to_dict(self) -> dict[str, Any]:
        """Give counts and summaries as plain data, for JSON."""
        case = self.sweep.case
        return {
            "name": self.sweep.name,
            "engine": case.engine,
            "version": case.engine_version,
            "axes": list(self.axes),
            "points": len(self.sweep.points),
            "runs": len(self.slots),
            "wanted": self.requested,
            "stored": self.stored,
            "interrupted": self.interrupted,
            "seconds": self.seconds,
            "summary": {metric: self.summary(metric).to_pylist() for metric in self.metrics},
            "warnings": self.warnings,
        }

    def to_pandas(self, metrics: Sequence[str] | None = None) -> pd.DataFrame:
        """Give metrics of every run as a pandas data frame: a row per run.

        Parameters
        ----------
        metrics
            As of `summary`; left out: those of the sweep.

        Returns
        -------
        pandas.DataFrame
            Columns: axes, ``seed``, ``replicate``, and each metric by its text.

        Raises
        ------
        AckclockError
            pandas is not installed.
        """
        from ackclock.experiments.frames import data_frame

        return data_frame(self._columns(metrics))

    def to_xarray(self, metrics: Sequence[str] | None = None) -> xr.Dataset:
        """Give metrics of every run as an xarray data set: a dimension per axis.

        Parameters
        ----------
        metrics
            As of `summary`; left out: those of the sweep.

        Returns
        -------
        xarray.Dataset
            Dimensions: axes, with their labels in the order of the sweep, and ``replicate``.
            Variables: ``seed``, and each metric by its text; NaN where there is no run.

        Raises
        ------
        AckclockError
            xarray is not installed.
        """
        from ackclock.experiments.frames import data_set

        return data_set(self._columns(metrics), [*self.axes, "replicate"])

    def _columns(self, metrics: Sequence[str] | None) -> dict[str, Any]:
        wanted = self.metrics if metrics is None else metrics
        return {
            **{axis: self.labels(axis) for axis in self.axes},
            "seed": [slot.seed for slot in self.slots],
            "replicate": [slot.replicate for slot in self.slots],
            **{metric: self.per_run(metric) for metric in wanted},
        }

    def _repr_html_(self) -> str:
        from ackclock._util.html_table import fragment, html_table, of_table

        parts = []
        for metric in self.metrics:
            parts += [html_table([metric], []), of_table(self.summary(metric))]
        if warnings := self.warnings:
            parts.append(html_table(["warnings"], [[line] for line in warnings]))
        return fragment(repr(self), *parts)

    def __repr__(self) -> str:
        return f"SweepResult({self.sweep!r}, {len(self.slots)} of {self.requested} runs)"

    def __str__(self) -> str:
        from ackclock.experiments.summary import text

        count = f"{len(self.slots):,} runs"
        if self.interrupted or len(self.slots) < self.requested:
            count = f"{len(self.slots):,} of {self.requested:,} runs"
        stored = f", {self.stored:,} of them stored before" if self.stored else ""
        summary_of_metric = {metric: self.summary(metric) for metric in self.metrics}
        written = text(f"{self.sweep.name}: {count}{stored}", self.axes, summary_of_metric)
        warnings = "\n".join(f"warning: {warning}" for warning in self.warnings)
        return f"{written}\n\n{warnings}" if warnings else written


def _rename_columns(metric: metrics.Metric, table: pa.Table) -> metrics.Metric:
    """The metric with its columns as they are called beside the axes."""
    import dataclasses

    def name(column: str) -> str:
        other = own_name(metric.table, column)
        return other if other in table.column_names else column

    where = tuple((name(key), value) for key, value in metric.where)
    return dataclasses.replace(metric, column=name(metric.column), where=where)


class _Tidy(Mapping[str, "Table"]):
    """Tables of a result, made on first use."""

    def __init__(self, sweep: Design, slots: Sequence[Slot], keeper: Keeper) -> None:
        # Not the result itself: a circle of references would hold its temporary files for longer.
        self._sweep = sweep
        self._slots = slots
        self._keeper = keeper
        self._names: list[str] | None = None
        self._tables: dict[str, tuple[pa.Table, npt.NDArray[np.int64]]] = {}

    def __iter__(self) -> Iterator[str]:
        if self._names is None:
            self._names = self._keeper.table_names(_keys(self._slots))
        return iter(self._names)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name in list(self)

    def __getitem__(self, name: str) -> pa.Table:
        return self.build(name)[0]

    def build(self, name: str) -> tuple[pa.Table, npt.NDArray[np.int64]]:
        if name not in self:
            raise KeyError(name)
        if name not in self._tables:
            raw = self._keeper.table(name, _keys(self._slots))
            assert raw is not None
            raw = _respell(self._sweep, self._slots, raw)
            self._tables[name] = _tidy(self._sweep, self._slots, name, raw)
        return self._tables[name]


def _lengths(result: SweepResult, name: str) -> npt.NDArray[np.int64]:
    tables = result.tables
    assert isinstance(tables, _Tidy)
    return tables.build(name)[1]


def _starts(result: SweepResult, name: str) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(_lengths(result, name))]).astype(np.int64)


def _keys(slots: Sequence[Slot]) -> list[str]:
    """Keys of the runs, each once."""
    return list(dict.fromkeys(slot.key for slot in slots))


def _labels(sweep: Design, slots: Sequence[Slot], axis: str) -> list[Label]:
    """The label of each slot on an axis."""
    points = sweep.points
    return [points[slot.point].labels[axis] for slot in slots]


def _tidy(
    sweep: Design, slots: Sequence[Slot], name: str, raw: pa.Table
) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """Order rows by slot, with axes, seed and replicate before them; and the rows of each slot.

    A run that belongs to several slots, because their cases are equal, is repeated.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from ackclock._util.arrow import array, numbers, table
    from ackclock.experiments.store.keeper import KEY

    keys = _keys(slots)
    text = pc.cast(raw[KEY], pa.string())
    run = numbers(pc.index_in(text, array(keys))).astype(np.int64)
    order = np.argsort(run, kind="stable")
    counts = np.bincount(run, minlength=len(keys)).astype(np.int64)
    begins = np.concatenate([[0], np.cumsum(counts)])[:-1]
    index_of_key = {key: i for i, key in enumerate(keys)}
    runs = np.array([index_of_key[slot.key] for slot in slots], dtype=np.int64)
    lengths = counts[runs]
    ends = np.cumsum(lengths)
    within = np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths)
    rows = order[np.repeat(begins[runs], lengths) + within]
    taken = raw.take(array(rows))
    columns = _places(sweep, slots, np.repeat(np.arange(len(runs)), lengths))
    for title in raw.column_names:
        if title != KEY:
            free = title not in columns
            columns[title if free else own_name(name, title)] = taken[title]
    return table(columns), lengths


def _respell(sweep: Design, slots: Sequence[Slot], raw: pa.Table) -> pa.Table:
    """Write names of algorithms as the cases of the sweep do, not as the first that ran.

    A sweep that was read from a store has no documents: its names stay as they are stored.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from ackclock.catalogue.spellings import (
        COLUMNS,
        has_other_name,
        respell,
        writes_other_name,
        written_names,
    )
    from ackclock.experiments.store.keeper import KEY

    if not hasattr(sweep.case, "to_document"):
        return raw
    rooms = [room for room in COLUMNS if room in raw.column_names]
    stored = [(room, str(name)) for room in rooms for name in pc.unique(raw[room]).to_pylist()]
    changes = [point.changes for point in sweep.points]
    if not stored or not (has_other_name(stored) or writes_other_name(sweep.case, changes)):
        return raw
    # Replicates of a point share its document.
    names_at = {
        number: written_names(sweep.case_at(sweep.points[number]).to_document())
        for number in {slot.point for slot in slots}
    }
    written = {slot.key: names_at[slot.point] for slot in slots}
    keys = raw[KEY].to_pylist()
    for room in rooms:
        names = [
            name if name is None else respell(room, name, written[key])
            for key, name in zip(keys, raw[room].to_pylist(), strict=True)
        ]
        number = raw.column_names.index(room)
        column = pa.array(names, pa.string()).cast(raw.schema.field(room).type)
        raw = raw.set_column(number, room, column)
    return raw


def _places(sweep: Design, slots: Sequence[Slot], numbers: npt.NDArray[np.int64]) -> dict[str, Any]:
    """Columns of axes, seed and replicate for rows of the slots with these numbers."""
    from ackclock._util.arrow import array

    rows = array(numbers)
    columns = {name: label_column(_labels(sweep, slots, name)).take(rows) for name in sweep.axes}
    seeds = np.array([slot.seed for slot in slots], dtype=np.uint64)
    replicates = np.array([slot.replicate for slot in slots], dtype=np.int64)
    return {**columns, "seed": array(seeds[numbers]), "replicate": array(replicates[numbers])}


def _with_numbers(
    columns: dict[str, Any], rows: Sequence[tuple[Any, ...]], notes: Sequence[str]
) -> Table:
    from ackclock._util.arrow import array, table

    for i, name in enumerate(("mean", "ci_low", "ci_high", "min", "max")):
        columns[name] = array(np.array([row[i] for row in rows], dtype=float))
    for i, name in enumerate(("seeds", "runs"), start=5):
        columns[name] = array(np.array([row[i] for row in rows], dtype=np.int64))
    columns["note"] = array(list(notes))
    return table(columns)
