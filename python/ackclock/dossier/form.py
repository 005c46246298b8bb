"""The form of a profile's files, and of what is written, as JSON Schema.

``scenarios/``, ``figures.toml`` and ``views.toml`` have the form of a paper's.
"""

from __future__ import annotations

from typing import Any

from ackclock.reproduce.read.form import CLAIMS, TIERS

__all__ = [
    "AUDITS",
    "COMPARISON",
    "DOSSIER",
    "LEVELS",
    "PROFILE",
    "REQUIREMENTS",
    "STANDINGS",
    "VERDICTS",
]

Schema = dict[str, Any]

LEVELS = {
    "MUST": "the document says MUST",
    "SHOULD": "the document says SHOULD",
    "expected": "the document says should, ought to or is required, in lower case",
    "informational": "nothing is required",
}
"""Levels of requirements."""

VERDICTS = {
    "met": "the interval of every number is within its threshold",
    "not met": "the interval of a number is beyond its threshold, by more than chance among all",
    "undecided": "an interval has the threshold inside, after as many seeds as the tier allows, or"
    " too few values are all equal",
    "reported": "there is no threshold",
    "text needed": "only the authors can answer",
    "not applicable": "nothing was measured, for the reason given",
}
"""Verdicts, and what each means."""

STANDINGS = {
    "measured": "numbers of runs decide",
    "argued": "nothing that is measured decides; the author's text is printed",
    "open": "neither was measured nor argued",
}
"""What is behind a requirement's row."""

AUDITS = ("adversary", "latecomer", "game", "proofs")
"""Studies of ackclock that a profile may include."""


def _text(about: str, **more: Any) -> Schema:
    return {"type": "string", "description": about, **more}


def _table(properties: Schema, required: tuple[str, ...], about: str = "") -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        "description": about,
    }


def _list(items: Schema, about: str, **more: Any) -> Schema:
    return {"type": "array", "items": items, "description": about, **more}


def _whole(about: str, least: int) -> Schema:
    return {"type": "integer", "minimum": least, "description": about}


_TIER = _table(
    {
        "about": _text("What is run, in one sentence."),
        "cpu_s": {
            "type": "number",
            "exclusiveMinimum": 0,
            "description": "Budget of one core [s].",
        },
        "replicates": _whole("Undecided requirements get more replicates, up to this many.", 2),
        "audits": _table(
            {
                name: {
                    "type": "integer",
                    "minimum": 1,
                    "description": f"Size of the study {name}; left out: it is not run.",
                }
                for name in AUDITS
            },
            (),
            "Studies that are run beside: the adversary's patterns, starts of the late-comer, flows"
            " of the game, longest cycle of a proof [round trips].",
        ),
    },
    ("about",),
)

PROFILE = _table(
    {
        "title": _text("Title."),
        "about": _text("What it measures."),
        "source": _text("The document it follows."),
        "document": _text('Its short name, written before sections, as "RFC 9743".'),
        "base": _text("Another profile: a part of its requirements, studies, figures is taken."),
        "take": _list(_text("Id of a requirement of the base."), "What is taken, in this order."),
        "sizes": _table(
            {tier: {"type": "object", "description": "By study of the base."} for tier in TIERS},
            (),
            "What a tier changes in studies of the base, with the keys of a tier: set, over, reps.",
        ),
        "against": {
            "type": "object",
            "description": "Other controls by label, unless --against names others.",
        },
        "tiers": _table(dict.fromkeys(TIERS, _TIER), (), "Sizes."),
        "family": _list(
            _table(
                {
                    "id": _text("As requirements name it."),
                    "title": _text("Heading."),
                    "about": _text("What is run in it, for a reader."),
                },
                ("id", "title"),
            ),
            "Groups of requirements, in the order of the report.",
        ),
    },
    ("title", "about", "source", "tiers"),
)
"""``profile.toml``."""

