"""Drawn traffic, leaves and operators' own networks in the fluid engine."""

import itertools
import json
import math
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import ackclock as ac
from ackclock.cli.main import main
from ackclock.engines.fluid import FluidCase, FluidNet
from ackclock.engines.fluid.leaves import between_leaves
from ackclock.engines.fluid.patterns import hosts_of
from ackclock.studies.bottlenecks.maps import arrange_nodes, draw
from ackclock.studies.bottlenecks.operators import read_network
from ackclock.studies.bottlenecks.survey import survey
from ackclock.studies.bottlenecks.upgrades import best_upgrades

SHARED = {"kind": "links", "links": [["a", "h", 2], ["b", "h", 2], ["h", "c", 1], ["h", "d", 9]]}


def write(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def pattern(**more):
    return {"kind": "pattern", "between": "uniform-pairs", **more}


def senders(net, **more):
    case = FluidCase({"net": net, "traffic": pattern(**more)})
    flows = case.traffic()
    return sorted({case.graph().nodes[i] for i in flows.src}), case


def test_a_pattern_goes_between_all_nodes_of_a_map_and_between_its_leaves_on_request():
    everyone, case = senders(SHARED)
    assert everyone == ["a", "b", "c", "d", "h"]
    assert "between all 5 nodes" in str(case.execute())
    leaves, case = senders(SHARED, hosts="leaves")
    assert leaves == ["a", "b", "c", "d"]
    assert "between the 4 leaves" in str(case.execute())
    flows, other = case.traffic(), case.replace(seed=2).traffic()
    assert case.is_random
    assert flows.demand is None
    assert [list(flows.src), list(flows.dst)] != [list(other.src), list(other.dst)]
    ring = {"kind": "links", "links": [["a", "b", 1], ["b", "c", 1], ["c", "a", 1]]}
    with pytest.raises(ac.ScenarioError, match="0 of 3 nodes have one neighbour"):
        senders(ring, hosts="leaves")
    with pytest.raises(ac.ScenarioError, match=r'traffic\.hosts: .*did you mean "leaves"'):
        senders(ring, hosts="leafs")


def test_real_and_drawn_maps_have_no_hosts_and_generated_networks_with_hosts_keep_them():
    geant = {"kind": "topohub", "name": "sndlib/geant", "rate": "10 Gbps"}
    assert len(senders(geant)[0]) == 22
    # A tree: half of its nodes have one neighbour.
    tree = {"kind": "barabasi", "nodes": 40, "edges": 40, "rate": 1}
    assert len(senders(tree)[0]) == 40
    assert all(name.startswith("e") for name in senders({**tree, "edge_nodes": 30})[0])
    star = {"kind": "star", "hosts": 4, "rate": "1 Gbps", "delay": "1 ms"}
    assert senders(star)[0] == ["h0", "h1", "h2", "h3"]
    assert senders(star, hosts="all")[0] == ["h0", "h1", "h2", "h3", "r"]


@pytest.mark.parametrize("seed", range(1, 11))
def test_a_log_normal_matrix_has_a_demand_for_every_pair_of_every_backbone(seed):
    net = {"kind": "oc-backbone", "seed": seed}
    traffic = pattern(between={"kind": "log-normal", "sigma": 1.74}, demand=1)
    flows = FluidCase({"net": net, "traffic": traffic}).traffic()
    assert len(set(zip(flows.src, flows.dst, strict=True))) == 66 * 65


def test_a_survey_takes_all_pairs_of_nodes_or_of_leaves_and_says_which(tmp_path, capsys):
    # NSFNET-like: a square with two tails.
    rows = ["a,b", "b,c", "c,d", "d,a", "a,x", "c,y"]
    write(tmp_path, edges="source,target,capacity_bps\n" + "".join(f"{r},1e9\n" for r in rows))
    assert main(["fluid", str(tmp_path)]) == 0
    assert "30 flows, one for each ordered pair of all 6 nodes" in capsys.readouterr().out
    assert main(["fluid", str(tmp_path), "--leaves"]) == 0
    assert "2 flows, one for each ordered pair of the 2 leaves" in capsys.readouterr().out
    (tmp_path / "edges.csv").write_text("source,target,capacity_bps\na,b,1\nb,c,1\nc,a,1\n")
    assert main(["fluid", str(tmp_path), "--leaves"]) == 2
    assert "--leaves" in capsys.readouterr().err


def test_hosts_of_tiers_are_those_of_its_lans_as_in_the_packet_engine():
    net = {"kind": "tiers"}
    case = FluidCase({"net": net, "traffic": {"kind": "pattern", "between": "uniform-pairs"}})
    graph, flows = case.graph(), case.traffic()
    names = {graph.nodes[i] for i in hosts_of(graph)[0]}
    assert names == {name for name in graph.nodes if name.startswith("l")}
    assert {graph.nodes[i] for i in flows.src} == names


def test_a_log_normal_matrix_has_the_mean_demand_requested():
    traffic = {
        "kind": "pattern",
        "between": {"kind": "log-normal", "sigma": 0.3},
        "demand": "2 Mbps",
    }
    case = FluidCase({"net": {"kind": "oc-backbone"}, "traffic": traffic})
    demand = case.traffic().demand
    assert len(demand) == 66 * 65
    # Relative standard error of the mean: sqrt(exp(0.09) - 1) / sqrt(4290) = 0.5 %.
    assert demand.mean() == pytest.approx(2e6, rel=0.015)


def test_unknown_hosts_and_patterns_are_reported():
    traffic = {"kind": "pattern", "between": "uniform-pairs", "hosts": ["a", "x", "y"]}
    with pytest.raises(ac.ScenarioError) as caught:
        FluidCase({"net": SHARED, "traffic": traffic}).check()
    assert len(caught.value.problems) == 2
    with pytest.raises(ac.ScenarioError, match="uniform-pairs"):
        FluidCase({"net": SHARED, "traffic": {"kind": "pattern", "between": "uniform-pair"}})


LEAVES = {
    "kind": "leaves",
    "net": {"kind": "links", "links": [["a", "b", 10], ["b", "c", 4]]},
    "traffic": {
        "kind": "listed",
        "flows": [
            {"src": "a", "dst": "b", "demand": 3},
            {"src": "a", "dst": "c", "demand": 1},
            {"src": "c", "dst": "b", "demand": 5},
        ],
    },
}


def test_links_without_capacity_are_one_sentence_that_names_the_option(tmp_path, capsys):
    rows = "".join(f"n{i},n{i + 1},\n" for i in range(12))
    write(tmp_path, edges=f"source,target,capacity_bps\n{rows}")
    assert main(["fluid", str(tmp_path)]) == 2
    reported = capsys.readouterr().err
    assert reported.count("gives no capacity") == 1
    assert "line 2: gives no capacity, nor do 11 other links; --rate sets one" in reported
    assert main(["fluid", str(tmp_path), "--rate", "1 Gbps"]) == 0


def test_leaves_share_a_nodes_capacity_as_their_flows_share_its_traffic():
    case = FluidCase({"net": LEAVES, "traffic": {"kind": "leaves"}, "access": 2})
    graph = case.graph()
    capacity = dict(zip(graph.link_names(), graph.capacity, strict=True))
    # a has 10 out for demands 3 and 1; b has 14 in for 3 and 5; c has 4 each way for one flow each.
    assert capacity["a>b->a"] == pytest.approx(7.5)
    assert capacity["a>c->a"] == pytest.approx(2.5)
    assert capacity["b->b<a"] == pytest.approx(14 * 3 / 8)
    assert capacity["b->b<c"] == pytest.approx(14 * 5 / 8)
    assert capacity["c>b->c"] == pytest.approx(4)
    assert capacity["c->c<a"] == pytest.approx(4)
    flows = case.traffic()
    assert len(flows.src) == 3
    first = capacity[f"{graph.nodes[flows.src[0]]}->{graph.nodes[flows.src[0]].split('>')[0]}"]
    assert flows.demand[0] == pytest.approx(50 * first)


def test_fifty_times_the_demand_changes_neither_clamp_nor_naive_senders():
    one, fifty = (
        FluidCase({"net": LEAVES, "traffic": {"kind": "leaves", "scale": s}}).execute()
        for s in (1, 50)
    )
    assert one.summary["totals"]["clamp_goodput"] == pytest.approx(
        fifty.summary["totals"]["clamp_goodput"]
    )
    np.testing.assert_allclose(one.flows["goodput"], fifty.flows["goodput"])


def test_leaves_need_demands_and_their_traffic_needs_leaves():
    plain = {**LEAVES, "traffic": {"kind": "listed", "flows": [["a", "b"]]}}
    with pytest.raises(ac.ScenarioError, match="without a demand"):
        FluidCase({"net": plain, "traffic": {"kind": "leaves"}}).graph()
    graph = FluidCase({"net": SHARED, "traffic": {"kind": "leaves"}}).graph()
    with pytest.raises(ac.ScenarioError, match="no leaves"):
        between_leaves({"scale": 50.0}, graph, 1)
    wrong = {**LEAVES, "net": {"kind": "star", "hots": 3}}
    with pytest.raises(ac.ScenarioError, match="hots"):
        FluidCase({"net": wrong, "traffic": {"kind": "leaves"}}).graph()


def test_a_case_with_leaves_survives_being_sent_away():
    case = FluidCase({"net": LEAVES, "traffic": {"kind": "leaves"}})
    sent = FluidCase({k: v for k, v in case.to_document().items() if k != "engine"})
    np.testing.assert_allclose(case.execute().flows["goodput"], sent.execute().flows["goodput"])


def test_topohub_brings_geants_demands():
    net = {"kind": "topohub", "name": "sndlib/geant", "rate": "10 Gbps"}
    case = FluidCase({"net": net, "traffic": {"kind": "matrix", "topohub": "sndlib/geant"}})
    # SNDlib scales the peaks to 3 Tbit/s in all.
    assert case.traffic().demand.sum() == pytest.approx(3e12, rel=0.001)
    assert len(case.traffic().demand) == 462


@pytest.mark.parametrize("unit", ["", " bps"])
def test_a_whole_matrix_has_zeros_from_each_node_to_itself(tmp_path, unit):
    """Read by column where all are plain numbers, and row by row."""
    nodes = {"a": 0, "b": 1, "c": 2}
    rows = [
        f"{source},{target},{0 if a == b else 10 * a + b}{unit}\n"
        for (source, a), (target, b) in itertools.product(nodes.items(), repeat=2)
    ]
    (tmp_path / "matrix.csv").write_text("source,target,demand\n" + "".join(rows))
    net = {"kind": "links", "links": [["a", "b", 99], ["b", "c", 99]]}
    traffic = {"kind": "matrix", "file": str(tmp_path / "matrix.csv")}
    flows = FluidCase({"net": net, "traffic": traffic}).traffic()
    assert flows.demand.tolist() == [1, 2, 10, 12, 20, 21]
    assert (flows.src != flows.dst).all()


BAD_EDGES = (
    "source,target,capacity_bps\n0,1,100\n1,2,0\n2,2,5\n1,0,7\n2,3,nan\n3,9,4\n0,3,\n0,2,-1\n"
)
BAD_NODES = "id,name\n0,A\n1,B\n2,C\n3,D\n4,E\n"


def test_everything_wrong_with_a_network_is_reported_together(tmp_path):
    with pytest.raises(ac.ScenarioError) as caught:
        read_network(write(tmp_path, nodes=BAD_NODES, edges=BAD_EDGES))
    reported = [f"{p.path}: {p.message}" for p in caught.value.problems]
    assert reported == [
        'edges, line 3: has the capacity "0"; expected more than 0',
        'edges, line 4: joins "2" to itself',
        "edges, line 5: joins 1 and 0 again, after edges, line 2; --merge-parallel adds them up",
        'edges, line 6: has the capacity "nan"; expected more than 0',
        'edges, line 7: there is no node "9"; expected one of: 0, 1, 2, 3, 4',
        "edges, line 8: gives no capacity; --rate sets one for such links",
        'edges, line 9: has the capacity "-1"; expected more than 0',
    ]


def test_everything_wrong_with_demands_is_reported_with_pairs_that_have_no_path(tmp_path, capsys):
    write(
        tmp_path,
        nodes=BAD_NODES,
        edges="source,target,capacity_bps\n0,1,100\n1,2,50\n3,4,10\n",
        demands="source,target,demand_bps\nA,B,5\nA,X,5\nB,C,-2\nC,C,1\nB,C,nan\nA,D,3\nB,E,3\nA,B,7\n",
    )
    code = main(
        ["fluid", str(tmp_path), "--demands", str(tmp_path / "demands.csv"), "--fair-at", "A,Q"]
    )
    reported = capsys.readouterr().err
    assert code == 2
    for sentence in (
        'there is no node "X"',
        'the demand from B to C is "-2"; expected 0 or more',
        '"C" sends to itself',
        'the demand from B to C is "nan"',
        "A to B is there already: line 2",
        "there is no path from A to D",
        "there is no path from B to E",
        'there is no node "Q"',
    ):
        assert sentence in reported, sentence
    # A row that is wrong does not count as one that a later row repeats.
    assert "B to C is there already" not in reported


def line(capacities):
    """Nodes in a row, with a flow over all links and one over each."""
    names = [f"n{i}" for i in range(len(capacities) + 1)]
    links = [[a, b, c] for a, b, c in zip(names, names[1:], capacities, strict=False)]
    flows = [[names[0], names[-1]], *([a, b] for a, b in itertools.pairwise(names))]
    case = {"net": {"kind": "links", "links": links}, "traffic": {"kind": "listed", "flows": flows}}
    return FluidCase(case).net()


def test_upgrades_of_a_line_are_the_ones_found_by_hand():
    # Max-min: the long flow 1 (link of 2), the others 1, 3, 5: total 10.
    net = line([2, 4, 6])
    assert sorted(net.max_min()) == pytest.approx([1, 1, 3, 5])
    minimum, total = best_upgrades(net, 1)
    # The link of 2 becomes 4: the long flow gets 2, the others 2, 2, 4. Total 10, least 2.
    assert (minimum.links, minimum.least, minimum.total) == (("n0 - n1",), 2, 10)
    # The link of 6 becomes 12: 1, 1, 3, 11. Total 16.
    assert (total.links, total.least, total.total) == (("n2 - n3",), 1, 16)
    assert minimum.exact and total.exact


def test_one_by_one_finds_what_all_sets_find_where_links_do_not_depend_on_each_other(monkeypatch):
    net = FluidNet.from_routes([3, 5, 7, 9], [[0], [1], [2], [3]])
    case = FluidCase(
        {
            "net": {
                "kind": "links",
                "directed": True,
                "links": [[f"a{i}", f"b{i}", c] for i, c in enumerate([3, 5, 7, 9])],
            },
            "traffic": {"kind": "listed", "flows": [[f"a{i}", f"b{i}"] for i in range(4)]},
        }
    )
    np.testing.assert_array_equal(case.net().max_min(), net.max_min())
    all_sets = best_upgrades(case.net(), 2)
    monkeypatch.setattr("ackclock.studies.bottlenecks.upgrades._EXACT", 0)
    greedy = best_upgrades(case.net(), 2)
    assert not greedy[1].exact
    for one, other in zip(all_sets, greedy, strict=True):
        assert set(one.links) == set(other.links)
    assert set(all_sets[0].links) == {"a0 - b0", "a1 - b1"}
    assert set(all_sets[1].links) == {"a2 - b2", "a3 - b3"}


def test_flows_that_have_all_they_request_do_not_count_as_the_least():
    case = {
        "net": {"kind": "links", "links": [["a", "b", 10], ["c", "d", 4]]},
        "traffic": {
            "kind": "listed",
            "flows": [{"src": "a", "dst": "b", "demand": 1}, {"src": "c", "dst": "d", "demand": 6}],
        },
    }
    minimum, _ = best_upgrades(FluidCase(case).net(), 1)
    assert minimum.links == ("c - d",)
    assert math.isinf(minimum.least)


def test_a_survey_agrees_with_the_case_and_partial_enforcement_with_none_at_all(tmp_path):
    edges = "source,target,capacity_bps\na,r,20\nb,r,20\nr,s,20\ns,d,20\ns,e,2\n"
    demands = "source,target,demand_bps\na,d,20\nb,e,20\n"
    write(tmp_path, edges=edges, demands=demands)
    found = survey(tmp_path, tmp_path / "demands.csv")
    # Fig. 2 of McCullough et al.: naive senders get 10 and 2, max-min gives 18 and 2.
    assert found.senders["naive"]["goodput"] == pytest.approx(12)
    assert found.senders["naive"]["zombies"] == pytest.approx(8)
    assert found.rates.tolist() == pytest.approx([18, 2])
    assert found.bottleneck_links() == [("r->s", 20, 1, 18), ("s->e", 2, 1, 2)]
    unequal = "source,target,demand_bps\na,d,20\nb,e,5\n"
    write(tmp_path, demands=unequal)
    none = survey(tmp_path, tmp_path / "demands.csv", fair_at=[])
    # FIFO on r->s: 20 of 25 pass, so 16 and 4; s->e passes 2.
    assert none.senders["naive"]["goodput"] == pytest.approx(18)
    there = survey(tmp_path, tmp_path / "demands.csv", fair_at=["r"])
    # Max-min on r->s: 15 and 5.
    assert there.senders["naive"]["goodput"] == pytest.approx(17)


@pytest.mark.slow
def test_the_command_prints_and_writes_the_same(tmp_path, capsys):
    write(tmp_path, edges="source,target,capacity_bps\na,h,2e6\nb,h,2e6\nh,c,1e6\n")
    out = tmp_path / "out"
    arguments = [
        "fluid",
        str(tmp_path / "edges.csv"),
        "--leaves",
        "--upgrade",
        "1",
        "--out",
        str(out),
    ]
    assert main([*arguments, "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported == json.loads((out / "survey.json").read_text())
    assert reported["flows"] == 6
    # c receives from a and b over 1 Mbit/s.
    held = {b["link"]: (b["flows"], b["rate_bps"]) for b in reported["bottlenecks"]}
    assert held["h->c"] == (2, pytest.approx(5e5))
    names = {"index.html", "survey.json", "flows.csv", "links.csv", "map.svg"}
    assert {p.name for p in out.iterdir()} == names
    # Its own folder is replaced; one with something else is left alone.
    assert main(arguments) == 0
    (out / "survey.json").unlink()
    assert main(arguments) == 2
    assert str(out) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["nowhere"], "there is no such file"),
        (["topohub:sndlib/geent", "--rate", "1 Gbps"], 'did you mean "sndlib/geant"'),
        (["topohub:sndlib/geant"], "gives no capacity"),
        (["topohub:sndlib/geant", "--rate", "fast"], "--rate"),
        (["topohub:sndlib/geant", "--rate", "10"], '--rate: "10" has no unit'),
        (["topohub:sndlib/geant", "--rate", "1 Gbps", "--sender", "naif"], '"naive"'),
        (["topohub:sndlib/geant", "--rate", "1 Gbps", "--map", "x.doc"], ".svg"),
    ],
)
def test_wrong_arguments_are_reported(arguments, reported, capsys):
    assert main(["fluid", *arguments]) == 2
    assert reported in capsys.readouterr().err


