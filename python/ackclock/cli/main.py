"""The command line.

Exit codes: 0 done, 1 a check failed, 2 wrong input, 3 interrupted (Ctrl-C), 70 our fault, 143
terminated (SIGTERM).
"""

from __future__ import annotations

import pkgutil
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import click

from ackclock._util.end_signals import EXIT_CODES, ended_by_signals, find_end_signal
from ackclock._util.text_table import printable
from ackclock.cli.options import EXIT_INPUT, EXIT_INTERNAL, EXIT_INTERRUPTED
from ackclock.cli.plain_output import plain_output

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["EXIT_INPUT", "EXIT_INTERNAL", "EXIT_INTERRUPTED", "cli", "main"]


class Home(NamedTuple):
    """Where a command is, and what the list of commands says of it."""

    module: str
    help: str


GROUPS: dict[str, dict[str, Home]] = {
    "Run": {
        "run": Home("ackclock.cli.run:run", "Simulate a scenario and print the summary."),
        "check": Home("ackclock.cli.check:check", "Check scenario files and predict their cost."),
        "check-guest": Home(
            "ackclock.cli.studies.guest:check_guest", "Try the guest protocol on a program."
        ),
        "explain": Home(
            "ackclock.cli.check:explain", "Say what would run: routes, defaults, doubts."
        ),
        "sweep": Home("ackclock.cli.sweep:sweep", "Run a grid of scenarios, with intervals."),
        "emulate": Home("ackclock.cli.emulate:emulate", "Run in real time with the kernel's TCP."),
        "differ": Home(
            "ackclock.cli.studies.differ:differ", "Run here and by peers; say where they part."
        ),
        "export": Home(
            "ackclock.cli.export:export", "Write a scenario as a program for ns-2 or ns-3."
        ),
        "demo": Home(
            "ackclock.cli.studies.demo:demo", "Compare four queues under 120 flows in GEANT."
        ),
    },
    "Study a control or a queue": {
        "dossier": Home(
            "ackclock.cli.studies.evaluate:dossier", "Judge a control by RFC 9743, with verdicts."
        ),
        "evaluate": Home(
            "ackclock.cli.studies.evaluate:evaluate", "Evaluate a control by a profile."
        ),
        "compare": Home("ackclock.cli.studies.compare:compare", "Compare two or three controls."),
        "conform": Home(
            "ackclock.cli.studies.conform:conform", "Put a control through the BBR draft's cases."
        ),
        "audit": Home("ackclock.cli.studies.audit:audit", "Measure what late-comers get."),
        "adversary": Home(
            "ackclock.cli.studies.adversary:adversary",
            "Search the bandwidth that hurts a control most.",
        ),
        "prove": Home(
            "ackclock.cli.studies.prove:prove",
            "Prove a claim about a control, or run what refutes it.",
        ),
        "evaluate-queue": Home(
            "ackclock.cli.studies.evaluate:evaluate_queue",
            "Run a queue through the scenarios of RFC 7928.",
        ),
        "game": Home("ackclock.cli.studies.game:game", "Compute what selfish users would choose."),
        "twin": Home("ackclock.cli.studies.twin:twin", "Put closed forms beside a run."),
        "gym": Home(
            "ackclock.cli.studies.evaluate:gym", "Compare baseline policies of an environment."
        ),
    },
    "Start from a capture": {
        "read": Home(
            "ackclock.cli.studies.captures:read", "Read a capture or a log of a real connection."
        ),
        "calibrate": Home(
            "ackclock.cli.studies.captures:calibrate",
            "Estimate its path; try other controls on it.",
        ),
        "identify": Home(
            "ackclock.cli.studies.captures:identify", "Identify the control that sent a flow."
        ),
    },
    "Papers": {
        "reproduce": Home(
            "ackclock.cli.reproduce:reproduce", "Redraw a paper's figures and judge its claims."
        ),
        "forensics": Home(
            "ackclock.cli.reproduce:forensics", "Infer the settings that a paper leaves open."
        ),
        "artifact": Home(
            "ackclock.cli.reproduce:artifact", "Pack a paper with all that made its results."
        ),
    },
    "Teach": {
        "course": Home("ackclock.cli.course:course", "Lab sheets: list, start, grade."),
    },
    "Networks": {
        "plan": Home(
            "ackclock.cli.studies.plan:plan", "Loads, failures, upgrades, weights of a network."
        ),
        "fluid": Home("ackclock.cli.fluid:fluid", "Fair rates, bottlenecks and best upgrades."),
    },
    "Look": {
        "list": Home("ackclock.cli.look.catalogue:list_", "List algorithms and networks."),
        "show": Home(
            "ackclock.cli.look.catalogue:show", "Show an algorithm or network with parameters."
        ),
        "plot": Home("ackclock.cli.look.plot:plot", "Draw a figure of a run or of a sweep."),
        "results": Home(
            "ackclock.cli.look.results:results", "List, query, export and clean stored runs."
        ),
        "lab": Home(
            "ackclock.cli.look.lab:lab", "Open a scenario in the browser, packet by packet."
        ),
        "schema": Home(
            "ackclock.cli.look.schema:schema", "Print the JSON Schema of a kind of document."
        ),
    },
}
"""Commands by group and name; a module is imported on first use."""

