"""Fluid cases: what counts in a question, what travels, what is predicted and said, by hand."""

import json

import numpy as np
import pytest

import ackclock as ac
from ackclock.engines.fluid import case as case_module
from ackclock.engines.fluid.case import FluidCase, FluidRun, load
from ackclock.engines.fluid.graph import Graph, Traffic
from ackclock.engines.fluid.net import FluidNet
from ackclock.engines.fluid.outcome import Routers, Senders
from ackclock.engines.registry import open_parcel
from ackclock.errors import ConvergenceError, ScenarioError

LINE = {"kind": "links", "links": [["a", "b", 10], ["b", "c", 4]]}
FLOWS = {"kind": "listed", "flows": [["a", "c"], ["a", "b"]]}
POISSON = {"kind": "poisson", "sizes": {"kind": "fixed", "mean": "1 kB"}, "load": 0.5, "count": 40}


def fluid(file=None, **changes):
    data = {"net": LINE, "traffic": FLOWS, **changes}
    return FluidCase({key: value for key, value in data.items() if value is not None}, file)


# -- the question ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "is_random"),
    [
        ({}, False),
        ({"traffic": {"kind": "pattern", "between": "uniform-pairs", "flows": 3}}, True),
        ({"equal_paths": "hash"}, True),
        ({"equal_paths": "first"}, False),
        ({"arrivals": POISSON}, True),
        ({"traffic": None, "arrivals": {"kind": "trace", "flows": [[0, "a", "c", 8]]}}, False),
    ],
    ids=str,
)
def test_a_case_is_random_if_traffic_hash_or_arrivals_are_drawn(changes, is_random):
    assert fluid(**changes).is_random is is_random


def test_a_case_prints_its_name_network_traffic_and_sender():
    assert repr(fluid()) == "FluidCase(links, listed, sender='naive')"
    named = fluid(name="Fig. 2", sender="full-share")
    assert repr(named) == "FluidCase('Fig. 2': links, listed, sender='full-share')"
    trace = fluid(traffic=None, arrivals={"kind": "trace", "flows": [[0, "a", "c", 8]]})
    assert repr(trace) == "FluidCase(links, trace, sender='naive')"
    assert repr(FluidRun(named, {}, {})) == f"FluidRun({named!r})"


def test_what_is_computed_makes_the_fingerprint_and_nothing_else():
    question = fluid().fingerprint
    for same in (
        {"name": "x"}, {"seed": 9}, {"unit": "pkt/s"}, {"allocation": "senders"},
        {"equal_paths": "first"}, {"sender": {"kind": "naive"}}, {"routing": "hops"},
        {"net": {**LINE, "nodes": ["a", "b", "c"]}},
        {"traffic": {"kind": "listed", "flows": [{"src": "a", "dst": "c"}, ["a", "b"]]}},
    ):  # fmt: skip
        assert fluid(**same).fingerprint == question, same
    others = [
        {"net": {"kind": "links", "links": [["a", "b", 10], ["b", "c", 5]]}},
        {"net": {"kind": "links", "links": [["a", "b", 10], ["b", "d", 4]]},
         "traffic": {"kind": "listed", "flows": [["a", "d"], ["a", "b"]]}},
        {"traffic": {"kind": "listed", "flows": [["a", "c"], ["b", "c"]]}},
        {"traffic": {"kind": "listed", "flows": [["a", "c"], {"src": "a", "dst": "b",
                                                              "weight": 2}]}},
        {"traffic": {"kind": "listed", "flows": [{"src": "a", "dst": "c", "demand": 1},
                                                 ["a", "b"]]}},
        {"traffic": {"kind": "listed", "flows": [{"src": "a", "dst": "c",
                                                  "route": ["a", "b", "c"]}, ["a", "b"]]}},
        {"allocation": "max-min"}, {"allocation": "alpha-fair"}, {"equal_paths": "hash"},
        {"paths": {"listed": [["a", "b", "c"]]}}, {"routing": "cost"}, {"access": 2},
        {"traffic": {"kind": "pattern", "between": "uniform-pairs", "flows": 3}},
        {"traffic": {"kind": "pattern", "between": "uniform-pairs", "flows": 4}},
        {"arrivals": POISSON}, {"arrivals": {**POISSON, "count": 41}},
    ]  # fmt: skip
    prints = [fluid(**change).fingerprint for change in others]
    assert len({question, *prints}) == 1 + len(others)
    assert all(len(text) == 64 and int(text, 16) for text in prints)


