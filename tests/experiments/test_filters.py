"""Filters over runs compare values as what they are, and refuse what they cannot compare."""

from __future__ import annotations

import itertools
import json
import operator
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.experiments.store import Store, StoreError, look, pack, query
from ackclock.experiments.store.filters import read_filter
from ackclock.experiments.stored import stored_result
from conftest import SMALL

ORDERS = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def row(i, document, labels=None, **more):
    return {
        "key": f"{i:064x}", "engine": "packet", "version": "0.1.0+abc", "scenario_hash": f"h{i}",
        "seed": i, "name": f"n{i}", "sweep": "s", "labels": json.dumps(labels or {}),
        "tables": "[]", "cpu_s": 0.5, "finished_at": 1e9 + i, "host": "here", "command": "c",
        "summary": "{}", "document": json.dumps(document), "files": "{}", **more,
    }  # fmt: skip


@pytest.fixture
def store_of(tmp_path):
    """Make a store of rows, by hand."""

    def make(rows):
        with Store(tmp_path / "store", writes=True) as store:
            pack.write_tables(
                store.folder / "packs", store.folder / "tmp", {"runs": pa.Table.from_pylist(rows)}
            )
        return look(tmp_path / "store")

    return make


def chosen(store, *filters):
    return [r["seed"] for r in query.find(store, filters)]


@pytest.mark.parametrize(("most", "last"), [(1, [8]), (2, [6, 8]), (9, [0, 2, 4, 6, 8])])
def test_a_limit_leaves_the_last_of_those_that_pass(store_of, most, last):
    store = store_of([row(i, {"net": {"rate": i % 2}}) for i in range(10)])
    assert [r["seed"] for r in query.find(store, ["net.rate=0"], most)] == last
    assert [r["seed"] for r in query.find(store, [], most)] == list(range(10))[-most:]


WAYS = {
    # By path: a number in SI units, and ways to write it, as typed and as in a scenario.
    "net.rate": {
        1e6: ["1 Mbps", "1000 kbit/s", "1e6", 1e6, 1_000_000],
        4e6: ["4 Mbps", "4000 kbps", "0.004 Gbps", "4000000", 4e6],
        1e7: ["10 Mbps", "10e6", "1e7 bps", 1e7],
        4e7: ["40 Mbps", 4e7],
    },
    "net.rtt": {
        0.0004: ["400 us", "0.4 ms", 0.0004],
        0.03: ["30 ms", "0.03 s", "0.03", 0.03],
        0.1: ["100 ms", "0.1 s", "0.1", 0.1],
        2.0: ["2 s", "2000 ms", 2],
    },
    "net.buffer": {
        5.0: ["5 pkt", "5pkt"],
        20.0: ["20 pkt", "20pkt"],
        100.0: ["100 pkt"],
    },
    "flows[0].size": {
        500.0: ["500 B", "0.5 kB", 500],
        1e6: ["1 MB", "1000 kB", "1e6", 1_000_000],
        1048576.0: ["1 MiB", "1024 KiB"],
    },
}


@pytest.mark.parametrize("path", WAYS)
def test_quantities_are_compared_as_numbers_however_they_are_written(store_of, path):
    def document(value):
        table, key = path.split(".")
        inner = {key: value}
        return {table.split("[")[0]: [inner] if "[" in table else inner}

    ways = [(number, way) for number, ways in WAYS[path].items() for way in ways]
    store = store_of([row(i, document(way)) for i, (_, way) in enumerate(ways)])
    for number, way in ways:
        if not isinstance(way, str):
            continue
        for sign, holds in ORDERS.items():
            expected = [i for i, (other, _) in enumerate(ways) if holds(other, number)]
            assert chosen(store, f"{path}{sign}{way}") == expected, (sign, way)


def test_a_label_is_compared_as_a_quantity_too(store_of):
    rates = ["1 Mbps", "4 Mbps", "10 Mbps"]
    store = store_of([row(i, {}, {"speed": rate, "n": i}) for i, rate in enumerate(rates)])
    assert chosen(store, "speed>2 Mbps") == [1, 2]
    assert chosen(store, "speed<5000 kbps") == [0, 1]
    assert chosen(store, "speed!=4000 kbps") == [0, 2]
    assert chosen(store, "n<=1") == [0, 1]


