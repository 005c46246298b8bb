"""Real networks and trace files: units, rules, and malformed input."""

import networkx as nx
import numpy as np
import pytest

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.scenario.networks.graph_import import great_circle_m


def folder(tmp_path, nodes, edges):
    (tmp_path / "nodes.csv").write_text(nodes)
    (tmp_path / "edges.csv").write_text(edges)
    return tmp_path


NODES = "id,name,lat,lon\n0,A,0,0\n1,B,0,1\n2,C,1,1\n"
EDGES = (
    "source,target,capacity_bps,delay_s,length_km\n"
    "0,1,1000000,0.002,\n1,0,2000000,0.002,\n1,2,,,200\n2,0,5000000,,\n"
)


def test_a_degree_of_longitude_at_the_equator_is_111_km():
    # Circumference 2 pi x 6371.0088 km, over 360.
    assert great_circle_m(0, 0, 0, 1) == pytest.approx(111_195.08, abs=0.1)


def test_csv_gives_rates_delays_and_merges_parallel_links(tmp_path):
    net = ac.topology.from_csv(folder(tmp_path, NODES, EDGES), rate="9 Mbps", scale=0.5)
    links = {(link["a"], link["b"]): link for link in net.links}
    assert set(links) == {("A", "B"), ("B", "C"), ("C", "A")}
    assert links["A", "B"]["rate"] == 1_500_000  # (1 + 2) Mb/s, halved
    assert links["A", "B"]["delay"] == 0.002
    assert links["B", "C"]["rate"] == 4_500_000  # not given: 9 Mb/s, halved
    assert links["B", "C"]["delay"] == pytest.approx(0.001)  # 200 km at 2e8 m/s
    # one degree each way, about 157.2 km
    assert links["C", "A"]["delay"] == pytest.approx(0.000786, abs=2e-6)
    assert net.nodes[2] == {"id": "C", "lat": 1.0, "lon": 1.0}


@pytest.mark.parametrize(
    ("nodes", "edges", "reported"),
    [
        (NODES, EDGES + "0,7,1,1,1\n", 'edges.csv, line 6: target "7"'),
        (NODES, EDGES + "0,2,fast,1,1\n", 'edges.csv, line 6: capacity_bps is "fast"'),
        (NODES, EDGES + "0,2,-4,1,1\n", 'line 6: capacity_bps is "-4", expected a number that is'),
        (NODES, EDGES + "0,2,0,1,1\n", "line 6 has the capacity 0 bit/s; expected 1 bit/s to"),
        (NODES, EDGES + "0,2,1e30,1,1\n", "edges.csv, line 6 has the capacity 1e+30 bit/s"),
        (
            NODES,
            EDGES + "0,2,1,1e9,1\n",
            "edges.csv, line 6 has the delay 1e+09 s; expected 0 s to",
        ),
        (NODES, EDGES + "0,2,9e14,1,1\n0,2,9e14,1,1\n", "line 5 and those parallel to it have"),
        (NODES + "1,D,0,0\n", EDGES, 'nodes.csv, line 5: the id "1" is that of line 3'),
        (NODES + "3," + "D" * 200_000 + ",0,0\n", EDGES, "nodes.csv, line 5: this is not CSV"),
        (NODES, EDGES + "0,2\n", "edges.csv, line 6: expected 5 values"),
        (NODES, "from,to\n", "edges.csv, line 1: there is no column source"),
        ("id,name,lat,lon\n0,A,x,0\n", EDGES, 'nodes.csv, line 2: lat is "x"'),
        (NODES, "source,target\n", "no links"),
    ],
)
def test_a_malformed_file_is_reported_with_its_line(tmp_path, nodes, edges, reported):
    with pytest.raises(ac.ScenarioError) as caught:
        ac.topology.from_csv(folder(tmp_path, nodes, edges), rate="1 Mbps")
    assert reported in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_folder_is_reported(tmp_path):
    with pytest.raises(ac.ScenarioError, match=r"nodes\.csv: cannot be read"):
        ac.topology.from_csv(tmp_path / "none", rate="1 Mbps")


def test_a_link_without_capacity_needs_a_rate(tmp_path):
    with pytest.raises(ac.ScenarioError, match="line 4 gives no capacity"):
        ac.topology.from_csv(folder(tmp_path, NODES, EDGES))


