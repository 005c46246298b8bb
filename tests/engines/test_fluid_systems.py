"""Fluid cases: given paths with any matrix, autonomous systems, network-wide allocations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ackclock.engines.fluid import FluidCase, Graph, Traffic
from ackclock.engines.fluid.routing import routes
from ackclock.engines.fluid.systems import Systems
from ackclock.errors import ScenarioError

SQUARE = {"kind": "links", "links": [["a", "b", 10], ["b", "c", 10], ["a", "d", 10], ["d", "c", 4]]}


def listed(*flows, net=SQUARE, **more):
    return FluidCase({"net": net, "traffic": {"kind": "listed", "flows": list(flows)}, **more})


def way(question, flow=0):
    net = question.net()
    return [net.link_name(link) for link in net.route(flow)]


def problems_of(question):
    with pytest.raises(ScenarioError) as caught:
        question.check()
    return [str(problem) for problem in caught.value.problems]


def test_given_paths_carry_a_matrix_and_a_pattern(tmp_path):
    (tmp_path / "matrix.csv").write_text("source,target,demand_bps\na,c,3\nc,a,2\n")
    (tmp_path / "paths.csv").write_text("path\na; d; c\n")
    data = {"net": SQUARE, "traffic": {"kind": "matrix", "file": "matrix.csv"}}
    plain = FluidCase(data, tmp_path / "case.toml")
    assert way(plain) == ["a->b", "b->c"]
    routed = FluidCase({**data, "paths": {"file": "paths.csv"}}, tmp_path / "case.toml")
    assert way(routed) == ["a->d", "d->c"]
    assert way(routed, 1) == way(plain, 1)
    assert routed.fingerprint != plain.fingerprint
    there = FluidCase({k: v for k, v in routed.to_document().items() if k != "engine"})
    assert way(there) == ["a->d", "d->c"]
    pattern = {"kind": "pattern", "between": "uniform-pairs", "flows": 12}
    drawn = FluidCase({"net": SQUARE, "traffic": pattern, "paths": {"listed": [["a", "d", "c"]]}})
    net = drawn.net()
    ends = list(zip(*net.ends, strict=True))
    a, c = drawn.graph().nodes.index("a"), drawn.graph().nodes.index("c")
    assert (a, c) in ends
    assert way(drawn, ends.index((a, c))) == ["a->d", "d->c"]


def test_leaves_and_hosts_take_the_paths_of_the_nodes_behind():
    inner = {"kind": "listed", "flows": [{"src": "a", "dst": "c", "demand": 2}]}
    question = FluidCase({
        "net": {"kind": "leaves", "net": SQUARE, "traffic": inner},
        "traffic": {"kind": "leaves"},
        "paths": {"listed": [["a", "d", "c"]]},
    })  # fmt: skip
    assert way(question) == ["a>c->a", "a->d", "d->c", "c->c<a"]


def test_wrong_paths_are_reported():
    wrong = {"listed": [["a"], ["a", "c"], ["a", "b", "x"], ["a", "b", "a"]]}
    found = problems_of(listed(["a", "c"], paths=wrong))
    assert found[0].startswith("paths.listed[0]: is no path")
    assert found[1] == "paths.listed[1]: there is no link from a to c"
    assert found[2].startswith('paths.listed[2]: there is no node "x"')
    assert problems_of(listed(["a", "c"], paths={})) == ["paths: needs one of file and listed"]


# Two customers x, y of one provider p; their peering x-y; z, a customer of y, and q, p's peer.
NET = {"kind": "links", "links": [
    ["x1", "x2", 10], ["y1", "y2", 10], ["x2", "p1", 10], ["y2", "p1", 10], ["x1", "y1", 10],
    ["y1", "z1", 10], ["p1", "q1", 10], ["q1", "w1", 10], ["w1", "x1", 10],
]}  # fmt: skip
SYSTEMS = [
    {"name": "P", "nodes": ["p1"], "peers": ["Q"]},
    {"name": "Q", "nodes": ["q1"]},
    {"name": "X", "nodes": ["x*"], "providers": ["P"], "peers": ["Y", "W"]},
    {"name": "Y", "nodes": ["y*"], "providers": ["P"]},
    {"name": "Z", "nodes": ["z1"], "providers": ["Y"]},
    {"name": "W", "nodes": ["w1"], "providers": ["Q"]},
]


def test_routes_respect_who_pays_whom():
    def of(a, b, routing="valley-free"):
        return way(listed([a, b], net=NET, systems=SYSTEMS, routing=routing))

    # Peers exchange their own traffic and that of their customers.
    assert of("x2", "z1") == ["x2->x1", "x1->y1", "y1->z1"]
    # A peer is no way to another peer: from w to y over the providers, not over x.
    assert of("w1", "y1") == ["w1->q1", "q1->p1", "p1->y2", "y2->y1"]
    assert of("w1", "y1", "as-hops") == ["w1->x1", "x1->y1"]
    # Within a system, the shortest way.
    assert of("x1", "x2") == ["x1->x2"]


def test_each_system_has_its_own_rule_and_its_own_senders():
    systems = [
        {"name": "A", "nodes": ["s", "u"], "sender": "naive", "peers": ["B"]},
        {"name": "B", "nodes": ["t", "r"], "sender": {"kind": "limited-ratio", "alpha": 0.2}},
    ]
    net = {"kind": "links", "links": [["s", "r", 4], ["t", "r", 4], ["r", "u", 4]]}
    case = listed(["s", "u"], ["t", "u"], net=net, systems=systems)
    flows = case.execute().flows.to_pydict()
    assert flows["demand"] == pytest.approx([4, 2.4], abs=1e-4)
    assert flows["goodput"] == pytest.approx([2, 2], abs=1e-4)
    # Where B's router drops in proportion, as FIFO does, the naive sender wins: 4 against
    # 1.2 g, with g = 4 * 1.2 g / (4 + 1.2 g), so that g = 0.8 / 1.2.
    systems[1]["sharing"] = "proportional"
    flows = listed(["s", "u"], ["t", "u"], net=net, systems=systems).execute().flows.to_pydict()
    assert flows["goodput"] == pytest.approx([4 - 2 / 3, 2 / 3], abs=1e-3)


def test_wrong_systems_are_reported():
    def problems_with(systems, routing="valley-free"):
        return problems_of(listed(["x1", "z1"], net=NET, systems=systems, routing=routing))

    assert "there is no other system" in problems_with(SYSTEMS[:-1])[0]
    lonely = [*SYSTEMS[:2], {**SYSTEMS[2], "peers": ["Y"]}, *SYSTEMS[3:-1]]
    assert '"w1" has no system' in problems_with(lonely)[0]
    both = [*SYSTEMS[:-1], {**SYSTEMS[-1], "nodes": ["w1", "x1"]}]
    assert problems_with(both) == ['systems[5].nodes[1]: "x1" belongs to "X" already']
    unsaid = [{k: v for k, v in s.items() if k != "peers"} for s in SYSTEMS]
    assert '"P" and "Q" share a link' in problems_with(unsaid)[0]
    against = [*SYSTEMS[:3], {**SYSTEMS[3], "providers": ["X"]}, *SYSTEMS[4:]]
    assert "another relation" in problems_with(against)[0]
    assert "expected systems" in problems_of(listed(["a", "c"], routing="valley-free"))[0]


@pytest.mark.slow
@settings(max_examples=150)
@given(st.integers(0, 2**32 - 1))
def test_routes_climb_cross_once_and_descend(seed):
    rng = np.random.default_rng(seed)
    count, n = int(rng.integers(2, 7)), 14
    owner = np.concatenate([np.arange(count), rng.integers(0, count, n - count)])
    pairs = {(int(rng.integers(0, i)), i) for i in range(1, n)}
    pairs |= {tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(8)}
    a, b = np.array(sorted(pairs)).T
    src, dst = np.concatenate([a, b]).astype(np.uint32), np.concatenate([b, a]).astype(np.uint32)
    relation = np.full((count, count), 2, dtype=np.int8)
    for i in range(count):
        for j in range(i):
            # A lower number may be a provider: no circles of customers.
            relation[i, j] = int(rng.integers(0, 2))
            relation[j, i] = -relation[i, j]
    graph = Graph(tuple(map(str, range(n))), src, dst, np.ones(len(src)))
    systems = Systems(tuple(map(str, range(count))), owner, relation, {}, {})
    ends = np.array([(i, j) for i in range(n) for j in range(n) if i != j], dtype=np.uint32)
    for i, j in ends:
        traffic = Traffic(np.array([i]), np.array([j]))
        try:
            _, hops = routes(graph, traffic, "valley-free", systems)
        except ScenarioError:
            continue
        assert src[hops[0]] == i
        assert dst[hops[-1]] == j
        assert np.array_equal(dst[hops[:-1]], src[hops[1:]])
        steps = [
            int(relation[owner[src[h]], owner[dst[h]]])
            for h in hops
            if owner[src[h]] != owner[dst[h]]
        ]
        # Never up or across after across or down.
        assert steps == sorted(steps, reverse=True)
        assert steps.count(0) <= 1


def test_a_whole_network_can_have_max_min_or_alpha_fair_rates():
    net = {"kind": "links", "links": [["a", "b", 1], ["b", "c", 1], ["c", "d", 1]]}
    flows = [["a", "d"], ["a", "b"], ["b", "c"], ["c", "d"]]

    def long_one(**more):
        run = listed(*flows, net=net, **more).execute()
        assert run.summary["totals"]["dead"] == pytest.approx(0, abs=1e-9)
        return run.flows.to_pydict()["goodput"][0]

    # The long flow crosses three links: 1 / (1 + 3^(1/alpha)).
    assert long_one(allocation="max-min") == pytest.approx(0.5)
    assert long_one(allocation="alpha-fair") == pytest.approx(0.25)
    assert long_one(allocation="alpha-fair", alpha=2) == pytest.approx(1 / (1 + 3**0.5))


def test_alpha_fair_links_and_why_there_is_none_at_0():
    net = {"kind": "links", "links": [["a", "b", 3]]}
    flows = [
        {"src": "a", "dst": "b", "weight": 1, "demand": 3},
        {"src": "a", "dst": "b", "weight": 4, "demand": 3},
    ]
    question = listed(*flows, net=net, routers={"sharing": {"kind": "alpha-fair", "alpha": 2}})
    demand = np.array([3.0, 3.0])
    from ackclock.engines.fluid.tables import routers

    rates = question.net().evaluate(demand, routers(question.data))
    assert rates.goodput == pytest.approx([1, 2])
    refused = listed(*flows, net=net, routers={"sharing": {"kind": "alpha-fair", "alpha": 0}})
    with pytest.raises(ScenarioError, match="every division that fills a link is optimal"):
        refused.execute()
