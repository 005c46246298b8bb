"""Games: profiles, equilibria of the rate model against closed forms, games played in packets."""

from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ackclock.engines.model.users import rates
from ackclock.engines.model.users.disciplines import fair_share, fifo, total
from ackclock.engines.model.users.rates import (
    Equilibrium,
    climb,
    equilibria,
    equilibrium,
    room_for_all,
)
from ackclock.engines.model.users.utility import utility
from ackclock.errors import AckclockError
from ackclock.studies.game import GameError, from_document, play
from ackclock.studies.game.payoff import Payoff, outcome
from ackclock.studies.game.profiles import deviations, label, profiles

RATES = st.lists(st.floats(1e-3, 1.0), min_size=1, max_size=6)


@given(RATES, st.floats(0.05, 0.95))
def test_disciplines_share_the_same_queue(shares, load):
    """Whatever serves without idling has the same number of packets in all."""
    rates = np.array(shares) / sum(shares) * load
    for discipline in (fifo, fair_share):
        assert discipline(rates).sum() == pytest.approx(total(load))


@given(RATES, st.floats(0.05, 0.95))
def test_fair_share_protects_small_users_from_large_ones(shares, load):
    """Shenker 1995, section 3.1: at most what it would be if all sent as much as this user."""
    rates = np.array(shares) / sum(shares) * load
    congestion = fair_share(rates)
    for rate, suffered in zip(rates, congestion, strict=True):
        alike = len(rates) * rate
        if alike < 1:
            assert suffered <= total(alike) / len(rates) * (1 + 1e-9)


def test_fair_share_of_two_users_by_hand():
    """r = 0.2, 0.5: c_1 = g(0.4)/2 = 1/3; c_2 = 1/3 + g(0.7) - g(0.4) = 1/3 + 7/3 - 2/3 = 2."""
    assert fair_share(np.array([0.5, 0.2])) == pytest.approx([2.0, 1 / 3])


def test_a_flood_hurts_itself_only():
    congestion = fair_share(np.array([0.1, 0.1, 5.0]))
    assert np.isfinite(congestion[:2]).all()
    assert np.isinf(congestion[2])
    assert np.isinf(fifo(np.array([0.1, 0.1, 5.0]))).all()


def test_equal_users_under_fifo_send_too_much():
    """U = r - w c; at equal rates dc/dr = (1 - R + r)/(1 - R)^2 = 1/w; n = 4, w = 0.1: r = 0.2."""
    wants = [utility("linear", 0.1)] * 4
    found = equilibrium("fifo", wants)
    assert found.converged
    assert found.rates == pytest.approx([0.2] * 4, abs=1e-5)
    # The best for all has 1/(1 - R)^2 = 1/w, R = 1 - sqrt(w): c = r/(1 - R), U = r - w c.
    best = (1 - sqrt(0.1)) / 4
    gain = best - 0.1 * best / sqrt(0.1) - (0.2 - 0.1 * 1.0)
    # Everybody can have this much more, which at the same congestion is worth 0.2 x of rate.
    assert room_for_all(wants, found) == pytest.approx(gain / 0.2, rel=1e-3)


@pytest.mark.parametrize("form", ["linear", "concave", "delay"])
def test_equal_users_under_fair_share_do_what_is_best_for_all(form):
    wants = [utility(form, 0.3)] * 3
    found = equilibrium("fair-share", wants)
    assert found.converged
    assert room_for_all(wants, found) == pytest.approx(0, abs=1e-4)


def test_the_equilibrium_under_fair_share_is_one_and_climbers_find_it():
    wants = [utility("concave", w) for w in (0.05, 0.2, 1.0, 2.0)]
    found = equilibria("fair-share", wants, seed=1, starts=8)
    assert len(found) == 1
    assert found[0].converged
    # The least eager sends first: log r - w c with 4 alike has 1/r = w/(1 - 4r)^2; w = 2: r = 1/8.
    assert found[0].rates[3] == pytest.approx(1 / 8, abs=1e-6)
    climbed = climb("fair-share", wants, np.array([0.01, 0.3, 0.05, 0.2]))
    assert climbed.converged
    assert climbed.rates == pytest.approx(found[0].rates, abs=1e-3)


def test_unequal_users_under_fair_share_leave_room():
    """Shenker 1995: in general the equilibrium is not Pareto optimal, under Fair Share either."""
    wants = [utility("concave", w) for w in (0.05, 2.0)]
    assert room_for_all(wants, equilibrium("fair-share", wants)) > 0.01


@given(st.integers(2, 5), st.integers(2, 4))
@settings(max_examples=20)
def test_profiles_are_all_and_different(players, strategies):
    every = list(profiles(players, strategies))
    assert len(set(every)) == len(every) == comb(players + strategies - 1, players)
    for profile in every:
        moves = list(deviations(profile))
        assert len(moves) == sum(1 for n in profile if n) * (strategies - 1)
        assert all(sum(move.profile) == players and min(move.profile) >= 0 for move in moves)


def test_labels_leave_out_what_nobody_plays():
    assert label((3, 0, 1), ["aimd", "cubic", "hose"]) == "3 aimd + 1 hose"


def test_payoffs_by_hand():
    flow = {"goodput_bps": 2e6, "sent_packets": 100, "lost_data_packets": 20, "srtt_mean_s": 0.1}
    seen = outcome([flow, flow])
    assert Payoff("goodput")(seen) == pytest.approx(4)
    assert Payoff("loss", 2)(seen) == pytest.approx(4 * (1 - 2 * 0.2))
    assert Payoff("concave", 4)(seen) == pytest.approx(np.log(2))
    assert Payoff("delay")(seen) == pytest.approx(np.log(4) - np.log(0.1))


