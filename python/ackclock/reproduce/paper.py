"""What a paper's folder says, as frozen objects. `ackclock.reproduce.read.folder` reads them.

The keys of its files, with their types and a sentence about each, are the fields of these classes:
the check of form, the schemas for editors and the reference are made from them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Required, TypedDict

from ackclock.catalogue.entries import Key, schema_of
from ackclock.reproduce.figure import SQL, Figure

__all__ = [
    "FIRST",
    "KINDS",
    "SQL",
    "TIERS",
    "AboutPaper",
    "Check",
    "Claim",
    "ClaimsFile",
    "Expect",
    "Expected",
    "Margin",
    "PaperData",
    "PaperReading",
    "Parameter",
    "Study",
    "Target",
    "Tiers",
    "UnstatedFile",
    "ViewsFile",
]

KINDS = {
    "N": "number",
    "O": "ordering",
    "Q": "qualitative",
    "D": "definition or formula",
    "P": "parameter",
    "E": "erratum",
}
"""Kinds of claims."""

TIERS = ("fast", "full")
"""Sizes of a reproduction: fast for continuous integration, full for the real thing."""

FIRST = "first"
"""A tier of studies alone: what a search runs at all of its points. Claims are not judged in it."""


class Tier(TypedDict, total=False):
    """A size of a reproduction."""

    about: Required[Annotated[str, "What is left out of the paper's sizes, in one sentence."]]
    minutes: Annotated[float, "Time on two cores [min].", Key(exclusiveMinimum=0)]
    replicates: Annotated[
        int, "Undecided claims get more replicates, up to this many.", Key(minimum=2)
    ]
    forensics_minutes: Annotated[
        float, "Budget of a search, CPU time [min].", Key(exclusiveMinimum=0)
    ]


class Tiers(TypedDict, total=False):
    """Sizes of a reproduction by name."""

    fast: Annotated[Tier, "For continuous integration."]
    full: Annotated[Tier, "The real thing."]


class AboutPaper(TypedDict, total=False):
    """``paper.toml``: what the paper is."""

    title: Required[Annotated[str, "Title of the paper."]]
    authors: Required[
        Annotated[list[Annotated[str, "A name."]], "Authors in the paper's order.", Key(minItems=1)]
    ]
    year: Required[Annotated[int, "Year of publication."]]
    venue: Required[Annotated[str, "Journal, conference or report."]]
    doi: Annotated[str, "DOI, without the resolver."]
    url: Annotated[str, "Where it can be read."]
    abstract: Required[Annotated[str, "What it says, in your own words."]]
    era: Annotated[str, "Whose defaults the reproduction uses."]
    tiers: Annotated[Tiers, "What each tier leaves out."]


@dataclass(frozen=True)
class Study:
    """One sweep file of ``scenarios/``.

    Parameters
    ----------
    name
        Name of the file without its ending; the schema under which queries find its tables.
    file
        The sweep file.
    document
        Its content.
    skipped
        Per tier in which it does not run, the reason.
    """

    name: str
    file: Path
    document: Mapping[str, Any]
    skipped: Mapping[str, str]


@dataclass(frozen=True)
class Expected:
    """A file of ``expected/``: values as the paper prints them.

    Parameters
    ----------
    name
        Name of the file without its ending; queries find it as ``expected.NAME``.
    file
        The CSV file.
    source
        Where in the paper the values are: the comment lines at its head.
    """

    name: str
    file: Path
    source: str


class Expect(TypedDict, total=False):
    """What a measure must be: exactly one of the bounds, each a number or a column's name."""

    equals: Annotated[float | str, "Number, or name of a column of the measure."]
    tolerance: Annotated[float | str, 'Greatest distance from equals; "5 %" is relative to it.']
    between: Annotated[list[float], "Both ends count.", Key(minItems=2, maxItems=2)]
    at_least: Annotated[float | str, "Number, or name of a column."]
    at_most: Annotated[float | str, "Number, or name of a column."]
    above: Annotated[float | str, "As at_least, the bound itself does not count."]
    below: Annotated[float | str, "As at_most, the bound itself does not count."]
    holds: Annotated[Literal["always", "mostly"], "For measures that are true or false."]


