"""Why a claim is judged as it is, and values that do nothing, by hand."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from ackclock.reproduce.check.crosscheck import _of_figure
from ackclock.reproduce.check.overridden import find_overridden
from ackclock.reproduce.paper import Parameter, Study, Target
from ackclock.reproduce.read.folder import _by_id
from ackclock.reproduce.run.measure import _by_part, _kinds, _reason


def number(name, outcome):
    return SimpleNamespace(name=name, outcome=outcome, why=f"is {outcome}")


@pytest.mark.parametrize(
    ("outcomes", "outcome", "known", "text"),
    [
        (["met"], "met", "", "a: is met"),
        (["missed"], "missed", "", "a: is missed"),
        (["missed", "met"], "missed", "", "1 of 2 numbers; a: is missed"),
        (["met", "met"], "met", "", "a: is met; b: is met"),
        (["undecided", "met"], "undecided", "", "undecided: 1 of 2 numbers; a: is undecided"),
        (["missed"] * 3, "missed", "", "a: is missed; b: is missed; c: is missed"),
        (["missed"] * 5, "missed", "x",
         "a: is missed; b: is missed; c: is missed; and 2 more. Known: x"),
        (["met"], "met", "x", "a: is met. Listed as a known deviation, which it is not here"),
        (["undecided"], "undecided", "x", "undecided: a: is undecided"),
    ],
)  # fmt: skip
def test_a_reason_names_three_numbers_that_decide(outcomes, outcome, known, text):
    numbers = [number(name, of) for name, of in zip("abcde", outcomes, strict=False)]
    assert _reason(SimpleNamespace(known_deviation=known), numbers, outcome) == text


def test_a_number_without_a_name_is_its_reason():
    claim = SimpleNamespace(known_deviation="")
    assert _reason(claim, [number("", "met")], "met") == "is met"


def test_rows_of_a_part_are_in_the_order_of_replicates_and_those_without_are_last():
    rows = [{"part": "x", "replicate": 2}, {"replicate": 1}, {"part": "x", "replicate": 0},
            {"part": "x"}]  # fmt: skip
    found = _by_part(SimpleNamespace(to_pylist=lambda: rows))
    assert list(found) == ["x", ""]
    assert [row.get("replicate") for row in found["x"]] == [0, 2, None]


def test_truth_values_go_with_holds_and_numbers_with_all_else():
    from decimal import Decimal

    holds, bound = SimpleNamespace(expect={"holds": "always"}), SimpleNamespace(expect={})
    values = [Decimal("1.5"), None, 2]
    _kinds(values, bound, ValueError)
    assert values == [1.5, None, 2]
    _kinds([True, None], holds, ValueError)
    for wrong, check, message in [([True], bound, "expected a number"),
                                  ([1.0], holds, "expected true or false, for holds"),
                                  (["x"], bound, "expected a number")]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            _kinds(wrong, check, ValueError)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("claim[1].check[0].measure", "claim[b].check[0].measure"),
        ("claim[0]", "claim[a]"),
        ("claim[2].id", "claim[2].id"),
        ("claim[3].id", "claim[3].id"),
        ("title", "title"),
    ],
)
def test_places_have_the_id_of_their_entry_and_the_rest_of_the_path(path, name):
    data = {"claim": [{"id": "a"}, {"id": "b"}, {"id": 7}, "x"]}
    assert _by_id(path, data) == name


def overridden(path, document, default=1, **more):
    target = Target("s", path, **more)
    parameter = Parameter("p", "w", "r", Path(), default=default, sets=(target,))
    study = Study("s", Path("s.toml"), document, {})
    paper = SimpleNamespace(parameters={"p": parameter}, studies={"s": study})
    return [problem.path for problem in find_overridden(paper)]


def test_a_value_that_a_parameter_replaces_is_found_in_scenario_tiers_and_lists():
    document = {
        "scenario": {"net": {"rate": 2}, "flows": [{"cc": "aimd"}, {"cc": "cubic"}]},
        "reps": 3,
        "list": [{"net.rate": 2}, {"net.rate": 1}],
        "over": {"a": {"values": [1, 2]}},
        "tiers": {
            "fast": {"set": {"net.rate": 3}, "reps": 2, "list": [{"net.rate": 4}]},
            "full": {"set": {"net.rate": 1}},
        },
    }
    assert overridden("net.rate", document) == ["scenario.net.rate", 'tiers.fast.set["net.rate"]']
    assert overridden("scenario.net.rate", document) == ["scenario.net.rate"]
    assert overridden("reps", document, default=3) == ["tiers.fast.reps"]
    # Each flow that differs; an algorithm by its name is the table of its kind.
    assert overridden("flows[*].cc", document, default={"kind": "aimd"}) == ["scenario.flows[*].cc"]
    assert overridden("flows[0].cc", document, default={"kind": "aimd"}) == []
    assert overridden("net.rate", {"scenario": {"net": {"rate": 1.0}}}) == []
    assert overridden("net.buffer", document) == []
    assert overridden("over.a.values[1]", document) == ["over.a.values[1]"]
    assert overridden("list[0]", document, default={"net.rate": 1}) == [
        "list[0]", "tiers.fast.list[0]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "not_drawable", "message"),
    [
        ({"kind": "bar", "data": "q"}, "", None),
        ({"kind": "bar"}, "", "needs kind and data, or not_drawable with the reason"),
        ({"data": "q"}, "", "needs kind and data, or not_drawable with the reason"),
        ({}, "", "needs kind and data, or not_drawable with the reason"),
        ({}, "a photograph", None),
        ({"data": "q"}, "a photograph", "has not_drawable and also data; expected one of them"),
        ({"kind": "bar", "data": "q"}, "x", "has not_drawable and also kind; expected one of them"),
    ],
)
def test_a_figure_has_kind_and_data_or_a_reason_for_none(entry, not_drawable, message):
    figure = SimpleNamespace(id="f", file=Path("figures.toml"), entry=entry, queries={},
                             not_drawable=not_drawable)  # fmt: skip
    problems = list(_of_figure(None, figure))
    assert [problem.message for problem in problems] == ([message] if message else [])
    assert all(problem.path == "figure[f]" for problem in problems)
