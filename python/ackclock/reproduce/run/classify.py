"""Computes what a claim is in the end from its verdict, proofs and a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.reproduce.run.standing import Standing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.reproduce.run.inference import Inference
    from ackclock.reproduce.run.measure import ClaimResult

__all__ = ["find_standing"]


def find_standing(
    result: ClaimResult, others: Mapping[str, ClaimResult], inference: Inference | None
) -> Standing:
    """Compute the class of a claim.

    Parameters
    ----------
    result
        Its verdict.
    others
        All claims of the paper by id; errata among them prove claims wrong.
    inference
        What a search of the unstated parameters found; None if there was none.
    """
    claim = result.claim
    found = inference.claims.get(claim.id) if inference else None
    share = found.share if found else None
    decides = found.decides if found else ()
    if result.verdict == "reproduced":
        reading = ", ".join(f"{name} read as {option}" for name, option in result.reading.items())
        where = f", {reading}" if reading else ""
        return Standing("holds", f"met at the default settings{where}", share, decides)
    proofs = [name for name in claim.refuted_by if name in others and _is_proof(others[name])]
    if proofs:
        named = " and ".join(proofs)
        reason = f"{named} proves it wrong: met, and nothing random is behind it"
        return Standing("paper-error", reason, share, decides)
    if claim.not_public:
        return Standing("not-public", f"it rests on {claim.not_public}", share, decides)
    if result.outcome is None:
        return Standing("not-judged", result.reason, share, decides)
    if inference and found and found.is_inferred:
        reason = f"met on fresh seeds at the inferred settings ({inference.point_text})"
        return Standing("holds-inferred", reason, share, decides)
    is_misled = found is not None and found.is_met_cheaply and result.outcome == "missed"
    if found and found.share and not is_misled:
        what = f"holds in {found.share:.0%} of the plausible settings that were tried"
        which = f"; {', '.join(decides)} decide" if decides else ""
        return Standing("undetermined", what + which, share, decides)
    if inference and found and found.is_met_at_best:
        reason = f"met on fresh seeds at the best settings found ({inference.point_text})"
        return Standing("undetermined", f"{reason}, not at the defaults", share, decides)
    searched = "met nowhere in the space searched" if found else "no search was made"
    if found and found.share is None:
        searched = "of the search only the runs of full length judge it, which do not meet it"
    elif is_misled:
        searched = "the search's cheap runs say nothing of it, for they meet it there"
    state = "undecided" if result.outcome == "undecided" else "deviates"
    return Standing("open", f"{state} at the default settings; {searched}", share, decides)


def _is_proof(erratum: ClaimResult) -> bool:
    """Whether an erratum holds, by arithmetic, a closed form or a deterministic run alone."""
    return erratum.verdict == "reproduced" and erratum.is_exact
