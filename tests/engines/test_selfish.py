"""Selfish users of a finite queue: burdens, equilibria with closed forms, what greed takes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock.engines.model import selfish
from ackclock.engines.model.loss_load import loss_load_equilibrium
from ackclock.engines.model.selfish import poisson_users, selfish_users, several_connections
from ackclock.engines.model.users import bottleneck, search
from ackclock.errors import AckclockError

RATES = st.lists(st.floats(0.01, 1.0), min_size=2, max_size=6).map(np.array)


def settled(queue, want, users, buffer):
    behind = bottleneck.queue(queue, buffer)
    value = bottleneck.value_of(behind, [bottleneck.want(want)] * users)
    return search.settle(value, np.full(users, 0.5 / users), 1.0)


@given(st.floats(0.05, 3.0), st.integers(1, 60))
def test_drop_tail_loses_what_erlang_says(load, room):
    """M/M/1/K: the part lost is (1 - s) s^K / (1 - s^(K+1)); 1 / (K + 1) at load 1."""
    lost, held = bottleneck.queue("fifo", room).burden(load)
    near_one = abs(load - 1) < 1e-6
    part = 1 / (room + 1) if near_one else (1 - load) * load**room / (1 - load ** (room + 1))
    assert lost / load == pytest.approx(part, rel=1e-6, abs=1e-12)
    assert 0 <= held <= room


@given(RATES, st.sampled_from(sorted(bottleneck.QUEUES)))
def test_nothing_is_made_or_lost_on_the_way(rates, name):
    behind = bottleneck.queue(name)
    got = behind.got(rates)
    lost, held = behind.burden(float(rates.sum()))
    assert got.goodput + got.lost == pytest.approx(rates)
    assert got.lost.sum() == pytest.approx(lost, abs=1e-9)
    assert got.queue.sum() == pytest.approx(held)
    assert got.goodput.sum() <= 1 + 1e-9


@given(RATES, st.floats(0.01, 1.0))
def test_behind_fq_nobody_pays_for_a_larger_rate(rates, more):
    """What a user gets does not depend on how much more than itself another sends."""
    behind = bottleneck.queue("fq")
    largest, user = int(np.argmax(rates)), int(np.argmin(rates))
    greedy = rates.copy()
    greedy[largest] += more
    before, after = behind.got(rates), behind.got(greedy)
    if largest != user:
        assert after.goodput[user] == pytest.approx(before.goodput[user], abs=1e-9)
        assert after.queue[user] == pytest.approx(before.queue[user], abs=1e-9)


def test_equal_rates_bear_the_same_behind_fifo_and_fq():
    rates = np.full(5, 0.3)
    fifo, fq = (bottleneck.queue(name).got(rates) for name in ("fifo", "fq"))
    assert fq.goodput == pytest.approx(fifo.goodput)
    assert fq.queue == pytest.approx(fifo.queue)


def test_red_drops_before_the_buffer_is_full_and_so_holds_less():
    red, fifo = bottleneck.queue("red"), bottleneck.queue("fifo")
    for load in (0.5, 0.9, 1.1, 3.0):
        assert red.burden(load)[0] > fifo.burden(load)[0]
        assert red.burden(load)[1] < fifo.burden(load)[1]


def test_a_user_alone_settles_where_the_derivative_is_zero():
    """log r - r / (1 - r) is largest where (1 - r)^2 = r: r = (3 - sqrt 5) / 2."""
    for name in ("fifo", "fq"):
        rest = settled(name, "delay-sensitive", 1, 200)
        assert rest.rates[0] == pytest.approx((3 - 5**0.5) / 2, abs=1e-4)


def test_four_users_settle_where_their_derivatives_are_zero():
    """Behind FQ a user's derivative is 1/r - 1/(1 - 4r)^2, so 16 r^2 - 9 r + 1 = 0."""
    fq = settled("fq", "delay-sensitive", 4, 200)
    assert fq.rates == pytest.approx((9 - 17**0.5) / 32, abs=1e-4)
    # Behind FIFO it is 1/r - (1 - 3r)/(1 - 4r)^2, so 19 r^2 - 9 r + 1 = 0.
    fifo = settled("fifo", "delay-sensitive", 4, 200)
    assert fifo.rates == pytest.approx((9 - 5**0.5) / 38, abs=1e-4)


def test_climbing_a_hill_finds_its_top():
    tops = np.array([0.2, 0.6, 0.35])
    rest = search.climb(
        lambda rates, user: -((rates[user] - tops[user]) ** 2), np.full(3, 0.5), 1.0
    )
    assert rest.converged
    assert rest.rates == pytest.approx(tops, abs=1e-4)
    best = search.best_reply(lambda rates, user: -((rates[user] - 0.2) ** 2), tops, 1, 1.0)
    assert best == pytest.approx(0.2, abs=1e-6)


def test_users_with_fixed_rates_do_not_move():
    value = bottleneck.value_of(bottleneck.queue("fifo"), [bottleneck.want("linear")] * 2)
    rest = search.settle(value, np.array([0.3, 0.9]), 1.0, movers=[0])
    assert rest.rates[1] == 0.9
    assert rest.rates[0] != 0.3


def measure(queue, want):
    points = selfish_users(
        np.array([queue]),
        np.array([want]),
        np.array([4]),
        np.array([1.0]),
        np.array([3]),
        np.array([1]),
    )
    return {name: float(values[0]) for name, values in points.items()}


