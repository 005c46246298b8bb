"""Connection matrices of htsim: who sends how much to whom, and what starts when.

Form, as the program reads it (ultraethernet/uet-htsim, ``connection_matrix.cpp``)::

    Nodes 16
    Connections 2
    Triggers 1
    0->5 id 1 start 0 size 2000000 send_done_trigger 1
    0->7 id 2 trigger 1 size 2000000
    trigger id 1 oneshot

Starts are in whole microseconds, as the program of Ultra Ethernet takes them (``htsim_uec``; its
older programs take them for picoseconds), sizes in bytes; a line that begins with ``#`` is a
comment. Messages (``msg``) of one connection are separate transfers here, and priorities
(``prio``) are passed over. A trigger starts connections at the moment at which others complete, in
htsim at any host; here where these begin or end.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock.scenario.transfer_files.line_error import (
    MOST_TRANSFERS,
    LineError,
    Transfer,
    whole_number,
)
from ackclock.scenario.transfer_files.order import sort_by_waits

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_matrix"]

_HEADS = ("Nodes", "Connections", "Triggers", "Failures")
_KEYS = ("start", "size", "id", "msg", "prio", "trigger", "send_done_trigger", "recv_done_trigger")
_US = 1e-6


@dataclass(slots=True)
class _Connection:
    line: int
    source: int
    target: int
    values: dict[str, int]


def read_matrix(text: str) -> list[Transfer]:
    """Read a connection matrix.

    Parameters
    ----------
    text
        The file.

    Returns
    -------
    list
        Transfers, each after those that it waits for.

    Raises
    ------
    LineError
        It is no such file.
    """
    heads: dict[str, int] = {}
    connections: list[_Connection] = []
    triggers: dict[int, tuple[int, int]] = {}
    for line, words in _lines(text):
        if words[0] in _HEADS:
            heads[words[0]] = whole_number(_word(words, 1, line), words[0], line)
        elif "->" in words[0]:
            connections.append(_connection(words, line))
            if len(connections) > MOST_TRANSFERS:
                raise LineError(f"has more than {MOST_TRANSFERS} connections", line)
        elif words[0] == "trigger":
            number, activations = _trigger(words, line)
            if number in triggers:
                raise LineError(f"trigger {number} is defined twice; expected one line", line)
            triggers[number] = (line, activations)
        elif words[0] == "failure":
            raise LineError("failures of links are not read; expected none", line)
        else:
            expected = "Nodes, Connections, Triggers, a connection like 0->1 or a trigger"
            raise LineError(f'"{words[0][:20]}" begins no line; expected {expected}', line)
    _check_counts(heads, connections, len(triggers))
    return _transfers(connections, triggers)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            yield number, words


def _word(words: list[str], index: int, line: int) -> str:
    if index < len(words):
        return words[index]
    raise LineError(f'the line ends after "{words[-1][:20]}"; expected a number', line)


def _connection(words: list[str], line: int) -> _Connection:
    source, _, target = words[0].partition("->")
    ends = [whole_number(end, "a host", line) for end in (source, target)]
    if ends[0] == ends[1]:
        raise LineError(f"{words[0][:40]} sends to itself; expected another host", line)
    values: dict[str, int] = {}
    index = 1
    while index < len(words):
        key = words[index]
        if key not in _KEYS:
            expected = f"expected one of {', '.join(_KEYS)}"
            raise LineError(f'"{key[:20]}" is no key of a connection; {expected}', line)
        if key == "msg" and not (index + 1 < len(words) and words[index + 1].isdigit()):
            index += 1  # a message without a number is as any other
            continue
        number = _word(words, index + 1, line)
        if key == "start":
            values[key] = _start_us(number, line)
        else:
            values[key] = whole_number(number, key, line, least=0 if key == "prio" else 1)
        index += 2
    if "size" not in values:
        raise LineError("has no size; expected the bytes of the connection", line)
    if ("start" in values) == ("trigger" in values):
        both = "has start and trigger" if "start" in values else "has neither start nor trigger"
        raise LineError(f"{both}; expected one of them", line)
    return _Connection(line, ends[0], ends[1], values)


def _start_us(text: str, line: int) -> int:
    whole, point, decimals = text.partition(".")
    if point and not decimals.strip("0"):
        text = whole
    return whole_number(text, "start [us]", line)


def _trigger(words: list[str], line: int) -> tuple[int, int]:
    """The number of a trigger, and how many connections must complete."""
    number, kind, count, index = 0, "", 1, 1
    while index < len(words):
        key = words[index]
        if key in ("id", "count"):
            value = whole_number(_word(words, index + 1, line), key, line, least=1)
            number, count = (value, count) if key == "id" else (number, value)
            index += 2
        elif key in ("oneshot", "barrier"):
            kind, index = key, index + 1
        else:
            expected = "expected id, count, oneshot or barrier"
            raise LineError(f'"{key[:20]}" is not read of a trigger; {expected}', line)
    if not number or not kind:
        raise LineError("a trigger needs id, and oneshot or barrier; expected both", line)
    return number, count if kind == "barrier" else 1


def _check_counts(heads: dict[str, int], connections: list[_Connection], triggers: int) -> None:
    if "Nodes" not in heads:
        raise LineError("has no line Nodes; expected a connection matrix of htsim")
    for head, count in (("Connections", len(connections)), ("Triggers", triggers)):
        if heads.get(head, 0) != count:
            raise LineError(f"{head} is {heads.get(head, 0)} and there are {count}; expected these")
    nodes = heads["Nodes"]
    for connection in connections:
        most = max(connection.source, connection.target)
        if most >= nodes:
            message = f"names host {most} of {nodes}; expected 0 to {nodes - 1}"
            raise LineError(message, connection.line)
    if not connections:
        raise LineError("has no connection; expected one at least")


def _transfers(
    connections: list[_Connection], triggers: dict[int, tuple[int, int]]
) -> list[Transfer]:
    """Put connections in an order in which each is after those that it waits for."""
    ends: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for index, connection in enumerate(connections):
        for key, host in (
            ("send_done_trigger", connection.source),
            ("recv_done_trigger", connection.target),
        ):
            if number := connection.values.get(key):
                ends[number].append((index, host))
    waits = [
        _activators(connection, ends, triggers) if "trigger" in connection.values else []
        for connection in connections
    ]
    lines = [connection.line for connection in connections]
    new_index: dict[int, int] = {}
    transfers: list[Transfer] = []
    for index in sort_by_waits(waits, lines, "its trigger and those before it"):
        connection = connections[index]
        new_index[index] = len(transfers)
        start_s = connection.values.get("start", 0) * _US
        after = {new_index[other]: 0.0 for other in waits[index]}
        size = connection.values["size"]
        transfers.append(Transfer(connection.source, connection.target, size, start_s, after))
    return transfers


def _activators(
    connection: _Connection,
    ends: dict[int, list[tuple[int, int]]],
    triggers: dict[int, tuple[int, int]],
) -> list[int]:
    number = connection.values["trigger"]
    if number not in triggers:
        raise LineError(f"trigger {number} has no line; expected one", connection.line)
    line, needed = triggers[number]
    activators = ends.get(number, [])
    if len(activators) != needed:
        count = "1 connection" if needed == 1 else f"{needed} connections"
        raise LineError(f"trigger {number} is set off by {len(activators)}; expected {count}", line)
    for _, host in activators:
        if host != connection.source:
            raise LineError(
                f"trigger {number} is set off at host {host} and starts a connection at host"
                f" {connection.source}; expected one host: hosts know of others what arrives",
                connection.line,
            )
    return [index for index, _ in activators]
