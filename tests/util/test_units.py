"""Quantities: the same rules in Python as in the core."""

import json

import pytest

from ackclock import _core
from ackclock._util.units import UNITS, buffer_problem, parse, quantity_problem

NET = {"kind": "dumbbell", "pairs": 1, "rate": 1, "rtt": 1}


def through_the_core(key: str, value: object) -> object:
    """The value as the core reads and writes it; None if it refuses."""
    data: dict = {"net": dict(NET), "duration": 1, "flows": [{"pair": 0}]}
    if key == "duration":
        data["duration"] = value
    elif key == "size":
        data["flows"][0]["size"] = value
    else:
        data["net"][key] = value
    try:
        back = json.loads(_core.normalise(json.dumps(data)))
    except _core.InputError:
        return None
    return {"duration": back["duration"], "size": back["flows"][0].get("size")}.get(
        key, back["net"].get(key)
    )


@pytest.mark.parametrize(
    ("quantity", "unit"), [(q, unit) for q, units in UNITS.items() for unit in units]
)
def test_each_unit_means_in_python_what_it_means_in_the_core(quantity, unit):
    text = f"3000 {unit}"
    assert through_the_core(quantity, text) == pytest.approx(parse(text, quantity), rel=1e-12)


@pytest.mark.parametrize(
    ("text", "quantity", "value"),
    [
        ("30 ms", "duration", 0.03),
        ("1e3", "duration", 1000.0),
        ("155 Mb/s", "rate", 155e6),
        ("10 mbps", "rate", 10e6),
        ("1.5 kB", "size", 1500.0),
        (2, "duration", 2.0),
    ],
)
def test_text_and_numbers_are_understood(text, quantity, value):
    assert parse(text, quantity) == pytest.approx(value)


@pytest.mark.parametrize(
    ("value", "quantity", "reported"),
    [
        ("10 ms", "rate", "not a unit of rate"),
        (-1, "duration", "not negative"),
        ("abc", "size", "not a size"),
        (float("nan"), "rate", "finite"),
        (True, "rate", "not a rate"),
        ("5 mss", "duration", 'did you mean "ms"'),
    ],
)
def test_a_wrong_quantity_is_reported_in_a_sentence(value, quantity, reported):
    assert reported in (quantity_problem(value, quantity) or "")


@pytest.mark.parametrize("text", ["100 pkt", "64 kB", "20 ms", "1.5 bdp", "unlimited", "3 p"])
def test_buffers_that_python_takes_the_core_takes(text):
    assert buffer_problem(text) is None
    assert through_the_core("buffer", text) is not None


@pytest.mark.parametrize("value", [100, "100", "0 pkt", "1.5 pkt", "3 furlongs", "-1 bdp", ""])
def test_buffers_that_python_refuses_the_core_refuses(value):
    assert buffer_problem(value)
    assert through_the_core("buffer", value) is None
