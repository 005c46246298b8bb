"""Tables, totals and text of a fluid outcome, on two links by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from ackclock._util.arrow import array, table
from ackclock.engines.fluid import alpha, over_time
from ackclock.engines.fluid.arrivals import Transfers
from ackclock.engines.fluid.graph import Graph
from ackclock.engines.fluid.net import FluidNet
from ackclock.engines.fluid.outcome import Settled
from ackclock.engines.fluid.tables import bottlenecks, fair_shares, routers, tables, text
from ackclock.engines.registry import case
from ackclock.errors import AckclockError


def network(**options):
    """From a by b to c, links of 10 and 4; one flow over both, one over each."""
    graph = Graph(("a", "b", "c"), np.array([0, 1], dtype=np.uint32),
                  np.array([1, 2], dtype=np.uint32), np.array([10.0, 4.0]))  # fmt: skip
    net = FluidNet.from_routes([10.0, 4.0], [[0, 1], [0], [1]], graph=graph, **options)
    net.ends = np.array([0, 0, 1], dtype=np.uint32), np.array([2, 1, 2], dtype=np.uint32)
    return net


def settled(net, demand, leaving, **changes):
    plain = {"converged": True, "rounds": 3, "change": 0.0, "period": None, "damping": 0.5}
    return Settled(net.take_measured(demand, leaving), **{**plain, **changes})


def outcome(access=1):
    """Each offers 10: of 20 the first link passes 5 and 5, of 15 the second 4/3 and 8/3."""
    net = network()
    return tables(net, settled(net, [10.0, 10.0, 10.0], [5.0, 4 / 3, 5.0, 8 / 3]), access)


def test_a_flow_has_its_drops_and_what_it_would_have_max_min():
    made, _ = outcome()
    flows = made["flows"].to_pydict()
    assert (flows["src"], flows["dst"], flows["hops"]) == (
        ["a", "a", "b"], ["c", "b", "c"], [2, 1, 1],
    )  # fmt: skip
    assert flows["max_min"] == pytest.approx([2, 8, 2])
    assert flows["goodput"] == pytest.approx([4 / 3, 5, 8 / 3])
    assert flows["dead"] == pytest.approx([26 / 3, 5, 22 / 3])
    # Link 0, the first of all, holds back too.
    assert flows["bottleneck"] == ["b->c", "a->b", "b->c"]
    assert flows["fair_share"] == pytest.approx([2, 5, 2])
    assert flows["limit"] == [np.inf] * 3
    # Of the first flow what was dropped on its second hop.
    assert flows["dead_beyond_access"] == pytest.approx([5 - 4 / 3, 0, 0])
    later, _ = outcome(access=2)
    assert later["flows"].to_pydict()["dead_beyond_access"] == pytest.approx([0, 0, 0])


def test_a_link_has_what_it_was_offered_and_carried_and_whom_it_holds_back():
    made, _ = outcome()
    links = made["links"].to_pydict()
    assert links["id"] == ["a->b", "b->c"]
    assert links["offered"] == pytest.approx([20, 15])
    assert links["carried"] == pytest.approx([10, 4])
    assert links["utilisation"] == pytest.approx([1, 1])
    assert links["max_min_carried"] == pytest.approx([10, 4])
    assert (links["flows"], links["bottlenecked_flows"]) == ([2, 2], [1, 2])


def test_totals_are_sums_over_flows_against_max_min():
    _, totals = outcome()
    assert (totals["flows"], totals["offered"]) == (3, 30.0)
    assert totals["goodput"] == pytest.approx(9)
    assert totals["clamp_goodput"] == pytest.approx(12)
    assert totals["fraction_of_clamp"] == pytest.approx(0.75)
    assert totals["dead"] == pytest.approx(21)
    assert totals["dead_beyond_access"] == pytest.approx(11 / 3)
    # The last has 2/3 more than max-min; nobody offers less than that.
    assert totals["above"] == pytest.approx(2 / 3)
    assert totals["unasked"] == 0
    assert totals["least_goodput"] == pytest.approx(4 / 3)
    assert totals["clamp_jain"] == pytest.approx(144 / (3 * 72))
    assert totals["jain"] == pytest.approx(81 / (3 * (16 / 9 + 25 + 64 / 9)))
    assert (totals["rounds"], totals["damping"]) == (3, 0.5)
    net = network()
    shy = tables(net, settled(net, [1.0, 8.0, 2.0], [1.0, 1.0, 8.0, 2.0]), 1)[1]
    assert shy["unasked"] == pytest.approx(1)
    assert shy["dead"] == 0


def test_what_is_no_more_than_rounding_is_no_drop():
    net = network()
    rates = np.array([2.0, 8.0, 2.0])
    leaving = np.array([2.0, 2.0 * (1 - 1e-12), 8.0, 2.0])
    made, totals = tables(net, settled(net, rates, leaving), 1)
    assert totals["dead"] == totals["zombies"] == totals["above"] == 0
    assert made["flows"].to_pydict()["dead"] == [0, 0, 0]


def test_a_flow_that_has_all_that_it_requests_has_no_bottleneck():
    net = network(demand=np.array([1.0, np.inf, np.inf]))
    assert net.max_min().tolist() == pytest.approx([1, 9, 3])
    assert bottlenecks(net, net.max_min()).tolist() == [-1, 0, 1]
    made, _ = tables(net, settled(net, [1.0, 9.0, 3.0], [1.0, 1.0, 9.0, 3.0]), 1)
    assert made["flows"].to_pydict()["bottleneck"] == [None, "a->b", "b->c"]
    assert made["links"].to_pydict()["bottlenecked_flows"] == [1, 1]


def test_weights_are_in_shares_and_bottlenecks():
    net = network(weight=np.array([1.0, 4.0, 3.0]))
    assert fair_shares(net).tolist() == pytest.approx([1, 8, 3])
    assert net.max_min().tolist() == pytest.approx([1, 9, 3])
    assert bottlenecks(net, net.max_min()).tolist() == [1, 0, 1]


def test_hops_on_which_a_drop_is_not_dead_are_1_where_nothing_is_said():
    net = network()
    rates = net.take_measured([10.0, 10.0, 10.0], [5.0, 4 / 3, 5.0, 8 / 3])
    assert net.account(rates).flow_dead.tolist() == pytest.approx([11 / 3, 0, 0])
    assert net.account(rates, access=2).flow_dead.tolist() == pytest.approx([0, 0, 0])


def test_routers_of_a_document_have_their_rules_and_places():
    found = routers({"routers": {"sharing": "fifo", "elsewhere": "max-min", "at": ["a"]}})
    assert found == routers({"routers": {"at": ["a"], "elsewhere": "max-min", "sharing": "fifo"}})
    assert found != routers({"routers": {"sharing": "max-min", "elsewhere": "fifo", "at": ["a"]}})
    assert routers({}) == routers({"routers": {"sharing": "max-min"}})


def test_the_text_of_an_outcome_begins_with_the_links_of_most_zombies():
    totals = {
        "flows": 3, "offered": 30.0, "goodput": 9.0, "fraction_of_clamp": 0.75, "clamp_goodput": 12,
        "clamp_jain": 2 / 3, "dead": 21.0, "dead_beyond_access": 3.5, "zombies": 2.5,
        "zombies_edge": 1.5, "jain": 0.8, "least_goodput": 1.25, "converged": True, "rounds": 7,
    }  # fmt: skip
    summary = {
        "totals": totals, "unit": "bit/s", "sender": {"kind": "steady", "gain": 0.5},
        "allocation": "senders", "flows_between": "edges", "warnings": ["w1", "w2"],
    }  # fmt: skip
    links = {
        "id": [f"l{i}" for i in range(12)], "capacity": [1e6] * 12, "utilisation": [0.5] * 12,
        "flows": [4] * 12, "bottlenecked_flows": [2] * 12, "dead": [float(i) for i in range(12)],
        "zombies": [0.0] * 5 + [9.0] + [0.0] * 6,
    }  # fmt: skip
    columns = table({name: array(np.array(of) if name != "id" else of)
                     for name, of in links.items()})  # fmt: skip
    said = text("mine", summary, columns)
    head, rows, fair, worst = said.split("\n\n")
    assert head == "mine: fluid engine, steady senders (gain 0.5); 3 flows between edges"
    cells = [line.split() for line in rows.splitlines()]
    assert ["goodput", "9", "bit/s", "75.00", "%", "of", "max-min"] in cells
    assert ["dead", "21", "bit/s", "3.5", "bit/s", "beyond", "access", "routers"] in cells
    assert fair == "Jain 0.8000, least goodput 1.25 bit/s; settled in 7 rounds"
    names = [line.split()[0] for line in worst.splitlines() if line.lstrip().startswith("l")]
    # Then by what is dead; ten at most.
    assert names == ["link", "l5", "l11", "l10", "l9", "l8", "l7", "l6", "l4", "l3", "l2"]
    summary |= {"allocation": "max-min", "unit": "flow unit", "flows_between": None}
    totals["converged"] = False
    said = text("", summary, columns)
    assert said.startswith("case: fluid engine, max-min rates\n")
    assert "Jain 0.8000, least goodput 1.25; w1; w2" in said


def test_rates_of_an_allocation_have_settled_without_a_round():
    net = {"kind": "graph", "links": [{"a": "a", "b": "b", "rate": "10 Mbps", "delay": "1 ms"}]}
    traffic = {"kind": "listed", "flows": [["a", "b"]] * 2}
    data = {"engine": "fluid", "net": net, "traffic": traffic, "allocation": "max-min"}
    run = case(data).execute(None, None)
    totals = run.summary["totals"]
    assert (totals["converged"], totals["rounds"], totals["dead"]) == (True, 0, 0)
    assert totals["damping"] == 1.0
    assert run.summary["warnings"] == []
    assert run.tables["flows"].to_pydict()["goodput"] == pytest.approx([5e6, 5e6])


def test_a_flow_alone_takes_as_long_as_its_narrowest_link_or_its_peak():
    sizes = np.array([8.0, 20.0, 8.0])
    transfers = Transfers(np.zeros(3), np.array([0, 1, 2], dtype=np.uint32), sizes)
    assert over_time.ideal_times(network(), transfers, np.inf).tolist() == [2.0, 2.0, 2.0]
    assert over_time.ideal_times(network(), transfers, 5.0).tolist() == [2.0, 4.0, 2.0]


@pytest.mark.parametrize("size", [3, 200])
def test_equations_are_solved_as_dense_and_as_sparse_ones(size):
    middle = np.arange(2.0, size + 2.0)
    system = sparse.diags_array(
        [np.full(size - 1, -0.5), middle, np.full(size - 1, -0.5)], offsets=[-1, 0, 1]
    )
    expected = np.linspace(-1, 1, size)
    found = alpha._solve(system, system @ expected)
    assert found == pytest.approx(expected, abs=1e-12)


def test_a_flow_above_its_ideal_causes_what_takes_others_below_theirs_where_it_comes_by():
    """The first has 3 in place of 2 at the second link, where the last loses 9 of 10 and gets 1."""
    net = network()
    made, totals = tables(net, settled(net, [10.0, 10.0, 10.0], [6.0, 3.0, 4.0, 1.0]), 1)
    flows, links = made["flows"].to_pydict(), made["links"].to_pydict()
    # Below the ideal: 4 of 8 at the first link, 1 of 2 at the second.
    assert flows["zombies_suffered"] == pytest.approx([0, 4, 1])
    assert links["zombies"] == pytest.approx([4, 1])
    # All that they lose there.
    assert links["zombies_edge"] == pytest.approx([6, 9])
    # At its first link no flow is from elsewhere.
    assert flows["zombies_caused"] == pytest.approx([1, 0, 0])
    assert flows["zombies_caused_edge"] == pytest.approx([9, 0, 0])
    assert (totals["zombies"], totals["zombies_edge"]) == (pytest.approx(5), pytest.approx(15))
    assert (totals["uncaused"], totals["uncaused_edge"]) == (pytest.approx(4), pytest.approx(6))
    assert links["dead"] == pytest.approx([0, 3])


@pytest.mark.parametrize(
    ("status", "is_solved"),
    [
        ("Solved", True),
        ("AlmostSolved", True),
        ("MaxIterations", False),
        ("PrimalInfeasible", False),
    ],
)
def test_a_program_that_is_nearly_solved_is_solved(monkeypatch, status, is_solved):
    import clarabel

    class Solver:
        def __init__(self, *words):
            pass

        def solve(self):
            return SimpleNamespace(status=status, x=[1.0, 2.0])

    monkeypatch.setattr(clarabel, "DefaultSolver", Solver)
    program = sparse.eye_array(2), np.ones(2), [], np.zeros(2)
    if is_solved:
        assert alpha._run(*program).tolist() == [1.0, 2.0]
    else:
        with pytest.raises(AckclockError, match=f"Clarabel ended with {status}"):
            alpha._run(*program)