@pytest.mark.slow
def test_a_map_shades_routers_by_what_they_drop():
    case = FluidCase(
        {
            "net": {"kind": "links", "links": [["a", "r", 20], ["r", "s", 20], ["s", "e", 2]]},
            "traffic": {"kind": "listed", "flows": [["a", "e"]]},
        }
    )
    run = case.execute()
    at = arrange_nodes(case.graph())
    assert at.shape == (4, 2)
    assert np.isfinite(at).all()
    figure = draw(case.graph(), run.links, at)
    dots = figure.axes[0].collections[1]
    # 20 enter, 2 leave: 18 die at s, which is node 2.
    assert dots.get_array().tolist() == pytest.approx([0, 0, 18, 0])


def test_what_is_wrong_with_a_network_and_with_its_matrix_is_reported_together(tmp_path):
    net, matrix = tmp_path / "net.csv", tmp_path / "matrix.csv"
    net.write_text("source,target,capacity_bps\na,b,1e9\nb,c,0\nc,c,1e9\nc,d,\n")
    matrix.write_text("source,target,demand_bps\na,b,-5\na,c,nan\na,d,1\na,d,2\n")
    with pytest.raises(ac.ScenarioError) as caught:
        survey(net, matrix)
    reported = [str(problem) for problem in caught.value.problems]
    assert [line.rpartition("/")[2] for line in reported] == [
        'net.csv: edges, line 3: has the capacity "0"; expected more than 0',
        'net.csv: edges, line 4: joins "c" to itself',
        "net.csv: edges, line 5: gives no capacity; --rate sets one for such links",
        'matrix.csv: demands: line 2: the demand from a to b is "-5"; expected 0 or more',
        'matrix.csv: demands: line 3: the demand from a to c is "nan"; expected 0 or more',
        "matrix.csv: demands: line 5: a to d is there already: line 4",
    ]


