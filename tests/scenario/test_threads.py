"""Runs on several threads: the results are those of one."""

import json

import pytest
from click.testing import CliRunner

import ackclock as ac
from ackclock.cli.main import cli
from ackclock.errors import AckclockError
from ackclock.scenario.threads import ALWAYS_THREADS

TABLES = ["windows", "rtts", "states", "drops", "queues", "packets", "flow_samples", "link_samples"]


def centre(**more):
    """Two racks: all links are as short as in a data centre."""
    net = {"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 3, "rate": "1 Gbps"}
    net |= {"delay": "2 us", "buffer": "20 pkt"}
    flows = [{"between": {"kind": "uniform-pairs"}, "count": 8, "start_jitter": "200 us"}]
    data = {"net": net, "flows": flows, "duration": 0.004, "warmup": 0.001}
    return ac.Scenario.from_data(data | more)


def outcome(run):
    """Everything that a run reports but what it took."""
    summary = json.loads(json.dumps(run.summary))
    for key in ("cpu_s", "threads", "threads_reason"):
        summary["totals"].pop(key, None)
    return summary, {name: run.table(name) for name in TABLES}


@pytest.mark.slow
def test_summary_and_every_table_are_the_same_on_any_number_of_threads(tmp_path, monkeypatch):
    monkeypatch.setenv(ALWAYS_THREADS, "1")
    scenario = centre(record={"tables": TABLES, "interval": 0.0005})
    one = scenario.run()
    assert "threads" not in one.summary["totals"]
    for threads in (2, 3):
        several = scenario.run(threads=threads)
        assert several.summary["totals"]["threads"] == threads
        assert outcome(several) == outcome(one)
    # Into files.
    written = scenario.run(threads=2, out=tmp_path / "run")
    assert outcome(written) == outcome(one)


def test_what_one_thread_has_to_do_is_said(with_python_code):
    run = with_python_code.run(threads=2)
    assert run.summary["totals"]["threads"] == 1
    assert "user-defined algorithms" in str(run)


def test_threads_that_would_wait_more_than_work_are_one():
    run = centre(duration=0.1).run(threads=2)
    assert run.summary["totals"]["threads"] == 1
    assert "2 threads would wait for each other" in str(run)


def test_auto_leaves_a_short_run_on_one_thread():
    run = centre().run(threads="auto")
    assert run.summary["totals"].get("threads", 1) == 1


@pytest.mark.parametrize("threads", [0, -1, 257, "many", True, 1.5])
def test_a_wrong_number_is_refused(threads):
    with pytest.raises(AckclockError, match=r'expected 1 to 256 or "auto"'):
        centre().run(threads=threads)


def test_the_command_takes_threads(small_file):
    def said(*more):
        return CliRunner().invoke(cli, ["run", str(small_file), "--json", *more])

    one, two = said(), said("--threads", "2")
    assert (one.exit_code, two.exit_code) == (0, 0), two.output
    digests = [json.loads(done.stdout)["digest"] for done in (one, two)]
    assert digests[0] == digests[1]
    wrong = said("--threads", "none")
    assert wrong.exit_code == 2
    assert 'expected 1 to 256 or "auto"' in wrong.stderr
