"""Questions to closed forms: what is wrong with one, and the points of its ranges, by hand."""

import pytest

from ackclock.engines.model.case import ModelCase
from ackclock.errors import ScenarioError


def problems(**document):
    with pytest.raises(ScenarioError) as caught:
        ModelCase(
            {"model": "square_root_law", "params": {"rtt_s": 0.1, "loss_ratio": 0.01}, **document}
        )
    return [(problem.path, problem.message) for problem in caught.value.problems]


def of_loss(value):
    """Messages about a value of the loss."""
    found = problems(params={"rtt_s": 0.1, "loss_ratio": value})
    assert {path for path, _ in found} == {"params.loss_ratio"}
    return [message for _, message in found]


def test_wrong_names_have_the_nearest():
    assert problems(model="square_root_lw") == [
        ("model", 'there is no model "square_root_lw"; did you mean "square_root_law"?')
    ]
    assert problems(parms={}) == [("parms", '"parms" is not a key here; did you mean "params"?')]
    assert problems(params={"rtt_s": 0.1, "loss_rati": 0.01})[0] == (
        "params.loss_rati",
        'square_root_law has no parameter "loss_rati"; did you mean "loss_ratio"?',
    )  # fmt: skip


def test_parameters_are_a_table_and_complete():
    assert problems(params=3) == [("params", "3 is not a table of the model's parameters")]
    missing = ("params.loss_ratio", "is missing; it has no default")
    assert missing in problems(params={"rtt_s": 0.1})
    assert problems(params={}) == [("params.loss_ratio", "is missing; it has no default")]


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ([], ["has no values; expected at least one"]),
        (True, ["True is not a number, a list of numbers, or a range"]),
        ([0.1, "x"], ["[0.1, 'x'] is not a number, a list of numbers, or a range"]),
        ({"from": 0.01, "to": "x", "points": 2}, ["a range needs numbers from and to"]),
        ({"from": 0.01, "to": float("inf"), "points": 2}, ["a range needs numbers from and to"]),
        ({"from": 0.0, "to": 0.1, "points": 2, "scale": "log"},
         ["a logarithmic range needs ends above 0"]),
        ({"from": 0.01, "to": 0.1, "points": 0},
         ["points is 0; expected a whole number, at least 1"]),
        ({"from": 0.01, "to": 0.1, "points": 2.5},
         ["points is 2.5; expected a whole number, at least 1"]),
        ({"from": 0.01, "to": 0.1}, ["points is None; expected a whole number, at least 1"]),
        ({"from": 0.01, "to": 0.1, "points": 2, "scale": "lin"},
         ['scale is "lin"; expected linear or log']),
        ({"from": 0.01, "to": 0.1, "points": 2, "scle": "log"},
         ['"scle" is not a key of a range; did you mean "scale"?']),
    ],
    ids=str,
)  # fmt: skip
def test_a_value_is_a_number_a_list_or_a_range(value, messages):
    assert of_loss(value) == messages


def test_values_out_of_the_range_of_a_model_are_refused_wherever_they_are():
    for value in (2.0, [0.01, 2.0], {"from": 0.01, "to": 2.0, "points": 3}):
        (message,) = of_loss(value)
        assert message.endswith("is out of range; expected more than 0 and less than 1")


def column(loss, **more):
    case = ModelCase(
        {"model": "square_root_law", "params": {"rtt_s": 0.1, "loss_ratio": loss, **more}}
    )
    (rows,) = [
        table for table in case.execute().tables.values() if "loss_ratio" in table.column_names
    ]
    return rows["loss_ratio"].to_pylist()


def test_ranges_are_in_equal_steps_or_equal_ratios():
    assert column(0.01) == [0.01]
    assert column([0.01, 0.04]) == [0.01, 0.04]
    steps = column({"from": 0.01, "to": 0.04, "points": 4})
    assert steps == pytest.approx([0.01, 0.02, 0.03, 0.04])
    ratios = column({"from": 0.001, "to": 0.1, "points": 3, "scale": "log"})
    assert ratios == pytest.approx([0.001, 0.01, 0.1])
    assert column({"from": 0.01, "to": 0.04, "points": 1}) == [0.01]