def test_a_copy_with_another_seed_has_its_traffic():
    pattern = {"kind": "pattern", "between": "uniform-pairs", "flows": 30}
    drawn = fluid(traffic=pattern, seed=1)
    network = drawn.graph()
    other = drawn.with_seed(2)
    assert (drawn.seed, other.seed) == (1, 2)
    assert other.graph() is network
    assert other.traffic().src.tolist() != drawn.traffic().src.tolist()
    assert other.with_seed(1) == drawn
    assert other.fingerprint == drawn.fingerprint


def test_a_case_of_files_travels_as_plain_data(tmp_path):
    (tmp_path / "nodes.csv").write_text("id\na\nb\nc\n")
    (tmp_path / "edges.csv").write_text(
        "source,target,capacity_bps,delay_s,weight\na,b,10,0,1\nb,c,4,0,2\n"
    )
    (tmp_path / "m.csv").write_text("source,target,demand_bps\na,c,3\n")
    (tmp_path / "p.csv").write_text("path\na;b;c\n")
    (tmp_path / "t.csv").write_text("time_s,source,target,size_bits\n1,a,c,8\n")
    here = tmp_path / "case.toml"
    question = fluid(
        here,
        net={"kind": "csv", "folder": "."},
        traffic={"kind": "matrix", "file": "m.csv"},
        paths={"file": "p.csv"},
    )
    plain = question.to_document()
    assert plain["engine"] == "fluid"
    assert plain["net"]["links"] == [
        ["a", "b", 10, 1], ["b", "a", 10, 1], ["b", "c", 4, 2], ["c", "b", 4, 2],
    ]  # fmt: skip
    assert plain["traffic"] == {
        "kind": "listed", "flows": [{"src": "a", "dst": "c", "demand": 3.0}],
    }  # fmt: skip
    assert plain["paths"] == {"listed": [["a", "b", "c"]]}
    again = FluidCase.from_document(plain)
    assert again.fingerprint == question.fingerprint
    assert again.execute().flows.equals(question.execute().flows)
    trace = fluid(here, traffic=None, arrivals={"kind": "trace", "file": "t.csv"})
    listed = trace.to_document()["arrivals"]
    assert "file" not in listed
    assert FluidCase.from_document(trace.to_document()).fingerprint == trace.fingerprint
    # What names no file is as it was written.
    assert fluid(here).to_document() == {"engine": "fluid", "net": LINE, "traffic": FLOWS}


def test_a_file_is_read_and_names_what_is_wrong_in_it(tmp_path):
    file = tmp_path / "case.toml"
    file.write_text(fluid(name="x").to_toml())
    assert load(file) == fluid(name="x")
    assert load(str(file)).name == "x"
    bad = {"kind": "listed", "flows": [["a", "d"]]}
    file.write_text(fluid(traffic=bad).to_toml())
    with pytest.raises(ScenarioError) as caught:
        load(file).check()
    assert str(caught.value).startswith(f"{file}: traffic")


# -- routed networks ------------------------------------------------------------------------------


def test_routed_networks_are_kept_by_what_their_routes_depend_on():
    first = fluid().net()
    assert fluid(sender="full-share", allocation="max-min", name="x", seed=5).net() is first
    for change in (
        {"net": {"kind": "links", "links": [["a", "b", 11], ["b", "c", 4]]}},
        {"traffic": {"kind": "listed", "flows": [["a", "b"], ["a", "c"]]}},
        {"routing": "cost"}, {"paths": {"listed": [["a", "b", "c"]]}}, {"equal_paths": "hash"},
        {"arrivals": POISSON},
    ):  # fmt: skip
        assert fluid(**change).net() is not first, change
    hashed = fluid(equal_paths="hash")
    assert hashed.with_seed(2).net() is not hashed.net()
    assert hashed.with_seed(1).net() is hashed.net()
    for array in (first.capacity, first.offsets, first.hops):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_the_eight_networks_last_used_are_kept(monkeypatch):
    monkeypatch.setattr(case_module, "_ROUTED", {})

    def network(rate):
        return fluid(net={"kind": "links", "links": [["a", "b", rate], ["b", "c", 4]]}).net()

    first, second = network(1), network(2)
    for rate in range(3, 9):
        network(rate)
    assert network(1) is first
    network(9)
    assert network(2) is second
    assert network(1) is not first


