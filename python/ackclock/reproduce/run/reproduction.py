"""Reproduces a paper: runs what is needed, judges claims, gathers what figures show."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ackclock.errors import UnsupportedError, suggestion
from ackclock.reproduce.check.crosscheck import studies_of
from ackclock.reproduce.run.classify import find_standing
from ackclock.reproduce.run.database import Database
from ackclock.reproduce.run.family import control_family, count_family, describe_family
from ackclock.reproduce.run.inference import Inference, load
from ackclock.reproduce.run.layers import DrawnLayer, layers
from ackclock.reproduce.run.measure import ClaimResult, evaluate
from ackclock.reproduce.run.probe import probe
from ackclock.reproduce.run.readings import choose
from ackclock.reproduce.run.studies import RunOptions, StudyResult, run_study, sweep_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ackclock.experiments.sweeps import Sweep
    from ackclock.reproduce.figure import Figure
    from ackclock.reproduce.paper import Claim, PaperData

__all__ = [
    "Drawn",
    "Reproduction",
    "count_looks",
    "count_most",
    "find_designs",
    "find_limit",
    "find_wanted",
    "reproduce",
]


@dataclass(frozen=True)
class Drawn:
    """A figure with what it shows; or with the reason why it shows nothing."""

    figure: Figure
    layers: Mapping[str, Sequence[DrawnLayer]]
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
    reading
        Option by reading, chosen once for all claims.
    inference
        What a search of the unstated parameters found; None if there was none.
    """

    paper: PaperData
    tier: str
    claims: tuple[ClaimResult, ...]
    figures: tuple[Drawn, ...]
    studies: Mapping[str, StudyResult]
    arguments: tuple[str, ...] = ()
    reading: Mapping[str, str] = field(default_factory=dict)
    inference: Inference | None = None

    @property
    def deviations(self) -> list[ClaimResult]:
        """Claims that deviate though nobody said that they would."""
        return [
            claim
            for claim in self.claims
            if claim.verdict == "deviates" and not claim.is_known_deviation
        ]

    @property
    def chance(self) -> str:
        """How many numbers are missed by chance, in one sentence; empty if none can be."""
        return describe_family(count_family(self.claims))

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

    def count_standing(self, name: str) -> int:
        """How many claims have a standing.

        Parameters
        ----------
        name
            One of `ackclock.reproduce.run.standing.STANDINGS`.
        """
        return sum(
            c.standing is not None and c.standing.name == name for c in self.list_claims(name)
        )

    def list_claims(self, name: str) -> list[ClaimResult]:
        """Claims of which a standing is counted: errata for ``erratum``, else all but errata.

        Parameters
        ----------
        name
            As of `count_standing`.
        """
        return [one for one in self.claims if (one.claim.kind == "E") == (name == "erratum")]

    @property
    def orders(self) -> dict[str, int]:
        """How many numbers of claims are met, missed, undecided, and right; errata do not count."""
        counts = [one.orders for one in self.claims if one.claim.kind != "E"]
        keys = ("met", "missed", "undecided", "right")
        return {key: sum(one[key] for one in counts) for key in keys}