_CLAIM_CHECK = CLAIMS["properties"]["claim"]["items"]["properties"]["check"]["items"]["properties"]

_CHECK = _table(
    {
        **{k: _CLAIM_CHECK[k] for k in ("name", "measure", "expect", "unit", "interval")},
        "reason": _text("Why this threshold."),
        "source": _text("Where the threshold is from; left out: it is ours."),
        "trade": _text("What a stricter and a laxer threshold would change."),
        "shown": _text("Why it is measured though it does not decide."),
    },
    ("measure",),
    "Without expect, reason and trade its value is reported and does not decide.",
)

REQUIREMENTS = _table(
    {
        "requirement": _list(
            _table(
                {
                    "id": _text("Unique in the profile; the section comes first."),
                    "section": _text("Section and paragraph of the document."),
                    "title": _text("What it is about."),
                    "statement": _text("What is required, in your own words."),
                    "level": {"enum": list(LEVELS), "description": "Requirement level."},
                    "family": _text("An id of profile.toml's families."),
                    "figures": _list(_text("Id of a figure."), "Figures that show it."),
                    "check": _list(_CHECK, "All must be met.", minItems=1),
                    "question": _text("What only a person can answer."),
                    "inapplicable": _text(
                        "Why it does not apply where nothing is measured; without checks: why not."
                    ),
                    "note": _text("What a reader should know."),
                },
                ("id", "section", "title", "statement", "level", "family"),
            ),
            "One entry a requirement.",
        )
    },
    (),
)
"""``requirements.toml``."""

_NULL_NUMBER = {"type": ["number", "null"]}

_MEASURED = _table(
    {
        "check": _text("Name of the check; empty if it is the only one."),
        "part": _text("Scenario or pair that the number is of; empty if there is one only."),
        "study": _list(_text("Name."), "Studies that it was measured in."),
        "unit": _text("Unit."),
        "measured": {**_NULL_NUMBER, "description": "Mean over replicates."},
        "low": {**_NULL_NUMBER, "description": "Lower end of the 95 % interval."},
        "high": {**_NULL_NUMBER, "description": "Upper end."},
        "values": _list(_NULL_NUMBER, "One per replicate, in the order of their seeds."),
        "expected": _text("The threshold, written out."),
        "at_least": {**_NULL_NUMBER, "description": "Lower bound."},
        "at_most": {**_NULL_NUMBER, "description": "Upper bound."},
        "distance": {
            **_NULL_NUMBER,
            "description": "From the nearest bound as a part of it (as it is if the bound is 0);"
            " negative: beyond it.",
        },
        "outcome": {"enum": ["met", "missed", "undecided"]},
        "decides": {"type": "boolean"},
        "exact": {
            "type": "boolean",
            "description": "No chance is behind it: all seeds give one and the same run.",
        },
    },
    (
        "check", "part", "study", "unit", "measured", "low", "high", "values", "expected",
        "at_least", "at_most", "distance", "outcome", "decides",
    ),
)  # fmt: skip

_ROW = _table(
    {
        "id": _text("Of the requirement."),
        "section": _text("Of the document."),
        "title": _text("What it is about."),
        "statement": _text("What is required."),
        "level": {"enum": list(LEVELS)},
        "family": _text("Group."),
        "verdict": {"enum": list(VERDICTS)},
        "standing": {"enum": list(STANDINGS), "description": "What is behind the verdict."},
        "reason": _text("Why."),
        "argument": _text("What the author argues; empty: nothing."),
        "question": _text("What only a person can answer."),
        "figures": _list(_text("Id."), "Figures that show it."),
        "thresholds": _list(
            _table(
                {
                    "check": _text("Name."),
                    "expected": _text("The threshold, written out."),
                    "reason": _text("Why this one."),
                    "source": _text("Where it is from."),
                    "trade": _text("What a stricter and a laxer one would change."),
                },
                ("check", "expected", "reason", "source", "trade"),
            ),
            "One for each check.",
        ),
        "numbers": _list(_MEASURED, "What was measured."),
    },
    (
        "id", "section", "title", "statement", "level", "family", "verdict", "reason", "question",
        "figures", "thresholds", "numbers",
    ),
)  # fmt: skip

