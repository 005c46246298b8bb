"""Figures, captures and the demonstration page, from real runs."""

import re
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

import ackclock as ac
from ackclock.cli.main import main
from ackclock.plot.capacity import mean_capacity
from ackclock.studies import geant_demo

KINDS = ("cwnd", "throughput", "queue", "queue-delay", "rtt", "delay", "fairness")


@pytest.mark.slow
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


COMERS = """
duration = "12 s"
net = { kind = "dumbbell", pairs = 2, rate = "5 Mbps", rtt = "40 ms", buffer = "20 pkt" }
flows = [
  { id = "early", pair = 0, cc = "cubic", start = 1, stop = 10 },
  { id = "short", pair = 1, cc = "cubic", start = 4, size = "800 kB" },
]
record = { tables = ["flow_samples"], interval = "100 ms" }
"""


def test_fairness_is_of_the_flows_that_have_begun_and_are_not_done():
    run = ac.load(COMERS).run()
    end = 4 + run.summary["flows"][1]["completed_after_s"]
    assert 5 < end < 9
    axes = ac.plot.fairness(run).axes[0]
    time, index = axes.lines[0].get_data()
    floor = axes.lines[1].get_ydata()
    nobody = (time < 1) | (time > 10.2)
    assert np.isnan(index[nobody]).all()
    assert np.isnan(floor[nobody]).all()
    alone = ((time > 1.2) & (time < 4)) | ((time > end + 0.1) & (time < 10))
    assert (index[alone] == 1).all()
    assert (floor[alone] == 1).all()
    both = (time > 4.1) & (time < end - 0.1)
    assert (floor[both] == 0.5).all()
    assert 0.5 <= index[both].min() < 0.99
    assert "active all through an interval, n = 0 to 2 of 2;" in axes.texts[0].get_text()
    assert "one of 2 flows has all" not in " ".join(text.get_text() for text in axes.texts)


def test_fairness_without_a_flow_that_lasts_an_interval_is_reported():
    text = COMERS.replace('"100 ms"', '"10 s"')
    with pytest.raises(ac.UnsupportedError, match="no flow lasts a whole interval"):
        ac.plot.fairness(ac.load(text).run())


HOLES = """
duration = "8 s"
net = { kind = "dumbbell", pairs = 1, rate = "20 Mbps", rtt = "40 ms", buffer = "30 pkt" }
flows = [{ pair = 0, cc = "aimd", recovery = "newreno" }]
record = { tables = ["flow_samples"], interval = "100 ms" }
"""


def test_rates_are_of_what_arrives_and_never_above_the_narrowest_link():
    run = ac.load(HOLES).run()
    rows = run.flow_samples.to_pydict()
    delivered, received, time = (
        np.diff(np.array(rows[name], dtype=float))
        for name in ("delivered_bytes", "received_bytes", "time_s")
    )
    # What waits for a lost packet is delivered at once with it, faster than any link.
    assert max(8 * delivered / time) > 25e6
    packet = 8 * 1500 / time.min()
    assert max(8 * received / time) < 20e6 + packet
    assert rows["received_bytes"][-1] >= rows["delivered_bytes"][-1]
    axes = ac.plot.throughput(run).axes[0]
    assert 15 < max(axes.lines[0].get_ydata()) <= 20
    assert axes.get_ylim()[1] > 20
    assert set(axes.lines[1].get_ydata()) == {20}
    assert axes.texts[0].get_text() == "dotted: narrowest link, 20 Mbit/s"
    assert axes.get_ylabel() == "payload that arrived [Mbit/s]"


def test_goodput_far_below_or_below_the_narrowest_link_has_its_own_axis():
    source = 'source = { kind = "cbr", rate = "%s", packet = "1000 B" }'
    runs = {
        rate: ac.load(HOLES.replace('cc = "aimd", recovery = "newreno"', source % rate)).run()
        for rate in ("1 Mbps", "15 Mbps")
    }
    low, high = (ac.plot.throughput(run).axes[0] for run in runs.values())
    assert low.get_ylim()[1] < 2
    assert [text for text in low.texts if not text.get_gid()] == []  # names of lines have one
    assert high.get_ylim()[1] > 20
    assert high.texts[0].get_text() == "dotted: narrowest link, 20 Mbit/s"


def test_the_capacity_of_a_link_whose_rate_changes_is_drawn_and_bounds_the_rates():
    steps = 'buffer = "30 pkt", schedule = { steps = [{ at = 5, rate = "10 Mbps" }] }'
    axes = ac.plot.throughput(ac.load(HOLES.replace('buffer = "30 pkt"', steps)).run()).axes[0]
    dotted = next(one for one in axes.lines if one.get_linestyle() == ":")
    drawn = dotted.get_ydata()
    assert drawn[0] == pytest.approx(20)
    assert drawn[-1] == pytest.approx(10)
    assert all(axes.lines[0].get_ydata() <= drawn)
    assert axes.texts[0].get_text() == "dotted: capacity of the link whose rate changes"


