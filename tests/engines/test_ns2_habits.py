"""Habits of ns-2 in era ns2 that runs of ns-2 have shown; numbers by hand."""

import pytest

import ackclock as ac


def run(**changes):
    data = {
        "era": "ns2",
        "duration": 2,
        "net": {"kind": "graph", "links": [{"a": "a", "b": "b", "rate": 1e6, "delay": 0.01}]},
        "tcp": {"receiver_window": 100, "initial_window": 16},
        "flows": [{"src": "a", "dst": "b"}],
        "record": {"tables": ["packets"]},
    }
    return ac.Scenario.from_data(data).replace(**changes).run()


def sizes(run):
    """Sizes of data packets by number."""
    rows = run.packets.to_pylist()
    return {row["seq"]: row["size_bytes"] for row in rows if not row["is_ack"]}


@pytest.mark.parametrize(("era", "room"), [("ns2", 9), ("2007", 10)])
def test_a_buffer_of_bytes_is_never_quite_filled(era, room):
    # The request's acknowledgement releases 16 packets of 1000 B at once: one is sent, 10 kB wait.
    done = run(era=era, **{"net.links[0].buffer": "10000 B", "tcp.header": 0, "tcp.min_rto": "1 s"})
    drops = [row["seq"] for row in done.packets.to_pylist() if row["event"] == "drop"]
    assert drops[0] == 1 + 1 + room


def test_the_first_packet_of_a_flow_without_request_has_no_header():
    with_request = sizes(run(**{"tcp.header": 40, "net.links[0].buffer": "100 pkt"}))
    without = sizes(run(**{"tcp.header": 40, "tcp.syn": False, "net.links[0].buffer": "100 pkt"}))
    assert (with_request[0], with_request[1]) == (40, 1040)
    assert (without[0], without[1]) == (1000, 1040)


def test_the_first_packet_is_acknowledged_at_once():
    # 8 ms on the link and 10 ms of propagation, then the acknowledgement is there.
    changes = {"tcp.syn": False, "tcp.delayed_ack": 2, "tcp.initial_window": 1}
    done = run(**changes, **{"net.links[0].buffer": "100 pkt"})
    acks = [row["time_s"] for row in done.packets.to_pylist() if row["is_ack"]]
    assert acks[0] == pytest.approx(0.018)


def test_red_with_ns2s_random_numbers_does_not_depend_on_the_seed_of_the_scenario():
    def drops(scenario_seed, ns2_seed):
        red = {"kind": "red", "min_th": 3, "max_th": 12, "bytes": False, "ns2_seed": ns2_seed}
        link = {"net.links[0].qdisc": red, "net.links[0].buffer": "50 pkt"}
        done = run(seed=scenario_seed, duration=20, **link)
        return [row["time_s"] for row in done.packets.to_pylist() if row["event"] == "drop"]

    first = drops(1, 5)
    assert len(first) > 5
    assert drops(2, 5) == first
    assert drops(1, 6) != first
    assert drops(1, None) != drops(2, None)
    with pytest.raises(ac.ScenarioError, match="ns2_seed"):
        drops(1, 0)
