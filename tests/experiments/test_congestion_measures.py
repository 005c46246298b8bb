"""Congestion from the perspective of a user, and ACK compression."""

import numpy as np
import pyarrow as pa
import pytest

import ackclock as ac
from ackclock.analysis import (
    ack_compression,
    compression_of,
    congested_users,
    congestion_events,
)
from ackclock.errors import AckclockError


def samples(**megabits):
    """One sample a second of users, by what each received in each second; they always send."""
    rows = []
    for flow, got in megabits.items():
        total = np.cumsum([0, *got])
        rows += [
            {"time_s": float(t), "flow": flow, "delivered_bytes": int(x * 125000),
             "sent_packets": int(x * 100) + 10 * t, "srtt_s": 0.1}
            for t, x in enumerate(total)
        ]  # fmt: skip
    return pa.Table.from_pylist(rows)


def test_satisfaction_that_falls_is_congestion_whatever_the_load():
    # The example of section 2.1: b stops to compete for what c needs not, and c falls.
    events = congestion_events(samples(a=[2, 2, 3], b=[4, 4, 0.1], c=[4, 4, 3]), 1.0)
    users = {row["flow"]: row for row in congested_users(events).to_pylist()}
    assert {name: row["congested"] for name, row in users.items()} == {"a": 0, "b": 1, "c": 1}
    assert users["c"]["changes"] == 2
    assert users["c"]["part"] == 0.5
    assert users["c"]["worst"] == pytest.approx(0.25)
    # All sent less than before, so none of it is congestion by Keshav's definition.
    assert users["c"]["congested_keshav"] == 0


def test_more_load_is_congestion_by_both_definitions():
    events = congestion_events(samples(a=[4, 4, 3], b=[1, 1, 5]), 1.0)
    assert congested_users(events).to_pylist()[0]["congested_keshav"] == 1


def test_the_tolerance_the_period_and_the_satisfaction_are_requested():
    table = samples(a=[4, 3.9, 3, 3])
    at = congestion_events(table, 1.0).to_pylist()
    assert [row["time_s"] for row in at if row["congested"]] == [3.0]
    assert [r["congested"] for r in congestion_events(table, 1.0, tolerance=0.01).to_pylist()] == [
        True, True, False]  # fmt: skip
    (wide,) = congestion_events(table, 2.0).to_pylist()
    assert (wide["before"], wide["after"]) == (pytest.approx(3.95e6), pytest.approx(3e6))
    # Who wants no more than 3 Mbit/s has lost nothing.
    enough = congestion_events(table, 1.0, satisfaction=lambda rate, rtt: min(rate, 3e6))
    assert not any(enough["congested"].to_pylist())


def test_who_sends_nothing_changed_what_it_wants():
    sent = [0, 1, 2, 2, 2]
    table = pa.table(
        {
            "time_s": [0.0, 1.0, 2.0, 3.0, 4.0],
            "flow": ["a"] * 5,
            "delivered_bytes": [1000 * n for n in sent],
            "sent_packets": sent,
            "srtt_s": pa.nulls(5, pa.float64()),
        }
    )
    assert congestion_events(table, 1.0)["congested"].to_pylist() == [False]
    with pytest.raises(AckclockError, match="no two periods of 4 s"):
        congestion_events(table, 4.0)


def sampled(rows):
    names = ("time_s", "flow", "delivered_bytes", "sent_packets", "srtt_s")
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])


def test_events_say_what_each_user_got_and_what_all_sent():
    rows = [
        (0.0, "a", 0, 0, None), (0.5, "a", 1000, 10, 0.1), (1.0, "a", 2000, 20, 0.2),
        (1.5, "a", 2400, 27, 0.3), (2.0, "a", 3000, 40, None),
        # b begins in the second period.
        (1.5, "b", 500, 5, 0.4), (2.0, "b", 900, 9, 0.5), (3.0, "b", 1100, 12, 0.6),
        (3.0, "a", 4000, 45, 0.7),
    ]  # fmt: skip
    found = congestion_events(sampled(rows), 1.0, by=()).to_pylist()
    assert found == [
        {"flow": "a", "time_s": 2.0, "before": 16000.0, "after": 8000.0, "load_before": 20.0,
         "load_after": 29.0, "congested": True, "congested_keshav": True},
        {"flow": "a", "time_s": 3.0, "before": 8000.0, "after": 8000.0, "load_before": 29.0,
         "load_after": 8.0, "congested": False, "congested_keshav": False},
        {"flow": "b", "time_s": 3.0, "before": 7200.0, "after": 1600.0, "load_before": 29.0,
         "load_after": 8.0, "congested": True, "congested_keshav": False},
    ]  # fmt: skip
    # Satisfaction is of what a user got and its last round-trip time of a period.
    delays = congestion_events(
        sampled(rows), 1.0, satisfaction=lambda rate, rtt: 0.0 if np.isnan(rtt) else 1 / rtt
    ).to_pylist()
    assert [(row["before"], row["after"]) for row in delays] == [
        (pytest.approx(5.0), 0.0),
        (0.0, pytest.approx(1 / 0.7)),
        (2.0, pytest.approx(1 / 0.6)),
    ]