def test_the_capacities_of_several_links_whose_rates_change_are_drawn():
    steps = [{"steps": [{"at": 1, "rate": rate}]} for rate in ("2 Mbps", "4 Mbps")]
    links = [
        {"a": a, "b": b, "rate": "8 Mbps", "delay": "5 ms", "schedule": schedule}
        for a, b, schedule in (("x", "y", steps[0]), ("y", "z", steps[1]))
    ]
    case = ac.Scenario({"kind": "graph", "links": links}, [ac.Flow(src="x", dst="z")], 4)
    axes = ac.plot.throughput(case.run(record=["flow_samples"])).axes[0]
    last = [one.get_ydata()[-1] for one in axes.lines[1:]]
    assert last == pytest.approx([2, 4])
    assert len({one.get_linestyle() for one in axes.lines[1:]}) == 2
    assert axes.texts[0].get_text() == "grey: capacities of the 2 links whose rate changes"


def test_the_mean_capacity_of_a_schedule_is_what_can_leave_between_two_times():
    times = np.array([0.0, 0.010, 0.015, 0.030])
    # 2 packets of 12,000 bits by 10 ms, the third at 15 ms; the trace repeats every 15 ms.
    trace = {"mahimahi": [4, 8, 15]}
    assert mean_capacity(0.0, trace, times) == pytest.approx([2.4e6, 2.4e6, 2.4e6])
    steps = {"steps": [{"at": "10 ms", "rate": "1 Mbps"}, {"at": 0.020, "rate": "4 Mbps"}]}
    assert mean_capacity(2e6, steps, times) == pytest.approx([2e6, 1e6, 3e6])


def test_a_legend_names_the_ends_of_flows_that_have_no_id_of_their_own():
    net = {"kind": "dumbbell", "pairs": 2, "rate": "10 Mbps", "rtt": "20 ms"}
    flows = [{"pair": 0}, {"pair": 1}, {"pair": 1}, {"pair": 1, "id": "mine"}]
    case = ac.Scenario.from_data({"net": net, "flows": flows, "duration": 1})
    axes = ac.plot.cwnd(case.run(record=["windows"])).axes[0]
    names = [text.get_text() for text in axes.texts]
    assert sorted(name.partition(" (")[0] for name in names) == [
        "mine",
        "s0 -> d0",
        "s1 -> d1 [1]",
        "s1 -> d1 [2]",
    ]


def test_a_figure_of_some_queues_says_of_how_many_links(run):
    axes = ac.plot.queue(run).axes[0]
    note = f"{len(axes.lines)} of {len(run.summary['links'])} links (each direction is one)"
    assert len(axes.lines) < len(run.summary["links"])
    assert axes.texts[0].get_text().startswith(note)
    name = run.summary["links"][0]["id"]
    assert [text.get_text() for text in ac.plot.queue(run, links=[0]).axes[0].texts] == [name]


def test_unknown_figures_flows_and_formats_are_reported(run, tmp_path):
    with pytest.raises(ac.UnsupportedError, match='did you mean "cwnd"'):
        ac.plot.draw("cwmd", run)
    with pytest.raises(ac.UnsupportedError, match="no entry 7"):
        ac.plot.cwnd(run, flows=[7])
    with pytest.raises(ac.UnsupportedError, match="svg"):
        ac.plot.save(ac.plot.cwnd(run), tmp_path / "x.bmp")
    with pytest.raises(ac.UnsupportedError, match="lat and lon"):
        ac.plot.network_map(run)


