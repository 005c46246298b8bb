"""Files that `ackclock fluid` reads: habits of spreadsheets, directed graphs, mistakes."""

import networkx as nx
import numpy as np
import pytest

import ackclock as ac
from ackclock.engines.fluid.patterns import matrix_rows
from ackclock.studies.bottlenecks.operators import read_network


def test_a_byte_order_mark_is_no_part_of_a_column(tmp_path):
    (tmp_path / "edges.csv").write_text("\ufeffsource,target,capacity_bps\n0,1,100\n", "utf-8")
    (tmp_path / "demands.csv").write_text("\ufeffsource,target,demand_bps\n0,1,5\n", "utf-8")
    assert read_network(tmp_path / "edges.csv").graph.capacity.tolist() == [100, 100]
    assert matrix_rows(tmp_path / "demands.csv") == [("line 2", "0", "1", "5")]


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("source,target,capacity_bps\n0,1\n", "line 2: expected 3 values"),
        ("source,target,capacity_bps\n0,1,5,6\n", "line 2: expected 3 values"),
        ("source,targt\n", 'line 1: there is no column target; did you mean "targt"?'),
        ('source,target\n0,"' + "x" * 200_000 + '"\n', "line 2: this is not CSV"),
    ],
)
def test_rows_that_are_no_rows_are_reported_with_their_line(tmp_path, text, reported):
    (tmp_path / "edges.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ac.ScenarioError) as caught:
        read_network(tmp_path / "edges.csv")
    assert reported in str(caught.value)
    (tmp_path / "d.csv").write_text(text.replace("capacity", "demand"), encoding="utf-8")
    with pytest.raises(ac.ScenarioError, match="demands: line"):
        matrix_rows(tmp_path / "d.csv")


def arcs(tmp_path, *edges):
    graph = nx.DiGraph()
    for a, b, rate in edges:
        graph.add_edge(a, b, **({} if rate is None else {"rate": rate}))
    nx.write_graphml(graph, tmp_path / "net.graphml")
    return tmp_path / "net.graphml"


def test_the_arcs_of_a_directed_graph_are_directions_with_capacities_of_their_own(tmp_path):
    file = arcs(tmp_path, ("a", "b", 10.0), ("b", "c", 30.0), ("c", "b", 40.0), ("b", "a", None))
    graph = read_network(file, rate="7 bps").graph
    names = graph.nodes
    found = {
        (names[a], names[b]): rate
        for a, b, rate in zip(graph.src, graph.dst, graph.capacity, strict=True)
    }
    assert found == {("a", "b"): 10, ("b", "a"): 7, ("b", "c"): 30, ("c", "b"): 40}
    assert graph.capacity.dtype == np.float64


def test_an_arc_without_its_counterpart_is_reported(tmp_path):
    file = arcs(tmp_path, ("a", "b", 10.0), ("b", "a", 10.0), ("b", "c", 30.0))
    with pytest.raises(ac.ScenarioError, match="link b - c: goes one way only"):
        read_network(file)


def test_parallel_links_written_the_other_way_round_add_up_by_direction(tmp_path):
    graph = nx.MultiDiGraph()
    for a, b, rate in (("a", "b", 1.0), ("b", "a", 2.0), ("b", "a", 20.0), ("a", "b", 10.0)):
        graph.add_edge(a, b, rate=rate)
    nx.write_graphml(graph, tmp_path / "net.graphml")
    found = read_network(tmp_path / "net.graphml", merge_parallel=True).graph
    assert found.capacity.tolist() == [11.0, 22.0]
    with pytest.raises(ac.ScenarioError, match="--merge-parallel adds them up"):
        read_network(tmp_path / "net.graphml")
