"""Connections over several paths: data, schedulers, windows, and what is refused."""

import pytest

import ackclock as ac
from ackclock.errors import ScenarioError, UnsupportedError
from ackclock.scenario.threads import ALWAYS_THREADS

WAYS = [{"route": ["a", f"r{i}", "z"], "ack_route": ["z", f"r{i}", "a"]} for i in range(2)]


def scenario(cc="aimd", *, rates=("10 Mbps", "10 Mbps"), delays=("10 ms", "10 ms"), ways=WAYS,
             losses=(0.0, 0.0), more=(), tcp=None, net=None, buffer="1 bdp",
             **changes):  # fmt: skip
    """One connection from a to z over r0 and r1."""
    links = []
    for i, (rate, delay, loss) in enumerate(zip(rates, delays, losses, strict=True)):
        fast = {"rate": "1 Gbps", "delay": "1 us", "buffer": "10000 pkt"}
        links += [
            {"a": "a", "b": f"r{i}", **fast},
            {"a": f"r{i}", "b": "z", "rate": rate, "delay": delay, "loss": loss, "buffer": buffer},
        ]
    multipath = {"paths": ways, **{k: changes.pop(k) for k in ("scheduler",) if k in changes}}
    flow = {"id": "both", "src": "a", "dst": "z", "cc": cc, "multipath": multipath}
    flow |= {key: changes.pop(key) for key in ("size", "start", "stop") if key in changes}
    if tcp:
        flow["tcp"] = tcp
    data = {
        "net": net or {"kind": "graph", "links": links},
        "flows": [flow, *more],
        "duration": "10 s",
    }
    return ac.Scenario.from_data({**data, **changes})


def only(run):
    (row,) = run.connections.to_pylist()
    return row


def flows(run):
    return {row["id"]: row for row in run.flows.to_pylist()}


def test_both_paths_are_used_and_goodput_is_their_sum():
    run = scenario(warmup="2 s").run()
    row = only(run)
    assert row["goodput_bps"] > 0.9 * 2e7 * 1460 / 1500
    assert row["goodput_bps"] == pytest.approx(
        sum(flow["goodput_bps"] for flow in flows(run).values())
    )
    assert list(flows(run)) == ["both.0", "both.1"]
    assert {flow["connection"] for flow in flows(run).values()} == {"both"}
    assert "connection  ends" in str(run)


def test_a_path_may_begin_later_than_its_connection():
    late = scenario(ways=[WAYS[0], {**WAYS[1], "after": "1.5 s"}], start="0.5 s", duration="4 s")
    run = late.run(record=["windows"])
    assert {name: row["start_s"] for name, row in flows(run).items()} == {
        "both.0": 0.5, "both.1": 2.0,
    }  # fmt: skip
    windows = run.tables["windows"].to_pylist()
    assert min(row["time_s"] for row in windows if row["flow"] == "both.1") > 2.0


@pytest.mark.parametrize("scheduler", ["lowest-rtt", "round-robin", "redundant"])
@pytest.mark.parametrize("size", [1, 1460, 1461, 99_999, 3_000_000])
def test_a_transfer_delivers_its_size_once(scheduler, size):
    run = scenario(
        scheduler=scheduler, size=size, losses=(0.01, 0.03), delays=("5 ms", "40 ms")
    ).run()
    row = only(run)
    assert row["delivered_bytes"] == size
    assert row["waiting_bytes"] == 0
    assert 0 < row["completed_after_s"] < 10
    assert sum(flow["delivered_bytes"] for flow in flows(run).values()) == size


def test_two_paths_take_half_the_time_of_one():
    whole = only(scenario(size=5_000_000).run())["completed_after_s"]
    alone = ac.Scenario.from_data({
        "net": {"kind": "dumbbell", "pairs": 1, "rate": "10 Mbps", "rtt": "20 ms"},
        "flows": [{"pair": 0, "size": 5_000_000}], "duration": "10 s",
    }).run()  # fmt: skip
    (one,) = alone.flows.to_pylist()
    assert whole == pytest.approx(one["completed_after_s"] / 2, rel=0.1)


def test_redundant_data_counts_once():
    run = scenario(scheduler="redundant", warmup="2 s").run()
    row = only(run)
    assert 0.85e7 < row["goodput_bps"] < 1e7
    assert row["duplicate_packets"] > 0.4 * row["sent_packets"]


def test_a_short_transfer_is_over_before_the_longer_path_opens():
    delays, after = ("40 ms", "5 ms"), {"lowest-rtt": [], "round-robin": [], "redundant": []}
    for name, seen in after.items():
        run = scenario(scheduler=name, size=40_000, delays=delays, buffer="100 pkt").run()
        seen += [only(run)["completed_after_s"], flows(run)["both.0"]["delivered_packets"]]
    # 28 segments take two round trips of the shorter path after its handshake; the longer one
    # opens after 80 ms.
    assert [seen[1] for seen in after.values()] == [0, 0, 0]
    assert all(0.03 < seen[0] < 0.06 for seen in after.values())


def test_in_turns_both_paths_carry_half_of_what_the_receiver_has_room_for():
    run = scenario(
        scheduler="round-robin", tcp={"receiver_window": 20}, warmup="2 s", buffer="100 pkt"
    ).run()
    shares = [flow["goodput_bps"] / only(run)["goodput_bps"] for flow in flows(run).values()]
    assert shares == pytest.approx([0.5, 0.5], abs=0.1)


