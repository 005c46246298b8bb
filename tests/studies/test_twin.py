"""Theory beside runs: every law against a run in its domain, and no parting without a reason."""

import json
import math
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.cli.studies.twin import paper_survey
from ackclock.engines.model.pftk import rate_bps
from ackclock.scenario.load import load
from ackclock.studies.twin.law import Law, Prediction
from ackclock.studies.twin.laws import LAWS
from ackclock.studies.twin.laws.fair_queue import max_min
from ackclock.studies.twin.laws.linear import cycle_utilisation
from ackclock.studies.twin.laws.md1 import mean_wait
from ackclock.studies.twin.laws.red import point
from ackclock.studies.twin.laws.sawtooth import utilisation
from ackclock.studies.twin.measurements import SeenFlow, TheoryMeasurements
from ackclock.studies.twin.shared.timer import first_timeout_s, ticked_timeout_s
from ackclock.studies.twin.survey import TheorySurvey
from ackclock.studies.twin.twin import TheoryRow, Twin, compare

ROOT = Path(__file__).resolve().parents[2]
LESSONS = tomllib.loads((ROOT / "web/lessons/lessons.toml").read_text())["lessons"]
FILES = [
    *(file for file in sorted(ROOT.glob("examples/*.toml")) if file.stem != "geant"),
    *(ROOT / "web/lessons" / lesson["file"] for lesson in LESSONS),
]
LARGEST = ROOT / "examples/fat-tree.toml"


def row(low, high, measured, limit="", accuracy=0.1):
    law = Law("law", "", "", "goodput_bps", accuracy, lambda _: iter(()))
    return TheoryRow(law, Prediction("f", low, high, measured, limit))


@cache
def compare_file(file):
    return compare(load(file))


@cache
def compare_domain(name):
    return compare(DOMAINS[name]())


@pytest.mark.parametrize(
    "file",
    [pytest.param(f, marks=pytest.mark.slow if f == LARGEST else ()) for f in FILES],
    ids=lambda file: f"{file.parent.name}-{file.stem}",
)
def test_theory_and_engine_part_nowhere_without_a_known_reason(file):
    """Each example and lesson; the data centre, the largest, among the slow tests."""
    found = compare_file(file)
    assert [r.sentence for r in found.rows if r.verdict == "parts"] == []


def fair_shares():
    return load(ROOT / "examples/parking-lot.toml").replace(**{"net.qdisc": "fq"})


def one_ledbat():
    net = ac.topology.Dumbbell(pairs=1, rate="5 Mbps", rtt="30 ms", buffer="400 pkt")
    flow = ac.Flow(pair=0, cc="ledbat")
    return ac.Scenario(net=net, flows=[flow], duration="60 s", warmup="20 s")


def one_flow(cc, buffer):
    net = ac.topology.Dumbbell(pairs=1, rate="5 Mbps", rtt="60 ms", buffer=buffer)
    flow = ac.Flow(pair=0, cc=cc, recovery="sack")
    return ac.Scenario(net=net, flows=[flow], duration="120 s", warmup="20 s")


def one_mimd():
    return one_flow({"kind": "mimd", "a": 1.02, "b": 0.5}, "8 pkt")


def many_over_red():
    net = ac.topology.Dumbbell(
        pairs=20,
        rate="20 Mbps",
        rtt="80 ms",
        buffer="500 pkt",
        qdisc=ac.qdisc.Red(min_th=20, max_th=200, max_p=0.1, ecn=True),
    )
    flows = [ac.Flow(pair=n, cc="aimd", tcp={"ecn": True}) for n in range(20)]
    return ac.Scenario(net=net, flows=flows, duration="60 s", warmup="20 s")


def constant_rates():
    source = {"kind": "cbr", "rate": "3 Mbps", "packet": "1000 B"}
    net = ac.topology.Dumbbell(pairs=2, rate="5 Mbps", rtt="20 ms", buffer="20 pkt")
    flows = [ac.Flow(pair=n, source=source) for n in range(2)]
    return ac.Scenario(net=net, flows=flows, duration="20 s", warmup="5 s")