def test_a_network_of_many_hops_is_not_kept(monkeypatch):
    monkeypatch.setattr(case_module, "_ROUTED", {})
    monkeypatch.setattr(case_module, "_MOST_HOPS", 2)
    assert fluid().net() is not fluid().net()
    monkeypatch.setattr(case_module, "_MOST_HOPS", 3)
    assert fluid().net() is fluid().net()


# -- flows over time ------------------------------------------------------------------------------


def test_flows_that_last_have_no_transfers():
    with pytest.raises(ScenarioError) as caught:
        fluid().transfers()
    assert [str(p) for p in caught.value.problems] == [
        "arrivals: the case has none; its flows last"
    ]


def test_a_demand_is_how_often_a_pair_is_drawn_and_bounds_no_flow():
    flows = [{"src": "a", "dst": "b", "demand": 3}, {"src": "b", "dst": "a", "demand": 1}]
    question = fluid(traffic={"kind": "listed", "flows": flows}, allocation="max-min",
                     arrivals={**POISSON, "count": 4000, "load": 0.01})  # fmt: skip
    assert question.net().demand is None
    pairs = np.bincount(question.transfers().flow)
    assert pairs[0] / pairs.sum() == pytest.approx(0.75, abs=0.03)
    # Alone, which most are, a flow takes the whole link of 10: 8000 bits in 800 s.
    slowdown = question.execute().flows["slowdown"].to_numpy(zero_copy_only=False)
    assert np.median(slowdown) == pytest.approx(1.0)


def test_a_trace_names_its_pairs():
    rows = [[0, "a", "c", 8], [1, "a", "b", 10]]
    question = fluid(traffic=None, allocation="max-min", arrivals={"kind": "trace", "flows": rows})
    traffic, transfers = question.traffic(), question.transfers()
    nodes = question.graph().nodes
    pairs = [(nodes[a], nodes[b]) for a, b in zip(traffic.src, traffic.dst, strict=True)]
    assert sorted(pairs) == [("a", "b"), ("a", "c")]
    assert transfers.time.tolist() == [0, 1]
    run = question.execute()
    assert run.flows["completed_at_s"].to_pylist() == pytest.approx([2.0, 2 + 1 / 3], rel=0.2)
    assert "completed" in run.summary["totals"]


# -- what is predicted, and found -----------------------------------------------------------------


def test_the_cost_grows_with_hops_and_over_time_with_flows():
    at_rest = fluid().cost()
    # Three hops of 96 bytes.
    assert at_rest.memory_bytes == 288
    double = fluid(traffic={"kind": "listed", "flows": FLOWS["flows"] * 2}).cost()
    assert double.events == 2 * at_rest.events
    assert double.cpu_s == pytest.approx(2 * at_rest.cpu_s)
    assert 0 < at_rest.cpu_s < 1e-3
    over_time = fluid(allocation="max-min", arrivals=POISSON).cost()
    # A flow comes and goes.
    assert over_time.events == 80
    longer = fluid(allocation="max-min", arrivals={**POISSON, "count": 400}).cost()
    assert longer.cpu_s == pytest.approx(10 * over_time.cpu_s)
    assert longer.memory_bytes > over_time.memory_bytes > 0


