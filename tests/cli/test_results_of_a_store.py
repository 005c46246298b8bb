"""What ``ackclock results`` shows, writes and removes of a store with few runs."""

import json
import time

import pyarrow.parquet as pq
import pytest

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.cli.look import results
from ackclock.experiments import file_form
from ackclock.experiments.store import look
from conftest import SMALL

SWEEP = """
name = "kept"
reps = 2
set = { duration = "3 s" }
base = "small.toml"
[over]
"net.buffer" = ["5 pkt", "20 pkt"]
"""


@pytest.fixture(scope="module")
def _place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    (folder / "small.toml").write_text(SMALL)
    (folder / "sweep.toml").write_text(SWEEP)
    sweep = file_form.load_sweep(folder / "sweep.toml")
    sweep.run(store=folder / "store", progress=False, workers=1)
    return folder / "store"


@pytest.fixture
def place(_place):
    return _place


def call(*arguments):
    return cli.main(["results", *map(str, arguments)])


def listed(capsys, *arguments):
    assert call("list", "--json", *arguments) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_runs_are_listed_with_sweep_place_seed_and_engine(place, capsys):
    assert call("list", "--store", place) == 0
    *lines, count = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [
        "run", "sweep", "at", "seed", "engine", "version", "finished", "cpu",
    ]  # fmt: skip
    assert len(lines) == 5
    assert count == f"4 of 4 runs in {place}"
    rows = listed(capsys, "--store", place)
    for line, row in zip(lines[1:], rows, strict=True):
        assert line.startswith(f"{row['key'][:12]}  kept")
        assert f"net.buffer={row['labels']['net.buffer']}" in line
        assert line.split("  packet ")[1].split()[0] == ac.__version__.partition("+")[0]
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(int(row["finished_at"])))
        assert when in line
    assert sorted((row["labels"]["net.buffer"], row["seed"]) for row in rows) == sorted(
        (buffer, seed) for buffer in ("5 pkt", "20 pkt") for seed in {row["seed"] for row in rows}
    )


def test_a_list_is_of_what_is_selected_and_of_the_last_so_many(place, capsys):
    every = listed(capsys, "--store", place)
    assert listed(capsys, "--store", place, "--limit", "3") == every[1:]
    few = listed(capsys, "--store", place, "--where", "net.buffer=20 pkt")
    assert few == [row for row in every if row["labels"]["net.buffer"] == "20 pkt"]
    assert len(few) == 2
    both = ["--where", "net.buffer=20 pkt", "--where", f"seed={few[0]['seed']}"]
    assert listed(capsys, "--store", place, *both) == few[:1]
    assert call("list", "--store", place, "--where", "net.buffer=7 pkt") == 0
    assert capsys.readouterr().out == f"0 of 4 runs in {place}\n"
    assert listed(capsys, "--store", place, "--where", "net.buffer=7 pkt") == []


def test_a_terminal_shows_the_last_runs_and_says_how_many_came_before(place, capsys, monkeypatch):
    monkeypatch.setattr(results, "MOST_SHOWN", 3)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert call("list", "--store", place) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "... 1 earlier runs, see --limit, --where, --json ..."
    assert len(lines) == 1 + 1 + 3 + 1
    monkeypatch.setattr(results, "MOST_SHOWN", 4)
    assert call("list", "--store", place) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 4 + 1


