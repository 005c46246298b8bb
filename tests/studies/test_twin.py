"""Theory beside runs: every law against a run in its domain, and no parting without a reason."""

import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.scenario.load import load
from ackclock.studies.twin.law import Law, Prediction
from ackclock.studies.twin.laws import LAWS
from ackclock.studies.twin.laws.fair_queue import max_min
from ackclock.studies.twin.laws.sawtooth import utilisation
from ackclock.studies.twin.twin import Row, Twin, compare

ROOT = Path(__file__).resolve().parents[2]
LESSONS = tomllib.loads((ROOT / "web/lessons/lessons.toml").read_text())["lessons"]
FILES = [
    *(file for file in sorted(ROOT.glob("examples/*.toml")) if file.stem != "geant"),
    *(ROOT / "web/lessons" / lesson["file"] for lesson in LESSONS),
]


def row(low, high, measured, limit="", accuracy=0.1):
    law = Law("law", "", "", "goodput_bps", accuracy, lambda _: iter(()))
    return Row(law, Prediction("f", low, high, measured, limit))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_theory_and_engine_part_nowhere_without_a_known_reason(file):
    found = compare(load(file))
    assert [r.sentence for r in found.rows if r.verdict == "parts"] == []


def fair_shares():
    return load(ROOT / "examples/parking-lot.toml").replace(**{"net.qdisc": "fq"})


def one_ledbat():
    net = ac.topology.Dumbbell(pairs=1, rate="5 Mbps", rtt="30 ms", buffer="400 pkt")
    flow = ac.Flow(pair=0, cc="ledbat")
    return ac.Scenario(net=net, flows=[flow], duration="60 s", warmup="20 s")


@pytest.mark.parametrize(("law", "made"), [("max-min", fair_shares), ("ledbat", one_ledbat)])
def test_a_law_holds_in_its_domain(law, made):
    rows = [r for r in compare(made()).rows if r.law.name == law]
    assert rows
    assert [r.sentence for r in rows if not r.agrees] == []


def test_each_law_has_a_run_to_which_it_applies():
    runs = [*(load(file) for file in FILES), fair_shares(), one_ledbat()]
    used = {r.law.name for scenario in runs for r in compare(scenario).rows}
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


def test_weights_of_generated_flows_are_not_guessed():
    flow = ac.Flow(pair=0, cc="aimd", size="100 kB")
    net = ac.topology.Dumbbell(pairs=1, rate="5 Mbps", rtt="20 ms", buffer="20 pkt")
    found = compare(ac.Scenario(net=net, flows=[flow], duration="5 s"))
    assert {r.law.name for r in found.rows} <= {"little"}
