"""The demonstration runs with what every installation has: its network is shipped."""

import importlib.util
import sys

import pytest

from ackclock.cli.main import main
from ackclock.studies import geant_demo


def test_the_shipped_network_is_topohubs(monkeypatch):
    pytest.importorskip("topohub", reason="topohub is not installed")
    from ackclock.scenario.networks.graph_import import LinkOptions, topohub_data

    monkeypatch.delenv("ACKCLOCK_DATA", raising=False)
    options = LinkOptions(rate="4 Mbps", buffer="100 pkt", qdisc="fifo")
    assert geant_demo.network()[0] == topohub_data("topozoo/Geant2009", "degree", options)


def test_parts_of_a_network_are_its_connected_nodes():
    ends = ["ab", "cd", "ef", "bc", "gg"]
    part = geant_demo.parts_of([{"a": a, "b": b} for a, b in ends])
    assert len({part[node] for node in "abcd"}) == 1
    assert len({part[node] for node in "aeg"}) == 3
    assert part["e"] == part["f"]


@pytest.mark.slow
def test_the_demonstration_without_extras_writes_all_but_figures(tmp_path, monkeypatch, capsys):
    hidden = {"matplotlib", "networkx", "scipy", "scipy.special", "topohub"}
    find = importlib.util.find_spec
    monkeypatch.setattr(geant_demo, "find_spec", lambda m: None if m in hidden else find(m))
    for module in hidden:
        monkeypatch.setitem(sys.modules, module, None)
    assert main(["demo", "--quick", "--out", str(tmp_path)]) == 0
    assert 'pip install ".[papers]"' in capsys.readouterr().out
    page = (tmp_path / "index.html").read_text("utf-8")
    assert "<svg" not in page
    assert "Figures need Matplotlib" in page
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"index.html", "results.csv", "fifo.toml", "red.toml", "drr.toml", "fq.toml"}
