"""Tables, totals, warnings and text of flows that arrive and leave, by hand."""

import numpy as np
import pytest

from ackclock.engines.fluid import over_time
from ackclock.engines.fluid.arrivals import Transfers
from ackclock.engines.fluid.graph import Graph
from ackclock.engines.fluid.net import FluidNet


def network():
    """From a by b to c, links of 10 and 4; one pair over both, one over the first."""
    graph = Graph(("a", "b", "c"), np.array([0, 1], dtype=np.uint32),
                  np.array([1, 2], dtype=np.uint32), np.array([10.0, 4.0]))  # fmt: skip
    net = FluidNet.from_routes([10.0, 4.0], [[0, 1], [0]], graph=graph)
    net.ends = np.array([0, 0], dtype=np.uint32), np.array([2, 1], dtype=np.uint32)
    return net


TRANSFERS = Transfers(
    np.array([0.0, 2.0, 3.0, 5.0]), np.array([0, 1, 1, 0], dtype=np.uint32),
    np.array([8.0, 20.0, 40.0, 4.0]),
)  # fmt: skip
INF = np.inf


def simulated(**changes):
    """The first two complete, the third does not, nor does the last."""
    plain = {
        "completion": np.array([4.0, 6.0, INF, INF]), "delivered": np.array([8.0, 20.0, 10.0, 0.0]),
        "offered": np.array([50.0, 8.0]), "carried": np.array([38.0, 9.0]), "end": 8.0,
        "samples": np.array([[5.0, 4.0], [10.0, 1.0], [0.0, 0.0]]),
        "sampled_active": np.array([1.5, 2.0, 0.0]), "mean_active": 1.25, "most_active": 3,
        "taken_up": 6.0, "freed": 8.0, "events": 9, "solved": 7, "whole": 2, "unsettled": 0,
    }  # fmt: skip
    return {**plain, **changes}


ARRIVALS = {"interval": "2 s", "warmup": "2 s"}


def made(arrivals=ARRIVALS, **changes):
    return over_time.tables(network(), TRANSFERS, arrivals, simulated(**changes))


def test_a_flow_has_its_pair_and_its_times_over_those_alone():
    tables, _ = made()
    flows = tables["flows"].to_pydict()
    assert (flows["src"], flows["dst"]) == (["a"] * 4, ["c", "b", "b", "c"])
    assert flows["hops"] == [2, 1, 1, 2]
    assert flows["ideal_s"] == [2.0, 2.0, 4.0, 1.0]
    assert flows["sojourn_s"][:2] == [4.0, 4.0]
    assert flows["slowdown"][:2] == [2.0, 2.0]
    assert flows["completed_at_s"][:2] == [4.0, 6.0]
    assert flows["delivered"] == [8.0, 20.0, 10.0, 0.0]
    peaked, _ = made({**ARRIVALS, "peak": "2 bps"})
    assert peaked["flows"].to_pydict()["ideal_s"] == [4.0, 10.0, 20.0, 2.0]


def test_a_link_has_what_it_was_offered_carried_and_dropped():
    links = made()[0]["links"].to_pydict()
    assert (links["src"], links["dst"]) == (["a", "b"], ["b", "c"])
    # What was carried beyond what was offered is rounding, and no drop.
    assert links["dropped"] == [12.0, 0.0]
    assert links["utilisation"] == pytest.approx([38 / 8 / 10, 9 / 8 / 4])
    assert links["flows"] == [4, 2]
    assert made(end=0.0)[0]["links"].to_pydict()["utilisation"] == [0.0, 0.0]


def test_series_have_a_row_for_each_interval_and_link():
    tables, _ = made()
    rows = tables["utilisation"].to_pydict()
    assert rows["time_s"] == [0, 0, 2, 2, 4, 4]
    assert rows["link"] == ["a->b", "b->c"] * 3
    assert rows["utilisation"] == [0.5, 1.0, 1.0, 0.25, 0.0, 0.0]
    assert tables["active"].to_pydict() == {"time_s": [0, 2, 4], "flows": [1.5, 2.0, 0.0]}
    assert set(made(samples=np.empty((0, 2)))[0]) == {"flows", "links", "totals"}


