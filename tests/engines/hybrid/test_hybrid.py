"""The hybrid engine: rates are exact, and packets of the sample behave as in the whole."""

from types import SimpleNamespace

import numpy as np
import pytest

from ackclock.engines.fluid.arrivals import Transfers
from ackclock.engines.fluid.graph import Graph
from ackclock.engines.fluid.net import FluidNet
from ackclock.engines.hybrid import HybridCase, bias, packets, sample
from ackclock.engines.hybrid.mixture import Mixture, Own
from ackclock.engines.hybrid.solve import Solver
from ackclock.engines.registry import case, open_parcel
from ackclock.errors import ScenarioError

JITTER = [{"kind": "jitter", "shape": "uniform", "mean": 5e-4, "spread": 5e-4, "keep_order": False}]
"""Acknowledgements that come at random take out the phase effects of drop-tail queues."""


def chain(routers, **of_core):
    """Routers in a row, a host at each: h0-r0-r1-...; hosts' links never fill."""
    links = [
        {"a": f"r{i}", "b": f"r{i + 1}", "delay": 0.005, **of_core} for i in range(routers - 1)
    ]
    for i in range(routers):
        rate = {"rate": 1e10, "delay": 0.002, "buffer": "1000000 pkt"}
        links.append({"a": f"h{i}", "b": f"r{i}", **rate, "back_impairments": JITTER})
    return {"kind": "graph", "links": links}


def document(per_pair=50, packets=100, cc="cubic", qdisc="fifo", **more):
    net = chain(2, rate=1e8, buffer="300 pkt", qdisc=qdisc)
    listed = {"kind": "listed", "flows": [["h0", "h1"]]}
    background = {"traffic": listed, "per_pair": per_pair, "packets": packets, "flow": {"cc": cc}}
    flows = [{"src": "h0", "dst": "h1", "cc": cc} for _ in range(2)]
    return {
        "net": net,
        "duration": 20,
        "warmup": 8,
        "flows": flows,
        "background": background,
        **more,
    }


def solver(question):
    return Solver(question.scenario, question.crowd, question.background)


def mixture(capacity, pairs, own, per_pair=1, **options):
    """Links 0, 1, 2, ... in a row from node to node."""
    n = len(capacity)
    ends = np.arange(n + 1, dtype=np.uint32)
    graph = Graph(tuple(map(str, ends)), ends[:-1], ends[1:], np.array(capacity, dtype=float))
    net = FluidNet.from_routes(capacity, pairs, graph=graph, **options)
    return Mixture(graph, net, per_pair, own)


def own(route, demand=np.inf, responds=True):
    return Own(tuple(route), (), 0.1, demand, responds, 0.0, np.inf)


def test_rates_are_weighted_max_min_and_a_flow_that_does_not_respond_comes_first():
    mixed = mixture([10.0, 100.0], [[0], [0, 1]], [own([0]), own([0], 4.0, responds=False)])
    found = mixed.allocate(np.ones(2, dtype=bool), np.array([1.0, 2.0]), np.array([3.0, 1.0]))
    assert found.foreground == pytest.approx([3.0, 4.0])
    assert found.pairs == pytest.approx([1.0, 2.0])
    assert found.full.tolist() == [True, False]
    assert found.pair_link.tolist() == [0, 0]
    assert found.own_link.tolist() == [0, -1]
    waits = mixed.allocate(np.array([True, False]), np.array([1.0, 2.0]), np.array([3.0, 1.0]))
    assert waits.foreground == pytest.approx([5.0, 0.0])


def test_a_pair_has_the_weight_of_all_its_flows_and_one_with_little_to_send_is_not_held_back():
    demand = np.array([np.inf, 0.5])
    mixed = mixture([10.0], [[0], [0]], [own([0])], per_pair=9, demand=demand)
    found = mixed.allocate(np.ones(1, dtype=bool), np.ones(2), np.ones(1))
    assert found.pairs == pytest.approx([8.55, 0.5])
    assert found.foreground == pytest.approx([0.95])
    assert found.pair_link.tolist() == [0, -1]


