"""Networks and demands in the formats of public collections are what the same CSV files are."""

import gzip
import itertools
import random

import networkx as nx
import numpy as np
import pytest

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.engines.fluid import FluidCase
from ackclock.scenario.networks import repetita
from ackclock.studies.bottlenecks.demands import read_series
from ackclock.studies.bottlenecks.operators import read_network
from ackclock.studies.planner.situation import read_situation
from ackclock.studies.planner.utilisation import utilisation

NODES = ["Ham_burg", "Köln", "c", "d1.de", "e"]


def network(seed):
    """Places, links (a, b, Mbit/s), demands (a, b, Mbit/s) of a ring with two chords."""
    draw = random.Random(seed)
    places = [(round(draw.uniform(-10, 30), 3), round(draw.uniform(35, 60), 3)) for _ in NODES]
    ends = [(i, (i + 1) % len(NODES)) for i in range(len(NODES))] + [(0, 2), (1, 3)]
    links = [(a, b, draw.randint(100, 40_000)) for a, b in ends]
    pairs = itertools.permutations(range(len(NODES)), 2)
    demands = [(a, b, draw.randint(1, 900)) for a, b in pairs if draw.random() < 0.7]
    return places, links, demands


def csv_files(folder, places, links, demands):
    nodes = [f"{n},{x},{y}" for n, (x, y) in zip(NODES, places, strict=True)]
    edges = [f"{NODES[a]},{NODES[b]},{m} Mbps" for a, b, m in links]
    rows = [f"{NODES[a]},{NODES[b]},{m}e6" for a, b, m in demands]
    for name, head, lines in (
        ("nodes.csv", "id,lon,lat", nodes),
        ("edges.csv", "source,target,capacity_bps", edges),
        ("demands.csv", "source,target,demand_bps", rows),
    ):
        (folder / name).write_text("\n".join([head, *lines]) + "\n")
    return folder, folder / "demands.csv"


def xml_files(folder, places, links, demands):
    nodes = "".join(
        f'<node id="{n}">\n<coordinates><x>{x}</x><y>{y}</y></coordinates></node>\n'
        for n, (x, y) in zip(NODES, places, strict=True)
    )
    edges = "".join(
        f'<link id="L{i}"><source>{NODES[a]}</source><target>{NODES[b]}</target>'
        f"<preInstalledModule><capacity>{m}.0</capacity><cost>0</cost></preInstalledModule>"
        "<additionalModules><addModule><capacity>7</capacity><cost>1</cost></addModule>"
        "</additionalModules></link>\n"
        for i, (a, b, m) in enumerate(links)
    )
    wishes = "".join(
        f'<demand id="D{i}"><source>{NODES[a]}</source><target>{NODES[b]}</target>'
        f"<routingUnit>2</routingUnit><demandValue>{m / 2}</demandValue></demand>\n"
        for i, (a, b, m) in enumerate(demands)
    )
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<network xmlns="http://sndlib.zib.de/network" version="1.0">\n'
        '<networkStructure><nodes coordinatesType="geographical">\n'
        f"{nodes}</nodes><links>\n{edges}</links></networkStructure>\n"
        f"<demands>\n{wishes}</demands></network>\n"
    )
    (folder / "net.xml").write_text(text)
    return folder / "net.xml", folder / "net.xml"


def native_files(folder, places, links, demands):
    nodes = [f"  {n} ( {x} {y} )" for n, (x, y) in zip(NODES, places, strict=True)]
    edges = [
        f"  L{i} ( {NODES[a]} {NODES[b]} ) {m}.00 0.00 0.00 0.00 ( 7.00 1.00 9.00 2.00 )"
        for i, (a, b, m) in enumerate(links)
    ]
    wishes = [
        f"  D{i} ( {NODES[a]} {NODES[b]} ) 1 {m}.00 UNLIMITED"
        for i, (a, b, m) in enumerate(demands)
    ]
    parts = [
        "?SNDlib native format; type: network; version: 1.0", "# a network", "",
        "META (", "  unit = MBITPERSEC  # what else", ")", "NODES (", *nodes, ")",
        "# LINKS ( nothing )", "LINKS (", *edges, ")", "DEMANDS (", *wishes, ")", "",
        "ADMISSIBLE_PATHS (", "  D0 (", "    P_0 ( L0 L1 )", "  )", ")",
    ]  # fmt: skip
    (folder / "net.txt").write_text("\n".join(parts) + "\n")
    return folder / "net.txt", folder / "net.txt"