LOSSY = """
duration = "3 s"
net = { kind = "dumbbell", pairs = 1, rate = "5 Mbps", rtt = "40 ms", buffer = "20 pkt" }
flows = [{ pair = 0, cc = "aimd", recovery = "sack", size = "800 kB" }]
record = { tables = ["packets"] }
"""


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_reads_the_capture_as_tcp_with_sack(tmp_path):
    run = ac.load(LOSSY).run()
    assert run.summary["flows"][0]["lost_data_packets"] > 0
    file = run.to_pcapng(tmp_path / "x.pcapng")
    fields = (
        "tcp.stream", "tcp.flags.syn", "tcp.len", "tcp.seq_raw", "tcp.options.sack_le",
        "ip.checksum.status", "tcp.checksum.status", "_ws.malformed", "ip.src",
    )  # fmt: skip
    command = ["tshark", "-r", str(file), "-T", "fields"]
    for option in ("ip.check_checksum:TRUE", "tcp.check_checksum:TRUE"):
        command += ["-o", option]
    for field in fields:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [dict(zip(fields, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]
    assert len(rows) > 100
    assert {row["tcp.stream"] for row in rows} == {"0"}
    # The handshake, then data in full segments: the SYN is byte 0, data begins at 1.
    assert [row["tcp.flags.syn"] in ("1", "True") for row in rows[:3]] == [True, True, False]
    data = [row for row in rows if row["ip.src"] == rows[0]["ip.src"]][1:]
    assert data[0]["tcp.seq_raw"] == "1"
    assert {row["tcp.len"] for row in data[:-1]} <= {"1460", "0", str(800_000 % 1460)}
    starts = [int(row["tcp.seq_raw"]) for row in data if row["tcp.len"] == "1460"]
    assert all((start - 1) % 1460 == 0 for start in starts)
    assert len(starts) > len(set(starts))  # retransmissions
    assert any(row["tcp.options.sack_le"] for row in rows)
    assert {row["ip.checksum.status"] for row in rows} == {"1"}
    assert not any(row["_ws.malformed"] for row in rows)


def test_a_capture_needs_packets_and_a_known_link(small, run, tmp_path):
    with pytest.raises(ac.UnsupportedError, match=r"did you mean|expected"):
        run.to_pcapng(tmp_path / "x", link="nowhere")
    with pytest.raises(ac.UnsupportedError, match="packets"):
        small.run(record=[]).to_pcapng(tmp_path / "x")


LINE = """
duration = "20 s"
warmup = "5 s"
flows = [{ src = "A", dst = "C" }, { src = "B", dst = "C" }, { src = "A", dst = "B" }]
[net]
kind = "graph"
links = [
  { a = "A", b = "B", rate = "8 Mbps", delay = "1 ms", buffer = "50 pkt", qdisc = "fq" },
  { a = "B", b = "C", rate = "2 Mbps", delay = "1 ms", buffer = "50 pkt", qdisc = "fq" },
]
"""


def test_the_demonstration_measures_flows_of_different_routes_by_their_max_min_shares():
    run = ac.load(LINE).run()
    assert geant_demo.max_min(run).tolist() == [1e6, 1e6, 7e6]
    values = geant_demo.measure_run(run)
    assert values["jain_of_shares"] == pytest.approx(81 / (3 * 51))
    assert values["jain"] == pytest.approx(81 / (3 * 51), abs=0.02)
    assert values["fair"] > 0.999


def test_a_curve_of_the_demonstration_shows_where_another_lies_on_it():
    """Four queues with the same goodputs: of two neighbours, the lower line is the wider one."""
    summary = {
        "flows": [{"goodput_bps": 1e6}, {"goodput_bps": 3e6}],
        "scenario_hash": "a" * 64,
        "version": "0",
    }
    runs = {qdisc: [SimpleNamespace(summary=summary)] for qdisc in geant_demo.QDISCS}
    figure = geant_demo._goodputs(geant_demo.DemoResults(geant_demo.Size(reps=1), "", runs))
    lines = figure.axes[0].lines
    assert [line.get_label() for line in lines] == list(geant_demo.QDISCS)
    for under, over in (lines[:2], lines[2:]):
        assert under.get_linewidth() > 2 * over.get_linewidth()
        assert under.get_zorder() < over.get_zorder()


def test_a_figure_of_several_scenarios_names_each(run):
    import matplotlib.figure

    from ackclock.plot.style import recipe

    stamps = {
        "a" * 64: "scenario aaaaaaaaaaaa, seed 1",
        f"fifo {'a' * 64} fq {'b' * 64}": "scenarios fifo aaaaaaaaaaaa fq bbbbbbbbbbbb, seed 1",
    }
    for scenario, stamp in stamps.items():
        figure = matplotlib.figure.Figure()
        recipe(figure, scenario=scenario, seeds="1")
        assert figure.get_supxlabel() == f"ackclock {stamp}"


@pytest.mark.slow
def test_the_demonstration_page_is_whole_and_needs_no_network(tmp_path, capsys):
    assert main(["demo", "--quick", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "Jain's index of goodput / max-min share: " in printed
    assert printed.count("Jain against max-min") == 1
    page = (tmp_path / "index.html").read_text()
    assert page.count("<th>Jain against max-min") == 2
    for name, qdiscs in {
        "comparison": geant_demo.QDISCS,
        "goodput": geant_demo.QDISCS,
        "map": ["fifo"],
    }.items():
        stamp = re.search(r"ackclock \S+, scenarios? [^<]*", (tmp_path / f"{name}.svg").read_text())
        assert stamp and re.findall(r"(\w+) [0-9a-f]{12}\b", stamp[0]) == list(qdiscs)
    assert page.count("<svg") == 3
    assert not re.findall(r'(?:src|href)="https?:', page)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    for name in ("fifo.toml", "results.csv", "map.png", "goodput.svg"):
        assert (tmp_path / name).is_file()
