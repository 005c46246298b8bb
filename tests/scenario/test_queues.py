"""What reaches a queue discipline from the network: round-trip times, numbers of flows, starts."""

from __future__ import annotations

from typing import Any

import pytest

import ackclock as ac


def streams(qdisc: dict[str, Any], **net: Any) -> ac.Scenario:
    """Two constant streams, 1 Mbit/s each, of round trips 100 and 200 ms through 10 Mbit/s."""
    shape = {"kind": "dumbbell", "pairs": 2, "rate": "10 Mbps", "rtts": ["100 ms", "200 ms"]}
    source = {"kind": "cbr", "rate": "1 Mbps", "packet": 1000}
    return ac.Scenario.from_data(
        {
            "net": {**shape, "buffer": "100 pkt", "qdisc": qdisc, **net},
            "flows": [{"pair": pair, "source": source} for pair in (0, 1)],
            "duration": "120 s",
        }
    )


def lost(scenario: ac.Scenario) -> list[float]:
    rows = scenario.run().flows.to_pylist()
    return [row["lost_data_packets"] / row["sent_packets"] for row in rows]


def test_green_knows_the_round_trip_of_each_flow():
    # (50 x 8000 x 0.93 / (10^7 x 0.1))^2 = 0.372^2 = 0.138384; a quarter of it at twice the round
    # trip. 15000 packets each: 4 standard deviations are 0.0113 and 0.006.
    short, long = lost(streams({"kind": "green", "count": "known", "n": 50}))
    assert short == pytest.approx(0.138384, abs=0.0113)
    assert long == pytest.approx(0.034596, abs=0.006)


def test_the_known_number_of_flows_is_that_of_the_link_if_none_is_given():
    # Two flows; the constant makes up for the other 48: 0.93 x 25.
    short, long = lost(streams({"kind": "green", "count": "known", "c": 23.25}))
    assert short == pytest.approx(0.138384, abs=0.0113)
    assert long == pytest.approx(0.034596, abs=0.006)


def test_counting_active_flows_finds_both():
    short, _ = lost(streams({"kind": "green", "count": "window", "c": 23.25}))
    assert short == pytest.approx(0.138384, abs=0.0113)


def test_starts_are_drawn_by_seed_within_the_jitter():
    data = {
        "net": {"kind": "dumbbell", "pairs": 20, "rate": "10 Mbps"},
        "flows": [{"pair": 0, "count": 20, "start": "1 s", "start_jitter": "2 s"}],
        "duration": "4 s",
    }

    def starts(seed: int) -> list[float]:
        run = ac.Scenario.from_data({**data, "seed": seed}).run()
        return [float(value) for value in run.flows["start_s"].to_pylist()]

    first, second = starts(1), starts(2)
    assert all(1 <= start < 3 for start in first + second)
    assert len(set(first)) == 20
    assert first == starts(1) != second
    # The mean of 40 draws from 1 to 3: 4 standard deviations are 0.37.
    assert sum(first + second) / 40 == pytest.approx(2.0, abs=0.37)