def test_not_equal_is_the_contrary_of_equal_where_an_axis_has_names(store_of):
    cases = [("slow", "1 Mbps"), ("fast", "9 Mbps"), ("fast", "10 Mbps")]
    store = store_of(
        [
            row(i, {"net": {"rate": rate}}, {"net.rate": name})
            for i, (name, rate) in enumerate(cases)
        ]
    )
    for value, expected in {"slow": [0], "1000 kbps": [0], "fast": [1, 2], "9 Mbps": [1]}.items():
        assert chosen(store, f"net.rate={value}") == expected
        assert chosen(store, f"net.rate!={value}") == [i for i in range(3) if i not in expected]
    # In order are the rates, of which the names say nothing.
    assert chosen(store, "net.rate>2 Mbps") == [1, 2]


def test_a_run_without_the_key_passes_no_filter(store_of):
    store = store_of([row(0, {"net": {"rate": "1 Mbps"}}), row(1, {"net": {}})])
    for sign in ORDERS:
        assert 1 not in chosen(store, f"net.rate{sign}1 Mbps")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("seed=1", [1]), ("seed!=1", [0, 2]), ("seed<1", [0]), ("seed > 1", [2]),
        ("seed>=1", [1, 2]),
        ("seed<10", [0, 1, 2]), ("name=n1", [1]), ('name = "n1"', [1]), ("name!=n1", [0, 2]),
        (f"key={'0' * 63}1", [1]), (f"key={'0' * 63}", [0, 1, 2]), ("scenario_hash=h2", [2]),
        ("load=2", [2]), ("load<1.5", [0, 1]), ("load=2.0", [2]), ("flows[*].cc=vegas", [0, 1, 2]),
        ("flows[x].cc=aimd", [0, 1, 2]), ("flows[x].cc=vegas", []),
        ("flows[1].cc=vegas", [0, 1, 2]),
        ("flows[0].cc=vegas", []), ("flows[*].cc!=vegas", [0, 1, 2]), ("flows[1].cc!=vegas", []),
        ("flows[2].cc=mine.py:Mine", [0, 1, 2]), ("net=dumbbell", [0, 1, 2]), ("on=true", [0, 2]),
        ("on!=true", [1]), ("finished_at>1000000000.5", [1, 2]), ("finished_at<2001-09-08", []),
        ("finished_at>2001-09-08 00:00", [0, 1, 2]), ("cpu_s<1 min", [0, 1, 2]),
        ("cpu_s<=500 ms", [0, 1, 2]), ("version=0.1.0", [0, 1, 2]),
        ("version=0.1.0+abc", [0, 1, 2]),
        ("version!=0.1.0+abd", [0, 1, 2]), ("version!=0.1.0", []), ("version<0.2", [0, 1, 2]),
        ("version>=0.0.9", [0, 1, 2]), ("version>0.1", []), ("version<0.10.0", [0, 1, 2]),
        ("net.buffer=unlimited", [2]), ("net.buffer>30 pkt", [2]),
        ("net.buffer!=unlimited", [0, 1]),
    ],
)  # fmt: skip
def test_filters_choose_runs(store_of, text, expected):
    flows = [
        {"id": "x", "cc": "aimd"},
        {"id": "y", "cc": {"kind": "vegas", "alpha": 2}},
        {"id": "z", "cc": {"kind": "python", "class": "mine.py:Mine"}},
    ]
    buffers = ["5 pkt", "20 pkt", "unlimited"]
    store = store_of(
        [
            row(
                i,
                {"flows": flows, "on": i != 1, "net": {"kind": "dumbbell", "buffer": buffers[i]}},
                {"load": i},
            )
            for i in range(3)
        ]
    )
    assert chosen(store, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "net.rate=5 s", "net.rate<5 s", "net.rate>fast", "net.rate=20 pkt", "net.rtt=4 Mbps",
        "net.buffer<20", "net.buffer=20", "net.buffer<2 bdp", "net.buffer<64 kB", "seed=4 s",
        "seed<x", "seed=abc", "finished_at=yesterday", "finished_at<3 s", "cpu_s<4 Mbps", "name<b",
        "engine>=packet", "version<new", "flows[*].cc<vegas", "flows[*].cc=3", "on<true", "on=1",
        "net.pairs=4 Mbps",
    ],
)  # fmt: skip
def test_a_comparison_that_cannot_be_made_is_refused(store_of, text):
    document = {
        "flows": [{"cc": "aimd"}],
        "on": True,
        "net": {"rate": "4 Mbps", "rtt": 0.1, "buffer": "20 pkt", "pairs": 4},
    }
    store = store_of([row(i, document) for i in range(2)])
    message = rf'the filter "{re.escape(text)}" cannot be applied: .*'
    with pytest.raises(StoreError, match=message) as error:
        query.find(store, [text])
    assert len(str(error.value).splitlines()) == 1


