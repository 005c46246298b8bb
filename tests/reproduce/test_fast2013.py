"""The reproduction of Rodríguez-Pérez et al. 2013: flows that know the delay, AQM."""

import tomllib

import pytest

import ackclock as ac
from ackclock.experiments.file_form import load_sweep
from ackclock.reproduce.read.folder import PAPERS, read
from ackclock.reproduce.run.studies import sweep_of

STUDIES = PAPERS / "fast2013" / "scenarios"


def rates(run):
    return {flow["id"]: flow["goodput_bps"] / 1e8 for flow in run.summary["flows"]}


def test_without_background_the_two_flows_share_by_the_golden_section():
    document = tomllib.loads((STUDIES / "noise.toml").read_text())["scenario"]
    without = [document["flows"][0]]
    document["flows"][1]["count"] = 0
    run = ac.Scenario.from_data(document).run()
    assert rates(run) == rates(ac.Scenario.from_data({**document, "flows": without}).run())
    golden = (5**0.5 - 1) / 2
    assert rates(run) == pytest.approx({"f0": 1 - golden, "f1": golden}, abs=0.005)


@pytest.mark.slow
def test_each_alone_then_all_restarted_gives_the_model_s_shares():
    study = load_sweep(STUDIES / "aware.toml")
    flows = study.run(workers=1).tables["flows"].to_pylist()
    # Two that know share what is left: 1/4 each beside 1/2, as x = 2 solves x (x - 1) = n = 2.
    two = {
        f["id"]: f["goodput_bps"] / 1e8 for f in flows if str(f["n"]) == "2" and f["alpha"] == 50
    }
    assert two == pytest.approx({"old0": 0.25, "old1": 0.25, "new": 0.5}, abs=0.01)
    for n in (1, 4, 8):
        x = (1 + (1 + 4 * n) ** 0.5) / 2
        got = [f["goodput_bps"] / 1e8 for f in flows if str(f["n"]) == str(n) and f["id"] == "new"]
        assert got == pytest.approx([1 / x] * 3, rel=0.03)


@pytest.mark.slow
def test_red_and_rem_even_out_what_drop_tail_does_not_and_cost_throughput():
    flows = load_sweep(STUDIES / "aqm.toml").run(workers=1).tables["flows"].to_pylist()
    for gap in range(5):
        got = {}
        for flow in flows:
            if flow["gap"] == gap:
                got.setdefault(flow["queue"], []).append(flow["goodput_bps"] / 1e8)
        ratio = {queue: max(pair) / min(pair) for queue, pair in got.items()}
        assert ratio["drop tail"] == pytest.approx(1.618, abs=0.03)
        for queue in ("RED", "RED, marks", "REM", "REM, marks"):
            assert ratio[queue] < 1.3
            assert sum(got[queue]) < sum(got["drop tail"])


def test_a_form_of_fast_is_that_of_every_flow_of_an_axis():
    paper = read("fast2013")
    study = paper.studies["aware"]
    for form in ("published", "ns2"):
        sweep = sweep_of(paper, study, "full", paper.changes("aware", {"fast-version": form}))
        for point in sweep.points:
            assert {flow["cc"]["form"] for flow in point.changes["flows"]} == {form}