DOSSIER = _table(
    {
        "dossier": {"const": 1, "description": "Version of this form."},
        "control": _text("Label of the control."),
        "value": {"description": "How a scenario says the control."},
        "tcp": {"type": "object", "description": "TCP settings of its flows that it needs."},
        "flow": {"type": "object", "description": "Other settings of its flows that it needs."},
        "user_code_hash": {"type": ["string", "null"], "description": "SHA-256 of its code."},
        "profile": _text("Name of the profile."),
        "title": _text("Title of the profile."),
        "source": _text("The document it follows."),
        "tier": {"enum": list(TIERS)},
        "against": {"type": "object", "description": "Other controls by label."},
        "version": _text("Of ackclock."),
        "command": _text("What gives this again."),
        "seed": {"type": ["integer", "null"]},
        "counts": {"type": "object", "description": "Requirements by verdict."},
        "standings": {"type": "object", "description": "Requirements by what is behind them."},
        "control_source": _text("Document, with its version, that the control is of."),
        "runs": {"type": "integer"},
        "cpu_s": {"type": "number", "description": "Time of one core that the runs took [s]."},
        "studies": {"type": "object", "description": "Engine, seeds and hash of each study."},
        "audits": {"type": "object", "description": "Results of further studies by name."},
        "rows": _list(_ROW, "One per requirement."),
        "chance": _text("How many numbers are missed by chance."),
        "regressions": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Numbers that are worse than in the baseline.",
        },
    },
    (
        "dossier", "control", "value", "profile", "tier", "against", "version", "counts", "rows",
        "studies",
    ),
)  # fmt: skip
"""``dossier.json``."""

_DIFFERENCE = _table(
    {
        "id": _text("Of the requirement."),
        "number": _text("Requirement, check and part."),
        "family": _text("Its family."),
        "unit": _text("Unit."),
        "values": _list({"type": "number"}, "Means of the first and of the second control."),
        "difference": {"type": "number", "description": "Second less first, mean over seeds."},
        "low": {**_NULL_NUMBER, "description": "Lower end of its 99 % interval; null: one seed."},
        "high": {**_NULL_NUMBER, "description": "Upper end."},
        "size": {
            "type": "number",
            "description": "Without its sign, as a part of the larger value or of the threshold.",
        },
        "expected": _text("The threshold, written out."),
        "better": {"type": ["string", "null"], "description": "Label; null: no difference."},
    },
    (
        "id", "number", "family", "unit", "values", "difference", "low", "high", "size", "expected",
        "better",
    ),
)  # fmt: skip

COMPARISON = _table(
    {
        "comparison": {"const": 1, "description": "Version of this form."},
        **{
            key: DOSSIER["properties"][key]
            for key in (
                "profile", "title", "source", "tier", "against", "version", "command", "seed",
                "runs", "cpu_s",
            )
        },
        "pairs": _list(
            _table(
                {
                    "controls": _list(_text("Label."), "The two."),
                    "compared": _whole("Numbers that both have.", 0),
                    "better": {"type": "object", "description": "Numbers that each is better in."},
                    "sentences": _list(_text("One."), "What follows from the intervals."),
                    "differences": _list(_DIFFERENCE, "One for each number."),
                },
                ("controls", "compared", "better", "sentences", "differences"),
            ),
            "Every two controls.",
        ),
        "dossiers": _list(DOSSIER, "Of each control, in order."),
    },
    (
        "comparison", "profile", "tier", "against", "version", "command", "runs", "cpu_s", "pairs",
        "dossiers",
    ),
)  # fmt: skip
"""``comparison.json``."""
