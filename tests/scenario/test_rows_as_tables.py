"""Entries of lists in the form of the core as tables, by hand."""

import pytest

import ackclock as ac
from ackclock.scenario.traces import Rows, to_tables


def rows():
    return Rows([(0.0, 500.0), (1.5, 200.0)], ["at", "size"])


TABLES = [{"at": 0.0, "size": 500.0}, {"at": 1.5, "size": 200.0}]


def test_rows_become_tables_in_sources_and_generators_and_nothing_else_changes():
    flow = {"cc": "aimd", "source": {"kind": "trace", "packets": rows()}}
    data = {
        "flows": [flow, {"cc": "cubic"}, {"source": "bulk"}],
        "traffic": [
            {"generator": {"kind": "arrivals", "entries": rows()}},
            {"generator": {"kind": "poisson"}, "flow": {"source": {"packets": rows()}}},
            {"generator": {"entries": rows()}, "flow": {"source": {"packets": rows()}}},
        ],
        "name": "x",
    }
    made = to_tables(data)
    assert made["flows"] == [
        {"cc": "aimd", "source": {"kind": "trace", "packets": TABLES}}, {"cc": "cubic"},
        {"source": "bulk"},
    ]  # fmt: skip
    assert made["traffic"] == [
        {"generator": {"kind": "arrivals", "entries": TABLES}},
        {"generator": {"kind": "poisson"}, "flow": {"source": {"packets": TABLES}}},
        {"generator": {"entries": TABLES}, "flow": {"source": {"packets": TABLES}}},
    ]
    assert made["name"] == "x"
    # The scenario itself stays as it is.
    assert isinstance(flow["source"]["packets"], Rows)


def test_a_scenario_without_rows_is_the_same():
    data = {"flows": [{"source": {"packets": [{"at": 0}]}}], "net": {"kind": "dumbbell"}}
    assert to_tables(data) == data
    assert to_tables({"net": 1}) == {"net": 1}


def test_an_interval_of_nothing_is_refused_and_not_left_out():
    net = {"kind": "dumbbell", "pairs": 1, "rate": "5 Mbps", "rtt": "20 ms"}
    scenario = ac.Scenario.from_data({"duration": 1, "net": net, "flows": [{"pair": 0}]})
    with pytest.raises(ac.ScenarioError, match=r"record\.interval"):
        scenario.run(interval=0)
    assert scenario.run(seed=0).summary["seed"] == 0
    assert set(scenario.run(record=[]).tables) == {"flows", "links"}
