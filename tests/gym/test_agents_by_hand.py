"""What an agent sees of its flow in a step, and when a run waits for it, by hand."""

import math
import threading
from types import SimpleNamespace

import pytest

from ackclock.errors import AckclockError
from ackclock.gym import control
from ackclock.gym.control import Agent, Learner, Link
from ackclock.gym.measures import GymPath

PATH = GymPath(rtt_s=0.1, bottleneck_bps=1.2e6, bdp_segments=10, mss_bytes=1000)


def fact(now_s, **more):
    plain = {
        "now_s": now_s, "in_flight": 3, "min_rtt_s": None, "srtt_s": None, "delivered": 0,
        "acks": 1, "ecn_echo": False, "rtt_s": None, "round": 1, "kind": "loss",
    }  # fmt: skip
    return SimpleNamespace(**{**plain, **more})


def window(cwnd=10.0):
    return SimpleNamespace(cwnd=cwnd, ssthresh=100.0, pacing_bps=None)


@pytest.fixture
def agent():
    return Agent(PATH, "window")


def test_a_step_has_what_was_delivered_in_its_time(agent):
    agent.see(window(), fact(1.0, in_flight=4, min_rtt_s=0.1, srtt_s=0.12))
    agent.delivered = 50
    step = agent.step(1.5)
    assert (step.time_s, step.duration_s, step.delivered) == (1.5, 0.5, 50)
    # 50 of 1000 bytes in half a second; 50 of 12,000 bits would fill the link.
    assert step.goodput_bps == 800_000
    assert step.goodput_share == 1.0
    assert (step.cwnd, step.in_flight, step.min_rtt_s) == (10.0, 4, 0.1)
    agent.delivered = 60
    step = agent.step(2.5)
    assert (step.duration_s, step.delivered, step.goodput_bps) == (1.0, 10, 80_000)
    assert step.goodput_share == pytest.approx(0.1)


def test_before_a_flow_begins_a_step_is_empty(agent):
    step = agent.step(1.0)
    assert (step.duration_s, step.delivered, step.goodput_bps, step.goodput_share) == (0, 0, 0, 0)
    assert math.isnan(step.rtt_s)
    assert math.isnan(step.min_rtt_s)
    assert step.ecn_share == 0.0
    # It begins with what is seen first, not with that step.
    agent.see(window(), fact(3.0))
    assert agent.step(4.0).duration_s == 1.0


def test_what_is_not_known_of_a_round_trip_stays_as_it_was(agent):
    agent.see(window(), fact(1.0, min_rtt_s=0.1, srtt_s=0.2))
    agent.see(window(8.0), fact(1.1, in_flight=2))
    assert (agent.min_rtt_s, agent.srtt_s, agent.cwnd, agent.in_flight) == (0.1, 0.2, 8.0, 2)
    assert agent.begun_s == 1.0


def test_losses_of_a_timeout_are_written_off_whichever_comes_first(agent):
    agent.count_lost(1.0)
    agent.count_timeout(2.0)
    agent.count_lost(2.0)
    agent.count_lost(2.0)
    agent.count_lost(2.5)
    step = agent.step(3.0)
    assert (step.lost, step.written_off, step.timeouts) == (4, 2, 1)
    for _ in range(3):
        agent.count_lost(4.0)
    agent.count_timeout(4.0)
    agent.count_timeout(5.0)
    step = agent.step(6.0)
    assert (step.lost, step.written_off, step.timeouts) == (3, 3, 2)


@pytest.mark.parametrize(
    ("of_links", "lost", "spurious"), [(9, 4, 0), (5, 0, 0), (3, 0, 2), (8, 3, 0)]
)
def test_the_last_step_has_the_losses_that_were_not_noticed(agent, of_links, lost, spurious):
    agent.see(window(), fact(0.0))
    for _ in range(5):
        agent.count_lost(1.0)
    assert agent.step(2.0).lost == 5
    step = agent.end({"lost_data_packets": of_links}, 3.0)
    assert (step.lost, step.spurious, step.time_s) == (lost, spurious, 3.0)


def test_the_last_step_counts_what_it_noticed_itself_once(agent):
    agent.see(window(), fact(0.0))
    agent.count_lost(1.0)
    step = agent.end({"lost_data_packets": 3}, 2.0)
    assert (step.lost, step.spurious) == (3, 0)


def test_an_action_waits_until_a_round_trip_is_known(agent):
    agent.waiting = 0.5
    w = window()
    agent.act(w)
    assert (w.cwnd, agent.waiting) == (10.0, 0.5)
    agent.srtt_s = 0.1
    agent.act(w)
    assert agent.waiting is None
    # Half the way, by ratio, from 1 segment to four bandwidth-delay products of 10.
    assert w.cwnd == agent.cwnd == pytest.approx(40**0.5)
    w.cwnd = 3.0
    agent.act(w)
    assert w.cwnd == 3.0


# -- steps of a run ------------------------------------------------------------------------------


class Steps:
    """Stands for the caller: notes when a run hands over, and answers at once."""

    def __init__(self, interval_s, answers=None):
        self.agent = Agent(PATH, "window")
        self.link = Link({"a": self.agent}, interval_s)
        self.link._to_caller = self
        self.link._to_run = SimpleNamespace(get=lambda: {"a": 0.5} if answers is None else answers)
        self.times = []

    def put(self, steps):
        self.times.append(steps["a"].time_s)


def test_steps_of_an_interval_end_at_the_first_event_after_each():
    steps = Steps(1.0)
    for time_s in (0.2, 0.99, 1.0, 1.5, 2.3, 2.9, 3.0, 6.7, 6.9, 7.0):
        steps.link.pause(time_s, None)
    # After a long wait the next is at the next whole interval.
    assert steps.times == [1.0, 2.3, 3.0, 6.7, 7.0]
    assert steps.agent.waiting == 0.5


