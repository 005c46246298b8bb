"""The registry of figures: a new kind is a function and one line in `FIGURES`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from ackclock.errors import UnsupportedError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

__all__ = ["FIGURES", "Kind", "find", "names"]

Of = Literal["run", "sweep"]


@dataclass(frozen=True)
class Kind:
    """A kind of figure.

    Parameters
    ----------
    name
        As in ``--kind``.
    of
        What is drawn: a ``run``, or the results of a ``sweep``.
    home
        Module of `ackclock.plot` and function.
    help
        What is drawn, for the command line and the gallery.
    selects
        What a figure of a run is restricted to: ``flows``, ``links`` or nothing.
    metrics
        How many metrics a figure of a sweep shows.
    overlays
        Whether curves of several runs can be drawn in one.
    takes_window
        Whether it is drawn of a window of time, though time is not an axis.
    """

    name: str
    of: Of
    home: str
    help: str
    selects: str = ""
    metrics: int = 1
    overlays: bool = False
    takes_window: bool = False

    @property
    def draw(self) -> Callable[..., Figure]:
        """The function that draws it."""
        module, _, function = self.home.partition(":")
        made: Callable[..., Figure] = getattr(import_module(f"ackclock.plot.{module}"), function)
        return made


FIGURES = {
    kind.name: kind
    for kind in (
        Kind("cwnd", "run", "figures:cwnd", "congestion windows", "flows", overlays=True),
        Kind("throughput", "run", "figures:throughput", "goodput", "flows", overlays=True),
        Kind("queue", "run", "figures:queue", "lengths of queues", "links", overlays=True),
        Kind(
            "delay",
            "run",
            "figures:delay",
            "distribution of RTTs",
            "flows",
            overlays=True,
            takes_window=True,
        ),
        Kind("rtt", "run", "delays:rtt", "RTTs over time", "flows", overlays=True),
        Kind(
            "queue-delay",
            "run",
            "delays:queue_delay",
            "queueing delay over time",
            "links",
            overlays=True,
        ),
        Kind("fairness", "run", "figures:fairness", "Jain's index", "flows", overlays=True),
        Kind(
            "phase",
            "run",
            "fairness_plane:phase",
            "rate of one flow over that of another, time as colour",
            "flows",
            takes_window=True,
        ),
        Kind(
            "completions",
            "run",
            "transfers:completions",
            "how long each transfer took",
            "flows",
            overlays=True,
        ),
        Kind(
            "slowdown",
            "run",
            "transfers:slowdown",
            "how much longer transfers took than alone, by size",
            "flows",
        ),
        Kind("sequence", "run", "sequence:sequence", "segments over time", "flows"),
        Kind("states", "run", "states:states", "states of senders and their windows", "flows"),
        Kind("ledger", "run", "ledger:ledger", "what links sent, useful or in vain", "links"),
        Kind("map", "run", "figures:network_map", "the network on a map"),
        Kind("lines", "sweep", "sweeps:lines", "means with intervals along an axis"),
        Kind("heatmap", "sweep", "sweeps:heatmap", "means over two axes"),
        Kind("ranked", "sweep", "sweeps:ranked", "differences to the best, with intervals"),
        Kind("ecdf", "sweep", "sweeps:ecdf", "distribution over runs"),
        Kind("pareto", "sweep", "sweeps:pareto", "delay against throughput", metrics=2),
    )
}
"""Figures by name."""


def names(of: Of | None = None) -> tuple[str, ...]:
    """Names of figures.

    Parameters
    ----------
    of
        Only figures of these; left out: all.
    """
    return tuple(kind.name for kind in FIGURES.values() if of in (None, kind.of))


def find(name: str, of: Of) -> Kind:
    """Find a kind of figure.

    Parameters
    ----------
    name
        Its name.
    of
        What is to be drawn.

    Raises
    ------
    UnsupportedError
        There is no such figure, or it is of something else.
    """
    kind = FIGURES.get(name)
    if kind is None:
        raise UnsupportedError(f'there is no figure "{name}"; {suggestion(name, names(of))}')
    if kind.of != of:
        kind_names = ", ".join(names(of))
        raise UnsupportedError(f'the figure "{name}" is of a {kind.of}; of a {of}: {kind_names}')
    return kind
