"""How long transfers took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock.errors import UnsupportedError
from ackclock.plot.figures import _axes, _choose_names, _note
from ackclock.plot.style import figure, line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from ackclock.results.run import Run

__all__ = ["completions", "slowdown"]

NONE_ENDED = "no transfer of this run ended; a flow with a size does"


def completions(run: Run, *, flows: Sequence[int | str] | None = None) -> Figure:
    """Time that each transfer took, over its start. Needs no table.

    Parameters
    ----------
    run
        What to draw.
    flows
        Which flows, by number or name; left out: all that ended.

    Raises
    ------
    UnsupportedError
        No transfer ended.
    """
    transfers = _choose_flows(run, flows)
    ended = [flow for flow in transfers if flow["completed_after_s"] is not None]
    if not ended:
        raise UnsupportedError(NONE_ENDED)
    chart = figure(run.summary)
    axes = _axes(chart, "Transfers", "start [s]", "time until it was complete [s]")
    axes.plot(
        [flow["start_s"] for flow in ended],
        [flow["completed_after_s"] for flow in ended],
        marker=".",
        label="transfers",
        **(line(0) | {"linewidth": 0.6}),
    )
    axes.set_ylim(bottom=0)
    under_way = len(transfers) - len(ended)
    if under_way:
        _note(axes, f"{under_way} of {len(transfers)} had not ended, or have no end")
    return chart


def slowdown(run: Run, *, flows: Sequence[int | str] | None = None) -> Figure:
    """Percentiles of the slowdown of transfers over their size. Needs no table.

    The slowdown is the time that a transfer took over the least that it takes alone on its path.
    Groups of equally many transfers, ten at most, are drawn at the largest size of each.

    Parameters
    ----------
    run
        What to draw.
    flows
        Which flows, by number or name; left out: all that ended, and of a run with others none of
        a job, whose transfers are mostly of one size.

    Raises
    ------
    UnsupportedError
        No transfer ended.
    """
    from ackclock.analysis.slowdown import PERCENTILES, slowdown_by_size
    from ackclock.plot.log_axis import make_logarithmic

    transfers = _choose_flows(run, flows)
    if flows is None:
        transfers = [flow for flow in transfers if not flow.get("job")] or transfers
    rows = slowdown_by_size(transfers)
    if not rows:
        raise UnsupportedError(NONE_ENDED)
    chart = figure(run.summary)
    axes = _axes(chart, "Slowdown of transfers", "size [B]", "time / time alone")
    for index, rank in enumerate(PERCENTILES):
        values = [row[f"p{rank}"] for row in rows]
        sizes = [row["bytes_to"] for row in rows]
        axes.plot(sizes, values, marker=".", label=f"{rank} %", **line(index))
    make_logarithmic(axes, "x")
    make_logarithmic(axes, "y")
    axes.legend(title="percentile")
    return chart


def _choose_flows(run: Run, flows: Sequence[int | str] | None) -> list[dict[str, Any]]:
    names = {*_choose_names(run, "flows", flows)}
    return [flow for flow in run.summary["flows"] if flow["id"] in names]
