"""``ackclock dossier``, ``ackclock evaluate``, ``ackclock evaluate-queue`` and ``ackclock gym``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ackclock.cli import completion
from ackclock.cli.options import (
    DRY_RUN,
    FILE,
    JSON,
    QUIET,
    REPS,
    SET,
    STORE,
    TIER,
    WORKERS,
    load_scenario,
    print_json,
)
from ackclock.cli.studies.deliver import deliver

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["dossier", "evaluate", "evaluate_queue", "gym"]


METHOD = "akella"
"""The profile without requirements: ranks beside seven other controls."""

DOSSIER = "rfc9743"
"""The profile of the command ``dossier``."""


def _list_profiles(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001
    if value:
        from ackclock.cli.studies.dossier import list_profiles

        click.echo(list_profiles(METHOD))
        ctx.exit()


def _options(command: Callable[..., None]) -> Callable[..., None]:
    out = click.option("--out", type=FILE, metavar="DIR", help="Write report and data into DIR.")
    seed = click.option(
        "--seed", type=click.IntRange(min=0), default=1, help="Seed of the first replicate."
    )
    for option in reversed((TIER, out, seed, REPS, WORKERS, STORE, JSON, QUIET)):
        command = option(command)
    return command


def _profile(default: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        "--profile",
        default=default,
        show_default=True,
        shell_complete=completion.profiles,
        help="What is measured: a profile that ships with ackclock, or a folder.",
    )


def _of_requirements(command: Callable[..., None]) -> Callable[..., None]:
    """Options of profiles with requirements."""
    options = (
        click.option("--against", metavar="A,B,C", help="Other controls; left out: the profile's."),
        click.option("--only", multiple=True, metavar="ID", help="Requirement, section or family."),
        click.option(
            "--strict",
            is_flag=True,
            help="Exit 1 if a requirement is not met; with --baseline, if a number is worse.",
        ),
        click.option(
            "--baseline", type=FILE, metavar="FILE", help="A saved dossier.json to compare with."
        ),
        click.option(
            "--profiles",
            "list_",
            is_flag=True,
            is_eager=True,
            callback=_list_profiles,
            expose_value=False,
            help="List the profiles that ship with ackclock.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("control", shell_complete=completion.algorithms("cc"))
@_profile(DOSSIER)
@_of_requirements
@click.option("--argue", type=FILE, metavar="FILE", help="What the author argues, as Markdown.")
@DRY_RUN
@_options
def dossier(control: str, *, profile: str, **means: Any) -> None:
    """Judge CONTROL by the requirements of RFC 9743, or of another PROFILE with requirements.

    CONTROL is a registry name, a class as file.py:Class, or a table as '{kind = "aimd", b = 0.7}'.
    Prints one page; --out also writes a report. A dossier that was stopped goes on where it was.
    """
    if profile == METHOD:
        message = f"{METHOD} has no requirements; ackclock evaluate runs it"
        raise click.UsageError(message)
    from ackclock.cli.studies.dossier import evaluate_profile

    evaluate_profile(control, profile=profile, **means)


@click.command()
@click.argument("control", shell_complete=completion.algorithms("cc"))
@_profile(METHOD)
@_of_requirements
@DRY_RUN
@_options
def evaluate(
    control: str,
    *,
    profile: str,
    against: str | None,
    only: tuple[str, ...],
    strict: bool,
    baseline: Path | None,
    dry_run: bool,
    **means: Any,
) -> None:
    """Evaluate CONTROL by a profile: the method of Akella et al., RFC 9743, one page for CI, ...

    CONTROL is a registry name, a class as file.py:Class, or a table as '{kind = "aimd", b = 0.7}'.
    Prints one page; --out also writes a report. An evaluation that was stopped goes on where it
    was. The profile akella compares CONTROL with AIMD, AIAD, MIMD, MIAD, CUBIC, BBRv3 and Vegas in
    every setting; all other profiles give a dossier: requirements with verdicts.
    """
    if profile == METHOD:
        stated = {"--against": against, "--only": only, "--strict": strict, "--baseline": baseline,
                 "--dry-run": dry_run}  # fmt: skip
        wrong = [name for name, value in stated.items() if value]
        if wrong:
            message = f"{wrong[0]} is for profiles with requirements, not for {METHOD}; --profiles"
            raise click.UsageError(f"{message} lists them")
        from ackclock.studies.evaluate_control.run import Evaluation
        from ackclock.studies.evaluate_control.run import evaluate as work

        _run_and_report(work, Evaluation.MARKER, control, **means)
        return
    from ackclock.cli.studies.dossier import evaluate_profile

    evaluate_profile(
        control,
        profile=profile,
        against=against,
        only=only,
        strict=strict,
        baseline=baseline,
        dry_run=dry_run,
        **means,
    )


@click.command("evaluate-queue")
@click.argument("queue", shell_complete=completion.algorithms("qdisc"))
@_options
def evaluate_queue(queue: str, **means: Any) -> None:
    """Compare QUEUE with drop tail and others in the scenarios of RFC 7928.

    QUEUE is a registry name, a class as file.py:Class, or a table as '{kind = "red", max_p = 0.2}'.
    Prints one page; --out also writes a report. An evaluation that was stopped goes on where it
    was.
    """
    from ackclock.studies.evaluate_queue.run import QueueEvaluation
    from ackclock.studies.evaluate_queue.run import evaluate_queue as work

    _run_and_report(work, QueueEvaluation.MARKER, queue, **means)


def _run_and_report(
    work: Callable[..., Any],
    marker: str,
    subject: str,
    *,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    **means: Any,
) -> None:
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace

    # Before the runs, so that no result is lost to a folder that cannot be written.
    if out is not None:
        may_replace(out, marker)
    command = command_line()
    evaluation = work(subject, progress=not quiet, command=command, **means)
    deliver(evaluation, out, command, as_json=as_json, quiet=quiet)


@click.command()
@click.argument("file", type=FILE)
@SET
@click.option("--agent", default="0", show_default=True, help="Number or id of the agent's flow.")
@click.option("--episodes", type=click.IntRange(min=1), default=5, show_default=True)
@click.option("--step", default="rtt", show_default=True, help='rtt, base-rtt, or as "50 ms".')
@JSON
def gym(
    file: Path, changes: tuple[str, ...], agent: str, episodes: int, step: str, *, as_json: bool
) -> None:
    """Compare baseline policies in the environment that FILE makes for a flow.

    The environment is `ackclock.gym.CongestionEnv`, which needs ackclock[gym].
    """
    from ackclock.gym.policies import baselines, write_table

    scenario = load_scenario(file, changes)
    which = int(agent) if agent.isdigit() else agent
    scores = baselines(scenario, which, episodes=episodes, step=step)
    if as_json:
        print_json([score._asdict() for score in scores])
        return
    click.echo(write_table(scores))