_POINTS = re.compile(r"(?<!replicate)\s+AS\s+replicate\b", re.IGNORECASE)
"""In a measure whose replicates are values of a parameter."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One measure of a claim and what it must be.

    Parameters
    ----------
    path
        Its place in the file.
    """

    path: str
    name: Annotated[str, "What is measured; names the check where a claim has several."] = ""
    measure: Annotated[str, f"{SQL} Column value; further replicate, part, low, high."]
    expect: Annotated[Expect, "What the measure must be."]
    reason: Annotated[str, "Why this tolerance; needed with one."] = ""
    unit: Annotated[str, "Unit of the value."] = ""
    interval: Annotated[Literal["t", "bootstrap"], "Interval over replicates."] = "t"
    statistic: Annotated[
        Literal["mean", "spearman", "half-width"],
        "What is computed of the rows: their mean; the rank correlation of x and y over `at`,"
        " of means over replicates, with a bootstrap of replicates; half the 95 % interval that"
        " `ran` runs have, with its chi-squared interval.",
    ] = "mean"
    ran: Annotated[
        int,
        "Runs behind the printed number: the prediction interval judges it.",
        Key(minimum=1),
    ] = 0
    ours: Annotated[
        str, "Why it is measured though the paper does not say it; does not decide."
    ] = ""
    reading: Annotated[Mapping[str, str], "Option by reading, under which the check counts."] = (
        field(default_factory=dict)
    )

    @property
    def is_design(self) -> bool:
        """Whether its replicates are points that somebody chose, such as start times, not seeds."""
        return bool(_POINTS.search(self.measure))

    def counts(self, chosen: Mapping[str, str]) -> bool:
        """Whether it counts under a choice of readings.

        Parameters
        ----------
        chosen
            Option by reading.
        """
        return all(chosen.get(name, option) == option for name, option in self.reading.items())


@dataclass(frozen=True)
class PaperReading:
    """A quantity or sentence that can be read in several ways."""

    id: Annotated[str, "As checks name it."]
    what: Annotated[str, "The quantity or sentence."]
    options: Annotated[Mapping[str, str], "Each way to read it, by name.", Key(minProperties=2)]


@dataclass(frozen=True)
class Margin:
    """A distance that counts as none."""

    id: Annotated[str, "As bounds name it: margin.ID."]
    value: Annotated[float, "The distance.", Key(exclusiveMinimum=0)]
    reason: Annotated[str, "From the printed digits, an axis, a difference it names."]
    unit: Annotated[str, "Its unit."] = ""


