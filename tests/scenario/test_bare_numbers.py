"""People write units; documents of programs may have plain SI numbers."""

import json

import pytest

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.engines.registry import load_case
from ackclock.errors import ScenarioError
from ackclock.experiments.file_form import load_sweep

TEXT = """
duration = 2
[net]
kind = "dumbbell"
pairs = 1
rate = "5 Mbps"
rtt = "20 ms"
[[flows]]
pair = 0
start = 0.5
"""

NET = {"kind": "dumbbell", "pairs": 1, "rtt": "20 ms"}


def problems_of(make):
    with pytest.raises(ScenarioError) as caught:
        make()
    return [f"{p.path}: {p.message}" for p in caught.value.problems]


@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        (
            '"5 Mbps"',
            "10",
            'net.rate: 10 has no unit; expected a rate with unit, such as "10 Mbps"',
        ),
        ('"5 Mbps"', '"10"', 'net.rate: "10" has no unit; expected a rate with unit'),
        (
            '"20 ms"',
            "20",
            'net.rtt: 20 has no unit; expected a duration with unit, such as "30 ms"',
        ),
        ("0.5", "0.5\nsize = 5e4", "flows[0].size: 50000.0 has no unit; expected a size with unit"),
        ("0.5", '0.5\ncc = { kind = "ledbat", target = 0.1 }', "flows[0].cc.target: 0.1 has no"),
    ],
)
def test_a_number_without_unit_is_refused_with_file_and_key(tmp_path, capsys, old, new, reported):
    file = tmp_path / "s.toml"
    file.write_text(TEXT.replace(old, new))
    (found,) = problems_of(lambda: ac.load(file))
    assert found.startswith(reported)
    assert cli.main(["check", str(file)]) == cli.EXIT_INPUT
    assert f"{file}: {reported}" in capsys.readouterr().err


def test_a_missing_unit_is_reported_beside_all_else_that_is_wrong():
    text = TEXT.replace('"5 Mbps"', "10").replace("0.5", '0.5\ncc = "cubik"')
    found = problems_of(lambda: ac.load(text))
    assert len(found) == 2
    assert found[0].startswith("net.rate") and found[1].startswith("flows[0].cc")


def test_points_of_the_runs_time_may_be_plain_seconds():
    assert ac.load(TEXT) == ac.load(TEXT)
    same = TEXT.replace("= 2", '= "2 s"').replace("0.5", '"500 ms"')
    assert ac.load(TEXT).fingerprint == ac.load(same).fingerprint


def test_zero_needs_no_unit():
    steps = 'rate = "5 Mbps"\nschedule = { steps = [{ at = 1, rate = 0 }] }'
    assert ac.load(TEXT.replace('rate = "5 Mbps"', steps)).data["net"]["schedule"]


def test_values_of_set_need_units(tmp_path, capsys):
    file = tmp_path / "s.toml"
    file.write_text(TEXT)
    for change in ("net.rate=10", "flows[*].size=50000", "net.access_delay=2"):
        assert cli.main(["check", str(file), "--set", change]) == cli.EXIT_INPUT
        assert "has no unit" in capsys.readouterr().err
    assert cli.main(["check", str(file), "--set", "net.rate=10 Mbps"]) == 0


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: ac.topology.Dumbbell(pairs=1, rate=10, rtt="20 ms"), "rate"),
        (lambda: ac.Flow(pair=0, stagger=3), "stagger"),
        (lambda: ac.cc.Ledbat(target=100), "target"),
        (lambda: ac.qdisc.FqCodel(quantum=300), "quantum"),
        (lambda: ac.load(TEXT).replace(**{"net.rate": 10}), "net.rate"),
        (lambda: ac.load(TEXT).replace(**{"flows[*].size": 10}), "flows[0].size"),
        (
            lambda: ac.Scenario({**NET, "rate": 10}, [ac.Flow(pair=0)]),
            "net.rate",
        ),
    ],
)
def test_python_classes_need_units(make, path):
    (found,) = problems_of(make)
    assert found.startswith(f"{path}: ") and "has no unit" in found


PROGRAM = {
    "duration": 1,
    "net": {"kind": "dumbbell", "pairs": 1, "rate": 5_000_000, "rtt": 0.02},
    "flows": [{"pair": 0, "size": 50_000}],
}


def test_numbers_of_programs_pass_by_every_way(tmp_path):
    made = ac.Scenario.from_data(PROGRAM)
    assert ac.load(json.dumps(PROGRAM)) == made
    assert made.net.rate == 5_000_000 and made.flows[0].size == 50_000
    assert made.net.replace(rtt="30 ms").rate == 5_000_000
    assert made.replace(**{"net.rtt": "30 ms"}).data["net"]["rate"] == 5_000_000
    run = made.run()
    run.save(tmp_path / "run")
    assert ac.load_run(tmp_path / "run").scenario.fingerprint == made.fingerprint
    file = tmp_path / "program.json"
    file.write_text(json.dumps(PROGRAM))
    assert load_case(file) == made


def test_toml_of_a_programs_scenario_has_units_and_loads():
    made = ac.Scenario.from_data(PROGRAM)
    text = made.to_toml()
    assert 'rate = "5000000 bit/s"' in text and 'size = "50000 B"' in text
    assert ac.load(text).fingerprint == made.fingerprint


def test_scenarios_in_sweeps_and_their_axes_need_units(tmp_path):
    file = tmp_path / "sweep.toml"
    whole = "[scenario]\n" + TEXT.replace("[net]", "[scenario.net]").replace(
        "[[flows]]", "[[scenario.flows]]"
    )
    file.write_text(whole.replace('"5 Mbps"', "10"))
    assert problems_of(lambda: load_sweep(file))[0].startswith("scenario.net.rate: 10 has no unit")
    file.write_text(whole + '\n[over]\nrate = { path = "net.rate", values = [1, 2] }\n')
    (found, *_) = problems_of(lambda: load_sweep(file).plan())
    assert "1 has no unit" in found


FLUID = """
engine = "fluid"
{unit}
[net]
kind = "dumbbell"
pairs = 2
rate = 10
rtt = "20 ms"
[traffic]
kind = "pattern"
between = "uniform-pairs"
"""


def test_a_fluid_case_needs_units_unless_its_own_is_another(tmp_path):
    file = tmp_path / "fluid.toml"
    file.write_text(FLUID.format(unit=""))
    assert problems_of(lambda: load_case(file)) == [
        'net.rate: 10 has no unit; expected a rate with unit, such as "10 Mbps"'
    ]
    file.write_text(FLUID.format(unit='unit = "flow units"'))
    assert load_case(file).data["net"]["rate"] == 10
