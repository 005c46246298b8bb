"""The form of a paper's files, as JSON Schema: keys, types, and a sentence about each.

`docs/reference/papers.md` states the same to people; a test keeps the two together.
"""

from __future__ import annotations

from typing import Any

__all__ = ["CLAIMS", "FIGURES", "FIRST", "KINDS", "PAPER", "TIERS", "UNSTATED", "VIEWS"]

Schema = dict[str, Any]

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


def _text(about: str, **more: Any) -> Schema:
    return {"type": "string", "description": about, **more}


def _number(about: str, **more: Any) -> Schema:
    return {"type": "number", "description": about, **more}


def _flag(about: str) -> Schema:
    return {"type": "boolean", "description": about}


def _names(values: Any, about: str) -> Schema:
    return {"enum": list(values), "description": about}


def _list(items: Schema, about: str, **more: Any) -> Schema:
    return {"type": "array", "items": items, "description": about, **more}


def _table(properties: Schema, required: tuple[str, ...] = (), about: str = "") -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        "description": about,
    }


_SQL = "One SELECT over the studies' tables and expected.NAME."

_TIER = _table(
    {
        "about": _text("What is left out of the paper's sizes, in one sentence."),
        "minutes": _number("Time on two cores [min].", exclusiveMinimum=0),
        "replicates": {
            "type": "integer",
            "minimum": 2,
            "description": "Undecided claims get more replicates, up to this many.",
        },
        "forensics_minutes": _number("Budget of a search, CPU time [min].", exclusiveMinimum=0),
    },
    ("about",),
)

PAPER = _table(
    {
        "title": _text("Title of the paper."),
        "authors": _list(_text("A name."), "Authors in the paper's order.", minItems=1),
        "year": {"type": "integer", "description": "Year of publication."},
        "venue": _text("Journal, conference or report."),
        "doi": _text("DOI, without the resolver."),
        "url": _text("Where it can be read."),
        "abstract": _text("What it says, in your own words."),
        "era": _text("Whose defaults the reproduction uses."),
        "tiers": _table(dict.fromkeys(TIERS, _TIER), (), "What each tier leaves out."),
    },
    ("title", "authors", "year", "venue", "abstract"),
)
"""``paper.toml``."""

_AXIS = _table(
    {
        "label": _text("The paper's label."),
        "unit": _text("Unit, shown in brackets."),
        "scale": _names(("linear", "log"), "Scale of the axis."),
        "limits": _list({"type": "number"}, "Least and greatest value.", minItems=2, maxItems=2),
        "factor": _number("Values are multiplied by this before they are drawn."),
        "order": _list({}, "Values of a categorical axis, in their order."),
    },
    (),
)

_KINDS_OF_FIGURE = ("line", "scatter", "bar", "matrix", "map", "table")

_FIGURE = _table(
    {
        "id": _text("As in the paper: 8, 13a, T2."),
        "title": _text("Title, in your own words."),
        "caption": _text("What to see in it."),
        "kind": _names(_KINDS_OF_FIGURE, "How the rows are drawn."),
        "data": _text(_SQL + " Columns x, y; further series, panel, replicate, low, high."),
        "printed": _text("A SELECT with the same columns: the paper's values, hollow marks."),
        "model": _text("A SELECT with the same columns: curves of a model, thin lines."),
        "x": _AXIS,
        "y": _AXIS,
        "value": _AXIS,
        "links": _AXIS,
        "steps": _flag("Draw lines as steps."),
        "band": _flag("Draw the interval over replicates; true if left out."),
        "overlay": _flag("Draw the panels of lines in one axis, each dashed in its way."),
        "underline": _text("Of a table: the column that names, with commas, what to underline."),
        "series": _list(
            _table({"key": {}, "label": _text("Shown in the legend.")}, ("key",)),
            "Order and labels of the series; those not named follow.",
        ),
        "panel": _list(
            _table(
                {
                    "key": {},
                    "title": _text("Above the panel."),
                    "x": _AXIS,
                    "y": _AXIS,
                },
                ("key",),
            ),
            "Order, titles and axes of the panels; those not named follow.",
        ),
        "columns": {
            "type": "integer",
            "minimum": 1,
            "maximum": 4,
            "description": "Panels beside each other.",
        },
        "not_drawable": _text("Why it is not drawn; in place of kind and data."),
    },
    ("id", "title"),
)

FIGURES = _table({"figure": _list(_FIGURE, "One entry a figure.")}, ())
"""``figures.toml``."""

_BOUND = {"anyOf": [{"type": "number"}, {"type": "string"}]}

_EXPECT = _table(
    {
        "equals": {**_BOUND, "description": "Number, or name of a column of the measure."},
        "tolerance": {
            **_BOUND,
            "description": 'Greatest distance from equals; "5 %" is relative to it.',
        },
        "between": _list({"type": "number"}, "Both ends count.", minItems=2, maxItems=2),
        "at_least": {**_BOUND, "description": "Number, or name of a column."},
        "at_most": {**_BOUND, "description": "Number, or name of a column."},
        "above": {**_BOUND, "description": "As at_least, the bound itself does not count."},
        "below": {**_BOUND, "description": "As at_most, the bound itself does not count."},
        "holds": _names(("always", "mostly"), "For measures that are true or false."),
    },
    (),
    "What the measure must be.",
)

