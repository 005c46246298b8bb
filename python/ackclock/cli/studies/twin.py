"""The command ``ackclock twin``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ackclock.cli.options import FILE, JSON, SET, load_scenario, print_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["twin"]


@click.command()
@click.argument("file", type=FILE)
@SET
@JSON
def twin(file: Path, changes: tuple[str, ...], *, as_json: bool) -> None:
    """Put theory beside a run: what closed forms predict for flows and links, and where they part.

    FILE is a scenario, which is run, or the folder of a run (`ackclock run --out`). Each law has a
    domain, outside of which it says nothing, and an accuracy. Where run and law part by more, a
    sentence says by how much, and what the law does not know of this run, timeouts say.
    """
    from ackclock.scenario.load import load_run
    from ackclock.studies.twin.twin import compare

    if file.is_dir():
        if changes:
            raise click.UsageError(f"--set: {file} is a run, which has been; name its scenario")
        run = load_run(file)
        from ackclock.scenario.load import load

        found = compare(load(file / "scenario.toml"), run)
    else:
        found = compare(load_scenario(file, changes))
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(str(found))
