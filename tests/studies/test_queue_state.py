"""State of queue disciplines, as counted in runs."""

import pytest

from ackclock.catalogue import schema
from ackclock.studies.queue_state import QueueState, queue_state


@pytest.mark.parametrize("qdisc", ["fifo", "red", "codel", "green-hits", "sfb", "sred"])
def test_queues_without_flows_keep_nothing_of_them(qdisc):
    spec = {"kind": "green", "count": "hits"} if qdisc == "green-hits" else qdisc
    state = queue_state(spec)
    assert state.flows == (0, 0)
    assert state.bytes_per_flow == 0
    assert str(state) == f"{state.bytes[0]} B, nothing per flow"


@pytest.mark.parametrize("qdisc", ["fred", "fq", "wf2q-plus", "hpfq", "drr", "core-stateless"])
def test_queues_with_flows_keep_something_of_each(qdisc):
    state = queue_state(qdisc)
    # Under FRED a few may have nothing waiting at the end.
    assert 18 <= state.flows[0] <= 41
    assert state.flows[1] >= 1.8 * state.flows[0]
    assert state.bytes_per_flow >= 8


def test_sfb_keeps_its_bins():
    # Two levels of 20 more bins each: whole bytes for every one of them.
    small, large = (
        queue_state({"kind": "sfb", "levels": 2, "bins": bins}).bytes[0] for bins in (10, 30)
    )
    assert (large - small) % (2 * 20) == 0
    assert large > small


def test_what_does_not_grow_evenly_is_said_for_both_numbers_of_flows():
    uneven, even = QueueState((20, 40), (1560, 3160)), QueueState((20, 40), (2000, 3600))
    assert str(uneven) == "1560 B with 20 flows, 3160 B with 40"
    assert str(even) == "400 B and 80 B per flow"


@pytest.mark.parametrize("qdisc", [name for name in schema.names("qdisc") if name != "none"])
def test_no_discipline_keeps_less_than_nothing(qdisc):
    assert "-" not in str(queue_state(qdisc))
