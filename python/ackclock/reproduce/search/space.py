"""The space of a paper's unstated parameters, and a Sobol design over it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ackclock.errors import UnsupportedError, suggestion
from ackclock.reproduce.check.crosscheck import studies_of
from ackclock.reproduce.run.sensitivity import pick_value, plausible

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ackclock.reproduce.paper import Claim, PaperData, Parameter

__all__ = ["Space", "find_space", "halves"]


@dataclass(frozen=True)
class Space:
    """What is varied, and which claims that touches.

    Parameters
    ----------
    paper
        The paper.
    parameters
        Those that are varied.
    claims
        Claims that may be met or not, depending on them.
    fixed
        Parameters that are not varied, with the reason.
    """

    paper: PaperData
    parameters: tuple[Parameter, ...]
    claims: tuple[Claim, ...]
    fixed: Mapping[str, str]

    @property
    def defaults(self) -> dict[str, Any]:
        """The default of each parameter."""
        return {parameter.id: parameter.default for parameter in self.parameters}

    def design(self, count: int) -> list[dict[str, Any]]:
        """Draw points of a scrambled Sobol sequence; the same count, the same points.

        Parameters
        ----------
        count
            How many.

        Returns
        -------
        list of dict
            Values by parameter: listed ones are equally likely, ranges uniform on their scale.
        """
        return self._sobol(count, seed=0)

    def _sobol(self, count: int, seed: int) -> list[dict[str, Any]]:
        import numpy as np
        from scipy.stats.qmc import Sobol

        exponent = max(count - 1, 1).bit_length()
        sobol = Sobol(len(self.parameters), scramble=True, rng=np.random.default_rng(seed))
        return [
            {p.id: pick_value(p, float(s)) for p, s in zip(self.parameters, row, strict=True)}
            for row in sobol.random_base2(exponent)[:count]
        ]

    def prior(self, count: int) -> list[dict[str, Any]]:
        """Draw points for a surrogate, others than those of the design.

        Parameters
        ----------
        count
            How many.
        """
        return self._sobol(count, seed=1)


def find_space(
    paper: PaperData, tier: str, claims: Collection[str] = (), parameters: Collection[str] = ()
) -> Space:
    """Find what of a paper can be varied, and which claims depend on it.

    Parameters
    ----------
    paper
        The paper.
    tier
        ``first``, ``fast`` or ``full``: claims whose studies it skips are left out.
    claims, parameters
        Ids of those wanted; left out: all.

    Raises
    ------
    UnsupportedError
        There is no such claim or parameter, or nothing can be varied.
    """
    _check_ids("claim", claims, paper.claims)
    _check_ids("parameter", parameters, paper.parameters)
    fixed = {}
    varied = []
    for parameter in paper.parameters.values():
        if parameters and parameter.id not in parameters:
            fixed[parameter.id] = "not requested"
        elif parameter.not_settable:
            fixed[parameter.id] = parameter.not_settable
        elif len(set(map(str, [*plausible(parameter), parameter.default]))) < 2:
            fixed[parameter.id] = "one plausible value"
        else:
            varied.append(parameter)
    touched = {target.study for parameter in varied for target in parameter.sets}
    skipped = {name for name, study in paper.studies.items() if tier in study.skipped}
    claims_varied = [
        claim
        for claim in map(_deciding, paper.claims.values())
        if claim.checks
        and claim.kind != "E"
        and (not claims or claim.id in claims)
        and not (claim.full_only and tier == "fast")
        and _may_vary(paper, claim, touched, skipped)
    ]
    if not varied or not claims_varied:
        missing_text = "parameter that can be varied" if not varied else "claim that depends on one"
        raise UnsupportedError(f"{paper.name} has no unstated {missing_text} in tier {tier}")
    used = {name for claim in claims_varied for name in _studies(paper, claim)}
    for parameter in list(varied):
        if not used & {target.study for target in parameter.sets}:
            varied.remove(parameter)
            fixed[parameter.id] = f"it sets nothing in the studies of tier {tier}"
    return Space(paper, tuple(varied), tuple(claims_varied), fixed)


def _deciding(claim: Claim) -> Claim:
    """The claim with the checks that decide: what only informs need not be run at every point."""
    return replace(claim, checks=tuple(check for check in claim.checks if not check.ours))


def _may_vary(
    paper: PaperData, claim: Claim, touched: Collection[str], skipped: Collection[str]
) -> bool:
    needed = _studies(paper, claim)
    return any(name in touched for name in needed) and not any(name in skipped for name in needed)


def _studies(paper: PaperData, claim: Claim) -> list[str]:
    return studies_of(paper, *(check.measure for check in claim.checks))


def _check_ids(kind: str, ids: Collection[str], there: Mapping[str, object]) -> None:
    for id_ in ids:
        if id_ not in there:
            message = f'the paper has no {kind} "{id_}"; {suggestion(id_, there)}'
            raise UnsupportedError(message)


def halves(units: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split claims into those that a search is fitted to and those that judge it.

    The split depends on nothing but the ids: in order of their hashes they alternate.

    Parameters
    ----------
    units
        Ids.
    """
    import hashlib

    ordered = sorted(units, key=lambda unit: hashlib.sha256(unit.encode()).hexdigest())
    return ordered[::2], ordered[1::2]
