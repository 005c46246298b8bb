"""When recorded packets were sent, and what their ends had heard by then: TCP timestamps.

The table ``packets`` has no timestamps, but the ends' clock is the run's: a packet was sent when it
arrived at the first link of its way. The packet is followed from there to its other end, and there
the rules of RFC 7323 section 4.3 give the echoes. One tick is a millisecond (section 5.4).
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Stamp", "Way", "stamps"]

_SYN, _CE = 2, 8
_TIE_S = 5e-10
"""What arrives is heard before the answer, though their times are computed in different ways."""


@dataclass(slots=True)
class Stamp:
    """The timestamp option of one packet; 0 where the table has no value."""

    value: int = 0
    echo: int = 0


@dataclass(frozen=True, slots=True)
class Way:
    """A link: its ends, and the time that it takes if that is always the same."""

    source: str
    target: str
    rate_bps: float | None
    propagation_s: float


def stamps(
    rows: Sequence[Mapping[str, Any]],
    ways: Mapping[str, Way],
    ends: Mapping[str, tuple[str, str]],
) -> list[Stamp | None]:
    """Find the timestamps of packets.

    Parameters
    ----------
    rows
        The table ``packets`` in order of time.
    ways
        The links by name.
    ends
        Sender and receiver of the flows that have the option, by name.

    Returns
    -------
    list
        One for each row; None where nothing is known.
    """
    followed: dict[Any, deque[Stamp]] = defaultdict(deque)
    heard: dict[str, list[tuple[float, bool, Mapping[str, Any], Stamp]]] = defaultdict(list)
    packet_stamps: list[Stamp | None] = []
    for row in rows:
        flow, link = str(row["flow"]), str(row["link"])
        stamp = None
        if flow in ends:
            sender, receiver = ends[flow]
            origin, target = (receiver, sender) if row["is_ack"] else (sender, receiver)
            way = ways[link]
            twins = _twins(row)
            here, there = followed["in", link, twins], followed["to", way.target, twins]
            if row["event"] == "arrival":
                before = followed["to", way.source, twins]
                if way.source == origin:
                    stamp = Stamp(value=_tick(row["time_s"]))
                    heard[flow].append((row["time_s"], False, row, stamp))
                elif before:
                    stamp = before.popleft()
                if stamp is not None:
                    here.append(stamp)
            elif here:
                # Twins differ in age alone; a full queue refuses the one that came last.
                stamp = here.popleft() if row["event"] == "departure" else here.pop()
            if row["event"] == "departure" and stamp is not None:
                if way.target != target:
                    there.append(stamp)
                elif way.rate_bps:
                    under_way = row["size_bytes"] * 8 / way.rate_bps + way.propagation_s
                    heard[flow].append((row["time_s"] + under_way - _TIE_S, True, row, stamp))
        packet_stamps.append(stamp)
    for events in heard.values():
        _echo(sorted(events, key=lambda event: event[0]))
    return packet_stamps


def _twins(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What distinguishes a packet from others of the network; a queue may mark it on the way."""
    blocks = tuple(row.get(f"sack{n}_{end}", 0) for n in (1, 2, 3) for end in ("start", "end"))
    return row["flow"], row["is_ack"], row["seq"], row["flags"] & ~_CE, blocks


def _tick(time_s: float) -> int:
    # 0 would say that there is none.
    return max(1, round(time_s * 10**12) // 10**9) & 0xFFFFFFFF


def _echo(events: Iterable[tuple[float, bool, Mapping[str, Any], Stamp]]) -> None:
    recent = acknowledged = newest = 0
    for _, arrives, row, stamp in events:
        if row["is_ack"]:
            if arrives:
                newest = stamp.value
            else:
                stamp.echo, acknowledged = recent, row["seq"]
        elif not arrives:
            stamp.echo = newest
        elif row["flags"] & _SYN:
            recent = recent or stamp.value
        elif row["seq"] <= acknowledged and stamp.value >= recent:
            recent = stamp.value
