"""Figures of sweeps, of several runs, and of a flow's segments: what they show is what was run."""

import numpy as np
import pytest

import ackclock as ac
from ackclock.cli.main import main
from ackclock.plot import registry
from ackclock.plot.metric_words import describe_metric
from ackclock.plot.sweeps import frontier
from conftest import SMALL

METRICS = ["mean(flows.goodput_bps)", "max(links.delay_mean_s)"]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("figures") / "store"


@pytest.fixture(scope="module")
def result(store):
    case = ac.load(SMALL).replace(duration="3 s", warmup="1 s", record=None)
    over = {"net.buffer": ["5 pkt", "20 pkt", "10 pkt"], "flows[1].cc": ["vegas", "aimd"]}
    # Starts at random, so that replicates differ.
    case = case.replace(**{"flows[1].start": "0.1 s", "net.qdisc": {"kind": "red"}})
    return ac.sweep(case, over, reps=3, metrics=METRICS).run(store=store, progress=False)


@pytest.mark.slow
@pytest.mark.parametrize("kind", registry.names("sweep"))
def test_a_figure_of_a_sweep_has_its_recipe(result, kind, tmp_path):
    figure = result.plot(kind)
    axes = figure.axes[0]
    assert axes.get_title(loc="left")
    ac.plot.save(figure, str(tmp_path / "x.svg"), command="test")
    text = (tmp_path / "x.svg").read_text()
    assert result.recipe["scenario"].split()[1] in text
    ac.plot.save(result.plot(kind), tmp_path / "y.svg", command="test")
    assert (tmp_path / "y.svg").read_bytes() == (tmp_path / "x.svg").read_bytes()


def test_lines_are_the_means_and_the_band_is_the_interval(result):
    axes = result.plot("lines", metric=METRICS[0], x="net.buffer", by="flows[1].cc").axes[0]
    assert axes.get_xlabel() == "net.buffer [pkt]"
    rows = result.summary(METRICS[0]).to_pylist()
    for curve, band in zip(axes.get_lines(), axes.collections, strict=True):
        label = curve.get_label()
        mine = {row["net.buffer"]: row for row in rows if row["flows[1].cc"] == label}
        # In the order of the numbers, not of the sweep.
        assert curve.get_xdata().tolist() == [5.0, 10.0, 20.0]
        names = ("5 pkt", "10 pkt", "20 pkt")
        assert curve.get_ydata().tolist() == [mine[name]["mean"] for name in names]
        edge = band.get_paths()[0].vertices
        for at, name in zip((5.0, 10.0, 20.0), names, strict=True):
            there = edge[edge[:, 0] == at][:, 1]
            # RED drops nothing at random in 5 packets: all seeds give one run, without an interval.
            row = mine[name]
            assert (row["ci_low"] is None) == (row["runs"] == 1)
            has = row["runs"] > 1
            assert there.min() == pytest.approx(row["ci_low"] if has else row["mean"])
            assert there.max() == pytest.approx(row["ci_high"] if has else row["mean"])


def test_a_heat_map_has_each_mean_in_its_cell(result):
    axes = result.plot("heatmap", metric=METRICS[1]).axes[0]
    cells = axes.images[0].get_array()
    columns = [tick.get_text() for tick in axes.get_xticklabels()]
    rows = [tick.get_text() for tick in axes.get_yticklabels()]
    assert columns == ["5 pkt", "20 pkt", "10 pkt"]
    for row in result.summary(METRICS[1]).to_pylist():
        place = rows.index(row["flows[1].cc"]), columns.index(row["net.buffer"])
        assert cells[place] == row["mean"]


def test_ranked_differences_are_those_of_the_comparison(result):
    axes = result.plot("ranked", metric=METRICS[1], between="net.buffer").axes[0]
    found = result.compare(METRICS[1], "net.buffer", [])
    names = [tick.get_text().split(":")[0] for tick in axes.get_yticklabels()]
    means = {p.one: p.mean_one for p in found.pairs} | {p.other: p.mean_other for p in found.pairs}
    assert names == sorted(means, key=lambda name: -means[name])
    marks = [curve for curve in axes.get_lines() if curve.get_marker() == "o"]
    assert len(marks) == 2
    for mark in marks:
        place = int(mark.get_ydata()[0])
        expected = means[names[place]] - means[names[0]]
        assert mark.get_xdata()[0] == pytest.approx(expected)
        pair = next(p for p in found.pairs if {p.one, p.other} == {names[0], names[place]})
        hollow = mark.get_markerfacecolor() == "white"
        assert hollow != pair.clear


def test_a_distribution_is_over_all_runs(result):
    axes = result.plot("ecdf", metric=METRICS[0], by="net.buffer").axes[0]
    values = {}
    for row in result.values(METRICS[0]).to_pylist():
        values.setdefault(row["net.buffer"], []).append(row["value"])
    for curve in axes.get_lines():
        drawn = sorted(x for x in curve.get_xdata() if np.isfinite(x))
        assert set(drawn) == set(values[curve.get_label()])
    assert {len(found) for found in values.values()} == {6}


def test_the_frontier_leaves_out_what_another_point_dominates():
    points = [(1.0, 5.0), (2.0, 4.0), (3.0, 9.0), (3.0, 7.0), (0.5, 1.0), (4.0, 9.0)]
    assert frontier(points) == [(0.5, 1.0), (1.0, 5.0), (3.0, 9.0)]


def test_a_pareto_figure_has_a_point_for_each_point_of_the_sweep(result):
    axes = result.plot("pareto").axes[0]
    rows = {
        metric: [row["mean"] for row in result.summary(metric).to_pylist()] for metric in METRICS
    }
    points = [(bar.lines[0].get_xdata()[0], bar.lines[0].get_ydata()[0]) for bar in axes.containers]
    assert points == list(zip(rows[METRICS[1]], rows[METRICS[0]], strict=True))


