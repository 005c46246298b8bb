"""Sweeps and replications choose between runs and threads; the results are the same."""

import json

import pytest
from click.testing import CliRunner

import ackclock as ac
from ackclock import _core
from ackclock.cli.main import cli
from ackclock.scenario.threads import ALWAYS_THREADS


def ring(duration="12 s", routers=8, **more):
    """Routers in a ring, each with a host that sends to the next: two threads share the work."""
    cables = [
        {"a": a, "b": b, "rate": "200 Mbps", "delay": "10 ms"}
        for i in range(routers)
        for a, b in ((f"r{i}", f"r{(i + 1) % routers}"), (f"h{i}", f"r{i}"))
    ]
    source = {"kind": "cbr", "rate": "30 Mbps", "packet": "500 B"}
    flows = [
        {"src": f"h{i}", "dst": f"h{(i + 1) % routers}", "source": source} for i in range(routers)
    ]
    net = {"kind": "graph", "links": cables}
    return ac.Scenario.from_data({"net": net, "flows": flows, "duration": duration} | more)


@pytest.fixture
def used(monkeypatch):
    """The most threads that each run might use, and those that it did use."""
    made = []
    run = _core.run

    def noted(*args, **more):
        output = run(*args, **more)
        made.append((more["most"], output["threads"]))
        return output

    monkeypatch.setattr(_core, "run", noted)
    return made


def test_few_large_runs_of_a_sweep_get_threads_and_the_same_results(used, everything):
    sweep = ac.sweep(ring(), {"flows[0].source.rate": ["20 Mbps", "30 Mbps"]})
    one = everything(sweep.run(store=False, workers=1))
    assert used == [(1, 1), (1, 1)]
    used.clear()
    # The second run may begin when the first has ended.
    several = everything(sweep.run(store=False, workers=4))
    assert [most >= 2 and threads >= 2 for most, threads in used] == [True, True]
    assert several == one


def test_runs_that_are_as_many_as_cores_or_short_use_one_thread(used):
    many = ac.sweep(ring("0.2 s"), {"net.links[0].delay": ["1 ms", "2 ms", "3 ms", "4 ms"]})
    many.run(store=False, workers=2)
    assert used[0] == (1, 1)
    used.clear()
    # Predicted to take less than a thread's start is worth.
    ac.sweep(ring("0.2 s")).run(store=False, workers=8)
    assert used == [(8, 1)]


def test_a_run_that_writes_tables_to_disk_uses_one_thread(used, tmp_path):
    recording = ring("12 s", record={"tables": ["drops"]})
    ac.sweep(recording).run(store=tmp_path / "store", workers=4)
    assert used == [(1, 1)]


def test_replications_are_the_same_on_any_number_of_threads(used):
    def observed(**more):
        return ac.replicate(ring("3 s"), 3, **more).observations

    one = observed(workers=1)
    assert [threads for _, threads in used] == [1, 1, 1]
    used.clear()
    assert observed(workers=6, threads=3).equals(one)
    assert used == [(3, 3)] * 3
    assert observed(workers=12).equals(one)


def test_the_command_takes_replications_with_threads(small_file, used, monkeypatch):
    # Otherwise a file so small has one thread.
    monkeypatch.setenv(ALWAYS_THREADS, "1")

    def said(*more):
        done = CliRunner().invoke(cli, ["run", str(small_file), "--json", "--reps", "2", *more])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)["means"]

    assert said("--threads", "2") == said()
    assert used[:2] == [(2, 2), (2, 2)]
