"""Links of imported networks, put together by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from ackclock.errors import ScenarioError
from ackclock.scenario.networks import graph_files
from ackclock.scenario.networks.link_defaults import (
    Edge,
    LinkOptions,
    Node,
    graph,
    great_circle_m,
)

A, B, C = Node("a"), Node("b"), Node("c")


def edge(a="a", b="b", rate=8e6, delay_s=0.01, length_m=None, **more):
    return Edge(a, b, rate, delay_s, length_m, f"link {a}-{b}", **more)


def refusal(*edges, nodes=(A, B, C), **options):
    with pytest.raises(ScenarioError) as error:
        graph(list(nodes), list(edges), LinkOptions(**options))
    return str(error.value)


def links(*edges, nodes=(A, B, C), **options):
    return graph(list(nodes), list(edges), LinkOptions(**options))["links"]


def test_a_link_has_what_its_source_gives_and_the_options_for_the_rest():
    document = graph([A, Node("b", 1.0, 2.0)], [edge()], LinkOptions(buffer="9 kB", qdisc="codel"))
    assert document == {
        "kind": "graph",
        "nodes": [{"id": "a"}, {"id": "b", "lat": 1.0, "lon": 2.0}],
        "links": [
            {"a": "a", "b": "b", "rate": 8_000_000, "delay": 0.01, "buffer": "9 kB",
             "qdisc": "codel"}
        ],
    }  # fmt: skip


def test_parallel_links_add_their_rates_and_keep_the_delay_of_the_first():
    (link,) = links(
        edge(rate=1e6, weight=2.0),
        edge("b", "a", rate=2e6, delay_s=0.5, weight=3.0),
        edge(rate=4e6),
        edge("a", "a"),
    )
    assert (link["a"], link["b"], link["rate"]) == ("a", "b", 7_000_000)
    assert (link["delay"], link["weight"]) == (0.01, 2.0)
    assert "back_rate" not in link


def test_arcs_of_both_ways_are_one_link_with_a_rate_of_each():
    (link,) = links(edge(rate=1e6, one_way=True), edge("b", "a", rate=3e6, one_way=True))
    assert (link["a"], link["b"], link["rate"], link["back_rate"]) == ("a", "b", 1e6, 3e6)
    (same,) = links(edge(rate=1e6, one_way=True), edge("b", "a", rate=1e6, one_way=True))
    assert "back_rate" not in same


def test_arcs_of_both_ways_have_the_same_delay_and_weight():
    there, back = edge(one_way=True), edge("b", "a", delay_s=0.02, one_way=True)
    assert refusal(there, back) == (
        "net: link b-a has the delay 0.02 and the way back 0.01; expected the same, for a link has"
        " one delay"
    )
    back = edge("b", "a", weight=2.0, one_way=True)
    assert refusal(there, back) == (
        "net: link b-a has the weight 2 and the way back 1; expected the same, for a link has one"
        " weight"
    )


def test_an_arc_without_a_way_back_is_refused():
    assert refusal(edge(one_way=True)) == (
        "net: link a-b has no way back b->a; every link is full duplex, so give both directions or"
        " an undirected graph"
    )


def test_a_capacity_that_is_missing_is_the_options_or_an_error():
    assert links(edge(rate=None), rate="3 Mbps", scale=2.0)[0]["rate"] == 6_000_000
    assert links(edge(rate=1e6), rate="3 Mbps")[0]["rate"] == 1_000_000
    assert refusal(edge(rate=None)) == (
        "net: link a-b gives no capacity; the key rate sets one for such links"
    )


def test_a_capacity_of_both_ends_of_the_range_is_accepted():
    assert [links(edge(rate=r))[0]["rate"] for r in (1.0, 1e15)] == [1, 10**15]
    assert refusal(edge(rate=0.5)) == (
        "net: link a-b has the capacity 0.5 bit/s; expected 1 bit/s to 1000 Tbps"
    )
    assert refusal(edge(rate=1e15), scale=1.5) == (
        "net: link a-b has the capacity 1e+15 bit/s, 1.5e+15 after the scale 1.5; expected 1 bit/s"
        " to 1000 Tbps"
    )


def test_parallel_links_are_refused_where_their_sum_is_above_the_range():
    half = edge(rate=5e14)
    assert links(half, half)[0]["rate"] == 10**15
    assert refusal(half, half, edge(rate=1e14)) == (
        "net: link a-b and those parallel to it have the capacity 1.1e+15 bit/s; expected 1 bit/s"
        " to 1000 Tbps"
    )


def test_a_delay_of_both_ends_of_the_range_is_accepted():
    assert [links(edge(delay_s=d))[0]["delay"] for d in (0.0, 9e6)] == [0.0, 9e6]
    assert refusal(edge(delay_s=-1.0)) == (
        "net: link a-b has the delay -1 s; expected 0 s to 9000000 s"
    )
    assert refusal(edge(delay_s=9.1e6)) == (
        "net: link a-b has the delay 9.1e+06 s; expected 0 s to 9000000 s"
    )


def test_a_weight_of_zero_is_refused_under_its_name():
    assert refusal(edge(weight=0.0), weight="cost") == (
        "net: link a-b has the cost 0; expected more than zero"
    )
    assert "weight inf" in refusal(edge(weight=math.inf))


def test_a_length_gives_the_delay_by_the_speed_of_the_signal():
    # 200 km at 2e8 m/s are a millisecond, at 1e8 m/s two.
    assert links(edge(delay_s=None, length_m=200e3))[0]["delay"] == 0.001
    assert links(edge(delay_s=None, length_m=200e3), signal_speed=1e8)[0]["delay"] == 0.002
    # A delay that is stated goes before the length.
    assert links(edge(length_m=200e3))[0]["delay"] == 0.01


def test_places_give_the_delay_where_both_ends_have_one():
    # A quarter of the earth's circumference, pi/2 * 6371.0088 km, at 2e8 m/s.
    nodes = [Node("a", 0.0, 0.0), Node("b", 90.0, 0.0)]
    (link,) = links(edge(delay_s=None), nodes=nodes, delay="7 ms")
    assert link["delay"] == pytest.approx(0.050037786, abs=2e-9)
    for bare in (Node("b"), Node("b", 90.0, None), Node("b", None, 0.0)):
        (link,) = links(edge(delay_s=None), nodes=[nodes[0], bare], delay="7 ms")
        assert link["delay"] == 0.007
    assert refusal(edge(delay_s=None)) == (
        "net: link a-b gives neither delay nor length, and its ends have no coordinates; the key"
        " delay sets one for such links"
    )


def test_the_great_circle_of_quarters_and_halves_of_the_earth():
    quarter = math.pi / 2 * 6_371_008.8
    assert great_circle_m(0, 0, 0, 90) == pytest.approx(quarter)
    assert great_circle_m(0, 0, 90, 0) == pytest.approx(quarter)
    assert great_circle_m(0, -90, 0, 90) == pytest.approx(2 * quarter)
    # On the parallel of 60 degrees the other side is 60 degrees away, over the pole.
    assert great_circle_m(60, 0, 60, 180) == pytest.approx(quarter * 2 / 3)
    assert great_circle_m(12, 34, 12, 34) == 0


def test_a_network_of_loops_has_no_links():
    assert refusal(edge("a", "a")) == "net: the network has no links"
    assert refusal() == "net: the network has no links"


def test_all_problems_of_options_are_reported_with_their_keys():
    with pytest.raises(ScenarioError) as error:
        LinkOptions(rate=0, delay="3 bananas", signal_speed=0, scale=-1.0, weight=3)  # type: ignore[arg-type]
    problems = {problem.path: problem.message for problem in error.value.problems}
    assert list(problems) == [
        "net.rate",
        "net.delay",
        "net.signal_speed",
        "net.scale",
        "net.weight",
    ]
    assert problems["net.rate"] == "0 is out of range; expected more than zero"
    assert problems["net.signal_speed"] == "0 is out of range; expected a number above zero"
    assert problems["net.scale"] == "-1.0 is out of range; expected a number above zero"
    assert problems["net.weight"] == "3 is not a name; expected that of an attribute or column"


@pytest.mark.parametrize(
    ("name", "is_read"),
    [("a.graphml", True), ("a.XML.gz", True), ("a.graph", True), ("a.txt.bz2", True),
     ("a.native", True), ("a.csv", False), ("graphml", False), ("a.xml.zip", False)],
)  # fmt: skip
def test_files_of_graphs_are_known_by_their_ends(name, is_read):
    assert graph_files.is_graph_file(Path(name)) is is_read


GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}
<graph edgedefault="{kind}">{nodes}{edges}</graph></graphml>"""


