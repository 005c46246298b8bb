"""The commands ``ackclock list`` and ``ackclock show``."""

from __future__ import annotations

from typing import Any

import click

from ackclock.cli import completion
from ackclock.cli.options import JSON, print_json

__all__ = ["list_", "show"]


_COLUMNS = ["room", "name", "title", "status"]
_SHOWN = ("name", "also", "title", "source", "status", "crate", "params")


class _WithRooms(click.Command):
    """A command whose help names the rooms; only there are they worth loading the core."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from ackclock.catalogue import schema

        formatter.write_paragraph()
        formatter.write_text(f"Rooms: {', '.join((*schema.ROOMS, 'networks'))}.")
        super().format_epilog(ctx, formatter)


@click.command("list", cls=_WithRooms)
@click.argument("room", required=False, shell_complete=completion.rooms)
@JSON
def list_(room: str | None, *, as_json: bool) -> None:
    """List algorithms, all or those of one ROOM.

    Of queue disciplines (ROOM qdisc) with the state that each keeps besides packets, counted in
    two short runs with 20 and with 40 flows.
    """
    from ackclock._util.text_table import table
    from ackclock.catalogue import schema
    from ackclock.errors import suggestion

    if room in ("network", "networks"):
        _list_networks(as_json=as_json)
        return
    if room is not None and room.replace("-", "_") not in schema.ROOMS:
        rooms = (*schema.ROOMS, "networks")
        raise click.UsageError(f'there is no room "{room}"; {suggestion(room, rooms)}')
    rows = [
        [name, entry["name"], _title(entry), entry["status"]]
        for name in schema.ROOMS
        if room is None or name == room.replace("-", "_")
        for entry in schema.list_offered(name).values()
    ]
    columns = list(_COLUMNS)
    if room == "qdisc":
        columns.append("state")
        rows = [[*row, _state(row[1])] for row in rows]
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    click.echo(table(columns, rows, most=1000))


def _list_networks(*, as_json: bool) -> None:
    from ackclock._util.text_table import table
    from ackclock.catalogue import schema

    columns = ["name", "description"]
    rows = [[kind, _first_sentence(rules)] for kind, rules in schema.net_kinds().items()]
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    click.echo(table(columns, rows, most=1000))


def _first_sentence(rules: dict[str, Any]) -> str:
    text = " ".join(str(rules.get("description", "")).split())
    return text.split(". ")[0].rstrip(".")


def _in_python(room: str, entry: dict[str, Any]) -> str:
    """How Python names an algorithm: by its class, or by its name where it has none."""
    from ackclock.catalogue.records import class_name

    name = str(entry["name"])
    return repr(name) if "crate" in entry else f"ackclock.{room}.{class_name(name)}"


def _title(entry: dict[str, Any]) -> str:
    """The title of an algorithm, with the crate and version that it is the code of, if of any."""
    return f"{entry['title']} ({entry['crate']})" if "crate" in entry else str(entry["title"])


def _state(qdisc: str) -> str:
    """Describe what a queue discipline keeps besides packets."""
    from ackclock.studies.queue_state import queue_state

    return str(queue_state(qdisc))


@click.command()
@click.argument("name", shell_complete=completion.algorithms())
@JSON
def show(name: str, *, as_json: bool) -> None:
    """Show the algorithm or network NAME: source, parameters, defaults.

    As JSON: a list, for a name may be in several rooms; parameters as their JSON Schema.
    """
    from ackclock.catalogue import schema
    from ackclock.catalogue.records import class_name, documentation
    from ackclock.errors import suggestion

    every = [(room, e) for room in schema.ROOMS for e in schema.list_offered(room).values()]
    entries = [
        (room, entry)
        for room, entry in every
        for entry_name in (entry["name"], *entry.get("also", ()))
        if name in (entry_name, f"{room}.{entry_name}")
    ]
    networks = schema.net_kinds()
    if not entries and name not in networks:
        known_names = {n for room in schema.ROOMS for n in schema.names(room)}
        hint = suggestion(name, sorted(known_names | set(networks)))
        raise click.UsageError(f'there is no algorithm or network "{name}"; {hint}')
    if as_json:
        print_json(
            [
                {
                    "room": room,
                    "python": _in_python(room, entry),
                    **{key: entry[key] for key in _SHOWN if key in entry},
                }
                for room, entry in entries
            ]
            + (
                [{"room": "networks", "name": name, "params": networks[name]}]
                if name in networks
                else []
            )
        )
        return
    blocks = []
    if name in networks:
        rules = networks[name]
        doc = documentation(str(rules.get("description", name)), "", "", rules)
        blocks.append(f"network {name}   (Python: ackclock.topology.{class_name(name)})\n\n{doc}")
    for room, entry in entries:
        doc = documentation(_title(entry), entry["source"], entry["status"], entry["params"])
        state = f"\n\nState besides packets: {_state(entry['name'])}" if room == "qdisc" else ""
        also = f"\nOther names: {', '.join(entry['also'])}" if entry.get("also") else ""
        blocks.append(
            f"{room} {entry['name']}   (Python: {_in_python(room, entry)}){also}\n\n{doc}{state}"
        )
    click.echo("\n\n".join(blocks))
