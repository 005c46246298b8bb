"""What several commands share: options, --set, exit codes, and JSON on standard output."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from ackclock.scenario.scenario import Scenario

__all__ = [
    "ALLOW_CODE",
    "CLUSTER",
    "DRY_RUN",
    "EXIT_CHECK",
    "EXIT_INPUT",
    "EXIT_INTERNAL",
    "EXIT_INTERRUPTED",
    "FILE",
    "JSON",
    "LIMITS",
    "QUIET",
    "REPS",
    "SET",
    "STORE",
    "THREADS",
    "TIER",
    "WORKERS",
    "load_scenario",
    "print_json",
    "with_changes",
]

_T = TypeVar("_T")

EXIT_CHECK, EXIT_INPUT, EXIT_INTERRUPTED, EXIT_INTERNAL = 1, 2, 3, 70
"""Exit codes: a check failed, wrong input, interrupted, our fault."""

SET = click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="PATH=VALUE",
    help="Change a value, as in --set net.buffer='2 bdp' or --set 'flows[*].cc=vegas'.",
)
FILE = click.Path(path_type=Path)


class _Threads(click.ParamType[int | str]):
    """A count of threads, or "auto"."""

    name = "threads"

    def convert(
        self, value: int | str, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """Read what was typed."""
        from ackclock.scenario.threads import MOST_THREADS

        if value == "auto":
            return "auto"
        try:
            count = int(value)
        except ValueError:
            count = 0
        if not 1 <= count <= MOST_THREADS:
            self.fail(f'{value} threads, expected 1 to {MOST_THREADS} or "auto"', param, ctx)
        return count


THREADS = _Threads()
WORKERS = click.option(
    "--workers", type=click.IntRange(min=1), help="Runs at a time; left out: one per core."
)
CLUSTER = click.option(
    "--cluster", metavar="ADDRESS", help="Run on a Dask cluster: tcp://HOST:PORT."
)
STORE = click.option(
    "--store",
    type=FILE,
    metavar="DIR",
    help="Folder that keeps the runs; left out: $ACKCLOCK_STORE or ackclock-store.",
)
TIER = click.option(
    "--tier",
    type=click.Choice(["fast", "full"]),
    default="fast",
    show_default=True,
    help="fast takes minutes, full is the real thing.",
)
REPS = click.option("--reps", type=click.IntRange(min=1), help="Replicates; left out: as set.")


def _set_allow_code(context: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001
    if not value and not context.resilient_parsing:
        from ackclock.catalogue.code_permission import forbidden

        reason = "it came with a paper; read it, and give --allow-code"
        context.with_resource(forbidden(reason))


ALLOW_CODE = click.option(
    "--allow-code",
    is_flag=True,
    expose_value=False,
    callback=_set_allow_code,
    help="Let Python files that the paper names run, with your rights; read them before.",
)
DRY_RUN = click.option("--dry-run", is_flag=True, help="Say what would run, and how long.")


def _set_memory_share(_: click.Context, __: click.Parameter, value: float | None) -> None:
    if value is not None:
        from ackclock.scenario.memory import SHARE

        # Processes of workers have the same limit.
        os.environ[SHARE] = str(value)


def _set_no_limit(_: click.Context, __: click.Parameter, value: bool) -> None:  # noqa: FBT001
    if value:
        from ackclock.scenario.time_limit import NO_LIMIT

        # Processes of workers have none either.
        os.environ[NO_LIMIT] = "1"


_MEMORY_SHARE = click.option(
    "--memory-share",
    type=click.FloatRange(min=0, min_open=True),
    expose_value=False,
    callback=_set_memory_share,
    help="Share of the machine's memory that runs may take; left out: $ACKCLOCK_MEMORY_SHARE or"
    " 0.8. Above it they are refused.",
)
_NO_LIMIT = click.option(
    "--no-limit",
    is_flag=True,
    expose_value=False,
    callback=_set_no_limit,
    help="Also what is predicted to take more than a day of one core; without, it is refused.",
)


def LIMITS(command: Callable[..., Any]) -> Callable[..., Any]:  # noqa: N802  an option, as the others
    """Add the options of what runs may take: --memory-share and --no-limit."""
    return _MEMORY_SHARE(_NO_LIMIT(command))


JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
QUIET = click.option("--quiet", is_flag=True, help="Print nothing but errors.")


def _value(text: str) -> Any:
    """A value as TOML would have it; text needs no quotes."""
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text


def _changes(changes: tuple[str, ...]) -> dict[str, str]:
    result = {}
    for change in changes:
        path, equals, value = change.partition("=")
        if not equals:
            raise click.UsageError(f"--set {change}: expected PATH=VALUE")
        result[path.strip()] = value.strip()
    return result


def with_changes(changes: tuple[str, ...], make: Callable[[dict[str, Any]], _T]) -> _T:
    """Make something with the values of --set.

    Parameters
    ----------
    changes
        As typed, ``PATH=VALUE``.
    make
        Gets the values by path.
    """
    import re

    from ackclock.errors import ScenarioError

    text_of_path = _changes(changes)
    values = {path: _value(text) for path, text in text_of_path.items()}
    try:
        return make(values)
    except ScenarioError as error:
        # Where a name is wanted, 2002 is one: such values are tried as the text that was typed.
        wrong = {re.sub(r"\[\d+\]", "[*]", problem.path) for problem in error.problems}
        names = {
            path: text
            for path, text in text_of_path.items()
            if re.sub(r"\[\d+\]", "[*]", path) in wrong
        }
        if not names:
            raise
        try:
            return make({**values, **names})
        except ScenarioError:
            raise error from None


def load_scenario(file: Path, changes: tuple[str, ...]) -> Scenario:
    """Read a scenario with the values of --set.

    Parameters
    ----------
    file
        The scenario.
    changes
        As typed, ``PATH=VALUE``.
    """
    from ackclock.scenario.load import load

    scenario = load(file)
    return with_changes(changes, lambda given: scenario.replace(**given) if given else scenario)


def print_json(data: object) -> None:
    """Print one JSON value on one line.

    Parameters
    ----------
    data
        What is not finite becomes null.
    """
    from ackclock._util.json_text import json_text

    click.echo(json_text(data))
