"""Scenarios and networks from somebody else: nothing is run, nothing grows without bound."""

import bz2
import gzip
import json
import os

import pytest

import ackclock as ac
from ackclock._util import foreign_files
from ackclock.cli import main as cli
from ackclock.engines.registry import case
from ackclock.scenario.networks import graphml
from ackclock.studies.bottlenecks import operators
from conftest import SMALL

CODE = """
from pathlib import Path
import ackclock
Path(__file__).with_name("was_run").touch()

@ackclock.control
class Mine:
    def on_ack(self, window, ack):
        pass
    def on_congestion(self, window, event):
        pass
"""


@pytest.fixture
def foreign(tmp_path):
    (tmp_path / "mine.py").write_text(CODE)
    file = tmp_path / "foreign.toml"
    file.write_text(SMALL.replace('"aimd"', '"mine.py:Mine"'))
    return file


def test_a_check_without_code_imports_no_file(foreign, capsys):
    assert cli.main(["check", "--no-code", str(foreign)]) == 0
    assert "mine.py:Mine was not imported" in capsys.readouterr().out
    assert not foreign.with_name("was_run").exists()


def test_a_check_imports_the_file_as_its_help_says(foreign, capsys):
    assert cli.main(["check", str(foreign)]) == 0
    assert foreign.with_name("was_run").exists()
    assert cli.main(["check", "--help"]) == 0
    assert "--no-code" in capsys.readouterr().out


def test_a_check_without_code_finds_other_problems_and_imports_nothing(foreign, capsys):
    foreign.write_text(foreign.read_text().replace('"vegas"', '"vegs"').replace("5 Mbps", "5 Mb"))
    assert cli.main(["check", "--no-code", "--json", str(foreign)]) == 2
    (found,) = json.loads(capsys.readouterr().out)
    assert {problem["path"] for problem in found["problems"]} == {"flows[1].cc", "net.rate"}
    assert not foreign.with_name("was_run").exists()


def test_a_check_without_code_reports_a_file_that_is_missing(foreign, capsys):
    foreign.with_name("mine.py").unlink()
    assert cli.main(["check", "--no-code", str(foreign)]) == 2
    assert 'flows[0].cc: there is no file "mine.py"' in capsys.readouterr().err


def test_a_class_of_set_is_refused_without_code(small_file, capsys):
    change = ["--set", "flows[*].cc=mine.py:Mine"]
    assert cli.main(["check", "--no-code", str(small_file), *change]) == 2
    assert "--set names a Python class" in capsys.readouterr().err


def nested(depth, kind):
    value = {"kind": "aimd"}
    for _ in range(depth):
        value = {"a": value} if kind is dict else [value]
    return value


@pytest.mark.parametrize("kind", [dict, list])
@pytest.mark.parametrize("depth", [900, 100_000])
def test_deep_data_is_an_error_of_the_scenario(kind, depth):
    data = {"net": {"kind": "dumbbell"}, "duration": 1, "flows": [{"cc": nested(depth, kind)}]}
    with pytest.raises(ac.ScenarioError, match="nested more than 100 levels"):
        ac.Scenario.from_data(data)
    with pytest.raises(ac.ScenarioError, match="nested more than 100 levels"):
        ac.load(SMALL).replace(**{"flows[0].cc": nested(depth, kind)})


@pytest.mark.parametrize("engine", ["fluid", "model"])
def test_deep_data_is_an_error_of_other_engines_too(engine):
    with pytest.raises(ac.ScenarioError):
        case({"engine": engine, "net": nested(900, dict), "model": nested(900, list)}, None)


