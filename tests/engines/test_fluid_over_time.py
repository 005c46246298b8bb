"""Finite flows of the fluid engine: documents, traces, closed forms, packets, bad input."""

import json
from pathlib import Path

import numpy as np
import pytest
import tomli_w
from click.testing import CliRunner

import ackclock as ac
from ackclock.cli.main import cli
from ackclock.engines.fluid import FluidCase
from ackclock.engines.registry import case, load_case, open_parcel
from ackclock.errors import ScenarioError

ONE = {"kind": "links", "links": [["a", "b", "10 Mbps"]], "directed": True}
LINE = {"kind": "links", "links": [["a", "r", "20 Mbps"], ["b", "r", "20 Mbps"],
                                   ["r", "s", "10 Mbps"], ["s", "c", "20 Mbps"],
                                   ["s", "d", "4 Mbps"]]}  # fmt: skip

TCP = {"cc": "aimd", "recovery": "sack"}


def one_link(**arrivals):
    given = {"kind": "poisson", "sizes": {"kind": "exponential", "mean": "100 kB"}, **arrivals}
    traffic = {"kind": "listed", "flows": [["a", "b"]]}
    return FluidCase({"net": ONE, "traffic": traffic, "allocation": "max-min", "arrivals": given})


def trace(rows, net=LINE, **more):
    arrivals = {"kind": "trace", "flows": rows, **more.pop("arrivals", {})}
    return FluidCase({"net": net, "allocation": "max-min", "arrivals": arrivals, **more})


def problems_of(question):
    with pytest.raises(ScenarioError) as caught:
        question().check()
    return [str(problem) for problem in caught.value.problems]


def test_the_means_on_one_link_are_those_of_processor_sharing():
    # Kleinrock, "Queueing Systems" II, section 4.4: slowdown 1 / (1 - rho), rho / (1 - rho) flows.
    for sizes in (
        {"kind": "exponential", "mean": "100 kB"},
        {"kind": "bounded-pareto", "least": "20 kB", "most": "20 MB", "shape": 1.4},
    ):
        run = one_link(load=0.6, count=100_000, sizes=sizes).execute()
        totals = run.summary["totals"]
        assert totals["completed"] == 100_000
        assert totals["mean_slowdown"] == pytest.approx(2.5, rel=0.05)
        assert totals["mean_active"] == pytest.approx(1.5, rel=0.07)
        assert totals["taken_up"] == pytest.approx(1.0)


def test_a_trace_by_hand(tmp_path):
    # 10 Mbit of a to c alone from 0 s; from 0.5 s b to d takes 4 of the 10 Mbit/s for 1 s.
    rows = [[0, "a", "c", 10e6], ["500 ms", "b", "d", "500 kB"]]
    run = trace(rows, arrivals={"interval": "500 ms"}).execute()
    flows = run.flows.to_pylist()
    assert [f["completed_at_s"] for f in flows] == pytest.approx([4 / 3, 1.5])
    assert [f["ideal_s"] for f in flows] == pytest.approx([1.0, 1.0])
    assert [f["slowdown"] for f in flows] == pytest.approx([4 / 3, 1.0])
    assert [(f["src"], f["dst"], f["hops"]) for f in flows] == [("a", "c", 3), ("b", "d", 3)]
    series = run.tables["utilisation"].to_pylist()
    middle = [row["utilisation"] for row in series if row["link"] == "r->s"]
    # a to c has 6 Mbit/s for 5/6 s; b to d has 4 Mbit/s alone for the last 1/6 s.
    assert middle == pytest.approx([1.0, 1.0, (10 / 3 + 4 / 6) / 5])
    assert run.tables["active"].to_pydict()["flows"] == pytest.approx(
        [1.0, 2.0, (2 / 3 + 1 / 6) / 0.5]
    )
    carried = {row["id"]: row["carried"] for row in run.links.to_pylist()}
    assert carried["r->s"] == pytest.approx(14e6)
    file = tmp_path / "flows.csv"
    file.write_text("time_s,source,target,size_bits\n0,a,c,10e6\n0.5,b,d,500 kB\n")
    named = FluidCase(
        {"net": LINE, "allocation": "max-min",
         "arrivals": {"kind": "trace", "file": "flows.csv", "interval": "500 ms"}},
        tmp_path / "case.toml",
    )  # fmt: skip
    assert named.execute().flows.equals(run.flows)
    # It travels without its file, as the same question.
    assert "file" not in named.to_document()["arrivals"]
    assert open_parcel(named.parcel()).fingerprint == named.fingerprint