def test_networkx_and_graphml_give_the_same(tmp_path):
    graph = nx.Graph()
    graph.add_node("x", lat=10.0, lon=20.0)
    graph.add_node("y", lat=10.0, lon=21.0)
    graph.add_edge("x", "y", capacity_bps=3e6)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    direct = ac.topology.from_networkx(graph)
    assert direct == ac.topology.from_graph_file(tmp_path / "g.graphml")
    assert direct.links[0]["rate"] == 3_000_000


def arcs(*given, kind=nx.DiGraph):
    graph = kind()
    for a, b, rate, delay in given:
        graph.add_edge(a, b, rate=rate, delay_s=delay)
    return graph


def test_the_arcs_of_a_directed_graph_are_the_directions_of_a_link(tmp_path):
    graph = arcs(("a", "b", 1e6, 0.01), ("b", "c", 5e6, 0.02), ("c", "b", 5e6, 0.02))
    graph.add_edge("b", "a", rate=2e6, delay_s=0.01)
    net = ac.topology.from_networkx(graph)
    first, second = net.links
    assert (first["a"], first["rate"], first["back_rate"]) == ("a", 1_000_000, 2_000_000)
    assert first["delay"] == 0.01
    assert (second["rate"], second.get("back_rate")) == (5_000_000, None)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    assert ac.topology.from_graph_file(tmp_path / "g.graphml") == net


def test_a_flow_over_two_arcs_gets_the_rate_of_its_own():
    net = ac.topology.from_networkx(arcs(("a", "b", 10e6, 0.01), ("b", "a", 10e6, 0.01)))
    flow = ac.Scenario(net, [ac.Flow(src="a", dst="b")], duration="5 s").run().summary["flows"][0]
    assert 8e6 < flow["goodput_bps"] < 10e6


def test_parallel_arcs_add_up_by_direction():
    graph = arcs(
        ("a", "b", 1e6, 0.01), ("a", "b", 2e6, 0.5), ("b", "a", 4e6, 0.01), kind=nx.MultiDiGraph
    )
    (link,) = ac.topology.from_networkx(graph).links
    assert (link["rate"], link["back_rate"], link["delay"]) == (3_000_000, 4_000_000, 0.01)


def test_parallel_edges_without_direction_add_up_both_ways():
    graph = arcs(("a", "b", 1e6, 0.01), ("b", "a", 2e6, 0.5), kind=nx.MultiGraph)
    (link,) = ac.topology.from_networkx(graph).links
    assert (link["rate"], link.get("back_rate"), link["delay"]) == (3_000_000, None, 0.01)


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ([("a", "b", 1e6, 0.01)], "the link a->b has no way back b->a"),
        (
            [("a", "b", 1e6, 0.01), ("b", "a", 1e6, 0.02)],
            "the link b->a has the delay 0.02 and the way back 0.01",
        ),
    ],
)
def test_arcs_that_are_no_full_duplex_link_are_reported(given, reported):
    with pytest.raises(ac.ScenarioError) as caught:
        ac.topology.from_networkx(arcs(*given))
    assert reported in str(caught.value)
    assert "\n" not in str(caught.value)


def triangle():
    graph = nx.Graph()
    for a, b, weight in (("a", "b", 9), ("a", "c", 2), ("c", "b", 2)):
        graph.add_edge(a, b, rate=1e6, delay_s=0.01, weight=weight)
    return graph


def way(net):
    flows = [ac.Flow(src="a", dst="b")]
    run = ac.Scenario(net, flows, duration="1 s", routing="weight").run()
    return [link["id"] for link in run.summary["links"] if link["utilisation"] > 0.2]


def test_weights_of_a_graph_choose_the_way(tmp_path):
    graph = triangle()
    net = ac.topology.from_networkx(graph)
    assert [link["weight"] for link in net.links] == [9, 2, 2]
    assert way(net) == ["a->c", "c->b"]
    nx.write_graphml(graph, tmp_path / "g.graphml")
    assert ac.topology.from_graph_file(tmp_path / "g.graphml") == net
    del graph.edges["a", "b"]["weight"]
    assert way(ac.topology.from_networkx(graph)) == ["a->b"]


