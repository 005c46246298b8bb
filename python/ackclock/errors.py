"""What can go wrong, and whose fault it is. Every error carries its values as attributes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "IS_ON_INDEX",
    "AckclockError",
    "AlgorithmError",
    "ConvergenceError",
    "Problem",
    "ScenarioError",
    "UnsupportedError",
    "find_by_name",
    "how_to_install",
    "nearest",
    "suggestion",
]

IS_ON_INDEX = False
"""Whether `pip install ackclock` finds a release. Written by tools/release/metadata.py from the
address of the repository: so the first release sets it."""

_T = TypeVar("_T")


class AckclockError(Exception):
    """Base of all errors that are not ackclock's fault."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a scenario.

    Parameters
    ----------
    path
        Where, as in ``net.links[3].rate``; empty for the scenario as a whole.
    message
        One sentence: what was found, what was expected, the nearest valid name if there is one.
    file
        The file that the scenario came from, if any.
    trace
        Traceback of user-defined code, from its first line on; empty if none failed.
    value
        The value found, as text; None if the problem is not of one value.
    range
        What was expected, where that is a range, as ``more than 0 and at most 1``.
    nearest
        The valid name nearest to the one found, where one is near.
    """

    path: str
    message: str
    file: str | None = None
    trace: str = ""
    value: str | None = None
    range: str | None = None
    nearest: str | None = None

    def touches(self, path: str) -> bool:
        """Say whether this problem's place holds, is, or is inside another.

        Parameters
        ----------
        path
            The other place.
        """
        mine, other = (re.split(r"[.\[]", place) for place in (self.path, path))
        return all(a == b for a, b in zip(mine, other, strict=False))

    def __str__(self) -> str:
        line = ": ".join(part for part in (self.file, self.path, self.message) if part)
        return f"{line}\n{self.trace}" if self.trace else line


class ScenarioError(AckclockError):
    """The scenario is wrong. All problems are reported together.

    Parameters
    ----------
    problems
        Every problem found.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UnsupportedError(AckclockError):
    """The chosen engine or format cannot do what was requested."""


class AlgorithmError(AckclockError):
    """An algorithm broke its contract during a run, as by a window that is not a number."""


class ConvergenceError(AckclockError):
    """Links of a fluid network did not settle.

    Parameters
    ----------
    links
        Names of links whose rates still changed, most first.
    change
        The last change, relative to the link's capacity.
    sweeps
        Sweeps done.
    """

    def __init__(self, links: Sequence[str], change: float, sweeps: int) -> None:
        self.links, self.change, self.sweeps = tuple(links), change, sweeps
        super().__init__(
            f"rates did not settle in {sweeps} sweeps; the last change was {change:.3g} of the"
            f" capacity, on {', '.join(links)}; a larger tolerance or limit, or other rules there,"
            " may help"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (ConvergenceError, (self.links, self.change, self.sweeps))


def nearest(given: str, names: Iterable[str]) -> str | None:
    """Find the name that was probably meant; None if none is near.

    Parameters
    ----------
    given
        The name found.
    names
        The valid names.
    """
    from ackclock import _core

    return _core.nearest(given, list(names))


def suggestion(given: str, names: Iterable[str]) -> str:
    """Say which name was probably meant.

    Parameters
    ----------
    given
        The name found.
    names
        The valid names.

    Returns
    -------
    str
        ``did you mean "x"?``, or valid names if none is near.
    """
    from ackclock import _core

    return _core.suggestion(given, list(names))


def find_by_name(name: object, table: Mapping[str, _T], kind: str, *, where: str = "") -> _T:
    """Find something by its name.

    Parameters
    ----------
    name
        What was requested.
    table
        What there is, by name.
    kind
        What the table holds, one of it, as in "there is no queue".
    where
        Begins the message: file and key.

    Raises
    ------
    UnsupportedError
        The table has no such name.
    """
    if not isinstance(name, str) or name not in table:
        hint = suggestion(str(name), table)
        raise UnsupportedError(f'{where}there is no {kind} "{name}"; {hint}')
    return table[name]


def how_to_install(extra: str, *, is_on_index: bool = IS_ON_INDEX) -> str:
    """Say what installs an extra today.

    Parameters
    ----------
    extra
        Its name.
    is_on_index
        Whether releases are on a package index.
    """
    if is_on_index:
        return f'pip install "ackclock[{extra}]"'
    return (
        f'pip install ".[{extra}]" in the checkout,'
        f' or pip install "FILE.whl[{extra}]" with the file of the wheel'
    )