def test_steps_of_a_round_trip_end_when_its_count_rises():
    steps = Steps(None)
    for time_s, count in ((0.0, 3), (0.1, 3), (0.2, None), (0.3, 4), (0.4, 4), (0.5, 6)):
        steps.link.pause(time_s, count, 10.0)
    # The first round only begins.
    assert steps.times == [0.3, 0.5]


def test_a_step_of_a_round_trip_lasts_two_smoothed_ones_at_most():
    steps = Steps(None)
    for time_s in (1.0, 1.1, 1.2, 1.21, 1.3, 1.41, 1.42):
        steps.link.pause(time_s, 3, 0.1)
    # After more than 0.2 s each.
    assert steps.times == pytest.approx([1.21, 1.42])


def test_a_run_that_is_not_wanted_ends_where_it_waits():
    steps = Steps(1.0, answers=())
    steps.link._to_run = SimpleNamespace(get=lambda: None)
    with pytest.raises(control._Stopped):
        steps.link.pause(1.0, None)


def test_an_agent_has_one_flow():
    agents = {"a": Agent(PATH, "window"), "b": Agent(PATH, "window")}
    link = Link(agents, 1.0)
    assert link.join("a") is agents["a"]
    assert link.join("b") is agents["b"]
    with pytest.raises(AckclockError) as caught:
        link.join("a")
    assert str(caught.value) == (
        'the entry of agent "a" is of several flows; an agent has one flow'
    )
    # Another run begins anew.
    assert Link(agents, 1.0).join("a") is agents["a"]


def test_links_have_numbers_of_their_own_and_a_flow_runs_in_its_environment_only():
    one, two = Link({}, 1.0), Link({}, 1.0)
    assert one.number != two.number
    with pytest.raises(AckclockError) as caught:
        Learner(link=one.number, agent="a").on_ack(window(), fact(1.0))
    assert str(caught.value) == "a flow of an environment runs in its environment only"


@pytest.fixture
def learner(monkeypatch):
    steps = Steps(10.0)
    monkeypatch.setitem(control._links, steps.link.number, steps.link)
    return steps, Learner(link=steps.link.number, agent="a")


def test_a_learner_sums_up_acknowledgements(learner):
    steps, flow = learner
    for time_s, acks, echo, rtt_s in (
        (1.0, 2, False, 0.2),
        (2.0, 1, True, None),
        (3.0, 1, True, 0.4),
    ):
        flow.on_ack(window(), fact(time_s, delivered=int(5 * time_s), acks=acks, ecn_echo=echo,
                                   rtt_s=rtt_s, srtt_s=0.3))  # fmt: skip
    assert steps.times == []
    step = steps.agent.step(3.0)
    assert (step.delivered, step.duration_s) == (15, 2.0)
    # Half of the acknowledgements echo a mark; one has no round trip.
    assert step.ecn_share == 0.5
    assert step.rtt_s == pytest.approx(0.3)


def test_a_learner_decides_at_acknowledgements_and_losses_but_not_at_timeouts(learner):
    steps, flow = learner
    flow.on_ack(window(), fact(1.0, srtt_s=0.1))
    flow.on_lost(window(), SimpleNamespace(now_s=5.0))
    w = window()
    flow.on_congestion(w, fact(10.0))
    assert steps.times == [10.0]
    assert w.cwnd == pytest.approx(40**0.5)
    w = window()
    flow.on_congestion(w, fact(20.0, kind="timeout"))
    assert steps.times == [10.0, 20.0]
    # The action waits for the next acknowledgement.
    assert (w.cwnd, steps.agent.waiting) == (10.0, 0.5)
    assert steps.agent.timeout_s == 20.0
    flow.on_ack(w, fact(21.0, srtt_s=0.1))
    assert steps.agent.waiting is None
    assert steps.agent.lost_before + steps.agent.sums.lost == 1


# -- threads --------------------------------------------------------------------------------------


class Scenario:
    """Stands for a scenario whose run decides so many times."""

    def __init__(self, link, decisions, end="the run"):
        self.link, self.decisions, self.end = link, decisions, end

    def run(self):
        for number in range(self.decisions):
            self.link.pause(float(number + 1), None)
        if isinstance(self.end, BaseException):
            raise self.end
        return self.end


def begin(decisions, **end):
    agent = Agent(PATH, "window")
    link = Link({"a": agent}, 1.0)
    link.start(Scenario(link, decisions, **end))
    return link, agent


def test_a_run_and_its_caller_take_turns():
    link, agent = begin(2)
    assert control._links[link.number] is link
    assert link.next()["a"].time_s == 1.0
    link.decide({"a": 7.0})
    assert link.next()["a"].time_s == 2.0
    assert agent.waiting == 7.0
    link.decide({"a": 8.0})
    assert link.next() == "the run"
    assert link.number not in control._links
    link.stop()


def test_what_ends_a_run_reaches_the_caller():
    error = ValueError("of the run")
    link, _ = begin(0, end=error)
    with pytest.raises(ValueError, match="of the run") as caught:
        link.next()
    assert caught.value is error
    assert link.number not in control._links


@pytest.mark.parametrize("steps", [0, 1, 2])
@pytest.mark.parametrize("decides", [False, True])
def test_a_run_is_stopped_wherever_it_is(steps, decides):
    link, _ = begin(2)
    thread = link._thread
    for _ in range(steps):
        link.next()
        if decides:
            link.decide({"a": 1.0})
        elif steps > 1:
            break
    link.stop()
    assert not thread.is_alive()
    assert link.number not in control._links
    link.stop()
    Link({}, 1.0).stop()
    assert not [t for t in threading.enumerate() if t.name == f"ackclock-gym-{link.number}"]