@pytest.mark.parametrize(
    ("kind", "options", "reported"),
    [
        ("lines", {"x": "net.bufer"}, 'did you mean "net.buffer"'),
        ("lines", {"between": "net.buffer"}, "has no option between; it has metric, x, by"),
        ("line", {}, 'did you mean "lines"'),
        ("cwnd", {}, 'the figure "cwnd" is of a run; of a sweep: lines'),
    ],
)
def test_what_cannot_be_drawn_of_a_sweep_is_refused(result, kind, options, reported):
    with pytest.raises(ac.UnsupportedError) as caught:
        result.plot(kind, **options)
    assert reported in str(caught.value)


def test_a_heat_map_needs_two_axes(store):
    case = ac.load(SMALL).replace(duration="2 s", warmup="1 s", record=None)
    single = ac.sweep(case, {"net.buffer": ["5 pkt"]}, metrics=METRICS).run(
        store=store.parent / "other", progress=False
    )
    with pytest.raises(ac.UnsupportedError, match="the figure needs 2 axes; the sweep has 1"):
        single.plot("heatmap")


def test_a_store_draws_the_figures_of_its_sweep(result, store, tmp_path, capsys):
    files = [tmp_path / name for name in ("a.svg", "b.svg")]
    options = ["--metric", METRICS[0], "--x", "net.buffer"]
    assert main(["plot", str(store), "--kind", "lines", "--out", str(files[0]), *options]) == 0
    capsys.readouterr()
    from ackclock.experiments.store import Store
    from ackclock.experiments.stored import stored_result

    again = stored_result(Store(store))
    rows = [result.summary(METRICS[0]), again.summary(METRICS[0])]
    by_place = [
        {(row["net.buffer"], row["flows[1].cc"]): row for row in table.to_pylist()}
        for table in rows
    ]
    assert by_place[0] == by_place[1]
    assert again.recipe["scenario"] == result.recipe["scenario"]
    assert [row["net.buffer"] for row in rows[1].to_pylist()][::2] == ["5 pkt", "10 pkt", "20 pkt"]
    wrong = ["plot", str(store), "--kind", "lines", "--out", str(files[1]), "--sweep", "smal"]
    assert main(wrong) == 2
    assert 'did you mean "small"' in capsys.readouterr().err
    assert not files[1].exists()


@pytest.mark.slow
def test_two_runs_are_drawn_over_each_other(tmp_path, capsys):
    case = ac.load(SMALL).replace(duration="4 s", warmup="1 s")
    folders = []
    for name, buffer in (("short", "5 pkt"), ("long", "20 pkt")):
        folders.append(str(case.replace(**{"net.buffer": buffer}).run().save(tmp_path / name)))
    out = tmp_path / "both.svg"
    assert main(["plot", *folders, "--kind", "cwnd", "--out", str(out)]) == 0
    text = out.read_text()
    runs = {name: ac.load_run(tmp_path / name) for name in ("short", "long")}
    for name, run in runs.items():
        assert f"{name} {run.summary['scenario_hash']}" in text
    axes = ac.plot.overlay("cwnd", runs).axes[0]
    curves = {curve.get_label(): curve for curve in axes.get_lines()}
    assert len(curves) == 4
    alone = ac.plot.cwnd(runs["long"]).axes[0].get_lines()
    for curve in alone:
        other = curves[f"long: {curve.get_label()}"]
        assert np.array_equal(other.get_xydata(), curve.get_xydata())
        assert other.get_drawstyle() == curve.get_drawstyle()
    # One colour a flow, one dash a run.
    looks = {label: (curve.get_color(), curve.get_linestyle()) for label, curve in curves.items()}
    assert len(set(looks.values())) == 4
    first = alone[0].get_label()
    assert looks[f"long: {first}"][0] == looks[f"short: {first}"][0]
    with pytest.raises(ac.UnsupportedError, match="cannot be overlaid"):
        ac.plot.overlay("map", runs)
    capsys.readouterr()
    refused = ["plot", *folders, "--kind", "cwnd", "--out", str(out), "--by", "x"]
    assert main(refused) == 2
    assert "--by: only for figures of a store" in capsys.readouterr().err


def test_a_time_sequence_has_every_transmission_drop_and_acknowledgement(run):
    axes = ac.plot.sequence(run, flows=[0]).axes[0]
    flow = run.summary["flows"][0]
    counts = {
        curve.get_label().rpartition(": ")[2]: len(curve.get_xdata()) for curve in axes.get_lines()
    }
    assert counts["sent"] + counts["sent again"] == flow["sent_packets"]
    assert counts["sent again"] == flow["retransmits"] > 0
    assert counts["dropped"] == flow["lost_data_packets"] > 0
    (acknowledged,) = (c for c in axes.get_lines() if c.get_label().endswith("acknowledged"))
    numbers = acknowledged.get_ydata()
    assert np.all(np.diff(numbers) >= 0)
    assert numbers[-1] <= flow["sent_packets"] - flow["retransmits"]


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("flows[mine].goodput_bps", "goodput of mine"),
        ("mean(flows[cc=cubic].goodput_bps)", "mean goodput of cc cubic"),
        ("max(links.delay_mean_s)", "largest mean queueing delay of links"),
        ("flows[f0].queueing_p95_s", "95th percentile of queueing of f0"),
        ("links[r0->r1].utilisation", "utilisation of r0->r1"),
        ("jain(flows.goodput_bps)", "Jain's index of goodput of flows"),
        ("totals.events", "events"),
        ("nothing like it", "nothing like it"),
    ],
)
def test_axes_have_metrics_in_words(metric, words):
    assert describe_metric(metric) == words
