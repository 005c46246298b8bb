"""Random numbers of scripts for ns-2: those that RED replays, and seeds."""

import pytest

import ackclock as ac
from ackclock.errors import ScenarioError
from ackclock.peers.simulators import write_for


def script(*queues, **more):
    """A row of links with these queues."""
    links = [
        {"a": f"n{i}", "b": f"n{i + 1}", "rate": "1 Mbps", "delay": "5 ms", "buffer": "20 pkt",
         "qdisc": queue}
        for i, queue in enumerate(queues)
    ]  # fmt: skip
    flow = {"src": "n0", "dst": f"n{len(queues)}", "cc": "aimd"}
    scenario = {"era": "ns2", "duration": "5 s", "net": {"kind": "graph", "links": links},
                "flows": [flow], **more}  # fmt: skip
    return write_for(ac.Scenario.from_data(scenario), "ns2").text


def red(**more):
    return {"kind": "red", "min_th": 5, "max_th": 15, "ns2_seed": 7, **more}


def test_numbers_that_red_passes_over_are_drawn_before_and_exactly_as_many():
    text = script(red(ns2_skip=3))
    assert "{ for {set i 0} {$i < 3} {incr i} { $defaultRNG uniform 0.0 1.0 } }" in text
    assert '"$defaultRNG seed 7"' in text
    for other in (script(red()), script("fifo", seed=4)):
        assert "for {set i 0} {$i < 3}" not in other
        assert other.count("uniform 0.0 1.0") == text.count("uniform 0.0 1.0") - 1


def test_queues_of_one_script_share_a_generator():
    assert "$i < 3}" in script(red(ns2_skip=3), red(ns2_skip=3))
    with pytest.raises(ScenarioError, match="share one generator"):
        script(red(ns2_skip=3), red(ns2_skip=4))