def test_one_run_is_shown_with_where_it_comes_from(place, capsys):
    row = listed(capsys, "--store", place)[-1]
    assert call("show", row["key"][:10], "--store", place) == 0
    head, _, document = capsys.readouterr().out.partition("\n\n")
    fields = dict(line.split("  ", 1) for line in head.splitlines())
    fields = {name.strip(): value.strip() for name, value in fields.items()}
    assert fields["run"] == row["key"]
    assert fields["sweep"] == "kept"
    assert fields["at"] == f"net.buffer = {row['labels']['net.buffer']}"
    assert fields["seed"] == str(row["seed"])
    assert fields["engine"] == f"packet {row['version']}"
    assert fields["scenario hash"] == row["scenario_hash"]
    assert fields["tables"] == ", ".join(row["tables"])
    assert " on " in fields["finished"]
    assert "[net]" in document
    assert call("show", row["key"], "--store", place, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["summary"]["seed"] == row["seed"]
    assert data["document"]["net"]["kind"] == "dumbbell"
    assert "files" not in data
    assert call("show", "zzz", "--store", place) == 2


def test_runs_are_written_as_bundles_and_as_tables(place, capsys, tmp_path):
    row = listed(capsys, "--store", place)[0]
    assert call("export", row["key"], "--store", place, "--out", tmp_path / "run") == 0
    assert capsys.readouterr().out == f"wrote {tmp_path / 'run'}\n"
    assert ac.load_run(tmp_path / "run").summary["seed"] == row["seed"]
    table = tmp_path / "flows.parquet"
    assert call("export", "--table", "flows", "--store", place, "--out", table) == 0
    written = pq.read_table(table)
    assert capsys.readouterr().out == f"wrote {written.num_rows:,} rows to {table}\n"
    assert set(written["net.buffer"].to_pylist()) == {"5 pkt", "20 pkt"}
    where = ["--where", "net.buffer=5 pkt"]
    assert call("export", "--table", "flows", "--store", place, *where, "--out", table) == 0
    assert pq.read_table(table).num_rows == written.num_rows // 2


def test_a_run_is_written_in_a_format_from_the_store_or_from_its_bundle(place, capsys, tmp_path):
    key = listed(capsys, "--store", place)[0]["key"]
    assert call("export", key, "--store", place, "--out", tmp_path / "run") == 0
    for source, store in ((key, ["--store", place]), (tmp_path / "run", [])):
        file = tmp_path / f"{len(str(source))}.sqlog"
        assert call("export", source, *store, "--format", "qlog", "--out", file) == 0
        assert capsys.readouterr().out.endswith(f"wrote {file}\n")
        assert b"qlog" in file.read_bytes()[:200]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["export", "--out", "x"], "expected either a RUN or --table"),
        (["export", "r", "--table", "flows", "--out", "x"], "expected either a RUN or --table"),
        (["export", "r", "--link", "l", "--out", "x"], "--link goes with --format pcapng"),
        (["export", "--table", "flows", "--format", "pcapng", "--out", "x"],
         "--format is for one RUN; leave --table out"),
        (["list", "--limit", "0"], "--limit"),
        (["list", "--store", "nowhere"],
         "nowhere: there is no store; `ackclock sweep` makes one"),
        (["gc", "--older-than", "-1"], "--older-than"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(capsys, monkeypatch, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert call(*arguments) == 2
    assert message in capsys.readouterr().err


def test_the_store_of_the_environment_is_the_default(place, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ACKCLOCK_STORE", str(place))
    assert len(listed(capsys)) == 4


def test_queries_are_answered_as_table_and_as_json(place, capsys):
    sql = "SELECT count(*) AS n, sum(seed) * 1.5 AS s, NULL AS nothing FROM runs"
    seeds = sum(row["seed"] for row in listed(capsys, "--store", place))
    assert call("query", sql, "--store", place) == 0
    head, row = capsys.readouterr().out.splitlines()[:2]
    assert head.split() == ["n", "s", "nothing"]
    assert row.split() == ["4", str(seeds * 1.5), "-"]
    sql = "SELECT sum(seed) AS s, 1.50::DECIMAL(9, 2) AS d, 2.00::DECIMAL(9, 2) AS w,"
    assert (
        call("query", f"{sql} DATE '2026-01-02' AS day FROM runs", "--store", place, "--json") == 0
    )
    (answer,) = json.loads(capsys.readouterr().out)
    assert answer == {"s": seeds, "d": 1.5, "w": 2, "day": "2026-01-02"}
    assert [type(answer[key]) for key in ("s", "d", "w")] == [int, float, int]


def test_a_page_is_written_with_the_sweep(place, capsys, tmp_path):
    out = tmp_path / "page.html"
    assert call("page", "--store", place, "--out", out) == 0
    assert capsys.readouterr().out == f"page: {out}\n"
    assert "kept" in out.read_text(encoding="utf-8")


@pytest.fixture
def copied(place, tmp_path):
    """A store of the same runs from which some may be removed."""
    import shutil

    shutil.copytree(place, tmp_path / "store")
    return tmp_path / "store"


def count_runs(store):
    with look(store) as opened:
        return opened.index.count()


def test_runs_are_removed_that_are_selected_and_after_a_yes_only(copied, capsys, monkeypatch):
    where = ["gc", "--store", copied, "--where", "net.buffer=5 pkt"]
    assert call(*where, "--dry-run") == 0
    assert "2 of 4 runs are selected, 2 stay" in capsys.readouterr().out
    # Nobody is there to say yes.
    assert call(*where) == 2
    message = (
        f"{copied}: 2 of 4 runs are selected, 2 stay; nothing is removed without --yes, and"
        " --dry-run shows what would be"
    )
    assert message in capsys.readouterr().err
    assert call(*where, "--json") == 2
    monkeypatch.setattr(results, "_is_terminal", lambda: True)
    questions = []
    monkeypatch.setattr("click.confirm", lambda text: bool(questions.append(text)))
    assert call(*where) == 0
    assert questions == ["Remove 2 runs?"]
    assert capsys.readouterr().out.endswith("nothing was removed\n")
    assert count_runs(copied) == 4
    monkeypatch.setattr("click.confirm", lambda text: questions.append(text) or True)
    seed = next(iter(listed(capsys, "--store", copied)))["seed"]
    assert call(*where, "--where", f"seed={seed}") == 0
    assert questions[-1] == "Remove 1 run?"
    assert count_runs(copied) == 3
    assert call(*where, "--yes") == 0
    assert count_runs(copied) == 2
    capsys.readouterr()
    left = listed(capsys, "--store", copied)
    assert [row["labels"]["net.buffer"] for row in left] == ["20 pkt"] * 2


def test_runs_are_selected_by_age_and_version(copied, capsys):
    def selected(*options):
        assert call("gc", "--store", copied, "--dry-run", *options) == 0
        return capsys.readouterr().out

    # All are of today and of this version.
    assert "0 of 4 runs are selected, 4 stay" in selected("--older-than", "1")
    assert "4 of 4 runs are selected, 0 stay" in selected("--older-than", "0")
    assert "0 of 4 runs are selected, 4 stay" in selected("--old-versions")
    assert "0 of 4" in selected("--older-than", "0", "--old-versions")
    assert "selected" not in selected()
    assert call("gc", "--store", copied, "--json", "--yes") == 0
    collected = json.loads(capsys.readouterr().out)
    assert isinstance(collected, dict)
    assert count_runs(copied) == 4