def test_a_summary_says_the_question_and_the_totals():
    seen = []
    question = fluid(name="x", seed=3, unit="pkt/s", sender="full-share",
                     routers={"sharing": "max-min"})  # fmt: skip
    run = question.execute(progress=lambda part, time_s: seen.append((part, time_s)))
    assert seen == [(1.0, 0.0)]
    summary = run.summary
    assert summary["scenario_hash"] == question.fingerprint
    assert (summary["seed"], summary["engine"], summary["unit"]) == (3, "fluid", "pkt/s")
    assert (summary["allocation"], summary["warnings"]) == ("senders", [])
    assert summary["sender"]["kind"] == "full-share"
    assert summary["routers"]["sharing"]["kind"] == "max-min"
    assert summary["version"] == ac.__version__
    assert summary["totals"]["cpu_s"] >= 0
    assert json.loads(json.dumps(summary)) == summary
    assert run.case is question
    assert run.links is run.tables["links"]
    assert run.flows is run.tables["flows"]
    assert str(run).splitlines()[0].startswith("x")


def test_rates_of_the_whole_network_are_max_min_or_proportionally_fair():
    def goodputs(**changes):
        return fluid(**changes).execute().flows["goodput"].to_pylist()

    # Max-min: 4 over both, the rest of 10 for the other.
    assert goodputs(allocation="max-min") == [4, 6]
    # Alpha of 1, where it is left out: equal, but 4 at most.
    assert goodputs(allocation="alpha-fair") == pytest.approx([4, 6], rel=1e-6)
    two = {
        "net": {"kind": "links", "links": [["a", "b", 1], ["b", "c", 1]]},
        "traffic": {"kind": "listed", "flows": [["a", "c"], ["a", "b"], ["b", "c"]]},
    }
    assert goodputs(**two, allocation="alpha-fair") == pytest.approx([1 / 3, 2 / 3, 2 / 3])
    assert goodputs(**two, allocation="alpha-fair", alpha=2) == pytest.approx(
        [1 / (1 + 2**0.5), *[2**0.5 / (1 + 2**0.5)] * 2]
    )
    assert goodputs(**two, allocation="max-min") == pytest.approx([0.5] * 3)
    summary = fluid(**two, allocation="alpha-fair").execute().summary
    # What is offered is what fits.
    assert (summary["totals"]["dead"], summary["warnings"]) == (0, [])


def test_senders_that_did_not_settle_are_said_with_their_period():
    class Settled:
        converged, rounds, change, period = False, 30, 0.01234, None

    assert case_module._warnings(Settled) == [
        "senders did not settle in 30 rounds: the demands still change; the last change was 0.0123"
        " of a sender's link"
    ]
    Settled.period = 2
    assert case_module._warnings(Settled) == [
        "senders did not settle in 30 rounds: the demands come back every 2 rounds; the last change"
        " was 0.0123 of a sender's link"
    ]
    Settled.converged = True
    assert case_module._warnings(Settled) == []


def test_costs_of_listed_links_make_the_routes_that_add_them_up(tmp_path):
    direct = [["a", "c", 10, 3], ["a", "b", 10, 1], ["b", "c", 10, 1]]
    flows = {"kind": "listed", "flows": [["a", "c"], ["c", "a"]]}

    def ways(routing, links):
        question = fluid(net={"kind": "links", "links": links}, traffic=flows, routing=routing)
        return [question.net().nodes_along(i) for i in range(2)]

    assert ways("hops", direct) == [["a", "c"], ["c", "a"]]
    assert ways("cost", direct) == [["a", "b", "c"], ["c", "b", "a"]]
    # A link without a cost costs 1.
    assert ways("cost", [["a", "c", 10], *direct[1:]]) == [["a", "c"], ["c", "a"]]
    for cost in (0, -1, "x"):
        with pytest.raises(
            ScenarioError, match=r"net\.links\[0\]\[3\]: .* not a finite number above 0"
        ):
            ways("cost", [["a", "c", 10, cost], *direct[1:]])
    with pytest.raises(ScenarioError) as caught:
        ways("cost", [["a", "c"], *direct[1:]])
    assert str(caught.value).endswith(
        "['a', 'c'] is not a link; expected [from, to, capacity] or [from, to, capacity, cost]"
    )


def test_a_case_of_a_file_with_weights_takes_the_same_routes_elsewhere(tmp_path):
    (tmp_path / "nodes.csv").write_text("id\na\nb\nc\n")
    rows = ["source,target,capacity_bps,delay_s,weight", "a,c,10,0,3", "a,b,10,0,1", "b,c,10,0,1"]
    (tmp_path / "edges.csv").write_text("\n".join(rows) + "\n")
    question = fluid(tmp_path / "case.toml", net={"kind": "csv", "folder": "."}, routing="cost")
    assert question.net().nodes_along(0) == ["a", "b", "c"]
    elsewhere = open_parcel(question.parcel())
    assert elsewhere.net().nodes_along(0) == ["a", "b", "c"]
    assert elsewhere.fingerprint == question.fingerprint