@pytest.mark.parametrize("column", ["weight", "igp"])
def test_weights_of_a_csv_file_choose_the_way(tmp_path, column):
    nodes = "id\na\nb\nc\n"
    edges = f"source,target,capacity_bps,delay_s,{column}\n"
    edges += "a,b,1000000,0.01,9\na,c,1000000,0.01,2\nc,b,1000000,0.01,\n"
    folder(tmp_path, nodes, edges)
    net = ac.topology.from_csv(tmp_path, weight=column)
    assert [link.get("weight") for link in net.links] == [9, 2, None]
    assert way(net) == ["a->c", "c->b"]
    file = tmp_path / "s.toml"
    file.write_text(f'duration = 1\nnet = {{ kind = "csv", folder = ".", weight = "{column}" }}\n')
    assert ac.load(file).resolve_files().data["net"]["links"] == list(net.links)


def test_a_weight_that_is_none_is_reported(tmp_path):
    graph = triangle()
    with pytest.raises(ac.ScenarioError, match='no edge with the attribute "wieght"; did you mean'):
        ac.topology.from_networkx(graph, weight="wieght")
    with pytest.raises(ac.ScenarioError, match="line 1: there is no column igp"):
        ac.topology.from_csv(folder(tmp_path, NODES, EDGES), rate="1 Mbps", weight="igp")
    with pytest.raises(ac.ScenarioError, match='no column lenght_km; did you mean "length_km"'):
        ac.topology.from_csv(tmp_path, rate="1 Mbps", weight="lenght_km")
    graph.edges["a", "b"]["weight"] = 0
    with pytest.raises(ac.ScenarioError, match="link a - b has the weight 0; expected more than"):
        ac.topology.from_networkx(graph)
    both = nx.DiGraph(triangle())
    both.edges["b", "a"]["weight"] = 4
    with pytest.raises(ac.ScenarioError, match="has the weight 4 and the way back 9"):
        ac.topology.from_networkx(both)


LAT = '<key id="k" for="node" attr.name="Latitude" attr.type="{}"/>'
SPEED = '<key id="k" for="edge" attr.name="LinkSpeedRaw" attr.type="double"/>'


def graphml(file, body, head="", encoding="utf-8"):
    text = '<?xml version="1.0" encoding="{}"?>\n<graphml xmlns="{}">{}<graph edgedefault="{}">{}'
    space = "http://graphml.graphdrawing.org/xmlns"
    text = text.format(encoding, space, head, "undirected", body)
    file.write_text(text + "</graph></graphml>\n")
    return file


def place(value):
    return f'<node id="x"><data key="k">{value}</data></node><node id="y"/>'


EDGE = '<edge source="x" target="y"/>'
XY = '<node id="x"/><node id="yellow"/>'


@pytest.mark.parametrize(
    ("body", "head", "encoding", "reported"),
    [
        (place("nan") + EDGE, LAT.format("double"), "utf-8", 'the node x: Latitude is "nan", exp'),
        (place("inf") + EDGE, LAT.format("double"), "utf-8", 'the node x: Latitude is "inf", exp'),
        (place("north") + EDGE, LAT.format("string"), "utf-8", 'node x: Latitude is "north", exp'),
        (XY + EDGE, "", "foo", "unknown encoding: foo"),
        (place("1") + EDGE, LAT.format("real"), "utf-8", "unknown type or value 'real'"),
        (XY + XY, "", "utf-8", 'two nodes have the id "x"'),
        (XY + '<edge source="x" target="yelow"/>', "", "utf-8", 'a node "yelow", which is not th'),
        (XY + '<edge source="x" target="yelow"/>', "", "utf-8", 'did you mean "yellow"?'),
        (
            XY + '<edge source="x" target="yellow"><data key="k">1e30</data></edge>',
            SPEED,
            "utf-8",
            "the link x - yellow has the capacity 1e+30 bit/s; expected 1 bit/s to 1000 Tbps",
        ),
        (XY + '<edge source="x" target="yellow"/>', "", "utf-8", "neither delay nor length"),
    ],
)
def test_problems_of_graphml_name_node_or_link(tmp_path, capsys, body, head, encoding, reported):
    file = graphml(tmp_path / "g.graphml", body, head, encoding)
    with pytest.raises(ac.ScenarioError) as caught:
        ac.topology.from_graph_file(file, rate="1 Mbps")
    assert str(file) in str(caught.value)
    assert reported in str(caught.value)
    (tmp_path / "s.toml").write_text(
        'duration = 1\nnet = { kind = "graphml", file = "g.graphml", rate = "1 Mbps" }\n'
        '[[flows]]\nsrc = "x"\ndst = "y"\n'
    )
    assert cli.main(["check", str(tmp_path / "s.toml")]) == cli.EXIT_INPUT
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.filterwarnings("error")
def test_ports_of_graphml_are_passed_over(tmp_path):
    nodes = '<node id="x"><port name="North"/></node><node id="y"/>'
    body = nodes + '<edge source="x" target="y"><data key="k">0.01</data></edge>'
    head = '<key id="k" for="edge" attr.name="delay" attr.type="double"/>'
    net = ac.topology.from_graph_file(graphml(tmp_path / "g.graphml", body, head), rate="1 Mbps")
    assert [link["delay"] for link in net.links] == [0.01]


