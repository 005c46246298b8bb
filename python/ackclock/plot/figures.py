"""The figures. Each says in its docstring which table it needs."""

from __future__ import annotations

from collections import Counter
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.arrow import numbers
from ackclock._util.number_text import engineering, number
from ackclock.analysis import jain
from ackclock.errors import AckclockError, UnsupportedError, suggestion
from ackclock.plot.capacity import mean_capacity, schedules
from ackclock.plot.line_names import name_lines
from ackclock.plot.style import figure, line, style
from ackclock.results.packet_case import without_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ackclock.results.run import Run

    Values = npt.NDArray[np.float64]

__all__ = ["cwnd", "delay", "fairness", "network_map", "queue", "throughput"]

_NOTE_WIDTH = 110
"""Characters of a line of a note."""

_MOST_NAMED = 12
"""Beyond this many curves a legend hides more than it shows."""

_CAPACITY_DASHES = (":", "--", "-.", (0, (1, 4)))
"""Lines of links whose rate changes; further ones are not drawn."""

_MOST_INTERVALS = 120
"""Goodput over time is drawn as at most so many means."""


def _choose_names(run: Run, kind: str, selected: Sequence[int | str] | None) -> list[str]:
    names = [str(item["id"]) for item in run.summary[kind]]
    if selected is None:
        return names
    result = []
    for item in selected:
        if isinstance(item, int):
            if not 0 <= item < len(names):
                message = f"there is no entry {item} among the {len(names)} {kind}"
                raise UnsupportedError(message)
            result.append(names[item])
        elif item in names:
            result.append(item)
        else:
            message = f'there is no "{item}" among the {kind}; {suggestion(item, names[:20])}'
            raise UnsupportedError(message)
    return result


def _series(rows: pa.Table, key: str, names: list[str], columns: list[str]) -> Iterator[Any]:
    """For each name its columns as arrays, in the order of time."""
    column = rows.column(key).combine_chunks()
    indices = numbers(column.indices)
    code_of_name = {str(name): i for i, name in enumerate(column.dictionary.to_pylist())}
    order = np.argsort(indices, kind="stable")
    bounds = np.searchsorted(indices[order], np.arange(len(code_of_name) + 1))
    data = [numbers(rows.column(c)).astype(float)[order] for c in columns]
    for name in names:
        if name in code_of_name:
            own_rows = slice(bounds[code_of_name[name]], bounds[code_of_name[name] + 1])
            yield (name, *[values[own_rows] for values in data])


def _axes(made: Figure, title: str, x: str, y: str) -> Axes:
    import matplotlib as mpl

    with mpl.rc_context(style()["rc"]):
        axes = made.add_subplot()
    axes.set_title(title, loc="left")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return axes


def _note(axes: Axes, text: str) -> None:
    """What a figure leaves out or takes for granted, small below its title."""
    lines = wrap(text, _NOTE_WIDTH)
    axes.set_title(axes.get_title(loc="left"), loc="left", pad=19 + 10 * (len(lines) - 1))
    axes.annotate(
        "\n".join(lines),
        (0, 1),
        (0, 5),
        "axes fraction",
        "offset points",
        fontsize=8,
        color="#555555",
    )


def _legend(axes: Axes) -> None:
    handles = axes.get_legend_handles_labels()[0]
    if 0 < len(handles) <= _MOST_NAMED:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def _name_or_list(axes: Axes) -> None:
    """Name lines at their ends; of too many to name, none."""
    if len(axes.get_legend_handles_labels()[0]) <= _MOST_NAMED:
        name_lines(axes)


def _labels(run: Run) -> dict[str, str]:
    """What a legend calls each flow: its id and control, or its ends where it was given no id."""
    flows = run.summary["flows"]
    ends = [f"{flow['src']} -> {flow['dst']}" for flow in flows]
    shared = {ends_text for ends_text, count in Counter(ends).items() if count > 1}
    labels = {}
    for i, (flow, way) in enumerate(zip(flows, ends, strict=True)):
        name = str(flow["id"])
        label = name
        if name == f"f{i}":
            label = f"{way} [{i}]" if way in shared else way
        if flow.get("cc") not in (None, "", name):
            label += f" ({flow['cc']})"
        labels[name] = label
    return labels


