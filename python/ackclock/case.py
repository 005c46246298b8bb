"""Questions to engines, their outcomes, and the list of engines.

A *case* is one question put to an engine: an immutable object made of a document (plain data, a
TOML file) whose key ``engine`` says who answers. `ackclock.Scenario` is the case of the packet
engine. Sweeps, executors, the store and reports know cases only by the protocol `Case`.

To add an engine: write a class with the members of `Case` in a separate module, and one line in
`ENGINES`. `ackclock.engines.registry` makes cases of documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable

from ackclock.errors import find_by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ackclock._util.table_type import Table

    Document = dict[str, Any]
    Make = Callable[[Document, Path | None], "Case"]

__all__ = [
    "ENGINES",
    "ONE_THREAD",
    "Case",
    "Cost",
    "Engine",
    "Outcome",
    "Parcel",
    "Shareable",
    "Spill",
    "ThreadCount",
    "engine_named",
]


@dataclass(frozen=True)
class Cost:
    """What a run is predicted to need.

    Parameters
    ----------
    events
        Events of the engine, or its elementary steps.
    cpu_s
        Time of one core [s].
    memory_bytes
        Memory of the run with its recorded tables [bytes]; 0 if not predicted.
    table_bytes
        Of it, memory of the tables [bytes], which a run that may write them to disk does not need.
    recorded_rows
        Rows of the recorded tables.
    """

    events: float
    cpu_s: float
    memory_bytes: float = 0.0
    table_bytes: float = 0.0
    recorded_rows: float = 0.0

    def needed_bytes(self, *, spills: bool) -> float:
        """Memory of the run [bytes].

        Parameters
        ----------
        spills
            Whether tables that become large go to disk.
        """
        return self.memory_bytes - self.table_bytes if spills else self.memory_bytes


@dataclass(frozen=True)
class Spill:
    """Where a run may write recorded tables while it lasts, so that they do not fill the memory.

    Parameters
    ----------
    folder
        For this run alone; it is made when it is needed, with a Parquet file for each table.
    labels
        Columns of text that the files have before those of the tables, each with its one value.
    """

    folder: Path
    labels: Mapping[str, str]


@dataclass(frozen=True)
class Parcel:
    """A case as text: for other processes, other machines, and archives.

    Parameters
    ----------
    document
        With its key ``engine``; names no files but those of the parcel.
    files
        Text of the files that the document names, by relative path: user-defined code.
    """

    document: dict[str, Any]
    files: Mapping[str, str]


class Outcome(Protocol):
    """What a finished run leaves. `ackclock.Run` is one."""

    @property
    def summary(self) -> dict[str, Any]:
        """Plain data for JSON.

        An outcome that has it as text already may have ``summary_json`` besides.
        """

    @property
    def tables(self) -> Mapping[str, Table]:
        """Arrow tables by name; names of columns end in their units."""


@runtime_checkable
class Case(Protocol):
    """One question put to an engine. Immutable; can be pickled."""

    @property
    def engine(self) -> str:
        """Name of the engine in `ENGINES`."""

    @property
    def engine_version(self) -> str:
        """Changes whenever the engine could give other results for the same case."""

    @property
    def name(self) -> str:
        """A title; empty if there is none. Does not count for `fingerprint`."""

    @property
    def seed(self) -> int:
        """Seed of every random number of the run."""

    @property
    def is_random(self) -> bool:
        """Whether results depend on the seed; if not, one replicate is all there is."""

    @property
    def holds_lock(self) -> bool:
        """Whether a run holds the interpreter's lock, so that only processes run in parallel."""

    @property
    def fingerprint(self) -> str:
        """Hash [hex] of the compiled question; equal questions have equal hashes.

        Seed, name and what is recorded do not count.
        """

    @property
    def recorded(self) -> str:
        """What is recorded besides the summary, as canonical text; part of a stored run's key."""

    def replace(self, **changes: Any) -> Self:
        """Copy with values changed by path, as in ``**{"net.buffer": "2 bdp"}``; None: default.

        Raises `ScenarioError` for a path that leads nowhere or a value that cannot be.
        """

    def with_seed(self, seed: int) -> Self:
        """Copy with another seed; cheap, for it is done for every run."""

    def to_document(self) -> dict[str, Any]:
        """Plain data that names no file of data; `case` makes an equal case of it."""

    def parcel(self) -> Parcel:
        """All that another machine needs to run the case; see `ackclock.engines.registry`."""

    def check(self, *, spills: bool = False) -> None:
        """Check form and meaning; raise `ScenarioError` with every problem at once.

        Too much memory is one; ``spills`` as of `cost`.
        """

    def cost(self, *, spills: bool = False, is_rough: bool = False) -> Cost:
        """Predict what `execute` will need; ``spills``: with a folder for large tables.

        ``is_rough`` says that the case is one of many: less exact, and much faster.
        Raises `ScenarioError` for a case that needs more memory than it may have.
        """

    def execute(
        self,
        progress: Callable[[float, float], object] | None = None,
        spill: Spill | None = None,
    ) -> Outcome:
        """Run to the end.

        ``progress`` is called a few times a second with the fraction done and the simulated time
        [s]; what it raises stops the run. Tables that become large may be written to ``spill``
        while the run lasts, and are read from there.
        """


class ThreadCount(NamedTuple):
    """Threads of a run: so many, or up to so many if they are predicted to pay."""

    most: int
    is_chosen: bool = False


ONE_THREAD = ThreadCount(1)


@runtime_checkable
class Shareable(Protocol):
    """A case whose runs several threads may share, with the same results."""

    def execute_on(
        self,
        threads: ThreadCount,
        progress: Callable[[float, float], object] | None = None,
        spill: Spill | None = None,
    ) -> Outcome:
        """Run to the end, as `Case.execute`, on so many threads."""


class Engine(NamedTuple):
    """An engine in the registry.

    Parameters
    ----------
    title
        One sentence.
    home
        ``module:function``: makes a case of a document and of the file it came from, if any.
    """

    title: str
    home: str | Make


ENGINES: dict[str, Engine] = {
    "packet": Engine(
        "every packet on every link, as discrete events",
        "ackclock.scenario.scenario:Scenario.from_document",
    ),
    "fluid": Engine(
        "rates in the steady state", "ackclock.engines.fluid.case:FluidCase.from_document"
    ),
    "hybrid": Engine(
        "few flows as packets, the mass of the others as rates",
        "ackclock.engines.hybrid.case:HybridCase.from_document",
    ),
    "model": Engine(
        "closed forms over grids of their parameters",
        "ackclock.engines.model.case:ModelCase.from_document",
    ),
}
"""Engines by name; modules are imported on first use."""


def engine_named(name: object, file: Path | None = None) -> Engine:
    """Find an engine.

    Parameters
    ----------
    name
        What a document says after ``engine =``.
    file
        Where the document came from.

    Raises
    ------
    UnsupportedError
        There is no such engine.
    """
    where = f"{file}: " if file is not None else ""
    return find_by_name(name, ENGINES, "engine", where=f"{where}engine: ")