def test_packed_graphml_is_read(tmp_path):
    nx.write_graphml(triangle(), tmp_path / "g.graphml.gz")
    net = ac.topology.from_graph_file(tmp_path / "g.graphml.gz")
    assert net == ac.topology.from_networkx(triangle())


def line(**of_node):
    graph = nx.path_graph(2)
    graph.edges[0, 1].update(rate=1e6, delay_s=0.01)
    for at in (0, 1):
        graph.nodes[at].update(of_node)
    return graph


@pytest.mark.parametrize(
    ("of_node", "options", "reported"),
    [
        ({"pos": (1,)}, {}, 'the node 0: pos is "(1,)", expected (lon, lat)'),
        ({"pos": 5}, {}, 'the node 0: pos is "5", expected (lon, lat)'),
        ({"pos": (1, 2, 3)}, {}, 'the node 0: pos is "(1, 2, 3)", expected (lon, lat)'),
        ({"lat": "x"}, {}, 'the node 0: lat is "x", expected a number'),
        ({}, {"rate": "x"}, 'net.rate: "x" is not a rate'),
        ({}, {"rate": 0}, "net.rate: 0 is out of range"),
        ({}, {"rate": [1]}, "net.rate: a list is not a rate"),
        ({}, {"scale": float("nan")}, "net.scale: nan is out of range"),
        ({}, {"scale": float("inf")}, "net.scale: inf is out of range"),
        ({}, {"scale": "2"}, "net.scale: '2' is out of range"),
        ({}, {"scale": 1e-9}, "the capacity 1e+06 bit/s, 0.001 after the scale 1e-09; expected"),
        ({}, {"signal_speed": 0}, "net.signal_speed: 0 is out of range"),
        ({}, {"weight": 5}, "net.weight: 5 is not a name"),
    ],
)
def test_wrong_values_of_a_graph_are_reported(of_node, options, reported):
    with pytest.raises(ac.ScenarioError) as caught:
        ac.topology.from_networkx(line(**of_node), **options)
    assert reported in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_graph_is_reported():
    with pytest.raises(ac.ScenarioError, match="expected a NetworkX graph, not int"):
        ac.topology.from_networkx(5)


def test_nodes_that_are_written_the_same_are_reported():
    graph = line()
    graph.add_edge(1, "1", rate=1e6, delay_s=0.01)
    with pytest.raises(ac.ScenarioError, match='two nodes that are written "1"'):
        ac.topology.from_networkx(graph)


def test_a_place_may_be_an_array():
    net = ac.topology.from_networkx(line(pos=np.array([1.0, 2.0])))
    assert net.nodes[0] == {"id": "0", "lat": 2.0, "lon": 1.0}


def test_csv_may_begin_with_a_byte_order_mark(tmp_path):
    plain = ac.topology.from_csv(folder(tmp_path, NODES, EDGES), rate="1 Mbps")
    assert (
        ac.topology.from_csv(folder(tmp_path, "\ufeff" + NODES, "\ufeff" + EDGES), rate="1 Mbps")
        == plain
    )


def test_topohub_reports_a_scale_and_a_name_in_one_sentence():
    with pytest.raises(ac.ScenarioError, match="004 after the scale 1e-09") as caught:
        ac.topology.from_topohub("topozoo/Geant2009", rate="4 Mbps", scale=1e-9)
    assert len(caught.value.problems) == 1
    for name in ("a\0b", "topozoo/a\0b"):
        with pytest.raises(ac.ScenarioError, match=r'no network "[a-z/]*a\\u0000b"'):
            ac.topology.from_topohub(name, rate="1 Mbps")
    with pytest.raises(ac.ScenarioError, match='no rule "degre"; did you mean "degree"'):
        ac.topology.from_topohub("topozoo/Geant2009", rate="1 Mbps", rule="degre")


