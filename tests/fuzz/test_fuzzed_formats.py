"""Files of any content: read as what they are or refused, and what is written can be read.

`make fuzz` runs these with more examples (`ACKCLOCK_FUZZ_EXAMPLES`).
"""

import json
import os
import re
import struct
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.errors import AckclockError
from ackclock.experiments.store import Store, StoreError, names
from ackclock.scenario import traces
from conftest import SMALL

EXAMPLES = Path(__file__).parents[2] / "examples"
many = settings(max_examples=int(os.environ.get("ACKCLOCK_FUZZ_EXAMPLES", "60")))
few = settings(max_examples=max(20, many.max_examples // 4))

#: What is put into texts: what separates, closes, overflows or has another meaning.
PIECES = [
    "", "\n", "\r", "\x00", "\ufeff", ",", '"', "'", "[", "]", "{", "}", "=", "#", "<", ">", "&",
    ";", "\\", "..", "/", "-1", "0", "1e999", "nan", "inf", "99999999999999999999", "1e-320",
    "true", "null", "é", "\U0001f40c", "a" * 300, "[[", "<!DOCTYPE x>", "&lt;", "1 Mbps", "0 s",
]  # fmt: skip


@st.composite
def changed(draw, texts):
    """A valid text with some places replaced, removed, doubled or cut."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(0, 5))):
        begin = draw(st.integers(0, len(text)))
        end = draw(st.integers(begin, min(len(text), begin + 30)))
        way = draw(st.integers(0, 3))
        piece = draw(st.sampled_from(PIECES)) if way < 3 else text[begin:end] * 2
        text = text[:begin] + piece + text[begin if way == 0 else end :]
    return text.encode("utf-8", "surrogatepass")


def anything(*texts):
    return st.one_of(changed(list(texts)), changed(list(texts)), st.binary(max_size=200))


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@many
@given(content=anything("0\n3\n3\n17\n", "1\n", "5\r\n6\r\n"))
def test_a_delivery_trace_is_a_list_of_times_in_order_or_refused(folder, content):
    file = folder / "trace"
    file.write_bytes(content)
    try:
        times = traces.delivery(file, "schedule")
    except AckclockError:
        return
    assert times == sorted(times)
    assert times[-1] > 0


@many
@given(content=anything("at,size\n0,1000\n0.5,40\n", "at,size\n1 ms,1500 B\n"))
def test_a_trace_of_packets_is_a_list_of_packets_or_refused(folder, content):
    (folder / "packets.csv").write_bytes(content)
    spec = {"kind": "trace", "file": "packets.csv"}
    try:
        made = traces.resolve_replayed("source", spec, folder, "flows[0].source")
    except AckclockError:
        return
    (entries,) = [value for key, value in made.items() if key != "kind"]
    moments = [entry["at"] for entry in entries]
    assert moments == sorted(moments)


GRAPHML = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="lat" attr.type="double"/>
<key id="d1" for="edge" attr.name="capacity_bps" attr.type="double"/>
<graph edgedefault="undirected"><node id="x"><data key="d0">1.5</data></node><node id="y"/>
<edge source="x" target="y"><data key="d1">3000000.0</data></edge></graph></graphml>
"""


def is_network(net):
    nodes = {node if isinstance(node, str) else node["id"] for node in net.nodes}
    return all({link["a"], link["b"]} <= nodes for link in net.links)


@many
@given(content=anything(GRAPHML))
def test_graphml_is_a_network_or_refused(folder, content):
    file = folder / "net.graphml"
    file.write_bytes(content)
    try:
        net = ac.topology.from_graph_file(file, rate="1 Mbps")
    except AckclockError:
        return
    assert is_network(net)


NODES = "id,name,lat,lon\nA,a,0,0\nB,b,,\nC,c,1,1\n"
EDGES = "source,target,capacity_bps,delay_s,length_km,weight\nA,B,1e6,0.002,,\nB,C,,,200,3\n"


@many
@given(nodes=anything(NODES), edges=anything(EDGES))
def test_csv_is_a_network_or_refused(folder, nodes, edges):
    (folder / "nodes.csv").write_bytes(nodes)
    (folder / "edges.csv").write_bytes(edges)
    try:
        net = ac.topology.from_csv(folder, rate="1 Mbps")
    except AckclockError:
        return
    assert is_network(net)


TABLE = re.compile(r"[a-z][a-z0-9_]*\.parquet")
MANIFEST = json.dumps(
    {"pack_version": 1, "runs": 2, "files": {"runs.parquet": {"bytes": 9, "sha256": "0" * 64}}}
)


@many
@given(content=anything(MANIFEST))
def test_a_manifest_lists_tables_or_is_refused(content):
    try:
        found = names.check_manifest(Path("pack"), content)
    except StoreError:
        return
    assert all(TABLE.fullmatch(name) for name in found["files"])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(PIECES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@many
@given(files=st.one_of(json_values, st.dictionaries(st.sampled_from(PIECES), st.text())))
def test_files_of_a_run_stay_in_its_folder(folder, files):
    try:
        found = names.check_files("0" * 32, files)
    except StoreError:
        return
    for name in found:
        assert (folder / name).resolve().is_relative_to(folder.resolve())


@pytest.fixture(scope="module")
def kept(folder):
    """A store of two runs, each in its pack, and the bytes of their files."""
    place = folder / "store"
    case = ac.load(SMALL).replace(duration="2.5 s", record=None)
    for reps in (1, 2):
        sweep = ac.sweep(case, reps=reps)
        sweep.run(store=place, progress=False)
    files = [file for pack in (place / "packs").iterdir() for file in pack.iterdir()]
    return sweep, place, {file: file.read_bytes() for file in files}


@few
@given(data=st.data())
def test_a_pack_that_was_changed_is_noticed(kept, data):
    sweep, place, files = kept
    file = data.draw(st.sampled_from(sorted(files)))
    content = bytearray(files[file])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    file.write_bytes(content)
    (place / "index.sqlite").unlink(missing_ok=True)
    keys = {slot.key for slot in sweep.run(store=False, progress=False, workers=1).slots}
    try:
        with Store(place) as store:
            assert (store.find_stored(keys) == keys) == (bytes(content) == files[file])
    except StoreError:
        assert bytes(content) != files[file]
    finally:
        file.write_bytes(files[file])


DOCUMENTS = [file.read_text() for file in sorted(EXAMPLES.rglob("*.toml"))]


@many
@given(content=anything(SMALL, *DOCUMENTS))
def test_a_document_is_a_scenario_or_refused(folder, content):
    file = folder / "document.toml"
    file.write_bytes(content)
    try:
        ac.load(file)
    except AckclockError:
        return


@few
@given(content=changed([SMALL, *DOCUMENTS]))
def test_a_check_of_any_document_ends_with_0_or_2(folder, content):
    file = folder / "checked.toml"
    file.write_bytes(content)
    assert cli.main(["check", "--no-code", str(file)]) in (0, 2)


def blocks(content):
    """Types and bodies of the blocks of a capture (draft-ietf-opsawg-pcapng, section 3.1)."""
    at = 0
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        assert length % 4 == 0 and length >= 12
        assert struct.unpack_from("<I", content, at + length - 4) == (length,)
        yield kind, content[at + 8 : at + length - 4]
        at += length
    assert at == len(content)


@few
@given(
    mss=st.sampled_from([1, 536, 1460, 9000]),
    timestamps=st.booleans(),
    syn=st.booleans(),
    ecn=st.booleans(),
    recovery=st.sampled_from(["reno", "sack", "rack"]),
    buffer=st.integers(2, 30),
    size=st.one_of(st.none(), st.integers(1, 200_000)),
)
def test_a_capture_has_each_packet_that_left_in_order(
    folder, mss, timestamps, syn, ecn, recovery, buffer, size
):
    transfer = {} if size is None else {"size": f"{size} B"}
    flow = {"pair": 0, "recovery": recovery, **transfer}
    run = ac.Scenario(
        net={"kind": "dumbbell", "pairs": 1, "rate": "2 Mbps", "rtt": "20 ms",
             "buffer": f"{buffer} pkt"},
        flows=[flow, {"pair": 0, "source": {"kind": "cbr", "rate": "500 kbps"}}],
        tcp={"mss": mss, "timestamps": timestamps, "syn": syn, "ecn": ecn},
        duration="0.4 s",
        record={"tables": ["packets", "rtts"]},
    ).run()  # fmt: skip
    link = "r0->r1"
    content = run.to_pcapng(folder / "x.pcapng", link=link).read_bytes()
    found = list(blocks(content))
    kinds = Counter(kind for kind, _ in found)
    assert found[0][0] == 0x0A0D0D0A
    rows = run.table("packets").to_pylist()
    left = [r for r in rows if r["event"] == "departure" and r["link"] in (link, "r1->r0")]
    assert kinds == {0x0A0D0D0A: 1, 1: 2, **({6: len(left)} if left else {})}
    moments = []
    for body in (body for kind, body in found if kind == 6):
        interface, high, low, captured, length = struct.unpack_from("<IIIII", body)
        assert interface in (0, 1)
        assert captured <= length
        assert 20 + captured <= len(body) < 24 + captured
        moments.append((high << 32) | low)
        # IPv4, whose total length is that of the packet.
        packet = body[20 : 20 + captured]
        assert packet[0] == 0x45
        assert struct.unpack_from(">H", packet, 2) == (length,)
    assert moments == sorted(moments)
