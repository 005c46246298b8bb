"""``ackclock compare``."""

from __future__ import annotations

from pathlib import Path

import click

from ackclock.cli import completion
from ackclock.cli.options import (
    DRY_RUN,
    FILE,
    JSON,
    QUIET,
    REPS,
    STORE,
    TIER,
    WORKERS,
)
from ackclock.cli.studies.deliver import deliver, print_plan

__all__ = ["compare"]

MOST = 3
"""More controls than this make a page that nobody reads."""


@click.command()
@click.argument("controls", nargs=-1, metavar="A B [C]", shell_complete=completion.algorithms("cc"))
@click.option(
    "--profile",
    default="rfc9743",
    show_default=True,
    shell_complete=completion.profiles,
    help="What is measured: a profile that ships with ackclock, or a folder.",
)
@click.option("--against", metavar="A,B,C", help="Other controls; left out: the profile's.")
@click.option("--only", multiple=True, metavar="ID", help="Requirement, section or family.")
@DRY_RUN
@TIER
@click.option("--out", type=FILE, metavar="DIR", help="Write report and data into DIR.")
@click.option("--seed", type=click.IntRange(min=0), default=1, help="Seed of the first replicate.")
@REPS
@WORKERS
@STORE
@JSON
@QUIET
def compare(
    controls: tuple[str, ...],
    *,
    profile: str,
    against: str | None,
    only: tuple[str, ...],
    dry_run: bool,
    tier: str,
    out: Path | None,
    seed: int,
    reps: int | None,
    workers: int | None,
    store: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare two or three controls in the environments of a profile, and say where each is better.

    Environments and seeds are the same for all, so differences are paired. A control is a registry
    name, a class as file.py:Class, or a table as '{kind = "aimd", b = 0.7}'. --out writes a page
    and the dossier of each. A comparison that was stopped goes on where it was, and what evaluate
    has run is not run again.
    """
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace
    from ackclock.cli.studies.dossier import make_run_options, split
    from ackclock.dossier.bind import read_control, read_others
    from ackclock.dossier.compare import compare as work
    from ackclock.dossier.compare import named_apart, predict_all
    from ackclock.dossier.comparison import ControlComparison
    from ackclock.dossier.read import read
    from ackclock.dossier.run import DossierTask

    if not 2 <= len(controls) <= MOST:
        raise click.UsageError(f"{len(controls)} controls are named; expected two or three")
    # Before the runs, so that no result is lost to a folder that cannot be written.
    if out is not None:
        may_replace(out, ControlComparison.MARKER)
    judged_profile = read(profile)
    rivals = read_others(list(split(against)), judged_profile, Path())
    tasks = [
        DossierTask(
            judged_profile, control, rivals, tier=tier, only=only,
            seed=seed if seed != 1 else None, reps=reps, with_audits=False,
        )
        for control in named_apart([read_control(text, Path()) for text in controls])
    ]  # fmt: skip
    options = make_run_options(workers, store, quiet=quiet or as_json)
    plan = predict_all(tasks, options)
    if dry_run:
        print_plan(plan, as_json=as_json)
        return
    options.report(plan.sentence)
    comparison_results = work(tasks, options)
    comparison = ControlComparison(comparison_results.results, comparison_results.pairs)
    deliver(comparison, out, command_line(), as_json=as_json, quiet=quiet)
