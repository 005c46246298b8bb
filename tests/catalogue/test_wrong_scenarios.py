"""What is wrong with a scenario is said in the same sentences by every way in."""

import json
import tomllib
from pathlib import Path

import pytest

import ackclock as ac
from ackclock import _core
from ackclock.cli import main as cli

GOOD = """
duration = 5
warmup = 1
seed = 3
[net]
kind = "dumbbell"
pairs = 2
rate = "10 Mbps"
rtt = "40 ms"
buffer = "20 pkt"
qdisc = "fifo"
[[flows]]
id = "a"
pair = 0
cc = "cubic"
[[flows]]
pair = 1
start = 0.5
[record]
tables = ["windows"]
"""
TABLE = json.loads((Path(__file__).parent / "wrong_scenarios.json").read_text(encoding="utf-8"))
"""What is written in place of what, and how the lines begin that are said of it."""
WRONG = [(row["in_place_of"], row["written"], row["said"]) for row in TABLE]
STEPS = ", ".join(f"{{ at = {i}, rate = {100 + i} }}" for i in range(120))


def starts(lines, expected):
    return len(lines) == len(expected) and all(
        line.startswith(one) for line, one in zip(sorted(lines), sorted(expected), strict=True)
    )


@pytest.mark.parametrize(("old", "new", "expected"), WRONG, ids=lambda case: str(case)[:24])
def test_a_wrong_scenario_gets_the_same_sentences_by_every_way(
    old, new, expected, tmp_path, capsys
):
    assert GOOD.count(old) == 1 or old in ("duration", "buffer")
    text = GOOD.replace(old, new, 1).replace("STEPS", STEPS)
    file = tmp_path / "s.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ac.ScenarioError) as caught:
        ac.load(text).check()
    package = [str(problem) for problem in caught.value.problems]
    assert starts(package, expected), package
    assert cli.main(["check", str(file)]) == cli.EXIT_INPUT
    shown = [line.removeprefix(f"{file}: ") for line in capsys.readouterr().err.splitlines()]
    assert shown == package
    # As the lab calls it: its tables are of JSON, its schedules cannot name files.
    core = json.loads(_core.check_typed(json.dumps(tomllib.loads(text))))
    said = [f"{p['path']}: {p['message']}".removeprefix(": ") for p in core]
    # JSON has no whole numbers of so many digits.
    said = [line.replace("1e+20", "99999999999999999999") for line in said]
    alike = [line.split("expected one of")[0].split("with one of")[0] for line in package]
    assert [s.split("expected one of")[0].split("with one of")[0] for s in said] == alike


def test_the_table_has_the_size_that_it_is_said_to_have():
    assert len(WRONG) >= 64
    ac.load(GOOD).check()
