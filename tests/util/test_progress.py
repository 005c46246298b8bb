"""How far long work is: lines where standard error is no terminal."""

import math

import pytest
from click.testing import CliRunner

from ackclock._util import number_text, progress
from ackclock.cli.main import cli
from ackclock.scenario import execution

SCENARIO = """
duration = "{seconds} s"
[net]
kind = "dumbbell"
pairs = 1
rate = "100 Mbps"
rtt = "20 ms"
[[flows]]
pair = 0
"""


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.4, "0 s"),
        (59.6, "1:00"),
        (3725, "1:02:05"),
        (86_400, "1 day 0:00:00"),
        (1_875_000, "21 days 16:50:00"),
    ],
)
def test_times_are_said_as_people_say_them(seconds, said):
    assert number_text.clock(seconds) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.008296, "8.296 ms"),
        (119.96, "120 s"),
        (120, "2:00"),
        (None, "-"),
        (math.inf, "inf s"),
    ],
)
def test_working_time_is_exact_while_it_is_short(seconds, said):
    assert number_text.working_time(seconds) == said


def test_lines_come_ever_more_rarely_and_at_last_hourly(monkeypatch, capsys):
    now = 1000.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with progress.Bar("long", is_shown=True) as update:
        for second in range(86_400):
            now = 1000.0 + second
            update(second / 86_400)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "long: 0.0347 %, about 23:59:30 left"
    assert lines[1] == "long: 0.0694 %, about 23:59:00 left"
    assert 25 <= len(lines) <= 35
    assert lines[-1].endswith("left")


def test_nothing_is_said_of_what_is_soon_over_or_to_be_quiet(monkeypatch, capsys):
    with progress.Bar("short", is_shown=True) as update:
        update(0.5)
    monkeypatch.setattr(progress, "FIRST_S", 0.0)
    with progress.Bar("quiet", is_shown=False) as update:
        update(0.5)
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.parametrize("more", [[], ["--reps", "2"]])
def test_a_run_reports_a_log_how_far_it_is(tmp_path, monkeypatch, more):
    monkeypatch.setattr(progress, "FIRST_S", 0.0)
    monkeypatch.setattr(execution, "PROGRESS_S", 0.0)
    file = tmp_path / "busy.toml"
    file.write_text(SCENARIO.format(seconds=300), encoding="utf-8")
    result = CliRunner().invoke(cli, ["run", str(file), "--json", *more])
    assert result.exit_code == 0
    assert " %, about " in result.stderr
    assert " left" in result.stderr
    assert "about" not in result.stdout
    assert "left" not in CliRunner().invoke(cli, ["run", str(file), "--quiet", *more]).stderr


def test_a_sweep_reports_a_log_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "FIRST_S", 0.0)
    (tmp_path / "busy.toml").write_text(SCENARIO.format(seconds=20), encoding="utf-8")
    sweep = tmp_path / "sweep.toml"
    lines = [
        'name = "seeds"',
        'base = "busy.toml"',
        "reps = 3",
        'metrics = ["mean(flows.goodput_bps)"]',
        '[over]\n"net.rtt" = ["20 ms", "40 ms"]',
    ]
    sweep.write_text("\n".join(lines), encoding="utf-8")
    result = CliRunner().invoke(cli, ["sweep", str(sweep), "--store", str(tmp_path / "store")])
    assert result.exit_code == 0, result.output
    assert "seeds: " in result.stderr
    assert "of 6 runs" in result.stderr
