"""``ackclock adversary``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ackclock.cli import completion
from ackclock.cli.options import FILE, JSON, QUIET, SET, STORE, WORKERS, with_changes
from ackclock.cli.studies.deliver import deliver

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["adversary"]


@click.command()
@click.argument("control", shell_complete=completion.algorithms("cc"))
@click.option("--against", default="AIMD,AIAD,MIMD,MIAD", show_default=True, help="Others.")
@click.option("--best", is_flag=True, help="Search where CONTROL does best instead of worst.")
@click.option("--last", is_flag=True, help="Search where CONTROL does worst of all.")
@click.option("--levels", type=click.IntRange(1, 8), default=3, help="Most levels of a pattern.")
@click.option("--budget", type=click.IntRange(min=10), default=200, show_default=True,
              help="Patterns that the search may run.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, help="Seed of the search.")
@SET
@click.option("--peak", default="10 Mbps", show_default=True, help="Greatest rate per flow.")
@click.option("--flows", type=click.IntRange(min=1), default=4, show_default=True)
@click.option("--duration", default="60 s", show_default=True, help="Length of a run.")
@WORKERS
@STORE
@click.option("--out", type=FILE, metavar="DIR", help="Write report, scenario, plot into DIR.")
@JSON
@QUIET
def adversary(
    control: str,
    *,
    against: str,
    best: bool,
    last: bool,
    levels: int,
    budget: int,
    seed: int,
    changes: tuple[str, ...],
    peak: str,
    flows: int,
    duration: str,
    workers: int | None,
    store: Path | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Search the bandwidth pattern under which CONTROL loses most to the best of others.

    What is found is shrunk to the simplest pattern that still shows it. Controls are registry
    names, AIMD, AIAD, MIMD, MIAD (the instances of Akella et al.), file.py:Class, or tables. A
    search that was stopped goes on where it was.
    """
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace
    from ackclock._util.progress import Bar
    from ackclock._util.units import parse, quantity_problem, typed_problem
    from ackclock.studies.adversary.arena import Arena
    from ackclock.studies.adversary.result import AdversaryResult
    from ackclock.studies.adversary.search import adversary as search

    if out is not None:
        may_replace(out, AdversaryResult.MARKER)
    controls = dict(_controls([control, *_split(against)]))
    if best and last:
        raise click.UsageError("--best and --last search different patterns; expected one of them")
    if len(controls) < 2:
        raise click.UsageError("--against names no other control")
    if problem := typed_problem(peak, "rate"):
        raise click.UsageError(f"--peak: {problem}")
    if problem := quantity_problem(duration, "duration"):  # plain seconds, as in a scenario
        raise click.UsageError(f"--duration: {problem}")
    peak_bps, duration_s = parse(peak, "rate"), parse(duration, "duration")

    def arena(given: Any) -> Arena:
        checked_arena = Arena(controls, peak_bps, flows, duration_s, dict(given))
        from ackclock.studies.adversary.shape import PathShape

        for name in controls:
            checked_arena.scenario(PathShape(((1.0, 5.0),)), name, 1).check()
        return checked_arena

    checked_arena = with_changes(changes, arena)
    command = command_line()
    with Bar(f"adversary {control}", is_shown=not quiet) as progress:
        finding = search(
            checked_arena,
            want="best" if best else "last" if last else "worst",
            levels=levels,
            budget=budget,
            seed=seed,
            workers=workers,
            store=store,
            command=command,
            progress=progress,
        )
    deliver(finding, out, command, as_json=as_json, quiet=quiet)


def _split(text: str) -> Iterator[str]:
    """Split at commas that are in no table."""
    depth, begin = 0, 0
    for at, sign in enumerate(f"{text},"):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            if text[begin:at].strip():
                yield text[begin:at].strip()
            begin = at + 1


def _controls(names: list[str]) -> Iterator[tuple[str, Any]]:
    from ackclock.studies.evaluate_control.grid import OTHERS, read_control

    known = {name.lower(): name for name in OTHERS}
    for name in names:
        if name.lower() in known:
            yield known[name.lower()], OTHERS[known[name.lower()]]
        else:
            chosen = read_control(name, Path())
            yield chosen.label, chosen.value
