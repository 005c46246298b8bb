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


def vegas(**changes):
    """One flow of Vegas over 2 Mbit/s with seven listed drops."""
    links = [
        {"a": "s", "b": "r", "rate": 10e6, "delay": 0.001, "buffer": "100 pkt"},
        {
            "a": "r", "b": "d", "rate": 2e6, "delay": 0.019, "buffer": "50 pkt",
            "drop": [60, 61, 200, 203, 204, 300, 320],
        },
    ]  # fmt: skip
    data = {
        "era": "ns2",
        "duration": 20,
        "net": {"kind": "graph", "links": links},
        "tcp": {"receiver_window": 100},
        "flows": [{"src": "s", "dst": "d", "cc": "vegas"}],
        "record": {"tables": ["windows", "packets"]},
    }
    return ac.Scenario.from_data(data).replace(**changes).run()


def test_vegas_is_the_agent_of_ns2_with_its_own_recovery():
    done = vegas()
    rows = done.windows.to_pylist()
    # cwnd at 0.1 s, 0.2 s, ... 2.3 s in ns-2.35, to the three decimals printed; then it rests.
    printed = [
        3, 6, 12, 10.5, 11, 9, 9, 10.9, 12.748, 12.748, 12.748, 9,
        9, 8, 9.889, 11.817, 11.987, 9.889, 8.125, 10.1, 12.325, 13.69, 13.69,
    ]  # fmt: skip
    windows = [
        [row["cwnd_segments"] for row in rows if row["time_s"] <= tenth / 10 + 5e-6][-1]
        for tenth in range(1, 24)
    ]
    assert windows == pytest.approx(printed, abs=5.01e-4)
    assert rows[-1]["cwnd_segments"] == pytest.approx(13.69, abs=5.01e-4)
    # No request and no headers; 4,866 packets in 20 s, eight of them again, none after a timeout.
    assert sizes(done)[0] == 1000
    [flow] = done.summary["flows"]
    assert (flow["sent_packets"], flow["retransmits"], flow["timeouts"]) == (4866, 8, 0)
    # Whatever recovery the flow names.
    assert vegas(**{"flows[0].recovery": "sack"}).windows.equals(done.windows)


@pytest.mark.parametrize(
    ("cc", "message"),
    [
        ({"kind": "vegas", "beta": 3.5}, r"flows\[0\]\.cc\.beta: is 3.5; expected a whole number"),
        ({"kind": "vegas", "loss_factor": 0.5}, r"flows\[0\]\.cc\.loss_factor: .* keeps 3/4"),
    ],
)
def test_what_ns2s_vegas_does_not_have_is_refused(cc, message):
    with pytest.raises(ac.ScenarioError, match=message):
        vegas(**{"flows[0].cc": cc})


def test_a_recovery_right_after_a_timeout_does_not_restart_the_timer():
    # Partial acknowledgements before a timeout at 4.671318 s, marks and three duplicates after it
    # with nothing new between: in ns-2.35 the timer that fast retransmit set at 4.752319 s, for
    # 2 x 0.221 s, expires at 5.194319 s, and packet 332 is sent once more.
    red = {"kind": "red", "ns2_seed": 904040482, "ecn": True, "min_th": 4, "max_th": 12}
    red |= {
        "w_q": 0.01,
        "max_p": 0.1,
        "gentle": True,
        "bytes": False,
        "mean_packet": 1000,
        "wait": True,
        "mark_p": 1,
    }
    links = [
        {"a": "n0", "b": "n1", "rate": 4029349, "delay": 0.021828, "buffer": "37 pkt"},
        {"a": "n1", "b": "n2", "rate": 4674453, "delay": 0.055684, "buffer": "25 pkt"},
        {"a": "n2", "b": "n3", "rate": 5419133, "delay": 0.047799, "buffer": "7 pkt"},
        {"a": "s0", "b": "n0", "rate": 44953037, "delay": 0.002112, "buffer": "2000 pkt"},
        {"a": "n2", "b": "d0", "rate": 16727540, "delay": 0.008899, "buffer": "2000 pkt"},
    ]
    links[0] |= {"qdisc": red, "back_qdisc": "fifo"}
    flow = {"src": "s0", "dst": "d0", "start": 2.558369, "recovery": "newreno"}
    tcp = {"tick": 0.001, "boot": 0.0007122825959282399, "delayed_ack": 1, "receiver_window": 1000}
    tcp |= {"min_rto": 0.2, "initial_window": 1, "limited_transmit": True}
    tcp |= {"mss": 552, "header": 40, "ecn": True}
    flow |= {"cc": {"kind": "aimd", "a": 0.5, "b": 0.8}, "tcp": tcp}
    record = {"tables": ["packets"], "links": ["s0->n0"]}
    net = {"kind": "graph", "links": links}
    data = {"era": "ns2", "duration": 6, "net": net, "flows": [flow], "record": record}
    rows = ac.Scenario.from_data(data).run().packets.to_pylist()
    sent = [row["time_s"] for row in rows if row["seq"] == 332 and row["event"] == "arrival"]
    assert sent[-2:] == pytest.approx([5.194190, 5.194319], abs=1e-6)