def green_shares():
    queue = ac.qdisc.Green(count="known")
    changes = {"net.qdisc": queue, "duration": "160 s", "net.buffer": "2000 pkt"}
    return load(ROOT / "web/lessons/green.toml").replace(**changes)


def random_packets(rate="8 Mbps"):
    """50 sources of 1000-byte packets: 0.8 of the link, one packet at a time."""
    source = {
        "kind": "exponential-on-off",
        "rate": "100 Mbps",
        "packet": "1000 B",
        "burst": "1 us",
        "idle": "62.5 ms",
    }
    net = ac.topology.Dumbbell(
        pairs=50, rate=rate, access_rate="1 Gbps", rtt="20 ms", buffer="2000 pkt"
    )
    flows = [ac.Flow(pair=n, source=source) for n in range(50)]
    return ac.Scenario(net=net, flows=flows, duration="200 s", warmup="5 s")


def even_packets():
    source = {"kind": "cbr", "rate": "1.2 Mbps", "packet": "1000 B"}
    net = ac.topology.Dumbbell(
        pairs=4, rate="5 Mbps", access_rate="100 Mbps", rtt="20 ms", buffer="50 pkt", qdisc="fq"
    )
    flows = [ac.Flow(pair=n, source=source, start="0 s") for n in range(4)]
    return ac.Scenario(net=net, flows=flows, duration="10 s", warmup="2 s")


DOMAINS = {
    "m-d-1": random_packets,
    "fair-delay": even_packets,
    "max-min": fair_shares,
    "ledbat": one_ledbat,
    "linear": one_mimd,
    "red": many_over_red,
    "green": green_shares,
    "overload": constant_rates,
}
"""A run in the domain of each law that no example and no lesson is in."""


@pytest.mark.parametrize("law", DOMAINS)
def test_a_law_holds_in_its_domain(law):
    rows = [r for r in compare_domain(law).rows if r.law.name == law]
    assert rows
    assert [r.sentence for r in rows if not r.agrees] == []


def test_each_law_has_a_run_to_which_it_applies():
    twins = [
        *(compare_file(file) for file in FILES if file != LARGEST),
        *map(compare_domain, DOMAINS),
    ]
    used = {r.law.name for twin in twins for r in twin.rows}
    assert used == {law.name for law in LAWS}


def test_deviation_is_measured_from_the_nearer_end():
    assert row(2, 4, 3).deviation == 0
    assert row(2, 4, 5).deviation == 0.25
    assert row(2, 4, 1).deviation == -0.5
    assert [row(10, 10, m).verdict for m in (10, 10.9, 11.2)] == ["agrees", "agrees", "parts"]
    assert row(10, 10, 5, "12 timeouts").sentence == "f: 50.0 % below the law law: 12 timeouts"
    assert row(10, 10, 5, "12 timeouts").verdict == "parts, known"


def test_a_run_outside_of_every_domain_says_so():
    assert str(Twin([])) == "No law applies to this run."


@pytest.mark.parametrize(
    ("product", "buffer", "expected"),
    # No buffer: the mean of a saw-tooth from 1/2 to 1. A buffer of the product: no idle time.
    [(100, 0, 0.75), (100, 100, 1.0), (100, 300, 1.0)],
)
def test_the_sawtooth_at_its_ends(product, buffer, expected):
    assert utilisation(product, buffer, 0.5) == pytest.approx(expected)


def test_larger_buffers_never_lower_the_utilisation():
    values = [utilisation(80, buffer, 0.5) for buffer in range(100)]
    assert values == sorted(values)


@pytest.mark.parametrize(("product", "buffer"), [(200, 0), (300, 60), (100, 200)])
def test_a_cycle_round_by_round_is_the_sawtooth_in_closed_form(product, buffer):
    stepped = cycle_utilisation((1.0, 1.0, 0.0, 0.5), product, buffer)
    assert stepped == pytest.approx(utilisation(product, buffer, 0.5), rel=0.01)


