"""A survey as text and as a page: sentences first, then tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ackclock._util.number_text import engineering, number, percent
from ackclock._util.text_table import table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.studies.bottlenecks.survey import Survey

__all__ = ["page", "sentences", "tables", "text"]

_MOST = 12
"""Bottlenecks shown."""

Table = tuple[str, list[str], list[list[str]]]
"""Title, head and rows."""


def _rate(value: float | None) -> str:
    return engineering(value, "bit/s")


def sentences(survey: Survey) -> list[str]:
    """Say what network and flows are, and what max-min rates give.

    Parameters
    ----------
    survey
        The survey.
    """
    data = survey.to_data()
    ideal = data["max_min"]
    flows = f"{data['flows']} flows"
    if data["flows_between"]:
        flows += f", one for each ordered pair of {data['flows_between']}"
    lines = [
        f"{data['network']}: {data['nodes']} nodes, {data['links']} links, {flows}"
        + (", routed by weight" if data["routes_by"] == "weight" else "")
        + (f", {data['time']}" if data["time"] else ""),
        *data["notes"],
        f"max-min: {_rate(ideal['total_bps'])} in all, least {_rate(ideal['least_bps'])}, Jain"
        f" {ideal['jain']:.4f}; links used {percent(ideal['utilisation_mean'])} on average;"
        f" {ideal['satisfied_flows']} flows get their full demand",
    ]
    if not data["bottlenecks"]:
        lines.append("no link holds a flow back")
    return lines


def _where_fair(found: Survey) -> list[str]:
    if found.fair_at is None:
        return []
    return [f"fair at {', '.join(found.fair_at)}; FIFO elsewhere"]


def tables(survey: Survey) -> list[Table]:
    """Make the tables of bottlenecks and of kinds of senders.

    Parameters
    ----------
    survey
        The survey.
    """
    data = survey.to_data()
    rows = [
        [b["link"], _rate(b["capacity_bps"]), str(b["flows"]), _rate(b["rate_bps"])]
        for b in data["bottlenecks"]
    ]
    result_tables: list[Table] = []
    if rows:
        more = f", and {len(rows) - _MOST} more" if len(rows) > _MOST else ""
        head = ["bottleneck", "capacity", "holds back", "at most"]
        result_tables.append((f"bottlenecks{more}", head, rows[:_MOST]))
    rows = [
        [
            name,
            _rate(t["goodput"]),
            percent(t["fraction_of_clamp"]),
            _rate(t["least_goodput"]),
            f"{t['jain']:.4f}",
            _rate(t["dead"]),
            _rate(t["zombies"]),
            _rate(t["unasked"]),
            "yes" if t["converged"] else "no",
        ]
        for name, t in data["senders"].items()
    ]
    head = ["senders", "goodput", "of max-min", "least", "Jain", "dead", "zombies", "unasked",
            "settled"]  # fmt: skip
    return [*result_tables, ("senders of each kind", head, rows)]


def _upgrades(survey: Survey) -> list[str]:
    lines = []
    for u in survey.to_data()["upgrades"]:
        how = "all sets tried" if u["exact"] else "one after the other"
        least = u["least_wanting_bps"]
        lines.append(
            f"{number(survey.factor)} times the capacity of {', '.join(u['links'])} ({how})"
            f" raises the {u['goal']} most: {_rate(u['total_bps'])} in all, "
            + ("all flows satisfied" if least is None else f"least {_rate(least)}")
        )
    return lines


def text(survey: Survey) -> str:
    """Write a survey for a terminal.

    Parameters
    ----------
    survey
        The survey.
    """
    blocks = []
    for title, head, rows in tables(survey):
        cut = title.partition(", ")[2]
        blocks.append(table(head, rows) + (f"\n\n{cut}" if cut else ""))
    blocks[-1:-1] = _where_fair(survey)
    return "\n\n".join([*sentences(survey), *blocks, *_upgrades(survey)])


def page(survey: Survey, figure: Figure, command: str) -> str:
    """Write the page of a survey.

    Parameters
    ----------
    survey
        The survey.
    figure
        Its map.
    command
        What the user typed.
    """
    from ackclock._util.page import inline, render

    return render(
        Path(__file__).with_name("survey.html"),
        title=f"{survey.network.title}: fair rates and bottlenecks",
        answer=[*sentences(survey), *_where_fair(survey), *_upgrades(survey)],
        figure=inline(figure),
        tables=tables(survey),
        command=command,
    )
