"""Files that a script for ns-2 writes, of a few lines, read as a run."""

from __future__ import annotations

import math

import numpy as np
import pytest
from written_plans import algorithm, flow, link, plan, source

from ackclock.errors import AckclockError
from ackclock.peers.ns2 import run
from ackclock.peers.plan import Algorithm
from ackclock.peers.routes import find_routes
from ackclock.peers.written import SimulatorLimits

HEAD = "flow,address,port,bytes,sent,retransmitted,timeouts\n"
TOTALS = HEAD + "0,0,3,5240,7,1,0\n" + "0,0,3,13560,17,4,2\n"
EVENTS = """\
+ 1 0 1 tcp 1040 ------- 0 0.0 1.0 4 10
- 1.5 0 1 tcp 1040 ------- 0 0.0 1.0 4 10
+ 2 0 1 tcp 40 ------- 0 0.0 1.0 0 11
+ 2.5 0 1 tcp 1040 ------- 0 0.0 1.0 5 12
d 2.5 0 1 tcp 1040 ------- 0 0.0 1.0 5 12
- 2.5 0 1 tcp 40 ------- 0 0.0 1.0 0 11
d 3 0 1 tcp 1040 ------- 0 0.0 1.0 6 13
r 3 0 1 tcp 40 ------- 0 0.0 1.0 0 11
+ 4 0 1 tcp 1040 ------- 0 0.0 1.0 7 14
- 4.25 0 1 tcp 1040 ------- 0 0.0 1.0 7 14
+ 5 1 0 ack 40 ------- 0 1.0 0.0 7 15
"""
WINDOWS = """\
0 0 3 1 0 cwnd_ 2
2.5 0 3 1 0 cwnd_ 3
2.5 0 3 1 0 cwnd_ 4.5
3 0 3 1 0 ssthresh_ 9
"""


def read(folder, made, totals=TOTALS, events=EVENTS, windows=WINDOWS):
    (folder / "totals.csv").write_text(totals)
    (folder / "events.tr").write_text(events)
    (folder / "windows.tr").write_text(windows)
    return run.read_run(None, made, folder)


def test_a_run_of_ns2_is_counted_by_hand(tmp_path):
    result = read(tmp_path, plan())
    summary = result.summary
    assert (summary["seed"], summary["engine"]) == (7, "ns-2.35")
    assert (summary["duration_s"], summary["window_s"]) == (10, 8)
    # Less the request of 40 B, 5200 and 13520 B are 5 and 13 packets of 1000 B of data: 8 in 8 s.
    # Ten were sent after the warm-up, of which one was the request.
    assert summary["flows"] == [
        {"id": "f0", "cc": "aimd", "goodput_bps": 8000.0, "window_sent_packets": 9.0,
         "window_lost_data_packets": 2, "retransmits": 4, "timeouts": 2, "srtt_mean_s": None}
    ]  # fmt: skip
    # Of the link there: packets 11, 12 and 14 came, and 13 was lost before the queue. Packets 11
    # and 14 waited 0.5 s and 0.25 s.
    assert summary["links"] == [
        {"id": "l0", "window_drops": 2, "window_arrived_packets": 4, "delay_mean_s": 0.375},
        {"id": "l1", "window_drops": 0, "window_arrived_packets": 1, "delay_mean_s": 0.0},
    ]


def test_events_have_names_and_acknowledgements_the_next_packet(tmp_path):
    rows = read(tmp_path, plan()).tables["packets"].to_pylist()
    assert [(row["time_s"], row["event"], row["seq"]) for row in rows] == [
        (1.0, "arrival", 4), (1.5, "departure", 4), (2.0, "arrival", 0), (2.5, "arrival", 5),
        (2.5, "drop", 5), (2.5, "departure", 0), (3.0, "arrival", 6), (3.0, "drop", 6),
        (4.0, "arrival", 7), (4.25, "departure", 7), (5.0, "arrival", 8),
    ]  # fmt: skip
    assert rows[-1] == {
        "time_s": 5.0, "link": "l1", "event": "arrival", "flow": "f0", "seq": 8, "size_bytes": 40,
        "is_ack": True,
    }  # fmt: skip
    assert {row["link"] for row in rows[:-1]} == {"l0"}


def test_of_windows_at_one_time_the_last_holds(tmp_path):
    windows = read(tmp_path, plan()).tables["windows"].to_pydict()
    assert all(math.isnan(value) for value in windows.pop("acked"))
    assert windows == {"time_s": [0.0, 2.5], "flow": ["f0", "f0"], "cwnd_segments": [2.0, 4.5]}