def test_a_case_over_time_is_a_case_of_the_engines():
    question = one_link(load=0.5, count=500)
    assert question.is_random
    again = case(question.to_document())
    assert again == question
    assert again.execute().flows.equals(question.execute().flows)
    assert not again.with_seed(2).execute().flows.equals(question.execute().flows)
    spelt = question.replace(**{"arrivals.drain": True, "arrivals.warmup": None})
    assert spelt.fingerprint == question.fingerprint
    assert question.replace(**{"arrivals.load": 0.6}).fingerprint != question.fingerprint
    assert not trace([[0, "a", "c", 1e6]]).is_random
    assert question.cost().events == 1000


def test_flows_that_had_not_ended_are_reported():
    run = one_link(load=1.5, duration="100 s", drain=False).execute()
    totals = run.summary["totals"]
    assert totals["unfinished"] > 100
    assert totals["completed"] + totals["unfinished"] == totals["flows"]
    assert "had not ended" in run.summary["warnings"][0]
    flows = run.flows
    null = np.isnan(flows["completed_at_s"].to_numpy(zero_copy_only=False).astype(float))
    assert int(null.sum()) == totals["unfinished"]


def test_the_warmup_keeps_flows_out_of_the_means():
    rows = [[0, "a", "c", 10e6], [0, "b", "c", 10e6], [5, "a", "c", 10e6]]
    run = trace(rows, arrivals={"warmup": "1 s"}).execute()
    assert run.summary["totals"]["counted"] == 1
    assert run.summary["totals"]["mean_slowdown"] == pytest.approx(1.0)


def test_pairs_are_drawn_in_proportion_to_their_demands():
    flows = [
        {"src": "a", "dst": "c", "demand": 3e6},
        {"src": "b", "dst": "d", "demand": 1e6},
    ]
    question = FluidCase({
        "net": LINE, "traffic": {"kind": "listed", "flows": flows}, "allocation": "max-min",
        "arrivals": {"kind": "poisson", "load": 0.5, "count": 4000,
                     "sizes": {"kind": "fixed", "mean": "50 kB"}},
    })  # fmt: skip
    transfers = question.transfers()
    assert np.mean(transfers.flow == 0) == pytest.approx(0.75, abs=0.03)
    # The demands bound nothing: alone, a flow has the whole of its way.
    assert question.net().demand is None
    # The most loaded link is r->s, with all flows: 5 Mbit/s in 0.4 Mbit each.
    assert len(transfers.time) / transfers.time[-1] == pytest.approx(12.5, rel=0.05)


def test_fluids_end_when_packets_of_fair_queues_do():
    # Transfers of 1 to 4 MB over fair queues, with round trips of 2 ms. Headers take
    # 3 to 4 % of the links; slow start and the last round trip are a few more in single cases.
    rng = np.random.default_rng(7)
    starts = np.cumsum(rng.exponential(2.0, 12))
    ends = [("a", "c"), ("b", "d"), ("b", "c")]
    rows = [[float(t), *ends[i % 3], 8e6 * float(rng.integers(1, 5))] for i, t in enumerate(starts)]
    fluid = trace(rows).execute().flows.to_pylist()
    links = [
        {"a": a, "b": b, "rate": rate, "delay": "0.3 ms", "qdisc": "fq", "buffer": "100 pkt"}
        for a, b, rate in LINE["links"]
    ]
    scenario = ac.Scenario(
        {"kind": "graph", "links": links},
        [
            {
                "src": a,
                "dst": b,
                "start": t,
                "size": f"{round(size / 8)} B",
                "cc": "aimd",
                "recovery": "sack",
            }
            for t, a, b, size in rows
        ],
        duration=120,
    )
    packets = scenario.run().flows.to_pylist()
    took = np.array([flow["completed_after_s"] for flow in packets])
    ratio = took / [row["sojourn_s"] for row in fluid]
    assert np.all(np.abs(ratio - 1.03) < 0.08)
    assert ratio.mean() == pytest.approx(1.03, abs=0.02)