_CHECK = _table(
    {
        "name": _text("What is measured; names the check where a claim has several."),
        "measure": _text(_SQL + " Column value; further replicate, part, low, high."),
        "expect": _EXPECT,
        "reason": _text("Why this tolerance."),
        "unit": _text("Unit of the value."),
        "interval": _names(("t", "bootstrap"), "Interval over replicates."),
        "statistic": _names(
            ("mean", "spearman", "half-width"),
            "What is computed of the rows: their mean; the rank correlation of x and y over `at`,"
            " of means over replicates; half the 95 % interval that `ran` runs have.",
        ),
        "ran": {
            "type": "integer",
            "minimum": 1,
            "description": "Runs behind the printed number: the prediction interval judges it.",
        },
        "ours": _text("Why it is measured though the paper does not say it; does not decide."),
        "reading": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "Option by reading, under which the check counts.",
        },
    },
    ("measure", "expect"),
)

_CLAIM_KEYS = {
    "statement": _text("What the paper says."),
    "kind": _names(KINDS, "N number, O ordering, Q qualitative, D definition, P parameter, E."),
    "paper": _text("The paper's value, in words."),
    "where": _text("Section, figure or table."),
    "note": _text("What a reader should know: ambiguity, derivation."),
    "unstated": _list(_text("An id of unstated.toml."), "Unstated parameters it rests on."),
    "check": _list(_CHECK, "All must be met.", minItems=1),
    "not_checkable": _text("Why it cannot be checked; in place of check."),
    "known_deviation": _text("Why a deviation is expected; --strict lets it pass."),
    "refuted_by": _list(_text("Id of an erratum that proves it wrong."), "Proofs against it."),
    "not_public": _text("Data that it rests on and that nobody can have."),
    "full_only": _text("Why only the full tier judges it."),
    "same_as": _list(
        _text("Id of a claim that is judged."),
        "Claims that say the same; in place of check.",
        minItems=1,
    ),
}

_CLAIM = _table(
    {"id": _text("Unique in the paper."), **_CLAIM_KEYS}, ("id", "statement", "kind", "where")
)

_CLAIMS_FROM = _table(
    {
        "file": _text("A file of expected/."),
        "id": _text("With {column} where the file's values go."),
        **_CLAIM_KEYS,
    },
    ("file", "id", "statement", "kind", "where"),
)

CLAIMS = _table(
    {
        "claim": _list(_CLAIM, "One entry a claim."),
        "claims_from": _list(_CLAIMS_FROM, "One claim for each row of a file."),
        "reading": _list(
            _table(
                {
                    "id": _text("As checks name it."),
                    "what": _text("The quantity or sentence."),
                    "options": {
                        "type": "object",
                        "additionalProperties": {"type": "string"},
                        "minProperties": 2,
                        "description": "Each way to read it, by name.",
                    },
                },
                ("id", "what", "options"),
            ),
            "What can be read in several ways.",
        ),
        "margin": _list(
            _table(
                {
                    "id": _text("As bounds name it: margin.ID."),
                    "value": _number("The distance.", exclusiveMinimum=0),
                    "unit": _text("Its unit."),
                    "reason": _text("From the printed digits, an axis, a difference it names."),
                },
                ("id", "value", "reason"),
            ),
            "Distances that count as none, fixed before any search.",
        ),
    },
    (),
)
"""``claims.toml`` and ``errata.toml``."""

_PARAMETER = _table(
    {
        "id": _text("As claims name it."),
        "what": _text("What the paper does not say."),
        "default": {"description": "What is used here."},
        "reason": _text("Why this default."),
        "matters": _text("What it decides."),
        "values": _list({}, "Plausible values.", minItems=1),
        "range": _table(
            {
                "from": _number("Least plausible value."),
                "to": _number("Greatest plausible value."),
                "scale": _names(("linear", "log"), "How it is drawn; linear if left out."),
                "unit": _text("Written behind the number, as in 12 ms."),
            },
            ("from", "to"),
            "A plausible range, in place of values.",
        ),
        "source": _text("Where the plausible values come from."),
        "sets": _list(
            _table(
                {
                    "study": {
                        "anyOf": [
                            {"type": "string"},
                            {"type": "array", "items": {"type": "string"}, "minItems": 1},
                        ],
                        "description": "Name of a study, or several.",
                    },
                    "path": _text("Path of its scenario; over.AXIS... is of the study's file."),
                    "values": {
                        "type": "object",
                        "description": "What is set, by value of the parameter.",
                    },
                },
                ("study", "path"),
            ),
            "What the values are set on.",
            minItems=1,
        ),
        "not_settable": _text("Why it cannot be varied yet; in place of sets."),
    },
    ("id", "what", "reason"),
)

UNSTATED = _table({"parameter": _list(_PARAMETER, "One entry a parameter.")}, ())
"""``unstated.toml``."""

VIEWS = _table(
    {
        "view": {
            "type": "object",
            "propertyNames": {"pattern": "^[a-z][a-z0-9_]*$"},
            "additionalProperties": {"type": "string"},
            "description": "Queries by name; others use them as views.NAME.",
        }
    },
    (),
)
"""``views.toml``."""
