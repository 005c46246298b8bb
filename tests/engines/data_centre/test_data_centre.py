"""The examples of data centres: shares, queues and marks at rest."""

import tomllib
from pathlib import Path

import pytest

from ackclock import Scenario
from ackclock.analysis import slowdown_by_size
from ackclock.scenario.load import load

FOLDER = Path(__file__).resolve().parents[3] / "examples/data-centre"
# Others have networks of switches (test_lossless.py, test_ultra_ethernet.py, test_credits.py, and
# below).
SWITCHES = ("ai-cluster", "homa", "nscc", "pfc-incast", "rccc", "reps", "web-search")
EXAMPLES = [file for file in sorted(FOLDER.glob("*.toml")) if file.stem not in SWITCHES]


def bottleneck(run):
    return next(link for link in run.summary["links"] if link["id"] == "r0->r1")


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_uses_four_fifths_of_its_bottleneck_and_drops_nothing(file):
    link = bottleneck(load(file).run())
    assert link["drops"] == 0
    # TIMELY uses 64 %, which docs/explanation/data-centre.md reports.
    assert file.stem == "timely" or link["utilisation"] > 0.8


@pytest.mark.parametrize("cc", ["timely", "dcqcn", "hpcc", "swift", "scream"])
def test_alone_on_an_ordinary_path_a_control_gets_the_same_over_tcp_and_quic(cc):
    net = {"kind": "dumbbell", "pairs": 1, "rate": "20 Mbps", "rtt": "40 ms", "buffer": "1 bdp"}
    flow = {"id": "f", "pair": 0, "cc": cc}
    goodputs = []
    # The time for which a receiver of QUIC holds an acknowledgement is delay to Swift.
    at_once = {"transport": "quic", "quic": {"ack_eliciting_threshold": 0}}
    for choice in ({"recovery": "rack"}, at_once):
        case = {"net": net, "flows": [flow | choice], "duration": "20 s", "warmup": "5 s"}
        run = Scenario.from_data(case).run()
        goodputs.append(run.summary["flows"][0]["goodput_bps"])
    assert min(goodputs) > 0.75 * 20e6
    assert max(goodputs) < 1.2 * min(goodputs)


@pytest.mark.parametrize("delayed_ack", [1, 2, 3, 4])
@pytest.mark.parametrize("rate", ["20 Mbps", "80 Mbps"])
def test_hpcc_keeps_to_its_goal_however_many_packets_an_acknowledgement_answers(rate, delayed_ack):
    # Of wide windows ports keep every second, third, ... packet: an acknowledgement of others reads
    # the one before. With the 17 packets of 5 Mbit/s and one record in four it has 92.6 %.
    case = {
        "net": {"kind": "dumbbell", "pairs": 1, "rate": rate, "rtt": "40 ms", "buffer": "1 bdp"},
        "tcp": {"delayed_ack": delayed_ack},
        "flows": [{"pair": 0, "cc": "hpcc", "recovery": "rack"}],
        "duration": "15 s",
        "warmup": "5 s",
    }
    assert bottleneck(Scenario.from_data(case).run())["utilisation"] == pytest.approx(
        0.95, abs=0.02
    )


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_over_quic_every_control_finishes_a_transfer(file):
    scenario = load(file)
    flow = tomllib.loads(file.read_text("utf-8"))["flows"][0]
    flow.update(transport="quic", size="200 kB", count=1)
    # The receiver may hold the last acknowledgement for longer than an example lasts.
    run = scenario.replace(flows=[flow], duration="20 s", record=None).run()
    assert run.summary["flows"][0]["completed_after_s"] is not None


def test_hpcc_fills_its_port_to_the_goal_and_leaves_no_queue_once_the_incast_is_over():
    run = load(FOLDER / "hpcc.toml").run()
    link = bottleneck(run)
    # The source's goal is 95 %, and each of 16 windows has a step of 50 bytes beyond it.
    assert link["utilisation"] == pytest.approx(0.95, abs=0.01)
    assert link["queue_mean_packets"] < 2 and link["queue_p99_packets"] < 10
    samples = run.tables["link_samples"].to_pydict()
    queue = [
        (time, packets)
        for name, time, packets in zip(
            samples["link"], samples["time_s"], samples["queue_packets"], strict=True
        )
        if name == "r0->r1"
    ]
    # At line rate 16 windows of a path's 100 kB arrive in the first round trip, and the port sends
    # one: what is left, 15 x 98 packets, takes 15 round trips. Then there is none.
    assert 14 * 98 < max(packets for _, packets in queue) < 16 * 98
    assert max(packets for time, packets in queue if time > 210e-6) < 20


def test_hpcc_keeps_the_tail_of_short_transfers_of_web_search_below_a_tenth_of_dctcps():
    # HPCC, section 5: short flows gain most, as there is next to no queue.
    scenario = load(FOLDER / "web-search.toml")
    traffic = tomllib.loads((FOLDER / "web-search.toml").read_text("utf-8"))["traffic"]
    tails = {}
    for cc in ("dctcp", "hpcc"):
        traffic[0]["flow"] = {"cc": cc}
        rows = slowdown_by_size(scenario.replace(traffic=traffic).run().summary["flows"], groups=5)
        assert sum(row["flows"] for row in rows) > 100
        assert all(1 <= row["p50"] <= row["p95"] <= row["p99"] for row in rows)
        tails[cc] = rows[0]["p95"]
    assert tails["hpcc"] < 3 and tails["hpcc"] < tails["dctcp"] / 10
