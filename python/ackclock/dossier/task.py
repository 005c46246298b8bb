"""What is to be evaluated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ackclock.dossier.bind import bound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.dossier.bind import BoundControl
    from ackclock.dossier.profile import Profile
    from ackclock.reproduce.paper import PaperData

__all__ = ["DossierTask"]


@dataclass(frozen=True)
class DossierTask:
    """What is to be evaluated.

    Parameters
    ----------
    profile
        The profile.
    control
        The control under study.
    rivals
        Other controls by label.
    tier
        ``fast`` or ``full``.
    only
        Ids of requirements, or of families; empty: all.
    seed, reps
        In place of the studies'.
    with_audits
        Whether the profile's audits are run.
    arguments
        The author's texts by id of a requirement.
    argued_in
        Name of the file that they are of; empty: there is none.
    """

    profile: Profile
    control: BoundControl
    rivals: Mapping[str, Any]
    tier: str = "fast"
    only: tuple[str, ...] = ()
    seed: int | None = None
    reps: int | None = None
    with_audits: bool = True
    arguments: Mapping[str, str] = field(default_factory=dict)
    argued_in: str = ""

    @property
    def audits(self) -> Mapping[str, int]:
        """Size by audit: those of the tier, unless only a part of the profile is evaluated."""
        if self.only or not self.with_audits:
            return {}
        found: Mapping[str, int] = self.profile.tier(self.tier).get("audits", {})
        return found

    @property
    def data(self) -> PaperData:
        """The profile's studies for this control."""
        return bound(self.profile, self.control, self.rivals, seed=self.seed, reps=self.reps)
