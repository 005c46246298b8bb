"""Parts of the hybrid engine by hand: links, samples, bottlenecks, passes, and what a run says."""

from types import SimpleNamespace

import numpy as np
import pytest

from ackclock._util.arrow import array, table
from ackclock.engines.fluid.arrivals import Transfers
from ackclock.engines.fluid.graph import Graph
from ackclock.engines.fluid.net import FluidNet
from ackclock.engines.hybrid import bias, mixture, outcome, packets, proportion, sample, solve
from ackclock.engines.hybrid.leftover import Leftover, while_flows_last
from ackclock.engines.hybrid.mixture import Mixture, Own
from ackclock.engines.hybrid.outcome import HybridRun
from ackclock.engines.hybrid.own_flows import read_own
from ackclock.errors import ScenarioError


def own(route, back=(), **changes):
    plain = {"rtt_s": 0.1, "demand_bps": np.inf, "responds": True, "start_s": 0.0,
             "stop_s": np.inf, "control": ""}  # fmt: skip
    return Own(tuple(route), tuple(back), **{**plain, **changes})


def two_way(capacity, pairs, own_flows, per_pair=1):
    """Nodes in a row; link 2 i leads from node i to the next, 2 i + 1 back."""
    n = len(capacity) // 2
    there, next_ = np.arange(n, dtype=np.uint32), np.arange(1, n + 1, dtype=np.uint32)
    src, dst = np.column_stack([there, next_]).ravel(), np.column_stack([next_, there]).ravel()
    names = tuple(f"n{i}" for i in range(n + 1))
    graph = Graph(names, src, dst, np.array(capacity, dtype=float))
    net = FluidNet.from_routes(capacity, pairs, graph=graph)
    return Mixture(graph, net, per_pair, own_flows)


def leftover(mixed, **changes):
    n, links = mixed.n_pairs, len(mixed.graph.capacity)
    plain = {
        "times": np.array([0.0]), "taken": np.zeros((1, links)),
        "full": np.zeros(links, dtype=bool), "as_packets": np.zeros(n, dtype=int),
        "foreground": np.zeros(len(mixed.foreground)),
        "sampled": np.zeros(n), "own_link": np.full(len(mixed.foreground), -1),
        "pair_link": np.full(n, -1), "share": 0.0,
    }  # fmt: skip
    return Leftover(**{**plain, **changes})


def explained(name, **changes):
    plain = {"id": name, "qdisc": "fifo", "varies": False, "buffer_packets": 100,
             "buffer_bytes": None}  # fmt: skip
    return {**plain, **changes}


def test_packets_cross_their_route_and_the_way_back():
    mixed = two_way([1e6] * 6, [[0], [2], [4]], [own([2], [3])])
    crossed = packets.find_crossed_links(mixed, leftover(mixed, as_packets=np.array([1, 0, 0])))
    assert crossed.tolist() == [True, True, True, True, False, False]


