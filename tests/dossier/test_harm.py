"""Harm is measured beside the standard control that is worse in the mean."""

import tomllib

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from ackclock.dossier.read import PROFILES

COLUMNS = ("goodput_bps", "srtt_mean_s", "window_lost_data_packets")


def harmed(studies):
    """Rows of the view, from rows of the studies that it reads."""
    text = tomllib.loads((PROFILES / "rfc9743" / "views.toml").read_text())["view"]["harmed"]
    with duckdb.connect() as base:
        for name, rows in studies.items():
            base.execute(f"CREATE SCHEMA {name}")
            base.register(f"{name}_flows", pa.Table.from_pylist(rows))
            base.execute(f"CREATE VIEW {name}.flows AS FROM {name}_flows")
        return base.sql(f"{text} ORDER BY t.replicate").to_arrow_table().to_pylist()


def row(replicate, value, **more):
    numbers = dict.fromkeys(COLUMNS, float(value))
    place = {"victim": "Vegas", "bdp": 0.5, "replicate": replicate, "id": "victim"}
    return {**place, **numbers, "window_sent_packets": 100.0, **more}


def test_the_worse_of_the_means_is_not_the_mean_of_the_worse():
    # Reno 1, 3, 2 and CUBIC 3, 1, 3: in the mean Reno leaves less, in each replicate one of both.
    left = {"Reno": (1, 3, 2), "CUBIC": (3, 1, 3)}
    standards = [row(r, v, standard=name) for name, of in left.items() for r, v in enumerate(of)]
    alone = [row(r, 4) for r in range(3)]
    found = harmed({"standards": standards, "alone": alone, "beside": alone})
    assert [one["standard"] for one in found] == [1, 3, 2]
    # More delay and more loss are worse: CUBIC's, of mean 7/3.
    assert [one["standard_s"] for one in found] == [3, 1, 3]
    assert [one["standard_loss"] for one in found] == pytest.approx([0.03, 0.01, 0.03])


def test_the_worse_standard_control_has_no_excess_over_itself():
    first, other = np.random.default_rng(6).normal(2.0, 0.3, (2, 40))
    standards = [row(r, v, standard="Reno") for r, v in enumerate(first)]
    standards += [row(r, v, standard="CUBIC") for r, v in enumerate(other)]
    # The control under study is the worse of both, under the same draws.
    beside = [row(r, v) for r, v in enumerate(min(first, other, key=np.mean))]
    found = harmed(
        {"standards": standards, "alone": [row(r, 4) for r in range(40)], "beside": beside}
    )
    assert [one["standard"] - one["beside"] for one in found] == [0.0] * 40
    # By the worse of each replicate it would have 0.56 of 0.3 to its credit.
    assert np.mean(np.minimum(first, other)) - np.mean([b["goodput_bps"] for b in beside]) < -0.1
