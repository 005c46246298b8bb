"""Schedules in GOAL, the input of LogGOPSim: what each rank sends, receives and computes.

Form, as the text of spcl/LogGOPSim (``txt2bin.re``), a statement a line::

    num_ranks 2
    rank 0 {
    l1: calc 500
    l2: send 1000b to 1 tag 7
    l2 requires l1
    }
    rank 1 {
    l1: recv 1000b from 0 tag 7
    }

Rank i is the i-th host. A statement begins once those that it ``requires`` are over, or those of
``irequires`` have begun: ``calc`` takes so many nanoseconds, ``send`` is over when it is
acknowledged, ``recv`` when all has arrived. Sends and receives of two ranks and a tag belong
together in the order of the file. ``cpu`` and ``nic`` are passed over: computing takes no processor
from other computing, and sending none. An empty message carries one byte.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from ackclock.scenario.transfer_files.line_error import (
    MOST_TRANSFERS,
    LineError,
    Transfer,
    whole_number,
)
from ackclock.scenario.transfer_files.order import sort_by_waits

__all__ = ["read_goal"]

_NS = 1e-9
_MOST_WAITS = 20_000_000
"""Ends that all statements together wait for."""

_STATEMENT = re.compile(
    r"(?:([A-Za-z]\w*)\s*:\s*)?"
    r"(?:(calc)\s+(\d+)|(send|recv)\s+(\d+)\s*b\s+(to|from)\s+(-?\d+)(?:\s+tag\s+(-?\d+))?)"
    r"((?:\s+(?:cpu|nic)\s+\d+)*)",
    re.ASCII,
)
_REQUIREMENT = re.compile(r"([A-Za-z]\w*)\s+(i?requires)\s+([A-Za-z]\w*)", re.ASCII)
_RANK = re.compile(r"rank\s+(\d+)\s*\{", re.ASCII)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@dataclass(slots=True)
class _Statement:
    line: int
    rank: int
    kind: str
    size: int
    """Bytes, or nanoseconds of ``calc``."""
    peer: int = 0
    tag: int = 0
    requires: list[int] = field(default_factory=list)
    begins_with: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Moment:
    """When something is possible: at a time of the run, and after transfers with pauses [s]."""

    time_s: float = 0.0
    after: dict[int, float] = field(default_factory=dict)

    def join(self, other: _Moment) -> None:
        self.time_s = max(self.time_s, other.time_s)
        for index, pause in other.after.items():
            self.after[index] = max(pause, self.after.get(index, 0.0))

    def later(self, span_s: float) -> _Moment:
        after = {index: pause + span_s for index, pause in self.after.items()}
        return _Moment(self.time_s + span_s, after)


def read_goal(text: str) -> list[Transfer]:
    """Read a schedule.

    Parameters
    ----------
    text
        The file.

    Returns
    -------
    list
        A transfer for each send, each after those that it waits for.

    Raises
    ------
    LineError
        It is no such file.
    """
    statements = _read_statements(text)
    sends = _match(statements)
    transfers: list[Transfer] = []
    index_of: dict[int, int] = {}
    begins: dict[int, _Moment] = {}
    ends: dict[int, _Moment] = {}
    waits = 0
    for number in _in_order(statements, sends):
        statement = statements[number]
        begin = _Moment()
        for other in statement.requires:
            begin.join(ends[other])
        for other in statement.begins_with:
            begin.join(begins[other])
        waits += len(begin.after)
        if waits > _MOST_WAITS:
            message = f"waits with those before it for more than {_MOST_WAITS} transfers in all"
            raise LineError(message, statement.line)
        begins[number] = begin
        if statement.kind == "calc":
            ends[number] = begin.later(statement.size * _NS)
        elif statement.kind == "send":
            index = index_of[number] = len(transfers)
            size = max(statement.size, 1)
            transfers.append(
                Transfer(statement.rank, statement.peer, size, begin.time_s, begin.after)
            )
            ends[number] = _Moment(0.0, {index: 0.0})
        else:
            end = _Moment(0.0, {index_of[sends[number]]: 0.0})
            end.join(begin)
            ends[number] = end
    if not transfers:
        raise LineError("sends nothing; expected one send at least")
    return transfers


def _read_statements(text: str) -> list[_Statement]:
    # A comment of several lines leaves its line ends, so that lines keep their numbers.
    text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    statements: list[_Statement] = []
    labels: dict[str, int] = {}
    requirements: list[tuple[int, str, str, str]] = []
    rank, ranks, earlier_ranks = -1, None, set[int]()
    for line, raw in enumerate(text.splitlines(), start=1):
        words = raw.partition("//")[0].strip()
        if not words:
            continue
        if words.startswith("num_ranks"):
            ranks = whole_number(words.removeprefix("num_ranks").strip(), "num_ranks", line, 1)
        elif words == "}":
            if rank < 0:
                raise LineError("} ends no rank; expected rank and its number before", line)
            _note_requirements(statements, labels, requirements)
            rank, labels, requirements = -1, {}, []
        elif match := _RANK.fullmatch(words):
            if rank >= 0:
                raise LineError(f"rank {rank} has no end; expected }}", line)
            rank = whole_number(match[1], "rank", line)
            if rank in earlier_ranks or ranks is None or rank >= ranks:
                expected = f"0 to {ranks - 1}, each once" if ranks else "num_ranks before it"
                raise LineError(f"rank {match[1][:20]} is not expected here, but {expected}", line)
            earlier_ranks.add(rank)
        elif rank < 0:
            raise LineError(f'"{words[:30]}" is outside of a rank; expected rank and {{', line)
        elif match := _REQUIREMENT.fullmatch(words):
            requirements.append((line, match[1], match[2], match[3]))
        else:
            _add(statements, labels, words, (rank, ranks or 0, line))
    if rank >= 0:
        raise LineError(f"rank {rank} has no end; expected }} at the end of the file")
    return statements


def _add(
    statements: list[_Statement], labels: dict[str, int], words: str, context: tuple[int, int, int]
) -> None:
    """Add a statement of a rank."""
    rank, ranks, line = context
    match = _STATEMENT.fullmatch(words)
    if match is None:
        expected = "expected calc, send or recv, as in l1: send 8b to 1 tag 0, or requires"
        raise LineError(f'"{words[:40]}" is no statement; {expected}', line)
    label, calc, span, kind, size, way, peer, tag, _ = match.groups()
    if calc:
        statement = _Statement(line, rank, calc, whole_number(span, "calc [ns]", line))
    else:
        if way != ("to" if kind == "send" else "from"):
            raise LineError(f"{kind} has {way}; expected send and to, recv and from", line)
        if "-" in peer or (tag and "-" in tag):
            raise LineError("receives from any rank or tag, which is not read; name them", line)
        other = whole_number(peer, "a rank", line)
        if other >= ranks or other == rank:
            message = f"is between rank {rank} and rank {other} of {ranks}; expected two of them"
            raise LineError(message, line)
        sizes = whole_number(size, "size [B]", line)
        number = whole_number(tag, "tag", line) if tag else 0
        statement = _Statement(line, rank, str(kind), sizes, other, number)
    if label:
        if label in labels:
            raise LineError(f"label {label[:20]} is there twice in a rank; expected another", line)
        labels[label] = len(statements)
    statements.append(statement)
    if len(statements) > 4 * MOST_TRANSFERS:
        raise LineError(f"has more than {4 * MOST_TRANSFERS} statements", line)


def _note_requirements(
    statements: list[_Statement],
    labels: dict[str, int],
    requirements: list[tuple[int, str, str, str]],
) -> None:
    for line, name, kind, required in requirements:
        for label in (name, required):
            if label not in labels:
                raise LineError(f"there is no label {label[:20]} in this rank", line)
        statement = statements[labels[name]]
        of = statement.requires if kind == "requires" else statement.begins_with
        of.append(labels[required])


def _match(statements: list[_Statement]) -> dict[int, int]:
    """By the number of each receive, that of its send."""
    sent: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    received: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for number, statement in enumerate(statements):
        if statement.kind == "send":
            sent[statement.rank, statement.peer, statement.tag].append(number)
        elif statement.kind == "recv":
            received[statement.peer, statement.rank, statement.tag].append(number)
    for key in {**sent, **received}:
        surplus = len(sent[key]) - len(received[key])
        if surplus:
            more = sent[key] if surplus > 0 else received[key]
            statement = statements[more[-abs(surplus)]]
            other = "recv" if surplus > 0 else "send"
            message = f"there is no {other} for this {statement.kind}, tag {key[2]}; expected one"
            raise LineError(message, statement.line)
    return {
        number: send for key in sent for number, send in zip(received[key], sent[key], strict=True)
    }


def _in_order(statements: list[_Statement], sends: dict[int, int]) -> list[int]:
    """Statements, each after those that it requires and a receive after its send."""
    waits = [[*statement.requires, *statement.begins_with] for statement in statements]
    for receive, send in sends.items():
        waits[receive].append(send)
    lines = [statement.line for statement in statements]
    return sort_by_waits(waits, lines, "what it requires")
