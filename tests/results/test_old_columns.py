"""Columns of earlier versions under their present names."""

import pyarrow as pa
import pytest

import ackclock as ac
from ackclock.experiments.metrics import MetricError, of_run
from ackclock.results.old_columns import with_old_names
from ackclock.results.summary import whole


def test_a_metric_may_have_the_old_name_of_a_duration_and_means_the_same():
    case = ac.Scenario(
        ac.topology.Dumbbell(pairs=1, rate="4 Mbps", rtt="30 ms"),
        [{"pair": 0, "start": "1 s", "size": "100 kB"}],
        duration="3 s",
    )
    metrics = ["flows[f0].completion_s", "flows[f0].completed_after_s"]
    result = ac.sweep(case, {"net.rate": ["2 Mbps", "8 Mbps"]}, metrics=metrics).run(
        store=False, progress=False
    )
    old, new = (result.per_run(metric).ravel().tolist() for metric in metrics)
    assert old == new
    assert all(0.1 < value < 1 for value in new)


def test_a_table_of_an_earlier_version_is_read_under_the_new_name():
    table = pa.table({"id": ["f0"], "start_s": [1.0], "completion_s": [0.5]})
    for name in ("completion_s", "completed_after_s"):
        assert of_run(f"flows.{name}", {}, {"flows": table}) == 0.5
    with pytest.raises(MetricError, match="completed_at_s"):
        of_run("flows.completed_at_s", {}, {"flows": table})
    fluid = table.append_column("arrival_s", [[1.0]])
    assert of_run("flows.completed_at_s", {}, {"flows": fluid}) == 0.5
    rows = {"flows": table.to_pylist(), "links": [], "link_queues": []}
    summary = whole({"flows": None, "links": None}, rows.__getitem__)
    assert summary["flows"][0]["completed_after_s"] == 0.5
    assert "completion_s" not in summary["flows"][0]


def test_a_text_under_the_old_names_is_that_of_before():
    new = "SELECT start_s + completed_after_s, completed_at_s, not_completed_at_s_either FROM flows"
    old = "SELECT start_s + completion_s, completion_s, not_completed_at_s_either FROM flows"
    assert with_old_names(new) == with_old_names(old) == old
