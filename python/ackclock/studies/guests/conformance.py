"""Tries the protocol on a program: whether it answers, repeats, refuses, ends."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.errors import ScenarioError
from ackclock.studies.guests import driver
from ackclock.studies.guests.driver import BrokenRuleError, Driven

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["GuestCheck", "check_guest"]

SIZE = 200_000
"""Bytes of a transfer: some two hundred datagrams."""
PAUSE_S = 0.002
"""How long a guest is kept waiting before each event, where that is tried."""
UNKNOWN = 65_000
"""A version that no guest knows."""


@dataclasses.dataclass(frozen=True)
class GuestCheck:
    """A rule, and what the program did."""

    rule: str
    ok: bool
    what: str


def check_guest(
    command: Sequence[str], folder: str | Path = ".", *, patience_s: float = 30.0
) -> list[GuestCheck]:
    """Try the protocol on a program.

    Parameters
    ----------
    command
        The program and its arguments. It is started several times, with your rights.
    folder
        Where it is started.
    patience_s
        Longest wait for an answer, by the wall's clock.

    Returns
    -------
    list
        Each rule with what the program did. After a rule without which no other can be tried there
        are no more.

    Raises
    ------
    ScenarioError
        Programs may not run.
    """
    from ackclock.catalogue.code_permission import why_forbidden
    from ackclock.errors import Problem

    if reason := why_forbidden():
        words = " ".join(command)
        raise ScenarioError([Problem("", f"{words} is a program, which was not run: {reason}")])
    return list(_tried(_Program(tuple(command), Path(folder), patience_s)))


@dataclasses.dataclass(frozen=True)
class _Program:
    command: tuple[str, ...]
    folder: Path
    patience_s: float

    def start(self, pause_s: float = 0.0) -> Driven:
        return Driven(self.command, self.folder, self.patience_s, pause_s)

    def transfer(self, path: driver.GuestPath, *, pause_s: float = 0.0) -> driver.GuestTransfer:
        with ExitStack() as stack:
            ends = [stack.enter_context(self.start(pause_s)) for _ in range(2)]
            for end in ends:
                end.greet()
            return driver.transfer(ends, path, SIZE)


def _tried(program: _Program) -> Iterator[GuestCheck]:
    first: list[driver.GuestTransfer] = []
    rules: list[tuple[str, Callable[[], str]]] = [
        ("answers HELLO with its version and name", lambda: _greets(program)),
        ("refuses a version that it does not know", lambda: _refuses(program)),
        ("transfers data, and answers each event in order", lambda: _transfers(program, first)),
        ("transfers data although datagrams are lost", lambda: _repairs(program)),
        ("does the same in a second run", lambda: _repeats(program, first, 0.0)),
        ("does the same when it is kept waiting", lambda: _repeats(program, first, PAUSE_S)),
        ("ends when END comes", lambda: _ends(program, with_frame=True)),
        ("ends when its input ends", lambda: _ends(program, with_frame=False)),
    ]
    for number, (rule, attempt) in enumerate(rules):
        try:
            yield GuestCheck(rule, ok=True, what=attempt())
        except BrokenRuleError as error:
            yield GuestCheck(rule, ok=False, what=str(error))
            if number in (0, 2):
                return


def _greets(program: _Program) -> str:
    with program.start() as guest:
        version, abilities, name = guest.greet()
    if version != driver.VERSION:
        raise BrokenRuleError(
            f"it says version {version}, where {driver.VERSION} alone was offered"
        )
    later = "takes" if abilities & 1 else "does not take"
    return f"{name or 'without a name'}; it {later} data after the start"


def _refuses(program: _Program) -> str:
    with program.start() as guest:
        guest.send(driver.HELLO, UNKNOWN.to_bytes(2, "little") * 2)
        try:
            kind, body = guest.receive()
        except BrokenRuleError:
            return "it ended"
    if kind != driver.FAILED:
        raise BrokenRuleError(f"it answered by a frame of type {kind:#04x}, not FAILED")
    return body.decode(errors="replace")


def _transfers(program: _Program, first: list[driver.GuestTransfer]) -> str:
    found = program.transfer(driver.GuestPath())
    if found.finished is None:
        message = (
            f"its client did not report the end of a transfer of {SIZE} bytes, of which"
            f" {found.delivered} were delivered"
        )
        raise BrokenRuleError(message)
    first.append(found)
    return f"{SIZE} bytes in {found.finished / 1e9:.3f} s, {len(found.events)} datagrams"


def _repairs(program: _Program) -> str:
    found = program.transfer(driver.GuestPath(lose_each=23))
    if found.finished is None:
        message = f"{found.delivered} bytes of {SIZE} were delivered, and no end was reported"
        raise BrokenRuleError(message)
    return f"{SIZE} bytes in {found.finished / 1e9:.3f} s, each 23rd datagram lost"


def _repeats(program: _Program, first: list[driver.GuestTransfer], pause_s: float) -> str:
    again = program.transfer(driver.GuestPath(), pause_s=pause_s)
    pairs = enumerate(zip(first[0].events, again.events, strict=False))
    for number, (before, now) in pairs:
        if before != now:
            message = f"datagram {number} was {_words(before)}, then {_words(now)}"
            raise BrokenRuleError(message)
    if len(first[0].events) != len(again.events):
        message = f"it sent {len(first[0].events)} datagrams, then {len(again.events)}"
        raise BrokenRuleError(message)
    if first[0].finished != again.finished:
        ends = [
            f"at {end} ns" if end is not None else "never"
            for end in (first[0].finished, again.finished)
        ]
        raise BrokenRuleError(f"its client reported the end {ends[0]}, then {ends[1]}")
    return f"{len(again.events)} datagrams of equal sizes at equal times"


def _words(event: tuple[int, int, int]) -> str:
    now, end, length = event
    return f"{length} bytes of the {('client', 'server')[end]} at {now} ns"


def _ends(program: _Program, *, with_frame: bool) -> str:
    with program.start() as guest:
        guest.greet()
        status = guest.end(with_frame=with_frame)
    if status != 0:
        raise BrokenRuleError(f"it ended with exit status {status}")
    return "with exit status 0"
