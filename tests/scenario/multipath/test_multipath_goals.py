"""RFC 6356's goals, fixed points and published cases of coupled windows, measured over seeds."""

import pytest
from multipath_cases import (
    fixed_point_a,
    fixed_point_c,
    interval,
    over_lossy_paths,
    scenario_a,
    scenario_c,
    shares,
)

import ackclock as ac


def victim_share(cc, seed):
    """Share of half of a link for a TCP beside a connection both of whose subflows pass it."""
    flows = [
        {"id": "tcp", "pair": 0, "cc": "aimd", "start_jitter": "1 s"},
        {"pair": 1, "cc": cc, "start_jitter": "1 s", "multipath": {"paths": [{}, {}]}},
    ]
    net = {"kind": "dumbbell", "pairs": 2, "rate": "20 Mbps", "rtt": "40 ms"}
    data = {"net": net, "flows": flows, "duration": "60 s", "warmup": "20 s", "seed": seed}
    rows = ac.Scenario.from_data(data).run().flows.to_pylist()
    return 2 * rows[0]["goodput_bps"] / sum(row["goodput_bps"] for row in rows)


def rates(cc, losses, delays=("49 ms", "49 ms"), *, single=None):
    """Mean rates of the paths over three seeds [segments/s]."""
    runs = [over_lossy_paths(cc, losses, delays, seed=s, single=single).run() for s in (1, 2, 3)]
    rows = [[row["goodput_bps"] / 11_680 for row in run.flows.to_pylist()] for run in runs]
    return [sum(column) / 3 for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("cc", ["lia", "olia", "balia"])
def test_one_shared_link_is_shared_with_a_tcp(cc):
    """Goal 2 of RFC 6356 in a small form: uncoupled subflows leave two thirds of its half."""
    assert interval([victim_share(cc, seed) for seed in range(1, 6)])[0] > 0.9
    assert interval([victim_share("aimd", seed) for seed in (1, 2, 3)])[0] < 0.75


def test_lia_gets_what_a_tcp_gets_on_the_better_path():
    """Goal 1, at loss ratios of 0.4 % and 1 %. The closed form divides it as 1 / p: 5 to 2."""
    (best,) = rates("aimd", (0.004, 0.01), single=0)
    first, second = rates("lia", (0.004, 0.01))
    assert first + second == pytest.approx(best, rel=0.1)
    assert first / second == pytest.approx(2.5, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("cc", ["lia", "olia", "balia"])
def test_the_interval_of_goal_2_is_above_nine_tenths(cc):
    mean, half = interval([victim_share(cc, seed) for seed in range(1, 21)])
    assert mean - half > 0.9


@pytest.mark.slow
def test_load_moves_off_the_path_that_loses_more():
    """Goal 3: at four times the loss a TCP has half the rate, LIA a quarter, the others less."""
    shares_by_cc = {}
    for cc in ("aimd", "lia", "balia", "olia"):
        first, second = rates(cc, (0.0025, 0.01))
        shares_by_cc[cc] = second / first
    assert shares_by_cc["aimd"] == pytest.approx(1 / 2, rel=0.1)
    assert shares_by_cc["lia"] == pytest.approx(1 / 4, rel=0.15)
    assert shares_by_cc["olia"] < shares_by_cc["balia"] < shares_by_cc["lia"]


@pytest.mark.slow
def test_wifi_and_mobile_of_wischik_and_others():
    """NSDI 2011, section 2.3: 4 % of loss over 10 ms and 1 % over 100 ms.

    They are 707 and 141 segments/s by sqrt(2 / p) / RTT. With timeouts a TCP has less over the
    first; LIA is to have as much as a TCP over the better path.
    """
    losses, delays = (0.04, 0.01), ("5 ms", "50 ms")
    (wifi,) = rates("aimd", losses, delays, single=0)
    (mobile,) = rates("aimd", losses, delays, single=1)
    assert mobile == pytest.approx(141, rel=0.2)
    assert wifi < 707
    assert 0.9 * wifi < sum(rates("lia", losses, delays)) < wifi + mobile
    # One that moved all to the path that loses less would have 141.
    assert sum(rates("olia", losses, delays)) > 1.5 * mobile


@pytest.mark.slow
@pytest.mark.parametrize(("n1", "within"), [(10, 0.06), (30, 0.06)])
def test_scenario_a_of_khalili_and_others(n1, within):
    """Users of TCP get 0.739 and 0.5 beside as many, and three times as many, users of LIA.

    These gain nothing. With OLIA the others get more.
    """
    by_cc = {}
    for cc in ("lia", "olia", "balia"):
        runs = [scenario_a(cc, n1=n1, seed=s).run() for s in (1, 2, 3)]
        both = [shares(run, n1, 10, 5e6, 5e6) for run in runs]
        by_cc[cc] = interval([single for _, single in both])[0]
        assert interval([several for several, _ in both])[0] == pytest.approx(1, abs=0.05)
    assert by_cc["lia"] == pytest.approx(fixed_point_a(n1, 10), rel=within)
    assert by_cc["lia"] < by_cc["balia"] < by_cc["olia"]


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_scenario_c_of_khalili_and_others(ratio):
    by_cc = {}
    for cc in ("lia", "olia", "balia"):
        runs = [scenario_c(cc, ratio=ratio, seed=s).run() for s in (1, 2, 3)]
        both = [shares(run, 10, 10, 5e6 * ratio, 5e6) for run in runs]
        by_cc[cc] = tuple(interval([pair[i] for pair in both])[0] for i in (0, 1))
    assert by_cc["lia"] == pytest.approx(fixed_point_c(ratio), rel=0.05)
    assert by_cc["lia"][1] < by_cc["balia"][1] < by_cc["olia"][1]