def test_pairs_without_a_path_are_those_of_the_matrix(tmp_path):
    net, matrix = tmp_path / "net.csv", tmp_path / "matrix.csv"
    net.write_text("source,target,capacity_bps\na,b,1e9\nx,y,1e9\n")
    matrix.write_text("source,target,demand_bps\na,x,5\na,aa,5\n")
    with pytest.raises(ac.ScenarioError) as caught:
        survey(net, matrix, fair_at=["q"])
    reported = [str(problem) for problem in caught.value.problems]
    assert reported == [
        f'{matrix}: demands: line 3: there is no node "aa"; did you mean "a"?',
        '--fair-at: there is no node "q"; expected one of: a, b, x, y',
        f"{matrix}: demands: there is no path from a to x",
    ]


def data(name):
    beside = Path(__file__).resolve().parents[3] / "shared"
    root = Path(os.environ.get("ACKCLOCK_DATA", beside))
    for folder in (root / name, root / "data" / name):
        if folder.is_dir():
            return folder
    return pytest.skip(f"no folder {name} under ACKCLOCK_DATA")


def test_geant_of_2005_has_its_three_speeds_and_its_matrix():
    folder = data("sndlib_academic/geant2005")
    found = survey(folder, folder / "tm_20050505_mean.csv")
    speeds = Counter(found.network.graph.capacity[::2])
    assert speeds == {10e9: 18, 2.5e9: 14, 155e6: 4}
    # 48.4 Gbit/s in 454 pairs.
    assert found.net.n_flows == 454
    assert found.net.demand.sum() == pytest.approx(48.4e9, rel=0.002)
    assert found.rates.sum() <= found.net.demand.sum() * (1 + 1e-12)