def repetita_files(folder, places, links, demands):
    nodes = [f"{n} {x} {y}" for n, (x, y) in zip(NODES, places, strict=True)]
    arcs = [(*ends, m) for a, b, m in links for ends in ((a, b), (b, a))]
    edges = [f"edge_{i} {a} {b} 1 {1000 * m} 5" for i, (a, b, m) in enumerate(arcs)]
    wishes = [f"demand_{i} {a} {b} {1000 * m}" for i, (a, b, m) in enumerate(demands)]
    graph = [f"NODES {len(nodes)}", "label x y", *nodes, "", f"EDGES {len(edges)}",
             "label src dest weight bw delay", *edges]  # fmt: skip
    (folder / "net.graph").write_text("\n".join(graph) + "\n")
    wishes = [f"DEMANDS {len(wishes)}", "label src dest bw", *wishes]
    (folder / "net.demands").write_text("\n".join(wishes) + "\n")
    return folder / "net.graph", folder / "net.demands"


WRITERS = [xml_files, native_files, repetita_files]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("seed", range(4))
def test_a_format_gives_the_network_the_demands_and_the_delays_of_the_csv_files(
    tmp_path, write, seed
):
    content = network(seed)
    expected = read_situation(
        csv_files(tmp_path, *content)[0], demands=csv_files(tmp_path, *content)[1]
    )
    file, demands = write(tmp_path, *content)
    found = read_situation(file, demands=demands)
    assert found.network.graph.nodes == expected.network.graph.nodes
    assert by_ends(found, found.capacity) == by_ends(expected, expected.capacity)
    assert found.demands.volume.tolist() == expected.demands.volume.tolist()
    loads, by_csv = (by_ends(one, utilisation(one).loads[0]) for one in (found, expected))
    assert loads == pytest.approx(by_csv, rel=1e-12)
    delays, by_csv = (
        {frozenset((link["a"], link["b"])): (link["rate"], link["delay"]) for link in net.links}
        for net in (ac.topology.from_graph_file(file), ac.topology.from_csv(tmp_path))
    )
    assert delays == by_csv


def by_ends(situation, values):
    graph = situation.network.graph
    ends = zip(graph.src.tolist(), graph.dst.tolist(), strict=True)
    return dict(zip(ends, values.tolist(), strict=True))


@pytest.mark.parametrize("write", WRITERS)
def test_loads_are_those_of_equal_parts_over_all_shortest_paths(tmp_path, write):
    places, links, demands = network(9)
    file, matrix = write(tmp_path, places, links, demands)
    graph = nx.Graph([(a, b) for a, b, _ in links])
    load = {}
    for a, b, value in demands:
        # By hand: a node divides what it gets equally among its next hops.
        here = {a: float(value)}
        left = nx.shortest_path_length(graph, target=b)
        for node in sorted(left, key=left.get, reverse=True):
            following = [n for n in graph[node] if left[n] == left[node] - 1]
            for n in following:
                part = here.get(node, 0.0) / len(following)
                load[node, n] = load.get((node, n), 0.0) + part
                here[n] = here.get(n, 0.0) + part
    found = utilisation(read_situation(file, demands=matrix))
    used = found.situation.network.graph
    ends = zip(used.src.tolist(), used.dst.tolist(), strict=True)
    expected = [1e6 * load.get(pair, 0.0) for pair in ends]
    np.testing.assert_allclose(found.loads[0], expected, rtol=1e-12)


@pytest.mark.parametrize("write", WRITERS)
def test_plan_and_fluid_and_fluid_documents_read_the_same_demands(tmp_path, write, capsys):
    content = network(3)
    file, matrix = write(tmp_path, *content)
    total = 1e6 * sum(value for *_, value in content[2])
    assert read_series(read_network(file), matrix).volume.sum() == pytest.approx(total)
    assert cli.main(["fluid", str(file), "--demands", str(matrix), "--json"]) == 0
    assert f'"flows": {len(content[2])}' in capsys.readouterr().out
    nodes = [str(i) for i in range(len(NODES))] if write is repetita_files else NODES
    links = [[nodes[a], nodes[b], f"{m} Mbps"] for a, b, m in content[1]]
    case = FluidCase(
        {
            "net": {"kind": "links", "links": links},
            "traffic": {"kind": "matrix", "file": str(matrix)},
            "allocation": "max-min",
        }
    )
    assert case.traffic().demand.sum() == pytest.approx(total)


