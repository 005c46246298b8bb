"""Flows of another control than the background's: the sample is so large that they fit in."""

import sys
from pathlib import Path

import numpy as np
import pytest

from ackclock.engines.fluid.graph import Graph
from ackclock.engines.fluid.net import FluidNet
from ackclock.engines.hybrid import HybridCase
from ackclock.engines.hybrid.leftover import while_flows_last
from ackclock.engines.hybrid.mixture import Mixture, Own
from ackclock.engines.hybrid.proportion import NEAR, NOWHERE, controls, crowding
from ackclock.engines.hybrid.solve import Solver
from ackclock.errors import ScenarioError

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools/theory"))

from hybrid_pairs import CONTROLS, LOADS, Load, compare, document


def left_by(own, packets):
    """One link of 100, of which 98 flows of the background and two of the scenario have 1 each."""
    ends = np.arange(2, dtype=np.uint32)
    graph = Graph(("0", "1"), ends[:1], ends[1:], np.array([100.0]))
    net = FluidNet.from_routes([100.0], [[0]], graph=graph)
    mixture = Mixture(graph, net, 98, own)
    ones = np.ones(len(own))
    return mixture, while_flows_last(mixture, packets, 10.0, np.ones(1), ones, 1)


def own(control, **changes):
    flow = {"route": (0,), "back": (), "rtt_s": 0.1, "demand_bps": np.inf, "responds": True}
    return Own(**{**flow, "start_s": 0.0, "stop_s": np.inf, "control": control, **changes})


def test_the_part_of_another_control_in_the_sample_is_nearly_that_in_the_whole():
    mixture, left = left_by([own("bbr3 []"), own("bbr3 []")], 10)
    assert left.share == pytest.approx(8 / 98)
    found = crowding(mixture, left, ["fifo"], "cubic", 10.0)
    # 2 of 100 in the whole, so 2 of 50 in the sample at most: 48 of the 98 others.
    assert found.link == 0
    assert found.share == pytest.approx(48 / 98)
    assert "20 % in place of 2 %" in found.why
    # One of them alone is crowded less.
    mixture, left = left_by([own("bbr3 []"), own("")], 10)
    found = crowding(mixture, left, ["fifo"], "cubic", 10.0)
    assert found.share == pytest.approx((1 / 0.03 - 2) / 98)


@pytest.mark.parametrize(
    ("flow", "queue"),
    [
        (own(""), "fifo"),
        (own("bbr3 []"), "fq"),
        (own("bbr3 []"), "drr"),
        (own("udp []", responds=False, demand_bps=1.0), "fifo"),
    ],
)
def test_what_is_alike_or_has_a_fair_queue_or_sends_what_it_sends_is_not_crowded(flow, queue):
    mixture, left = left_by([flow, flow], 10)
    assert crowding(mixture, left, [queue], "cubic", 10.0) == NOWHERE


def test_a_flow_that_sends_half_of_the_time_has_half_the_part():
    mixture, left = left_by([own("bbr3 []"), own("bbr3 []", start_s=5.0)], 10)
    found = crowding(mixture, left, ["fifo"], "cubic", 10.0)
    mean = 100 / 99 / 2 + 100 / 100 / 2 + 100 / 100 / 2
    whole = mean / 100
    assert found.share == pytest.approx((mean / (whole + NEAR) - mean) / (100 - mean))


def test_vegas_among_cubic_over_a_fifo_needs_all_flows():
    flows = [own("vegas []"), own("vegas []")]
    mixture, left = left_by(flows, 10)
    assert crowding(mixture, left, ["fifo"], "cubic", 10.0).share == 1.0
    assert crowding(mixture, left, ["red"], "cubic", 10.0).share < 1.0
    assert crowding(mixture, left, ["fifo"], "aimd", 10.0).share < 1.0


def test_a_control_is_the_backgrounds_if_all_its_settings_are():
    case = HybridCase(document("cubic", "cubic", "fifo", Load(1, 10), 1))
    flow = case.scenario.data["flows"][0]
    reno = HybridCase(document("reno", "aimd", "fifo", Load(1, 10), 1))
    assert controls(reno.scenario, {"cc": "aimd"}) == ([""], "aimd")
    changes = [
        ({}, True),
        ({"start": 3.0, "id": "mine"}, True),
        ({"cc": {"kind": "cubic"}}, True),
        ({"cc": {"kind": "cubic", "beta": 0.5}}, False),
        ({"cc": "bbr3"}, False),
        ({"tcp": {"mss": 500}}, False),
        ({"recovery": "reno"}, False),
    ]
    flows = [{**flow, **change} for change, _ in changes]
    scenario = type(case.scenario).from_data({**case.scenario.data, "flows": flows})
    names, behind = controls(scenario, {"cc": "cubic"})
    assert behind == "cubic"
    assert [name == "" for name in names] == [alike for _, alike in changes]
    # The same control with other parameters is another one.
    assert len(set(names)) == 5


