"""Figures, captures and the demonstration page, from real runs."""

import re
import shutil
import subprocess

import pytest

import ackclock as ac
from ackclock import demo

KINDS = ("cwnd", "throughput", "queue", "delay", "fairness")


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_has_units_and_its_recipe(run, kind, tmp_path):
    figure = ac.plot.draw(kind, run)
    axes = figure.axes[0]
    assert "[" in axes.get_xlabel()
    assert axes.get_ylabel()
    assert axes.lines
    for name in ("x.svg", "x.png"):
        ac.plot.save(figure, tmp_path / name, command="ackclock plot")
    text = (tmp_path / "x.svg").read_text()
    assert run.summary["scenario_hash"] in text
    assert "ackclock plot" in text
    assert run.summary["scenario_hash"].encode() in (tmp_path / "x.png").read_bytes()


def test_the_same_figure_is_written_as_the_same_bytes(run, tmp_path):
    for name in ("a.svg", "b.svg"):
        ac.plot.save(ac.plot.cwnd(run, flows=[0]), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_unknown_figures_flows_and_formats_are_told(run, tmp_path):
    with pytest.raises(ac.UnsupportedError, match='did you mean "cwnd"'):
        ac.plot.draw("cwmd", run)
    with pytest.raises(ac.UnsupportedError, match="no entry 7"):
        ac.plot.cwnd(run, flows=[7])
    with pytest.raises(ac.UnsupportedError, match="svg"):
        ac.plot.save(ac.plot.cwnd(run), tmp_path / "x.bmp")
    with pytest.raises(ac.UnsupportedError, match="lat and lon"):
        ac.plot.network_map(run)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_reads_the_capture_as_tcp_with_sack(run, tmp_path):
    file = run.to_pcapng(tmp_path / "x.pcapng")
    command = ["tshark", "-r", str(file), "-o", "ip.check_checksum:TRUE", "-T", "fields"]
    for field in ("tcp.seq_raw", "tcp.options.sack_le", "ip.checksum.status", "_ws.malformed"):
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    departed = sum(event == "departure" for event in run.packets.column("event").to_pylist())
    assert 100 < len(rows) <= departed
    assert all(row[0] for row in rows)
    assert any(row[1] for row in rows)
    assert {row[2] for row in rows} == {"1"}
    assert not any(row[3] for row in rows)


def test_a_capture_needs_packets_and_a_known_link(small, run, tmp_path):
    with pytest.raises(ac.UnsupportedError, match=r"did you mean|expected"):
        run.to_pcapng(tmp_path / "x", link="nowhere")
    with pytest.raises(ac.UnsupportedError, match="packets"):
        small.run(record=[]).to_pcapng(tmp_path / "x")


@pytest.mark.slow
def test_the_demonstration_page_is_whole_and_needs_no_network(tmp_path, capsys):
    assert demo.main(["--quick", "--out", str(tmp_path)]) == 0
    assert "Jain" in capsys.readouterr().out
    page = (tmp_path / "index.html").read_text()
    assert page.count("<svg") == 3
    assert not re.findall(r'(?:src|href)="https?:', page)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    for name in ("fifo.toml", "results.csv", "map.png", "goodput.svg"):
        assert (tmp_path / name).is_file()
