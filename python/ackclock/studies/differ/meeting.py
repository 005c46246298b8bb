"""The first event at links that is not the same here and in a deterministic simulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock._util.table_type import Table

    Array = np.ndarray[Any, np.dtype[Any]]

__all__ = ["Meeting", "meet"]

COLUMNS = ("flow", "seq", "size_bytes", "is_ack")
"""What makes a packet the same one."""

PRINTED_US = 1
"""Times agree if they differ by no more: ns-2 prints microseconds."""

VERBS = {"arrival": "arrives", "departure": "departs", "drop": "is dropped"}


@dataclass(frozen=True)
class Meeting:
    """How far the events of two runs are the same.

    Parameters
    ----------
    events
        Events here at the links that were compared.
    agreed
        Events here before the first that differs; all of them if none does.
    time_s
        When the first differs; None: none does.
    link, kind
        Where, and what happens.
    flow
        The flow of the packet here, or there if there is none here.
    here, there
        What happens at that place in the order of events; empty: nothing does any more.
    is_order
        Whether another packet arrives or departs there within a microsecond.
    """

    events: int
    agreed: int
    time_s: float | None = None
    link: str = ""
    kind: str = ""
    flow: str = ""
    here: str = ""
    there: str = ""
    is_order: bool = False

    def sentence(self, peer: str, state: str = "") -> str:
        """Say it.

        Parameters
        ----------
        peer
            The other simulator.
        state
            The state of the flow's sender here at that time, if known.
        """
        if self.time_s is None:
            return f"all {self.events:,} events at the links compared are the same"
        inside = f", whose sender is in {state} here" if state else ""
        text = (
            f"the first {self.agreed:,} of {self.events:,} events are the same; at"
            f" {self.time_s:.6f} s on {self.link} {self.here or 'nothing happens'} here,"
            f" {self.there or 'nothing happens'} in {peer} (flow {self.flow}{inside})"
        )
        if self.is_order:
            text += (
                "; another packet arrives or departs there within a microsecond, and which comes"
                " first is a matter of the order of simultaneous events"
            )
        return text


def meet(ours: Table, theirs: Table, links: Sequence[str]) -> Meeting:
    """Find the first event that differs.

    Parameters
    ----------
    ours, theirs
        Tables ``packets`` of both runs.
    links
        The links to compare.
    """
    here, there = _by_place(ours, links), _by_place(theirs, links)
    firsts = []
    for link_kind in sorted(here.keys() | there.keys()):
        a, b = here.get(link_kind), there.get(link_kind)
        first_difference = _first(a, b)
        if first_difference is not None:
            firsts.append((first_difference, link_kind))
    total = sum(len(events["time_us"]) for events in here.values())
    if not firsts:
        return Meeting(total, total)
    (time_us, row), link_kind = min(firsts)
    a, b = here.get(link_kind), there.get(link_kind)
    agreed = sum(int(np.searchsorted(events["time_us"], time_us)) for events in here.values())
    flow = (a if a is not None and row < len(a["flow"]) else b)["flow"][row]  # type: ignore[index]
    link, kind = link_kind
    return Meeting(
        events=total,
        agreed=agreed,
        time_s=time_us / 1e6,
        link=link,
        kind=kind,
        flow=str(flow),
        here=_describe(a, row, kind),
        there=_describe(b, row, kind),
        is_order=_is_at_once(a, b, row)
        and any(_is_crowded(events, link, time_us) for events in (here, there)),
    )


_Events = dict[str, "Array"]


def _by_place(table: Table, links: Sequence[str]) -> dict[tuple[str, str], _Events]:
    """Events in order, by link and kind."""
    import pyarrow.compute as pc

    events_at = {}
    for link in links:
        mine = table.filter(pc.equal(pc.cast(table["link"], "string"), link))
        kinds = _array(pc.cast(mine["event"], "string"))
        columns = {name: _array(mine[name]) for name in COLUMNS[1:]}
        columns["flow"] = _array(pc.cast(mine["flow"], "string"))
        columns["time_us"] = np.rint(_array(mine["time_s"]) * 1e6).astype(np.int64)
        for kind in VERBS:
            rows = kinds == kind
            if rows.any():
                events_at[link, kind] = {key: values[rows] for key, values in columns.items()}
    return events_at


def _array(column: Any) -> Array:
    return np.asarray(column.to_numpy())


def _first(a: _Events | None, b: _Events | None) -> tuple[int, int] | None:
    """The time and number of the first event of a place that differs."""
    if a is None or b is None:
        events = a or b
        assert events is not None
        return (int(events["time_us"][0]), 0) if len(events["time_us"]) else None
    count = min(len(a["time_us"]), len(b["time_us"]))
    differ = np.abs(a["time_us"][:count] - b["time_us"][:count]) > PRINTED_US
    for name in COLUMNS:
        differ |= a[name][:count] != b[name][:count]
    different_rows = np.flatnonzero(differ)
    if len(different_rows):
        row = int(different_rows[0])
    elif len(a["time_us"]) != len(b["time_us"]):
        row = count
    else:
        return None
    times = [int(events["time_us"][row]) for events in (a, b) if row < len(events["time_us"])]
    return min(times), row


def _describe(one: _Events | None, at: int, kind: str) -> str:
    if one is None or at >= len(one["time_us"]):
        return ""
    what = "ACK" if one["is_ack"][at] else "packet"
    when = one["time_us"][at] / 1e6
    name = f"{what} {one['seq'][at]} of {one['flow'][at]} ({one['size_bytes'][at]} B)"
    return f"{name} {VERBS[kind]} at {when:.6f} s"


def _is_at_once(a: _Events | None, b: _Events | None, at: int) -> bool:
    """Whether the events that differ happen at one time."""
    if a is None or b is None or at >= min(len(a["time_us"]), len(b["time_us"])):
        return False
    return bool(abs(a["time_us"][at] - b["time_us"][at]) <= PRINTED_US)


def _is_crowded(places: dict[tuple[str, str], _Events], link: str, time_us: int) -> bool:
    """Whether several packets arrive at or depart from a link within a microsecond."""
    packets = set()
    for kind in ("arrival", "departure"):
        if (one := places.get((link, kind))) is not None:
            near = np.flatnonzero(np.abs(one["time_us"] - time_us) <= PRINTED_US)
            packets |= {tuple(str(one[name][i]) for name in COLUMNS) for i in near}
    return len(packets) > 1
