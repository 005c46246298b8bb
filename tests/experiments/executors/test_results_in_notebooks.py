"""What a notebook shows of a sweep: its metrics and what is to be known of them."""

import pyarrow as pa

from ackclock.experiments.result import SweepResult


class Shown:
    """In the place of a result."""

    metrics = ("mean(flows.goodput_bps)", "max(links.delay_mean_s)")

    def __init__(self, *warnings):
        self.warnings = warnings

    def summary(self, metric):
        return pa.table({"cc": ["aimd"], "mean": [len(metric)]})

    def __repr__(self):
        return "Sweep of <mine>"


def test_each_metric_has_its_table_and_warnings_follow():
    page = SweepResult._repr_html_(Shown("beware of <it>", "and of that"))
    places = [page.index(word) for word in (*Shown.metrics, "beware of &lt;it&gt;", "and of that")]
    assert places == sorted(places)
    assert "Sweep of &lt;mine&gt;" in page
    assert "warnings" in page
    assert page.count("<td") >= 4
    assert "warnings" not in SweepResult._repr_html_(Shown())
