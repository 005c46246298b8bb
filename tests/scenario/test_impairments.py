"""Impairments of wires, from Python and TOML."""

import tomllib

import pytest

import ackclock as ac


def wifi(**more):
    net = ac.topology.Dumbbell(
        pairs=1, rate="10 Mbps", rtt="20 ms", buffer="1 bdp", impairments=[ac.impairment.Wifi()]
    )
    return ac.Scenario(net, [ac.Flow(pair=0)], duration="5 s", **more)


def test_an_object_and_its_data_are_the_same_scenario():
    scenario = wifi()
    again = ac.Scenario.from_data(tomllib.loads(scenario.to_toml()))
    assert again.run().summary["flows"] == scenario.run().summary["flows"]
    plain = scenario.replace(**{"net.impairments": []}).run()
    assert (
        plain.summary["flows"][0]["goodput_bps"] > scenario.run().summary["flows"][0]["goodput_bps"]
    )


def test_a_link_changes_its_impairments_by_name():
    loss = ac.impairment.GilbertElliott(to_bad=0.01, to_good=0.5)
    scenario = wifi(links=[ac.LinkChange(link="r0->r1", impairments=[loss, "jitter"])])
    links = {link["id"]: link for link in scenario.run().summary["links"]}
    assert links["r0->r1"]["drops"] > 0
    assert links["r1->r0"]["drops"] == 0


@pytest.mark.parametrize(
    ("impairments", "reported"),
    [
        (["jiter"], 'net.impairments[0]: there is no impairment "jiter"; did you mean "jitter"?'),
        (["arq", {"kind": "reorder", "extend": 1}], 'net.impairments[1].extend: "extend" is not a'),
        ([{"kind": "duplicate", "probability": 3}], "net.impairments[0].probability: "),
        ("jitter", 'net.impairments: "jitter" is not a list'),
    ],
)
def test_mistakes_are_reported_at_their_place(impairments, reported):
    with pytest.raises(ac.ScenarioError) as caught:
        wifi().replace(**{"net.impairments": impairments}).check()
    assert reported in str(caught.value)