def test_means_are_of_flows_that_came_after_the_warm_up_and_ended():
    _, totals = made()
    # The first came in the warm-up, the second at its end.
    assert (totals["flows"], totals["completed"], totals["counted"]) == (4, 2, 1)
    assert totals["unfinished"] == 2
    assert (totals["mean_sojourn_s"], totals["mean_slowdown"]) == (4.0, 2.0)
    assert (totals["delivered"], totals["goodput"], totals["dropped"]) == (38.0, 38 / 8, 12.0)
    assert (totals["taken_up"], totals["end_s"]) == (0.75, 8.0)
    assert [totals[key] for key in ("events", "solved_flows", "whole_solutions")] == [9, 7, 2]
    # What came in the warm-up and did not end is not missing either.
    late = simulated(completion=np.array([INF, 6.0, 5.0, 6.5]))
    _, totals = over_time.tables(network(), TRANSFERS, ARRIVALS, late)
    assert (totals["completed"], totals["counted"], totals["unfinished"]) == (3, 3, 0)
    assert totals["mean_sojourn_s"] == pytest.approx((4 + 2 + 1.5) / 3)
    # Slowdowns of 2, 0.5 and 1.5.
    assert (totals["median_slowdown"], totals["worst_slowdown"]) == (1.5, 2.0)
    assert totals["p99_slowdown"] == pytest.approx(1.5 + 0.98 * 0.5)
    assert totals["mean_slowdown"] == pytest.approx(4 / 3)


def test_without_a_flow_that_counts_nothing_is_known():
    _, totals = made({"interval": "2 s", "warmup": "6 s"}, freed=0.0, end=0.0)
    keys = ("mean_sojourn_s", "mean_slowdown", "median_slowdown", "p99_slowdown",
            "worst_slowdown", "taken_up")  # fmt: skip
    assert [totals[key] for key in keys] == [None] * 6
    assert (totals["counted"], totals["unfinished"], totals["goodput"]) == (0, 0, 0.0)
    _, totals = made({"interval": "2 s"})
    assert (totals["counted"], totals["unfinished"]) == (2, 2)


def test_one_flow_that_had_not_ended_is_reported_and_so_are_senders():
    def warnings(unfinished, unsettled):
        return over_time.warnings({"unsettled": unsettled}, {"unfinished": unfinished})

    assert warnings(0, 0) == []
    (first,) = warnings(1, 0)
    assert first.startswith("1 flows had not ended and are not in the means")
    assert warnings(0, 2) == ["senders did not settle after 2 events"]
    assert len(warnings(3, 1)) == 2


def test_the_text_has_the_busiest_links_and_says_where_few_flows_mislead():
    tables, totals = made()
    summary = {"totals": totals, "unit": "bit/s", "allocation": "alpha", "warnings": ["w"],
               "sender": {"kind": "steady"}}  # fmt: skip
    head, rows, links, warning = over_time.text("mine", summary, tables["links"]).split("\n\n")
    assert (head, warning) == ("mine: fluid engine over time, alpha rates", "w")
    cells = [line.split() for line in rows.splitlines()]
    assert ["flows", "4", "2", "ended", "by", "8", "s"] in cells
    assert "median 2, 99 % 2 (of 1 flows: too low on average)" in rows
    assert ["active", "1.25", "mean;", "most", "3"] in cells
    assert ["goodput", "4.75", "bit/s"] in cells
    assert "75.0 %" in rows
    assert [line.split()[0] for line in links.splitlines()[-2:]] == ["a->b", "b->c"]
    assert links.splitlines()[-2].split()[-2:] == ["12", "bit"]
    many = {**totals, "counted": over_time.FEW}
    assert "too low" not in over_time.text("", {**summary, "totals": many}, tables["links"])
    senders = {**summary, "allocation": "senders", "unit": "flow unit"}
    said = over_time.text("", senders, tables["links"])
    assert said.startswith("case: fluid engine over time, steady senders")
    none = {**totals, "taken_up": None, "mean_slowdown": None, "mean_sojourn_s": None}
    assert over_time.text("", {**summary, "totals": none}, tables["links"]).count("unknown") == 3
