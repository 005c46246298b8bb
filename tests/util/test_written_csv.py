"""Every CSV file that is written says, when it is read, what was stated: all digits, any name."""

import csv
import json
import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ackclock._util import csv_rows
from ackclock.cli.main import main
from ackclock.reproduce.write import artifact, folder, forensics, sensitivity
from ackclock.studies import geant_demo
from ackclock.studies.bottlenecks.survey import survey
from ackclock.studies.evaluate_control.run import Evaluation
from ackclock.studies.evaluate_queue.run import QueueEvaluation
from ackclock.studies.evaluate_queue.score import Scores

NAMES = [
    "Oslo, city",
    'the "old" one',
    "A - B",
    "it's",
    " led by a blank",
    "two\nlines",
    "Zürich; 7",
]
DIGITS = [0.1 + 0.2, 1 / 3, 1e-300, 123456789.12345678, 2**53 - 1.0, -5e-324]


def read(file):
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def test_scores_of_queues(tmp_path):
    values = {(name, 'met, "r"'): np.array([*DIGITS, math.nan]) for name in NAMES}
    scores = {name: Scores(values, {}) for name in NAMES[:2]}
    done = QueueEvaluation(SimpleNamespace(label="x"), "fast", 1, 1, scores, None)
    done.write_files(tmp_path, "")
    expected = [
        (scenario, queue, metric, number, value)
        for scenario in scores
        for (queue, metric), column in values.items()
        for number, value in enumerate(column)
    ]
    rows = read(tmp_path / "scores.csv")
    assert [
        (row["scenario"], row["queue"], row["metric"], int(row["replicate"])) for row in rows
    ] == [one[:4] for one in expected]
    numbers = [float(row["value"]) for row in rows]
    np.testing.assert_array_equal(numbers, [one[4] for one in expected])


def test_runs_of_an_evaluated_control(tmp_path):
    # Labels may be texts of tables, with commas and quotes; a value may be unknown or no number.
    labels = [*NAMES, '{kind = "aimd", b = 0.7}', "", "1e5"]
    table = pa.table({
        "control": pa.array(labels).dictionary_encode(),
        "replicate": list(range(len(labels))),
        "seed": [2**62 + 1, *range(len(labels) - 1)],
        "goodput": [*DIGITS, math.inf, math.nan, None, 0.0],
    })  # fmt: skip
    of = SimpleNamespace(tables={"environment": table})
    empty = SimpleNamespace(tables={"environment": table.slice(0, 0)})
    Evaluation(None, None, "fast", of, empty).write_files(tmp_path, "")
    rows = read(tmp_path / "alone.csv")
    assert [row["control"] for row in rows] == labels
    assert [int(row["replicate"]) for row in rows] == list(range(len(labels)))
    assert [int(row["seed"]) for row in rows] == table["seed"].to_pylist()
    *numbers, unknown, zero = (row["goodput"] for row in rows)
    np.testing.assert_array_equal([float(text) for text in numbers], [*DIGITS, math.inf, math.nan])
    assert (unknown, float(zero)) == ("", 0.0)
    assert read(tmp_path / "shared.csv") == []
    assert (tmp_path / "shared.csv").read_text().strip().count(",") == 3


def test_results_of_the_demonstration(tmp_path):
    keys = [metric.key for metric in geant_demo.METRICS]
    stated = {
        qdisc: [
            {key: DIGITS[(place + number) % len(DIGITS)] for place, key in enumerate(keys)}
            for number in range(3)
        ]
        for qdisc in ("fifo", "with, comma")
    }
    seeds = [1, 2**53 - 1, 2**62 + 1]
    runs = {name: [SimpleNamespace(summary={"seed": seed}) for seed in seeds] for name in stated}
    results = geant_demo.DemoResults(geant_demo.Size(), "", runs)
    vars(results)["values"] = stated
    geant_demo._write_values(results, tmp_path / "results.csv")
    rows = read(tmp_path / "results.csv")
    assert [(row["qdisc"], int(row["seed"])) for row in rows] == [
        (qdisc, seed) for qdisc in stated for seed in seeds
    ]
    written = [{key: float(row[key]) for key in keys} for row in rows]
    assert written == [values for of in stated.values() for values in of]


def test_designs_of_searches(tmp_path):
    chosen = [*NAMES, *DIGITS, True, None, [1, "a, b"], {"kind": "red, x"}]
    parameters = [SimpleNamespace(id=name) for name in NAMES[:2]]
    claims = [SimpleNamespace(id=name) for name in NAMES[2:4]]
    vote = {claim.id: DIGITS[place] for place, claim in enumerate(claims)}
    tried = [
        SimpleNamespace(values=dict.fromkeys(NAMES[:2], value), rungs=(vote,)) for value in chosen
    ]
    space = SimpleNamespace(parameters=parameters, claims=claims)
    defaults = SimpleNamespace(values=dict.fromkeys(NAMES[:2], "x"), rungs=())
    found = SimpleNamespace(space=space, defaults=defaults, tried=tried, accepted=(1,))
    forensics._design(found, tmp_path / "design.csv")
    head, *rows = read(tmp_path / "design.csv")
    assert (head["point"], head["rungs"], head[claims[0].id]) == ("defaults", "0", "")
    assert [int(row["point"]) for row in rows] == list(range(len(chosen)))
    assert [row["accepted"] for row in rows].index("True") == 1
    for row, value in zip(rows, chosen, strict=True):
        for name in NAMES[:2]:
            assert (row[name] if isinstance(value, str) else json.loads(row[name])) == value
        assert {claim.id: float(row[claim.id]) for claim in claims} == vote


