"""The demonstration: its scenarios, and its figures and page from a few runs written by hand."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest

from ackclock.studies import geant_demo
from ackclock.studies.geant_demo import METRICS, QDISCS, DemoResults, Size

NET = {
    "kind": "graph",
    "nodes": [{"id": name, "lat": float(i), "lon": 2.0 * i} for i, name in enumerate("abcd")],
    "links": [
        {"a": "a", "b": "b", "rate": 4_000_000, "delay": 0.001, "buffer": "100 pkt"},
        {"a": "c", "b": "d", "rate": 8_000_000, "delay": 0.001, "buffer": "100 pkt"},
    ],
}  # fmt: skip


def scenario(qdisc="fifo", seed=1, **more):
    return geant_demo.scenario(NET, qdisc, seed, Size(**{"flows": 6, "reps": 2, **more}))


def test_flows_of_a_seed_are_the_same_under_every_discipline_and_within_a_part():
    fifo, other = scenario().data, scenario("codel").data
    assert fifo["flows"] == other["flows"]
    assert scenario(seed=2).data["flows"] != fifo["flows"]
    assert len(fifo["flows"]) == 6
    for flow in fifo["flows"]:
        assert {flow["src"], flow["dst"]} in ({"a", "b"}, {"c", "d"})
        # They begin in the first half of the warm-up.
        assert 0 <= flow["start"] <= 5
        assert (flow["cc"], flow["recovery"]) == ("cubic", "sack")
    assert {link["qdisc"] for link in other["net"]["links"]} == {"codel"}
    assert (fifo["duration"], fifo["warmup"], fifo["seed"], fifo["routing"]) == (60, 10, 1, "delay")
    assert other["name"] == "GEANT 2009, 6 flows, codel"
    short = scenario(duration_s=4.0, warmup_s=1.0).data
    assert (short["duration"], short["warmup"]) == (4, 1)
    assert max(flow["start"] for flow in short["flows"]) <= 0.5
    assert NET["links"][0].get("qdisc") is None


def test_links_of_the_collection_have_4_mbit_s_for_each_link_at_their_smaller_end(monkeypatch):
    monkeypatch.delenv("ACKCLOCK_DATA", raising=False)
    net, rule = geant_demo.network()
    ends = [end for link in net["links"] for end in (link["a"], link["b"])]
    for link in net["links"]:
        least = min(ends.count(link["a"]), ends.count(link["b"]))
        assert link["rate"] == 4_000_000 * least
        assert (link["buffer"], link["qdisc"]) == ("100 pkt", "fifo")
    assert "4 Mbit/s times the smaller number of links" in rule


def run(qdisc, seed, goodputs, used):
    flows = [{"goodput_bps": value} for value in goodputs]
    summary = {
        "scenario_hash": f"{qdisc}{seed}" + "0" * 8, "seed": seed, "version": "1", "flows": flows,
        "era": "rfc",
        "engine": "packet",
        "duration_s": 60.0, "digest": "d", "totals": {"packet_hops": 1000 * seed},
        "links": [{"id": name, "utilisation": value} for name, value in used.items()],
    }  # fmt: skip
    return SimpleNamespace(summary=summary, scenario=scenario(qdisc, seed))


@pytest.fixture
def results():
    """Two seeds: each discipline has 1 more than the one before, the second seed 0.5 more."""
    runs = {
        qdisc: [
            run(qdisc, 1, [1e6, 2e6], {"a->b": 0.25, "b->a": 0.5, "c->d": 0.5, "d->c": 0.0}),
            run(qdisc, 2, [3e6, 4e6], {"a->b": 0.75, "b->a": 0.0, "c->d": 0.5, "d->c": 0.0}),
        ]
        for qdisc in QDISCS
    }
    found = DemoResults(Size(flows=6, reps=2), "the rule", runs)
    found.__dict__["values"] = {
        qdisc: [
            {**{metric.key: (i + 1 + 0.5 * seed) / metric.factor for metric in METRICS},
             "jain_of_shares": 0.8}
            for seed in range(2)
        ]
        for i, qdisc in enumerate(QDISCS)
    }  # fmt: skip
    return found


def test_a_comparison_has_a_panel_for_each_metric_with_means_and_intervals(results):
    axes = geant_demo._comparison(results).axes
    assert [ax.get_title(loc="left") for ax in axes] == [metric.title for metric in METRICS]
    assert [ax.get_ylabel() for ax in axes] == [
        f"[{metric.unit}]" if metric.unit else "" for metric in METRICS
    ]
    first = axes[0]
    assert [label.get_text() for label in first.get_xticklabels()] == list(QDISCS)
    means = [container.lines[0].get_ydata()[0] for container in first.containers]
    assert means == pytest.approx([i + 1.25 for i in range(len(QDISCS))])
    # Of two values half apart: t of one degree, 12.706, times a deviation of a half over the root.
    half = 12.7062 * np.std([0.0, 0.5], ddof=1) / 2**0.5
    for container, mean in zip(first.containers, means, strict=True):
        (bar,) = container.lines[2]
        low, high = bar.get_segments()[0][:, 1]
        assert (low, high) == pytest.approx((mean - half, mean + half), rel=1e-4)
    assert first.get_ylim() == pytest.approx((0, 1.1 * (means[-1] + half)), rel=1e-4)
    assert first.get_xlim() == (-0.5, len(QDISCS) - 0.5)


def test_goodputs_of_all_flows_and_seeds_are_a_curve_for_each_discipline(results):
    (axes,) = geant_demo._goodputs(results).axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == list(QDISCS)
    # Steps at 1, 2, 3 and 4 Mbit/s.
    assert sorted(set(axes.get_lines()[0].get_xdata())) == [1, 2, 3, 4]
    assert axes.get_xlim() == (1, 4)
    assert axes.get_ylim() == (0, 1)
    assert axes.get_xscale() == "log"


def test_the_map_is_of_means_over_seeds_under_fifo(results, monkeypatch):
    drawn = {}

    def network_map(of, used):
        from ackclock.plot.style import figure

        drawn.update(used)
        assert of is results.runs["fifo"][0]
        return figure(None)

    monkeypatch.setattr("ackclock.plot.network_map", network_map)
    geant_demo._map(results)
    assert drawn == {"a->b": 0.5, "b->a": 0.25, "c->d": 0.5, "d->c": 0.0}


def test_the_demonstration_is_written_with_its_numbers_scenarios_and_page(results, tmp_path):
    out = tmp_path / "demo"
    file = geant_demo.write(results, out, "ackclock demo")
    names = {path.name for path in out.iterdir()}
    assert names == {
        "index.html", "results.csv", *(f"{qdisc}.toml" for qdisc in QDISCS),
        *(f"{name}.{kind}" for name in ("comparison", "goodput", "map") for kind in ("svg", "png")),
    }  # fmt: skip
    with (out / "results.csv").open() as opened:
        head, *rows = csv.reader(opened)
    assert head == ["qdisc", "seed", *(metric.key for metric in METRICS)]
    assert [row[:2] for row in rows[:3]] == [["fifo", "1"], ["fifo", "2"], [QDISCS[1], "1"]]
    assert float(rows[1][2]) * METRICS[0].factor == pytest.approx(1.5)
    page = file.read_text(encoding="utf-8")
    assert page.count("<svg") == 3
    assert "the rule" in page
    assert "ackclock demo" in page
    assert results.answer().split(",")[0] in page
    assert "fifo1" in page
    assert f'qdisc = "{QDISCS[1]}"' in (out / f"{QDISCS[1]}.toml").read_text()


def test_the_demonstration_prints_its_table_and_where_the_page_is(results, monkeypatch, tmp_path):
    sizes = []
    monkeypatch.setattr(geant_demo, "simulate", lambda size: sizes.append(size) or results)
    commands = []
    monkeypatch.setattr(
        geant_demo, "write", lambda found, out, command: commands.append(command) or out / "p"
    )
    text = geant_demo.demonstrate(tmp_path, quick=True)
    geant_demo.demonstrate(tmp_path)
    assert (sizes[0].reps, sizes[0].duration_s, sizes[0].warmup_s) == (2, 4.0, 1.0)
    assert sizes[1] == Size() == Size(120, 6, 60.0, 10.0)
    assert commands == ["ackclock demo --quick", "ackclock demo"]
    head, table, answer, page = text.strip().split("\n\n")
    assert head.startswith("GEANT 2009, 120 CUBIC flows, 2 replications; mean")
    assert [line.split()[0] for line in table.splitlines()[1:]] == list(QDISCS)
    assert answer == results.answer()
    assert page.startswith(f"page: {tmp_path / 'p'}")


def test_all_disciplines_and_seeds_are_run_and_kept_apart(monkeypatch):
    made = []

    def run_all(scenarios, *, progress, on_finish):
        made.extend(scenarios)
        progress(0.5)
        return {i: f"run {i}" for i in range(len(scenarios))}

    monkeypatch.setattr(geant_demo, "network", lambda: (NET, "rule"))
    monkeypatch.setattr("ackclock.experiments.replication.run_all", run_all)
    found = geant_demo.simulate(Size(flows=2, reps=2))
    many = len(QDISCS)
    assert [one.data["seed"] for one in made] == [1] * many + [2] * many
    assert [one.data["net"]["links"][0]["qdisc"] for one in made] == [*QDISCS, *QDISCS]
    assert found.runs == {qdisc: [f"run {i}", f"run {i + many}"] for i, qdisc in enumerate(QDISCS)}
    assert found.rule == "rule"
    monkeypatch.setattr(
        "ackclock.experiments.replication.run_all", lambda scenarios, **_: {0: "run"}
    )
    with pytest.raises(KeyboardInterrupt):
        geant_demo.simulate(Size(flows=2, reps=2))
