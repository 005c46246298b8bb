"""Theorems that ship with ackclock, decided anew whenever they are requested."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ackclock._util.text_table import table
from ackclock.catalogue.schema import registry_name
from ackclock.errors import find_by_name
from ackclock.prove.proof import Formula, write_formulas, write_scenario
from ackclock.prove.prove import prove
from ackclock.prove.solvers import SolverLimits, decide
from ackclock.prove.theorems.algebra import ALGEBRA
from ackclock.prove.theorems.of_controls import CLAIMS, LEMMAS
from ackclock.studies.outcome import StudyOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ackclock.prove.replay import Replay
    from ackclock.prove.theorems.of_controls import ClaimTheorem, LemmaTheorem

__all__ = ["Checked", "Theorems", "check_theorems", "names_of"]


@dataclass(frozen=True, slots=True)
class Checked:
    """A theorem with what the solvers said.

    Attributes
    ----------
    name, control
        Of the theorem; an empty control: of none.
    verdict
        ``proved``, ``refuted`` or ``unknown``.
    sentence
        What it says, or how far it came.
    source
        Where something like it was published.
    published
        What that says.
    as_stated
        Whether the verdict is the one that the theorem states.
    formulas
        What the solvers were given.
    replay
        Of a counterexample.
    only_model
        Why packets do not show the counterexample.
    """

    name: str
    control: str
    verdict: str
    sentence: str
    source: str
    published: str
    as_stated: bool
    formulas: tuple[Formula, ...]
    replay: Replay | None = None
    only_model: str = ""

    @property
    def seconds(self) -> float:
        """Time of all solvers [s]."""
        return sum(said.seconds for one in self.formulas for said in one.answer.replies)

    def row(self) -> dict[str, Any]:
        """A row of the table `proofs`."""
        replayed = None if self.replay is None else self.replay.replayed
        return {
            "theorem": self.name,
            "control": self.control,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "source": self.source,
            "published": self.published,
            "as_stated": self.as_stated,
            "replayed": replayed,
            "replay": None if self.replay is None else self.replay.sentence,
            "only_model": self.only_model,
            "seconds": round(self.seconds, 2),
            "formulas": [one.row() for one in self.formulas],
        }


@dataclass(frozen=True)
class Theorems(StudyOutcome):
    """Theorems that were decided."""

    MARKER: ClassVar[str] = "proofs.json"
    PAGE: ClassVar[str] = "page.txt"

    checked: tuple[Checked, ...] = field(default_factory=tuple)

    @property
    def headline(self) -> str:
        """In a line how many have the verdict that they state, and which have not."""
        others = [f"{one.name} is {one.verdict}" for one in self.checked if not one.as_stated]
        line = f"{len(self.checked) - len(others)} of {len(self.checked)} theorems as stated"
        return "; ".join([line, *others])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {"proofs": [one.row() for one in self.checked]}

    def __str__(self) -> str:
        heads = ["theorem", "control", "verdict", "counterexample", "solvers [s]"]
        rows = []
        for one in self.checked:
            status = ""
            if one.replay is not None:
                status = "replayed" if one.replay.replayed else "only in the model"
            rows.append([one.name, one.control, one.verdict, status, f"{one.seconds:.2f}"])
        lines = [table(heads, rows), ""]
        for one in self.checked:
            lines.append(f"{one.name}: {one.verdict}: {one.sentence}.")
            if one.replay is not None:
                lines.append(f"  In packets: {one.replay.sentence}.")
            if one.only_model:
                lines.append(f"  Refuted in the model, not replayed: {one.only_model}.")
            if one.source:
                published = f": {one.published}" if one.published else ""
                lines.append(f"  Source: {one.source}{published}.")
        return "\n".join(lines)

    def pages(self, command: str) -> dict[str, str]:
        """Text of the folder."""
        del command
        return {self.PAGE: str(self)}

    def write_files(self, at: Path, command: str) -> None:
        """Write formulas and scenarios, a folder for each theorem."""
        del command
        for one in self.checked:
            write_formulas(one.formulas, at / one.name)
            write_scenario(one.replay, at / one.name)


def names_of(control: str | None = None) -> list[str]:
    """List the theorems of a control, or all.

    Parameters
    ----------
    control
        Name of a relation, or of a control of algebra.
    """
    stated: tuple[LemmaTheorem | ClaimTheorem, ...] = (*LEMMAS, *CLAIMS)
    of = {one.name: one.control for one in stated}
    of |= {name: about for name, (about, _, _) in ALGEBRA.items()}
    return [name for name, about in of.items() if control in (None, about)]


def check_theorems(
    control: str | None = None,
    *,
    limits: SolverLimits | None = None,
    packets: bool = True,
    progress: Callable[[float], object] | None = None,
) -> Theorems:
    """Decide the theorems of a control, or all.

    Parameters
    ----------
    control
        Name of a control; None: all theorems.
    limits
        Of the calls of solvers.
    packets
        Whether counterexamples are run in packets.
    progress
        Called with the fraction done.

    Raises
    ------
    UnsupportedError
        There is no theorem about the control.
    """
    bounds = limits or SolverLimits()
    if control is not None:
        control = registry_name("cc", control)
        about = [theorem.control for theorem in LEMMAS] + [theorem.control for theorem in CLAIMS]
        about += [x for x, _, _ in ALGEBRA.values() if x]
        find_by_name(control, dict.fromkeys(about), "theorem about")
    wanted = names_of(control)
    checked: list[Checked] = []
    for one in _check_all(set(wanted), bounds, packets=packets):
        checked.append(one)
        if progress is not None:
            progress(len(checked) / len(wanted))
    return Theorems(tuple(checked))


def _check_all(names: set[str], limits: SolverLimits, *, packets: bool) -> Iterator[Checked]:
    for lemmas in LEMMAS:
        if lemmas.name in names:
            yield _check_lemmas(lemmas, limits)
    for claim in CLAIMS:
        if claim.name in names:
            yield _check_claim(claim, limits, packets=packets)
    for name in ALGEBRA:
        if name in names:
            yield _check_algebra(name, limits)


def _check_lemmas(theorem: LemmaTheorem, limits: SolverLimits) -> Checked:
    formulas = []
    for lemma in theorem.lemmas:
        _, terms = theorem.question().lemma(lemma)
        comments = [theorem.name, lemma.name, lemma.sentence]
        formulas.append(Formula(lemma.name, decide(terms, limits, comments)))
    missing = [
        f"{one.name} ({', '.join(one.answer.undecided) or one.answer.word})"
        for one in formulas
        if not (one.answer.agreed and one.answer.word == "impossible")
    ]
    refuted = any(one.answer.word == "possible" for one in formulas)
    verdict = "refuted" if refuted else "unknown" if missing else "proved"
    sentence = theorem.sentence
    if missing:
        sentence += "; not confirmed by both solvers: " + ", ".join(missing)
    return Checked(
        theorem.name,
        theorem.control,
        verdict,
        sentence,
        theorem.source,
        theorem.published,
        as_stated=verdict == "proved",
        formulas=tuple(formulas),
    )


def _check_claim(theorem: ClaimTheorem, limits: SolverLimits, *, packets: bool) -> Checked:
    proof = prove(theorem.question(), limits=limits, periods=theorem.periods, packets=packets)
    shown = proof.replay is None or proof.replay.replayed
    return Checked(
        theorem.name,
        theorem.control,
        proof.verdict,
        f"{theorem.claim}: {proof.sentence}",
        theorem.source,
        theorem.published,
        as_stated=proof.verdict == theorem.verdict,
        formulas=proof.formulas,
        replay=proof.replay,
        only_model="" if shown else theorem.only_model,
    )


def _check_algebra(name: str, limits: SolverLimits) -> Checked:
    control, source, statements = ALGEBRA[name]
    formulas, words = [], []
    for one in statements:
        answer = decide(list(one.contradiction()), limits, [name, one.sentence])
        formulas.append(Formula(one.name, answer))
        right = "impossible" if one.holds else "possible"
        words.append("yes" if answer.agreed and answer.word == right else answer.word)
    sentence = "; ".join(
        one.sentence if one.holds else f"not so: {one.sentence}" for one in statements
    )
    verdict = "proved" if set(words) == {"yes"} else "unknown"
    if any(w == "possible" for w in words):
        verdict = "refuted"
    return Checked(
        name, control, verdict, sentence, source, "", as_stated=verdict == "proved",
        formulas=tuple(formulas),
    )  # fmt: skip