def test_a_control_without_headers_counts_whole_packets_and_no_request(tmp_path):
    vegas = flow(sender={"cc": algorithm("vegas")})
    (row,) = read(tmp_path, plan(vegas)).summary["flows"]
    # 13560 - 5240 = 8320 B in 8 s, and ten packets.
    assert (row["goodput_bps"], row["window_sent_packets"]) == (8320.0, 10.0)
    assert row["window_lost_data_packets"] == 2
    # Packet 0 is data where there is no request.
    lost = EVENTS.replace("1.0 6 13", "1.0 0 13")
    (row,) = read(tmp_path, plan(vegas), events=lost).summary["flows"]
    assert row["window_lost_data_packets"] == 2
    (row,) = read(tmp_path, plan(), events=lost).summary["flows"]
    assert row["window_lost_data_packets"] == 1


def test_a_source_has_neither_headers_nor_a_window(tmp_path):
    made = plan(source(kind="cbr"))
    result = read(tmp_path, made, windows="")
    assert result.summary["flows"][0]["goodput_bps"] == 8320.0
    assert result.tables["windows"].num_rows == 0


def test_files_that_ns2_did_not_finish_are_an_error(tmp_path):
    with pytest.raises(AckclockError) as error:
        read(tmp_path, plan(), totals=HEAD)
    assert str(error.value) == "ns-2 left files that cannot be read: (0, 3)"
    with pytest.raises(AckclockError, match=r"^ns-2 left files that cannot be read: "):
        read(tmp_path, plan(), windows="0 0 3\n")


def test_no_event_has_no_mean_wait():
    none = np.zeros(0, dtype=bool)
    empty = {name: np.zeros(0) for name in ("time_s", "id")}
    assert run._mean_wait(empty, none, none) == 0.0


def test_only_what_was_lost_before_the_queue_gets_an_arrival():
    # Packet 1 on link 1 is another than packet 1 on link 0, which came.
    events = {
        "time_s": np.array([1.0, 2.0, 3.0]), "link": np.array([0, 0, 1]),
        "kind": np.array([0, 2, 2]), "id": np.array([1, 1, 1]),
    }  # fmt: skip
    added = run._with_arrivals(events)
    assert {name: values.tolist() for name, values in added.items()} == {
        "time_s": [1, 2, 3, 3], "link": [0, 0, 1, 1], "kind": [0, 2, 0, 2], "id": [1, 1, 1, 1],
    }  # fmt: skip


def test_an_algorithm_is_a_name_or_a_table():
    assert Algorithm.of("red") == Algorithm("red", {})
    made = Algorithm.of({"kind": "red", "w_q": 1, "rate": "2 kbps", "none": None})
    assert made == Algorithm("red", {"w_q": 1, "rate": "2 kbps", "none": None})
    assert (made.number("w_q", 5), made.number("x", 5), made.number("none", 6)) == (1.0, 5, 6)
    assert made.number("rate", 0, "rate") == 2000.0


def test_links_that_are_compared_may_lose_packets_or_are_the_narrowest_of_a_flow():
    links = (
        link(0, buffer_packets=None, rate_bps=2e6),
        link(1, 1, 0, buffer_packets=None, rate_bps=1e6),
        link(2, buffer_packets=None, rate_bps=1e6),
        link(3),
        link(4, buffer_packets=None, buffer_bytes=9),
    )
    made = plan(flow(route=(0, 2, 4)), links=links)
    assert made.used == {0, 1, 2, 4}
    assert [each.id for each in made.bottlenecks] == ["l2", "l4"]
    watched = plan(flow(route=(0, 2, 4)), links=links, watched=("l0", "l3"))
    assert [each.id for each in watched.bottlenecks] == ["l0"]
    assert link(0, path="net.qdisc").base_path == "net"
    assert link(0, path="qdisc").base_path == "qdisc"


@pytest.mark.parametrize(
    ("era", "is_of_ns2"), [("1999", True), ("2007", True), ("ns2", True), ("rfc", False)]
)
def test_eras_of_ns2(era, is_of_ns2):
    assert plan(era=era).is_of_ns2 is is_of_ns2


def test_routes_are_by_node_and_destination_and_another_way_is_refused():
    links = (link(0, 0, 1), link(1, 1, 0), link(2, 1, 2), link(3, 0, 2), link(4, 2, 0))
    through = flow(0, target=2, route=(0, 2), ack_route=(4,))
    limits = SimulatorLimits("ns-2")

    def routes(*flows):
        return find_routes(
            plan(*flows, links=links, nodes=("a", "b", "c")), limits,
            lambda f, are_acks: f.source if are_acks else f.target,
        )  # fmt: skip

    assert routes(through) == {(0, 2): (0, 1), (1, 2): (2, 2), (2, 0): (4, 0)}
    # A source has no acknowledgements.
    assert routes(source(0, target=2, route=(0, 2), ack_route=(4,))) == {
        (0, 2): (0, 1), (1, 2): (2, 2),
    }  # fmt: skip
    assert limits.refused == []
    routes(through, flow(1, target=2, route=(3,), ack_route=(4,)))
    assert [str(problem) for problem in limits.refused] == [
        "flows[1].route: goes from a to c by another link than other flows do; ns-2 routes by"
        " destination"
    ]
