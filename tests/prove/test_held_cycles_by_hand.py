"""When a cycle that holds what it delivers is searched, and what a search leaves behind."""

from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace

import pytest

from ackclock.prove import prove
from ackclock.prove.controls.window import CUT_RULES


@dataclass(frozen=True)
class FakePath:
    server: str = "path"
    segment: tuple = (Fraction(1, 1000), Fraction(1, 2))
    jitter: int = 1
    buffer: int = 1


@dataclass(frozen=True)
class FakeQuestion:
    claim: object
    path: FakePath
    relation: object
    held: bool = False

    def cycle(self, period):
        return (f"{'held' if self.held else 'free'} cycle of {period} on {self.path.server}",)


class Work:
    """Notes what solvers get, and answers from a list of words."""

    def __init__(self, *words, kind="utilisation", rules=CUT_RULES, **path):
        self.words, self.requests = list(words), []
        self.question = FakeQuestion(
            SimpleNamespace(kind=SimpleNamespace(name=kind)), FakePath(**path),
            SimpleNamespace(rules=[SimpleNamespace(name=name) for name in rules]),
        )  # fmt: skip

    def part(self, _):
        return nullcontext()

    def decide(self, name, text, wanted=""):
        self.requests.append((text, self.question.path.server, wanted))
        word = self.words.pop(0) if self.words else "impossible"
        return SimpleNamespace(agreed=word != "unknown", word=word, values={}), None


@pytest.fixture(autouse=True)
def _periods(monkeypatch):
    monkeypatch.setattr(prove, "periods_of", lambda path: (10, 20))


@pytest.mark.parametrize(
    "work",
    [
        Work(kind="no-starvation"), Work(server="plain"), Work(rules=list(CUT_RULES)[1:]),
    ],
)  # fmt: skip
def test_a_held_cycle_is_searched_only_for_utilisation_after_cuts_on_a_path_that_holds(work):
    assert prove._search_held(work, packets=False) is None
    assert work.requests == []


def test_each_period_is_searched_on_a_link_of_one_size_of_segment():
    work = Work("impossible", "unknown")
    question = work.question
    assert prove._search_held(work, packets=False) is None
    assert work.requests == [
        ("held cycle of 10 on link", "path", "possible"),
        ("held cycle of 20 on link", "path", "possible"),
    ]
    # The question is again what it was.
    assert work.question == question


def test_the_first_cycle_that_can_be_repeated_is_the_answer(monkeypatch):
    seen = []

    def repeat(work, answer, v, period, *, packets):
        seen.append((period, work.question.held, work.question.path.segment, packets))
        return SimpleNamespace(trace="the trace" if period == 20 else None)

    monkeypatch.setattr(prove, "_repeated_cycle", repeat)
    work = Work("possible", "possible")
    assert prove._search_held(work, packets=True) == "the trace"
    one = (prove.SEGMENT, prove.SEGMENT)
    assert seen == [(10, True, one, True), (20, True, one, True)]
    # What follows is about a link, without the hold, and with segments of any size.
    assert (work.question.path.server, work.question.held) == ("link", False)
    assert work.question.path.segment == FakePath().segment


def test_segments_that_cannot_have_the_usual_size_keep_theirs(monkeypatch):
    sizes = []
    monkeypatch.setattr(
        prove, "_repeated_cycle",
        lambda work, *_, **__: sizes.append(work.question.path.segment)
        or SimpleNamespace(trace=None),
    )  # fmt: skip
    large = (Fraction(1, 3), Fraction(1, 2))
    assert not large[0] <= prove.SEGMENT <= large[1]
    prove._search_held(Work("possible", segment=large), packets=False)
    assert sizes == [large]
