"""Packet runs of FAST against the closed forms of persistent congestion and its two cures."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import ackclock as ac
from ackclock.engines.model import fast

TCP = {"header": 0, "initial_window": 2, "delayed_ack": 1, "min_rto": "200 ms"}


def run(
    flows: list[dict[str, Any]],
    last_s: float,
    *,
    delay_ms: float = 12,
    smaller: int = 1,
    probes: bool = False,
) -> ac.Run:
    """Flows over the paper's dumbbell, measured for ten seconds up to ``last_s``."""
    tcp = {**TCP, "mss": 1000 // smaller, "initial_window": 2 * smaller}
    net = {
        "kind": "dumbbell", "pairs": 21, "rate": "100 Mbps", "delay": f"{delay_ms} ms",
        "access_delay": "0 s", "buffer": f"{6000 * smaller} pkt",
    }  # fmt: skip
    document: dict[str, Any] = {
        "tcp": tcp, "net": net, "flows": flows, "duration": last_s, "warmup": last_s - 10,
    }  # fmt: skip
    if probes:
        document["record"] = {"tables": ["probes"]}
    return ac.Scenario.from_data(document).run()


@cache
def in_turn(n: int, smaller: int = 1) -> tuple[np.ndarray, float]:
    """Shares, oldest first, and the queue in packets of 1000 bytes of n flows 5 s apart."""
    cc = {"kind": "fast", "alpha": 50.0 * smaller}
    flows = [{"id": "f", "pair": 0, "count": n, "stagger": 5.005, "cc": cc}]
    found = run(flows, 60.0, smaller=smaller)
    links = found.links.to_pandas().set_index("id")
    queue = float(links.queue_mean_packets["r0->r1"]) / smaller
    return found.flows.to_pandas().goodput_bps.to_numpy() / 1e8, queue


@cache
def joining(
    control: str, n: int, delay_ms: float = 12, **params: Any
) -> tuple[float, float, float]:
    """Ratio (26) of a late flow to n that know the delay, its share, and the n it estimates."""
    old: dict[str, Any] = {"id": "old", "pair": 0, "cc": {"kind": "fast", "alpha": 50.0}}
    if n > 1:
        old.update(count=n, stagger=0.0004)
    cc = {"kind": control, "alpha": 50.0, **params}
    late = {"id": "new", "src": "s20", "dst": "d20", "start": 20.0948, "cc": cc}
    found = run([old, late], 60.0, delay_ms=delay_ms, probes=True)
    rates = found.flows.to_pandas().set_index("id").goodput_bps
    new = float(rates["new"])
    probes = found.probes.to_pandas()
    reported = probes[(probes.flow == "new") & (probes.probe == "estimated_flows")].value
    estimate = float(reported.iloc[-1]) if len(reported) else float("nan")
    return new / float(rates.drop("new").mean()), new / 1e8, estimate


@pytest.mark.slow
@pytest.mark.parametrize("n", range(2, 10))
def test_shares_of_flows_in_turn_are_within_2_percent_of_equation_11(n: int):
    shares, queue = in_turn(n)
    assert shares == pytest.approx(fast.sequential_shares(n), rel=0.02)
    # Whole packets: no flow keeps more than alpha, and each at most one less.
    short = fast.buffer_packets(n, 50.0) - queue
    assert -0.5 < short < 0.5 * n


@pytest.mark.slow
def test_the_queue_is_short_by_whole_packets_for_smaller_ones_leave_less():
    model = fast.buffer_packets(9, 50.0)
    assert model == pytest.approx(1027.2, abs=0.05)
    _, coarse = in_turn(9)
    _, fine = in_turn(9, 10)
    assert model - coarse > 2
    assert abs(model - fine) < 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "share"), [(1, 0.618), (2, 0.5), (4, 0.390), (8, 0.297), (16, 0.221)]
)
def test_a_late_flow_gets_its_share_within_2_percent_of_equation_15(n: int, share: float):
    ratio, measured, _ = joining("fast", n)
    assert measured == pytest.approx(share, rel=0.02)
    assert ratio == pytest.approx(float(fast.joining(n)["fairness_ratio"]), rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 8])
def test_the_correction_makes_a_late_flow_fair_over_all_delays(n: int):
    ratios = np.array([joining("fast-corrected", n, ms)[0] for ms in (3, 8, 13, 23, 33, 43, 53)])
    assert np.abs(ratios - 1).max() < 0.05
    assert np.median(np.abs(ratios - 1)) < 0.03


@pytest.mark.slow
def test_a_line_through_the_probe_errs_less_than_its_last_segment():
    def errors(reading: str) -> list[float]:
        found = [joining("fast-corrected", 8, ms, reading=reading)[2] for ms in (8, 18, 23, 33)]
        return [abs(n - 8) for n in found]

    assert np.mean(errors("line")) < np.mean(errors("last"))
    assert max(errors("line")) < 0.4


def test_one_sample_of_a_small_probe_shows_less():
    def error(theta: float, reading: str) -> float:
        return abs(joining("fast-corrected", 8, 18, theta=theta, reading=reading)[2] - 8)

    assert error(-0.02, "last") > 2 * error(-0.5, "last")
    assert error(-0.02, "line") < error(-0.02, "last")


def test_rate_reduction_is_fair_above_its_threshold_and_not_below():
    # 40.98 ms for four flows: 23 ms there and back are 46, 13 ms are 26.
    assert joining("fast-rate-reduction", 4, 23)[0] == pytest.approx(1, abs=0.03)
    assert joining("fast-rate-reduction", 4, 13)[0] > 1.2
    for n, ms in ((4, 8), (8, 13), (8, 28)):
        model = fast.joining(n, propagation_s=0.002 * ms + 0.0001)
        assert not model["rate_reduction_works"]
        ratio = joining("fast-rate-reduction", n, ms)[0]
        assert ratio == pytest.approx(float(model["reduced_ratio"]), rel=0.05)
