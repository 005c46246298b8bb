"""Demands on given paths: loads, failures, rates and the bound over routings, by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ackclock.errors import ScenarioError
from ackclock.studies.planner.answers import text
from ackclock.studies.planner.failures import failure_from_names, survey
from ackclock.studies.planner.hashing import Hashing
from ackclock.studies.planner.situation import Situation, read_situation
from ackclock.studies.planner.upgrades import upgrades
from ackclock.studies.planner.utilisation import utilisation
from ackclock.studies.planner.weights import least_utilisation

if TYPE_CHECKING:
    from pathlib import Path

SQUARE = """source,target,capacity_bps,weight
a,b,10 Gbps,1
b,c,10 Gbps,1
a,d,10 Gbps,5
d,c,10 Gbps,5
"""
"""From a to c the way by b is shortest, that by d is long."""


def square(folder: Path, paths: str, demands: str = "a,c,8 Gbps\n") -> Situation:
    (folder / "square.csv").write_text(SQUARE)
    (folder / "demands.csv").write_text("source,target,demand_bps\n" + demands)
    (folder / "paths.csv").write_text(paths)
    return read_situation(
        folder / "square.csv", demands=folder / "demands.csv", paths=folder / "paths.csv"
    )


def loads(situation: Situation) -> dict[str, float]:
    """Loads [Gbit/s] by link, those that are 0 left out."""
    return {situation.direction(i): v / 1e9 for i, v in enumerate(situation.loads) if v > 0}


@pytest.mark.parametrize("hashing", [None, Hashing(1e9)])
def test_shares_divide_a_demand_and_the_rest_is_routed(
    tmp_path: Path, hashing: Hashing | None
) -> None:
    situation = replace(square(tmp_path, "path,share\na;d;c,0.25\n"), hashing=hashing)
    assert loads(situation) == pytest.approx({"a->b": 6, "b->c": 6, "a->d": 2, "d->c": 2})
    both = replace(square(tmp_path, "path\na;d;c\na ; b ; c\n"), hashing=hashing)
    assert loads(both) == pytest.approx({"a->b": 4, "b->c": 4, "a->d": 4, "d->c": 4})
    some = replace(square(tmp_path, "path,share\na;d;c,0.75\na;b;c,\n"), hashing=hashing)
    assert loads(some)["a->b"] == pytest.approx(2)


@pytest.mark.parametrize("hashing", [None, Hashing(1e9)])
def test_a_broken_path_returns_to_the_shortest_one(tmp_path: Path, hashing: Hashing | None) -> None:
    demands = "a,c,8 Gbps\na,b,4 Gbps\n"
    situation = replace(square(tmp_path, "path\na;d;c\n", demands), hashing=hashing)
    assert loads(situation) == pytest.approx({"a->b": 4, "a->d": 8, "d->c": 8})
    broken = survey(situation, failed=[failure_from_names(situation, ["d - c"])])
    # All 12 go from a to b: 2 too much; each demand loses a sixth.
    assert broken.least_lost(0) == pytest.approx(2e9)
    assert [part for _, _, part in broken.hurt[0].demands] == pytest.approx([10 / 12, 10 / 12])
    # The shortest way of a to c fails, which nobody takes; a to b goes round.
    other = survey(situation, failed=[failure_from_names(situation, ["a - b"])])
    assert other.impact["utilisation"][0] == pytest.approx(1.2)
    assert other.hurt[0].count == 2
    gone = survey(situation, failed=[failure_from_names(situation, ["c"])])
    assert gone.impact["own"][0] == pytest.approx(8e9)
    assert gone.impact["disconnected"][0] == gone.impact["utilisation"][0] - 0.4 == 0
    apart = survey(situation, failed=[failure_from_names(situation, ["d - c", "b - c"])])
    assert apart.impact["disconnected"][0] == pytest.approx(8e9)


def test_rates_and_the_bound_over_routings_follow_given_paths(tmp_path: Path) -> None:
    demands = "a,c,16 Gbps\n"
    situation = square(tmp_path, "path,share\na;d;c,0.75\n", demands)
    net, owner = situation.route(np.array([True]), situation.volume)
    assert owner.tolist() == [0, 0]
    assert net.max_min().tolist() == pytest.approx([10e9, 4e9])
    found = upgrades(situation, "total", count=2)
    assert (found.before, found.after) == pytest.approx((14e9, 16e9))
    assert set(found.links) == {"a - d", "d - c"}
    # Three quarters stay by d, whatever the weights.
    assert least_utilisation(situation) == pytest.approx(1.2)
    assert least_utilisation(replace(situation, paths=None)) == pytest.approx(0.8)


def test_paths_without_a_demand_are_counted(tmp_path: Path) -> None:
    situation = square(tmp_path, "path\na;d;c\nb;c;d\n")
    said = text(utilisation(situation)).splitlines()[1]
    assert said == "given paths: 1, of 1 of the demands, 1 more in the file have no demand"


def test_all_problems_of_the_paths_with_their_lines(tmp_path: Path) -> None:
    rows = [
        "a;x;c,",
        "a;c,",
        "a,",
        "a;b;a,",
        "a;d;c,0",
        "a;d;c,half",
        "b;c,0.7",
        "b;a;d;c,0.7",
        "d;c,1",
        "d;a;b;c,",
    ]
    with pytest.raises(ScenarioError) as caught:
        square(tmp_path, "path,share\n" + "\n".join(rows) + "\n")
    messages = [problem.message for problem in caught.value.problems]
    expected = [
        'line 2: there is no node "x"',
        "line 3: there is no link from a to c",
        "line 4: is no path; expected two or more different nodes",
        "line 5: is no path; expected two or more different nodes",
        'line 6: the share is "0"; expected a number above 0, at most 1',
        'line 7: the share is "half"; expected a number above 0, at most 1',
        "line 7: this path is there already: line 6",
        "line 9: the shares from b to c add up to 1.4; expected at most 1",
        "line 11: the shares from d to c add up to 1; expected at most 1, and less where",
    ]
    assert len(messages) >= len(expected)
    for begin in expected:
        assert any(message.startswith(begin) for message in messages), (begin, messages)
    with pytest.raises(ScenarioError, match=r"paths\.csv.*path"):
        square(tmp_path, "nodes\na;d;c\n")