HOMES = {name: home.module for group in GROUPS.values() for name, home in group.items()}
"""Where commands are, by name."""

OF_PAPERS = (
    "adversary",
    "artifact",
    "audit",
    "compare",
    "differ",
    "dossier",
    "evaluate",
    "evaluate-queue",
    "fluid",
    "forensics",
    "game",
    "identify",
    "plot",
    "reproduce",
    "results",
    "sweep",
)
"""Commands that need the extra `papers`, some of it at their end, after hours."""


class _Commands(click.Group):
    """The commands of `HOMES`, and `version`."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in HOMES:
            return super().get_command(ctx, cmd_name)
        found: click.Command = pkgutil.resolve_name(HOMES[cmd_name])
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if name in OF_PAPERS and not ctx.resilient_parsing and not {"-h", "--help"} & {*rest}:
            from ackclock.cli.extras import missing_of

            if missing := missing_of("papers"):
                raise click.ClickException(missing)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in their groups, without importing them."""
        del ctx
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, home.help) for name, home in commands.items()])
        with formatter.section("Other"):
            formatter.write_dl([("version", "Print the version.")])

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *HOMES])


def _print_version(ctx: click.Context, _: click.Parameter, value: object) -> None:
    if value and not ctx.resilient_parsing:
        from ackclock import _core

        click.echo(_core.version())
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Print the version.",
)
@click.option(
    "--no-code",
    is_flag=True,
    help="Before any command: import no Python file that an input names, refuse what needs one.",
)
@click.pass_context
def cli(context: click.Context, *, no_code: bool) -> None:
    """Simulate networks, compare congestion controls and queues, reproduce papers."""
    if no_code:
        from ackclock.catalogue.code_permission import forbidden

        context.with_resource(forbidden("--no-code was given"))


@cli.command()
def version() -> None:
    """Print the version."""
    from ackclock import _core

    click.echo(_core.version())


def _messages(error: click.ClickException) -> Iterator[str]:
    context = getattr(error, "ctx", None)
    yield error.format_message()
    if context is not None:
        yield f"see: {context.command_path} --help"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments
        Left out: those of this process.

    Returns
    -------
    int
        The exit code.
    """
    try:
        with plain_output():
            result = cli.main(arguments, prog_name="ackclock", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return EXIT_INPUT
    except click.ClickException as error:
        click.echo(printable("\n".join(_messages(error))), err=True)
        return EXIT_INPUT
    except (KeyboardInterrupt, click.Abort) as error:
        # Click raises Abort from the KeyboardInterrupt, which may say what is kept.
        outcome_text = str(error.__cause__ or error) or "what had finished is kept"
        click.echo(f"interrupted; {outcome_text}", err=True)
        number = find_end_signal()
        return EXIT_INTERRUPTED if number is None else EXIT_CODES[number]
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else EXIT_INTERNAL
    except BrokenPipeError:
        return 0
    except BaseException as error:
        number = find_end_signal()
        if number is not None:
            # What a library makes of the KeyboardInterrupt, as DuckDB a RuntimeError.
            click.echo("interrupted; what had finished is kept", err=True)
            return EXIT_CODES[number]
        return _report_failure(error)
    return result if isinstance(result, int) else 0


def _report_failure(error: BaseException) -> int:
    from ackclock.cli.extras import describe_missing
    from ackclock.errors import AckclockError

    # An attribute, so that other errors need not wait for what `describe_failure` imports.
    if any(name.startswith("__ackclock_") for name in vars(error)):
        from ackclock.catalogue.python_source import describe_failure

        click.echo(printable(describe_failure(error) or ""), err=True)
        return EXIT_INPUT
    if isinstance(error, AckclockError):
        click.echo(printable(str(error)), err=True)
        return EXIT_INPUT
    if missing := describe_missing(error):
        click.echo(missing, err=True)
        return EXIT_INPUT
    if isinstance(error, MemoryError):
        click.echo("there is no memory for it; simulate or read less at once", err=True)
        return EXIT_INPUT
    if isinstance(error, OSError) and error.filename is not None:
        click.echo(f"{error.filename}: {error.strerror}", err=True)
        return EXIT_INPUT
    import errno
    import os
    import traceback

    # No file name: what could not be written is standard output.
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
        click.echo(f"the output could not be written: {error.strerror}", err=True)
        return EXIT_INPUT

    kind = type(error).__name__
    if kind == "EngineFault":
        # Its message says what to report.
        click.echo(str(error), err=True)
        return EXIT_INTERNAL
    click.echo(
        f"ackclock failed by an internal error ({kind}: {error}); please report it to the"
        " project with this command, its scenario, `ackclock version`, and the traceback that"
        " ACKCLOCK_TRACEBACK=1 prints.",
        err=True,
    )
    if os.environ.get("ACKCLOCK_TRACEBACK"):
        traceback.print_exception(error)
    return EXIT_INTERNAL


def entry() -> None:
    """What the installed command calls."""
    code = EXIT_INTERRUPTED
    # A second signal may come while the first is reported.
    with suppress(KeyboardInterrupt), ended_by_signals():
        code = main()
    sys.exit(code)
