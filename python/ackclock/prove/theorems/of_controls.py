"""Theorems of controls on the path model: lemmas, claims, and what was published of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ackclock.prove.lemmas import Bound, Lemma, QuantityFall
from ackclock.prove.question import make_question
from ackclock.prove.theorems.region import AIMD_REGION

if TYPE_CHECKING:
    from ackclock.prove.lemmas import Contrary
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
        b [BDP]; None: without bound.
    segment
        Bounds of a segment [BDP].
    source
        Where something like it was published.
    published
        What that says.
    whole_segments
        Whether a step that delivers anything delivers a segment.
    without
        Rules of the control that the lemmas do without.
    """

    name: str
    control: str
    sentence: str
    lemmas: tuple[Lemma | Contrary, ...]
    buffer: Fraction | None
    segment: tuple[Fraction, Fraction]
    source: str
    published: str
    whole_segments: bool = False
    without: frozenset[str] = frozenset()

    def question(self) -> Question:
        """Make the question that the lemmas are about."""
        made = make_question(
            self.control, "utilisation=0", buffer=self.buffer, jitter=1, segment=self.segment
        )
        path = replace(made.path, quantum=self.whole_segments)
        return replace(made, path=path, without=self.without)


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
    buffer, jitter, access_jitter, server, segment, changes
        As of the command.
    periods
        Cycles that are searched.
    only_model
        Why packets do not show a counterexample, where they do not; empty: they should.
    """

    name: str
    control: str
    claim: str
    verdict: str
    source: str
    published: str
    buffer: Fraction | None = None
    jitter: int = 1
    access_jitter: int = 0
    server: Server = "composed"
    segment: tuple[Fraction, Fraction] | None = None
    changes: tuple[tuple[str, str], ...] = ()
    periods: tuple[int, ...] = (2, 4, 6)
    only_model: str = ""

    def question(self) -> Question:
        """Make the question."""
        return make_question(
            self.control,
            self.claim,
            changes=dict(self.changes),
            buffer=self.buffer,
            jitter=self.jitter,
            access_jitter=self.access_jitter,
            server=self.server,
            segment=self.segment,
        )


_COPA_HIGH = Bound("window", "at most", Fraction(11, 2), segments=Fraction(2))
_COPA_BACKLOG = Bound("backlog", "at most", Fraction(6), segments=Fraction(4))

LEMMAS: tuple[LemmaTheorem, ...] = (
    LemmaTheorem(
        "aimd-region",
        "aimd",
        "AIMD's window comes down to C (R + D) + b + 3 segments; then it is never above that bound"
        " and 10 segments again, nor is loss that it does not know of above C (R + D) + 13"
        " segments",
        AIMD_REGION,
        Fraction(1),
        (Fraction(1, 20), Fraction(1, 20)),
        f"{CCAC}, section 6",
        "three lemmas, with one segment, at every tenth round trip, of a window that begins to"
        " count acknowledgements at the first step",
        whole_segments=True,
        without=frozenset({"growth-at-least"}),
    ),
    LemmaTheorem(
        "copa-region",
        "copa",
        "while Copa's window is above 5.5 C R + 2 segments it does not rise, and up to 7 C R it"
        " falls in every 8 round trips; it never comes back above that bound; then what waits in"
        " the path falls to 6 C R + 4 segments, and stays there; on every path of the model",
        (
            Lemma("no rise", (), (QuantityFall("window"),), 8, (_COPA_HIGH,), begins=4),
            Lemma("falls", (Bound("window", "at most", Fraction(7)),),
                  (QuantityFall("window", segments=Fraction(1, 8)),), 12, (_COPA_HIGH,), begins=4),
            Lemma("window stays", (_COPA_HIGH,), (_COPA_HIGH,), 8, begins=4),
            Lemma("backlog falls", (_COPA_HIGH,),
                  (QuantityFall("backlog", segments=Fraction(2)),), 8, (_COPA_BACKLOG,), begins=4),
            Lemma("backlog stays", (_COPA_HIGH, _COPA_BACKLOG), (_COPA_BACKLOG,), 8, begins=4),
        ),
        None,
        (Fraction(1, 200), Fraction(1, 20)),
        f"{CCAC}, section 7",
        "four lemmas, with 4 C R in place of 5.5 and 6; of these the two of a window below C R are"
        " not shown here, as a step of this relation may fall by four times what another adds",
    ),
)  # fmt: skip
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
        only_model="a step of the model acknowledges and sends at one moment what packets spread"
        " over a base round trip, while the link goes on sending; a burst of 2 BDP then takes a"
        " jitter of four round trips, with which packets are lost below 2.5 BDP",
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
        only_model="a cycle is never left, but packets need not come to it: after Startup they keep"
        " 95 % of the capacity under that jitter; one of two round trips brings them there",
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
    *(
        ClaimTheorem(
            f"{control}-starvation",
            control,
            "no-starvation=0.1",
            "refuted",
            "Arun et al., SIGCOMM 2022",
            "where paths delay for other reasons by more than twice the range in which a control"
            " keeps its delay, one of two flows may starve",
            jitter=0,
            access_jitter=1,
            changes=changes,
            periods=(2,),
        )
        for control, changes in (("vegas", ()), ("fast", (("alpha", "5"),)), ("copa", ()))
    ),
    ClaimTheorem(
        "vegas-composed", "vegas", "utilisation=0.1", "refuted", "", "",
    ),
    ClaimTheorem(
        "fast-composed", "fast", "utilisation=0.1", "refuted", "", "", changes=(("alpha", "5"),),
    ),
)  # fmt: skip
"""Theorems of claims."""