def test_a_link_has_what_is_left_and_its_buffer_in_proportion():
    mixed = two_way([1e6] * 6, [[0, 2, 4]], [own([0, 2, 4])])
    # The first has a quarter throughout, the second a half then all, the third is not taken.
    taken = np.array([[7.5e5, 0, 5e5, 0, 0, 0], [7.5e5, 0, 0, 0, 0, 0]])
    left = leftover(mixed, times=np.array([0.0, 4.0]), taken=taken,
                    full=np.array([True] * 6))  # fmt: skip
    links = [explained("a", buffer_packets=30), explained("-"),
             explained("b", buffer_packets=None, buffer_bytes=15_000, qdisc="red"),
             explained("-"), explained("c"), explained("-")]  # fmt: skip
    changes, warnings = packets.changed_links(mixed, left, links, 8.0)
    assert changes == [
        {"link": "a", "rate": 2.5e5, "buffer": "8 pkt"},
        {"link": "b", "schedule": {"steps": [{"at": 0.0, "rate": 5e5}, {"at": 4.0, "rate": 1e6}]},
         "buffer": "11250 B"},
    ]  # fmt: skip
    # 8 packets, and 11,250 bytes, which are 7.5.
    assert [line.split(", too few")[0] for line in warnings] == [
        "of the buffer of a the packets have 8 pkt", "of the buffer of b the packets have 11250 B",
    ]  # fmt: skip
    none = leftover(mixed, times=left.times, taken=taken)
    assert packets.changed_links(mixed, none, links, 8.0)[1] == []
    # Ten packets are enough, and a buffer has room for one.
    links[0]["buffer_packets"] = 40
    assert len(packets.changed_links(mixed, left, links, 8.0)[1]) == 1
    links[0]["buffer_packets"], links[2]["buffer_bytes"] = 1, 1000
    changes, _ = packets.changed_links(mixed, left, links, 8.0)
    assert [change["buffer"] for change in changes] == ["1 pkt", "1500 B"]
    links[0]["buffer_packets"] = None
    assert "buffer" not in packets.changed_links(mixed, left, links, 8.0)[0][0]


def test_queues_that_cannot_be_scaled_and_rates_that_change_are_refused_together():
    mixed = two_way([1e6] * 4, [[0, 2]], [own([0, 2])])
    left = leftover(mixed, taken=np.array([[1.0, 0, 1.0, 0]]))
    links = [explained("a", qdisc="codel"), explained("-"), explained("b", varies=True),
             explained("-")]  # fmt: skip
    with pytest.raises(ScenarioError) as caught:
        packets.changed_links(mixed, left, links, 8.0)
    first, second = caught.value.problems
    assert first.message.startswith("the link a has the queue codel, which behaves otherwise")
    assert second.message == "the rate of b changes by itself; expected a constant rate"


def test_flows_of_the_background_start_within_the_spread_and_are_numbered_through():
    mixed = two_way([1e6] * 4, [[0], [0, 2], [2]], [own([0])])
    flows = packets.sampled_flows(mixed.pairs, np.array([1, 0, 2]), {"cc": "vegas"}, 3.0, 7)
    assert [flow["id"] for flow in flows] == ["background-0", "background-1", "background-2"]
    assert [flow["route"] for flow in flows] == [["n0", "n1"], ["n1", "n2"], ["n1", "n2"]]
    assert (flows[1]["src"], flows[1]["dst"], flows[1]["cc"]) == ("n1", "n2", "vegas")
    assert all(0 <= flow["start"] <= 3.0 for flow in flows)
    assert len({flow["start"] for flow in flows}) == 3


def test_the_first_full_link_where_none_has_more_holds_a_flow_back():
    def bottlenecks(rates, weights, demand, full):
        return mixture._bottlenecks(
            np.array([0, 1, 1, 0, 2]), np.array([0, 2, 3, 5]), np.array(rates, dtype=float),
            np.array(weights, dtype=float), np.array(demand, dtype=float), np.array(full),
        ).tolist()  # fmt: skip

    # Flow 0 crosses links 0 and 1, flow 1 link 1, flow 2 links 0 and 2.
    free = [np.inf] * 3
    assert bottlenecks([4, 6, 6], [1, 1, 1], free, [True, True, False]) == [-1, 1, 0]
    assert bottlenecks([4, 4, 6], [1, 1, 1], free, [True, True, True]) == [1, 1, 0]
    # By weight flow 0 has as much as the others: its first full link.
    assert bottlenecks([4, 8, 8], [1, 2, 2], free, [True, True, True]) == [0, 1, 0]
    assert bottlenecks([4, 8, 8], [1, 2, 2], free, [False, True, True]) == [1, 1, 2]
    # What gets all that it sends is held back by nothing, and does not count for others.
    assert bottlenecks([4, 6, 6], [1, 1, 1], [np.inf, 6, np.inf], [False, True, True]) == [1, -1, 2]