def test_senders_that_fill_their_links_slow_others_down():
    # Fig. 2 of McCullough et al. over time: b sends 20 to d, which takes 4; a has 5 of r->s where
    # max-min leaves it 6.
    rows = [[0, "a", "c", 6e6], [0, "b", "d", 40e6]]
    fair = trace(rows).execute().flows.to_pylist()
    hose = trace(rows, allocation="senders", sender="naive").execute()
    assert fair[0]["completed_at_s"] == pytest.approx(1.0)
    assert hose.flows.to_pylist()[0]["completed_at_s"] == pytest.approx(1.2)
    assert hose.summary["totals"]["dropped"] > 0
    ratio = {"kind": "limited-ratio", "alpha": 0.1}
    careful = trace(rows, allocation="senders", sender=ratio).execute().flows.to_pylist()
    assert careful[0]["completed_at_s"] == pytest.approx(6 / 5.6, rel=1e-3)


def test_command_line(tmp_path):
    file = tmp_path / "one.toml"
    file.write_text(one_link(load=0.5, count=300).to_toml())
    done = CliRunner().invoke(cli, ["check", str(file)])
    assert (done.exit_code, done.stdout) == (0, f"{file}: OK\n")
    done = CliRunner().invoke(cli, ["run", str(file), "--json", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["totals"]["completed"] == 300
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["flows.parquet", "links.parquet", "summary.json", "totals.parquet"]
    done = CliRunner().invoke(
        cli, ["run", str(file), "--set", "arrivals.load=2", "--set", "sender=nave"]
    )
    assert isinstance(done.exception, ScenarioError)
    assert 'there is no policy "nave"' in str(done.exception)
    sweep = tmp_path / "sweep.toml"
    axes = {"load": {"path": "arrivals.load", "values": [0.2, 0.6]}}
    metrics = ["totals.mean_slowdown"]
    scenario = one_link(load=0.5, count=300).to_document()
    document = {"reps": 3, "scenario": scenario, "over": axes, "metrics": metrics}
    sweep.write_text(tomli_w.dumps(document))
    done = CliRunner().invoke(cli, ["sweep", str(sweep), "--store", str(tmp_path / "store")])
    assert done.exit_code == 0, done.output


EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "fluid").glob("*.toml"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_the_examples_run(file):
    totals = load_case(file).execute().summary["totals"]
    assert totals["goodput"] > 0


def test_bad_input_is_reported_by_name():
    assert problems_of(lambda: one_link(count=5)) == ["arrivals: needs one of rate and load"]
    assert problems_of(lambda: one_link(rate=1.0)) == [
        "arrivals: needs duration or count; else arrivals never end"
    ]
    found = problems_of(lambda: one_link(load=0.5, count=5, sizes={"kind": "paretto"}))
    assert "did you mean" in found[0]
    found = problems_of(
        lambda: one_link(load=0.5, count=5, sizes={"kind": "fixed", "mean": "5 km"})
    )
    assert found[0].startswith("arrivals.sizes.mean: ")
    bounds = {"kind": "bounded-pareto", "least": 10, "most": 5, "shape": 1.0}
    found = problems_of(lambda: one_link(load=0.5, count=5, sizes=bounds))
    assert found == ["arrivals.sizes.most: is 5, expected a number above least, 10"]
    found = problems_of(lambda: trace([[1, "a", "c", 5], [0.5, "a", "c", 5], [2, "a", "x", 5]]))
    assert "expected times in order" in found[0]
    found = problems_of(lambda: trace([[0, "a", "x", 5], [1, "b", "b", 5]]))
    assert found[0].startswith('arrivals: arrivals.flows[0]: there is no node "x"')
    assert "sends to itself" in found[1]
    found = problems_of(lambda: trace([[0, "a", "c", 5]], traffic={"kind": "listed", "flows": []}))
    assert "expected no table traffic" in found[0]
    assert problems_of(lambda: FluidCase({"net": ONE})) == ['"traffic" is missing (The flows)']
    found = problems_of(lambda: trace([[0, "a", "c", 5]], allocation="alpha-fair"))
    assert "flows that last" in found[0]


def test_a_percentile_of_few_flows_carries_their_count():
    few, many = (str(one_link(load=0.5, count=count).execute()) for count in (200, 1500))
    assert "(of 200 flows: too low on average)" in few
    assert "too low" not in many
