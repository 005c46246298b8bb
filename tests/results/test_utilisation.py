"""Utilisation is in [0, 1], also where a packet takes longer than the measured window."""

from hypothesis import given, settings
from hypothesis import strategies as st

import ackclock as ac


def utilisations(rate, access_rate, packet, duration, warmup, qdisc):
    return [
        link["utilisation"]
        for link in ac.Scenario.from_data(
            {
                "net": {
                    "kind": "dumbbell",
                    "pairs": 2,
                    "rate": rate,
                    "access_rate": access_rate,
                    "rtt": "10 ms",
                    "buffer": "20 pkt",
                    "qdisc": qdisc,
                },
                "flows": [
                    {"pair": 0, "source": {"kind": "cbr", "rate": 2 * rate, "packet": packet}},
                    {"pair": 1},
                ],
                "duration": duration,
                "warmup": warmup,
            }
        )
        .run()
        .summary["links"]
    ]


@settings(max_examples=60)
@given(
    st.sampled_from([1, 3, 7, 1000]),
    st.sampled_from([1, 3, 14, 1_000_000]),
    st.sampled_from([40, 100, 576, 1500]),
    st.floats(0.1, 40),
    st.floats(0, 0.999),
    st.sampled_from(["fifo", "codel", "drr"]),
)
def test_utilisation_is_in_0_to_1_on_links_of_a_bit_per_second(
    rate, access_rate, packet, packets, part, qdisc
):
    duration = packets * packet * 8 / rate
    found = utilisations(rate, access_rate, packet, duration, part * duration, qdisc)
    assert all(0 <= value <= 1 for value in found)


def test_a_link_that_is_always_busy_has_1():
    # Packets of 1000 s: the window from 2500 s to 7300 s cuts one at each edge.
    found = utilisations(8, 1_000_000, 1000, 7300, 2500, "fifo")
    assert max(found) == 1