def test_a_cycle_by_hand():
    # W = 10: after a loss 4, then 8, then beyond: 12 packets in two round trips of 10.
    assert cycle_utilisation((0.0, 2.0, 0.0, 0.4), 10, 0) == pytest.approx(0.6)
    # With 10 of buffer W = 20: 8 in one, 16 in 1.6 round trips.
    assert cycle_utilisation((0.0, 2.0, 0.0, 0.4), 10, 10) == pytest.approx(24 / 26)
    assert cycle_utilisation((0.0, 1.0, 0.0, 0.4), 10, 10) is None


def test_the_operating_point_of_red_by_hand():
    # At q = 60, p_b = 0.05 x 40 / 80; p = 2 p_b / (1 + p_b). Flows are chosen so that they fill
    # 1000 packets per second there.
    line = 0.025
    constant = 1000 * (0.1 + 0.06) * (2 * line / (1 + line)) ** 0.5
    flows = [(constant / 4, 0.1)] * 4
    assert point(flows, 1000, (20, 100), 0.05, wait=False) == pytest.approx(60)
    assert point(flows, 1e6, (20, 100), 0.05, wait=False) is None
    assert point(flows, 1, (20, 100), 0.05, wait=False) is None


def test_a_survey_counts_and_lists_what_parts():
    survey = TheorySurvey()
    law = LAWS[0]
    rows = [
        TheoryRow(law, Prediction("a", 10, 10, 10)),
        TheoryRow(law, Prediction("b", 10, 10, 20, "3 timeouts")),
        TheoryRow(law, Prediction("c", 10, 10, 5)),
    ]
    survey.add("first", Twin(rows))
    survey.add("second", Twin([]))
    (count,) = survey.counts
    assert (count.agrees, count.known, count.parts) == (1, 1, 1)
    assert count.median_deviation == pytest.approx(-0.25)
    assert survey.reasons == [(law.name, "N timeouts", 1)]
    assert str(survey).splitlines()[0] == "2 runs, 3 predictions."
    assert str(survey).splitlines()[-1] == (
        f"- first: c: 50.0 % below the law {law.name}; no reason is known."
    )


def test_the_wait_of_packets_at_random_is_the_one_of_the_form():
    assert mean_wait(0.5, 1.0) == pytest.approx(0.5)
    assert mean_wait(0.8, 1.0) == pytest.approx(2.0)
    (row,) = (r for r in compare(random_packets()).rows if r.law.name == "m-d-1")
    # 800 packets/s of 1 ms each on average: 2 ms, within chance.
    assert row.prediction.low == pytest.approx(2e-3, rel=0.1)
    assert row.verdict == "agrees"


def test_even_packets_wait_less_than_the_bound_and_some():
    scenario = even_packets()
    run = scenario.run()
    (row,) = (r for r in compare(scenario, run).rows if r.law.name == "fair-delay")
    assert row.prediction.high == pytest.approx(4 * 8000 / 5e6)
    # All four send at once: on average 1.5 packets are before one.
    assert row.prediction.measured == pytest.approx(1.5 * 8000 / 5e6, rel=0.05)
    link = next(link for link in run.summary["links"] if link["id"] == row.prediction.subject)
    link["delay_mean_s"] *= 5
    assert any(r.verdict == "parts" for r in compare(scenario, run).rows)


def test_water_filling():
    # Worked by hand: b is filled first, by three; then a and c by what is left.
    routes = [("a", "b"), ("b",), ("a",), ("c",), ("b", "c")]
    rates = max_min(routes, {"a": 1.0, "b": 0.6, "c": 1.0})
    assert rates == pytest.approx([0.2, 0.2, 0.8, 0.8, 0.2])


def test_the_law_of_loss_is_out_by_what_a_wrong_rate_is_out():
    """The comparison can fail: a run whose goodput is halved parts from the law."""
    scenario = load(ROOT / "web/lessons/square-root.toml")
    run = scenario.run()
    for flow in run.summary["flows"]:
        flow["goodput_bps"] /= 2
    (parted,) = (r for r in compare(scenario, run).rows if r.law.name == "square-root")
    assert parted.verdict == "parts"
    assert parted.deviation == pytest.approx(-0.5, abs=0.15)