def test_the_meaning_is_checked_part_by_part():
    def problems(**changes):
        with pytest.raises(ScenarioError) as caught:
            fluid(**changes).check()
        return [str(problem) for problem in caught.value.problems]

    assert any("routers.at" in p and '"x"' in p for p in problems(
        routers={"sharing": "max-min", "elsewhere": "proportional", "at": ["x"]}
    ))  # fmt: skip
    assert any("traffic" in p for p in problems(traffic={"kind": "listed", "flows": [["a", "x"]]}))
    lone = {"kind": "links", "nodes": ["a", "b", "c", "d"], "links": LINE["links"]}
    no_path = problems(net=lone, traffic={"kind": "listed", "flows": [["a", "d"]]})
    assert any("a" in p and "d" in p and "path" in p for p in no_path)
    fluid().check()
    fluid(arrivals=POISSON, allocation="max-min").check()


# -- the arrays -----------------------------------------------------------------------------------


def graph(**more):
    return Graph(("a", "b", "c"), np.array([0, 1], dtype=np.uint32),
                 np.array([1, 2], dtype=np.uint32), np.array([10.0, 4.0]), **more)  # fmt: skip


def test_a_network_of_routes_has_counts_names_and_ways():
    net = FluidNet.from_routes([10, 4], [[0, 1], [0], [1]], graph=graph())
    assert (net.n_links, net.n_flows, net.offsets.tolist()) == (2, 3, [0, 2, 3, 4])
    assert [net.route(i).tolist() for i in range(3)] == [[0, 1], [0], [1]]
    assert [net.nodes_along(i) for i in range(3)] == [["a", "b", "c"], ["a", "b"], ["b", "c"]]
    assert [net.link_name(i) for i in range(2)] == ["a->b", "b->c"]
    assert repr(net) == "FluidNet(links=2, flows=3, hops=4)"
    named = FluidNet.from_routes([10, 4], [[0]], graph=graph(links=("up", "down")))
    assert named.link_name(1) == "down"
    assert FluidNet.from_routes([10, 4], [[0]]).link_name(1) == "1"
    empty = FluidNet.from_routes([10], [])
    assert (empty.n_flows, empty.max_min().tolist()) == (0, [])


def test_a_network_of_traffic_has_its_demands_weights_and_ends():
    ids = np.array([0, 0], dtype=np.uint32), np.array([2, 1], dtype=np.uint32)
    flows = Traffic(*ids, demand=np.array([1.0, 9.0]), weight=np.array([1.0, 3.0]), ends="all")
    net = FluidNet.from_traffic(graph(), flows)
    assert [net.route(i).tolist() for i in range(2)] == [[0, 1], [0]]
    assert (net.demand.tolist(), net.weight.tolist(), net.between) == ([1, 9], [1, 3], "all")
    assert [end.tolist() for end in net.ends] == [[0, 0], [2, 1]]
    # 1 as it demands, the rest of 10.
    assert net.max_min().tolist() == [1, 9]
    assert net.max_min(demand=[np.inf, np.inf]).tolist() == [2.5, 7.5]
    assert net.clamp().tolist() == pytest.approx([1, 9])
    assert net.clamp(demand=[2.0, 2.0]).tolist() == pytest.approx([2, 2])
    assert net.alpha_fair(1.0).tolist() == pytest.approx([1, 9])


def test_wrong_arrays_are_reported_with_wrong_demands():
    def problems(capacity, routes, **more):
        with pytest.raises(ScenarioError) as caught:
            FluidNet.from_routes(capacity, routes, **more)
        return [(problem.path, problem.message) for problem in caught.value.problems]

    assert problems([1], [[0], [0]], demand=[1.0]) == [
        ("demand", "has the shape (1,), expected (2,)")
    ]
    assert problems([1], [[0]] * 4, demand=[-1.0, 0.0, np.nan, np.inf]) == [
        ("demand[0]", "is -1.0, expected 0 or more"), ("demand[2]", "is nan, expected 0 or more"),
    ]  # fmt: skip
    both = [path for path, _ in problems([0.0], [[0]], demand=[-1.0])]
    assert len(both) == 2
    assert both[1] == "demand[0]"