def reproduce(
    paper: PaperData,
    *,
    tier: str = "fast",
    figures: Sequence[str] = (),
    claims: Sequence[str] = (),
    options: RunOptions | None = None,
    inference: Inference | None = None,
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
    options
        Where and how studies run.
    inference
        Result of a search of the unstated parameters; left out: that of the paper's folder.

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
    options = options or RunOptions()
    wanted_figures, wanted_claims, needed = find_wanted(paper, figures, claims)
    missing = {
        name: study.skipped[tier] for name, study in paper.studies.items() if tier in study.skipped
    }
    sweeps = {
        name: sweep_of(paper, paper.studies[name], tier) for name in needed if name not in missing
    }
    probe(paper, sweeps, _queries(paper), options)
    study_results = dict(_run(paper, tier, sweeps, options))
    for name in paper.studies:
        if name not in study_results:
            missing.setdefault(name, "not run: only a part of the paper was requested")
    limit = find_limit(paper, tier)
    designs = find_designs(paper, wanted_claims)
    looks = {
        name: 1 if name in designs else count_looks(sweep, limit) for name, sweep in sweeps.items()
    }
    judged = JudgedClaim(paper, tier, wanted_claims, missing, looks)
    for result in study_results.values():
        judged.add(result)
    results, reading = judged.judge(study_results)
    while True:
        open_ = [result for result in results if result.outcome == "undecided"]
        needed = studies_of(paper, *(c.measure for r in open_ for c in r.claim.checks))
        random = [
            name for name in needed if name in study_results and study_results[name].is_random
        ]
        again = [name for name in random if name in sweeps and name not in designs]
        again = [name for name in again if _next_replicates(sweeps[name], limit)]
        if not again:
            break
        for name in again:
            reps = _next_replicates(sweeps[name], limit)
            options.report(f"undecided claims: study {name} again, with {reps} replicates")
            sweeps[name] = sweep_of(paper, paper.studies[name], tier, reps=reps)
            study_results[name] = run_study(
                paper, paper.studies[name], tier, options, sweep=sweeps[name]
            )
            judged.add(study_results[name])
        results, reading = judged.judge(study_results)
    inference = load(paper) if inference is None else inference
    by_id = {result.claim.id: result for result in results}
    return Reproduction(
        paper,
        tier,
        tuple(
            replace(claim_result, standing=find_standing(claim_result, by_id, inference, tier))
            for claim_result in results
        ),
        tuple(_read_layers(figure, judged.database, missing) for figure in wanted_figures),
        study_results,
        (*(f"--figure={id_}" for id_ in figures), *(f"--claim={id_}" for id_ in claims)),
        reading,
        inference,
    )


def find_wanted(
    paper: PaperData, figures: Sequence[str] = (), claims: Sequence[str] = ()
) -> tuple[list[Figure], list[Claim], list[str]]:
    """Find what of a paper is requested, and the studies that it needs.

    Parameters
    ----------
    paper, figures, claims
        As of `reproduce`.

    Returns
    -------
    tuple
        Figures, claims with those that they repeat, and names of studies.

    Raises
    ------
    UnsupportedError
        There is no such figure or claim.
    """
    _check_ids("figure", figures, paper.figures)
    _check_ids("claim", claims, paper.claims)
    everything = not figures and not claims
    wanted_figures = [
        paper.figures[id_] for id_ in figures or (paper.figures if everything else ())
    ]
    wanted_claims = [paper.claims[id_] for id_ in claims or (paper.claims if everything else ())]
    # What repeats others is judged there.
    names = [name for claim in wanted_claims for name in (claim.id, *claim.same_as)]
    wanted_claims = [paper.claims[name] for name in dict.fromkeys(names)]
    queries = [text for figure in wanted_figures for text in figure.queries.values()]
    queries += [check.measure for claim in wanted_claims for check in claim.checks]
    return wanted_figures, wanted_claims, studies_of(paper, *queries)


def find_designs(paper: PaperData, claims: Sequence[Claim]) -> set[str]:
    """Find studies of which claims take chosen values for replicates: these get no more of them.

    Parameters
    ----------
    paper
        The paper.
    claims
        Those that are judged.
    """
    designs = [check for claim in claims for check in claim.checks if check.is_design]
    return set(studies_of(paper, *(check.measure for check in designs)))


def find_limit(paper: PaperData, tier: str) -> int:
    """Find how many replicates studies get at most while claims are undecided; 0: no more of them.

    Parameters
    ----------
    paper, tier
        The paper, and how much of it.
    """
    return int(paper.about.get("tiers", {}).get(tier, {}).get("replicates", 0))


def count_most(sweep: Sweep, limit: int) -> int:
    """Count the replicates that a study has at most, if its claims stay undecided.

    Parameters
    ----------
    sweep
        The study's.
    limit
        Of the paper's tier.
    """
    most = sweep.replicates.at_first
    if sweep.replicates.until is not None:
        return sweep.replicates.at_most
    return max(most, limit) if sweep.case.is_random else most


def count_looks(sweep: Sweep, limit: int) -> int:
    """Count how often the numbers of a study may be judged: at first, and after each doubling.

    Parameters
    ----------
    sweep, limit
        As of `count_most`.
    """
    looks, now = 1, sweep.replicates.at_first
    while sweep.case.is_random and sweep.replicates.until is None and now < limit:
        looks, now = looks + 1, min(2 * now, limit)
    return looks


@dataclass(frozen=True)
class JudgedClaim:
    """Judges the claims of a paper from what was run.

    Parameters
    ----------
    paper, tier
        Of the reproduction.
    claims
        Claims to judge.
    missing
        Studies that were not run, with the reason.
    looks
        How often the numbers of a study may be judged, by study.
    """

    paper: PaperData
    tier: str
    claims: Sequence[Claim]
    missing: Mapping[str, str]
    looks: Mapping[str, int]
    database: Database = field(init=False)
    fixed: Database = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "database", Database(self.paper))
        object.__setattr__(self, "fixed", Database(self.paper))

    def add(self, result: StudyResult) -> None:
        """Take a study, in place of what there was of it.

        Parameters
        ----------
        result
            The study.
        """
        self.database.add(result.study, result.tables)
        self.fixed.add(result.study, result.fixed_tables or {})

    def judge(
        self, study_results: Mapping[str, StudyResult]
    ) -> tuple[tuple[ClaimResult, ...], dict[str, str]]:
        """Judge every claim, under one choice of readings for all.

        Parameters
        ----------
        study_results
            Studies that were run.
        """
        random = {name: result.is_random for name, result in study_results.items()}
        claim_ids = {claim.id for claim in self.claims} or set(self.paper.claims)
        evaluated = [
            evaluate(
                claim,
                self.database,
                random,
                self.missing,
                self.tier,
                looks=self.looks,
                fixed=self.fixed,
            )
            for claim in self.paper.claims.values()
            if claim.id in claim_ids
        ]
        reading = choose(self.paper, evaluated)
        evaluated = control_family(evaluated, reading)
        by_id = {evaluation.claim.id: evaluation.result(reading) for evaluation in evaluated}
        results = tuple(
            by_id.get(claim.id, ClaimResult(claim, (), "not-checkable", "not requested"))
            for claim in self.paper.claims.values()
        )
        return results, reading