def test_the_command_reads_a_scenario_and_a_run(tmp_path):
    file = ROOT / "examples/dumbbell-aimd-vegas.toml"
    out = tmp_path / "run"
    load(file).run().save(out)
    by_file = CliRunner().invoke(cli.cli, ["twin", str(file)])
    by_run = CliRunner().invoke(cli.cli, ["twin", str(out)])
    assert by_file.exit_code == by_run.exit_code == 0
    assert by_file.output == by_run.output
    assert "2 of 2 predictions agree" in by_file.output
    refused = CliRunner().invoke(cli.cli, ["twin", str(out), "--set", "seed=2"])
    assert refused.exit_code == 2


def test_a_run_prints_its_twin(tmp_path):
    file = str(ROOT / "examples/dumbbell-aimd-vegas.toml")
    plain = CliRunner().invoke(cli.cli, ["run", file, "--twin"])
    assert plain.exit_code == 0
    assert "2 of 2 predictions agree" in plain.output
    as_json = CliRunner().invoke(cli.cli, ["run", file, "--twin", "--json", "--quiet"])
    found = json.loads(as_json.output)
    assert [r["verdict"] for r in found["twin"]["rows"]] == ["agrees", "agrees"]
    refused = CliRunner().invoke(cli.cli, ["run", file, "--twin", "--reps", "2"])
    assert refused.exit_code == 2


def test_a_paper_is_compared_run_by_run():
    done = CliRunner().invoke(cli.cli, ["twin", "--paper", "example", "--json", "--quiet"])
    found = json.loads(done.output)
    assert found["runs"] > 1
    assert all(row["verdict"] != "parts" for row in found["rows"])
    assert {row["law"] for row in found["rows"]} >= {"square-root"}
    both = CliRunner().invoke(cli.cli, ["twin"])
    assert both.exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("fast2013", 60),
        ("mccullough2010", 60),
        ("c4", 60),
        ("example", 60),
        ("akella2002", 24),
        ("green2002", 24),
        ("legout1999", 24),
    ],
)
def test_no_run_of_a_paper_parts_without_a_known_reason(name, most):
    found = paper_survey(name, "first", most, with_bar=False)
    assert [f"{label}: {row.sentence}" for label, row in found.parted] == []


def pushed_out():
    net = ac.topology.Dumbbell(
        pairs=3, rate="5 Mbps", rtt="40 ms", buffer="30 pkt", qdisc=ac.qdisc.Drr(victim="head")
    )
    source = {"kind": "cbr", "rate": "4 Mbps", "packet": "1000 B"}
    flows = [ac.Flow(pair=0, cc="aimd"), *(ac.Flow(pair=n, source=source) for n in (1, 2))]
    return ac.Scenario(net=net, flows=flows, duration="20 s", warmup="2 s")


def test_packets_that_are_pushed_out_have_waited():
    """The reason has to be one of the engine's: a queue holds what it later drops."""
    scenario = pushed_out()
    run = scenario.run()
    (link,) = (link for link in run.summary["links"] if link["drops"])
    assert link["drop_reasons"]["pushed-out"] > 1000
    (found,) = (r for r in compare(scenario, run).rows if r.prediction.subject == link["id"])
    assert (found.law.name, found.verdict) == ("little", "parts, known")
    assert found.deviation > 0
    assert "dropped while they waited" in found.sentence


def test_an_access_link_is_no_bottleneck_of_a_flow_that_loses_elsewhere():
    net = ac.topology.Dumbbell(
        pairs=4, rate="5 Mbps", access_rate="5 Mbps", rtt="60 ms", buffer="10 pkt",
        access_buffer="4 pkt",
    )  # fmt: skip
    flows = [ac.Flow(pair=n, cc="aimd", recovery="sack") for n in range(4)]
    scenario = ac.Scenario(net=net, flows=flows, duration="60 s", warmup="10 s")
    run = scenario.run()
    assert any(link["drops"] for link in run.summary["links"] if link["id"].startswith("s"))
    names = {r.law.name for r in compare(scenario, run).rows}
    assert not names & {"sawtooth", "linear", "bbr"}


