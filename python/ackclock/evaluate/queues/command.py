"""``ackclock evaluate-queue``."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["evaluate_queue"]


@click.command("evaluate-queue")
@click.argument("queue")
@click.option("--tier", default="fast", show_default=True, help="fast: a minute or two; full: all.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Write report and data into DIR."
)
@click.option("--seed", type=click.IntRange(min=0), default=1, help="Seed of the first replicate.")
@click.option("--reps", type=click.IntRange(min=1), help="Replicates; default: those of the tier.")
@click.option("--workers", type=click.IntRange(min=1), help="Runs at a time; default: all cores.")
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder that keeps the runs; default: $ACKCLOCK_STORE or ackclock-store.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def evaluate_queue(
    queue: str,
    *,
    tier: str,
    out: Path | None,
    seed: int,
    reps: int | None,
    workers: int | None,
    store: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare QUEUE with drop tail and others in the scenarios of RFC 7928.

    QUEUE is a registry name, a class as file.py:Class, or a table as '{kind = "red", max_p = 0.2}'.
    Prints one page; --out also writes a report. An evaluation that was stopped goes on where it
    was.
    """
    from ackclock.evaluate.queues.run import MARKER
    from ackclock.evaluate.queues.run import evaluate_queue as work
    from ackclock.run import command_line, may_replace

    if out is not None:
        may_replace(out, MARKER)
    command = command_line()
    done = work(
        queue,
        tier,
        seed=seed,
        reps=reps,
        workers=workers,
        store=store,
        progress=not quiet,
        command=command,
    )
    written = done.save(out, command=command) if out is not None else None
    if as_json:
        import json

        click.echo(json.dumps(done.to_dict(), allow_nan=False))
    elif not quiet:
        click.echo(str(done))
        if written is not None:
            click.echo(f"\nwrote {written}")