@pytest.mark.parametrize("rate", [10, 10.0, "10"])
def test_a_rate_without_unit_is_refused_as_in_a_file(tmp_path, rate):
    made = folder(tmp_path, NODES, EDGES)
    net = ac.topology
    for read in (
        lambda: net.from_csv(made, rate=rate),
        lambda: net.from_graph_file(tmp_path / "any.graphml", rate=rate),
        lambda: net.from_topohub("topozoo/Geant2009", rate=rate),
        lambda: net.from_networkx(nx.path_graph(2), rate=rate),
    ):
        with pytest.raises(ac.ScenarioError, match=r"^net\.rate: .*10.* has no unit; expected"):
            read()


def test_broken_graphml_is_reported_with_its_line(tmp_path):
    file = tmp_path / "g.graphml"
    file.write_text("<graphml>\n<graph>\n</graphml>\n")
    with pytest.raises(ac.ScenarioError, match="line 3"):
        ac.topology.from_graph_file(file, rate="1 Mbps")


def test_topohub_rules(tmp_path):
    uniform = ac.topology.from_topohub("topozoo/Geant2009", rate="4 Mbps")
    assert len(uniform.nodes) == 34
    assert len(uniform.links) == 52
    assert {link["rate"] for link in uniform.links} == {4_000_000}
    degree = ac.topology.from_topohub("topozoo/Geant2009", rate="4 Mbps", rule="degree")
    ends = [end for link in degree.links for end in (link["a"], link["b"])]
    leaf = next(
        link for link in degree.links if ends.count(link["a"]) == 1 or ends.count(link["b"]) == 1
    )
    assert leaf["rate"] == 4_000_000
    assert max(link["rate"] for link in degree.links) > 12_000_000


def test_an_unknown_topohub_network_suggests_the_nearest():
    with pytest.raises(ac.ScenarioError, match='did you mean "topozoo/Geant2009"'):
        ac.topology.from_topohub("topozoo/Geannt2009", rate="1 Mbps")
    with pytest.raises(ac.ScenarioError, match="topozoo"):
        ac.topology.from_topohub("nowhere/x", rate="1 Mbps")


def test_imported_networks_are_expanded_relative_to_the_scenario_file(tmp_path):
    folder(tmp_path, NODES, EDGES)
    file = tmp_path / "s.toml"
    file.write_text(
        'duration = 1\nflows = [{ src = "A", dst = "B" }]\n'
        'net = { kind = "csv", folder = ".", rate = "1 Mbps" }\n'
    )
    scenario = ac.load(file)
    assert scenario.data["net"]["kind"] == "csv"
    full = scenario.resolve_files()
    assert full.data["net"]["kind"] == "graph"
    assert len(full.data["net"]["links"]) == 3
    assert ac.load(full.to_toml()).fingerprint == full.fingerprint


MAHIMAHI = """duration = 1
[net]
kind = "dumbbell"
pairs = 1
rate = "1 Mbps"
schedule = { mahimahi_file = "x.up" }
"""


@pytest.mark.parametrize(
    ("trace", "reported"),
    [
        ("1\n5\n3\n", 'x.up, line 3: "3"'),
        ("1\nx\n", 'x.up, line 2: "x"'),
        ("", "no time after 0 ms"),
        ("0\n0\n", "no time after 0 ms"),
    ],
)
def test_a_malformed_trace_is_reported_with_its_line(tmp_path, trace, reported):
    (tmp_path / "x.up").write_text(trace)
    (tmp_path / "s.toml").write_text(MAHIMAHI)
    with pytest.raises(ac.ScenarioError) as caught:
        ac.load(tmp_path / "s.toml").resolve_files()
    assert reported in str(caught.value)
    assert caught.value.problems[0].path == "net.schedule"


def test_a_trace_becomes_the_list_of_its_times(tmp_path):
    (tmp_path / "x.up").write_text("1\n1\n4\n")
    (tmp_path / "s.toml").write_text(MAHIMAHI)
    full = ac.load(tmp_path / "s.toml").resolve_files()
    assert full.data["net"]["schedule"] == {"mahimahi": [1, 1, 4]}
