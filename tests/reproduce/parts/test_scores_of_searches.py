"""Scores of a point of a search: of the claims it was fitted to, of the others, of verdicts."""

from types import SimpleNamespace

import pytest

from ackclock.reproduce.write import forensics


@pytest.mark.parametrize(
    ("verdicts", "reproduced"),
    [
        ({}, 0),
        ({"a": "reproduced", "b": "not reproduced", "c": "reproduced", "d": None}, 2),
        ({"a": "undecided", "b": "partly reproduced", "c": "reproduced"}, 1),
    ],
)
def test_a_claim_counts_as_reproduced_by_that_verdict_alone(monkeypatch, verdicts, reproduced):
    monkeypatch.setattr(forensics, "score", lambda votes, ids: (votes, ids))
    result = SimpleNamespace(
        join_files=lambda votes: f"joined {votes}", fitted=["a"], held_out=["b", "c"]
    )
    judged = SimpleNamespace(votes="votes", verdicts=verdicts)
    assert forensics._scores(result, judged) == {
        "score_fitted": ("joined votes", ["a"]),
        "score_held_out": ("joined votes", ["b", "c"]),
        "reproduced": reproduced,
    }
