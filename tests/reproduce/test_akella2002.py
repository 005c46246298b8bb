"""The reproduction of Akella et al. 2002: its patterns of bandwidth, its figures."""

import itertools
import tomllib

import pytest

from ackclock.reproduce.check.queries import connect
from ackclock.reproduce.read.folder import PAPERS

PAPER = PAPERS / "akella2002"


def number(value):
    """Seconds, or Mbit/s."""
    if isinstance(value, str):
        digits, unit = value.split()
        return float(digits) * {"s": 1, "ms": 1e-3, "Mbps": 1, "kbps": 1e-3}[unit]
    return float(value)


def test_bandwidth_is_drawn_as_the_study_has_it():
    figures = tomllib.loads((PAPER / "figures.toml").read_text())["figure"]
    (figure,) = (entry for entry in figures if entry["id"] == "1-2-bandwidth")
    drawn = connect().execute(figure["data"]).fetchall()
    patterns = tomllib.loads((PAPER / "scenarios" / "patterns.toml").read_text())["over"]["pattern"]
    assert {panel for _, _, panel in drawn} == set(patterns["values"])
    for name, pattern in patterns["values"].items():
        steps = [(number(s["at"]), number(s["rate"])) for s in pattern["net.steps"]]
        got = sorted((float(x), float(y)) for x, y, panel in drawn if panel == name)
        period = number(pattern["net.period"])
        assert len(got) >= 2 * len(steps)
        for i, (x, y) in enumerate(got):
            at, rate = steps[i % len(steps)]
            assert x == pytest.approx(at + period * (i // len(steps)))
            assert y == pytest.approx(rate)


def test_the_saw_tooth_rises_in_equal_steps_and_falls_at_once():
    patterns = tomllib.loads((PAPER / "scenarios" / "patterns.toml").read_text())["over"]["pattern"]
    steps = patterns["values"]["AIMD best, saw-tooth"]["net.steps"]
    rates = [number(s["rate"]) for s in steps]
    assert (rates[0], rates[-1]) == (3, 8)
    assert [b - a for a, b in itertools.pairwise(rates)] == pytest.approx([1 / 3] * 15, abs=1e-3)
