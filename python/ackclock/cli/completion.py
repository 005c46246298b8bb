"""Names that the shell completes: read when TAB is pressed, never when a command runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import click

    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

__all__ = ["algorithms", "figures", "papers", "profiles", "relations", "rooms", "tables"]


def _completion(names: Callable[[], Iterable[tuple[str, str]]], *, files: bool = False) -> Complete:
    def complete(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
        del ctx, param
        made = [CompletionItem(name, help=text) for name, text in names() if name.startswith(typed)]
        return made if made or not files else [CompletionItem(typed, type="file")]

    return complete


def _catalogue() -> dict[str, dict[str, Any]]:
    from ackclock.catalogue import schema

    return schema.catalogue()


def _list_offered(room: str) -> dict[str, Any]:
    from ackclock.catalogue import schema

    return schema.list_offered(room)


def algorithms(*only: str) -> Complete:
    """Complete names of algorithms, with their titles.

    Parameters
    ----------
    only
        Rooms, where a file with a class may replace a name; left out: all.
    """

    def names() -> Iterable[tuple[str, str]]:
        for room in _catalogue():
            if not only or room in only:
                for entry in _list_offered(room).values():
                    for name in (entry["name"], *entry.get("also", ())):
                        yield name, entry["title"]

    return _completion(names, files=bool(only))


def _rooms() -> Iterable[tuple[str, str]]:
    return ((room.replace("_", "-"), "") for room in _catalogue())


def _papers() -> Iterable[tuple[str, str]]:
    from ackclock.reproduce.read.folder import names

    return ((name, "") for name in names())


def _profiles() -> Iterable[tuple[str, str]]:
    from ackclock.dossier.read import names

    return ((name, "") for name in ["akella", *names()])


def _relations() -> Iterable[tuple[str, str]]:
    from ackclock.prove.controls import RELATIONS

    return ((name, ", ".join(relation.parameters)) for name, relation in RELATIONS.items())


def _tables() -> Iterable[tuple[str, str]]:
    from ackclock.results.run import TABLES

    return ((name, "") for name in TABLES)


def _figures() -> Iterable[tuple[str, str]]:
    from ackclock.plot import KINDS

    return ((name, "") for name in KINDS)


rooms = _completion(_rooms)
papers = _completion(_papers, files=True)
profiles = _completion(_profiles, files=True)
relations = _completion(_relations)
tables = _completion(_tables)
figures = _completion(_figures)