def _next_replicates(sweep: Sweep, limit: int) -> int:
    """Twice as many, up to the limit; 0 if there are to be no more."""
    now = sweep.replicates.at_first
    return min(2 * now, limit) if sweep.replicates.until is None and now < limit else 0


def _check_ids(kind: str, ids: Sequence[str], there: Mapping[str, Any]) -> None:
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
            yield claim.file, f"{check.path}.measure", check.measure


def _run(
    paper: PaperData, tier: str, sweeps: Mapping[str, Sweep], options: RunOptions
) -> Iterator[tuple[str, StudyResult]]:
    for number, (name, sweep) in enumerate(sweeps.items(), start=1):
        points, reps = len(sweep.points), sweep.replicates
        times = f"{reps.at_first} to {reps.at_most}" if reps.until else str(reps.at_first)
        what = f"{points} point{'s' * (points != 1)}, {times} replicate{'s' * (times != '1')}"
        options.report(f"study {number} of {len(sweeps)}, {name}: {what}")
        yield name, run_study(paper, paper.studies[name], tier, options, sweep=sweep)


def _read_layers(figure: Figure, database: Database, missing: Mapping[str, str]) -> Drawn:
    needed = studies_of(database.paper, *figure.queries.values())
    lost = [f"{missing[name]} (study {name})" for name in needed if name in missing]
    reason = figure.not_drawable or "; ".join(lost)
    if reason:
        return Drawn(figure, {}, reason, tuple(needed))
    return Drawn(figure, layers(figure, database), "", tuple(needed))