@pytest.mark.slow
@pytest.mark.parametrize("want", ["concave", "loss-tolerant"])
def test_selfish_users_flood_fifo_and_fill_fq(want):
    fifo, fq = measure("fifo", want), measure("fq", want)
    assert fifo["load"] == pytest.approx(4, abs=1e-3)
    assert fq["load"] == pytest.approx(1, abs=0.02)
    assert fq["equilibria"] == 1
    assert fq["climb_arrives_share"] == 1
    # With all alike the equilibrium is Pareto optimal behind FQ, and not behind FIFO.
    assert fq["room"] == pytest.approx(0, abs=1e-3)
    assert fifo["room"] > 0.03
    # Three send 0.25, one sends 1: behind FIFO 0.25 / 1.75 arrive of each 0.25.
    assert fifo["others_keep"] == pytest.approx(4 / 7, abs=0.02)
    assert fq["others_keep"] == pytest.approx(1, abs=1e-3)


def test_shares_follow_the_number_of_connections():
    for queue in bottleneck.QUEUES:
        points = several_connections(
            np.array([queue]), np.array(["concave"]), np.array([4]), np.array([3]), np.array([1.0])
        )
        assert points["share"][0] == pytest.approx(4 / 7, abs=1e-6)


def test_unlike_users_leave_room_even_under_fair_share():
    def room(discipline, spread):
        points = poisson_users(
            np.array([discipline]),
            np.array(["linear"]),
            np.array([0.05]),
            np.array([spread]),
            np.array([3]),
            np.array([2]),
            np.array([1]),
        )
        return float(points["room"][0])

    assert room("fair-share", 1.0) == pytest.approx(0, abs=1e-4)
    assert room("fair-share", 10.0) > 1e-3
    assert room("fifo", 1.0) > 0.01


def test_unknown_names_are_reported_with_the_nearest():
    with pytest.raises(AckclockError, match=r'no queue "ref".*red'):
        bottleneck.queue("ref")
    with pytest.raises(AckclockError, match=r'no want "liner".*linear'):
        bottleneck.want("liner")


def test_equal_goodputs_are_one_outcome_and_starts_leave_room_on_the_link():
    behind = bottleneck.queue("fq")
    rests = [np.array(rates) for rates in ([0.2, 0.3], [0.2, 0.3005], [0.3, 0.2], [0.2, 0.3])]
    assert [kept.tolist() for kept in selfish._outcomes(behind, rests)] == [[0.2, 0.3], [0.3, 0.2]]
    starts = selfish._starts(3, 50, 1)
    assert starts.shape == (50, 3)
    assert (starts > 0).all()
    assert (starts.sum(axis=1) < 1).all()
    # Of four equal parts three are users.
    assert starts.sum(axis=1).mean() == pytest.approx(0.75, abs=0.08)


def test_what_users_find_is_summed_up_from_where_they_rest(monkeypatch):
    ends = iter([([0.2, 0.3], True), ([0.3, 0.2], True), ([0.5, 0.5], False), ([0.4, 0.4], True)])
    climbs = iter([([0.2, 0.3], 10, True), ([0.2, 0.315], 30, True), ([0.3, 0.2], 50, False)])

    def settle(value, start, most, *, rounds, tolerance):
        rates, converged = next(ends)
        return search.Rest(np.array(rates), 1, converged)

    def climb(value, start, most, *, rounds, tolerance):
        rates, count, converged = next(climbs)
        return search.Rest(np.array(rates), count, converged)

    monkeypatch.setattr(search, "settle", settle)
    monkeypatch.setattr(search, "climb", climb)
    monkeypatch.setattr(bottleneck, "room_for_all", lambda *words: 0.125)
    row = dict(zip(selfish.COLUMNS, selfish._find_rest("fq", "linear", 2, 1.0, 3, 1), strict=True))
    assert (row["equilibria"], row["settled_share"]) == (2, pytest.approx(2 / 3))
    assert row["load"] == pytest.approx(0.5)
    assert row["goodput"] == pytest.approx(0.5, abs=1e-6)
    assert row["least_to_most"] == pytest.approx(2 / 3, rel=1e-6)
    assert (row["room"], row["climb_rounds"]) == (0.125, 30)
    # The second is a hundredth of the link away, the third did not come to rest.
    assert row["climb_arrives_share"] == pytest.approx(1 / 3)
    # Behind fair queueing who sends 0.4 keeps it, and the greedy one gets the rest.
    assert row["others_keep"] == pytest.approx(1.0, abs=0.02)
    assert row["greedy_goodput"] == pytest.approx(0.6, abs=0.02)


def test_equal_senders_on_a_loss_load_link_send_k_plus_1_over_k():
    """By symmetry r (k + k (n - 1)) = (k + 1) mu; so the load is (k + 1) / k, whatever n."""
    found = loss_load_equilibrium(np.array([1.0, 2.0, 4.0]), np.array([2.0, 3.0, 2.0]), 10.0)
    assert found["load_ratio"] == pytest.approx([2.0, 1.5, 1.25])
    assert found["loss_ratio"] == pytest.approx([1 / 2, 1 / 3, 1 / 5])
    assert found["goodput"] == pytest.approx([5.0, 10 / 3, 5.0])
    square = loss_load_equilibrium(np.array([[1.0], [2.0]]), np.array([2.0, 3.0]))
    assert square["load_ratio"].shape == (2, 2)
