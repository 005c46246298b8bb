"""The time-sequence figure: which segment was sent when, and when it was acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.errors import UnsupportedError
from ackclock.plot.figures import _axes, _choose_names, _labels, _legend, _note
from ackclock.plot.style import figure, line, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from ackclock.results.run import Run

__all__ = ["sequence"]

_MOST_SHOWN = 3
_SYN, _DATAGRAM = 2, 512


def sequence(run: Run, *, flows: Sequence[int | str] | None = None) -> Figure:
    """Segments over time: sent, sent again, dropped, acknowledged. Needs the table ``packets``.

    Packets are seen at the sender: data as it enters the flow's first link, an acknowledgement as
    it leaves for the last link of its way. Drops are where they happen, on any recorded link. Where
    dots of a whole run would be a solid bar, the figure begins shortly before the first segment
    that is sent again; `Shape` shows another window.

    Parameters
    ----------
    run
        What to draw.
    flows
        Which flows, by number or name; left out: the first.
    """
    names = _choose_names(run, "flows", flows)
    every = len(names)
    names = names[:1] if flows is None else names[:_MOST_SHOWN]
    chart = figure(run.summary)
    axes = _axes(chart, "Time sequence", "time [s]", "segment")
    labels = _labels(run)
    for i, name in enumerate(names):
        events = _collect_events(run, name)
        if not len(events["sent"]):
            raise UnsupportedError(_explain_absence(run, name))
        colour = line(i)["color"]
        first, again = _split(events["sent"])
        title = labels[name]
        axes.plot(*first.T, ".", markersize=2.5, color=colour, label=f"{title}: sent")
        for points, mark, event_text, shade in (
            (again, "s", "sent again", style()["colours"][4]),
            (events["dropped"], "x", "dropped", style()["colours"][1]),
        ):
            if len(points):
                axes.plot(
                    *points.T, mark, markersize=4, color=shade, label=f"{title}: {event_text}"
                )
        if len(events["acknowledged"]):
            axes.plot(
                *events["acknowledged"].T, drawstyle="steps-post", linewidth=0.9, color="#666666",
                label=f"{title}: acknowledged",
            )  # fmt: skip
    note = f"{len(names)} of {every} flows" if len(names) < every else ""
    window = (
        _window(run, names[0], _collect_events(run, names[0]))
        if flows is None or len(names) == 1
        else None
    )
    if window is None:
        axes.set_ylim(bottom=0)
    else:
        since, until, lowest, highest = window
        axes.set_xlim(since, until)
        axes.set_ylim(lowest, highest)
        note = "; ".join(
            clause for clause in (note, f"from {since:.3g} s to {until:.3g} s") if clause
        )
    if note:
        _note(axes, note)
    _legend(axes)
    return chart


_WINDOW_RTTS = (2, 10)
"""Round trips before and after the first segment that is sent again."""


def _window(
    run: Run, name: str, events: dict[str, np.ndarray[Any, Any]]
) -> tuple[float, float, float, float] | None:
    """Ends of time and of segment numbers around the first retransmission; None for a short run."""
    flow = next(flow for flow in run.summary["flows"] if str(flow["id"]) == name)
    round_trip = flow["srtt_mean_s"] or 0.0
    before, after = _WINDOW_RTTS
    sent = events["sent"]
    if not round_trip or np.ptp(sent[:, 0]) < 3 * (before + after) * round_trip:
        return None
    again = _split(sent)[1]
    middle = again[:, 0].min() if len(again) else sent[0, 0] + before * round_trip
    first, until = max(0.0, middle - before * round_trip), middle + after * round_trip
    segments = sent[(sent[:, 0] >= first) & (sent[:, 0] <= until), 1]
    margin = 0.05 * max(1.0, np.ptp(segments))
    return first, until, max(0.0, segments.min() - margin), segments.max() + margin


def _collect_events(run: Run, name: str) -> dict[str, np.ndarray[Any, Any]]:
    """Times and segments of a flow's packets at its sender, by what happened."""
    import pyarrow.compute as pc

    flow = next(flow for flow in run.summary["flows"] if str(flow["id"]) == name)
    ends = {str(link["id"]): (str(link["src"]), str(link["dst"])) for link in run.summary["links"]}
    table = run.table("packets")
    rows = table.filter(pc.equal(pc.cast(table["flow"], "string"), name)).to_pylist()
    points_of_event: dict[str, list[tuple[float, int]]] = {
        "sent": [],
        "dropped": [],
        "acknowledged": [],
    }
    for row in rows:
        source, target = ends[str(row["link"])]
        if row.get("flags", 0) & (_SYN | _DATAGRAM):
            continue
        point = row["time_s"], row["seq"]
        if row["is_ack"]:
            if row["event"] == "departure" and target == str(flow["src"]):
                points_of_event["acknowledged"].append(point)
        elif row["event"] == "drop":
            points_of_event["dropped"].append(point)
        elif row["event"] == "arrival" and source == str(flow["src"]):
            points_of_event["sent"].append(point)
    return {
        event: np.array(sorted(points)).reshape(-1, 2) for event, points in points_of_event.items()
    }


def _explain_absence(run: Run, name: str) -> str:
    """Say why a flow has no segments."""
    rows = run.table("packets").to_pylist()
    if any(str(row["flow"]) == name and row.get("flags", 0) & _DATAGRAM for row in rows):
        return f'flow "{name}" sends datagrams, which have no acknowledgements; choose a connection'
    return f'the table "packets" does not have the first link of flow "{name}"'


def _split(sent: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Transmissions that are the first of their segment, and the others."""
    first = np.zeros(len(sent), dtype=bool)
    first[np.unique(sent[:, 1], return_index=True)[1]] = True
    return sent[first], sent[~first]
