"""What a writer hands back, how it refuses, and how it puts numbers and names into a program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SimulatorLimits", "Written", "comment_text", "number_text", "sentence_text"]


@dataclass(frozen=True)
class Written:
    """A scenario written out.

    Parameters
    ----------
    text
        The program.
    notes
        What the simulator does otherwise: where in the scenario, and a sentence.
    """

    text: str
    notes: tuple[Problem, ...]


@dataclass
class SimulatorLimits:
    """What of a scenario a simulator cannot express: refused, or named and left to be different.

    Parameters
    ----------
    simulator
        Its name, for messages.
    """

    simulator: str
    refused: list[Problem] = field(default_factory=list)
    named: list[Problem] = field(default_factory=list)

    def refuse(self, path: str, reason: str) -> None:
        """Note that the scenario cannot be written.

        Parameters
        ----------
        path
            The key.
        reason
            What was found and what the simulator has.
        """
        problem = Problem(path, reason)
        if problem not in self.refused:
            self.refused.append(problem)

    def name(self, path: str, reason: str) -> None:
        """Note that the simulator does something otherwise.

        Parameters
        ----------
        path
            The key.
        reason
            What it does.
        """
        problem = Problem(path, reason)
        if problem not in self.named:
            self.named.append(problem)

    def offer(self, path: str, room: str, kind: str, algorithms: Mapping[str, object]) -> bool:
        """Say whether the simulator has an algorithm; refuse it if not.

        Parameters
        ----------
        path
            The key.
        room
            What it is, for the message.
        kind
            Its name.
        algorithms
            What there is, by name.
        """
        if kind in algorithms:
            return True
        offered = ", ".join(algorithms)
        self.refuse(path, f'{self.simulator} has no {room} "{kind}"; expected one of: {offered}')
        return False

    def settle(self, text: str) -> Written:
        """Hand the program over.

        Parameters
        ----------
        text
            The program.

        Raises
        ------
        ScenarioError
            Something was refused; every reason at once.
        """
        self.raise_refused()
        return Written(text, tuple(self.named))

    def raise_refused(self) -> None:
        """Raise what was refused, if anything was.

        Raises
        ------
        ScenarioError
            Every reason at once.
        """
        if self.refused:
            raise ScenarioError(self.refused)


def comment_text(name: str) -> str:
    """Make a name safe inside a comment of any program.

    Parameters
    ----------
    name
        From a scenario, which a stranger may have written.

    Returns
    -------
    str
        Letters, digits and ``.:_~>-``; all else, as quotes, brackets, backslashes and ends of
        lines, is percent-encoded.
    """
    return quote(name, safe=":>", encoding="utf-8", errors="replace")


def sentence_text(text: str) -> str:
    """Make a sentence of ours safe inside a comment: it may quote a scenario.

    Parameters
    ----------
    text
        The sentence.

    Returns
    -------
    str
        With a full stop for each character that a language might read, and for all beyond ASCII.
    """
    safe = " .,:;\"'()<>=*/-_"
    return "".join(c if (c.isascii() and c.isalnum()) or c in safe else "." for c in text)


def number_text(value: float) -> str:
    """Write a number so that every language reads the same double.

    Parameters
    ----------
    value
        Finite.
    """
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
