"""The registry of formats: a new one is a module here and one line in `FORMATS`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock.errors import UnsupportedError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ackclock.results.formats.recorded import Recorded

__all__ = ["FORMATS", "Format", "export"]


@dataclass(frozen=True)
class Format:
    """A file format of another tool.

    Parameters
    ----------
    name
        As in ``--qlog`` and ``--format qlog``; also the name of its module here.
    suffix
        What its files usually end in.
    help
        What is written, for the command line.
    tables
        Tables that ``ackclock run`` records for it.
    takes_link
        Whether it is of one link.
    extra
        Of the package, that it needs.
    """

    name: str
    suffix: str
    help: str
    tables: tuple[str, ...]
    takes_link: bool = False
    extra: str | None = None

    @property
    def write(self) -> Callable[[Recorded, Path, str | None], Path]:
        """Write a run into a file, with the link where the format takes one."""
        module = importlib.import_module(f"ackclock.results.formats.{self.name}")
        written: Callable[[Recorded, Path, str | None], Path] = module.write
        return written


FORMATS = {
    form.name: form
    for form in (
        Format(
            "pcapng", ".pcapng", "Write packets of a link as a capture.", ("packets",),
            takes_link=True,
        ),
        Format(
            "qlog", ".qlog", "Write flows as a qlog, which qvis opens.",
            ("windows", "rtts", "states", "packets", "flow_samples"),
        ),
        Format(
            "flent", ".flent.gz", "Write goodput, RTT and window as Flent's data file.",
            ("flow_samples",),
        ),
        Format(
            "perfetto", ".pftrace", "Write a Perfetto trace: a track a flow and a link.",
            ("windows", "rtts", "states", "drops", "queues"), extra="perfetto",
        ),
    )
}  # fmt: skip
"""Formats by name."""


def export(run: Recorded, name: str, path: Path, link: str | None = None) -> Path:
    """Write a run in a format.

    Parameters
    ----------
    run
        The run.
    name
        Of the format.
    path
        File to write.
    link
        Which link, where the format is of one.

    Raises
    ------
    UnsupportedError
        There is no such format, it takes no link, or the run lacks a table.
    """
    form = FORMATS.get(name)
    if form is None:
        raise UnsupportedError(f'there is no format "{name}"; {suggestion(name, FORMATS)}')
    if link is not None and not form.takes_link:
        raise UnsupportedError(f"{name} is of the whole run; leave the link out")
    return form.write(run, path, link)
