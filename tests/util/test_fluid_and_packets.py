"""Fluid rates against packet runs, as on the page of the documentation, for one small network."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "theory"))

import write_fluid_packets as tool


def test_fair_queues_give_fluid_rates_and_fifo_prefers_short_ways():
    fair = tool.compared(tool.scenario("abilene", 2, "fq", 1, start=False))
    fifo = tool.compared(tool.scenario("abilene", 2, "fifo", 1, start=False))
    assert fair.deviation < 0.05
    assert abs(fair.bias) < 0.1
    assert fifo.deviation > 2 * fair.deviation
    assert fifo.bias < -0.2
    assert fair.fluid == fifo.fluid  # the same flows


def test_a_second_is_too_short_for_all_to_have_their_rates():
    start = tool.compared(tool.scenario("abilene", 2, "fq", 1, start=True))
    assert start.total < 0.95


def test_the_bias_is_the_exponent_of_the_round_trip(monkeypatch):
    """By hand: rates in inverse proportion to round trips, and half of it."""
    case = tool.scenario("abilene", 1, "fq", 3, start=False)
    fluid, trips = tool.fluid_rates(case)
    rates = fluid * trips.mean() / trips / (1500 / 1460)
    run = SimpleNamespace(summary={"flows": [{"goodput_bps": r, "timeouts": 1} for r in rates]})
    monkeypatch.setattr(type(case), "run", lambda _: run)
    found = tool.compared(case)
    assert found.bias == pytest.approx(-1)
    assert found.scatter == pytest.approx(0, abs=1e-9)
    assert found.total == pytest.approx(float(np.sum(fluid * trips.mean() / trips) / fluid.sum()))


def test_tables_go_between_the_markers():
    page = f"a\n{tool.BEGIN}\nold\n{tool.END}\nb\n"
    assert tool.filled(page, "new") == f"a\n{tool.BEGIN}\n\nnew\n{tool.END}\nb\n"
    assert tool.BEGIN in tool.PAGE.read_text(encoding="utf-8")
