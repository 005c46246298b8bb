"""What a profile's folder says, as frozen objects. `ackclock.dossier.read` reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.reproduce.paper import PaperData

__all__ = ["AGAINST", "MINE", "Profile", "Requirement", "Threshold"]

MINE = "@mine"
"""In a study of a profile: the control under study."""

AGAINST = "@against"
"""As the values of an axis: the other controls, by label."""


@dataclass(frozen=True)
class Threshold:
    """Why a check expects what it expects."""

    check: str
    reason: str
    source: str
    trade: str


@dataclass(frozen=True)
class Requirement:
    """One requirement. Keys as in ``requirements.toml``; its checks are those of the claim.

    Parameters
    ----------
    is_text
        Nothing that is measured decides: people answer the question.
    is_reported
        No check has a threshold.
    """

    id: str
    section: str
    title: str
    statement: str
    level: str
    family: str
    figures: tuple[str, ...] = ()
    question: str = ""
    inapplicable: str = ""
    note: str = ""
    thresholds: tuple[Threshold, ...] = ()
    is_text: bool = False
    is_reported: bool = False


@dataclass(frozen=True)
class Profile:
    """A profile's folder, read and checked.

    Parameters
    ----------
    data
        Studies, figures and, as claims, the requirements with their checks.
    requirements
        By id.
    against
        Other controls by label.
    """

    data: PaperData
    requirements: Mapping[str, Requirement]
    against: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.data.name

    @property
    def about(self) -> Mapping[str, Any]:
        """Content of ``profile.toml``."""
        return self.data.about

    @property
    def document(self) -> str:
        """Short name of the document it follows; empty if there is none."""
        return str(self.about.get("document", ""))

    @property
    def families(self) -> list[Mapping[str, Any]]:
        """Groups of requirements in order."""
        return list(self.about.get("family", ()))

    def tier(self, name: str) -> Mapping[str, Any]:
        """Settings of a tier.

        Parameters
        ----------
        name
            ``fast`` or ``full``.
        """
        found: Mapping[str, Any] = self.about["tiers"].get(name, {})
        return found