@pytest.mark.parametrize("per_pair", [1, 7, 10**7])
def test_each_pair_has_the_same_part_of_the_sample(per_pair):
    pairs = [[0], [0], [0, 1], [1]]
    mixed = mixture([10.0, 10.0], pairs, [own([0, 1])], per_pair)
    found = mixed.allocate(np.ones(1, dtype=bool), np.ones(4), np.ones(1))
    part = sample.share(mixed, found, 13)
    drawn = sample.draw(mixed, found, part, np.random.default_rng(5))
    at_first = 3 * per_pair
    share = min(1.0, 12 / at_first)
    assert part == pytest.approx(share)
    assert np.all(np.abs(drawn - share * per_pair) < 1)
    assert abs(drawn[:3].sum() - share * at_first) < 1
    assert np.all(drawn <= per_pair)


def test_without_a_full_link_nothing_of_the_background_is_packets():
    mixed = mixture([10.0], [[0]], [own([0], 1.0)], demand=np.array([2.0]))
    found = mixed.allocate(np.ones(1, dtype=bool), np.ones(1), np.ones(1))
    assert sample.share(mixed, found, 100) == 0
    assert sample.draw(mixed, found, 0.0, np.random.default_rng(1)).tolist() == [0]


def made_up(a, b, link, rtt, full):
    level = np.where(link == 0, 3.0, 5.0)
    return bias.FlowGroup(rtt, full, level * rtt**-a * full**-b, np.ones_like(rtt), link)


def test_exponents_are_found_where_they_are_known():
    rng = np.random.default_rng(2)
    link = rng.integers(0, 2, 80)
    rtt, full = rng.uniform(0.02, 0.2, 80), rng.integers(1, 4, 80).astype(float)
    found = bias.fit(made_up(1.0, 0.5, link, rtt, full))
    assert found.value == pytest.approx((-1.0, -0.5))
    assert bias.NONE.less(found) == pytest.approx((1.0, 0.5))
    assert not bias.is_settled(found)
    assert bias.is_settled(bias.fit(made_up(0.0, 0.0, link, rtt, full)))


def test_exponents_that_are_not_separable_explain_the_rates_together():
    link, full = np.zeros(40, dtype=int), np.repeat([1.0, 4.0], 20)
    rtt = 0.02 * full
    found = bias.fit(made_up(1.0, 0.5, link, rtt, full))
    assert sum(found.value) == pytest.approx(-1.5)
    assert bias.fit(made_up(1.0, 0.5, link, rtt[:1].repeat(40), full[:1].repeat(40))) is None


def test_with_all_flows_as_packets_it_is_the_packet_engine_itself():
    question = HybridCase(document(per_pair=10, packets=10**6))
    run, whole = question.execute(), question.whole().run()
    assert run.summary["digest"] == whole.summary["digest"]
    assert run.summary["background"]["as_rates"] == 0
    assert run.tables["background"]["background_bps"].to_numpy() == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize(("cc", "qdisc"), [("cubic", "fifo"), ("aimd", "pie")])
def test_a_sample_gets_the_goodput_and_the_queue_of_the_whole(cc, qdisc):
    question = HybridCase(document(per_pair=198, packets=70, cc=cc, qdisc=qdisc))
    run, whole = question.execute(), question.whole().run()

    def goodput(summary):
        # Of all flows: two alone vary by more than the test allows.
        return np.mean([flow["goodput_bps"] for flow in summary["flows"]])

    (row,) = (r for r in run.tables["background"].to_pylist() if r["link"] == "r0->r1")
    (link,) = (each for each in whole.summary["links"] if each["id"] == "r0->r1")
    assert run.summary["background"]["as_packets"] == 68
    assert goodput(run.summary) == pytest.approx(goodput(whole.summary), rel=0.05)
    assert row["delay_mean_s"] == pytest.approx(link["delay_mean_s"], rel=0.1)
    assert row["used"] == pytest.approx(link["utilisation"], rel=0.01)
    assert row["background_bps"] + row["left_bps"] == pytest.approx(1e8)