def test_a_fall_and_a_rise_of_just_the_tolerance_do_not_count():
    def events(second, sent, **given):
        rows = [(0.0, "a", 0, 0, 0.1), (1.0, "a", 1000, 100, 0.1), (2.0, "a", second, sent, 0.1)]
        (row,) = congestion_events(sampled(rows), 1.0, **given).to_pylist()
        return row["congested"], row["congested_keshav"]

    assert events(1750, 300, tolerance=0.25) == (False, False)
    assert events(1749, 226, tolerance=0.25) == (True, True)
    assert events(1749, 225, tolerance=0.25) == (True, False)
    # Left out it is 5 %.
    assert events(1951, 300) == (False, False)
    assert events(1949, 300) == (True, True)


def test_a_user_that_only_gains_has_lost_nothing():
    events = congestion_events(samples(a=[1, 2, 4], b=[4, 1, 2]), 1.0)
    users = {row["flow"]: row for row in congested_users(events).to_pylist()}
    assert (users["a"]["worst"], users["a"]["part"]) == (0.0, 0.0)
    assert users["b"]["worst"] == pytest.approx(0.75)
    # From nothing there is nothing to lose.
    none = events.set_column(
        events.column_names.index("before"), "before", pa.array([0.0] * events.num_rows)
    )
    assert {row["worst"] for row in congested_users(none).to_pylist()} == {0.0}


def test_runs_are_kept_apart_by_their_columns():
    one, two = samples(a=[4, 2]), samples(a=[2, 2])
    both = pa.concat_tables(
        [part.append_column("seed", pa.array([seed] * part.num_rows))
         for seed, part in ((1, one), (2, two))]
    )  # fmt: skip
    events = congestion_events(both, 1.0, by=["seed"])
    found = congested_users(events, by=["seed"]).to_pylist()
    assert [(row["seed"], row["changes"], row["congested"]) for row in found] == [
        (1, 1, 1),
        (2, 1, 0),
    ]


def test_the_example_of_the_paper_packet_by_packet():
    fq = {"kind": "fq", "weights": [1, 1, 2, 1, 1, 1], "longest": "packets"}
    fast = {"rate": "100 Mbps", "delay": "1 ms", "buffer": "50 pkt"}
    slow = {"rate": "10 Mbps", "delay": "1 ms", "buffer": "60 pkt", "qdisc": fq}
    hosts = [("S1", "R1"), ("S2", "R1"), ("S3", "R2"), ("R2", "D2"), ("R3", "D1"), ("R3", "D3")]
    links = [{"a": a, "b": b, **fast} for a, b in hosts]
    links += [{"a": a, "b": b, **slow} for a, b in (("R1", "R2"), ("R2", "R3"))]
    source = {"kind": "cbr", "rate": "10 Mbps", "packet": "1000 B", "jitter": 0.1}
    flows = [{"id": f"F{i}", "src": f"S{i}", "dst": f"D{i}", "source": source} for i in (1, 2, 3)]
    flows[1]["stop"] = "20 s"
    run = ac.Scenario(
        net={"kind": "graph", "links": links},
        flows=flows,
        duration="40 s",
        record={"tables": ["flow_samples"], "interval": "5 s"},
    ).run()
    events = congestion_events(run.tables["flow_samples"], 10.0)
    users = {row["flow"]: row for row in congested_users(events).to_pylist()}
    assert (users["F1"]["congested"], users["F3"]["congested"]) == (0, 1)
    assert users["F3"]["congested_keshav"] == 0
    # 2/3 of the link before, 1/2 after.
    assert users["F3"]["worst"] == pytest.approx(1 / 4, abs=0.02)


def test_compression_by_hand():
    left = np.array([0.0, 0.010, 0.020, 0.030, 0.030])
    arrived = np.array([0.5, 0.501, 0.502, 0.512, 0.513])
    got = compression_of(left, arrived)
    assert got["pairs"] == 3  # two left at once
    assert got["ratio"] == pytest.approx(0.1)
    assert got["compressed"] == pytest.approx(2 / 3)


