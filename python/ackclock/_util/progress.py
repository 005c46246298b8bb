"""Progress of long work: a bar on a terminal, a line at growing intervals elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Bar", "ProgressLines", "Update"]


class Update(Protocol):
    """Takes the fraction that is done and, if there is something to say, the step in work."""

    def __call__(self, fraction: float, step: str = "") -> None: ...


FIRST_S = 30.0
LONGEST_S = 3600.0


class ProgressLines:
    """Lines on standard error for who reads a log: after half a minute, a minute, two, and so on.

    Later they come every hour: work of a day has thirty.
    """

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._next = FIRST_S

    def report(self, line: Callable[[float], str]) -> None:
        """Write what ``line`` makes of the seconds since the start, if the time has come for it."""
        elapsed = time.monotonic() - self._began
        if elapsed >= self._next:
            self._next = elapsed + min(elapsed, LONGEST_S)
            print(line(elapsed), file=sys.stderr, flush=True)


class Bar:
    """How much of one piece of work is done, and how long the rest takes, on standard error.

    Parameters
    ----------
    title
        What is done.
    is_shown
        Whether anything is to be seen.
    """

    def __init__(self, title: str, *, is_shown: bool) -> None:
        self.title = title
        self.is_shown = is_shown
        self._progress: Any = None
        self._lines = ProgressLines()

    def __enter__(self) -> Update:
        if self.is_shown and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True), transient=True)
            self._progress.start()
            self._task = self._progress.add_task(self.title, total=1.0)
        return self._update

    def _update(self, fraction: float, step: str = "") -> None:
        title = f"{self.title}, {step}" if step else self.title
        if self._progress is not None:
            self._progress.update(self._task, completed=fraction, description=title)
        elif self.is_shown and 0 < fraction < 1:

            def line(elapsed: float) -> str:
                # Here, for the command line imports this module and must not wait for NumPy.
                from ackclock._util.number_text import clock

                left = clock(elapsed * (1 - fraction) / fraction)
                return f"{title}: {100 * fraction:.3g} %, about {left} left"

            self._lines.report(line)

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()
