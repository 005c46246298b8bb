"""What a run, its capture file and its figures read of the scenario that was run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

from ackclock.case import Case

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.catalogue.records import Record

__all__ = ["Explained", "PacketCase", "without_code"]


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

    def resolve_files(self) -> Self:
        """Copy with imported networks as graphs and trace files as lists."""

    def explain(self) -> Explained:
        """Say what would run."""

    def with_code_in(self, target: Path) -> Self:
        """Copy as `resolve_files` does, whose user-defined classes are in files of a folder."""

    def to_toml(self) -> str:
        """Write as TOML."""

    def replace(self, **changes: Any) -> Self:
        """Copy with values changed by path."""

    def lab(self, *, height: int = 760) -> Any:
        """Show the lab in a notebook."""


def without_code(case: PacketCase) -> PacketCase:
    """Put algorithms of the core in place of user-defined classes, to read a network's facts.

    A run that was kept, perhaps by somebody else, is shown without the code that it was made with.

    Parameters
    ----------
    case
        What was run.
    """
    from ackclock._util import paths
    from ackclock.catalogue.class_names import list_classes
    from ackclock.catalogue.guest_programs import without_guests
    from ackclock.catalogue.without_code import IN_PLACE

    replacements = {
        paths.text(list(steps)): IN_PLACE[room] for steps, room in list_classes(case.data)
    }
    case = case.replace(**replacements) if replacements else case
    bare, guests = without_guests(case.data)
    return case.replace(flows=bare["flows"], traffic=bare.get("traffic")) if guests else case