def test_fluid_takes_one_time_of_several_as_plan_does(tmp_path, capsys):
    (tmp_path / "net.csv").write_text("source,target,capacity_bps\na,b,1e9\n")
    (tmp_path / "d.csv").write_text(
        "Time;Source;Target;Demand [Mbit/s]\n1:00;a;b;2,5\n2:00;a;b;9\n"
    )
    for chosen, total in ((["--at", "1:00"], 2.5e6), ([], 9e6)):
        files = [str(tmp_path / "net.csv"), "--demands", str(tmp_path / "d.csv"), *chosen]
        assert cli.main(["fluid", *files, "--json"]) == 0
        assert f'"total_bps": {total}' in capsys.readouterr().out
    assert cli.main(["fluid", *files, "--at", "3:00"]) == 2
    assert 'there is no time "3:00"' in capsys.readouterr().err


GRAPHML = (
    '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns"'
    ' xmlns:y="http://www.yworks.com/xml/graphml">{keys}<graph edgedefault="directed" id="G">'
    "{nodes}{edges}</graph></graphml>"
)
YED = '<key for="node" id="d6" yfiles.type="nodegraphics"/>'


def drawing(path, pairs, keys=""):
    label = (
        '<data key="d6"><y:ShapeNode><y:Geometry height="3" width="3" x="700.0" y="9.0"/>'
        "<y:NodeLabel>{}</y:NodeLabel></y:ShapeNode></data>"
    )
    nodes = "".join(
        f'<node id="n{i}">{label.format(name) if keys else ""}</node>'
        for i, name in enumerate(["Ulm", "Bonn", "Jena"])
    )
    edges = "".join(f'<edge source="n{a}" target="n{b}"/>' for a, b in pairs)
    path.write_text(GRAPHML.format(keys=keys, nodes=nodes, edges=edges))
    return path


@pytest.mark.parametrize(
    ("keys", "pairs"), [("", [(0, 1), (1, 2), (0, 2)]), (YED, [(0, 1), (1, 0), (1, 2), (0, 2)])]
)
def test_lines_of_a_drawing_are_links_of_both_ways(tmp_path, keys, pairs):
    file = drawing(tmp_path / "map.graphml", pairs, keys)
    found = read_network(file, rate="1 Gbps", merge_parallel=True)
    assert found.graph.nodes == (("Ulm", "Bonn", "Jena") if keys else ("n0", "n1", "n2"))
    twice = 2e9 if keys else 1e9
    assert found.graph.capacity.tolist() == [twice, twice, 1e9, 1e9, 1e9, 1e9]
    assert "drawing with arrows" in found.notes[0]
    net = ac.topology.from_graph_file(file, rate="1 Gbps", delay="5 ms").to_data()
    assert [link["delay"] for link in net["links"]] == [0.005] * 3
    with pytest.raises(ac.ScenarioError, match="the key delay sets one for such links"):
        ac.topology.from_graph_file(file, rate="1 Gbps")


def test_a_drawing_in_which_all_arcs_have_a_way_back_is_no_drawing_of_parallel_links(tmp_path):
    file = drawing(tmp_path / "map.graphml", [(0, 1), (1, 0), (1, 2), (2, 1)], YED)
    found = read_network(file, rate="1 Gbps")
    assert (found.graph.capacity.tolist(), found.notes) == ([1e9] * 4, ())


def test_a_default_delay_is_for_links_that_nothing_is_known_of(tmp_path):
    (tmp_path / "nodes.csv").write_text("id,lat,lon\na,0,0\nb,0,1\nc,,\n")
    edges = "source,target,delay_s,length_km\na,b,,\nb,c,,\na,c,,200\nc,b,0.5,\nc,a,,\n"
    (tmp_path / "edges.csv").write_text(edges.replace("c,b,0.5,\n", ""))
    net = ac.topology.from_csv(tmp_path, rate="1 Gbps", delay="7 ms")
    delays = [link["delay"] for link in net.to_data()["links"]]
    assert delays == [pytest.approx(0.000556, abs=1e-6), 0.007, 0.001]
    with pytest.raises(ac.ScenarioError, match="has no unit; expected a duration with unit"):
        ac.topology.from_csv(tmp_path, rate="1 Gbps", delay="7")


