"""``ackclock evaluate --profile``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ackclock.cli.options import EXIT_CHECK
from ackclock.cli.studies.deliver import deliver, print_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.reproduce.run.studies import RunOptions

__all__ = ["evaluate_profile", "list_profiles", "make_run_options", "split"]


def list_profiles(method: str) -> str:
    """List the profiles that ship with ackclock.

    Parameters
    ----------
    method
        Name of the one that has no folder.
    """
    from ackclock._util.text_table import table
    from ackclock.dossier.read import names, read

    rows = [[method, "-", "ranks beside seven controls, in every setting (Akella et al. 2002)"]]
    for name in names():
        profile = read(name)
        rows.append([name, str(len(profile.requirements)), str(profile.about["title"])])
    return table(["profile", "requirements", "title"], rows, most=1000)


def split(text: str | None) -> Iterator[str]:
    """Split a list of controls at commas that are in no table.

    Parameters
    ----------
    text
        As typed; None: nothing.
    """
    depth, begin = 0, 0
    for position, sign in enumerate(f"{text or ''},"):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            if (text or "")[begin:position].strip():
                yield (text or "")[begin:position].strip()
            begin = position + 1


def make_run_options(workers: int | None, store: Path | None, *, quiet: bool) -> RunOptions:
    """Say where and how studies run.

    Parameters
    ----------
    workers, store
        As typed.
    quiet
        Show no progress.
    """
    from ackclock._util.command_line import command_line
    from ackclock.reproduce.run.studies import RunOptions

    return RunOptions(
        workers=workers,
        store=store,
        progress=not quiet,
        command=command_line(),
        report=(lambda _: None) if quiet else (lambda text: click.echo(text, err=True)),
    )


def evaluate_profile(
    control: str,
    *,
    profile: str,
    against: str | None,
    only: tuple[str, ...],
    strict: bool,
    baseline: Path | None,
    argue: Path | None = None,
    dry_run: bool,
    tier: str,
    out: Path | None,
    seed: int | None,
    reps: int | None,
    workers: int | None,
    store: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Evaluate a control by a profile, print its page, write its report.

    Parameters
    ----------
    control, profile, against, only, strict, baseline, argue, dry_run, tier, out, seed, reps, \
    workers, store, as_json, quiet
        As typed.
    """
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace
    from ackclock.dossier.arguments import read_arguments
    from ackclock.dossier.baseline import changes, load_baseline
    from ackclock.dossier.bind import read_control, read_others
    from ackclock.dossier.dossier import Dossier
    from ackclock.dossier.read import read
    from ackclock.dossier.run import DossierTask, evaluate, predict

    # Before the runs, so that no result is lost to a folder that cannot be written.
    if out is not None:
        may_replace(out, Dossier.MARKER)
    judged_profile = read(profile)
    chosen_seed = seed if seed != 1 else None
    before = None
    if baseline is not None:
        before = load_baseline(baseline, judged_profile.name, tier, chosen_seed)
    task = DossierTask(
        judged_profile,
        read_control(control, Path()),
        read_others(list(split(against)), judged_profile, Path()),
        tier=tier,
        only=only,
        seed=chosen_seed,
        reps=reps,
        arguments={} if argue is None else read_arguments(argue, judged_profile),
        argued_in="" if argue is None else argue.name,
    )
    options = make_run_options(workers, store, quiet=quiet or as_json)
    plan = predict(task, options, is_written=out is not None)
    if dry_run:
        print_plan(plan, as_json=as_json)
        return
    options.report(plan.sentence)
    dossier = Dossier(evaluate(task, options))
    if before is not None:
        dossier = Dossier(dossier.results, changes(before, dossier.to_dict()))
    deliver(dossier, out, command_line(), as_json=as_json, quiet=quiet)
    _judge(dossier, strict=strict)


def _judge(dossier: Any, *, strict: bool) -> None:
    if strict and dossier.failures:
        what = "worse than the baseline" if dossier.changes is not None else "not met"
        for text in dossier.failures:
            click.echo(f"{what}: {text}", err=True)
        sys.exit(EXIT_CHECK)
