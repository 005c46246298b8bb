"""Fields of a scenario have their ranges in the schema; form and core report the same."""

import json

import pytest

import ackclock as ac
from ackclock import _core
from ackclock.errors import ScenarioError

NET = {"kind": "graph", "links": [{"a": "s", "b": "d", "rate": "1 Mbps", "delay": "5 ms"}]}


def scenario(**changes):
    data = {"duration": 1, "net": NET, "flows": [{"src": "s", "dst": "d"}]}
    data = json.loads(json.dumps(data))
    for path, value in changes.items():
        *steps, last = [int(s) if s.isdigit() else s for s in path.split("__")]
        table = data
        for step in steps:
            table = table[step] if isinstance(step, int) else table.setdefault(step, {})
        table[last] = value
    return data


@pytest.mark.parametrize(
    ("path", "wrong", "valid", "reported"),
    [
        ("duration", 0, 1, "0 s is out of range; expected more than 0 and at most 9000000 s"),
        ("net__links__0__rate", 0, "1 bps", "more than 0 and at most 1000000000000000 bit/s"),
        ("net__links__0__loss", 1.5, 1, "1.5 is out of range; expected from 0 to 1"),
        ("net__links__0__mtu", 0, 1500, "0 B is out of range; expected from 1 to 65535 B"),
        ("net__links__0__weight", 0, 0.5, "0 is out of range; expected more than 0"),
        ("flows__0__size", 0, 1, "0 B is out of range; expected at least 1 B"),
        ("tcp__delayed_ack", 0, 1, "expected at least 1 (packets)"),
        ("tcp__ack_size", 65_001, 65_000, "expected from 1 to 65000 (B)"),
        ("tcp__receiver_window", 0, 1, "expected at least 1 (segments)"),
    ],
)
def test_a_value_outside_its_range_is_reported_alike_by_form_and_core(path, wrong, valid, reported):
    with pytest.raises(ScenarioError) as caught:
        ac.Scenario.from_data(scenario(**{path: wrong}))
    (problem,) = caught.value.problems
    assert reported in problem.message
    assert problem.range is not None
    with pytest.raises(_core.InputError) as refused:
        _core.normalise(json.dumps(scenario(**{path: wrong})))
        _core.predict(json.dumps(scenario(**{path: wrong})), None)
    assert reported in json.loads(str(refused.value))[0]["message"]
    ac.Scenario.from_data(scenario(**{path: valid}))


def test_the_printed_schema_has_the_ranges():
    from ackclock.catalogue import schema

    link = schema.definition("LinkSpec")["properties"]
    assert (link["loss"]["minimum"], link["loss"]["maximum"]) == (0, 1)
    assert link["rate"]["exclusiveMinimum"] == 0
    assert (link["mtu"]["minimum"], link["mtu"]["maximum"]) == (1, 65535)
    assert schema.scenario()["properties"]["duration"]["exclusiveMinimum"] == 0
