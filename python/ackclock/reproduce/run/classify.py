"""Computes what a claim is in the end from its verdict, proofs and a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.reproduce.run.inference import FEWEST_ALIKE
from ackclock.reproduce.run.standing import Standing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.reproduce.run.inference import ClaimFound, Inference
    from ackclock.reproduce.run.measure import ClaimResult

__all__ = ["find_standing"]


def find_standing(
    result: ClaimResult,
    results_by_id: Mapping[str, ClaimResult],
    inference: Inference | None,
    tier: str = "full",
) -> Standing:
    """Compute the class of a claim.

    Parameters
    ----------
    result
        Its verdict.
    results_by_id
        All claims of the paper by id; errata among them prove claims wrong.
    inference
        What a search of the unstated parameters found; None if there was none.
    tier
        In which it is judged.
    """
    claim = result.claim
    search_result = inference.claims.get(claim.id) if inference else None
    share = search_result.share if search_result else None
    decides = search_result.decides if search_result else ()
    if claim.same_as:
        which = " and ".join(claim.same_as)
        return Standing("repeats", f"says again what {which} says, and is judged there")
    if result.verdict == "reproduced" and claim.kind == "E":
        return Standing("erratum", "shown here: the paper contradicts itself, or cannot be so")
    if result.verdict == "reproduced":
        reading = ", ".join(f"{name} read as {option}" for name, option in result.reading.items())
        where = f", {reading}" if reading else ""
        return Standing("holds", f"met at the default settings{where}", share, decides)
    proofs = [
        name
        for name in claim.refuted_by
        if name in results_by_id and _is_proof(results_by_id[name])
    ]
    if proofs:
        named = " and ".join(proofs)
        reason = f"{named} proves it wrong: met, and nothing random is behind it"
        return Standing("paper-error", reason, share, decides)
    if claim.not_public:
        return Standing("not-public", f"it rests on {claim.not_public}", share, decides)
    if result.outcome is None:
        return Standing("not-judged", result.reason, share, decides)
    if inference and search_result:
        standing = _from_search(result, inference, search_result, tier)
        if standing is not None:
            return standing
    state = "undecided" if result.outcome == "undecided" else "deviates"
    searched = _describe_search(result, inference, search_result, tier)
    return Standing("open", f"{state} at the default settings; {searched}", share, decides)


def _from_search(
    result: ClaimResult, inference: Inference, search_result: ClaimFound, tier: str
) -> Standing | None:
    """What a search makes of a claim that is not met at the defaults; None: nothing."""
    if search_result.is_inferred:
        reason = f"met on fresh seeds at the inferred settings ({inference.point_text})"
        return Standing("holds-inferred", reason, search_result.share, search_result.decides)
    if search_result.is_met_at_best and inference.tier == tier:
        reason = f"met on fresh seeds at the best settings found ({inference.point_text})"
        return Standing(
            "undetermined",
            f"{reason}, not at the defaults",
            search_result.share,
            search_result.decides,
        )
    if search_result.is_shown_by_share and not _is_misled(result, search_result):
        share_text = f"holds in {search_result.share:.0%} of the plausible settings that were tried"
        which = f"; {', '.join(search_result.decides)} decide" if search_result.decides else ""
        return Standing(
            "undetermined", share_text + which, search_result.share, search_result.decides
        )
    return None


def _describe_search(
    result: ClaimResult, inference: Inference | None, search_result: ClaimFound | None, tier: str
) -> str:
    """Say what a search did for a claim that stays open."""
    if inference and result.claim.id in inference.changed:
        return "the search was made by other rules or runs and says nothing of it"
    if search_result is None:
        return "no search was made"
    if search_result.share is None:
        where = "" if search_result.is_met_at_best else ", which do not meet it"
        other = f" in tier {inference.tier}" if inference and inference.tier != tier else ""
        return f"of the search only the runs of full length judge it{other}{where}"
    if not search_result.share:
        return "met nowhere in the space searched"
    if _is_misled(result, search_result):
        return "the search's cheap runs say nothing of it, for they meet it there"
    met = f"met in {search_result.share:.0%} of the settings tried"
    if search_result.alike is None or search_result.alike < FEWEST_ALIKE:
        agreement = "not known" if search_result.alike is None else f"{search_result.alike:.0%}"
        return f"{met}, by cheap runs whose votes agree too little with dearer ones ({agreement})"
    return f"{met}, no more than chance gives"


def _is_misled(result: ClaimResult, found: ClaimFound) -> bool:
    """Whether cheap runs meet at the defaults what the judged ones miss there."""
    return found.is_met_cheaply and result.outcome == "missed"


def _is_proof(erratum: ClaimResult) -> bool:
    """Whether an erratum holds, by arithmetic, a closed form or a deterministic run alone."""
    return erratum.verdict == "reproduced" and erratum.is_exact
