"""Collective operations: closed forms where nothing collides, and transfers that wait for others.

On a star of p hosts a step of a ring all-reduce, in which each host sends n / p bytes to the next,
takes the time of its packets on the first link, one more packet on the second, and both propagation
delays. Here packets are of 1000 + 60 bytes, links of 100 Gbit/s and 1 us. An acknowledgement has 40
bytes, and there is one of each transfer, when all has arrived: it leaves before the host's next
step, so that each step but the first is later by its 3.2 ns.
"""

import math
import tomllib
from pathlib import Path

import pytest

from ackclock import Scenario
from ackclock.errors import ScenarioError
from ackclock.experiments import metrics

RATE, DELAY, MSS, HEADER, ACK = 100e9, 1e-6, 1000, 60, 40


def star(hosts):
    return {
        "net": {"kind": "star", "hosts": hosts, "rate": "100 Gbps", "delay": "1 us"},
        "tcp": {"mss": MSS, "header": HEADER, "syn": False, "delayed_ack": 1000},
        "duration": "20 ms",
    }


def run_collective(kind, hosts, size, **changes):
    flow = {"between": kind, "size": size, "cc": "dcqcn"} | changes
    return Scenario.from_data(star(hosts) | {"flows": [flow]}).run()


def step_s(size):
    packets = math.ceil(size / MSS)
    return (size + packets * HEADER + MSS + HEADER) * 8 / RATE + 2 * DELAY


def acks_s(steps):
    return (steps - 1) * ACK * 8 / RATE


@pytest.mark.parametrize("hosts", [2, 3, 8])
def test_a_ring_all_reduce_takes_its_closed_form_to_the_nanosecond(hosts):
    # 2 (p - 1) steps of n / p bytes: 2 (p - 1) / p n / B, headers and latency of steps.
    size = hosts * 50_000
    job = run_collective("ring-all-reduce", hosts, size).jobs.to_pylist()[0]
    steps = 2 * (hosts - 1)
    expected = steps * step_s(size / hosts) + acks_s(steps)
    assert job["completed_after_s"] == pytest.approx(expected, abs=1e-9)
    pure = 2 * (hosts - 1) / hosts * size * 8 / RATE
    latency = 2 * DELAY + (MSS + HEADER) * 8 / RATE
    wire = pure * (MSS + HEADER) / MSS
    expected = wire + steps * latency + acks_s(steps)
    assert job["completed_after_s"] == pytest.approx(expected, abs=1e-9)
    assert (job["transfers"], job["bytes"]) == (steps * hosts, steps * size)
    assert job["ideal_s"] == pytest.approx(steps * step_s(size / hosts), abs=1e-12)


