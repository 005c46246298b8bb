"""Inputs of a few bytes that would hang or take all memory end with a sentence and exit code 2."""

import json
import subprocess
import sys

import pytest

import ackclock as ac
from ackclock.cli import main
from ackclock.scenario.time_limit import without_limit

NET = {"kind": "dumbbell", "pairs": 1, "rate": "1 Mbps", "rtt": "100 ms"}
VECTORS = {"kind": "connection-vectors", "rate": 1.5e6, "prefill": 8e6}
REFUSED = {
    "net.qdisc.update": {"net": NET | {"qdisc": {"kind": "pie", "update": "1 ps"}}},
    "tcp.max_rto": {"tcp": {"min_rto": 0, "max_rto": 1e-9}},
    "tcp.initial_window": {"tcp": {"initial_window": 4294967295}},
    "quic.initial_window": {"era": "quic", "quic": {"initial_window": 4294967295}},
    "flows[0].tcp.initial_rto": {"flows": [{"pair": 0, "tcp": {"initial_rto": 0, "min_rto": 0}}]},
    "traffic[0].generator.prefill": {"traffic": [{"generator": VECTORS, "flow": {"pair": 0}}]},
}
GUARD_S = 300
"""Against tests that hang, not a measurement."""


def scenario(**changes):
    return {"duration": 1, "net": NET, "flows": [{"pair": 0}]} | changes


def ackclock(*arguments):
    return subprocess.run(
        [sys.executable, "-c", "from ackclock.cli.main import entry; entry()", *arguments],
        capture_output=True,
        text=True,
        timeout=GUARD_S,
        check=False,
    )


@pytest.mark.parametrize("path", REFUSED)
def test_what_would_not_end_is_refused_with_its_key(tmp_path, path):
    file = tmp_path / "case.json"
    file.write_text(json.dumps(scenario(**REFUSED[path])))
    for command in ("check", "run"):
        done = ackclock(command, str(file))
        assert done.returncode == 2, done.stderr
        assert f"case.json: {path}:" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


DEAR = scenario(duration=1e6, net=NET | {"rate": "100 Gbps"})


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_run_of_weeks_is_refused_with_its_cost(tmp_path, command):
    file = tmp_path / "dear.json"
    file.write_text(json.dumps(DEAR))
    done = ackclock(command, str(file))
    assert done.returncode == 2, done.stdout
    assert "flows[0]: the run is predicted to take" in done.stderr
    assert "expected at most 1.000 days (--no-limit)" in done.stderr
    if command == "check":
        assert ackclock(command, str(file), "--no-limit").returncode == 0


def test_without_limit_is_the_option_in_python():
    dear = ac.Scenario.from_data(DEAR)
    for refuse in (dear.check, dear.run, dear.cost):
        with pytest.raises(ac.ScenarioError, match="of one core"):
            refuse()
    with without_limit():
        assert dear.cost().cpu_s > 86_400
        dear.check()


def test_no_memory_in_python_is_a_sentence(monkeypatch, capsys):
    def starved(*_args, **_kwargs):
        raise MemoryError

    monkeypatch.setattr("ackclock.catalogue.schema.catalogue", starved)
    assert main.main(["list"]) == 2
    reported = capsys.readouterr().err
    assert reported == "there is no memory for it; simulate or read less at once\n"
