"""The command ``ackclock lab``."""

from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING

import click

from ackclock.cli.options import FILE, SET, load_scenario

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["lab"]


@click.command()
@click.argument("file", required=False, type=FILE)
@SET
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="a free one",
    help="Port on 127.0.0.1.",
)
@click.option("--no-browser", is_flag=True, help="Print the address; open no browser.")
@click.option("--page", is_flag=True, help="Print the path of the page, which opens from disk too.")
def lab(
    file: Path | None, changes: tuple[str, ...], *, port: int, no_browser: bool, page: bool
) -> None:
    """Open FILE in the browser: change it, run it there, and look at it packet by packet.

    The page holds the whole simulation core as WebAssembly. It is served on the loopback address
    under a random token, loads nothing else and sends nothing. Without FILE it opens the lessons.
    Algorithms written in Python do not run there. Ctrl-C ends the server.
    """
    from ackclock.lab.server import PAGE, LabServer, fragment_of, read_page

    content = read_page()
    if page:
        click.echo(PAGE)
        return
    fragment = ""
    if file is not None:
        scenario = load_scenario(file, changes)
        scenario.check()
        if scenario.holds_lock:
            raise click.UsageError(
                f"{file}: algorithms written in Python and guests do not run in the lab"
            )
        fragment = fragment_of(scenario.resolve_files().to_toml())
    with LabServer(content, port) as server:
        address = server.url + fragment
        click.echo(address)
        if not no_browser:
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            raise KeyboardInterrupt("the lab is closed") from None
