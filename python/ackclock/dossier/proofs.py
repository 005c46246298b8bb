"""Theorems about a control in its dossier: claims on every path of the model of `prove`.

A control without a relation has none, and neither has one whose parameters its relation does not
have. A counterexample that packets replayed is of the control; what is proved where packets leave
the relation is of the relation alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from ackclock._util.text_table import table
from ackclock.studies.outcome import StudyOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ackclock.prove.proof import Proof

__all__ = ["CLAIMS", "Proofs", "prove_control"]

CLAIMS: tuple[tuple[str, Fraction | None], ...] = (
    ("utilisation=0.1", None),
    ("utilisation=0.5", None),
    ("loss-above=1", Fraction(1)),
    ("no-deadlock=4", None),
)
"""What is claimed of a control, and the buffer [BDP]; None: without bound."""


@dataclass(frozen=True)
class Proofs(StudyOutcome):
    """Claims about a control with their verdicts.

    Attributes
    ----------
    control
        Its label.
    proofs
        In the order of `CLAIMS`; none where nothing can be proved.
    reason
        Why there are none; empty if there are some.
    """

    MARKER: ClassVar[str] = "proofs.json"
    PAGE: ClassVar[str] = "page.txt"

    control: str
    proofs: tuple[Proof, ...]
    reason: str = ""

    def rows(self) -> list[dict[str, Any]]:
        """The table `proofs`: a row for each claim."""
        return [
            {
                "property": proof.question.claim.text,
                "buffer_bdp": None
                if proof.question.path.buffer is None
                else float(proof.question.path.buffer),
                "jitter_rtt": proof.question.path.jitter,
                "verdict": proof.verdict,
                "sentence": proof.sentence,
                "replayed": None if proof.replay is None else proof.replay.replayed,
                "measured": None if proof.replay is None else proof.replay.measured,
                "left_at": list(proof.question.relation.left_at),
            }
            for proof in self.proofs
        ]

    @property
    def answer(self) -> str:
        """What was proved and refuted, in sentences."""
        if self.reason:
            return self.reason
        return " ".join(f"{row['property']}: {_verdict(row)}." for row in self.rows())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {"control": self.control, "reason": self.reason, "proofs": self.rows()}

    def __str__(self) -> str:
        if self.reason:
            return self.reason
        rows = [[row["property"], _verdict(row), row["sentence"]] for row in self.rows()]
        return table(["claim", "verdict", ""], rows)

    def pages(self, command: str) -> dict[str, str]:
        """Text of the folder."""
        del command
        return {self.PAGE: str(self)}

    def write_files(self, folder: Path, command: str) -> None:
        """Write a folder for each claim, with formulas and the scenario of a counterexample."""
        for one in self.proofs:
            one.save(folder / one.question.claim.text.replace("=", "-"), command=command)


def _verdict(row: dict[str, Any]) -> str:
    if row["replayed"] is None:
        return str(row["verdict"])
    return f"{row['verdict']}, {'replayed' if row['replayed'] else 'only in the model'}"


def prove_control(label: str, control: Any, longest: int) -> Proofs:
    """Prove or refute the claims about a control.

    Parameters
    ----------
    label
        Its label.
    control
        Registry name, or a table with ``kind`` and parameters.
    longest
        Longest cycle that is searched [round trips].
    """
    from ackclock.catalogue.schema import registry_name
    from ackclock.prove.controls import RELATIONS
    from ackclock.prove.prove import PERIODS, prove

    name = registry_name("cc", str(control["kind"] if isinstance(control, dict) else control))
    changes = {k: x for k, x in control.items() if k != "kind"} if isinstance(control, dict) else {}
    if name not in RELATIONS:
        return Proofs(label, (), "There is no relation for this control: nothing was proved.")
    relation = RELATIONS[name]
    if unknown := [key for key in changes if key not in relation.parameters]:
        return Proofs(label, (), f"Its relation has no {', '.join(unknown)}: nothing was proved.")
    if any(find_spec(module) is None for module in ("z3", "cvc5")):
        return Proofs(label, (), "The extra prove is not installed: nothing was proved.")
    periods = tuple(period for period in PERIODS if period <= longest) or PERIODS[:1]
    return Proofs(label, tuple(_each(str(name), changes, periods, prove)))


def _each(
    name: str, changes: dict[str, Any], periods: tuple[int, ...], work: Any
) -> Iterator[Proof]:
    from ackclock.prove.question import make_question

    for claim, buffer in CLAIMS:
        yield work(make_question(name, claim, changes=changes, buffer=buffer), periods=periods)
