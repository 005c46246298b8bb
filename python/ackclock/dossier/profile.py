"""What a profile's folder says, as frozen objects. `ackclock.dossier.read` reads them.

As of papers, the keys of its files are the fields of these classes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Required, TypedDict

from ackclock.catalogue.entries import Key
from ackclock.reproduce.paper import SQL, Expect, PaperData

__all__ = [
    "AGAINST",
    "LEVELS",
    "MINE",
    "AboutProfile",
    "Profile",
    "Requirement",
    "RequirementCheck",
    "RequirementsFile",
]

MINE = "@mine"
"""In a study of a profile: the control under study."""

AGAINST = "@against"
"""As the values of an axis: the other controls, by label."""

LEVELS = {
    "MUST": "the document says MUST",
    "SHOULD": "the document says SHOULD",
    "expected": "the document says should, ought to or is required, in lower case",
    "informational": "nothing is required",
}
"""Levels of requirements."""


class Audits(TypedDict, total=False):
    """Sizes of further studies of the control; one that is left out is not run."""

    adversary: Annotated[int, "Patterns of the adversary.", Key(minimum=1)]
    latecomer: Annotated[int, "Starts of the late-comer.", Key(minimum=1)]
    game: Annotated[int, "Flows of the game.", Key(minimum=1)]
    proofs: Annotated[int, "Longest cycle of a proof [round trips].", Key(minimum=1)]


class ProfileTier(TypedDict, total=False):
    """A size of a profile."""

    about: Required[Annotated[str, "What is run, in one sentence."]]
    cpu_s: Annotated[float, "Budget of one core [s].", Key(exclusiveMinimum=0)]
    replicates: Annotated[
        int, "Undecided requirements get more replicates, up to this many.", Key(minimum=2)
    ]
    audits: Annotated[Audits, "Studies that are run beside; one that is left out is not run."]


CONTROLS = ("all", "coupled", "uncoupled")
"""Of which controls a requirement is."""


class ProfileTiers(TypedDict, total=False):
    """Sizes of a profile by name."""

    fast: Annotated[ProfileTier, "For continuous integration."]
    full: Annotated[ProfileTier, "The real thing."]


class TierSizes(TypedDict, total=False):
    """What each tier changes in studies of the base."""

    fast: Annotated[Mapping[str, Any], "By study of the base."]
    full: Annotated[Mapping[str, Any], "By study of the base."]


class Family(TypedDict, total=False):
    """A group of requirements."""

    id: Required[Annotated[str, "As requirements name it."]]
    title: Required[Annotated[str, "Heading."]]
    about: Annotated[str, "What is run in it, for a reader."]


class AboutProfile(TypedDict, total=False):
    """`profile.toml`: what the profile is."""

    title: Required[Annotated[str, "Title."]]
    about: Required[Annotated[str, "What it measures."]]
    source: Required[Annotated[str, "The document it follows."]]
    document: Annotated[str, 'Its short name, written before sections, as "RFC 9743".']
    base: Annotated[str, "Another profile: a part of its requirements, studies, figures is taken."]
    take: Annotated[
        list[Annotated[str, "Id of a requirement of the base."]], "What is taken, in this order."
    ]
    sizes: Annotated[
        TierSizes,
        "What a tier changes in studies of the base, with the keys of a tier: set, over, reps.",
    ]
    against: Annotated[Mapping[str, Any], "Other controls by label, unless --against names others."]
    tiers: Required[Annotated[ProfileTiers, "Sizes."]]
    family: Annotated[list[Family], "Groups of requirements, in the order of the report."]


@dataclass(frozen=True, kw_only=True)
class RequirementCheck:
    """A measure of a requirement; without expect, reason and trade it does not decide."""

    name: Annotated[str, "What is measured; names the check where there are several."] = ""
    measure: Annotated[str, f"{SQL} Column value; further replicate, part, low, high."]
    expect: Annotated[Expect, "What the measure must be."] | None = None
    reason: Annotated[str, "Why this threshold."] = ""
    unit: Annotated[str, "Unit of the value."] = ""
    interval: Annotated[Literal["t", "bootstrap"], "Interval over replicates."] = "t"
    source: Annotated[str, "Where the threshold is from; left out: it is ours."] = "ours"
    trade: Annotated[str, "What a stricter and a laxer threshold would change."] = ""
    shown: Annotated[str, "Why it is measured though it does not decide."] = ""


@dataclass(frozen=True)
class Requirement:
    """One requirement."""

    id: Annotated[str, "Unique in the profile; the section comes first."]
    section: Annotated[str, "Section and paragraph of the document."]
    title: Annotated[str, "What it is about."]
    statement: Annotated[str, "What is required, in your own words."]
    level: Annotated[str, "Requirement level.", Key(enum=list(LEVELS))]
    family: Annotated[str, "An id of profile.toml's families."]
    figures: Annotated[tuple[Annotated[str, "Id of a figure."], ...], "Figures that show it."] = ()
    checks: Annotated[
        tuple[RequirementCheck, ...], "All must be met.", Key("check", minItems=1)
    ] = ()
    question: Annotated[str, "What only a person can answer."] = ""
    inapplicable: Annotated[
        str, "Why it does not apply where nothing is measured; without checks: why not."
    ] = ""
    note: Annotated[str, "What a reader should know."] = ""
    of: Annotated[
        str,
        "Of which controls: those that couple the subflows of a connection, others, or all.",
        Key(enum=list(CONTROLS)),
    ] = "all"

    @property
    def thresholds(self) -> list[RequirementCheck]:
        """Checks that expect something."""
        return [check for check in self.checks if check.expect is not None]

    @property
    def is_text(self) -> bool:
        """Whether nothing that is measured decides: people answer the question."""
        has_any = bool(self.checks or self.question)
        return has_any and all(check.shown for check in self.checks)

    @property
    def is_reported(self) -> bool:
        """Whether no check has a threshold."""
        return bool(self.checks) and not self.thresholds


class RequirementsFile(TypedDict, total=False):
    """`requirements.toml`: what is required."""

    requirement: Annotated[list[Requirement], "One entry a requirement."]


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
