"""The loss ledger of packets agrees with the fluid model of the same networks."""

from __future__ import annotations

from collections import Counter

import pytest

import ackclock as ac
from ackclock.cli.main import main
from ackclock.engines.fluid import FluidCase
from ackclock.errors import ScenarioError
from ackclock.plot.ledger import totals
from ackclock.reproduce.read.folder import read
from ackclock.reproduce.run.studies import cases_of
from ackclock.studies.bottlenecks import twin

MBPS = 1e6
DURATION_S = 20.0
ACK_BYTES = 40

# McCullough, Raghavan, Snoeren 2010, figures 1, 2, 3 and 17, in flow units of 1 Mbit/s.
FIG_1 = [["S1", "R1", 20], ["S2", "R1", 20], ["R1", "R2", 20], ["R2", "D1", 5], ["R2", "D2", 2]]
FIG_2 = [*FIG_1[:3], ["R2", "D1", 20], FIG_1[4]]
FIG_3 = [
    ["S1", "R1", 20], ["S2", "R1", 20], ["R1", "R2", 12], ["S3", "R2", 20], ["R2", "R3", 20],
    ["R3", "D1", 20], ["R3", "D3", 20], ["R2", "D2", 2],
]  # fmt: skip
FIG_17 = [["S1", "H", 2], ["S2", "H", 2], ["S3", "H", 2]]
TWO = [["S1", "D1"], ["S2", "D2"]]
RING = [["S1", "S2"], ["S2", "S3"], ["S3", "S1"]]
EXAMPLES = {
    "Fig. 1": (FIG_1, TWO),
    "Fig. 2": (FIG_2, TWO),
    "Fig. 3": (FIG_3, [*TWO, ["S3", "D3"]]),
    "Fig. 17": (FIG_17, [*RING, ["S2", "S1"]]),
}


def run_of(links, flows):
    """The fluid outcome and the packet run with its ledger."""
    net = {"kind": "links", "links": links}
    case = FluidCase({"net": net, "traffic": {"kind": "listed", "flows": flows}})
    network = case.net()
    fluid = network.fixed_point("naive").rates
    scenario = twin.scenario(
        network, fluid.demand, bps_per_unit=MBPS, duration_s=DURATION_S, warmup_s=0.0
    )
    return network, fluid, scenario.run(record=["ledger"])


@pytest.fixture(scope="module")
def runs():
    return {name: run_of(*example) for name, example in EXAMPLES.items()}


def rate_of(found, fate):
    """Rates by link and flow [Mbit/s] of what had this fate."""
    return {
        (link, flow): 8e-6 * size / DURATION_S
        for link, of in found.items()
        for (flow, kind), size in of.items()
        if kind == fate
    }


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_links_carry_in_vain_is_what_the_fluid_says_flow_by_flow(runs, name):
    network, fluid, run = runs[name]
    found = totals(run)
    ids = [str(link) for link in run.links["id"].to_pylist()]
    carried = dict(zip(ids, run.links["departed_bytes"].to_pylist(), strict=True))
    assert {link: sum(of.values()) for link, of in found.items()} == {
        link: size for link, size in carried.items() if size
    }
    # What a hop carries and what arrives may each differ by the bound.
    bound = 2 * twin.tolerance(network, run, bps_per_unit=MBPS)
    lost, useful = rate_of(found, "lost"), rate_of(found, "useful")
    for flow in range(network.n_flows):
        for hop in range(network.offsets[flow], network.offsets[flow + 1]):
            key = (network.link_name(int(network.hops[hop])), str(flow))
            vain = fluid.leaving[hop] - fluid.goodput[flow]
            assert lost.get(key, 0.0) == pytest.approx(vain, abs=bound[flow]), key
            assert useful[key] == pytest.approx(fluid.goodput[flow], abs=bound[flow]), key


def test_the_zombies_of_figure_2_are_what_the_shared_link_carries_in_vain(runs):
    network, fluid, run = runs["Fig. 2"]
    books = network.account(fluid, access=2)
    assert books.zombies.sum() == pytest.approx(8)
    assert books.caused == pytest.approx([0, 8])
    bound = 2 * twin.tolerance(network, run, bps_per_unit=MBPS)
    lost = rate_of(totals(run), "lost")
    assert lost["R1->R2", "1"] == pytest.approx(books.caused[1], abs=bound[1])
    assert lost.get(("R1->R2", "0"), 0.0) == pytest.approx(books.caused[0], abs=bound[0])


def test_the_holder_of_a_narrow_link_is_who_fills_it(runs):
    _, _, run = runs["Fig. 2"]
    rows = run.table("ledger").to_pylist()
    held = [row for row in rows if row["lost_at"] == "R2->D2"]
    assert held
    assert {(row["flow"], row["holder"]) for row in held} == {("1", "1")}


def test_the_bars_are_the_shares_of_capacity(runs):
    _, _, run = runs["Fig. 2"]
    figure = ac.plot.ledger(run, links=["R1->R2"])
    (axes,) = figure.axes
    widths = sorted(bar.get_width() for bar in axes.patches if bar.get_width() > 1)
    used = {key: size for key, size in totals(run)["R1->R2"].items() if key[1] != "under-way"}
    assert widths == pytest.approx(sorted(100 * 8 * s / (20e6 * DURATION_S) for s in used.values()))
    assert sum(widths) == pytest.approx(100, abs=1)


def test_a_run_in_pieces_has_the_same_ledger(runs, tmp_path):
    _, _, run = runs["Fig. 1"]
    again = run.scenario.run(record=["ledger"], out=tmp_path / "bundle")
    assert again.table("ledger").to_pylist() == run.table("ledger").to_pylist()
    out = tmp_path / "ledger.svg"
    assert main(["plot", str(tmp_path / "bundle"), "--kind", "ledger", "--out", str(out)]) == 0
    assert out.stat().st_size > 0


@pytest.mark.slow
def test_lost_acknowledgements_of_a_paper_are_those_that_the_ledger_has_lost():
    """Legout and Biersack's network, whose FIFO queues lose acknowledgements between data.

    The first link of an ACK's way has carried it if it is lost later, and has dropped it else.
    """
    paper = dict(cases_of(read("legout1999"), "first"))
    case = paper["tcp: k 400, scheme FIFO"].replace(duration="1.5 s", warmup="0 s")
    run = case.run(record=["ledger"])
    first = {flow["id"]: "->".join(flow["route"][:-3:-1]) for flow in case.explain().data["flows"]}
    lost = Counter()
    for row in run.ledger.to_pylist():
        if row["is_ack"] and row["fate"] == "lost" and row["link"] == first[row["flow"]]:
            lost[row["link"]] += row["sent_bytes"]
    for link in run.summary["links"]:
        if link["id"] in first.values():
            lost[link["id"]] += ACK_BYTES * link["ack_drops"]
    expected = Counter()
    for flow in run.summary["flows"]:
        expected[first[flow["id"]]] += ACK_BYTES * flow["lost_ack_packets"]
    assert sum(expected.values()) > 500 * ACK_BYTES
    assert +lost == +expected


def test_a_ledger_of_some_flows_is_refused():
    net = ac.topology.Dumbbell(pairs=1, rate="5 Mbps", rtt="40 ms", buffer="20 pkt")
    record = {"tables": ["ledger"], "flows": [0]}
    scenario = ac.Scenario(net, [ac.Flow(pair=0)], duration="1 s")
    with pytest.raises(ScenarioError, match=r"record\.tables\[0\].*leave out record\.flows"):
        scenario.replace(record=record).run()
