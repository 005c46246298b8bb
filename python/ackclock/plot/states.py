"""The figure of senders' states: which phase each was in, above its window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ackclock.plot.figures import _choose_names, _labels, _note, _series
from ackclock.plot.style import figure, line, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from ackclock.results.run import Run

__all__ = ["intervals", "states"]

_MOST_SHOWN = 4


def intervals(run: Run, name: str) -> list[tuple[float, float, str]]:
    """Intervals of a sender's states: begin [s], end [s], state. Needs the table ``states``.

    Parameters
    ----------
    run
        What to read.
    name
        The flow.
    """
    import pyarrow.compute as pc

    table = run.table("states")
    rows = table.filter(pc.equal(pc.cast(table["flow"], "string"), name))
    times = rows["time_s"].to_pylist()
    names = pc.cast(rows["state"], "string").to_pylist()
    ends = [*times[1:], float(run.summary["duration_s"])]
    return [
        interval for interval in zip(times, ends, names, strict=True) if interval[0] < interval[1]
    ]


def states(run: Run, *, flows: Sequence[int | str] | None = None) -> Figure:
    """Draw senders' states as bands behind their windows. Needs the table ``states``.

    The window is drawn where the table ``windows`` or ``flow_samples`` was recorded.

    Parameters
    ----------
    run
        What to draw.
    flows
        Which flows, by number or name; left out: the first four.
    """
    import matplotlib as mpl

    names = _choose_names(run, "flows", flows)
    every = len(names)
    names = names[:_MOST_SHOWN]
    labels = _labels(run)
    bands_of_flow = {name: intervals(run, name) for name in names}
    kinds = list(dict.fromkeys(state for bands in bands_of_flow.values() for *_, state in bands))
    palette = style()["colours"]
    colours = {state: palette[i % len(palette)] for i, state in enumerate(kinds)}
    chart = figure(run.summary, height=1.2 + 2.0 * len(names))
    with mpl.rc_context(style()["rc"]):
        rooms = chart.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    rows = run.tables.get("windows") or run.tables.get("flow_samples")
    for i, (name, axes) in enumerate(zip(names, rooms, strict=True)):
        axes.set_title(f"States of {labels[name]}", loc="left")
        for state in dict.fromkeys(state for *_, state in bands_of_flow[name]):
            bands = [
                (start, end - start) for start, end, kind in bands_of_flow[name] if kind == state
            ]
            axes.broken_barh(
                bands, (0, 1), transform=axes.get_xaxis_transform(), alpha=0.3, linewidth=0,
                color=colours[state], label=state,
            )  # fmt: skip
        if rows:
            for _, time, window in _series(rows, "flow", [name], ["time_s", "cwnd_segments"]):
                axes.plot(time, window, drawstyle="steps-post", **{**line(i), "color": "#222222"})
            axes.set_ylabel("cwnd [segments]")
            axes.set_ylim(bottom=0)
        else:
            axes.set_yticks([])
        ends = [end for _, end, _ in bands_of_flow[name]]
        axes.set_xlim(0, float(np.max(ends, initial=run.summary["duration_s"])))
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    rooms[-1].set_xlabel("time [s]")
    if len(names) < every:
        _note(rooms[0], f"{len(names)} of {every} flows")
    return chart