def test_one_window_of_the_receiver_holds_the_whole_connection():
    """Two windows would let 40 segments leave in a round trip; here it is 20 in all."""
    run = scenario(tcp={"receiver_window": 20}, rates=("100 Mbps", "100 Mbps"), warmup="2 s").run()
    assert only(run)["goodput_bps"] < 1.05 * 20 * 1460 * 8 / 0.02
    assert only(run)["goodput_bps"] > 0.5 * 20 * 1460 * 8 / 0.02


def test_lowest_rtt_prefers_the_shorter_path_where_the_window_is_short():
    """Where the receiver's window limits, the shorter round trip carries nearly all."""
    tcp, delays = {"receiver_window": 20}, ("40 ms", "5 ms")
    shares = {}
    for name in ("lowest-rtt", "round-robin"):
        rates = ("100 Mbps", "100 Mbps")
        run = scenario(tcp=tcp, scheduler=name, delays=delays, rates=rates, warmup="2 s").run()
        rows = flows(run)
        shares[name] = rows["both.0"]["goodput_bps"] / only(run)["goodput_bps"]
    assert shares["lowest-rtt"] < 0.01
    assert shares["round-robin"] > 0.4


def test_a_path_that_fails_does_not_end_the_transfer():
    run = scenario(
        size=3_000_000,
        links=[{"link": ["r0->z", "z->r0"], "down": [{"from": "0.5 s", "until": "60 s"}]}],
    ).run()
    row = only(run)
    assert row["delivered_bytes"] == 3_000_000
    assert row["completed_after_s"] < 8


def test_a_subflow_that_joins_late_begins_then():
    ways = [WAYS[0], {**WAYS[1], "after": "4 s"}]
    run = scenario(ways=ways).run()
    assert flows(run)["both.1"]["start_s"] == 4.0
    assert flows(run)["both.1"]["delivered_bytes"] < 0.7 * flows(run)["both.0"]["delivered_bytes"]


def test_another_flow_may_wait_for_a_connection():
    after = {"id": "next", "src": "z", "dst": "a", "size": 10_000, "after": ["both"]}
    run = scenario(size=100_000, more=[after]).run()
    completed = only(run)["completed_after_s"]
    assert flows(run)["next"]["start_s"] <= completed + 0.3
    assert flows(run)["next"]["start_s"] > 0.02


@pytest.mark.parametrize("scheduler", ["lowest-rtt", "redundant"])
def test_threads_change_nothing(scheduler, monkeypatch):
    monkeypatch.setenv(ALWAYS_THREADS, "1")
    delays = ("5 ms", "40 ms")
    case = scenario("olia", scheduler=scheduler, losses=(0.01, 0.0), delays=delays, duration="3 s")
    divided = case.run(threads=2)
    assert divided.summary["totals"]["threads"] == 2
    assert divided.summary["digest"] == case.run().summary["digest"]
    assert divided.connections.to_pylist() == case.run().connections.to_pylist()


def test_subflows_may_have_different_controls_and_one_route():
    ways = [{"cc": "cubic"}, {"cc": "vegas"}]
    net = {"kind": "dumbbell", "pairs": 1, "rate": "10 Mbps", "rtt": "20 ms"}
    flow = {"pair": 0, "multipath": {"paths": ways}}
    run = ac.Scenario.from_data({"net": net, "flows": [flow], "duration": "5 s"}).run()
    assert [row["cc"] for row in run.flows.to_pylist()] == ["cubic", "vegas"]


@pytest.mark.parametrize("cc", ["lia", "olia", "balia"])
def test_a_coupled_control_alone_is_reno(cc):
    net = {"kind": "dumbbell", "pairs": 1, "rate": "10 Mbps", "rtt": "40 ms"}
    results = [
        ac.Scenario.from_data(
            {"net": net, "flows": [{"pair": 0, "cc": name}], "duration": "20 s"}
        ).run()
        for name in (cc, "aimd")
    ]
    rows = [{k: v for k, v in run.flows.to_pylist()[0].items() if k != "cc"} for run in results]
    assert str(rows[0]) == str(rows[1])
    assert len({run.summary["totals"]["events"] for run in results}) == 1


def test_prediction_knows_the_size_of_a_connection():
    short, long = (scenario(size=size).cost().events for size in (100_000, 2_000_000))
    assert 5 < long / short < 40


def refused(**changes):
    with pytest.raises(ScenarioError) as error:
        scenario(**changes).run()
    return str(error.value)


def test_what_does_not_go_together_is_refused_in_a_sentence():
    assert "has one path" in refused(ways=WAYS[:1])
    assert "has 9 paths, expected two to eight" in refused(ways=[{}] * 9)
    assert 'did you mean "lowest-rtt"?' in refused(scheduler="lowest-rrt")
    assert "must begin at" in refused(ways=[WAYS[0], {"route": ["r1", "z"]}])
    assert "multipath.paths[1].route" in refused(ways=[WAYS[0], {"route": ["r1", "z"]}])
    assert 'did you mean "olia"?' in refused(ways=[WAYS[0], {**WAYS[1], "cc": "olla"}])
    assert "era 2002 has not; expected era rfc or linux" in refused(era="2002")
    assert 'is of MPTCP and not of QUIC; expected transport = "tcp"' in refused(era="quic")
    assert "does not go together with equal_paths" in refused(equal_paths="spray")
    assert "does not go together with multipath" in refused(tcp={"aqt": True})


def test_a_run_without_connections_has_no_table_of_them():
    net = {"kind": "dumbbell", "pairs": 1, "rate": "10 Mbps", "rtt": "40 ms"}
    run = ac.Scenario.from_data({"net": net, "flows": [{"pair": 0}], "duration": "1 s"}).run()
    with pytest.raises(UnsupportedError, match="no connection over several paths"):
        _ = run.connections
