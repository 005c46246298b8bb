"""The command ``ackclock prove``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ackclock.cli import completion
from ackclock.cli.options import FILE, JSON, print_json
from ackclock.cli.studies.deliver import deliver

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from ackclock.prove.elsewhere import Where
    from ackclock.prove.path import Server

__all__ = ["prove"]

CLAIM_S = 60.0
"""Time that all solvers together have for a claim, if the user names none [s]."""


@click.command()
@click.argument("control", required=False, shell_complete=completion.relations)
@click.option("--property", "claim", metavar="NAME=VALUE", help="What is claimed; see --list.")
@click.option("--set", "changes", multiple=True, metavar="NAME=VALUE",
              help="A constant of the control, as in --set b=0.8.")  # fmt: skip
@click.option("--buffer", default="none", show_default=True, metavar='"1 bdp"|none',
              help="Buffer of the path.")  # fmt: skip
@click.option("--jitter", default="1 rtt", show_default=True, metavar='"1 rtt"',
              help="Most that the path delays beyond its queue [rtt].")  # fmt: skip
@click.option("--access-jitter", default="0 rtt", show_default=True, metavar='"1 rtt"',
              help="Most that the path of the last of two flows alone delays [rtt].")  # fmt: skip
@click.option("--path", "server", type=click.Choice(["composed", "plain", "link"]),
              default="composed", show_default=True,
              help="A series of links and aggregators, one, or a link with jitter.")  # fmt: skip
@click.option(
    "--segment", metavar='"0.01 bdp"', help="Size of a segment; left out: any in a range."
)
@click.option("--time", "seconds", type=click.FloatRange(min=0, min_open=True),
              help="Limit of all solvers together [s]; 60 for a claim.")  # fmt: skip
@click.option(
    "--theorems", is_flag=True, help="Prove what ships with ackclock; CONTROL narrows it."
)
@click.option("--longest", type=click.IntRange(2, 12), default=6, show_default=True,
              help="Longest cycle that is searched [round trips].")  # fmt: skip
@click.option("--replay", "where", type=click.Choice(["packet", "stacks", "kernel"]),
              default="packet", show_default=True,
              help="Run a counterexample in QUIC libraries or the kernel too.")  # fmt: skip
@click.option("--list", "list_all", is_flag=True, help="List relations and properties.")
@click.option("--out", type=FILE, metavar="DIR", help="Write page, formulas, scenario into DIR.")
@JSON
@click.option("--quiet", is_flag=True, help="Print the verdict alone, in a line.")
def prove(
    control: str | None,
    *,
    claim: str | None,
    changes: tuple[str, ...],
    buffer: str,
    jitter: str,
    access_jitter: str,
    server: Server,
    segment: str | None,
    seconds: float | None,
    longest: int,
    where: Where,
    theorems: bool,
    list_all: bool,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Prove a claim about CONTROL on every path of a model, or find a path that refutes it.

    A verdict needs two solvers. A counterexample is a scenario, which is run in packets; it counts
    as replayed only if they show the violation.
    """
    from dataclasses import replace

    if list_all:
        _list(as_json=as_json)
        return
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace
    from ackclock._util.progress import Bar
    from ackclock.cli.extras import missing_of
    from ackclock.prove.elsewhere import check_elsewhere, replay_elsewhere
    from ackclock.prove.proof import Proof
    from ackclock.prove.prove import prove as work
    from ackclock.prove.question import make_question
    from ackclock.prove.solvers import SolverLimits

    if theorems:
        if claim is not None:
            raise click.UsageError("--theorems have their properties; leave out --property")
        if where != "packet":
            raise click.UsageError("--theorems are replayed in packets; leave out --replay")
        _check_theorems(control, seconds, out, as_json=as_json, quiet=quiet)
        return
    if control is None:
        raise click.UsageError("CONTROL is missing; --list names those with a relation")
    if claim is None:
        raise click.UsageError("--property is missing, as --property utilisation=0.5")
    size = None if segment is None else _quantity(segment, "--segment", "bdp")
    if size is not None and not 0 < size <= 1:
        raise click.UsageError(f"--segment: {segment}; expected more than 0 and at most 1 bdp")
    question = make_question(
        control,
        claim,
        changes=dict(_change(text) for text in changes),
        buffer=None if buffer == "none" else _quantity(buffer, "--buffer", "bdp"),
        jitter=_whole(jitter, "--jitter"),
        access_jitter=_whole(access_jitter, "--access-jitter"),
        server=server,
        segment=None if size is None else (size, size),
    )
    check_elsewhere(where, question.relation, question.values)
    if out is not None:
        may_replace(out, Proof.MARKER)
    if missing := missing_of("prove"):
        raise click.ClickException(missing)
    with Bar(f"prove {control}", is_shown=not quiet) as progress:
        periods = tuple(range(2, longest + 1, 2))
        limits = SolverLimits.within(CLAIM_S if seconds is None else seconds)
        proof = work(question, limits=limits, periods=periods, progress=progress)
        if proof.replay is not None:
            elsewhere = replay_elsewhere(proof.replay, question.relation, question.claim, where)
            proof = replace(proof, elsewhere=elsewhere)
    deliver(proof, out, command_line(), as_json=as_json, quiet=quiet)
    if quiet and not as_json:
        click.echo(proof.headline)