def test_compression_counts_pairs_below_the_threshold_and_gives_the_tenth_percentile():
    # Spacings of 10 ms become 1, 2, ... 10 ms, and one of 5: at half it is not compressed.
    left = 0.010 * np.arange(12)
    arrived = np.concatenate([[0.0], np.cumsum([*(0.001 * np.arange(1, 11)), 0.020])])
    got = compression_of(left, arrived)
    assert got["pairs"] == 11
    # In order 0.1 to 1.0 and 2.0: the middle is the sixth, a tenth of the way the second.
    assert got["ratio"] == pytest.approx(0.6)
    assert got["least"] == pytest.approx(0.2)
    assert compression_of(left, arrived, threshold=0.25)["compressed"] == pytest.approx(2 / 11)
    exact = compression_of(np.array([0.0, 2.0, 4.0]), np.array([0.0, 1.0, 1.5]))
    assert exact["compressed"] == 0.5
    none = compression_of(np.array([1.0, 1.0]), np.array([2.0, 3.0]))
    assert none["pairs"] == 0
    assert np.isnan([none["ratio"], none["least"], none["compressed"]]).all()


def acknowledgements(rows):
    names = ("event", "link", "time_s", "seq", "is_ack", "flow")
    return pa.Table.from_pylist([dict(zip(names, (*row, "f"), strict=True)) for row in rows])


def test_acknowledgements_are_matched_by_number_and_in_order():
    rows = [
        ("arrival", "in", 0.0, 1, True),
        ("arrival", "in", 1.0, 2, True),
        ("arrival", "in", 1.5, 2, True),  # a duplicate
        ("arrival", "in", 2.0, 3, True),  # lost on the way
        ("arrival", "in", 3.0, 4, True),
        ("arrival", "in", 3.5, 9, False),  # data
        ("departure", "in", 3.6, 4, True),  # another place
        ("departure", "out", 5.0, 1, True),
        ("departure", "out", 6.0, 2, True),
        ("departure", "out", 6.1, 2, True),
        ("departure", "out", 7.0, 4, True),
        ("departure", "out", 7.5, 9, False),
        ("departure", "out", 7.6, 8, True),  # never seen to leave
    ]
    ends = {"f": ("in", "out")}
    (row,) = ack_compression(acknowledgements(rows), ends).to_pylist()
    # Spacings 1, 0.5 and 1.5 become 1, 0.1 and 0.9.
    assert row["flow"] == "f"
    assert row["pairs"] == 3
    assert row["ratio"] == pytest.approx(0.6)
    assert row["compressed"] == pytest.approx(1 / 3)
    (row,) = ack_compression(acknowledgements(rows), ends, threshold=0.7).to_pylist()
    assert row["compressed"] == pytest.approx(2 / 3)
    # From 1 s on there are two spacings; that of the first is gone.
    (row,) = ack_compression(acknowledgements(rows), ends, since_s=1.0).to_pylist()
    assert (row["pairs"], row["ratio"]) == (2, pytest.approx(0.4))
    with pytest.raises(AckclockError, match='no ACK of flow "f" was recorded at link "other"'):
        ack_compression(acknowledgements(rows), {"f": ("other", "out")})


def two_way(back):
    """One measured flow; one in the other direction, or none."""
    flows = [{"id": "f", "pair": 0, "cc": "aimd", "recovery": "newreno"}]
    if back:
        flows.append({"id": "g", "src": "d1", "dst": "s1", "cc": "aimd", "recovery": "newreno"})
    run = ac.Scenario(
        net={"kind": "dumbbell", "pairs": 2, "rate": "2 Mbps", "rtt": "60 ms",
             "buffer": "20 pkt", "access_rate": "100 Mbps"},
        flows=flows,
        duration="40 s",
        tcp={"mss": 1000, "delayed_ack": 1},
        record={"tables": ["packets"], "links": ["d0->r1", "r0->s0"]},
    ).run()  # fmt: skip
    ends = {"f": ("d0->r1", "r0->s0")}
    (row,) = ack_compression(run.tables["packets"], ends, since_s=10.0).to_pylist()
    return row


def test_acks_are_compressed_by_traffic_of_the_other_direction_alone():
    alone, beside = two_way(back=False), two_way(back=True)
    assert alone["pairs"] > 1000
    assert (alone["ratio"], alone["compressed"]) == (pytest.approx(1, abs=0.01), 0)
    # Behind data an ACK follows the one before it after its own transmission: 40 of 1040 bytes.
    assert beside["compressed"] > 0.3
    assert beside["least"] == pytest.approx(40 / 1040, rel=0.05)


def test_a_link_that_was_not_recorded_is_reported():
    run = ac.Scenario(
        net={"kind": "dumbbell", "pairs": 1, "rate": "2 Mbps", "rtt": "60 ms", "buffer": "20 pkt"},
        flows=[{"id": "f", "pair": 0}], duration="1 s",
        record={"tables": ["packets"], "links": ["d0->r1"]},
    ).run()  # fmt: skip
    with pytest.raises(AckclockError, match='no ACK of flow "f" was recorded at link "r0->s0"'):
        ack_compression(run.tables["packets"], {"f": ("d0->r1", "r0->s0")})
