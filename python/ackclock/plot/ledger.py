"""The figure of the loss ledger: which flows used each link, and for what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.plot.figures import _axes, _choose_names, _labels, _legend, _note
from ackclock.plot.style import figure, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from ackclock.results.run import Run

__all__ = ["ledger", "totals"]

_MOST_SHOWN = 8
_HATCHES = {"useful": "", "duplicate": "....", "lost": "////", "under-way": "oo"}
"""How a fate is drawn. The colour is that of the flow."""


def totals(run: Run) -> dict[str, dict[tuple[str, str], int]]:
    """Bytes that each link sent, by flow and fate. Needs the table ``ledger``.

    Parameters
    ----------
    run
        What to read.
    """
    bytes_of_link: dict[str, dict[tuple[str, str], int]] = {}
    for row in run.table("ledger").to_pylist():
        link = bytes_of_link.setdefault(str(row["link"]), {})
        key = (str(row["flow"]), str(row["fate"]))
        link[key] = link.get(key, 0) + row["sent_bytes"]
    return bytes_of_link


def ledger(run: Run, *, links: Sequence[int | str] | None = None) -> Figure:
    """Draw what each link sent as shares of its capacity: by flow, useful or in vain.

    Needs the table ``ledger``. Capacity is that of the whole run at the link's rate.

    Parameters
    ----------
    run
        What to draw.
    links
        Which links, by number or name; left out: of those that sent something, the eight that sent
        the most bytes in vain, and the most bytes where these are equal.
    """
    import matplotlib as mpl

    bytes_of_link = totals(run)
    names = _choose_names(run, "links", links)
    every = len(names)

    def vain(name: str) -> int:
        bad = ("lost", "duplicate")
        return sum(size for (_, fate), size in bytes_of_link.get(name, {}).items() if fate in bad)

    if links is None:
        names = sorted(
            names, key=lambda name: (-vain(name), -sum(bytes_of_link.get(name, {}).values()))
        )
        names = [name for name in names if name in bytes_of_link][:_MOST_SHOWN] or names[:1]
    rates = dict(zip(run.links["id"].to_pylist(), run.links["rate_bps"].to_pylist(), strict=True))
    duration = float(run.summary["duration_s"])
    labels, palette = _labels(run), style()["colours"]
    flows = [str(flow["id"]) for flow in run.summary["flows"]]
    chart = figure(run.summary, height=1.6 + 0.45 * len(names))
    axes = _axes(chart, "Ledger", "share of the link's capacity [%]", "")
    used: set[str] = set()
    with mpl.rc_context({**style()["rc"], "hatch.linewidth": 0.6}):
        for y, name in enumerate(names):
            left, shares = 0.0, bytes_of_link.get(name, {})
            for i, flow in enumerate(flows):
                for fate, hatch in _HATCHES.items():
                    bits = 8.0 * shares.get((flow, fate), 0)
                    if not bits:
                        continue
                    share = 100.0 * bits / (rates[name] * duration)
                    label = labels[flow] + ("" if fate == "useful" else f", {fate}")
                    axes.barh(
                        y,
                        share,
                        left=left,
                        height=0.7,
                        hatch=hatch,
                        edgecolor="white",
                        linewidth=0,
                        color=palette[i % len(palette)],
                        alpha=1.0 if fate == "useful" else 0.55,
                        label="_" * (label in used) + label,
                    )
                    used.add(label)
                    left += share
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_axisbelow(True)
    axes.set_xlim(left=0)
    if len(names) < every:
        _note(axes, f"{len(names)} of {every} links, those that sent most in vain")
    _legend(axes)
    return chart
