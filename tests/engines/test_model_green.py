"""GREEN's closed forms against numbers worked out apart, in the digits given."""

from __future__ import annotations

import numpy as np
import pytest

from ackclock.engines.model import model

IDEAL = {"factor_low": 1.0, "factor_high": 1.0}
IDMAPS = {"factor_low": 1.0, "factor_high": 2.0}


def point(flows: float, **given: float) -> dict[str, float]:
    found = model("green_operating_point")(np.array([flows]), **given)
    return {key: float(values[0]) for key, values in found.items()}


def test_the_paper_s_loss_at_500_flows_is_above_the_half_per_cent_that_it_states():
    ideal, idmaps = point(500, **IDEAL), point(500, **IDMAPS)
    assert round(100 * ideal["drop_mean_ratio"], 3) == 0.876
    assert round(100 * ideal["drop_weighted_ratio"], 3) == 0.705
    assert round(100 * ideal["drop_max_ratio"]) == 15
    assert round(100 * idmaps["drop_weighted_ratio"], 2) == 0.36
    assert round(100 * idmaps["drop_mean_ratio"], 2) == 0.44


def test_counting_the_right_hand_latency_once_nearly_doubles_the_loss():
    once = point(500, rtt_low_s=0.061, rtt_high_s=0.560)
    assert round(100 * once["drop_mean_ratio"], 2) == 1.69


def test_the_mean_drop_ratio_is_the_integral():
    # E 1/R^2 over [a, b] is 1/(ab) where p stays below 1.
    exact = (500 * 8000 * 0.93 / 155e6) ** 2 / (0.062 * 1.06)
    assert point(500)["drop_mean_ratio"] == pytest.approx(exact, rel=2e-4)


def test_load_and_fairness_are_those_of_the_ledger():
    assert round(point(50)["load"], 2) == 0.93
    assert round(point(500)["load"], 2) == 0.90
    assert round(point(500)["jain"], 3) == 0.992
    assert round(point(50)["jain"], 3) == 1.000
    assert round(point(50, **IDMAPS)["load"], 2) == 1.40
    assert round(point(500, **IDMAPS)["load"], 2) == 1.37


def test_the_fairness_bound_of_a_factor_from_one_to_two():
    bound = model("fairness_bound")(np.array([1.0]), factor_high=2.0)
    assert round(float(bound["jain"][0]), 4) == 0.9643
    assert float(bound["drop_relative"][0]) == 0.5
    drawn = np.random.default_rng(1).uniform(1, 2, 400_000)
    share = drawn / 1.0
    jain = share.mean() ** 2 / (share**2).mean()
    assert float(bound["jain"][0]) == pytest.approx(jain, abs=4e-4)
    assert (1 / drawn**2).mean() == pytest.approx(0.5, abs=2e-3)


def test_pftk_meets_the_square_root_law_at_small_loss_and_falls_below_it_at_large():
    loss = np.array([1e-6, 1e-2, 1e-1])
    law = model("square_root_law")(loss, rtt_s=0.1, per_ack=2)["rate_bps"]
    full = model("pftk")(loss, rtt_s=0.1, per_ack=2)["rate_bps"]
    assert full[0] == pytest.approx(law[0], rel=1e-4)
    assert (full < law).all()
    # By hand at p = 0.01, b = 2, R = 0.1 s, T0 = 0.2 s: sqrt(0.0133333) = 0.1154701, so 0.01154701
    # of retransmissions; 3 sqrt(0.0075) = 0.2598076, so 0.2 x 0.2598076 x 0.01 x 1.0032 =
    # 0.000521278 of timeouts; 8 x 1460 / 0.012068288 = 967826 bit/s.
    assert full[1] == pytest.approx(967_826, rel=1e-5)


def test_a_receiver_s_window_bounds_pftk():
    rate = model("pftk")(np.array([0.0]), rtt_s=0.1, mss_bytes=1000, window=20)["rate_bps"]
    assert float(rate[0]) == 1.6e6


def test_a_flow_s_share_is_flat_by_the_square_root_law_and_not_by_pftk():
    found = model("green_drop")(500.0, rtt_s=np.array([0.062, 1.06]))
    # sqrt(3/4) / 0.93.
    assert found["share_square_root"] == pytest.approx([0.93121, 0.93121], abs=1e-5)
    # R = 62 ms, p = 0.149844: 0.0277128 s for the window, 0.2 x 0.149844 x 1.718503 = 0.0515015 s
    # of timeouts, so 8000 bit in 0.0792143 s: 100992 bit/s of 310000.
    assert found["share_pftk"][0] == pytest.approx(0.32578, abs=1e-5)
    assert 0.9 < found["share_pftk"][1] < 0.9312
