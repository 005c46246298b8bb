"""The steady state of linear controls: algebra, iteration, and packet runs."""

import numpy as np
import pyarrow.compute as pc
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import ackclock as ac
from ackclock.catalogue.records import plain
from ackclock.engines import registry
from ackclock.engines.model.linear import chiu_jain_phase, linear_steady_state

RTT = 0.1


@ac.aqm
class SynchronousLoss:
    """Drops each flow's first data packet of every period but the first."""

    period: float = 1.0

    def __post_init__(self):
        self.seen = {}

    def on_enqueue(self, packet, queue):
        now = int(queue.now_s / self.period)
        if packet.is_ack or now == 0 or self.seen.get(packet.flow) == now:
            return ac.Pass
        self.seen[packet.flow] = now
        return ac.Drop


def after_each_loss(cc, *, period=1.0, windows=(5, 60), cycles=30):
    """Windows of two flows in each cycle, two round trips after the loss."""
    flows = [
        {
            "pair": i,
            "cc": cc,
            "recovery": "sack",
            "tcp": {"initial_window": w, "initial_ssthresh": 2},
        }
        for i, w in enumerate(windows)
    ]
    scenario = ac.Scenario.from_data(
        {
            "net": {
                "kind": "dumbbell",
                "pairs": 2,
                "rate": "1 Gbps",
                "rtt": RTT,
                "buffer": "20000 pkt",
                "qdisc": plain(SynchronousLoss(period=period)),
            },
            "flows": flows,
            "duration": (cycles + 1) * period,
            "tcp": {"mss": 1000, "delayed_ack": 1, "syn": False},
            "record": {"tables": ["windows"]},
        }
    )
    run = scenario.run()
    assert [f["lost_data_packets"] for f in run.summary["flows"]] == [cycles] * 2
    assert [f["timeouts"] for f in run.summary["flows"]] == [0, 0]
    found = []
    for name in ("f0", "f1"):
        rows = run.windows.filter(pc.equal(pc.cast(run.windows["flow"], "string"), name))
        at, cwnd = np.array(rows["time_s"]), np.array(rows["cwnd_segments"])
        places = [np.searchsorted(at, k * period + 2.5 * RTT) - 1 for k in range(1, cycles)]
        found.append(cwnd[places])
    return np.array(found)


def steady(rule, k_i, k_d=1):
    values = linear_steady_state(*(np.array([x], dtype=float) for x in rule), k_i, k_d)
    return {name: column[0] for name, column in values.items()}


AIMAD = (1, 1, -1, 0.9)


@pytest.mark.parametrize(("k_i", "window"), [(2, 8), (3, 17), (5, 35), (10, 80)])
def test_aimad_has_the_papers_fixed_points(k_i, window):
    got = steady(AIMAD, k_i)
    assert got["window"] == pytest.approx(window)
    assert got["beta"] == pytest.approx(0.9)
    assert got["unique"]
    assert got["fair"]


@pytest.mark.parametrize(
    ("rule", "k_i", "unique", "fair"),
    [
        ((1, 1, 0, 0.8), 4, True, True),  # AIMD
        ((1, 1, -3, 1), 3, False, False),  # AIAD
        ((0, 1.125, 0, 0.8), 2, False, False),  # MIMD
        ((0, 1.125, -3, 1), 2, True, False),  # MIAD: one fixed point, which repels
        ((1, 1.1, 0, 0.8), 2, True, True),  # MAIMD
        ((1, 1.1, 0, 0.8), 3, False, False),  # MAIMD that grows by more than it shrinks
    ],
)
def test_only_cycles_that_contract_are_fair(rule, k_i, unique, fair):
    got = steady(rule, k_i)
    assert (bool(got["unique"]), bool(got["fair"])) == (unique, fair)


@pytest.mark.slow
@given(
    st.floats(0, 3),
    st.floats(1, 1.3),
    st.floats(-3, 0),
    st.floats(0.5, 1),
    st.integers(1, 12),
    st.integers(1, 4),
)
def test_the_fixed_point_is_what_iteration_finds(a_i, b_i, a_d, b_d, k_i, k_d):
    got = steady((a_i, b_i, a_d, b_d), k_i, k_d)
    assume(got["fair"] and got["beta"] < 0.95)
    window = 1000.0
    for _ in range(600):
        for _ in range(k_i):
            window = a_i + b_i * window
        for _ in range(k_d):
            window = a_d + b_d * window
    assert window == pytest.approx(got["window"], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("cc", "beta"),
    [
        ({"kind": "aimd", "a": 1, "b": 0.8}, 0.8),
        ({"kind": "aiad", "a": 1, "d": 3}, 1.0),
        ({"kind": "aimad", "a_i": 1, "a_d": -1, "b_d": 0.9}, 0.9),
    ],
)
def test_in_packet_runs_windows_approach_each_other_by_beta(cc, beta):
    windows = after_each_loss(cc)[:, :12]
    apart = windows[1] - windows[0]
    # A cut starts from the segments in flight, whole ones.
    assert apart[1:] / apart[:-1] == pytest.approx(beta, abs=0.015)


@pytest.mark.slow
def test_in_packet_runs_mimd_keeps_the_ratio_of_windows_and_miad_drives_them_apart():
    mimd = after_each_loss({"kind": "mimd", "a": 1.02, "b": 0.85}, windows=(20, 60))[:, :12]
    assert mimd[1] / mimd[0] == pytest.approx(mimd[1, 0] / mimd[0, 0], rel=0.06)
    miad = after_each_loss({"kind": "miad", "a": 1.02, "d": 3}, windows=(40, 60))[:, :8]
    apart = miad[1] - miad[0]
    assert apart[1:] / apart[:-1] == pytest.approx(1.02**9, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(("k_i", "window"), [(5, 35), (10, 80), (20, 170)])
def test_in_packet_runs_aimad_settles_at_its_fixed_point(k_i, window):
    # The round trip of the recovery does not grow the window: k_i increases in k_i + 1 of them.
    cc = {"kind": "aimad", "a_i": 1, "a_d": -1, "b_d": 0.9}
    settled = after_each_loss(cc, period=(k_i + 1) * RTT, cycles=70)[:, -1]
    assert window == steady(AIMAD, k_i)["window"].round()
    # Seen 1.5 round trips after the cut, by when it has grown by at most that.
    assert settled == pytest.approx(window + 0.5, abs=1.5)


def test_the_phase_plot_converges_for_aimd_and_keeps_the_difference_for_aiad():
    aimd = chiu_jain_phase(*(np.array([x]) for x in (1.0, 1.0, 0.0, 0.5)))
    assert aimd["jain"][0] == pytest.approx(70**2 / (2 * (60**2 + 10**2)))
    assert aimd["jain"][-1] > 0.999
    aiad = chiu_jain_phase(*(np.array([x]) for x in (1.0, 1.0, -1.0, 1.0)))
    assert set(np.round(aiad["window_1"] - aiad["window_2"], 9)) == {50.0}


def test_the_model_is_an_engine_of_its_own():
    document = {
        "engine": "model",
        "model": "linear_steady_state",
        "params": {"a_i": 1, "b_i": 1, "a_d": -1, "b_d": 0.9, "k_i": [2, 3, 5, 10]},
    }
    points = registry.case(document).execute().tables["points"].to_pydict()
    assert points["window"] == pytest.approx([8, 17, 35, 80])
