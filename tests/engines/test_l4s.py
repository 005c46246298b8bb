"""Prague beside CUBIC over DualPI2: how long its packets wait, and what the two share."""

import numpy as np
import pytest

import ackclock as ac

LINK = "r0->r1"
PRAGUE = {"cc": "prague", "tcp": {"ecn": True, "accecn": True}}


def over_dualpi2(rate, rtt, flows, **more):
    pairs = 1 + max(flow["pair"] for flow in flows)
    net = {"kind": "dumbbell", "pairs": pairs, "rate": rate, "rtt": rtt, "buffer": "250 ms"}
    return ac.Scenario.from_data({"net": net | {"qdisc": "dualpi2"}, "flows": flows, **more})


@pytest.mark.slow
@pytest.mark.parametrize("rate", ["40 Mbps", "120 Mbps"])
@pytest.mark.parametrize("has_cubic", [False, True])
def test_packets_of_prague_wait_less_than_a_millisecond_in_99_of_100(rate, has_cubic):
    flows = [{"pair": 0, "id": "prague", **PRAGUE}, {"pair": 1, "cc": "cubic"}]
    # Prague takes on its virtual round trip after 500 rounds, 10 s.
    scenario = over_dualpi2(rate, "20 ms", flows[: 1 + has_cubic], duration="18 s", warmup="10 s")
    run = scenario.run(record=["packets"])
    rows = run.table("packets").to_pandas()
    rows = rows[(rows["link"] == LINK) & ~rows["is_ack"] & (rows["flow"] == "prague")]
    assert not (rows["event"] == "drop").any()
    arrivals = rows["time_s"][rows["event"] == "arrival"].to_numpy()
    departures = rows["time_s"][rows["event"] == "departure"].to_numpy()
    waited = (departures - arrivals[: len(departures)])[departures > 10]
    assert np.percentile(waited, 99) < 1e-3
    assert next(x for x in run.summary["links"] if x["id"] == LINK)["utilisation"] > 0.95


def share(rtt, count):
    flows = [{"pair": 2 * i, **PRAGUE} for i in range(count)]
    flows += [{"pair": 2 * i + 1, "cc": "cubic"} for i in range(count)]
    run = over_dualpi2("40 Mbps", rtt, flows, duration="60 s", warmup="40 s").run()
    got = [flow["goodput_bps"] for flow in run.summary["flows"]]
    return sum(got[:count]) / sum(got[count:])


@pytest.mark.slow
@pytest.mark.parametrize("rtt", ["20 ms", "40 ms", "80 ms"])
def test_several_flows_of_prague_and_cubic_share_within_1_3(rtt):
    assert 1 / 1.3 < share(rtt, 4) < 1.3


@pytest.mark.slow
@pytest.mark.parametrize("rtt", ["5 ms", "10 ms", "20 ms", "40 ms", "80 ms"])
def test_neither_of_two_single_flows_starves(rtt):
    """Beyond 1.3 : 1, as docs/explanation/l4s.md explains."""
    assert 1 / 2.5 < share(rtt, 1) < 2.5