def test_the_sample_is_what_the_most_crowded_link_of_the_scenario_needs():
    mixed = two_way([1e6] * 6, [[0], [2], [0, 2], [4]], [own([0]), own([2]), own([2])], 10)
    allocation = mixture.Allocation(
        np.zeros(4), np.zeros(3), np.array([True] * 6), np.array([0, 2, 0, 4]),
        np.array([0, 2, 2]),
    )  # fmt: skip
    # Twenty flows cross each of the two links; of 8 packets there 1 and 2 are the scenario's.
    assert sample.share(mixed, allocation, 8) == pytest.approx(7 / 20)
    assert sample.share(mixed, allocation, 1) == 0.0
    assert sample.share(mixed, allocation, 100) == 1.0
    drawn = sample.draw(mixed, allocation, 0.35, np.random.default_rng(1))
    # Link 4 is full, but none of the scenario's flows crosses it.
    assert drawn[3] == 0
    assert all(count in (3, 4) for count in drawn[:3])
    assert sample.draw(mixed, allocation, 1.0, np.random.default_rng(1)).tolist() == [10, 10, 10, 0]
    assert sample.draw(mixed, allocation, 0, np.random.default_rng(1)).tolist() == [0] * 4
    nothing = allocation.__class__(np.zeros(4), np.zeros(3), allocation.full,
                                   np.array([-1, -1, -1, 4]), allocation.own_link)  # fmt: skip
    assert sample.share(mixed, nothing, 8) == 0.0


def test_rates_change_when_flows_start_and_stop_and_means_are_of_their_lives():
    late = own([0], start_s=2.0, stop_s=6.0)
    mixed = two_way([1.2e6, 1.2e6], [[0]], [own([0]), late], 2)
    found = while_flows_last(mixed, 0, 8.0, np.ones(1), np.ones(2), 1)
    assert found.times.tolist() == [0.0, 2.0, 6.0]
    # Two flows of the pair: of three 8e5, of four 6e5.
    assert found.taken[:, 0].tolist() == pytest.approx([8e5, 6e5, 8e5])
    assert found.foreground.tolist() == pytest.approx([3.5e5, 3e5])
    assert found.sampled.tolist() == pytest.approx([3e5])
    assert found.own_link.tolist() == [0, 0]
    assert found.share == 0.0
    half = while_flows_last(mixed, 0, 8.0, np.ones(1), np.ones(2), 1, 0.5)
    assert half.as_packets.tolist() == [1]
    assert half.taken[:, 0].tolist() == pytest.approx([4e5, 3e5, 4e5])


def test_crowding_is_of_time_of_other_controls_and_stops_at_one():
    def crowd(flow, foreground, taken=9e5, queue="fifo"):
        mixed = two_way([1e6, 1e6], [[0]], [flow])
        left = leftover(mixed, full=np.array([True, False]), taken=np.array([[taken, 0.0]]),
                        foreground=np.array([foreground]))  # fmt: skip
        return proportion.crowding(mixed, left, [queue, "fifo"], "cubic", 10.0)

    other = own([0], control="bbr3 []")
    # A tenth of the link: in a sample at most 12 %, so packets have 5/6 of it, 0.1 of them ours.
    found = crowd(other, 1e5)
    assert found.link == 0
    assert found.share == pytest.approx((1e5 / 0.12 - 1e5) / 9e5)
    assert found.why == (
        "flows of another control than the background's have 1e+02 % in place of 10 % of"
    )
    # Half of the time is half as much.
    half = crowd(own([0], control="bbr3 []", start_s=5.0), 1e5)
    assert half.share == pytest.approx((5e4 / 0.07 - 5e4) / 9.5e5)
    assert crowd(own([0], control="bbr3 []", stop_s=5.0), 1e5).share == pytest.approx(half.share)
    assert crowd(own([0]), 1e5) == proportion.NOWHERE
    assert crowd(own([0], control="x []", responds=False), 1e5) == proportion.NOWHERE
    assert crowd(other, 1e5, queue="drr") == proportion.NOWHERE
    assert crowd(own([0], control="vegas []"), 1e5).share == 1.0