def cwnd(run: Run, *, flows: Sequence[int | str] | None = None) -> Figure:
    """Congestion windows over time. Needs the table ``windows`` or ``flow_samples``.

    Parameters
    ----------
    run
        What to draw.
    flows
        Which flows, by number or name; left out: all.
    """
    rows = run.tables.get("windows") or run.tables.get("flow_samples") or run.table("windows")
    chart = figure(run.summary)
    axes = _axes(chart, "Congestion window", "time [s]", "cwnd [segments]")
    names, labels = _choose_names(run, "flows", flows), _labels(run)
    for i, (name, time, window) in enumerate(
        _series(rows, "flow", names, ["time_s", "cwnd_segments"])
    ):
        axes.plot(time, window, drawstyle="steps-post", label=labels[name], **line(i))
    axes.set_ylim(bottom=0)
    _name_or_list(axes)
    return chart


def _rates(
    run: Run, flows: Sequence[int | str] | None, column: str = "delivered_bytes"
) -> list[tuple[str, Values, Values]]:
    """Per flow: middles of intervals and the rate of a column of bytes in each [bit/s].

    An interval is as many samples as leave no more than `_MOST_INTERVALS`: losses hold up the
    delivery in order, so that goodput over a few round trips jumps.
    """
    names = _choose_names(run, "flows", flows)
    rows = run.table("flow_samples")
    if column not in rows.column_names:  # a run of an older version
        column = "delivered_bytes"
    out = []
    for name, time, count in _series(rows, "flow", names, ["time_s", column]):
        step = -(-len(time) // _MOST_INTERVALS)
        edges, bits = time[::step], count[::step] * 8
        if len(edges) > 1:
            out.append((name, (edges[1:] + edges[:-1]) / 2, np.diff(bits) / np.diff(edges)))
    return out


def _interval(rates: list[tuple[str, Values, Values]]) -> str:
    """The interval of rates in words, for a title."""
    middles = rates[0][1] if rates else np.zeros(0)
    return f", means over {number(middles[1] - middles[0], 3)} s" if len(middles) > 1 else ""


def _narrowest(run: Run) -> dict[str, float]:
    """The rate of the narrowest link on each flow's route [bit/s]; empty where it is not known."""
    try:
        reported = without_code(run.scenario).explain().data
    except AckclockError:  # user-defined code that the scenario names may be gone since it ran
        return {}
    if any(link["varies"] for link in reported["links"]):
        return {}
    return {str(flow["id"]): flow["bottleneck_bps"] for flow in reported["flows"]}


def _varying(run: Run, middles: Values) -> list[Values]:
    """Mean rate of each link whose rate changes, by interval [bit/s]; links that agree are one."""
    try:
        rate_schedules = schedules(without_code(run.scenario).resolve_files().data)
    except AckclockError:  # a trace file may be gone since it ran
        return []
    if len(middles) < 2:
        return []
    half = (middles[1] - middles[0]) / 2
    edges = np.append(middles - half, middles[-1] + half)
    capacities: list[Values] = []
    for rate, schedule in rate_schedules:
        capacity = mean_capacity(rate, schedule, edges)
        if not any(np.array_equal(capacity, other) for other in capacities):
            capacities.append(capacity)
    return capacities


def throughput(run: Run, *, flows: Sequence[int | str] | None = None) -> Figure:
    """Delivery rate of flows over time: payload that arrived. Needs the table ``flow_samples``.

    What arrives behind a lost packet counts when it arrives, not when it is delivered in order, and
    what arrives twice counts once: so no rate is above that of a link on the way. The capacity is
    drawn: that of the narrowest link, or of each link whose rate changes.

    Parameters
    ----------
    run
        What to draw.
    flows
        Which flows, by number or name; left out: all.
    """
    chart = figure(run.summary)
    rates = _rates(run, flows, "received_bytes")
    title = "Delivery rate" + _interval(rates)
    axes = _axes(chart, title, "time [s]", "payload that arrived [Mbit/s]")
    labels = _labels(run)
    for i, (name, time, rate) in enumerate(rates):
        axes.plot(time, rate / 1e6, label=labels[name], **line(i))
    limits = _narrowest(run)
    peaks = [(rate.max(), limits[name]) for name, _, rate in rates if name in limits]
    varying = _varying(run, rates[0][1]) if rates else []
    for capacity, dashes in zip(varying, _CAPACITY_DASHES, strict=False):
        axes.step(
            rates[0][1], capacity / 1e6, where="mid", color="#666666", linewidth=1, linestyle=dashes
        )
    if varying:
        shown_count, count = min(len(varying), len(_CAPACITY_DASHES)), len(varying)
        line_text = (
            "capacity of the link"
            if count == 1
            else f"capacities of {shown_count} of {count} links"
        )
        if shown_count == count > 1:
            line_text = f"capacities of the {count} links"
        _note(axes, f"{'dotted' if count == 1 else 'grey'}: {line_text} whose rate changes")
    elif any(rate > limit / 2 for rate, limit in peaks):  # far below, curves would be flat for it
        top = max(limit for _, limit in peaks)
        is_equal = all(limit == top for _, limit in peaks)
        line_text = "narrowest link" if is_equal else "widest bottleneck"
        axes.axhline(top / 1e6, color="#666666", linewidth=1, linestyle=":")
        _note(axes, f"dotted: {line_text}, {engineering(top, 'bit/s')}")
    axes.set_ylim(bottom=0)
    _name_or_list(axes)
    return chart


def longest_queues(run: Run, names: list[str]) -> list[str]:
    """Choose the three links with the longest mean queue, or one if none had any.

    Parameters
    ----------
    run
        What is drawn.
    names
        Links to choose from.
    """
    mean = {str(link["id"]): link["queue_mean_packets"] for link in run.summary["links"]}
    longest = sorted(names, key=lambda name: -mean[name])[:3]
    return [name for name in longest if mean[name] > 0] or longest[:1]


def queue(run: Run, *, links: Sequence[int | str] | None = None) -> Figure:
    """Queue lengths over time. Needs the table ``queues`` or ``link_samples``.

    Parameters
    ----------
    run
        What to draw.
    links
        Which links, by number or name; left out: the three with the longest mean queue, if
        they have any; the figure then says of how many.
    """
    names = _choose_names(run, "links", links)
    every = len(names)
    if links is None:
        names = longest_queues(run, names)
    chart = figure(run.summary)
    axes = _axes(chart, "Queue", "time [s]", "queue [packets]")
    rows = run.table("queues" if "queues" in run.tables else "link_samples")
    for i, (name, time, length) in enumerate(
        _series(rows, "link", names, ["time_s", "queue_packets"])
    ):
        axes.plot(time, length, drawstyle="steps-post", label=name, **line(i))
    axes.set_ylim(bottom=0)
    if len(names) < every:
        _note(
            axes,
            f"{len(names)} of {every} links (each direction is one),"
            " those with the longest mean queue",
        )
    _name_or_list(axes)
    return chart


def delay(
    run: Run,
    *,
    flows: Sequence[int | str] | None = None,
    window: tuple[float, float] | None = None,
) -> Figure:
    """Distribution of round-trip times. Needs the table ``rtts``.

    Parameters
    ----------
    run
        What to draw.
    flows
        Which flows, by number or name; left out: all.
    window
        Ends of the time whose samples count [s]; left out: all.

    Raises
    ------
    UnsupportedError
        There is no sample in the window.
    """
    chart = figure(run.summary)
    axes = _axes(chart, "Round-trip times", "round-trip time [ms]", "share of samples at most this")
    names, labels = _choose_names(run, "flows", flows), _labels(run)
    since, until = window or (-np.inf, np.inf)
    count = 0
    for i, (name, time, sample) in enumerate(
        _series(run.table("rtts"), "flow", names, ["time_s", "rtt_s"])
    ):
        values = sample[(time >= since) & (time <= until)]
        count += len(values)
        if len(values):
            axes.ecdf(values * 1e3, label=labels[name], **line(i))
    if window is not None:
        if not count:
            raise UnsupportedError(f"there is no RTT sample from {since:g} s to {until:g} s")
        _note(
            axes,
            f"samples from {max(0.0, since):g} s to {min(until, run.summary['duration_s']):g} s",
        )
    axes.set_ylim(0, 1)
    _legend(axes)
    return chart


def _at_work(run: Run, flows: Sequence[int | str] | None) -> list[npt.NDArray[np.bool_]]:
    """Per flow and interval of `_rates`, whether it had begun before and was not done after.

    A flow is done when it has nothing in flight and sends nothing more: that holds of transfers
    that end, of flows that are stopped and of sources, and never of a flow that starves.
    """
    starts = {str(flow["id"]): flow["start_s"] for flow in run.summary["flows"]}
    columns = ["time_s", "in_flight_segments", "sent_packets"]
    out = []
    for name, time, flying, sent in _series(
        run.table("flow_samples"), "flow", _choose_names(run, "flows", flows), columns
    ):
        is_finished = (flying == 0) & (sent == sent[-1]) & (sent > 0)
        # Nothing follows the last sample, so it cannot show that a source sends no more.
        is_finished[-1:] = is_finished[-2:-1]
        step = -(-len(time) // _MOST_INTERVALS)
        edges, over = time[::step], is_finished[::step]
        if len(edges) > 1:
            out.append((starts[name] <= edges[:-1] + 1e-9) & ~over[1:])
    return out


def fairness(run: Run, *, flows: Sequence[int | str] | None = None) -> Figure:
    """Jain's index of goodput over time, of the flows at work. Needs the table ``flow_samples``.

    In each interval the index is of the flows that have begun before it and are neither finished
    nor stopped at its end. Where there is none there is no point.

    Parameters
    ----------
    run
        What to draw.
    flows
        Among which flows, by number or name; left out: all.
    """
    rates = _rates(run, flows)
    if not rates:
        raise UnsupportedError("fewer than two samples were recorded; choose a shorter interval")
    length = min(len(rate) for _, _, rate in rates)
    shares = np.array([rate[:length] for _, _, rate in rates]).T
    active = np.array([flow[:length] for flow in _at_work(run, flows)]).T
    count = active.sum(axis=1)
    if not count.any():
        raise UnsupportedError("no flow lasts a whole interval; choose a shorter interval")
    pairs = zip(shares, active, strict=True)
    index = [jain(share[is_active]) if is_active.any() else np.nan for share, is_active in pairs]
    time = rates[0][1][:length]
    chart = figure(run.summary)
    axes = _axes(chart, "Fairness of goodput" + _interval(rates), "time [s]", "Jain's index [1]")
    # Dots, for a point between two intervals without one is no line.
    axes.plot(time, index, marker=".", markersize=3, **line(0))
    least = np.divide(1.0, count, out=np.full(length, np.nan), where=count > 0)
    axes.plot(time, least, drawstyle="steps-mid", color="#999999", linewidth=0.8, linestyle=":")
    n = f"{count.max()}" if count.min() == count.max() else f"{count.min()} to {count.max()}"
    _note(
        axes,
        f"of the n flows active all through an interval, n = {n} of {len(rates)};"
        " dotted: 1/n, where one of them has all",
    )
    axes.set_ylim(0, 1.03)
    return chart


def network_map(run: Run, utilisation: dict[str, float] | None = None) -> Figure:
    """Map of the network, links coloured by utilisation. Needs nodes with coordinates.

    Parameters
    ----------
    run
        Its scenario's network is drawn.
    utilisation
        By link and direction; left out: those of the run. The busier direction is shown.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    net = without_code(run.scenario).resolve_files().data["net"]
    coordinates = {
        node["id"]: (node["lon"], node["lat"])
        for node in net.get("nodes", ())
        if "lon" in node and "lat" in node
    }
    links = [
        link
        for link in net.get("links", ())
        if link["a"] in coordinates and link["b"] in coordinates
    ]
    if not links:
        raise UnsupportedError("a map needs a network whose nodes have lat and lon")
    used = utilisation or {str(x["id"]): float(x["utilisation"]) for x in run.summary["links"]}
    chart = figure(run.summary, 7.2, 5.4)
    axes = _axes(chart, "Utilisation of links, busier direction", "longitude [°]", "latitude [°]")
    colours = LinearSegmentedColormap.from_list("used", style()["map_colours"])
    norm = Normalize(0, 1)
    rates = np.array([_bps(link["rate"]) for link in links])
    widths = 1.2 + 2.8 * rates / rates.max()
    for link, width in zip(links, widths, strict=True):
        name = link.get("id")
        a, b = link["a"], link["b"]
        both = (name, f"{name}:back") if name else (f"{a}->{b}", f"{b}->{a}")
        share = max(used.get(direction, 0.0) for direction in both)
        (x1, y1), (x2, y2) = coordinates[a], coordinates[b]
        axes.plot([x1, x2], [y1, y2], color=colours(norm(share)), linewidth=width, zorder=2)
    axes.plot(
        *zip(*coordinates.values(), strict=True), "o", color="#333333", markersize=3.5, zorder=3
    )
    latitude = float(np.mean([y for _, y in coordinates.values()]))
    axes.set_aspect(1 / np.cos(np.radians(latitude)))
    bar = chart.colorbar(ScalarMappable(norm, colours), ax=axes, shrink=0.8)
    bar.set_label("utilisation [1]")
    _name_places(chart, axes, coordinates)
    return chart


def _name_places(chart: Figure, axes: Axes, coordinates: dict[Any, tuple[float, float]]) -> None:
    """Write names beside their dots, each where it covers least of dots and other names."""
    from matplotlib.patheffects import withStroke

    chart.draw_without_rendering()
    scale = 72 / chart.dpi
    points = {
        name: axes.transData.transform(position) * scale for name, position in coordinates.items()
    }
    dots = [(x - 3, y - 3, x + 3, y + 3) for x, y in points.values()]
    taken: list[tuple[float, float, float, float]] = []
    size = 7.0
    for name, (x, y) in sorted(points.items(), key=lambda item: (item[1][0], item[1][1])):
        width = 0.62 * size * len(str(name))
        choices = [
            (dx, dy)
            for gap in (4.0, 9.0)
            for dx, dy in (
                (gap, gap / 2), (-gap - width, gap / 2), (gap, -gap / 2 - size),
                (-gap - width, -gap / 2 - size), (-width / 2, gap), (-width / 2, -gap - size),
            )
        ]  # fmt: skip
        boxes = [(x + dx, y + dy, x + dx + width, y + dy + size) for dx, dy in choices]
        covered = [sum(_overlap(box, other) for other in (*dots, *taken)) for box in boxes]
        best = int(np.argmin(covered))
        taken.append(boxes[best])
        axes.annotate(
            str(name),
            coordinates[name],
            xytext=choices[best],
            textcoords="offset points",
            fontsize=size,
            zorder=4,
            path_effects=[withStroke(linewidth=1.6, foreground="white")],
        )


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    return max(0.0, width) * max(0.0, height)


def _bps(rate: float | str) -> float:
    from ackclock._util.units import parse

    return parse(rate, "rate")