def test_the_window_of_a_receiver_is_a_demand_behind_fair_queueing():
    """20 segments per round trip: the others divide what that flow leaves."""
    net = ac.topology.Dumbbell(
        pairs=3, rate="20 Mbps", rtt="100 ms", buffer="300 pkt", qdisc=ac.qdisc.Fq()
    )
    small = ac.Flow(pair=0, cc="aimd", tcp={"receiver_window": 20})
    flows = [small, *(ac.Flow(pair=n, cc="aimd") for n in (1, 2))]
    scenario = ac.Scenario(net=net, flows=flows, duration="60 s", warmup="20 s")
    rows = [r for r in compare(scenario).rows if r.law.name == "max-min"]
    assert [r.verdict for r in rows] == ["agrees"] * 3
    assert rows[0].prediction.high < 0.5 * rows[1].prediction.high


def test_a_buffer_that_bridges_no_halving_is_a_reason_to_part_from_max_min():
    net = ac.topology.Dumbbell(
        pairs=2, rate="20 Mbps", rtt="200 ms", buffer="8 pkt", qdisc=ac.qdisc.Fq()
    )
    flows = [ac.Flow(pair=n, cc="aimd", recovery="sack") for n in range(2)]
    scenario = ac.Scenario(net=net, flows=flows, duration="90 s", warmup="20 s")
    rows = [r for r in compare(scenario).rows if r.law.name == "max-min"]
    assert {r.verdict for r in rows} == {"parts, known"}
    assert all("do not bridge its decreases" in r.sentence for r in rows)


def test_the_form_with_timeouts_predicts_what_is_sent_and_the_goodput_is_what_arrives():
    """Bernoulli losses of 5 %: the form is of the rate sent, one packet in 20 of which is lost."""
    net = ac.topology.Dumbbell(pairs=1, rate="50 Mbps", rtt="100 ms", buffer="200 pkt", loss=0.05)
    flow = ac.Flow(pair=0, cc="aimd", recovery="reno")
    scenario = ac.Scenario(net=net, flows=[flow], duration="400 s", warmup="10 s")
    run = scenario.run()
    (row,) = run.summary["flows"]
    (found,) = (r for r in compare(scenario, run).rows if r.law.name == "pftk")
    assert found.verdict == "agrees"
    events = (row["recoveries"] + row["timeouts"]) / row["sent_packets"]
    arrived = row["delivered_packets"] / row["sent_packets"]
    assert arrived == pytest.approx(0.95, abs=0.02)
    form = rate_bps(events, row["srtt_mean_s"], 1460, 1.0, 1.0, float("inf"))
    assert found.prediction.low == pytest.approx(arrived * float(form))


def test_weights_of_generated_flows_are_not_guessed():
    flow = ac.Flow(pair=0, cc="aimd", size="100 kB")
    net = ac.topology.Dumbbell(pairs=1, rate="5 Mbps", rtt="20 ms", buffer="20 pkt")
    found = compare(ac.Scenario(net=net, flows=[flow], duration="5 s"))
    assert {r.law.name for r in found.rows} <= {"little"}


def test_a_timeout_in_ticks_by_hand():
    # Samples of one tick: SRTT 8 eighths, RTTVAR 2 quarters; (8 x 2 + 8) / 8 = 3 ticks.
    assert ticked_timeout_s(0.02, 0.1) == pytest.approx(0.3)
    assert ticked_timeout_s(0.02, 0.5) == pytest.approx(1.5)
    # Of two ticks RTTVAR comes to rest at 3 quarters: (8 x 3 + 16) / 8 = 5.
    assert ticked_timeout_s(0.2, 0.1) == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize(("era", "expected"), [("1999", 0.3), ("2002", 1.0), ("linux", 0.22)])
