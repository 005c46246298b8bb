"""The command line.

Exit codes: 0 done, 1 a check failed, 2 wrong input, 3 interrupted (Ctrl-C), 70 our fault, 143
terminated (SIGTERM).
"""

from __future__ import annotations

import pkgutil
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from ackclock._util.end_signals import EXIT_CODES, ended_by_signals, received
from ackclock._util.text_table import printable
from ackclock.cli.options import EXIT_INPUT, EXIT_INTERNAL, EXIT_INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["EXIT_INPUT", "EXIT_INTERNAL", "EXIT_INTERRUPTED", "cli", "main"]

HOMES = {
    "adversary": "ackclock.cli.studies.adversary:adversary",
    "artifact": "ackclock.cli.reproduce:artifact",
    "audit": "ackclock.cli.studies.audit:audit",
    "check": "ackclock.cli.check:check",
    "compare": "ackclock.cli.studies.compare:compare",
    "conform": "ackclock.cli.studies.conform:conform",
    "demo": "ackclock.cli.studies.demo:demo",
    "differ": "ackclock.cli.studies.differ:differ",
    "emulate": "ackclock.cli.emulate:emulate",
    "evaluate": "ackclock.cli.studies.evaluate:evaluate",
    "evaluate-queue": "ackclock.cli.studies.evaluate:evaluate_queue",
    "explain": "ackclock.cli.check:explain",
    "export": "ackclock.cli.export:export",
    "fluid": "ackclock.cli.fluid:fluid",
    "forensics": "ackclock.cli.reproduce:forensics",
    "game": "ackclock.cli.studies.game:game",
    "gym": "ackclock.cli.studies.evaluate:gym",
    "lab": "ackclock.cli.lab:lab",
    "list": "ackclock.cli.catalogue:list_",
    "plan": "ackclock.cli.studies.plan:plan",
    "plot": "ackclock.cli.plot:plot",
    "reproduce": "ackclock.cli.reproduce:reproduce",
    "results": "ackclock.cli.results:results",
    "run": "ackclock.cli.run:run",
    "schema": "ackclock.cli.schema:schema",
    "show": "ackclock.cli.catalogue:show",
    "sweep": "ackclock.cli.sweep:sweep",
    "twin": "ackclock.cli.studies.twin:twin",
}
"""Commands by name; a module is imported on first use."""

OF_PAPERS = (
    "adversary",
    "artifact",
    "audit",
    "compare",
    "demo",
    "differ",
    "evaluate",
    "evaluate-queue",
    "fluid",
    "forensics",
    "game",
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
def cli() -> None:
    """Simulate networks, compare congestion controls and queues, reproduce papers."""


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
        result = cli.main(arguments, prog_name="ackclock", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return EXIT_INPUT
    except click.ClickException as error:
        click.echo(printable("\n".join(_messages(error))), err=True)
        return EXIT_INPUT
    except (KeyboardInterrupt, click.Abort) as error:
        # Click raises Abort from the KeyboardInterrupt, which may say what is kept.
        kept = str(error.__cause__ or error) or "what had finished is kept"
        click.echo(f"interrupted; {kept}", err=True)
        number = received()
        return EXIT_INTERRUPTED if number is None else EXIT_CODES[number]
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else EXIT_INTERNAL
    except BrokenPipeError:
        return 0
    except BaseException as error:
        number = received()
        if number is not None:
            # What a library makes of the KeyboardInterrupt, as DuckDB a RuntimeError.
            click.echo("interrupted; what had finished is kept", err=True)
            return EXIT_CODES[number]
        return _failed(error)
    return result if isinstance(result, int) else 0


def _failed(error: BaseException) -> int:
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
