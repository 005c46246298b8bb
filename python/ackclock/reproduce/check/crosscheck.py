"""Checks what entries of a paper say about each other: studies, parameters, tables of queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.errors import Problem, suggestion
from ackclock.reproduce.check.overridden import find_overridden
from ackclock.reproduce.check.queries import reads

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ackclock.reproduce.figure import Figure
    from ackclock.reproduce.paper import Claim, PaperData

__all__ = ["problems", "studies_of"]


def problems(paper: PaperData) -> list[Problem]:
    """Find references that lead nowhere.

    Parameters
    ----------
    paper
        As read.
    """
    return [
        *_of_claims(paper),
        *(problem for figure in paper.figures.values() for problem in _of_figure(paper, figure)),
        *_of_parameters(paper),
        *find_overridden(paper),
    ]


def studies_of(paper: PaperData, *queries: str) -> list[str]:
    """Names of the studies that queries read.

    Parameters
    ----------
    paper
        The paper.
    *queries
        Their text.
    """
    found: set[str] = set()
    for query in queries:
        tables = reads(query)
        if not isinstance(tables, str):
            found |= {schema for schema, _ in tables}
    return [name for name in paper.studies if name in found]


def _query(paper: PaperData, file: Path, path: str, query: str) -> Iterator[Problem]:
    tables = reads(query)
    if isinstance(tables, str):
        yield Problem(path, tables, str(file))
        return
    for schema, table in sorted(tables):
        if schema == "expected" and table not in paper.expected:
            message = (
                f'there is no file "expected/{table}.csv"; {suggestion(table, paper.expected)}'
            )
            yield Problem(path, message, str(file))
        elif not schema:
            message = f'the table "{table}" names no study; expected STUDY.{table}'
            yield Problem(path, message, str(file))
        elif schema != "expected" and schema not in paper.studies:
            known = [*paper.studies, "expected"]
            message = f'there is no study "{schema}"; {suggestion(schema, known)}'
            yield Problem(path, message, str(file))


def _of_claims(paper: PaperData) -> Iterator[Problem]:
    for claim in paper.claims.values():
        for name in claim.unstated:
            if name not in paper.parameters:
                hint = suggestion(name, paper.parameters)
                message = f'there is no parameter "{name}" in unstated.toml; {hint}'
                yield Problem(f"claim[{claim.id}].unstated", message, str(claim.file))
        yield from _of_what_sets_nothing(paper, claim)
        for name in claim.refuted_by:
            errata = [id_ for id_, other in paper.claims.items() if other.kind == "E"]
            if name not in errata:
                message = f'there is no erratum "{name}" in errata.toml; {suggestion(name, errata)}'
                yield Problem(f"claim[{claim.id}].refuted_by", message, str(claim.file))
        for name in claim.same_as:
            facts = [id_ for id_, other in paper.claims.items() if not other.same_as]
            if name not in facts or name == claim.id:
                message = f'there is no claim "{name}" that is judged; {suggestion(name, facts)}'
                yield Problem(f"claim[{claim.id}].same_as", message, str(claim.file))
        for check in claim.checks:
            yield from _query(paper, claim.file, f"{check.path}.measure", check.measure)
        yield from _of_readings(paper, claim)


def _of_what_sets_nothing(paper: PaperData, claim: Claim) -> Iterator[Problem]:
    """Each parameter that a claim names sets something in one of the claim's studies."""
    studies = studies_of(paper, *(check.measure for check in claim.checks))
    for name in claim.unstated if studies else ():
        parameter = paper.parameters.get(name)
        if parameter is None or parameter.not_settable:
            continue
        if not any(target.study in studies for target in parameter.sets):
            message = (
                f'"{name}" sets nothing in this claim\'s studies ({", ".join(studies)});'
                " let it set something there in unstated.toml, or leave it out"
            )
            yield Problem(f"claim[{claim.id}].unstated", message, str(claim.file))


def _of_readings(paper: PaperData, claim: Claim) -> Iterator[Problem]:
    """Each reading that a claim depends on is there, and each of its options decides something."""
    file = str(claim.file)
    for check in claim.checks:
        for name, option in check.reading.items():
            if name not in paper.readings:
                message = f'there is no reading "{name}"; {suggestion(name, paper.readings)}'
                yield Problem(f"{check.path}.reading", message, file)
            elif option not in paper.readings[name].options:
                options = paper.readings[name].options
                message = f'"{name}" has no option "{option}"; {suggestion(option, options)}'
                yield Problem(f"{check.path}.reading", message, file)
    for name in claim.readings:
        for option in paper.readings[name].options if name in paper.readings else ():
            deciding = [c for c in claim.checks if not c.ours and c.counts({name: option})]
            if not deciding:
                message = f'has no check that counts where "{name}" is read as "{option}"'
                yield Problem(f"claim[{claim.id}].check", message, file)


def _of_figure(paper: PaperData, figure: Figure) -> Iterator[Problem]:
    place, file = f"figure[{figure.id}]", str(figure.file)
    drawn = [key for key in ("kind", "data") if key in figure.entry]
    if figure.not_drawable and drawn:
        yield Problem(place, f"has not_drawable and also {drawn[0]}; expected one of them", file)
    if not figure.not_drawable and len(drawn) < 2:
        yield Problem(place, "needs kind and data, or not_drawable with the reason", file)
    for key, query in figure.queries.items():
        yield from _query(paper, figure.file, f"{place}.{key}", query)


def _of_parameters(paper: PaperData) -> Iterator[Problem]:
    for parameter in paper.parameters.values():
        for target in parameter.sets:
            if target.study not in paper.studies:
                hint = suggestion(target.study, paper.studies)
                message = f'there is no study "{target.study}"; {hint}'
                yield Problem(f"parameter[{parameter.id}].sets", message, str(parameter.file))
