"""Theorems of controls on the path model: lemmas, claims, and what was published of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ackclock.prove.lemmas import Bound, Change, Lemma
from ackclock.prove.question import make_question

if TYPE_CHECKING:
    from ackclock.prove.path import Server
    from ackclock.prove.question import Question

__all__ = ["CLAIMS", "LEMMAS", "ClaimTheorem", "LemmaTheorem"]

CCAC = "Arun et al., SIGCOMM 2021"


@dataclass(frozen=True, slots=True)
class LemmaTheorem:
    """Lemmas that together say something for all time.

    Attributes
    ----------
    name
        Of the theorem.
    control
        Name of the relation.
    sentence
        What the lemmas say together.
    lemmas
        Each is decided alone.
    buffer
        b [BDP].
    segment
        Bounds of a segment [BDP].
    source
        Where something like it was published.
    """

    name: str
    control: str
    sentence: str
    lemmas: tuple[Lemma, ...]
    buffer: Fraction
    segment: tuple[Fraction, Fraction]
    source: str

    def question(self, lemma: Lemma) -> Question:
        """Make the question of a lemma: about unknown loss, whole segments are delivered."""
        made = make_question(
            self.control, "utilisation=0", buffer=self.buffer, jitter=1, segment=self.segment
        )
        quantum = any(one.quantity == "unnoticed" for one in lemma.unless)
        return replace(made, path=replace(made.path, quantum=quantum))


@dataclass(frozen=True, slots=True)
class ClaimTheorem:
    """A claim with the verdict that it should have.

    Attributes
    ----------
    name
        Of the theorem.
    control, claim
        As of the command.
    verdict
        ``proved``, ``refuted`` or ``unknown``: that no cycle up to `periods` violates it.
    source
        Where something like it was published.
    published
        What that says.
    buffer, jitter, server, segment, changes
        As of the command.
    periods
        Cycles that are searched.
    """

    name: str
    control: str
    claim: str
    verdict: str
    source: str
    published: str
    buffer: Fraction | None = None
    jitter: int = 1
    server: Server = "composed"
    segment: tuple[Fraction, Fraction] | None = None
    changes: tuple[tuple[str, str], ...] = ()
    periods: tuple[int, ...] = (2, 4, 6)

    def question(self) -> Question:
        """Make the question."""
        return make_question(
            self.control,
            self.claim,
            changes=dict(self.changes),
            buffer=self.buffer,
            jitter=self.jitter,
            server=self.server,
            segment=self.segment,
        )


_SIX = Fraction(6)
_HIGH = Bound("window", "at most", Fraction(1), Fraction(1), Fraction(1), _SIX)
_UNKNOWN = Bound("unnoticed", "at most", Fraction(1), Fraction(1), Fraction(0), _SIX)
_HALF = Fraction(1, 2)

LEMMAS: tuple[LemmaTheorem, ...] = (
    LemmaTheorem(
        "aimd-region",
        "aimd",
        "AIMD's window comes down to C (R + D) + b + 6 segments and is there again every 10 round"
        " trips, with at most C (R + D) + 6 segments of loss that it does not know of",
        (
            Lemma("falls", (_UNKNOWN,), (Change("window", segments=Fraction(1)),), 10, (_HIGH,)),
            Lemma(
                "unknown loss falls",
                (_HIGH,),
                (_UNKNOWN, Change("unnoticed", constant=_HALF)),
                10,
                (_UNKNOWN,),
            ),
            Lemma("window stays", (_UNKNOWN, _HIGH), (_HIGH,), 10),
            Lemma("unknown loss stays", (_UNKNOWN, _HIGH), (_UNKNOWN,), 10),
        ),
        Fraction(1),
        (Fraction(1, 20), Fraction(1, 20)),
        f"{CCAC}, section 6: C (R + D) + b + 1 and C (R + D) + 1 segment",
    ),
)
"""Theorems of lemmas."""

CLAIMS: tuple[ClaimTheorem, ...] = (
    *(
        ClaimTheorem(
            f"aimd-loss-{float(buffer):g}",
            "aimd",
            f"loss-above={float(buffer):g}",
            "proved",
            f"{CCAC}, section 6",
            "no loss below a window of the buffer",
            buffer=buffer,
        )
        for buffer in (Fraction(1, 2), Fraction(19, 10), Fraction(3))
    ),
    ClaimTheorem(
        "aimd-early-loss",
        "aimd",
        "loss-above=2.5",
        "refuted",
        f"{CCAC}, section 6",
        "bursts of acknowledgements and of repairs overflow 2 BDP at a window of 2 BDP; without"
        " jitter none is lost below 3",
        buffer=Fraction(2),
    ),
    ClaimTheorem(
        "copa-plain",
        "copa",
        "utilisation=0.5",
        "unknown",
        f"{CCAC}, section 7",
        "no path of one server has less than half of the capacity",
        server="plain",
        segment=(Fraction(1, 200), Fraction(1, 20)),
    ),
    ClaimTheorem(
        "copa-composed",
        "copa",
        "utilisation=0.1",
        "refuted",
        f"{CCAC}, section 7",
        "less than 10 % on a path of several servers",
    ),
    ClaimTheorem(
        "bbr",
        "bbr",
        "utilisation=0.1",
        "refuted",
        f"{CCAC}, section 8",
        "less than 10 %, and arbitrarily little",
    ),
    ClaimTheorem(
        "bbr-jitter-2",
        "bbr",
        "utilisation=0.1",
        "refuted",
        f"{CCAC}, section 8",
        "less than 10 %, and arbitrarily little",
        jitter=2,
    ),
    ClaimTheorem(
        "bbr-plain",
        "bbr",
        "utilisation=0.1",
        "unknown",
        "",
        "",
        server="plain",
        periods=(4,),
    ),
    ClaimTheorem(
        "vegas-composed", "vegas", "utilisation=0.1", "refuted", "", "",
    ),
    ClaimTheorem(
        "fast-composed", "fast", "utilisation=0.1", "refuted", "", "", changes=(("alpha", "5"),),
    ),
)  # fmt: skip
"""Theorems of claims."""