def test_trials_of_sensitivity(tmp_path):
    parameters = [
        SimpleNamespace(id="a, b", default=0.1 + 0.2),
        SimpleNamespace(id='"q"', default="-"),
    ]
    parts = [
        SimpleNamespace(
            name=name, measured=value, low=None, high=value, expected="1 to 3, or 4",
            outcome="met",
        )
        for name, value in zip(NAMES, [*DIGITS, math.inf], strict=True)
    ]  # fmt: skip
    result = SimpleNamespace(results=parts, verdict="reproduced")
    trials = [
        SimpleNamespace(values={}, result=result),
        SimpleNamespace(values={"a, b": [1, 2.5]}, result=result),
    ]
    sensitivity._csv(SimpleNamespace(parameters=parameters, trials=trials), tmp_path / "s.csv")
    rows = read(tmp_path / "s.csv")
    assert [row["part"] for row in rows] == NAMES * 2
    assert [float(row["measured"]) for row in rows] == [part.measured for part in parts] * 2
    assert {row["ci_low"] for row in rows} == {""}
    assert {row["expected"] for row in rows} == {"1 to 3, or 4"}
    values = [json.loads(row["a, b"]) for row in rows]
    assert values == [0.1 + 0.2] * len(parts) + [[1, 2.5]] * len(parts)


def test_seeds_of_an_archive(tmp_path):
    seeds = [2**53 - 1, 2**62 + 1, *range(len(NAMES) - 2)]
    table = pa.table({"net.buffer, x": NAMES, "seed": seeds, "alpha": [*DIGITS, 0.0]})
    studies = {name: SimpleNamespace(tables={"runs": table}) for name in ("plain", 'with, "both"')}
    artifact._seeds(SimpleNamespace(studies=studies), tmp_path / "seeds.csv")
    rows = read(tmp_path / "seeds.csv")
    assert [row["study"] for row in rows] == [name for name in studies for _ in NAMES]
    assert [row["net.buffer, x"] for row in rows] == NAMES * 2
    assert [int(row["seed"]) for row in rows] == seeds * 2
    assert [float(row["alpha"]) for row in rows] == [*DIGITS, 0.0] * 2


def test_data_of_figures(tmp_path):
    stated = [
        {"label": name, "x": value} for name, value in zip(NAMES, [*DIGITS, 1.0], strict=True)
    ]
    folder._csv(tmp_path / "f.csv", stated)
    rows = read(tmp_path / "f.csv")
    assert [{"label": row["label"], "x": float(row["x"])} for row in rows] == stated


def test_flows_and_links_of_a_surveyed_network(tmp_path):
    a, b, c, d = "Oslo, city", 'the "old" one', "A - B", "C - D - E"
    links = [(a, b, 1e9 / 3), (b, c, 7e8 / 9), (c, d, 1e9)]
    with (tmp_path / "edges.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "target", "capacity_bps"])
        writer.writerows([source, target, repr(rate)] for source, target, rate in links)
    done = survey(tmp_path)
    out = tmp_path / "out"
    assert main(["fluid", str(tmp_path), "--out", str(out)]) == 0
    for name in ("flows", "links"):
        stated = [
            {"sender": sender, **row}
            for sender, table in getattr(done, name).items()
            for row in table.to_pylist()
        ]
        assert {a, b, c, d} & {value for row in stated for value in row.values() if value}
        rows = [row for _, row in csv_rows.rows(out / f"{name}.csv", ("sender",))]
        assert len(rows) == len(stated) > 0
        for row, was in zip(rows, stated, strict=True):
            for key, value in was.items():
                if value is None:
                    assert row[key] == ""
                elif isinstance(value, bool):
                    assert row[key] == str(value).lower()
                elif isinstance(value, int | float):
                    assert float(row[key]) == pytest.approx(value, rel=0, abs=0, nan_ok=True)
                else:
                    assert row[key] == value


def test_tables_exported_of_a_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ['cubic, "new"', "reno - old"]
    (tmp_path / "sweep.toml").write_text(
        "reps = 1\nmetrics = ['mean(flows.goodput_bps)']\n"
        "[scenario]\nduration = '1 s'\nflows = [{ id = 'a, \"b\"', pair = 0 }]\n"
        "net = { kind = 'dumbbell', pairs = 1, rate = '3333333.3 bps' }\n"
        "[over]\ncc = { path = 'flows[*].cc', values = { 'cubic, \"new\"' = 'cubic',"
        " 'reno - old' = 'reno' } }\n"
    )
    assert main(["sweep", "sweep.toml", "--quiet", "--store", "store"]) == 0
    for end in ("csv", "parquet"):
        to = ["--store", "store", "--out", f"f.{end}"]
        assert main(["results", "export", "--table", "flows", *to]) == 0
    stated = pq.read_table("f.parquet").to_pylist()
    rows = read(tmp_path / "f.csv")
    assert [row["cc"] for row in rows] == [row["cc"] for row in stated]
    assert {row["cc"] for row in rows} == set(names)
    for row, was in zip(rows, stated, strict=True):
        assert row["id"] == was["id"] == 'a, "b"'
        assert float(row["goodput_bps"]) == was["goodput_bps"]