GRAPH = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">
<node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>"""
PAIRS = zip("abcdefgh", "bcdefghi", strict=True)
LEVELS = "".join(f'<!ENTITY {outer} "{f"&{inner};" * 10}">' for inner, outer in PAIRS)
LAUGHS = f'<!DOCTYPE graphml [<!ENTITY a "ha">{LEVELS}]>'
OUTSIDE = '<!DOCTYPE graphml [<!ENTITY a SYSTEM "file:///etc/hostname">]>'


@pytest.mark.parametrize("head", [LAUGHS, OUTSIDE])
def test_graphml_with_an_entity_is_refused(tmp_path, head):
    file = tmp_path / "net.graphml"
    file.write_text(head + GRAPH.replace('id="a"', 'id="&a;"'))
    with pytest.raises(ac.ScenarioError, match="declares an entity"):
        ac.topology.from_graph_file(file, rate="1 Mbps")
    with pytest.raises(ac.ScenarioError, match="declares an entity"):
        operators.read_network(str(file))


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_a_packed_file_ends_at_the_stated_limit(tmp_path, monkeypatch, ending, pack):
    monkeypatch.setattr(graphml, "MOST_BYTES", 2**20)
    file = tmp_path / f"net.graphml{ending}"
    file.write_bytes(pack(GRAPH.encode() + b" " * (50 * 2**20)))
    assert file.stat().st_size < 2**20
    with pytest.raises(ac.ScenarioError, match="more than 1 MiB when decompressed"):
        ac.topology.from_graph_file(file, rate="1 Mbps")


@pytest.mark.parametrize("cut", [5, 30])
def test_a_packed_file_that_is_cut_is_reported(tmp_path, cut):
    file = tmp_path / "net.graphml.gz"
    file.write_bytes(gzip.compress(GRAPH.encode())[:cut])
    with pytest.raises(ac.ScenarioError, match=r"cannot read .*net\.graphml\.gz"):
        ac.topology.from_graph_file(file, rate="1 Mbps")


ENDLESS = """
duration = "1 s"
net = {{ kind = "dumbbell", pairs = 1, rate = "1 Mbps", rtt = "9 ms", buffer = "9 pkt"{net} }}
flows = [{{ pair = 0{flow} }}]
"""


@pytest.fixture(params=["/dev/zero", "pipe", "large"])
def endless(request, tmp_path, monkeypatch):
    """A file that never ends, one that nobody writes to, a large one; and what is said of it."""
    monkeypatch.setattr(foreign_files, "MOST_BYTES", 2**20)
    if request.param == "pipe":
        os.mkfifo(tmp_path / "pipe")
    elif request.param == "large":
        (tmp_path / "large").write_bytes(b"1" * (2**20 + 1))
        return str(tmp_path / "large"), "it has more than 1 MiB; expected less"
    return str(tmp_path / request.param), "it is no regular file; expected one"


@pytest.mark.parametrize(
    ("net", "flow"),
    [
        (', schedule = {{ mahimahi_file = "{}" }}', ""),
        (', schedule = {{ file = "{}" }}', ""),
        ("", ', source = {{ kind = "trace", file = "{}" }}'),
        (", nothing = 1", ""),
    ],
)
def test_a_file_that_never_ends_is_refused(tmp_path, endless, capsys, net, flow):
    target, expected = endless
    file = tmp_path / "endless.toml"
    file.write_text(ENDLESS.format(net=net.format(target), flow=flow.format(target)))
    if "nothing" in net:
        file.unlink()
        file.symlink_to(target)
    assert cli.main(["check", str(file)]) == 2
    message = capsys.readouterr().err.strip()
    assert expected in message
    assert len(message.splitlines()) == 1


def test_a_network_of_files_that_never_end_is_refused(tmp_path, endless):
    target, expected = endless
    for name in ("nodes.csv", "edges.csv"):
        (tmp_path / name).symlink_to(target)
    with pytest.raises(ac.ScenarioError, match=rf"csv: .*{expected}"):
        ac.topology.from_csv(tmp_path)
    (tmp_path / "edges.csv").unlink()
    (tmp_path / "edges.csv").write_text("source,target\n" + "a,b\n" * 2**17)
    with pytest.raises(ac.ScenarioError, match=rf"nodes\.csv: .*{expected}"):
        ac.topology.from_csv(tmp_path)
    for ending in ("graphml", "graphml.gz"):
        (tmp_path / f"net.{ending}").symlink_to(target)
        if "regular" in expected:
            with pytest.raises(ac.ScenarioError, match=expected):
                ac.topology.from_graph_file(tmp_path / f"net.{ending}", rate="1 Mbps")