def test_rates_change_when_a_flow_of_the_scenario_starts_and_stops():
    data = document(packets=0)
    data["flows"][1] |= {"start": 5.0, "stop": 15.0}
    left = solver(HybridCase(data)).packets().left
    assert left.times == pytest.approx([0, 5, 15])
    names = HybridCase(data).crowd.graph().link_names()
    taken = left.taken[:, names.index("r0->r1")]
    assert taken == pytest.approx([1e8 * 50 / 51, 1e8 * 50 / 52, 1e8 * 50 / 51])


def test_a_greedy_control_takes_from_the_mass_and_not_from_the_sample():
    """Two flows that grow forty times as fast among 10,000: the sample keeps its fair rate."""
    data = document(per_pair=10_000, packets=40, cc="cubic")
    data["net"] = chain(2, rate=1e10, buffer="30000 pkt")
    data["net"]["links"][1]["rate"] = data["net"]["links"][2]["rate"] = 1e12
    data["flows"] = [{"src": "h0", "dst": "h1", "cc": {"kind": "aimd", "a": 40.0}}] * 2
    run = HybridCase(data).execute()
    rates = [flow["goodput_bps"] for flow in run.summary["flows"]]
    assert min(rates[:2]) > 1.5e6
    assert np.mean(rates[2:]) == pytest.approx(1e10 / 10_002 * 1460 / 1500, rel=0.1)


def arrivals(share, load=0.6):
    data = document()
    sizes = {"kind": "pareto", "mean": "200 kB", "shape": 1.5}
    come = {"kind": "poisson", "load": load, "sizes": sizes, "duration": 20}
    traffic = data["background"]["traffic"]
    return {**data, "background": {"traffic": traffic, "arrivals": come, "share": share}}


def test_finite_flows_leave_what_the_fluid_says():
    question = HybridCase(arrivals(0.2))
    run = question.execute()
    (row,) = (r for r in run.tables["background"].to_pylist() if r["link"] == "r0->r1")
    assert 0.3e8 < row["background_bps"] < 0.6e8
    assert row["background_bps"] + row["left_bps"] == pytest.approx(1e8, rel=1e-3)
    counts = run.summary["background"]
    assert counts["as_packets"] + counts["as_rates"] == len(question.crowd.transfers().time)
    assert counts["as_packets"] / counts["flows"] == pytest.approx(0.2, abs=0.08)


def test_with_all_transfers_as_packets_it_is_the_packet_engine_itself():
    question = HybridCase(arrivals(1.0))
    run, whole = question.execute(), question.whole().run()
    assert run.summary["digest"] == whole.summary["digest"]


def test_a_case_goes_round_and_only_what_counts_is_in_its_fingerprint():
    question = HybridCase(document(name="one"))
    again = case(question.to_document())
    assert again == HybridCase(question.data) and again.fingerprint == question.fingerprint
    assert open_parcel(question.parcel()).fingerprint == question.fingerprint
    assert question.replace(name="two", seed=9).fingerprint == question.fingerprint
    assert question.replace(**{"background.per_pair": 51}).fingerprint != question.fingerprint
    assert question.with_seed(7).seed == question.with_seed(7).crowd.seed == 7
    assert question.with_seed(7).execute().summary["seed"] == 7


def changed(**more):
    data = document()
    for path, value in more.items():
        at = data
        *before, last = path.split("__")
        for step in before:
            at = at[int(step)] if step.isdigit() else at[step]
        at[int(last) if last.isdigit() else last] = value
    return data