def test_rates_of_given_demands_are_shared_link_by_link():
    net = FluidNet.from_routes([10, 4], [[0, 1], [0], [1]], graph=graph())
    rates = net.evaluate([8.0, 8.0, 3.0])
    # 5 each of 10, then 5 and 3 share 4.
    assert rates.goodput.tolist() == [2, 5, 2]
    assert rates.demand.tolist() == [8, 8, 3]
    proportional = net.evaluate([8.0, 8.0, 3.0], Routers("proportional"))
    # Half of each; then 5 and 3 of 8 get 4.
    assert proportional.goodput.tolist() == pytest.approx([2.5, 5, 1.5])
    accounts = net.account(rates)
    assert accounts.offered.tolist() == [16, 8]
    assert accounts.carried.tolist() == [10, 4]
    # The first flow loses 3 of 5 on its second hop; what its first hop drops is not dead.
    assert accounts.dead.tolist() == [0, 3]
    assert accounts.flow_dead.tolist() == [3, 0, 0]
    # With two first hops, as where sources are hosts, nothing is.
    assert net.account(rates, access=2).dead.tolist() == [0, 0]
    # Max-min: 2, 8 and 2. With less for the second as its ideal it suffers less.
    assert accounts.suffered.tolist() == net.account(rates, [2.0, 8.0, 2.0]).suffered.tolist()
    assert accounts.suffered[1] == 3
    assert net.account(rates, [2.0, 6.0, 2.0]).suffered[1] == 1


def test_senders_come_to_rest_or_report_that_they_do_not():
    net = FluidNet.from_routes([10, 4], [[0, 1], [0]], graph=graph())
    for sender in ("full-share", Senders("full-share")):
        settled = net.fixed_point(sender)
        assert settled.converged
        assert settled.rates.goodput.sum() <= 10 + 1e-6
    few = net.fixed_point({"kind": "limited-ratio", "alpha": 0.1}, rounds=1)
    assert (few.converged, few.rounds) == (False, 1)


def test_links_that_do_not_settle_are_named():
    ring = Graph(("a", "b", "c"), np.array([0, 1, 2], dtype=np.uint32),
                 np.array([1, 2, 0], dtype=np.uint32), np.array([1.0, 1.0, 1.0]))  # fmt: skip
    net = FluidNet.from_routes([1, 1, 1], [[0, 1], [1, 2], [2, 0]], graph=ring)
    with pytest.raises(ConvergenceError) as caught:
        net.evaluate([1.0, 1.0, 1.0], Routers("proportional"), tolerance=1e-15, limit=1)
    assert caught.value.sweeps == 1
    assert set(caught.value.links) <= {"a->b", "b->c", "c->a"}
    assert "rates did not settle in 1 sweeps" in str(caught.value)
    # Each gets on its first link what the others leave of it, by 1 : x with x what came through.
    settled = net.evaluate([1.0, 1.0, 1.0], Routers("proportional"))
    through = (5**0.5 - 1) / 2
    assert settled.goodput.tolist() == pytest.approx([1 - through] * 3)


def test_what_is_wrong_inside_of_a_network_of_leaves_is_said_with_its_place():
    def problems(net, traffic=FLOWS):
        question = fluid(
            net={"kind": "leaves", "net": net, "traffic": traffic}, traffic={"kind": "leaves"}
        )
        with pytest.raises(ScenarioError) as caught:
            question.check()
        return [str(problem) for problem in caught.value.problems]

    wrong, missing = problems({"kind": "links", "lnks": []})
    assert wrong == 'net.net.lnks: "lnks" is not a key here; did you mean "links"?'
    assert missing.startswith('net.net: "links" is missing (')
    (message,) = problems(LINE, {"kind": "listed", "flows": [["a", "x"]]})
    assert 'there is no node "x"' in message
