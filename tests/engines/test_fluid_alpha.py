"""Alpha-fair allocations against closed forms, another solver, and their own criterion."""

import itertools

import numpy as np
import pytest

import ackclock as ac
from ackclock.engines.fluid import FluidNet

ALPHAS = [0.5, 1, 2, 4, 8, 16]


def random_net(seed, flows=60, links=25, **options):
    rng = np.random.default_rng(seed)
    routes = [rng.choice(links, rng.integers(1, 5), replace=False) for _ in range(flows)]
    return FluidNet.from_routes(rng.uniform(1, 10, links), routes, **options)


@pytest.mark.parametrize("solver", ["newton", "clarabel"])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_a_long_flow_over_n_links_of_1_gets_1_in_1_plus_the_alphath_root_of_n(alpha, solver):
    # Each link has one short flow too: x^-alpha = n (1 - x)^-alpha (Bonald and Massoulie 2001).
    n = 5
    net = FluidNet.from_routes(np.ones(n), [range(n), *([i] for i in range(n))])
    rates = net.alpha_fair(alpha, solver)
    long = 1 / (1 + n ** (1 / alpha))
    exact = 1e-9 if solver == "newton" else 1e-4
    assert rates == pytest.approx([long] + [1 - long] * n, rel=exact)


def test_at_0_the_total_is_largest_and_at_infinity_it_is_max_min():
    net = FluidNet.from_routes([1, 1], [[0, 1], [0], [1]])
    assert net.alpha_fair(0) == pytest.approx([0, 1, 1], abs=1e-6)
    assert net.alpha_fair(np.inf).tolist() == net.max_min().tolist() == [0.5, 0.5, 0.5]


def test_on_one_link_rates_are_as_the_alphath_roots_of_weights():
    net = FluidNet.from_routes([12], [[0], [0]], weight=[1, 9])
    assert net.alpha_fair(1) == pytest.approx([1.2, 10.8])
    assert net.alpha_fair(2) == pytest.approx([3, 9])


@pytest.mark.parametrize("alpha", [0.5, 1, 2])
def test_two_solvers_that_share_nothing_agree(alpha):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        net = random_net(seed, weight=rng.uniform(0.5, 2, 60), demand=rng.uniform(0.2, 3, 60))
        assert net.alpha_fair(alpha) == pytest.approx(net.alpha_fair(alpha, "clarabel"), rel=2e-3)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_no_other_rates_that_fit_are_better_in_the_first_order(alpha):
    # The criterion of the definition: sum x^-alpha (z - x) <= 0 for every z that fits.
    net = random_net(3)
    rates = net.alpha_fair(alpha)
    load = np.bincount(net.hops, np.repeat(rates, np.diff(net.offsets)), net.n_links)
    assert np.all(load <= net.capacity * (1 + 1e-9))
    rng = np.random.default_rng(1)
    slope = (rates / rates.min()) ** -alpha
    others = [net.max_min(), net.alpha_fair(1), net.alpha_fair(0)]
    others += [net.evaluate(rng.uniform(0, 4, net.n_flows)).goodput for _ in range(50)]
    for z in others:
        assert slope @ (z - rates) <= 1e-6 * (slope @ rates)


def test_as_alpha_grows_the_allocation_goes_to_max_min():
    net = random_net(5)
    ideal = net.max_min()
    gaps = [np.abs(net.alpha_fair(alpha) - ideal).max() for alpha in ALPHAS]
    assert all(wide > narrow for wide, narrow in itertools.pairwise(gaps))
    assert gaps[-1] < 0.1 * gaps[0]


def test_a_wrong_alpha_or_solver_is_refused():
    for alpha in (-1, 17, np.nan):
        with pytest.raises(ac.ScenarioError, match="expected 0 to 16"):
            random_net(1).alpha_fair(alpha)
    with pytest.raises(ac.ScenarioError, match='did you mean "newton"'):
        random_net(1).alpha_fair(1, "newtn")
