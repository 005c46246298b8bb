"""The fluid engine from Python: arrays, cases, tables, bad input."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ackclock as ac
from ackclock.case import Case
from ackclock.engines.fluid import FluidCase, FluidNet, Graph, Routers, Traffic
from ackclock.engines.fluid.tables import bottlenecks, fair_shares
from ackclock.engines.registry import case, load_case, open_parcel
from ackclock.studies.bottlenecks.maps import draw

FIG_2 = {
    "name": "Fig. 2",
    "access": 2,
    "unit": "flow units",
    "net": {
        "kind": "links",
        "links": [["S1", "R1", 20], ["S2", "R1", 20], ["R1", "R2", 20], ["R2", "D1", 20],
                  ["R2", "D2", 2]],
    },
    "traffic": {"kind": "listed", "flows": [["S1", "D1"], ["S2", "D2"]]},
}  # fmt: skip


def parking_lot():
    return FluidNet.from_routes([1, 2, 4], [[0, 1, 2], [0], [1], [2]])


def test_the_case_of_fig_2_prints_what_the_paper_prints():
    run = FluidCase(FIG_2).execute()
    totals = run.summary["totals"]
    assert (totals["goodput"], totals["clamp_goodput"]) == (12, 20)
    assert (totals["dead"], totals["dead_beyond_access"]) == (28, 8)
    assert (totals["zombies"], totals["zombies_edge"]) == (8, 18)
    assert totals["fraction_of_clamp"] == 0.6
    flows = run.flows.to_pydict()
    assert flows["goodput"] == [10, 2]
    assert flows["max_min"] == [18, 2]
    assert flows["fair_share"] == [10, 2]
    assert flows["bottleneck"] == ["R1->R2", "R2->D2"]
    assert flows["zombies_caused"] == [0, 8]
    links = {row["id"]: row for row in run.links.to_pylist()}
    assert links["R1->R2"]["zombies"] == 8
    assert links["R1->R2"]["flows"] == 2
    assert links["R1->R2"]["bottlenecked_flows"] == 1
    assert run.tables["totals"].num_rows == 1
    assert "60.00 % of max-min" in str(run)


def test_a_case_is_a_case_of_the_engines(tmp_path):
    question = case({"engine": "fluid", **FIG_2})
    assert isinstance(question, Case)
    assert not question.is_random
    assert question.cost().cpu_s > 0
    assert pickle.loads(pickle.dumps(question)) == question
    assert open_parcel(question.parcel()) == question
    file = tmp_path / "fig2.toml"
    file.write_text(question.to_toml(), encoding="utf-8")
    assert load_case(file) == question


def test_equal_questions_have_equal_fingerprints_and_different_ones_do_not():
    question = FluidCase(FIG_2)
    same = question.replace(name="another", seed=7, sender="naive", **{"solver.rounds": 2000})
    assert same.fingerprint == question.fingerprint
    spelt = question.replace(routers={"sharing": {"kind": "max-min"}}, routing="hops")
    assert spelt.fingerprint == question.fingerprint
    for change in (
        {"net.links[2]": ["R1", "R2", 21]},
        {"sender": "full-share"},
        {"sender": ac.policy.LimitedRatio(0.1)},
        {"traffic.flows[1]": {"src": "S2", "dst": "D2", "demand": 1}},
        {"access": 1},
        {"routers.sharing": "proportional"},
    ):
        assert question.replace(**change).fingerprint != question.fingerprint, change


def test_a_case_cannot_be_changed_and_is_replaced_by_path():
    question = FluidCase(FIG_2)
    with pytest.raises(AttributeError, match="replace"):
        question.name = "x"
    other = question.replace(**{"sender": {"kind": "limited-ratio", "alpha": 0.5}})
    assert other.execute().summary["totals"]["goodput"] == pytest.approx(19)
    assert question.data["name"] == "Fig. 2"


def test_senders_compared_on_the_same_traffic_share_one_routed_network():
    net = {"kind": "barabasi", "nodes": 30, "edges": 40, "edge_nodes": 20, "rate": 1}
    traffic = {"kind": "pattern", "between": "uniform-pairs", "flows": 50}
    naive = FluidCase({"net": net, "traffic": traffic})
    shared = naive.net()
    assert naive.replace(sender="full-balanced").net() is shared
    other = naive.with_seed(2).net()
    assert other is not shared
    assert not np.array_equal(other.hops, shared.hops)
    assert naive.replace(**{"net.capacities": "arithmetic"}).net() is not shared
    with pytest.raises(ValueError, match="read-only"):
        shared.capacity[0] = 7


def test_a_network_from_a_file_is_read_anew(tmp_path):
    (tmp_path / "nodes.csv").write_text("id\na\nb\n")
    (tmp_path / "edges.csv").write_text("source,target,capacity_bps,delay_s\na,b,10,0\n")
    document = {
        "net": {"kind": "csv", "folder": "."},
        "traffic": {"kind": "listed", "flows": [["a", "b"]]},
    }
    assert FluidCase(document, tmp_path / "case.toml").net().capacity[0] == 10
    (tmp_path / "edges.csv").write_text("source,target,capacity_bps,delay_s\na,b,30,0\n")
    assert FluidCase(document, tmp_path / "case.toml").net().capacity[0] == 30


def test_a_network_of_a_packet_scenario_is_one_of_fluids_too():
    net = {"kind": "dumbbell", "pairs": 2, "rate": "10 Mbps", "access_rate": "8 Mbps"}
    flows = [["s0", "d0"], ["s1", "d1"]]
    run = FluidCase({"net": net, "traffic": {"kind": "listed", "flows": flows}}).execute()
    assert run.flows["max_min"].to_pylist() == [5e6, 5e6]
    assert run.summary["unit"] == "bit/s"


def test_unlimited_applications_request_no_more_than_they_have():
    flows = [{"src": "S1", "dst": "D1", "demand": 3}, ["S2", "D2"]]
    run = FluidCase({**FIG_2, "traffic": {"kind": "listed", "flows": flows}}).execute()
    assert run.flows["demand"].to_pylist() == [3, 20]
    assert run.flows["goodput"].to_pylist() == [3, 2]
    assert run.flows["bottleneck"].to_pylist() == [None, "R2->D2"]


def test_given_routes_are_taken():
    square = [["a", "b", 1], ["b", "c", 2], ["c", "d", 3], ["d", "a", 4]]
    flow = {"src": "a", "dst": "b", "route": ["a", "d", "c", "b"]}
    question = FluidCase(
        {
            "net": {"kind": "links", "links": square},
            "traffic": {"kind": "listed", "flows": [flow, ["a", "b"]]},
        }
    )
    assert question.net().max_min().tolist() == [2, 1]


def test_fairness_on_chosen_routers_only():
    # Three flows of 6, 3 and 3 into one link of 6, then one of 3 for the first alone. Fair at R the
    # first gets 2 there; FIFO gives it half of 6, and the last link cuts that no further.
    links = [["A", "R", 6], ["B", "R", 3], ["C", "R", 3], ["R", "D", 6], ["D", "E", 3]]
    flows = [["A", "E"], ["B", "D"], ["C", "D"]]
    document = {
        "net": {"kind": "links", "links": links},
        "traffic": {"kind": "listed", "flows": flows},
    }
    fair = FluidCase(document).execute()
    assert fair.flows["goodput"].to_pylist() == [2, 2, 2]
    partly = {"sharing": "max-min", "elsewhere": "proportional", "at": ["D"]}
    run = FluidCase({**document, "routers": partly}).execute()
    assert run.flows["goodput"].to_pylist() == pytest.approx([3, 1.5, 1.5])
    chosen = {**partly, "at": ["R"]}
    run = FluidCase({**document, "routers": chosen}).execute()
    assert run.flows["goodput"].to_pylist() == [2, 2, 2]


def test_senders_that_do_not_settle_are_reported():
    run = FluidCase({**FIG_2, "sender": "limited-ratio", "solver": {"rounds": 1}}).execute()
    assert not run.summary["totals"]["converged"]
    assert "did not settle in 1 rounds" in run.summary["warnings"][0]


def test_links_that_do_not_settle_are_an_error_that_names_them():
    links = [["a", "b", 1], ["b", "c", 1], ["c", "a", 1]]
    document = {
        "net": {"kind": "links", "links": links, "directed": True},
        "traffic": {"kind": "listed", "flows": [["a", "c"], ["b", "a"], ["c", "b"]]},
        "routers": {"sharing": "proportional"},
        "solver": {"sweep_limit": 2},
    }
    with pytest.raises(ac.ConvergenceError, match="2 sweeps") as caught:
        FluidCase(document).execute()
    assert set(caught.value.links) <= {"a->b", "b->c", "c->a"}
    assert caught.value.links
    assert pickle.loads(pickle.dumps(caught.value)).links == caught.value.links


def problems_of(document):
    with pytest.raises(ac.ScenarioError) as caught:
        FluidCase(document).check()
    return [str(problem) for problem in caught.value.problems]


def test_every_problem_of_a_network_is_reported_together():
    links = [["a", "b", 0], ["a", "a", 1], ["b", "c", -1], ["b", "a", 2], ["c", "d", float("nan")],
             ["c", "d"]]  # fmt: skip
    found = problems_of({"net": {"kind": "links", "links": links}, "traffic": FIG_2["traffic"]})
    assert found == [
        "net.links[0][2]: 0 is not a finite number above 0",
        'net.links[1]: joins "a" to itself',
        "net.links[2][2]: -1 is not a finite number above 0",
        "net.links[3]: b to a is there already: net.links[0]",
        "net.links[4][2]: nan is not a finite number above 0",
        "net.links[5]: ['c', 'd'] is not a link; expected [from, to, capacity] or [from,"
        " to, capacity, cost]",
    ]


def test_every_problem_of_traffic_is_reported_together():
    flows = [
        ["S1", "D9"],
        ["S1", "S1"],
        {"src": "S1", "dst": "D1", "demand": -2},
        {"src": "S1", "dst": "D1", "wieght": 2},
        {"src": "S1", "dst": "D1", "route": ["S1", "R1"]},
        "S1",
    ]
    found = problems_of({**FIG_2, "traffic": {"kind": "listed", "flows": flows}})
    assert found == [
        'traffic.flows[0].dst: there is no node "D9"; expected one of: S1, R1, S2, R2, D1, D2',
        'traffic.flows[1]: goes from "S1" to itself',
        "traffic.flows[2].demand: -2 is not a finite number of 0 or more",
        'traffic.flows[3].wieght: is not a key of a flow; did you mean "weight"?',
        "traffic.flows[4].route: does not lead from src to dst",
        "traffic.flows[5]: 'S1' is not a flow; expected [from, to] or a table with src and dst",
    ]


def test_pairs_without_a_path_are_all_reported():
    links = [["a", "b", 1], ["c", "d", 1]]
    flows = [["a", "c"], ["a", "b"], ["d", "b"]]
    found = problems_of(
        {
            "net": {"kind": "links", "links": links},
            "traffic": {"kind": "listed", "flows": flows},
        }
    )
    assert found == [
        "traffic.flows[0]: there is no path from a to c",
        "traffic.flows[2]: there is no path from d to b",
    ]


def test_wrong_names_suggest_the_right_ones():
    wrong = {**FIG_2, "sender": "limitted-ratio", "routers": {"sharing": "max-mim"}, "rounting": 1}
    found = problems_of(wrong)
    assert any('did you mean "limited-ratio"?' in line for line in found)
    assert any('did you mean "max-min"?' in line for line in found)
    assert any('did you mean "routing"?' in line for line in found)
    found = problems_of({**FIG_2, "routers": {"elsewhere": "proportional", "at": ["R9"]}})
    assert found[0].startswith('routers.at: there is no node "R9"')


def test_arrays_are_checked_and_all_problems_reported():
    with pytest.raises(ac.ScenarioError) as caught:
        FluidNet([1, 0], [0, 1, 2], [0, 5], demand=[np.nan, -1], weight=[1, 0])
    assert [p.path for p in caught.value.problems] == [
        "capacity[1]", "weight[1]", "routes[1]", "demand[0]", "demand[1]",
    ]  # fmt: skip
    with pytest.raises(ac.ScenarioError, match="finite"):
        parking_lot().evaluate([1, 1, 1, np.inf])
    with pytest.raises(ac.ScenarioError, match="4"):
        parking_lot().evaluate([1, 1])


def test_the_textbooks_parking_lot():
    net = parking_lot()
    rates = net.max_min()
    assert rates.tolist() == [0.5, 0.5, 1.5, 3.5]
    assert bottlenecks(net, rates).tolist() == [0, 0, 1, 2]
    assert fair_shares(net).tolist() == [0.5, 0.5, 1.0, 2.0]


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1))
def test_tables_of_random_networks_add_up(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    links = [(i, int(rng.integers(0, i))) for i in range(1, n)]
    src = np.array([a for a, b in links] + [b for a, b in links], dtype=np.uint32)
    dst = np.array([b for a, b in links] + [a for a, b in links], dtype=np.uint32)
    graph = Graph(tuple(f"n{i}" for i in range(n)), src, dst, rng.uniform(0.5, 5, len(src)))
    ends = [rng.choice(n, 2, replace=False) for _ in range(int(rng.integers(1, 30)))]
    a, b = np.array(ends, dtype=np.uint32).T
    net = FluidNet.from_traffic(graph, Traffic(np.ascontiguousarray(a), np.ascontiguousarray(b)))
    for sender in dir(ac.policy):
        routers = Routers("loss-load") if sender == "LossLoad" else Routers()
        settled = net.fixed_point(getattr(ac.policy, sender)(), routers, rounds=300)
        rates = settled.rates
        ideal = net.max_min()
        books = net.account(rates, ideal)
        assert np.all(books.carried <= net.capacity * (1 + 1e-9))
        assert books.zombies.sum() == pytest.approx(books.caused.sum() + books.uncaused)
        gap = ideal.sum() - rates.goodput.sum()
        unasked = np.maximum(ideal - rates.demand, 0).sum()
        above = np.maximum(rates.goodput - ideal, 0).sum()
        assert gap == pytest.approx(books.zombies.sum() + unasked - above, abs=1e-9)


def test_rounding_errors_are_no_zombies_and_rates_have_prefixes():
    # The hub's sums end in 4.8e-7 bit/s that max-min would have given: the last bit of 5e9.
    links = [["h", "a", 1e10], ["h", "b", 1e10], ["h", "c", 1e8 / 3]]
    pairs = [[a, b] for a in "habc" for b in "habc" if a != b]
    net, flows = {"kind": "links", "links": links}, {"kind": "listed", "flows": pairs}
    case = FluidCase({"net": net, "traffic": flows, "sender": "naive"})
    run = case.execute()
    assert run.links["zombies"].to_pylist() == [0.0] * 6
    totals = run.summary["totals"]
    assert (totals["zombies"], totals["uncaused"]) == (0.0, 0.0)
    text = str(run)
    assert "e+" not in text
    assert "e-" not in text
    assert "10 Gbit/s" in text
    assert "33.33 Mbit/s" in text
    place = run.links.column_names.index("zombies")
    noise = run.links.set_column(place, "zombies", pa.array([4e-7, 0.0, 0.0, 0.0, 0.0, 0.0]))
    shades = [axes.collections[-1].get_array() for axes in draw(case.graph(), noise).axes[:2]]
    assert shades[0].max() > 1e9
    assert shades[1].max() == 0.0