def _check_theorems(
    control: str | None, seconds: float | None, out: Path | None, *, as_json: bool, quiet: bool
) -> None:
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace
    from ackclock._util.progress import Bar
    from ackclock.cli.extras import missing_of
    from ackclock.prove.solvers import SolverLimits
    from ackclock.prove.theorems import Theorems, check_theorems

    if out is not None:
        may_replace(out, Theorems.MARKER)
    if missing := missing_of("prove"):
        raise click.ClickException(missing)
    with Bar("theorems", is_shown=not quiet) as progress:
        limits = SolverLimits() if seconds is None else SolverLimits.within(seconds)
        checked = check_theorems(control, limits=limits, progress=progress)
    deliver(checked, out, command_line(), as_json=as_json, quiet=quiet)
    if quiet and not as_json:
        click.echo(checked.headline)


def _list(*, as_json: bool) -> None:
    from ackclock._util.text_table import table
    from ackclock.prove.controls import RELATIONS
    from ackclock.prove.properties import PROPERTIES

    if as_json:
        controls = {
            name: {
                "parameters": {k: float(x) for k, x in relation.parameters.items()},
                "leaves_out": relation.leaves_out,
            }
            for name, relation in RELATIONS.items()
        }
        properties = {name: claim_kind.sentence for name, claim_kind in PROPERTIES.items()}
        print_json({"controls": controls, "properties": properties})
        return
    rows = [
        [
            name,
            ", ".join(f"{k}={float(x):g}" for k, x in relation.parameters.items()),
            relation.leaves_out,
        ]
        for name, relation in RELATIONS.items()
    ]
    click.echo(table(["control", "parameters", "left out"], rows))
    click.echo()
    rows = [
        [f"{name}=", claim_kind.value, claim_kind.sentence]
        for name, claim_kind in PROPERTIES.items()
    ]
    click.echo(table(["property", "value", "claim"], rows))


def _change(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"--set {text}: expected NAME=VALUE")
    return name.strip(), value.strip()


def _quantity(text: str, option: str, unit: str) -> Fraction:
    from fractions import Fraction

    number, _, unit_text = text.strip().partition(" ")
    try:
        value = Fraction(number)
    except (ValueError, ZeroDivisionError):
        value = Fraction(-1)
    if unit_text.strip().lower() != unit or value < 0:
        raise click.UsageError(f'{option}: {text}; expected a number and its unit, as "1 {unit}"')
    return value


def _whole(text: str, option: str) -> int:
    value = _quantity(text, option, "rtt")
    if value.denominator != 1 or not 0 <= value <= 4:
        raise click.UsageError(f"{option}: {text}; expected 0 to 4 whole rtt")
    return int(value)