def drawing(folder, *edges, kind="directed", by_yed=False, nodes="abc"):
    path = folder / "net.graphml"
    key = '<key id="d0" for="node" yfiles.type="nodegraphics"/>' if by_yed else ""
    node_text = "".join(f'<node id="{n}"/>' for n in nodes)
    edge_text = "".join(f'<edge source="{e[0]}" target="{e[1]}"/>' for e in edges)
    path.write_text(GRAPHML.format(keys=key, kind=kind, nodes=node_text, edges=edge_text))
    return path


NOTE = "the file is a drawing with arrows; each of its lines is read as a link of both ways"


@pytest.mark.parametrize(
    ("edges", "by_yed", "is_drawing"),
    [
        (["ab", "bc"], False, True),
        (["ab", "ba"], False, False),
        (["ab", "ba", "bc"], False, False),
        (["ab", "ba", "bc"], True, True),
        (["ab", "ba"], True, False),
        (["aa"], False, False),
        ([], False, False),
    ],
)
def test_arrows_without_a_way_back_are_those_of_a_drawing(tmp_path, edges, by_yed, is_drawing):
    file = graph_files.read_graphml(drawing(tmp_path, *edges, by_yed=by_yed))
    assert file.notes == ((NOTE,) if is_drawing else ())
    assert file.graph.is_directed() is not is_drawing
    lines = [set(line) for line in file.graph.edges()]
    assert sorted(map(sorted, lines)) == sorted(map(sorted, map(set, edges)))


def test_an_undirected_graph_is_no_drawing(tmp_path):
    file = graph_files.read_graphml(drawing(tmp_path, "ab", kind="undirected"))
    assert (file.notes, list(file.graph.nodes)) == ((), ["a", "b", "c"])


def test_nodes_that_are_there_twice_or_not_at_all_are_named(tmp_path):
    with pytest.raises(ScenarioError) as error:
        graph_files.read_graphml(drawing(tmp_path, nodes="aba"))
    assert str(error.value) == (
        f'net: {tmp_path / "net.graphml"}: two nodes have the id "a"; expected unique ids'
    )
    with pytest.raises(ScenarioError) as error:
        graph_files.read_graphml(drawing(tmp_path, "ax"))
    assert str(error.value) == (
        f'net: {tmp_path / "net.graphml"}: the edge "a" - "x" needs a node "x", which is not there'
    )
