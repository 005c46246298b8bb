"""Files of SNDlib of a few lines, in both of their formats."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from ackclock.errors import ScenarioError
from ackclock.scenario.networks import sndlib

PATH = Path("net.txt")

NATIVE = """?SNDlib native format; type: network; version: 1.0
META (
  unit = GBITPERSEC   # a comment
  time = 20040601
)
NODES (
  a ( 10.5 50.25 )
  b ( -8 40 )
  c
)
LINKS (
  L1 ( a b ) 2.5 0.00 0.00 0.00 ( 40.00 9.00 )
  L2 ( b c ) 0.00 0.00 0.00 0.00 ( )
)
DEMANDS (
  D1 ( a b ) 2 3.00 UNLIMITED
  D2 ( a b ) 1 0.50 UNLIMITED
  D3 ( b a ) 1 1.00 UNLIMITED
  D4 ( c c ) 1 1.00 UNLIMITED
)
"""


def refusal(text):
    with pytest.raises(ScenarioError) as error:
        sndlib.read_native(PATH, text)
    return str(error.value)


def test_the_native_format_has_places_capacities_and_demands_with_their_lines():
    file = sndlib.read_native(PATH, NATIVE)
    assert file.nodes == {"a": (10.5, 50.25), "b": (-8.0, 40.0), "c": None}
    # A capacity of zero is none.
    assert file.links == [(12, "a", "b", 2.5), (13, "b", "c", None)]
    assert file.demands == [
        (16, "a", "b", 6.0), (17, "a", "b", 0.5), (18, "b", "a", 1.0), (19, "c", "c", 1.0),
    ]  # fmt: skip
    assert file.meta == {"unit": "GBITPERSEC", "time": "20040601"}
    assert file.has_modules


def test_empty_brackets_of_modules_are_none():
    assert not sndlib.read_native(PATH, NATIVE.replace("( 40.00 9.00 )", "( )")).has_modules


def test_a_graph_has_bits_per_second_degrees_and_a_note_of_bare_links():
    graph, notes = sndlib.to_graph(sndlib.read_native(PATH, NATIVE))
    assert dict(graph.nodes(data=True)) == {
        "a": {"lon": 10.5, "lat": 50.25}, "b": {"lon": -8.0, "lat": 40.0}, "c": {},
    }  # fmt: skip
    assert list(graph.edges(data=True)) == [("a", "b", {"capacity_bps": 2.5e9}), ("b", "c", {})]
    assert notes == ("1 links have modules to buy, and no capacity that is installed",)


@pytest.mark.parametrize(
    ("place", "is_located"),
    [((180.0, 90.0), True), ((-180.0, -90.0), True), ((180.5, 0.0), False), ((0.0, 90.5), False)],
)
def test_places_beyond_the_globe_are_no_degrees(place, is_located):
    file = sndlib.SndlibFile(PATH, nodes={"a": place, "b": (1.0, 2.0)})
    graph, _ = sndlib.to_graph(file)
    assert [bool(data) for _, data in graph.nodes(data=True)] == [is_located, is_located]
    file.is_geographical = False
    assert not any(data for _, data in sndlib.to_graph(file)[0].nodes(data=True))


def test_demands_of_the_same_way_are_added_and_those_to_itself_left_out():
    rows, notes = sndlib.to_demands(sndlib.read_native(PATH, NATIVE))
    assert rows == [
        (16, {"source": "a", "target": "b", "demand_bps": "6500000000.0", "time": "20040601"}),
        (18, {"source": "b", "target": "a", "demand_bps": "1000000000.0", "time": "20040601"}),
    ]
    assert notes == ()
    with pytest.raises(ScenarioError, match=r"^net: net\.txt has no demands$"):
        sndlib.to_demands(sndlib.SndlibFile(PATH))


@pytest.mark.parametrize(
    ("unit", "factor"),
    [("BITPERSEC", 1.0), ("bitspersec", 1.0), ("KBITPERSEC", 1e3), ("MBITPERSEC", 1e6),
     ("GBITPERSEC", 1e9)],
)  # fmt: skip
def test_units_are_known_in_capitals_and_small_letters(unit, factor):
    assert sndlib.SndlibFile(PATH, meta={"unit": unit}).unit() == (factor, ())


def test_no_unit_is_megabits_and_another_is_refused_with_those_that_are_known():
    assert sndlib.SndlibFile(PATH).unit() == (
        1e6, ("the file states no unit; its numbers are read as Mbit/s",),
    )  # fmt: skip
    with pytest.raises(ScenarioError) as error:
        sndlib.SndlibFile(PATH, meta={"unit": "PACKETS"}).unit()
    assert str(error.value) == (
        'net: net.txt: the unit is "PACKETS"; expected one of BITSPERSEC, BITPERSEC, KBITPERSEC,'
        " MBITPERSEC, GBITPERSEC"
    )


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("L1 ( a b )", "L1 ( a x )", 'line 12: there is no node "x"'),
        ("D2 ( a b )", "D2 ( y b )", 'line 17: there is no node "y"'),
        ("2.5 0.00", "-2.5 0.00", "line 12: -2.5 is below 0"),
        ("2.5 0.00", "nan 0.00", 'line 12: "nan" is no number'),
        ("  c\n", "  a\n", 'line 9: two nodes have the id "a"'),
        ("a ( 10.5 50.25 )", "a ( 10.5 )", "line 7: is no node; expected NAME ( X Y )"),
        (
            "L2 ( b c ) 0.00 0.00 0.00 0.00 ( )",
            "L2 ( b c )",
            "line 13: is no link; expected NAME ( A B ) CAPACITY and more",
        ),
        (
            "D4 ( c c ) 1 1.00 UNLIMITED",
            "D4 ( c c ) 1",
            "line 19: is no demand; expected NAME ( A B ) ROUTING_UNIT VALUE and more",
        ),
        (
            "LINKS (",
            "LINKS",
            'line 11: found "LINKS"; expected a section, as NODES (',
        ),
    ],
)
def test_what_is_wrong_in_the_native_format_has_its_line(before, after, message):
    assert before in NATIVE
    assert refusal(NATIVE.replace(before, after)) == f"net: net.txt, {message}"


def test_a_bracket_too_many_is_refused_and_a_file_without_nodes_too():
    assert refusal("NODES (\n a ) )\n") == (
        "net: net.txt, line 2: closes a bracket that was not opened"
    )
    assert refusal("META (\n)\n") == "net: net.txt has no nodes; expected a network of SNDlib"


XML = """<?xml version="1.0"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0">
<meta><unit>MBITPERSEC</unit><time>2005</time></meta>
<networkStructure>
<nodes coordinatesType="{kind}">
<node id="a"><coordinates><x>1.5</x><y>2.5</y></coordinates></node>
<node id="b"/>
</nodes>
<links>
<link id="L"><source>a</source><target>b</target>
<preInstalledModule><capacity>100</capacity><cost>1</cost></preInstalledModule>
<additionalModules><addModule><capacity>7</capacity><cost>1</cost></addModule></additionalModules>
</link>
<link id="M"><source>b</source><target>a</target></link>
</links>
</networkStructure>
<demands>
<demand id="D"><source>a</source><target>b</target><routingUnit>2</routingUnit>
<demandValue>8</demandValue></demand>
<demand id="E"><source>b</source><target>a</target><demandValue>8</demandValue></demand>
</demands>
</network>
"""


def read_xml(text):
    return sndlib.read_xml(Path("net.xml"), io.BytesIO(text.encode()))


def test_the_xml_format_has_the_same_and_no_capacity_of_modules_to_buy():
    file = read_xml(XML.format(kind="geographical"))
    assert file.nodes == {"a": (1.5, 2.5), "b": None}
    assert file.links == [(10, "a", "b", 100.0), (14, "b", "a", None)]
    assert file.demands == [(18, "a", "b", 16.0), (20, "b", "a", 8.0)]
    assert file.meta == {"unit": "MBITPERSEC", "time": "2005"}
    assert (file.has_modules, file.is_geographical) == (True, True)
    assert not read_xml(XML.format(kind="pixel")).is_geographical


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("<target>a</target></link>", "</link>", "line 14: target is missing"),
        ("<demandValue>8</demandValue></demand>\n</", "</demand>\n</",
         "line 20: demandValue is missing"),
        ('<node id="b"/>', '<node id="a"/>', 'line 7: two nodes have the id "a"'),
        ("<x>1.5</x>", "<x>east</x>", 'line 6: "east" is no number'),
        ("<capacity>100<", "<capacity>-1<", "line 10: -1 is below 0"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_xml_has_its_line(before, after, message):
    text = XML.format(kind="geographical")
    assert before in text
    with pytest.raises(ScenarioError) as error:
        read_xml(text.replace(before, after))
    assert str(error.value) == f"net: net.xml, {message}"
