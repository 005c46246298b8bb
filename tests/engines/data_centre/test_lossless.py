"""Priority flow control and shared memory of switches, held against what is published of them."""

import re
import tomllib
from pathlib import Path

import pytest

from ackclock import Scenario
from ackclock.errors import ScenarioError

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/data-centre/pfc-incast.toml"


def incast(**changes):
    return tomllib.loads(EXAMPLE.read_text("utf-8")) | changes


def completion_s(run, flow):
    return next(row for row in run.summary["flows"] if row["id"] == flow)["completed_after_s"]


def drops(run):
    return sum(link["drops"] for link in run.summary["links"])


def test_an_incast_pauses_links_loses_nothing_and_delays_an_innocent_flow():
    paused = Scenario.from_data(incast()).run()
    lossy = Scenario.from_data(incast(switches={"memory": "2 MB"})).run()
    alone = Scenario.from_data(incast(flows=incast()["flows"][:1])).run()
    assert drops(paused) == 0 < drops(lossy)
    links = {link["id"]: link for link in paused.summary["links"]}
    # The incast is behind the second leaf, and nobody else sends to h9.
    assert links["l1->h9"]["drops"] == links["l1->h9"]["queue_p99_packets"] == 0
    assert links["h7->l0"]["paused_s"] > 0.2e-3 and links["h7->l0"]["pauses"] > 10
    assert completion_s(paused, "innocent") > 1.2 * completion_s(alone, "innocent")


def headroom_bytes(delay):
    case = {
        "net": {"kind": "star", "hosts": 2, "rate": "400 Gbps", "delay": delay},
        "switches": {"pfc": {"xoff": "1 MB"}},
        "flows": [{"src": "h0", "dst": "h1", "size": "10 kB"}],
        "duration": "1 ms",
    }
    run = Scenario.from_data(case).run()
    return next(link for link in run.summary["links"] if link["id"] == "h0->r")["headroom_bytes"]


def test_a_microsecond_more_of_round_trip_takes_50_kb_of_headroom_at_400_gbps():
    # The arithmetic shown at the RTGWG (IETF 126): 400 Gbit/s need 50 kB for each us.
    assert headroom_bytes("1.5 us") - headroom_bytes("1 us") == pytest.approx(50_000, abs=1)


STEPS = [{"at": 0, "rate": "100 Gbps"}, {"at": "1 ms", "rate": "50 Gbps"}]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"era": "ns2"}, "switches: has no counterpart in era ns2"),
        (
            {"groups": [{"src": "h0", "receivers": ["h8"], "layers": ["1 Mbps"]}]},
            "switches: do not carry multicast groups",
        ),
        (
            {"links": [{"link": "h0->l0", "schedule": {"steps": STEPS}}]},
            "switches.pfc: cannot pause link h0->l0, which has a rate that changes",
        ),
    ],
)
def test_what_a_pause_cannot_stop_is_refused_in_a_sentence(changes, message):
    with pytest.raises(ScenarioError) as error:
        Scenario.from_data(incast(**changes)).run()
    assert message in str(error.value)


def test_a_pause_storm_names_the_link_that_was_paused_longest_and_the_summary_its_pauses():
    quiet = incast(switches={"memory": "2 MB", "alpha": 0.125, "pfc": {"storm_share": 1}})
    assert not any("pause storm" in warning for warning in Scenario.from_data(quiet).run().warnings)
    pfc = {"storm_share": 0.2, "storm_time": "500 us"}
    loud = incast(switches={"memory": "2 MB", "alpha": 0.125, "pfc": pfc})
    run = Scenario.from_data(loud).run()
    (storm,) = [warning for warning in run.warnings if "pause storm" in warning]
    assert re.fullmatch(
        r"pause storm: link h\d->l0 was paused for \d\d % of the 0.5 ms from 0.000[05]\d* s on,"
        r" more than 20 %; so were \d+ more links",
        storm,
    )
    heads = str(run).splitlines()
    assert any(line.split()[-2:] == ["pauses", "paused"] for line in heads)


@pytest.mark.parametrize("changes", [{"storm_share": 1.5}, {"storm_time": "0 s"}])
def test_a_storm_has_a_share_and_a_time(changes):
    with pytest.raises(ScenarioError, match=f"switches.pfc.{next(iter(changes))}"):
        Scenario.from_data(incast(switches={"memory": "2 MB", "pfc": changes})).check()