def test_pairs_that_were_not_compared_are_named_once():
    mixed = two_way([1e6] * 4, [[0, 2]], [own([0, 2], control="bbr3 []"),
                                          own([2], control="copa (x) []")])  # fmt: skip
    left = leftover(mixed, full=np.array([True, False, True, False]),
                    taken=np.array([[1.0, 0, 1.0, 0]]))  # fmt: skip

    def notes(queues, behind):
        return [n.split(" has not")[0]
                for n in proportion.list_unmeasured_pairs(mixed, left, queues, behind)]  # fmt: skip

    assert notes(["fifo"] * 4, "cubic") == ["copa among cubic over fifo"]
    assert notes(["pie", "-", "pie", "-"], "cubic") == [
        "bbr3 among cubic over pie", "copa among cubic over pie",
    ]  # fmt: skip
    assert notes(["fifo"] * 4, "reno2")[0] == "bbr3 among reno2 over fifo"


def test_flows_of_the_scenario_are_read_with_what_they_send():
    flows = [{"stop": "4 s"}, {"source": {"kind": "cbr", "rate": "2 Mbps"}},
             {"source": {"kind": "poisson"}}, {"every": "1 s", "app": {}}]  # fmt: skip
    means = [{"route": ["a", "b", "c"], "rtt_s": 0.1, "start_s": 1.5},
             {"route": ["b", "c"], "rtt_s": 0.2}, {"route": ["a", "b"], "rtt_s": 1},
             {"route": ["a", "b"], "rtt_s": 1}]  # fmt: skip
    number = {"a->b": 0, "b->a": 1, "b->c": 2}

    def read(count, explained=None):
        scenario = SimpleNamespace(data={"flows": flows[:count]}, locate_problems=ScenarioError)
        return read_own(scenario, (explained or means)[:count], number)

    first, second = read(2)
    # The link from c has no way back.
    assert (first.route, first.back) == ((0, 2), (1,))
    assert (first.start_s, first.stop_s, first.demand_bps, first.responds) == (
        1.5, 4.0, np.inf, True,
    )  # fmt: skip
    assert (second.demand_bps, second.responds, second.stop_s) == (2e6, False, np.inf)
    with pytest.raises(ScenarioError) as caught:
        read(4)
    assert [problem.path for problem in caught.value.problems] == [
        "flows[2].source", "flows[3].every", "flows[3].app",
    ]  # fmt: skip
    with pytest.raises(ScenarioError, match="are drawn"):
        read(2, means[:1])


def test_exponents_are_corrected_within_their_bounds_and_settle_within_their_errors():
    def slopes(rtt, links, error=0.0):
        return bias.Slopes(bias.Bias(rtt, links), bias.Bias(error, error))

    assert bias.Bias(1.0, 0.5).less(slopes(-0.25, 0.75)) == (1.25, 0.0)
    assert bias.Bias(2.9, 0.0).less(slopes(-1.0, -0.25)) == (3.0, 0.25)
    assert bias.is_settled(None)
    assert bias.is_settled(slopes(0.03, -0.03))
    assert not bias.is_settled(slopes(0.0, -0.031))
    assert bias.is_settled(slopes(0.2, -0.2, error=0.2))


def test_a_control_is_measured_by_all_its_flows_together():
    found = bias.pulls(
        ["", "x", "y", "x", "z"], np.array([9.0, 1.0, 0.0, 3.0, 5.0]),
        np.array([1.0, 1.0, 2.0, 1.0, 0.0]),
    )  # fmt: skip
    assert found.tolist() == [1.0, 2.0, 1e-3, 2.0, 1.0]