def test_the_timer_of_a_law_is_the_one_that_runs(era, expected):
    net = ac.topology.Dumbbell(pairs=1, rate="50 Mbps", rtt="20 ms", buffer="200 pkt", loss=0.03)
    scenario = ac.Scenario(
        net=net,
        flows=[ac.Flow(pair=0, cc="aimd", recovery="reno")],
        duration="200 s",
        warmup="10 s",
        era=era,
        record={"tables": ["states", "windows"]},
    )
    run = scenario.run()
    seen = TheoryMeasurements(scenario, run)
    (flow,) = seen.flows
    assert first_timeout_s(seen, flow) == pytest.approx(expected, rel=0.03)
    windows = run.windows.to_pydict()
    acked = [t for t, n in zip(windows["time_s"], windows["acked"], strict=True) if n]
    states = run.states.to_pydict()
    lost = [t for t, s in zip(states["time_s"], states["state"], strict=True) if s == "loss"]
    waits = sorted(t - max(a for a in acked if a < t) for t in lost if t > acked[0])
    # The timer began with the last acknowledgement, or up to a round trip before.
    assert len(waits) > 50
    typical = waits[len(waits) // 2]
    assert expected - 0.025 <= typical <= expected * 1.03


def lossy_reno(**changes):
    """A flow by hand: 1000 loss events in 100,000 packets, of which 300 were timeouts."""
    row = {"id": "f0", "cc": "aimd", "recovery": "reno", "recoveries": 700, "timeouts": 300}
    row |= {"ecn_reductions": 0, "sent_packets": 100_000, "delivered_packets": 99_000}
    row |= {"srtt_mean_s": 0.1, "lost_ack_packets": 0, "goodput_bps": 0.0, **changes}
    parameters = {"a": 1, "b": 0.5}
    return SeenFlow(row, (), 0.1, parameters, None, True, 0.0, {})


def pftk_of(flow):
    numbers = {"mss": 1000.0, "min_rto": 1.0, "tick": 0.0}
    seen = SimpleNamespace(
        flows=[flow],
        is_of_segments=True,
        run=SimpleNamespace(summary={"era": "rfc"}),
        number=lambda of, path, kind: numbers[path],
        mss_bytes=lambda of: numbers["mss"],
    )
    (law,) = (law for law in LAWS if law.name == "pftk")
    return list(law.predict(seen))


def test_the_share_of_timeouts_in_place_of_the_estimate_by_hand():
    # p = 0.01, RTT 0.1 s, T0 = 1 s: 0.1 sqrt(0.02 / 3) = 8.165 ms of halvings a packet, and of
    # timeouts 0.3 of the events, 0.3 x 0.01 x 1.0032 = 3.0096 ms: 0.99 x 8000 bit / 11.175 ms.
    own = 0.99 * 8000 / (0.1 * math.sqrt(0.02 / 3) + 0.3 * 0.01 * (1 + 32e-4))
    assert own == pytest.approx(708.7e3, rel=1e-3)
    (found,) = pftk_of(lossy_reno(goodput_bps=own * 1.3))
    # The estimate: 3 sqrt(0.03 / 8) = 0.184.
    assert found.limit == "30.0 % of its loss events were timeouts, not 18.4 %"
    assert found.low == found.high
    form = 0.99 * 8000 / (0.1 * math.sqrt(0.02 / 3) + 0.1837 * 0.01 * (1 + 32e-4))
    assert found.low == pytest.approx(form, rel=1e-4)
    # Where the own share does not bring them together it is no reason.
    assert [found.limit for found in pftk_of(lossy_reno(goodput_bps=own * 1.5))] == [""]


def test_what_the_form_with_timeouts_does_not_know_is_named():
    limits = {
        "sack repairs losses that cost Reno a timeout": {"recovery": "sack"},
        "2.0 % of its acknowledgements were lost": {"lost_ack_packets": 1980},
        "30 timeouts, whose mean length backoffs leave open": {"timeouts": 30, "recoveries": 970},
    }
    for limit, changes in limits.items():
        (found,) = pftk_of(lossy_reno(**changes))
        assert found.limit == limit
    # Without a timeout, or with other parameters, it says nothing.
    assert pftk_of(lossy_reno(timeouts=0)) == []
    flow = lossy_reno()
    assert pftk_of(replace(flow, parameters={"a": 1, "b": 0.7})) == []
    assert pftk_of(replace(flow, row={**flow.row, "cc": "cubic"})) == []