@pytest.mark.parametrize("own_share", [1.0, 9.0])
def test_the_sample_grows_with_what_the_flows_take(own_share):
    case = HybridCase(document("bbr3", "cubic", "fifo", Load(2, 4000), 1))
    solver = Solver(case.scenario, case.crowd, case.background)
    weights = np.full(2, own_share)
    made = solver.packets(weights=weights)
    names = case.crowd.graph().link_names()
    link = names.index("r0->r1")
    capacity = solver.mixture.graph.capacity
    taken = made.left.foreground.sum()
    whole, sampled = taken / capacity[link], taken / made.left.left(capacity)[0, link]
    assert whole == pytest.approx(2 * own_share / (2 * own_share + 3998))
    assert sampled - whole <= 1.05 * NEAR
    # No larger than it must be: 200, or to the share.
    assert made.left.as_packets.sum() == pytest.approx(
        max(198, 2 * own_share / (whole + NEAR) - 2 * own_share), abs=2
    )


def test_where_half_would_be_packets_all_are():
    case = HybridCase({**document("bbr3", "aimd", "fifo", Load(3, 60), 1), "duration": 12})
    case = case.replace(**{"background.packets": 10})
    run, whole = case.execute(), case.whole().run()
    assert run.summary["background"]["as_rates"] == 0
    assert run.summary["digest"] == whole.summary["digest"]
    assert not run.summary["warnings"]


def test_a_sample_that_would_be_too_large_is_refused_with_the_key_and_what_to_do():
    case = HybridCase(document("vegas", "cubic", "fifo", Load(4, 6000), 1))
    with pytest.raises(ScenarioError) as caught:
        case.check()
    (problem,) = caught.value.problems
    assert problem.path == "background.packets"
    assert problem.message == (
        "is 200, with which vegas among cubic over fifo gets another share of what packets have of"
        " r0->r1, so that their goodput is not that among all flows; expected packets = 6596, or"
        " fewer such flows"
    )
    # What it says helps.
    case.replace(**{"background.packets": 6596}).check()
    many = HybridCase(document("aimd", "cubic", "red", Load(1000, 50_000), 1))
    with pytest.raises(ScenarioError, match="have 1e\\+02 % in place of 2 % of what packets have"):
        many.check()


def test_transfers_beside_another_control_need_a_larger_share():
    data = document("bbr3", "cubic", "fifo", Load(2, 100), 1)
    traffic = data["background"]["traffic"]
    sizes = {"kind": "pareto", "mean": "200 kB", "shape": 1.5}
    come = {"kind": "poisson", "load": 0.5, "sizes": sizes, "duration": 25}
    data["background"] = {"traffic": traffic, "arrivals": come, "share": 0.05}
    data["background"]["flow"] = {"cc": "cubic"}
    with pytest.raises(ScenarioError, match=r"background.share: is 0.05, with which .*expected sh"):
        HybridCase(data).check()


def test_a_pair_that_was_never_compared_is_a_warning():
    case = HybridCase(document("copa", "cubic", "fifo", Load(2, 1000), 1))
    solver = Solver(case.scenario, case.crowd, case.background)
    assert solver.packets().warnings == [
        "copa among cubic over fifo has not been compared with a run of all flows as packets"
    ]
    for queue in ("red", "fq"):
        case = HybridCase(document("bbr3", "cubic", queue, Load(2, 1000), 1))
        assert Solver(case.scenario, case.crowd, case.background).packets().warnings == []


@pytest.mark.parametrize("weight", [0.2, 1.0, 10.0])
def test_a_fifth_of_the_flows_makes_all_packets(weight):
    case = HybridCase(document("bbr3", "cubic", "red", LOADS[2], 1))
    solver = Solver(case.scenario, case.crowd, case.background)
    made = solver.packets(weights=np.full(LOADS[2].own, weight))
    assert made.left.as_packets.sum() == LOADS[2].every - LOADS[2].own


@pytest.mark.slow
@pytest.mark.parametrize("behind", CONTROLS)
@pytest.mark.parametrize("mine", CONTROLS)
def test_few_flows_get_what_they_get_in_the_whole(mine, behind):
    """Over five seeds, within 10 % or what chance explains."""
    if mine == behind:
        return
    found = compare(mine, behind, "fifo", LOADS[0], range(1, 6))
    assert abs(found.mean - 1) <= max(0.1, found.half), found