def test_ntts_backbone_is_mostly_oc192():
    network = read_network(data("topologies/ntt2011"))
    assert len(network.graph.src) // 2 == 63
    # 170 OC-192, 20 OC-48, 18 OC-12 and 8 OC-3, parallel ones added up.
    total = 170 * 9.95328e9 + 20 * 2.48832e9 + 18 * 622.08e6 + 8 * 155.52e6
    assert network.graph.capacity[::2].sum() == pytest.approx(total)


def test_flows_of_a_pair_are_hashed_to_equal_paths_by_the_seed():
    """Two equal paths of capacity 1: of ten flows in one, all get less than with five in each."""
    links = [["a", "x", 1], ["x", "b", 1], ["a", "y", 1], ["y", "b", 1]]
    flows = [["a", "b"]] * 10 + [["b", "a"]] * 3
    data = {
        "net": {"kind": "links", "links": links},
        "traffic": {"kind": "listed", "flows": flows},
        "allocation": "max-min",
    }
    first = FluidCase(data)
    assert not first.is_random
    assert {tuple(first.net().nodes_along(i)) for i in range(10)} == {("a", "x", "b")}
    hashed = first.replace(equal_paths="hash")
    assert hashed.is_random
    assert hashed.fingerprint != first.fingerprint
    drawn = []
    for seed in range(200):
        net = hashed.replace(seed=seed).net()
        paths = [net.nodes_along(i) for i in range(13)]
        assert {(p[0], p[-1]) for p in paths[:10]} == {("a", "b")}
        assert {(p[0], p[-1]) for p in paths[10:]} == {("b", "a")}
        drawn.append(sum(p[1] == "x" for p in paths[:10]))
    # Binomial of ten and a half: mean 5, variance 2.5; four standard errors.
    assert abs(np.mean(drawn) - 5) < 4 * math.sqrt(2.5 / 200)
    assert np.var(drawn) / 2.5 == pytest.approx(1, abs=4 * math.sqrt(2 / 200))
    again = [hashed.replace(seed=7).net().hops.tolist() for _ in range(2)]
    assert again[0] == again[1]


SYSTEMS = [{"name": "one", "nodes": ["a", "x", "b", "c", "d"]}]


def test_a_hash_keeps_missing_paths_and_refuses_what_it_cannot_route():
    links = [["a", "x", 1], ["x", "b", 1], ["c", "d", 1]]
    flows = [["a", "b"], ["a", "d"], ["a", "b"]]
    data = {
        "net": {"kind": "links", "links": links},
        "traffic": {"kind": "listed", "flows": flows},
        "equal_paths": "hash",
    }
    with pytest.raises(ac.ScenarioError, match="there is no path from a to d"):
        FluidCase(data).net()
    net = FluidCase({**data, "traffic": {"kind": "listed", "flows": flows[::2]}}).net()
    assert [net.nodes_along(i) for i in range(2)] == [["a", "x", "b"]] * 2
    with pytest.raises(ac.ScenarioError, match="no meaning with routing by"):
        FluidCase({**data, "routing": "as-hops", "systems": SYSTEMS}).net()
