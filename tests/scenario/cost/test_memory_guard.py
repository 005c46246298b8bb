"""Runs that would not fit into memory are refused before they begin, with numbers."""

import json
import re

import pytest

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.engines.fluid import FluidCase
from ackclock.errors import AckclockError
from ackclock.scenario import memory
from conftest import SMALL

GIB = 2**30


@pytest.fixture
def machine(monkeypatch):
    monkeypatch.setattr(memory, "machine_bytes", lambda: GIB)
    monkeypatch.delenv(memory.SHARE, raising=False)


def sampled(**changes):
    record = {"tables": ["flow_samples"], "interval": "1 ms"}
    return ac.load(SMALL).replace(**{"duration": "10000 s", "record": record, **changes})


@pytest.mark.usefixtures("machine")
def test_a_run_that_does_not_fit_names_rows_and_a_longer_interval():
    # Two flows, 10^4 s at 1 ms: 2 x 10^7 rows.
    with pytest.raises(ac.ScenarioError) as caught:
        sampled().check()
    (problem,) = caught.value.problems
    assert problem.path == "record.interval"
    assert "20,000,000 rows" in problem.message
    assert "of which 0.8 GiB may be used" in problem.message
    factor = int(re.search(r"interval (\d+) times as long", problem.message)[1])
    assert factor > 2
    sampled(**{"record.interval": f"{factor} ms"}).check()
    with pytest.raises(ac.ScenarioError):
        sampled(**{"record.interval": f"{factor // 2} ms"}).check()


@pytest.mark.usefixtures("machine")
def test_a_run_is_refused_before_it_begins():
    with pytest.raises(ac.ScenarioError, match="GiB of memory"):
        sampled().run(progress=lambda *_: pytest.fail("it began"))


@pytest.mark.usefixtures("machine")
def test_fewer_recorded_flows_need_less():
    with pytest.raises(ac.ScenarioError, match="10,000,000 rows"):
        sampled(**{"record.flows": [0]}).check()


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("command", ["check", "run"])
def test_the_share_is_an_option(tmp_path, capsys, monkeypatch, command):
    monkeypatch.setenv(memory.SHARE, "0.5")
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    assert cli.main([command, str(file)]) == 0
    capsys.readouterr()
    assert cli.main([command, str(file), "--memory-share", "1e-9"]) == 2
    message = capsys.readouterr().err.strip()
    assert "--memory-share" in message
    assert len(message.splitlines()) == 1


def test_runs_at_a_time_count_together(tmp_path, monkeypatch):
    case = ac.load(SMALL)
    one = case.cost().needed_bytes(spills=True)
    monkeypatch.setattr(memory, "machine_bytes", lambda: 3 * one)
    monkeypatch.delenv(memory.SHARE, raising=False)
    sweep = ac.sweep(case, {"net.buffer": ["5 pkt", "20 pkt"]})
    assert sweep.plan(workers=2).runs == 2
    with pytest.raises(AckclockError, match=r"4 runs at a time .* use --workers 2 or fewer flows"):
        sweep.plan(workers=4)
    with pytest.raises(AckclockError, match="4 runs at a time"):
        sweep.run(workers=4, store=tmp_path / "store", progress=False)


@pytest.mark.usefixtures("machine")
def test_tables_of_a_sweep_do_not_count_for_they_go_to_disk():
    case = sampled()
    with pytest.raises(ac.ScenarioError, match="20,000,000 rows"):
        case.check()
    assert ac.sweep(case, {"net.buffer": ["5 pkt", "20 pkt"]}).plan(workers=4).runs == 2
    cost = case.cost(spills=True)
    assert cost.memory_bytes > 0.8 * GIB > 4 * cost.needed_bytes(spills=True)


@pytest.mark.usefixtures("machine")
def test_a_share_that_is_no_number_is_reported(monkeypatch):
    monkeypatch.setenv(memory.SHARE, "half")
    with pytest.raises(AckclockError, match='ACKCLOCK_MEMORY_SHARE is "half"'):
        sampled().check()


def test_the_prediction_is_above_the_size_of_the_tables():
    case = ac.load(SMALL).replace(record={"tables": ["flow_samples"], "interval": "1 ms"})
    run = case.run()
    explained = case.explain().data["predicted"]
    table = run.tables["flow_samples"]
    assert explained["recorded_rows"] == pytest.approx(table.num_rows, rel=0.001)
    assert explained["memory_bytes"] > table.nbytes
    assert json.dumps(explained)


def arrivals(**changes):
    made = {"kind": "poisson", "rate": 100, "count": 1000, "sizes": {"kind": "fixed", "mean": 1e6}}
    return FluidCase(
        {
            "net": {"kind": "links", "links": [["a", "b", "10 Mbps"]], "directed": True},
            "traffic": {"kind": "listed", "flows": [["a", "b"]]},
            "allocation": "max-min",
            "arrivals": {**made, **changes},
        }
    )


@pytest.mark.usefixtures("machine")
def test_transfers_that_do_not_fit_are_refused_before_they_are_drawn():
    with pytest.raises(ac.ScenarioError, match=r"GiB of memory for 1,000,000,000 transfers"):
        arrivals(count=10**9).cost()
    # 1000 a second.
    with pytest.raises(ac.ScenarioError, match=r"for 1,000,000,000 transfers"):
        arrivals(count=10**12, rate=1000, duration=1e6).cost()
    assert 0 < arrivals().cost().memory_bytes < GIB


@pytest.mark.usefixtures("machine")
def test_samples_of_flows_over_time_count():
    with pytest.raises(ac.ScenarioError, match="longer interval"):
        arrivals(interval=1e-8).cost()


def at_rest(flows):
    return FluidCase(
        {
            "net": {"kind": "links", "links": [["a", "b", "10 Mbps"], ["b", "c", "10 Mbps"]]},
            "traffic": {"kind": "pattern", "between": "uniform-pairs", "flows": flows},
            "allocation": "max-min",
        }
    )


@pytest.mark.usefixtures("machine")
def test_flows_at_rest_that_do_not_fit_are_refused_before_they_are_drawn():
    for call in (FluidCase.cost, FluidCase.check, FluidCase.execute):
        with pytest.raises(ac.ScenarioError, match="GiB of memory for 1,000,000,000 flows"):
            call(at_rest(10**9))
    assert 0 < at_rest(1000).cost().memory_bytes < GIB


def test_flows_at_rest_whose_routes_do_not_fit_are_refused(monkeypatch):
    case = at_rest(1001)
    # Room for one hop a flow, and some have two.
    monkeypatch.setattr(memory, "allowed_bytes", lambda: 1001 * 97.0)
    with pytest.raises(ac.ScenarioError, match="for 1,001 flows with 1,"):
        case.cost()


def test_a_check_finds_the_warnings_of_an_explanation():
    case = ac.load(
        'duration = "1 s"\nnet = { kind = "dumbbell", pairs = 1, rate = "1 Mbps", rtt = "20 ms" }\n'
        'flows = [{ pair = 0, start = "2 s" }]\n'
    )
    warnings = case.warnings()
    assert warnings == case.explain().data["warnings"]
    assert "when the run of 1 s is over" in warnings[0]