def test_progress_of_each_pass_has_half_of_what_is_left():
    said = []
    for count in range(3):
        report = solve._part(lambda part, at: said.append((part, at)), count)
        report(0.0, 1.0)
        report(0.5, 2.0)
    assert said == [(0, 1), (0.25, 2), (0.5, 1), (0.625, 2), (0.75, 1), (0.8125, 2)]
    assert solve._part(None, 1) is None


class Passes(solve.Solver):
    """A solver whose packets get what a list says."""

    def __init__(self, stated, slopes, pulls=None, *, whole=False):
        self.background = {"bias": stated, "per_pair": 10}
        self.mixture = two_way([1e6, 1e6], [[0]], [own([0])], 10)
        self.transfers, self.duration_s = None, 8.0
        self.slopes, self.pulls = list(slopes), list(pulls or [np.ones(1)] * 9)
        self.seen, self.count = [], 10 if whole else 1

    def packets(self, used, queues, full, weights):
        self.seen.append((tuple(used), queues, full, weights.tolist()))
        scenario = SimpleNamespace(execute=lambda progress, spill: len(self.seen))
        left = leftover(self.mixture, full=f"full {len(self.seen)}",
                        as_packets=np.array([self.count]))  # fmt: skip
        return solve.PacketPart(scenario, left, [])

    def _slopes(self, packets, run):
        value = self.slopes.pop(0)
        return None if value is None else bias.Slopes(bias.Bias(value, 0.0), bias.Bias(0.0, 0.0))

    def _pulls(self, packets, run):
        return self.pulls.pop(0)

    def _queues(self, run):
        return f"queues {run}"


def test_passes_end_when_the_exponents_settle_and_each_has_the_queues_of_the_last():
    solver = Passes("fitted", [-0.5, -0.25, 0.02])
    said = []
    solved = solver.run(lambda part, at: said.append((part, at)), None)
    assert (solved.passes, solved.run) == (3, 3)
    assert solver.seen == [
        ((0.0, 0.0), None, None, [1.0]), ((0.5, 0.0), "queues 1", "full 1", [1.0]),
        ((0.75, 0.0), "queues 2", "full 2", [1.0]),
    ]  # fmt: skip
    assert solved.used == (0.75, 0.0)
    assert said[-1] == (1.0, 8.0)
    assert Passes("fitted", [0.5] * 9).run(None, None).passes == solve.PASSES
    # Where all flows are packets nothing can be wrong.
    assert Passes("fitted", [0.5] * 9, whole=True).run(None, None).passes == 1


def test_stated_exponents_take_a_second_pass_for_the_queues():
    solved = Passes({"rtt": 1.0, "links": 0.5}, [0.5] * 9).run(None, None)
    assert (solved.passes, solved.used) == (2, (1.0, 0.5))
    assert Passes({"rtt": 0.0, "links": 0.0}, [0.5] * 9).run(None, None).passes == 1


def test_weights_of_other_controls_are_corrected_until_they_are_within_a_tenth():
    pulls = [np.array([2.0]), np.array([0.5]), np.array([1.1])]
    solver = Passes("fitted", [None] * 9, pulls)
    assert solver.run(None, None).passes == 3
    assert [weights for *_, weights in solver.seen] == [[1.0], [2.0], [1.0]]
    # The logarithm of 1.11 is more than a tenth.
    assert Passes("fitted", [None] * 9, [np.array([1.11]), *pulls[2:]]).run(None, None).passes == 2


def test_the_headers_that_transfers_need_and_the_transfers_in_time():
    solver = Passes("fitted", [])
    solver.scenario = SimpleNamespace(
        data={"tcp": {"mss": 1000, "header": 50}}, locate_problems=ScenarioError
    )
    assert solver._wire() == pytest.approx(1.05)
    times = Transfers(np.array([1.0, 7.9, 8.0, 9.0]), np.arange(4, dtype=np.uint32), np.ones(4))
    inside = solver._in_time(times, [own([0], stop_s=8.0)])
    assert inside.time.tolist() == [1.0, 7.9]
    assert inside.flow.tolist() == [0, 1]
    with pytest.raises(ScenarioError) as caught:
        solver._in_time(times, [own([0]), own([0], stop_s=7.5)])
    assert [problem.path for problem in caught.value.problems] == ["flows[1].stop"]


