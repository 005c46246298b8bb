"""The commands ``ackclock list`` and ``ackclock show``."""

from __future__ import annotations

import click

__all__ = ["list_", "show"]


class _WithRooms(click.Command):
    """A command whose help names the rooms; only there are they worth loading the core."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from ackclock.catalogue import schema

        formatter.write_paragraph()
        formatter.write_text(f"Rooms: {', '.join(schema.ROOMS)}.")
        super().format_epilog(ctx, formatter)


@click.command("list", cls=_WithRooms)
@click.argument("room", required=False)
def list_(room: str | None) -> None:
    """List algorithms, all or those of one ROOM."""
    from ackclock._util.text_table import table
    from ackclock.catalogue import schema
    from ackclock.errors import suggestion

    if room is not None and room.replace("-", "_") not in schema.ROOMS:
        raise click.UsageError(f'there is no room "{room}"; {suggestion(room, schema.ROOMS)}')
    rows = [
        [name, entry["name"], entry["title"], entry["status"]]
        for name, entries in schema.catalogue().items()
        if room is None or name == room.replace("-", "_")
        for entry in entries.values()
    ]
    click.echo(table(["room", "name", "title", "status"], rows, most=1000))


@click.command()
@click.argument("name")
def show(name: str) -> None:
    """Show the algorithm NAME: source, parameters, defaults."""
    from ackclock.catalogue import schema
    from ackclock.catalogue.records import class_name, documentation
    from ackclock.errors import suggestion

    every = [(room, e) for room, entries in schema.catalogue().items() for e in entries.values()]
    found = [
        (room, entry) for room, entry in every if name in (entry["name"], f"{room}.{entry['name']}")
    ]
    if not found:
        hint = suggestion(name, sorted({entry["name"] for _, entry in every}))
        raise click.UsageError(f'there is no algorithm "{name}"; {hint}')
    parts = []
    for room, entry in found:
        doc = documentation(entry["title"], entry["source"], entry["status"], entry["params"])
        python = f"ackclock.{room}.{class_name(entry['name'])}"
        parts.append(f"{room} {entry['name']}   (Python: {python})\n\n{doc}")
    click.echo("\n\n".join(parts))