def document(**changes):
    net = {"kind": "dumbbell", "pairs": 2, "rate": "5 Mbps", "rtt": "20 ms", "buffer": "1 bdp"}
    made = {
        "game": {"players": 2, "reps": 3},
        "strategies": {
            "aimd": {"cc": "aimd"},
            "hose": {"source": {"kind": "cbr", "rate": "5 Mbps"}},
        },
        "networks": {"FIFO": {"net.qdisc": "fifo"}, "FQ": {"net.qdisc": "fq"}},
        "scenario": {"duration": "8 s", "warmup": "3 s", "net": {**net, "access_rate": "50 Mbps"}},
    }
    return {**made, **changes}


def test_a_hose_takes_all_behind_fifo_and_half_behind_fq():
    played = play(from_document(document()), store=False, progress=False)
    alone = {
        network: next(one for one in played.judge_profiles(network) if one.profile == (1, 1))
        for network in ("FIFO", "FQ")
    }
    assert alone["FIFO"].payoffs["hose"].mean > 4.5
    assert alone["FQ"].payoffs["hose"].mean == pytest.approx(2.5, rel=0.1)
    # A sawtooth in a buffer of half its BDP: between 3/4 and all of its share.
    assert 0.75 * 2.5 < alone["FQ"].payoffs["aimd"].mean < 2.5
    both = next(one for one in played.judge_profiles("FIFO") if one.profile == (0, 2))
    assert both.verdict == "equilibrium"
    assert played.price("FIFO").mean == pytest.approx(1, abs=0.05)
    for network in ("FIFO", "FQ"):
        for one in played.judge_profiles(network):
            together = sum(
                count * one.payoffs[name].mean
                for name, count in zip(played.names, one.profile, strict=True)
                if count
            )
            assert one.welfare.mean == pytest.approx(together)
    assert "nobody gains by moving from: 2 hose" in str(played)
    assert set(played.to_dict()["networks"]) == {"FIFO", "FQ"}


def test_two_connections_get_twice_the_share_of_one():
    """Equal senders behind FIFO share by flow, so two flows have two of the three shares."""
    strategies = {"one": {"cc": "aimd"}, "two": {"cc": "aimd", "connections": 2}}
    made = document(strategies=strategies, networks={"RED": {"net.qdisc": "red"}})
    made["scenario"] |= {"duration": "60 s"}
    played = play(from_document(made), store=False, progress=False)
    mixed = next(one for one in played.judge_profiles("RED") if one.profile == (1, 1))
    assert mixed.payoffs["two"].mean / mixed.payoffs["one"].mean == pytest.approx(2, rel=0.25)


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        ({"game": {"players": 1}}, "game.players: 1 is out of range; expected at least 2"),
        ({"game": {}}, 'game: "players" is missing'),
        (
            {"game": {"players": 2, "payof": "goodput"}},
            'game.payof: "payof".*did you mean "payoff"',
        ),
        ({"game": {"players": 2, "payoff": "godput"}}, 'there is no payoff "godput".*goodput'),
        ({"game": {"players": 2, "weight": 0, "payoff": "loss"}}, "game.weight is 0"),
        ({"strategies": {"aimd": {"cc": "aimd"}}}, "at least two"),
        ({"strategies": {"a": {"pair": 1}, "b": {}}}, "strategies.a.pair: each player"),
        (
            {"strategies": {"a": {"connections": 0}, "b": {}}},
            "strategies.a.connections: 0 is out of range",
        ),
        ({"game": {"players": 4000}}, "profiles; expected at most"),
        ({"game": {"players": 2, "tolerance": 1}}, "game.tolerance: 1 is out of range"),
        ({"scenario": {"flows": []}}, "scenario.flows: the flows are the players'"),
        (
            {"game": {"players": 1, "reps": 0}},
            "(?s)game.players: 1 is.*game.reps: 0 is out of range",
        ),
    ],
)
def test_what_is_wrong_is_reported(changes, reported):
    with pytest.raises(GameError, match=reported):
        from_document(document(**changes))


def test_a_strategy_that_does_not_exist_is_reported_with_its_place():
    wrong = {"a": {"cc": "aimd"}, "b": {"cc": "cubik"}}
    with pytest.raises(AckclockError, match=r"cubik.*cubic"):
        play(from_document(document(strategies=wrong)), store=False, progress=False)


def test_a_utility_must_dislike_congestion():
    with pytest.raises(AckclockError, match="above 0"):
        utility("linear", 0)
    with pytest.raises(AckclockError, match=r'no utility "linar".*linear'):
        utility("linar", 1)


def test_equilibria_are_different_rates_and_where_no_rates_settle_is_one_more(monkeypatch):
    """Two that settle at the same rates are one; two starts from which nothing settles are one."""
    ends = [((0.1, 0.2), True), ((0.3, 0.3), False), ((0.1, 0.20005), True), ((0.2, 0.1), True),
            ((0.5, 0.1), False)]  # fmt: skip
    outcomes = iter(
        Equilibrium(np.array(found), np.zeros(2), 1, converged) for found, converged in ends
    )
    monkeypatch.setattr(rates, "equilibrium", lambda *_: next(outcomes))
    found = rates.equilibria("fifo", [utility("linear", 0.3)] * 2, seed=1, starts=5)
    assert [(tuple(one.rates), one.converged) for one in found] == [ends[0], ends[1], ends[3]]
