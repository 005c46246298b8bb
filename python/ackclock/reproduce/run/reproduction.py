"""Reproduces a paper: runs what is needed, judges claims, gathers what figures show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.errors import UnsupportedError, suggestion
from ackclock.reproduce.check.crosscheck import studies_of
from ackclock.reproduce.run.database import Database
from ackclock.reproduce.run.layers import Row, layers
from ackclock.reproduce.run.measure import ClaimResult, measure
from ackclock.reproduce.run.probe import probe
from ackclock.reproduce.run.studies import Means, StudyResult, run_study, sweep_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ackclock.experiments.sweeps import Sweep
    from ackclock.reproduce.paper import Figure, PaperData

__all__ = ["Drawn", "Reproduction", "reproduce"]


@dataclass(frozen=True)
class Drawn:
    """A figure with what it shows; or with the reason why it shows nothing."""

    figure: Figure
    layers: Mapping[str, Sequence[Row]]
    missing: str = ""
    studies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reproduction:
    """A paper, reproduced as far as was requested.

    Parameters
    ----------
    paper
        The paper.
    tier
        ``fast`` or ``full``.
    claims
        Every claim with its verdict.
    figures
        Figures requested.
    studies
        Studies that were run.
    arguments
        What of the paper was requested, as on the command line; empty for all of it.
    """

    paper: PaperData
    tier: str
    claims: tuple[ClaimResult, ...]
    figures: tuple[Drawn, ...]
    studies: Mapping[str, StudyResult]
    arguments: tuple[str, ...] = ()

    @property
    def deviations(self) -> list[ClaimResult]:
        """Claims that deviate though nobody said that they would."""
        return [
            claim
            for claim in self.claims
            if claim.verdict == "deviates" and not claim.is_known_deviation
        ]

    @property
    def command(self) -> str:
        """What gives this again."""
        import shlex

        return shlex.join(
            ["ackclock", "reproduce", self.paper.name, *self.arguments, "--tier", self.tier]
        )

    def count(self, verdict: str) -> int:
        """How many claims have a verdict.

        Parameters
        ----------
        verdict
            One of the three.
        """
        return sum(claim.verdict == verdict for claim in self.claims)


def reproduce(
    paper: PaperData,
    *,
    tier: str = "fast",
    figures: Sequence[str] = (),
    claims: Sequence[str] = (),
    means: Means | None = None,
) -> Reproduction:
    """Reproduce a paper.

    Parameters
    ----------
    paper
        As `ackclock.reproduce.read.folder.read` gives it.
    tier
        ``fast`` or ``full``.
    figures, claims
        Ids of those wanted; both left out: all. With figures only, claims are judged as far as
        the figures' studies allow.
    means
        Where and how studies run.

    Raises
    ------
    UnsupportedError
        There is no such figure or claim.
    PaperError
        A query or an unstated parameter of the paper is wrong.
    AckclockError
        A study is wrong.
    KeyboardInterrupt
        It was stopped; runs that had finished are in the store.
    """
    means = means or Means()
    _known("figure", figures, paper.figures)
    _known("claim", claims, paper.claims)
    everything = not figures and not claims
    wanted_figures = [
        paper.figures[id_] for id_ in figures or (paper.figures if everything else ())
    ]
    wanted_claims = [paper.claims[id_] for id_ in claims or (paper.claims if everything else ())]
    queries = [text for figure in wanted_figures for text in figure.queries.values()]
    queries += [check.measure for claim in wanted_claims for check in claim.checks]
    needed = studies_of(paper, *queries)
    missing = {
        name: study.skipped[tier] for name, study in paper.studies.items() if tier in study.skipped
    }
    sweeps = {
        name: sweep_of(paper, paper.studies[name], tier) for name in needed if name not in missing
    }
    probe(paper, sweeps, _queries(paper), means)
    database = Database(paper)
    done = dict(_run(paper, tier, sweeps, means))
    for name, result in done.items():
        database.add(name, result.tables)
    for name in paper.studies:
        if name not in done:
            missing.setdefault(name, "not run: only a part of the paper was requested")
    random = {name: result.is_random for name, result in done.items()}
    arguments = [*(f"--figure={id_}" for id_ in figures), *(f"--claim={id_}" for id_ in claims)]
    return Reproduction(
        paper,
        tier,
        tuple(
            ClaimResult(claim, (), "not-checkable", "not requested")
            if claims and claim not in wanted_claims
            else measure(claim, database, random, missing)
            for claim in paper.claims.values()
        ),
        tuple(_drawn(figure, database, missing) for figure in wanted_figures),
        done,
        tuple(arguments),
    )


def _known(kind: str, ids: Sequence[str], there: Mapping[str, Any]) -> None:
    for id_ in ids:
        if id_ not in there:
            message = f'the paper has no {kind} "{id_}"; {suggestion(id_, there)}'
            raise UnsupportedError(message)


def _queries(paper: PaperData) -> Iterator[tuple[Path, str, str]]:
    for figure in paper.figures.values():
        for key, text in figure.queries.items():
            yield figure.file, f"figure[{figure.id}].{key}", text
    for claim in paper.claims.values():
        for check in claim.checks:
            yield claim.file, f"{check.place}.measure", check.measure


def _run(
    paper: PaperData, tier: str, sweeps: Mapping[str, Sweep], means: Means
) -> Iterator[tuple[str, StudyResult]]:
    for number, (name, sweep) in enumerate(sweeps.items(), start=1):
        points, reps = len(sweep.points), sweep.replicates
        times = f"{reps.at_first} to {reps.at_most}" if reps.until else str(reps.at_first)
        what = f"{points} point{'s' * (points != 1)}, {times} replicate{'s' * (times != '1')}"
        means.report(f"study {number} of {len(sweeps)}, {name}: {what}")
        yield name, run_study(paper, paper.studies[name], tier, means, made=sweep)


def _drawn(figure: Figure, database: Database, missing: Mapping[str, str]) -> Drawn:
    needed = studies_of(database.paper, *figure.queries.values())
    lost = [f"{missing[name]} (study {name})" for name in needed if name in missing]
    reason = figure.not_drawable or "; ".join(lost)
    if reason:
        return Drawn(figure, {}, reason, tuple(needed))
    return Drawn(figure, layers(figure, database), "", tuple(needed))
