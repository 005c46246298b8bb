"""What a run, its capture file and its figures read of the scenario that was run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

from ackclock.case import Case

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.catalogue.records import Record

__all__ = ["Explained", "PacketCase"]


class Explained(Protocol):
    """What a scenario means."""

    @property
    def data(self) -> dict[str, Any]:
        """Routes, bandwidth-delay products, defaults used, predicted cost."""


class PacketCase(Case, Protocol):
    """A case of the packet engine. `ackclock.Scenario` is one."""

    @property
    def data(self) -> dict[str, Any]:
        """A copy as plain data, values as they were given."""

    @property
    def net(self) -> Record:
        """The network."""

    @property
    def flows(self) -> tuple[Record, ...]:
        """The flows named one by one."""

    def core_json(self) -> str:
        """The JSON that the core gets: everything that names a file expanded."""

    def expanded(self) -> Self:
        """Copy with imported networks as graphs and trace files as lists."""

    def explain(self) -> Explained:
        """Say what would run."""

    def kept(self, target: Path) -> Self:
        """Copy as `expanded` whose user-defined classes are in files of a folder."""

    def to_toml(self) -> str:
        """Write as TOML."""

    def lab(self, *, height: int = 760) -> Any:
        """Show the lab in a notebook."""