def test_a_packed_file_and_a_unit_that_is_stated_are_read(tmp_path):
    file, _ = xml_files(tmp_path, *network(1))
    text = file.read_text().replace(
        "<networkStructure>", "<meta><unit>BITSPERSEC</unit></meta><networkStructure>"
    )
    with gzip.open(tmp_path / "net.xml.gz", "wt", encoding="utf-8") as packed:
        packed.write(text)
    found, plain = read_network(tmp_path / "net.xml.gz"), read_network(file)
    np.testing.assert_allclose(found.graph.capacity * 1e6, plain.graph.capacity, rtol=1e-12)
    assert (found.notes, plain.notes) == (
        (), ("the file states no unit; its numbers are read as Mbit/s",)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("n.graph", "NODES 2\nlabel x y\na 0 0\nb 0 0\n\nEDGES 1\nhead\ne 0 5 1 9 1\n",
         'line 8: there is no node "5"; expected a number below 2'),
        ("n.graph", "NODES 3\nlabel x y\na 0 0\n", "line 1: states 3 NODES, and has 1"),
        ("n.graph", "NODES 1\nlabel x y\na 0 zero\nEDGES 0\nhead\n", 'line 3: "zero" is no number'),
        ("n.graph", "edges\n", 'line 1: found "edges"; expected NODES and their number'),
        ("n.txt", "?SNDlib native\nNODES (\n a ( 0 0 )\n)\nLINKS (\n L ( a b ) 1 0 0 0 ( )\n)\n",
         'line 6: there is no node "b"'),
        ("n.txt", "?SNDlib native\nNODES (\n a ( 0 x )\n)\n", 'line 3: "x" is no number'),
        ("n.txt", "?SNDlib native\nNODES\n a ( 0 0 )\n", 'line 2: found "NODES"; expected a sec'),
        ("n.txt", "hello\n", 'expected the native format of SNDlib, which begins "?SNDlib"'),
        ("n.xml", '<network xmlns="http://sndlib.zib.de/network"><networkStructure><links>\n'
                  '<link id="L"><source>a</source></link></links></networkStructure></network>',
         "line 2: target is missing"),
        ("n.xml", '<network xmlns="http://sndlib.zib.de/network"/>', "has no nodes"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said_with_its_line(tmp_path, name, text, message, capsys):
    (tmp_path / name).write_text(text)
    assert cli.main(["plan", "load", str(tmp_path / name), "--gravity", "nothing.csv"]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert name in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("write", WRITERS)
def test_a_file_that_ends_anywhere_is_read_or_refused_in_a_sentence(tmp_path, write):
    files = {*write(tmp_path, *network(2))}
    complete = read_network(write(tmp_path, *network(2))[0])
    for file in files:
        text = file.read_bytes()
        for end in range(0, len(text), 11):
            file.write_bytes(text[:end])
            for read in (read_network, lambda path: read_series(complete, path)):
                try:
                    read(file)
                except ac.ScenarioError as error:
                    assert "\n" not in error.problems[0].message


def test_demands_of_a_pair_in_repetita_are_added_wherever_they_are(tmp_path):
    """In kbit/s: 100 and 250 from 0 to 1 with another between them, and 40 from 1 to itself."""
    wishes = ["d0 0 1 100", "d1 1 0 7", "d2 0 1 250", "d3 1 1 40"]
    text = "\n".join(["DEMANDS 4", "label src dest bw", *wishes])
    rows, left_out = repetita.read_demands(tmp_path / "x.demands", text)
    found = [(line, row["source"], row["target"], float(row["demand_bps"])) for line, row in rows]
    assert found == [(3, "0", "1", 350e3), (4, "1", "0", 7e3)]
    assert left_out == ("1 demands from a node to itself were left out",)


@pytest.mark.parametrize("head", ["unit = GBITPERSEC", "Unit=gbitpersec", "UNIT = GBitPerSec"])
def test_what_a_native_file_says_of_itself_is_read_in_any_case(tmp_path, head):
    text = (
        f"?SNDlib native\nMETA (\n {head}\n)\nNODES (\n a ( 0 0 )\n b ( 1 1 )\n)\n"
        "LINKS (\n L ( a b ) 2 0 0 0 ( )\n)\n"
    )
    (tmp_path / "n.txt").write_text(text)
    network = read_network(tmp_path / "n.txt")
    assert network.graph.capacity.tolist() == [2e9, 2e9]