def test_full_links_are_counted_along_each_route_and_one_at_least():
    solver = Passes("fitted", [])
    solver.mixture = two_way([1e6] * 6, [[0, 2, 4], [2], [4]], [own([0, 2]), own([4])])
    full = np.array([True, False, True, False, False, False])
    pairs, own_flows = solver._full_links(full)
    assert (pairs.tolist(), own_flows.tolist()) == ([2, 1, 1], [2, 1])
    pairs, own_flows = solver._full_links(None)
    assert (pairs.tolist(), own_flows.tolist()) == ([1, 1, 1], [1, 1])


def test_slopes_are_of_flows_that_are_alike(monkeypatch):
    seen = []
    monkeypatch.setattr(bias, "fit", seen.append)
    solver = Passes("fitted", [])
    solver.mixture = two_way([1e6] * 4, [[0, 2], [2]], [own([0]), own([2], control="x []"),
                                                       own([0, 2], responds=False)])  # fmt: skip
    left = leftover(
        solver.mixture, as_packets=np.array([1, 2]), foreground=np.array([1.0, 2.0, 3.0]),
        sampled=np.array([4.0, 5.0]), own_link=np.array([0, 2, 2]), pair_link=np.array([2, -1]),
        full=np.array([True, False, True, False]),
    )  # fmt: skip
    flows = [{"srtt_mean_s": 0.1 * i or None, "goodput_bps": i or None} for i in range(6)]
    run = SimpleNamespace(summary={"flows": flows})
    solve.Solver._slopes(solver, solve.PacketPart(None, left, []), run)
    (group,) = seen
    assert group.rtt_s.tolist() == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5])
    assert group.measured_bps.tolist() == [0, 1, 2, 3, 4, 5]
    assert group.fluid_bps.tolist() == [1, 2, 3, 4, 5, 5]
    assert group.full_links.tolist() == [1, 1, 2, 2, 1, 1]
    assert group.link.tolist() == [0, -1, -1, 2, -1, -1]
    solver.links = [{"id": "a"}, {"id": "b"}, {"id": "c"}]
    rows = [{"id": "b", "delay_mean_s": 0.25}, {"id": "a", "delay_mean_s": None}]
    queues = solve.Solver._queues(solver, SimpleNamespace(summary={"links": rows}))
    assert queues.tolist() == [0.0, 0.25, 0.0]


def finished(**changes):
    """A run over two links of which the first has half of its rate left."""
    mixed = two_way([1e6, 1e6, 2e6, 2e6], [[0, 2], [2]], [own([0])], 10)
    left = leftover(mixed, times=np.array([0.0]), taken=np.array([[5e5, 0, 0, 0]]),
                    as_packets=np.array([3, 0]),
                    full=np.array([True, False, False, False]))  # fmt: skip
    links = [{"id": "n0->n1", "utilisation": 0.8, "delay_mean_s": 0.01},
             {"id": "n1->n2", "utilisation": 0.25, "delay_mean_s": None},
             {"id": "n1->n0", "utilisation": 0.5, "delay_mean_s": 0.02}]  # fmt: skip
    flow = {"id": "f", "src": "n0", "dst": "n1", "cc": None, "goodput_bps": 2e5, "retransmits": 4,
            "timeouts": 1, "srtt_mean_s": 0.12}  # fmt: skip
    run = SimpleNamespace(
        summary={"links": links, "duration_s": 8.0, "window_s": 6.0, "warnings": ["w"], "seed": 3,
                 "era": "linux", "flows": [flow, {**flow, "id": "background-0"}],
                 "totals": {"packet_hops": 1234, "cpu_s": 1.0}},
        tables={"flows": table({"id": array(["f"])})},
    )  # fmt: skip
    plain = {"run": run, "packets": solve.PacketPart(None, left, ["more"]), "mixture": mixed,
             "used": bias.Bias(1.0, 0.5), "passes": 2, "slopes": None,
             "transfers": None}  # fmt: skip
    case = SimpleNamespace(fingerprint="h", engine="hybrid", name="mine")
    return outcome.outcome(case, solve.Solved(**{**plain, **changes}), 75.0)