@pytest.mark.parametrize("hosts", [2, 4, 16])
def test_halving_and_doubling_takes_its_closed_form(hosts):
    size, rounds = hosts * 20_000, int(math.log2(hosts))
    job = run_collective("halving-doubling", hosts, size).jobs.to_pylist()[0]
    expected = 2 * sum(step_s(size / 2**k) for k in range(1, rounds + 1)) + acks_s(2 * rounds)
    assert job["completed_after_s"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("hosts", [2, 4, 16])
def test_a_tree_takes_its_closed_form(hosts):
    job = run_collective("tree-all-reduce", hosts, 100_000).jobs.to_pylist()[0]
    rounds = int(math.log2(hosts))
    way_back = 2 * (DELAY + ACK * 8 / RATE)
    # An acknowledgement is before each step of the reduction but the first, and before the first of
    # the broadcast; the later ones of its root wait for one.
    expected = 2 * rounds * step_s(100_000) + (rounds - 1) * way_back + acks_s(rounds + 1)
    assert job["completed_after_s"] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("hosts", [2, 5, 8])
def test_an_all_to_all_takes_its_closed_form(hosts):
    job = run_collective("all-to-all", hosts, hosts * 30_000).jobs.to_pylist()[0]
    expected = (hosts - 1) * step_s(30_000) + acks_s(hosts - 1)
    assert job["completed_after_s"] == pytest.approx(expected, abs=1e-9)


def test_operations_follow_each_other_after_computing():
    spec = {"kind": "ring-all-reduce", "operations": 3, "compute": "50 us"}
    job = run_collective(spec, 4, 400_000).jobs.to_pylist()[0]
    # No acknowledgement is before the first step of an operation: the host has computed since.
    expected = 3 * (6 * step_s(100_000) + acks_s(6)) + 2 * 50e-6
    assert job["completed_after_s"] == pytest.approx(expected, abs=1e-9)


def test_the_summary_and_metrics_have_the_job_and_the_flows_their_own_start():
    run = run_collective("ring-all-reduce", 4, 400_000, id="allreduce")
    assert "allreduce" in str(run) and "24 transfers of jobs" in str(run)
    value = metrics.of_run("jobs[allreduce].completed_after_s", run.summary, run.tables)
    assert value == run.jobs.to_pylist()[0]["completed_after_s"]
    flows = run.flows.to_pylist()
    # Step s of each host starts when step s - 1 has arrived.
    starts = sorted({round(flow["start_s"] / step_s(100_000), 2) for flow in flows})
    assert starts == [0, 1, 2, 3, 4, 5]
    assert {flow["job"] for flow in flows} == {"allreduce"}
    assert all(flow["slowdown"] == pytest.approx(1, abs=1e-3) for flow in flows)


def test_a_fat_tree_gives_the_same_bits_on_any_number_of_threads():
    case = {
        "net": {"kind": "fat-tree", "k": 4, "rate": "10 Gbps", "delay": "20 us"},
        "duration": "30 ms",
        "flows": [
            {"id": "a", "between": "all-to-all", "size": "1 MB"},
            {"id": "b", "between": "halving-doubling", "size": "500 kB", "after": ["a"]},
        ],
    }
    runs = [Scenario.from_data(case).run(threads=count) for count in (1, 2, 3)]
    assert len({run.summary["digest"] for run in runs}) == 1
    assert all(run.jobs == runs[0].jobs and run.flows == runs[0].flows for run in runs)
    a, b = runs[0].jobs.to_pylist()
    assert b["start_s"] > a["start_s"] and b["completed_after_s"] > 0


def test_a_flow_starts_so_long_after_those_that_it_names():
    data = star(3) | {
        "flows": [
            {"id": "first", "src": "h0", "dst": "h1", "size": "10 kB", "cc": "dcqcn"},
            {"id": "back", "src": "h1", "dst": "h0", "size": "10 kB", "after": ["first"]},
            {"id": "on", "src": "h0", "dst": "h2", "size": "10 kB", "after": ["first"]}
            | {"start": "5 us"},
        ]
    }
    first, back, on = Scenario.from_data(data).run().flows.to_pylist()
    # The receiver knows it on arrival, the sender with the acknowledgement.
    assert back["start_s"] == pytest.approx(step_s(10_000), abs=1e-9)
    assert on["start_s"] == pytest.approx(first["completed_after_s"] + 5e-6, abs=1e-9)


def test_what_never_completes_lets_nothing_start_and_is_reported():
    data = star(3) | {
        "duration": "1 ms",
        "flows": [
            {"id": "long", "src": "h0", "dst": "h1", "size": "100 MB"},
            {"id": "next", "src": "h1", "dst": "h2", "size": "1 kB", "after": ["long"]},
        ],
    }
    run = Scenario.from_data(data).run()
    assert run.flows.to_pylist()[1]["start_s"] is None
    message = "flow next has not begun: flow long, which it waits for, was not complete"
    assert message in run.warnings


FLOW = {"id": "x", "src": "h0", "dst": "h1", "size": "1 kB"}


@pytest.mark.parametrize(
    ("flows", "message"),
    [
        ([FLOW | {"after": ["y"]}], 'flows[0].after[0]: there is no flow "y" before this one'),
        (
            [FLOW, {"src": "h2", "dst": "h0", "after": ["x"]}],
            'names "x", of which nothing begins or ends at h2',
        ),
        (
            [{"id": "x", "src": "h0", "dst": "h1"}, {"src": "h1", "dst": "h0", "after": ["x"]}],
            'names "x", which has no end; expected a transfer with size',
        ),
        ([{"between": "ring-all-reduce"}], "is a collective operation; expected size beside it"),
        (
            [{"between": "all-to-all", "size": "1 MB", "count": 3}],
            "flows[0].count: has no meaning beside a pattern that decides on its transfers",
        ),
        (
            [FLOW, {"src": "h1", "dst": "h0", "source": {"kind": "cbr", "rate": "1 Mbps"}}
             | {"after": ["x"]}],
            "which a flow with source cannot",
        ),
    ],
)  # fmt: skip
def test_what_cannot_wait_is_refused(flows, message):
    with pytest.raises(ScenarioError) as problem:
        Scenario.from_data(star(3) | {"flows": flows}).check()
    assert message in str(problem.value)


def test_a_prediction_counts_the_transfers_of_a_collective():
    scenario = Scenario.from_data(
        star(8) | {"flows": [{"between": "ring-all-reduce", "size": "8 MB", "cc": "dcqcn"}]}
    )
    run = scenario.run()
    predicted = scenario.explain().data["predicted"]["packet_hops"]
    assert predicted == pytest.approx(run.summary["totals"]["packet_hops"], rel=0.2)


def test_the_first_cluster_loses_nothing_and_waits_for_its_checkpoint():
    example = Path(__file__).resolve().parents[3] / "examples/data-centre/ai-cluster.toml"
    data = tomllib.loads(example.read_text("utf-8"))
    run = Scenario.from_data(data).run()
    data["flows"][1]["count"] = 0
    alone = Scenario.from_data(data).run()
    assert sum(link["drops"] for link in run.summary["links"]) == 0
    (job,), (job_alone,) = run.jobs.to_pylist(), alone.jobs.to_pylist()
    assert job["arrived_transfers"] == job_alone["arrived_transfers"] == 2 * 30 * 16
    assert job["completed_after_s"] > 1.1 * job_alone["completed_after_s"]
    assert job["ideal_s"] == pytest.approx(job_alone["ideal_s"])
