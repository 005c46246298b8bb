"""What controls do where a link fails and routing moves them to a longer way."""

import pytest

import ackclock as ac

WAYS = [
    {"a": "s", "b": "r0", "rate": "200 Mbps", "delay": "1 ms"},
    {"a": "r0", "b": "a", "rate": "20 Mbps", "delay": "9 ms"},
    {"a": "a", "b": "d", "rate": "200 Mbps", "delay": "10 ms"},
    {"a": "r0", "b": "b", "rate": "10 Mbps", "delay": "29 ms"},
    {"a": "b", "b": "d", "rate": "200 Mbps", "delay": "30 ms"},
]
"""From s to d over 20 Mbit/s and 40 ms, or over 10 Mbit/s and 120 ms."""


def measure_shares(control):
    """Measure shares of the other way after the failure, and of the first after the repair."""
    down = {"link": ["r0->a", "a->r0"], "down": [{"from": 20, "until": 40}]}
    scenario = ac.Scenario(
        net={"kind": "graph", "links": WAYS},
        links=[down],
        flows=[{"src": "s", "dst": "d", "cc": control}],
        duration=60,
        reroute_after="200 ms",
        record={"tables": ["flow_samples"], "interval": "1 s"},
    )
    rows = scenario.run().table("flow_samples")
    by_time = dict(zip(rows["time_s"].to_pylist(), rows["received_bytes"].to_pylist(), strict=True))
    return [
        (by_time[end] - by_time[begin]) * 8 / (end - begin) / rate
        for begin, end, rate in ((30.0, 39.0, 10e6), (50.0, 59.0, 20e6))
    ]


@pytest.mark.parametrize("control", ["cubic", "bbr3"])
def test_a_control_fills_the_other_way_and_the_first_again(control):
    other, back = measure_shares(control)
    assert other > 0.8
    assert back > 0.8


def test_vegas_takes_a_longer_way_for_a_queue():
    """Its least round trip is that of the way before (La, Walrand, Anantharam, 1998)."""
    other, back = measure_shares("vegas")
    assert other < 0.2
    assert back > 0.8


def test_hpcc_fills_the_longer_way_if_its_base_round_trip_is_of_it():
    """Records of another path begin anew; the window is what the stated round trip holds."""
    other, back = measure_shares({"kind": "hpcc", "base_rtt": "121 ms"})
    assert other > 0.9
    assert back > 0.9
    other, back = measure_shares("hpcc")
    assert other < 0.6
    assert back > 0.9
