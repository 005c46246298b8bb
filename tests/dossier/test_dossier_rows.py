"""Rows of a dossier: which number decides, what fails a strict run, the command that repeats it."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from ackclock.dossier.finding import Finding, command_of
from ackclock.dossier.read import PROFILES
from ackclock.dossier.rows import MeasuredNumber, RequirementRow


def number(name, outcome, measured, *, decides=True):
    """A number that is to be at most 1."""
    goal = SimpleNamespace(low=float("-inf"), high=1.0)
    part = SimpleNamespace(outcome=outcome, measured=measured, goal=goal)
    return MeasuredNumber("check", name, part, "", (), decides)


def decisive(*numbers):
    return RequirementRow(None, "met", "", numbers).decisive.name


def test_the_worst_outcome_decides_and_among_equals_the_nearest_to_its_bound():
    near, far = number("near", "met", 0.99), number("far", "met", 0.5)
    undecided, missed = number("undecided", "undecided", 0.2), number("missed", "missed", 1.1)
    beyond = number("beyond", "missed", 3.0)
    assert decisive(far, near) == "near"
    assert decisive(far, near, undecided) == "undecided"
    assert decisive(undecided, near, missed, far) == "missed"
    assert decisive(missed, beyond) == "beyond"
    # One that is only shown does not decide, unless there are no others.
    shown = number("shown", "missed", 9.0, decides=False)
    assert decisive(shown, near) == "near"
    assert decisive(shown) == "shown"


def test_only_what_is_not_met_fails_a_strict_run():
    verdicts = ["met", "not met", "undecided", "reported", "text needed", "not applicable"]
    rows = [
        SimpleNamespace(verdict=verdict, requirement=SimpleNamespace(section=i, title=verdict))
        for i, verdict in enumerate(verdicts)
    ]
    assert Finding(SimpleNamespace(rows=rows)).failures == ["1 not met"]


@pytest.mark.parametrize(
    ("seed", "reps", "more"),
    [(None, None, ""), (0, None, " --seed 0"), (7, 4, " --seed 7 --reps 4")],
)
def test_the_command_has_seed_and_replications_that_were_given(seed, reps, more):
    data = SimpleNamespace(folder=Path(PROFILES) / "quick")
    profile = SimpleNamespace(name="quick", data=data, against={"a": "aimd"})
    task = SimpleNamespace(
        profile=profile,
        control=SimpleNamespace(value="cubic"),
        tier="fast",
        only=(),
        rivals={"a": "aimd"},
        seed=seed,
        reps=reps,
        argued_in="",
    )
    assert command_of("dossier", [task]) == (
        f"ackclock dossier cubic --profile quick --tier fast{more}"
    )