WRONG = {
    "net: the link r0->r1 has the queue codel, which": changed(
        net__links__0__qdisc="codel", background__per_pair=500
    ),
    "flows[1].media: is not for hybrid cases": changed(flows__1__media={"max": 1e6}),
    "flows[0].source: is not for hybrid cases": changed(
        flows__0={"src": "h0", "dst": "h1", "source": {"kind": "tfrc"}}
    ),
    "equal_paths: spreads flows over equal paths, of which": changed(equal_paths="hash"),
    'traffic: "traffic" is not a key of a hybrid case': changed(traffic=[]),
    'background: "traffic" is missing': changed(background={"packets": 5}),
    'background.bias: is "fited"; expected "fitted"': changed(background__bias="fited"),
    'background.traffic.flows[0].dst: there is no node "h7"': changed(
        background__traffic={"kind": "listed", "flows": [["h0", "h7"]]}
    ),
    'background.pakets: "pakets" is not a key here; did you mean "packets"': changed(
        background__pakets=3
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_cannot_be_is_said_in_one_sentence(message):
    with pytest.raises(ScenarioError) as caught:
        HybridCase(WRONG[message]).check()
    assert message in str(caught.value)


def test_headers_of_transfers_are_those_of_the_background_then_of_the_scenario():
    data = arrivals(0.2)
    assert solver(HybridCase(data))._wire() == pytest.approx(1500 / 1460)
    # The table of the background comes before that of the scenario, key by key.
    data["tcp"] = {"mss": 960, "header": 60}
    assert solver(HybridCase(data))._wire() == pytest.approx(1020 / 960)
    data["background"]["flow"] = {"tcp": {"mss": 540}}
    assert solver(HybridCase(data))._wire() == pytest.approx(600 / 540)


def test_round_trips_go_back_on_the_links_of_the_way_back():
    data = document()
    data["links"] = [{"link": "r1->r0", "delay": 0.045}]
    question = solver(HybridCase(data))
    # There 2 + 5 + 2 ms, back 2 + 45 + 2 ms: a pair and a flow between the same ends alike.
    assert question.pair_rtt == pytest.approx([0.058])
    assert question.own_rtt == pytest.approx([0.058, 0.058])


def test_queues_of_both_directions_are_in_the_round_trips_that_shares_go_with():
    data = document(packets=0)
    question = solver(HybridCase(data))
    names = [str(link["id"]) for link in question.links]
    waits = np.zeros(len(names))
    waits[names.index("r1->r0")] = 0.018
    seen = []
    question.mixture.allocate = lambda active, pairs, own: (
        seen.append((pairs, own)) or (Mixture.allocate(question.mixture, active, pairs, own))
    )
    question.packets(bias.Bias(1.0, 0.0), waits)
    # 18 ms without queues, and 18 ms in the queue of the acknowledgements.
    pairs, own = seen[0]
    assert pairs == pytest.approx([1 / 0.036])
    assert own == pytest.approx([1 / 0.036, 1 / 0.036])


def test_errors_of_exponents_are_those_of_a_regression_with_a_level_for_each_link():
    """Least squares of logarithms with a dummy for each of ten links, of three flows each."""
    rng = np.random.default_rng(3)
    link = np.repeat(np.arange(10), 3)
    rtt, full = rng.uniform(0.02, 0.2, 30), rng.integers(1, 5, 30).astype(float)
    measured = rng.uniform(1, 9, 10)[link] / rtt * np.exp(0.3 * rng.standard_normal(30))
    slopes = bias.fit(bias.FlowGroup(rtt, full, measured, np.ones(30), link))
    dummies = (link[:, None] == np.arange(10)).astype(float)
    design = np.column_stack([np.log(rtt), np.log(full), dummies])
    solution, (squares,), rank, _ = np.linalg.lstsq(design, np.log(measured), rcond=None)
    covariance = np.linalg.inv(design.T @ design) * squares / (30 - rank)
    assert slopes.value == pytest.approx(solution[:2])
    assert slopes.error == pytest.approx(np.sqrt(np.diag(covariance)[:2]))


def test_transfers_as_packets_have_the_bytes_of_their_bits_and_keep_times_and_ends():
    """Sizes of the fluid engine are bits; a transfer of less than a byte still is one."""
    routes = {0: ["a", "b"], 1: ["a", "c", "b"]}
    transfers = Transfers(
        np.array([0.0, 0.5, 0.75]), np.array([0, 1, 1], np.uint32), np.array([8e6, 12_000.0, 3.0])
    )
    drawn = packets.sampled_transfers(
        SimpleNamespace(nodes_along=routes.get),
        transfers,
        np.array([True, False, True]),
        {"cc": "cubic"},
    )
    assert [flow["size"] for flow in drawn] == [1_000_000, 1]
    assert [flow["start"] for flow in drawn] == [0.0, 0.75]
    assert [flow["route"] for flow in drawn] == [["a", "b"], ["a", "c", "b"]]
    assert {flow["cc"] for flow in drawn} == {"cubic"}