@dataclass(frozen=True, kw_only=True)
class ClaimEntry:
    """Keys of a claim, and of what makes claims of a file's rows."""

    id: Annotated[str, "Unique in the paper."]
    statement: Annotated[str, "What the paper says."]
    kind: Annotated[
        str,
        "N number, O ordering, Q qualitative, D definition or formula, P parameter; E erratum.",
        Key(enum=list(KINDS)),
    ]
    paper: Annotated[str, "The paper's value, in words."] = ""
    where: Annotated[str, "Section, figure or table."]
    note: Annotated[str, "What a reader should know: ambiguity, derivation."] = ""
    unstated: Annotated[
        tuple[Annotated[str, "An id of unstated.toml."], ...],
        "Unstated parameters that it rests on; each sets something in a study that it measures.",
    ] = ()
    checks: Annotated[tuple[Check, ...], "All must be met.", Key("check", minItems=1)] = ()
    not_checkable: Annotated[str, "Why it cannot be checked; in place of check."] = ""
    known_deviation: Annotated[str, "Why a deviation is expected; --strict lets it pass."] = ""
    refuted_by: Annotated[
        tuple[Annotated[str, "Id of an erratum that proves it wrong."], ...],
        "Proofs against it: they count if they are reproduced and nothing random is behind them.",
    ] = ()
    not_public: Annotated[str, "Data that it rests on and that nobody can have."] = ""
    full_only: Annotated[str, 'Why only the full tier judges it, as "needs runs of 50 s".'] = ""
    same_as: Annotated[
        tuple[Annotated[str, "Id of a claim that is judged."], ...],
        "Claims that say the same, in place of check: a fact is judged once.",
        Key(minItems=1),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class Claim(ClaimEntry):
    """One statement of the paper.

    Parameters
    ----------
    file
        Where it is.
    made_from
        The file of ``expected/`` of whose row it is made; empty if it is written by itself.
    """

    file: Path
    made_from: str = ""

    @property
    def readings(self) -> list[str]:
        """Readings on which its checks depend."""
        return list(dict.fromkeys(name for check in self.checks for name in check.reading))


@dataclass(frozen=True, kw_only=True)
class ClaimsFrom(ClaimEntry):
    """Claims of the rows of a file."""

    file: Annotated[str, "A file of expected/."]
    id: Annotated[str, "With {column} where the file's values go."]


class ClaimsFile(TypedDict, total=False):
    """``claims.toml`` and ``errata.toml``: what the paper says, and where it is wrong."""

    claim: Annotated[list[Claim], "One entry a claim."]
    claims_from: Annotated[list[ClaimsFrom], "One claim for each row of a file."]
    reading: Annotated[list[PaperReading], "What can be read in several ways."]
    margin: Annotated[list[Margin], "Distances that count as none, fixed before any search."]


@dataclass(frozen=True)
class Target:
    """A value of a study that a parameter sets."""

    study: Annotated[
        str,
        "Name of a study, or several.",
        Key(
            anyOf=[
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ]
        ),
    ]
    path: Annotated[str, "Path of its scenario; over.AXIS... is of the study's file."]
    values: Annotated[
        Mapping[str, Any], "What is set, by value of the parameter, where a value is only a name."
    ] = field(default_factory=dict)

    def value(self, chosen: Any) -> Any:
        """What is set for a value of the parameter.

        Parameters
        ----------
        chosen
            One of the parameter's values.
        """
        return self.values[str(chosen)] if self.values else chosen


Range = TypedDict(
    "Range",
    {
        "from": Required[Annotated[float, "Least plausible value."]],
        "to": Required[Annotated[float, "Greatest plausible value."]],
        "scale": Annotated[Literal["linear", "log"], "How it is drawn; linear if left out."],
        "unit": Annotated[str, "Written behind the number, as in 12 ms."],
    },
    total=False,
)


@dataclass(frozen=True)
class Parameter:
    """What the paper leaves unstated.

    Parameters
    ----------
    file
        Where it is.
    """

    id: Annotated[str, "As claims name it."]
    what: Annotated[str, "What the paper does not say."]
    reason: Annotated[str, "Why this default."]
    file: Path
    default: Annotated[Any, "What is used here."] = None
    matters: Annotated[str, "What it decides."] = ""
    values: Annotated[
        tuple[Any, ...],
        "Plausible values, which --sensitivity and `ackclock forensics` try.",
        Key(minItems=1),
    ] = ()
    range: Annotated[
        Mapping[str, Any], Key(**schema_of(Range)), "A plausible range, in place of values."
    ] = field(default_factory=dict)
    source: Annotated[str, "Where the plausible values come from."] = ""
    sets: Annotated[
        tuple[Target, ...],
        "What the values, or the default alone, are set on before a study runs.",
        Key(minItems=1),
    ] = ()
    not_settable: Annotated[
        str, "Why it cannot be varied yet, in place of sets; default and values may be there."
    ] = ""

    def changes(self, study: str, chosen: Any) -> dict[str, Any]:
        """What a value sets in a study, by path.

        Parameters
        ----------
        study
            Its name.
        chosen
            Value of the parameter.
        """
        return {target.path: target.value(chosen) for target in self.sets if target.study == study}


class UnstatedFile(TypedDict, total=False):
    """``unstated.toml``: parameters that the paper does not state."""

    parameter: Annotated[list[Parameter], "One entry a parameter."]


class ViewsFile(TypedDict, total=False):
    """``views.toml``: queries that others begin with."""

    view: Annotated[
        Mapping[str, str],
        "Queries by name; others use them as views.NAME.",
        Key(propertyNames={"pattern": "^[a-z][a-z0-9_]*$"}),
    ]


@dataclass(frozen=True)
class PaperData:
    """A paper's folder, read and checked.

    Parameters
    ----------
    name
        Name of the folder.
    folder
        The folder.
    about
        Content of ``paper.toml``.
    studies, expected, figures, claims, parameters, readings, margins
        Entries by id.
    """

    name: str
    folder: Path
    about: Mapping[str, Any]
    studies: Mapping[str, Study]
    expected: Mapping[str, Expected]
    figures: Mapping[str, Figure]
    claims: Mapping[str, Claim]
    parameters: Mapping[str, Parameter]
    readings: Mapping[str, PaperReading] = field(default_factory=dict)
    margins: Mapping[str, Margin] = field(default_factory=dict)

    def defaults(self, study: str) -> dict[str, Any]:
        """Values that unstated parameters give to a study's scenario, by path.

        Parameters
        ----------
        study
            Its name.
        """
        return self.changes(study, {})

    def changes(self, study: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """What all unstated parameters set in a study, by path.

        Parameters
        ----------
        study
            Its name.
        values
            By parameter; those left out are at their defaults.
        """
        made: dict[str, Any] = {}
        for parameter in self.parameters.values():
            made |= parameter.changes(study, values.get(parameter.id, parameter.default))
        return made
