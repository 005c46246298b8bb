"""Environments: Gymnasium's and PettingZoo's own checkers, equal bits, nothing left running."""

import gc
import itertools
import threading
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import ackclock as ac
from ackclock.cli.main import main

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")
pettingzoo = pytest.importorskip("pettingzoo", reason="pettingzoo is not installed")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from pettingzoo.test import parallel_api_test, parallel_seed_test  # noqa: E402

from ackclock.gym import (  # noqa: E402
    OBSERVATION,
    POLICIES,
    CongestionEnv,
    CongestionParallelEnv,
    Step,
)
from ackclock.gym.measures import GymPath, apply  # noqa: E402
from ackclock.gym.policies import baselines  # noqa: E402

TEXT = """
duration = "6 s"
era = "rfc"
net = { kind = "dumbbell", pairs = 2, rate = "5 Mbps", rtt = "40 ms", buffer = "20 pkt" }
flows = [{ id = "learner", pair = 0 }, { id = "other", pair = 1, cc = "aimd", start = "1 s" }]
"""


@pytest.fixture
def scenario():
    return ac.load(TEXT)


@pytest.fixture(scope="module", autouse=True)
def _what_others_made_is_not_searched():
    """Each collection below is of what these tests made, not of all modules that are loaded."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _leaves_no_thread():
    before = set(threading.enumerate())
    yield
    gc.collect()
    left = [t.name for t in set(threading.enumerate()) - before if t.name.startswith("ackclock")]
    assert not left


@pytest.mark.parametrize("action", ["window-factor", "window", "rate-factor"])
@pytest.mark.parametrize("step", ["rtt", "50 ms"])
def test_gymnasium_s_checker_accepts_the_environment(scenario, action, step):
    env = CongestionEnv(scenario.replace(duration="3 s"), "learner", step=step, action=action)
    with warnings.catch_warnings():
        # It advises to have the space [-1, 1], and to register; neither is a fault.
        warnings.filterwarnings("ignore", category=UserWarning)
        check_env(env, skip_render_check=True)
    env.close()


def test_pettingzoo_s_testers_accept_the_environment(scenario):
    env = CongestionParallelEnv(scenario.replace(duration="3 s"))
    parallel_api_test(env, num_cycles=200)
    env.close()
    parallel_seed_test(lambda: CongestionParallelEnv(scenario.replace(duration="2 s")))


def episode(env, seed, *, policy_seed=7):
    random = np.random.default_rng(policy_seed)
    observation, info = env.reset(seed=seed)
    seen, steps = [observation], [info["step"]]
    over = False
    while not over:
        result = env.step(random.uniform(-1, 1, size=1))
        seen.append(result[0])
        steps.append(result[4]["step"])
        over = result[2] or result[3]
    return np.array(seen), steps, env.run


def test_equal_seeds_and_actions_give_equal_bits(scenario):
    one, other = (episode(CongestionEnv(scenario), seed=3) for _ in range(2))
    assert np.array_equal(one[0], other[0])
    assert one[2].summary["digest"] == other[2].summary["digest"]
    again = episode(CongestionEnv(scenario), seed=3, policy_seed=8)
    assert again[2].summary["digest"] != one[2].summary["digest"]


def test_many_environments_in_a_process_do_not_disturb_each_other(scenario):
    alone = [episode(CongestionEnv(scenario), seed=seed, policy_seed=1)[0] for seed in (1, 2)]
    vector = gymnasium.vector.SyncVectorEnv([lambda: CongestionEnv(scenario)] * 2)
    randoms = [np.random.default_rng(1) for _ in range(2)]
    seen = [vector.reset(seed=[1, 2])[0]]
    for _ in range(20):
        actions = np.array([random.uniform(-1, 1, size=1) for random in randoms])
        seen.append(vector.step(actions)[0])
    vector.close()
    for number in range(2):
        assert np.array_equal([row[number] for row in seen], alone[number][:21])


def test_steps_add_up_to_the_run(scenario):
    env = CongestionEnv(scenario, step="100 ms")
    _, steps, run = episode(env, seed=1)
    flow = env.flow_summary(run)
    assert flow["id"] == "learner"
    times = [step.time_s for step in steps[:-1]]
    assert np.all(np.diff(times) > 0)
    # What has arrived and is not acknowledged yet is in the summary alone.
    counted = sum(step.delivered for step in steps)
    assert 0 <= flow["delivered_packets"] - counted <= max(step.in_flight for step in steps)
    for before, after in itertools.pairwise(steps[:-1]):
        assert after.duration_s == pytest.approx(after.time_s - before.time_s)
        # A step ends with the first acknowledgement or loss after a multiple of the interval.
        assert int(after.time_s / 0.1 + 1e-9) > int(before.time_s / 0.1 + 1e-9)


@pytest.mark.parametrize("action", [1.0, 0.3, -0.1])
@pytest.mark.parametrize("step", ["rtt", "50 ms"])
def test_losses_of_the_steps_sum_to_those_of_the_run(scenario, action, step):
    env = CongestionEnv(scenario.replace(**{"net.buffer": "10 pkt"}), step=step)
    _, info = env.reset(seed=1)
    steps, over = [info["step"]], False
    while not over:
        _, _, done, truncated, info = env.step([action if len(steps) < 40 else -action / 2])
        steps.append(info["step"])
        over = done or truncated
    flow = env.flow_summary(env.run)
    assert flow["lost_data_packets"] > 0 or action < 0
    lost = sum(step.lost for step in steps)
    # A timeout writes off all that was under way (RFC 5681), of which some may arrive.
    written_off = sum(step.written_off for step in steps)
    spurious = steps[-1].spurious
    assert lost - spurious == flow["lost_data_packets"]
    assert spurious <= written_off
    assert not any(step.spurious for step in steps[:-1])
    assert sum(step.timeouts for step in steps) == flow["timeouts"]
    assert (written_off > 0) == (flow["timeouts"] > 0)
    assert all(step.written_off <= step.lost for step in steps)
    most = flow["timeouts"] * max(step.in_flight for step in steps)
    assert spurious <= most


def test_without_a_timeout_the_losses_of_the_steps_are_those_of_the_run(scenario):
    lossy = scenario.replace(**{"net.drop": [30, 31, 60, 99], "net.buffer": "1000 pkt"})
    env = CongestionEnv(lossy.replace(flows=scenario.data["flows"][:1]), step="rtt")
    _, info = env.reset(seed=1)
    steps, over = [info["step"]], False
    while not over:
        _, _, done, truncated, info = env.step([0.1 if len(steps) < 5 else 0.0])
        steps.append(info["step"])
        over = done or truncated
    flow = env.flow_summary(env.run)
    assert (flow["timeouts"], flow["lost_data_packets"]) == (0, 4)
    assert sum(step.lost for step in steps) == 4


def test_goodput_of_a_step_is_that_of_a_summary(scenario):
    single = scenario.replace(flows=scenario.data["flows"][:1], duration="10 s")
    env = CongestionEnv(single, step="rtt")
    _, steps, run = episode(env, seed=1)
    flow = env.flow_summary(run)
    payload = sum(step.goodput_bps * step.duration_s for step in steps) / 8
    # Data acknowledged first is in no step's length, and what is under way at the end in none.
    assert payload == pytest.approx(flow["delivered_bytes"], rel=0.02)
    busy = [step for step in steps if step.goodput_bps > 0]
    full = env.flows.paths["learner"].bottleneck_bps * 1460 / 1500
    assert busy[5].goodput_share == pytest.approx(busy[5].goodput_bps / full)


@pytest.mark.parametrize("action", [[np.nan], [np.inf], [0.1, 0.2], []])
def test_an_action_that_is_no_number_is_refused(scenario, action):
    env = CongestionEnv(scenario)
    env.reset(seed=1)
    with pytest.raises(ac.AckclockError, match=r"the action of learner is .*expected one finite"):
        env.step(action)
    env.close()
    both = CongestionParallelEnv(scenario)
    both.reset(seed=1)
    with pytest.raises(ac.AckclockError, match="the action of other is"):
        both.step({"learner": [0.0], "other": action})
    both.close()


def test_the_policy_alone_decides_the_window(scenario):
    quiet = scenario.replace(**{"net.buffer": "1000 pkt"})
    env = CongestionEnv(quiet, step="rtt")
    _, info = env.reset(seed=1)
    window = info["step"].cwnd
    for action in (1.0, 0.0, -1.0, 0.0, 0.5):
        info = env.step([action])[4]
        window *= 2.0**action
        assert info["step"].cwnd == pytest.approx(window)
    env.close()


def test_a_constant_window_below_the_bandwidth_delay_product_keeps_the_queue_empty(scenario):
    single = scenario.replace(flows=scenario.data["flows"][:1], duration="10 s")
    env = CongestionEnv(single, step="rtt")
    _, info = env.reset(seed=1)
    window = info["step"].cwnd
    for _ in range(200):
        _, reward, done, truncated, info = env.step([0.0])
        assert not (done or truncated)
    path = env.flows.paths["learner"]
    assert window < path.bdp_segments
    # Little's law: what is in flight is the rate times the round trip.
    rate = info["step"].goodput_share * path.bottleneck_bps / path.segment_bits
    assert rate * info["step"].rtt_s == pytest.approx(window, rel=0.05)
    # Without a queue there is an RTT's inflation by delayed acknowledgements alone.
    assert 0.4 < reward < info["step"].goodput_share
    assert info["step"].lost == 0
    env.close()


@pytest.mark.parametrize(
    ("kind", "value", "cwnd", "rate"),
    [
        ("window-factor", 1.0, 20.0, None),
        ("window-factor", -1.0, 5.0, None),
        ("window", 0.0, 1.0, None),
        ("window", 1.0, 400.0, None),
        ("window", 0.5, 20.0, None),
        # 10 segments of 12,000 bit in 0.1 s are 1.2 Mbit/s, doubled; two round trips of it.
        ("rate-factor", 1.0, 40.0, 2.4e6),
    ],
)
def test_actions_change_the_window_as_documented(kind, value, cwnd, rate):
    class Window:
        pass

    window = Window()
    window.cwnd, window.ssthresh, window.pacing_bps = 10.0, 99.0, None
    apply(kind, value, window, GymPath(0.1, 12e6, 100.0, 1460), 0.1)
    assert window.cwnd == pytest.approx(cwnd)
    assert window.ssthresh == window.cwnd
    assert window.pacing_bps == (None if rate is None else pytest.approx(rate))


@pytest.mark.parametrize(
    ("kind", "value", "before", "after"),
    [
        # Four bandwidth-delay products, and a segment.
        ("window-factor", 1.0, (300.0, None), (400.0, None)),
        ("window-factor", -1.0, (1.5, None), (1.0, None)),
        # Four times the bottleneck, and a segment of 12,000 bit a round trip.
        ("rate-factor", 1.0, (100.0, 40e6), (800.0, 48e6)),
        ("rate-factor", -1.0, (100.0, 1.5e5), (2.0, 1.2e5)),
    ],
)
def test_actions_stay_within_what_a_path_can_carry(kind, value, before, after):
    window = SimpleNamespace(cwnd=before[0], ssthresh=99.0, pacing_bps=before[1])
    apply(kind, value, window, GymPath(0.1, 12e6, 100.0, 1460), 0.1)
    assert (window.cwnd, window.pacing_bps) == pytest.approx(after)


def test_an_observation_has_the_documented_entries():
    step = Step(
        time_s=1.0, duration_s=0.2, delivered=90, lost=10, written_off=0, spurious=0, timeouts=0,
        rtt_s=0.15, min_rtt_s=0.1,
        ecn_share=0.25, cwnd=50.0, in_flight=2000, goodput_bps=5e6, goodput_share=0.45,
    )  # fmt: skip
    found = step.observation(GymPath(0.1, 12e6, 100.0, 1460))
    assert len(found) == len(OBSERVATION)
    assert found == pytest.approx([0.45, 0.5, 0.1, 0.25, 0.5, 10.0, 2.0])


def test_a_flow_with_a_size_terminates(scenario):
    sized = scenario.replace(**{"flows[0].size": "300 kB"})
    env = CongestionEnv(sized)
    env.reset(seed=1)
    done = truncated = False
    while not (done or truncated):
        _, _, done, truncated, _ = env.step([0.0])
    assert (done, truncated) == (True, False)
    with pytest.raises(ac.AckclockError, match="call reset"):
        env.step([0.0])


def test_a_closed_or_dropped_environment_leaves_nothing_running(scenario):
    closed, dropped = CongestionEnv(scenario), CongestionEnv(scenario)
    for env in (closed, dropped):
        env.reset(seed=1)
        env.step([0.0])
    assert sum(t.name.startswith("ackclock-gym") for t in threading.enumerate()) == 2
    closed.close()
    closed.close()
    del env, dropped
    gc.collect()
    assert not any(t.name.startswith("ackclock-gym") for t in threading.enumerate())


def test_agents_decide_together_and_see_their_own_flow(scenario):
    env = CongestionParallelEnv(scenario)
    observations, infos = env.reset(seed=2)
    assert set(observations) == {"learner", "other"}
    # The second flow begins after a second.
    assert infos["other"]["step"].duration_s == 0.0
    while env.agents:
        _, rewards, _, truncated, infos = env.step({"learner": [0.1], "other": [-0.1]})
        assert len({info["step"].time_s for info in infos.values()}) == 1
        assert set(rewards) == set(truncated) == {"learner", "other"}
    assert all(truncated.values())
    windows = [infos[name]["step"].cwnd for name in ("learner", "other")]
    assert windows[0] > windows[1]
    assert env.run.summary["flows"][0]["goodput_bps"] > env.run.summary["flows"][1]["goodput_bps"]


def test_baselines_are_compared_by_the_command_line(scenario, tmp_path, capsys):
    found = {one.policy: one for one in baselines(scenario, "learner", episodes=2)}
    assert set(found) == set(POLICIES)
    assert found["reno-like"].goodput_bps[0] > found["random"].goodput_bps[0]
    file = tmp_path / "s.toml"
    file.write_text(TEXT)
    assert main(["gym", str(file), "--agent", "learner", "--episodes", "2"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in POLICIES)


@pytest.mark.parametrize(
    ("make", "reported"),
    [
        (lambda s: CongestionEnv(s, "learnr"), 'did you mean "learner"'),
        (lambda s: CongestionEnv(s, 5), "there is no flow 5"),
        (lambda s: CongestionEnv(s, action="windw"), 'did you mean "window"'),
        (lambda s: CongestionEnv(s, step="-1 s"), "expected"),
        (lambda s: CongestionParallelEnv(s, step="rtt"), "agents decide together"),
        (lambda s: CongestionParallelEnv(s, []), "needs a flow"),
        (lambda s: CongestionEnv(s.replace(**{"flows[0].count": 2}), 0), "must be one flow"),
    ],
)
def test_what_cannot_be_is_refused(scenario, make, reported):
    with pytest.raises(ac.AckclockError) as caught:
        make(scenario)
    assert reported in str(caught.value)


def test_a_run_without_a_decision_is_refused(scenario):
    env = CongestionEnv(scenario.replace(duration="30 ms", flows=[{"pair": 0}]))
    with pytest.raises(ac.AckclockError, match="make it longer"):
        env.reset(seed=1)


def test_what_a_reward_raises_reaches_the_caller(scenario):
    def reward(step):
        raise ZeroDivisionError

    env = CongestionEnv(scenario, reward=reward)
    env.reset(seed=1)
    with pytest.raises(ZeroDivisionError):
        env.step([0.0])
    env.close()


def test_a_policy_that_floods_the_link_is_rewarded_less_than_one_that_backs_off(scenario):
    rewards = {}
    for name, policy in {"reno": POLICIES["reno-like"], "flood": lambda *_: 1.0}.items():
        env = CongestionEnv(scenario, "learner")
        _, info = env.reset(seed=1)
        collected, over = [], False
        while not over:
            _, reward, done, truncated, info = env.step([policy(info["step"], None)])
            collected.append(reward)
            over = done or truncated
        flow = env.flow_summary(env.run)
        rewards[name] = np.mean(collected)
        if name == "flood":
            assert flow["lost_data_packets"] > 0.05 * flow["sent_packets"]
    assert rewards["flood"] < rewards["reno"]
