"""Log-normal matrices that suit the network, and fits of real ones."""

import numpy as np
import pytest

from ackclock.engines.fluid import FluidCase
from ackclock.engines.fluid.ranked import exponential_skew, log_normal_sigma

# A core of a, b with much, c with less, d with least.
NET = {"kind": "links", "links": [["a", "b", 100], ["b", "c", 10], ["a", "c", 10], ["c", "d", 1]]}


def matrix(**more):
    question = FluidCase({"net": NET, "traffic": {"kind": "ranked", **more}})
    nodes, flows = question.graph().nodes, question.traffic()
    pairs = zip(flows.src.tolist(), flows.dst.tolist(), strict=True)
    return {(nodes[a], nodes[b]): d for (a, b), d in zip(pairs, flows.demand, strict=True)}


def test_the_largest_demands_go_to_the_pairs_that_can_carry_most():
    demand = matrix(sigma=1.0)
    assert len(demand) == 12
    # a and b have 110 each, c 21, d 1.
    order = sorted(demand, key=demand.get, reverse=True)
    assert set(order[:2]) == {("a", "b"), ("b", "a")}
    assert set(order[2:6]) == {("a", "c"), ("c", "a"), ("b", "c"), ("c", "b")}
    assert set(order[6:]) == {pair for pair in demand if "d" in pair}
    # With d, one hop comes before two.
    assert set(order[6:8]) == {("c", "d"), ("d", "c")}


def test_the_seed_draws_the_demands_and_sigma_0_makes_them_equal():
    assert matrix() == matrix()
    plain = {"kind": "ranked", "sigma": 0, "mean": "5 bps"}
    demand = FluidCase({"net": NET, "traffic": plain}).traffic().demand
    assert demand == pytest.approx(np.full(12, 5.0))
    question = FluidCase({"net": NET, "traffic": {"kind": "ranked"}})
    assert not np.array_equal(question.traffic().demand, question.with_seed(2).traffic().demand)


def test_fits_find_what_was_drawn():
    rng = np.random.default_rng(3)
    assert log_normal_sigma(rng.lognormal(2.0, 1.3, 20_000)) == pytest.approx(1.3, rel=0.02)
    for exponent in (0.1, 0.5, 2.0):
        volumes = rng.permutation(7.0 * np.exp(-exponent * np.arange(20)))
        assert exponential_skew(volumes) == pytest.approx(exponent, rel=1e-6)
    assert exponential_skew(np.ones(9)) == 0.0


def test_the_skew_of_real_networks():
    def of(name):
        data = {"kind": "topohub", "name": name, "rate": "10 Gbps"}
        question = FluidCase({"net": data, "traffic": {"kind": "matrix", "topohub": name}})
        flows = question.traffic()
        return log_normal_sigma(flows.demand), exponential_skew(
            np.bincount(flows.src, flows.demand)
        )

    # McCullough et al. state 0.5 for GEANT2 in 2007; SNDlib's GEANT of 2005 is less skewed.
    assert of("sndlib/geant") == pytest.approx((2.25, 0.228), rel=0.01)
    assert of("sndlib/abilene") == pytest.approx((1.43, 0.331), rel=0.01)
