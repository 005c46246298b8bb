"""``ackclock explain --parallel``: what could happen at once in a run."""

import json

import pytest
from click.testing import CliRunner

import ackclock as ac
from ackclock.cli.main import cli
from ackclock.errors import UnsupportedError


def pairs(count, **net):
    """Hosts in pairs, each with a separate wire: nothing that they share."""
    links = [{"a": f"a{i}", "b": f"b{i}", "rate": 1e7, "delay": 0.01, **net} for i in range(count)]
    flows = [{"src": f"a{i}", "dst": f"b{i}"} for i in range(count)]
    data = {"net": {"kind": "graph", "links": links}, "flows": flows, "duration": 2}
    return ac.Scenario.from_data(data)


def test_islands_run_at_once_and_two_ends_of_a_wire_do_not():
    # Both ends of a wire wait for each other: at most both work at once.
    one = pairs(1).parallelism().data
    assert one["processes"] == 2
    assert 1 <= one["average_parallelism"] <= 2
    eight = pairs(8).parallelism().data
    assert eight["processes"] == 16
    # Equal islands: the longest chain is one of eight.
    assert eight["average_parallelism"] == pytest.approx(8 * one["average_parallelism"], rel=0.2)
    by_cores = {on["cores"]: on["speedup_of_stretch"] for on in eight["predicted"]}
    assert list(by_cores) == [2, 4, 8, 16, 32, 64]
    # How much more than on one core depends on how busy the machine is. Turns of several threads
    # are shorter than those of one, so that both ends of a wire can work at once.
    assert all(0 < speedup <= 16 for speedup in by_cores.values())
    assert eight["step_s"] > 0
    assert eight["sync_s"] > 0
    assert eight["crossing_s"] >= 0


def test_the_stretch_is_the_second_half_of_the_work():
    data = pairs(1).parallelism().data
    assert 0 < data["from_s"] < data["until_s"] <= 2
    # 2 s at 10 Mbit/s are 1666 packets of 1500 B and half as many acknowledgements, each at a link
    # and an endpoint: half of it is 2500 steps, and there may be events.
    assert 1500 < data["steps"] < 10_000


def test_a_scenario_of_short_links_is_one_process():
    net = {"kind": "star", "hosts": 4, "rate": 1e9, "delay": 1e-7}
    data = {"net": net, "flows": [{"pair": 0, "count": 2}], "duration": 0.01}
    found = ac.Scenario.from_data(data).parallelism()
    assert found.data["processes"] == 1
    assert found.data["average_parallelism"] == 1
    assert "All is one process, a cluster of 4 nodes" in str(found)


def test_what_two_threads_took_is_said_or_why_they_were_not_run():
    found = pairs(2).parallelism()
    data = found.data
    assert data["on_one"]["setup_s"] > 0
    if data["on_two"] is None:
        reasons = ("this machine has one core", "the run is too short to be timed")
        assert data["not_on_two"] in reasons
    else:
        assert data["not_on_two"] is None
        assert "run on one thread and on two: " in str(found)


def test_what_one_thread_runs_in_any_case_is_not_held_against_two():
    found = pairs(2).replace(era="ns2").parallelism()
    assert found.data["on_two"] is None
    assert found.data["crossing_s"] == 0
    assert "not held against a run on two threads: " in str(found)


@pytest.mark.slow
def test_setting_up_counts_in_the_speed_up_of_the_whole_run():
    short, long = (pairs(200).replace(duration=d).parallelism().data for d in (0.05, 50))
    for data in (short, long):
        work_s = data["step_s"] * data["steps"] / (data["until_s"] - data["from_s"])
        work_s *= 0.05 if data is short else 50
        first = data["on_one"]["setup_s"]
        then = (data["on_two"] or data["on_one"])["setup_s"]
        for on in data["predicted"]:
            expected = (first + work_s) / (then + work_s / on["speedup_of_stretch"])
            assert on["speedup"] == pytest.approx(expected)


def test_the_command_prints_text_and_json(small_file):
    said = CliRunner().invoke(cli, ["explain", str(small_file), "--parallel"])
    assert said.exit_code == 0, said.output
    assert "critical path: " in said.output
    assert "What limits it" in said.output or "All is one process" in said.output
    said = CliRunner().invoke(cli, ["explain", str(small_file), "--parallel", "--json"])
    assert json.loads(said.output)["critical_steps"] > 0


def test_python_code_is_refused_with_the_reason(with_python_code):
    with pytest.raises(UnsupportedError, match="interpreter's lock"):
        with_python_code.parallelism()
