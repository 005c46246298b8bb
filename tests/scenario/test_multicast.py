"""Multicast groups, from Python and TOML."""

import tomllib
from pathlib import Path

import pytest

import ackclock as ac

EXAMPLE = Path(__file__).parents[2] / "examples/multicast-plm.toml"


def test_an_object_and_its_data_are_the_same_scenario():
    data = tomllib.loads(EXAMPLE.read_text())
    group = ac.Group(**{**data["groups"][0], "control": ac.multicast.Plm(check="800 ms")})
    scenario = ac.Scenario(data["net"], groups=[group], duration="5 s", record=["layers"])
    again = ac.Scenario.from_data(tomllib.loads(scenario.to_toml()))
    run = again.run()
    assert run.summary["digest"] == scenario.run().summary["digest"]
    assert run.summary["digest"] != ac.load(EXAMPLE).replace(duration="5 s").run().summary["digest"]


def test_receivers_and_their_layers_are_tables():
    run = ac.load(EXAMPLE).run()
    rows = run.receivers.to_pylist()
    assert [(row["group"], row["receiver"], row["layers"]) for row in rows] == [
        ("tv", "fast", 5),
        ("tv", "slow", 3),
        ("tv", "slower", 2),
    ]
    assert [row["lost_packets"] for row in rows] == [0, 0, 0]
    last = {row["flow"]: row["layers"] for row in run.layers.to_pylist()}
    assert last == {"tv:fast": 5, "tv:slow": 3, "tv:slower": 2}
    flows = {flow["id"]: flow for flow in run.summary["flows"]}
    # What enters the tree passes the first link once, and is copied behind it.
    assert flows["tv:hub"]["delivered_packets"] >= flows["tv:fast"]["sent_packets"]
    assert flows["tv:fast"]["goodput_bps"] == rows[0]["goodput_bps"]
    assert ac.load(EXAMPLE).explain()


def test_a_run_without_groups_has_no_receivers():
    net = ac.topology.Dumbbell(pairs=1, rate="1 Mbps", rtt="10 ms")
    run = ac.Scenario(net, [ac.Flow(pair=0)], duration="1 s").run()
    with pytest.raises(ac.UnsupportedError, match="receivers"):
        _ = run.receivers


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        ({"groups[0].control": "plmm"}, 'groups[0].control: there is no layer control "plmm"; did'),
        ({"groups[0].control": {"kind": "rlm", "alpha": 0.5}}, "groups[0].control.alpha: "),
        (
            {"groups[0].src": "sauce"},
            'groups[0].src: there is no node "sauce"; did you mean "source"',
        ),
        ({"groups[0].layers": []}, "groups[0].layers: has 0 rates, expected 1 to 32"),
    ],
)
def test_mistakes_are_reported_at_their_place(changes, reported):
    with pytest.raises(ac.ScenarioError) as caught:
        ac.load(EXAMPLE).replace(**changes).check()
    assert reported in str(caught.value)