def test_a_link_is_used_by_rates_and_by_what_packets_use_of_the_rest():
    found = finished()
    rows = {row["link"]: row for row in found.tables["background"].to_pylist()}
    assert list(rows) == ["n0->n1", "n1->n0", "n1->n2", "n2->n1"]
    first = rows["n0->n1"]
    assert (first["background_bps"], first["left_bps"]) == (5e5, 5e5)
    assert first["used"] == pytest.approx(0.5 + 0.8 * 0.5)
    assert (first["flows_as_packets"], first["delay_mean_s"], first["full"]) == (4, 0.01, True)
    assert rows["n1->n2"]["used"] == pytest.approx(0.25)
    assert (rows["n1->n2"]["flows_as_packets"], rows["n1->n2"]["delay_mean_s"]) == (3, 0.0)
    # Acknowledgements cross it, and no flow's data.
    assert (rows["n1->n0"]["flows_as_packets"], rows["n1->n0"]["used"]) == (0, 0.5)
    assert rows["n2->n1"]["used"] == 0.0


def test_the_summary_counts_flows_as_packets_and_as_rates():
    said = finished().summary
    assert said["background"] == {
        "flows": 21, "own": 1, "as_packets": 3, "as_rates": 17,
        "bias": {"rtt": 1.0, "links": 0.5}, "missing": None, "error": None, "passes": 2,
    }  # fmt: skip
    assert said["warnings"] == ["w", "more"]
    assert said["totals"] == {"packet_hops": 1234, "cpu_s": 75.0}
    assert finished(transfers=500).summary["background"]["as_rates"] == 497


def test_the_text_of_a_run_has_its_own_flows_and_the_links_with_packets():
    text = str(finished())
    head, flows, links, shares, warnings, cost = text.split("\n\n")
    assert head == (
        "mine: hybrid engine, era linux, seed 3, 8 s simulated, measured from 2 s to 8 s\n"
        "21 flows: 1 of the scenario and 3 of the background as packets, 17 as rates"
    )
    assert "background-0" not in flows
    assert flows.splitlines()[-1].split() == [
        "f", "n0", "->", "n1", "-", "200", "kbit/s", "4", "1", "120", "ms",
    ]  # fmt: skip
    # The busiest first; without packets a link is left out.
    assert [line.split()[0] for line in links.splitlines()[-2:]] == ["n0->n1", "n1->n2"]
    assert "90.0 %" in links
    assert "50.0 %" in links
    assert shares == (
        "shares of a bottleneck go with round-trip time to the minus 1; full links crossed to the"
        " minus 0.5"
    )
    assert warnings == "warning: w\nwarning: more"
    assert cost == "1,234 packet hops in the last of 2 passes, 75 s of one core in all"
    even = finished(used=bias.NONE)
    assert "flows share evenly" in str(even)
    slopes = bias.Slopes(bias.Bias(0.25, -0.125), bias.Bias(0.01, 0.02))
    assert (
        "round-trip time to the minus 1 (missing by the last pass: -0.25 +- 0.01); full links"
        " crossed to the minus 0.5 (missing by the last pass: 0.125 +- 0.02)"
    ) in str(finished(slopes=slopes))
    assert isinstance(even, HybridRun)