def test_one_run_that_cannot_be_compared_is_enough_to_refuse(store_of):
    buffers = ["5 pkt", "20 pkt", "1 bdp"]
    store = store_of([row(i, {"net": {"buffer": one}}) for i, one in enumerate(buffers)])
    with pytest.raises(StoreError, match="buffer of a run is 1 bdp, which cannot be compared with"):
        query.find(store, ["net.buffer>10 pkt"])
    # Another unit is another value.
    assert chosen(store, "net.buffer=20 pkt") == [1]
    assert chosen(store, "net.buffer!=20 pkt") == [0, 2]


def test_what_is_no_filter_is_refused():
    for text in ("seed", "=1", "a~b"):
        with pytest.raises(StoreError, match=f'"{text}" is not a filter; expected NAME=VALUE'):
            read_filter(text)


def test_lists_that_are_too_long_for_the_index_are_compared_too(store_of):
    flows = [{"id": f"flow number {i}", "cc": "aimd", "size": "1 MB"} for i in range(60)]
    flows[47]["cc"] = "vegas"
    store = store_of([row(0, {"flows": flows}), row(1, {"flows": flows[:47]})])
    assert chosen(store, "flows[*].cc=vegas") == [0]
    assert chosen(store, "flows[47].cc=vegas") == [0]
    assert chosen(store, "flows[*].size<2 MB") == [0, 1]


RATES = ["1 Mbps", "4 Mbps", "10 Mbps"]


@pytest.fixture
def place(tmp_path):
    place = tmp_path / "kept"
    scenario = ac.load(SMALL).replace(duration="4 s", record=None)
    ac.sweep(scenario, {"net.rate": RATES}, reps=2).run(store=place, progress=False)
    return place


@pytest.mark.slow
def test_every_command_chooses_the_same_runs(place, tmp_path, capsys):
    rates = {"1 Mbps": 1e6, "4 Mbps": 4e6, "10 Mbps": 1e7}
    out = tmp_path / "flows.parquet"
    at = ["--store", str(place), "--where"]
    for (sign, holds), (typed, number) in itertools.product(
        ORDERS.items(), {"5 Mbps": 5e6, "4000 kbps": 4e6, "20e6": 2e7}.items()
    ):
        text = f"net.rate{sign}{typed}"
        expected = {rate for rate, value in rates.items() if holds(value, number)}
        capsys.readouterr()
        assert cli.main(["results", "list", "--json", *at, text]) == 0
        listed = [
            json.loads(line)["labels"]["net.rate"]
            for line in capsys.readouterr().out.split("\n")
            if line
        ]
        assert sorted(listed) == sorted([*expected, *expected]), text
        assert cli.main(["results", "gc", "--dry-run", "--json", *at, text]) == 0
        assert json.loads(capsys.readouterr().out)["runs"] == 2 * len(expected), text
        code = cli.main(["results", "export", "--table", "flows", "--out", str(out), *at, text])
        assert code == (0 if expected else 2), text
        if expected:
            assert set(pq.read_table(out)["net.rate"].to_pylist()) == expected
            axis = stored_result(Store(place), None, [text]).sweep.grid[0]
            assert {choice.label for (choice,) in axis.rows} == expected


def test_gc_shows_what_goes_and_removes_it_after_a_yes_only(place, monkeypatch, capsys):
    command = ["results", "gc", "--store", str(place), "--where", "net.rate<5 Mbps"]

    def left():
        with look(place) as store:
            return len(query.find(store))

    for more in ([], ["--json"]):
        assert cli.main([*command, *more]) == 2
        said = capsys.readouterr()
        assert "4 of 6 runs are selected, 2 stay; nothing is removed without --yes" in said.err
        assert left() == 6
    assert cli.main([*command, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "net.rate=1 Mbps" in said
    assert "net.rate=10 Mbps" not in said
    assert "4 of 6 runs are selected, 2 stay" in said
    monkeypatch.setattr("ackclock.cli.look.results._is_terminal", lambda: True)
    for answer, stay in ((False, 6), (True, 2)):
        monkeypatch.setattr("click.confirm", lambda *_, answer=answer: answer)
        assert cli.main(command) == 0
        assert left() == stay
    assert cli.main([*command, "--yes"]) == 0
    assert left() == 2
    assert cli.main([*command[:-1], "net.rate=10e6", "--yes"]) == 0
    assert left() == 0
