"""Every command's JSON is JSON: null for what a run has no value of, never NaN or Infinity."""

import ast
import contextlib
import io
import json
from pathlib import Path

import pytest

import ackclock
from ackclock.cli import main as command_line

UNFINISHED = """\
name = "unfinished"
duration = "1 s"
seed = 3
flows = [
  { id = "bulk", pair = 0 },
  { id = "job", pair = 1, size = "2 MB" },
  { id = "late", pair = 1, start = "999 ms" },
]

[net]
kind = "dumbbell"
pairs = 2
rate = "4 Mbps"
"""
"""A transfer that cannot finish, and a flow without one sample of the round trip."""

SWEEP = """\
base = "run.toml"
reps = {reps}
metrics = ["flows[job].completed_after_s", "flows[bulk].goodput_bps"]

[over]
"net.rate" = ["2 Mbps", "4 Mbps"]
"""


def strict(text):
    """Read JSON as RFC 8259 has it, which knows no NaN."""

    def refuse(word):
        raise AssertionError(f"{word} in {text[:200]}")

    return json.loads(text, parse_constant=refuse)


def printed(*arguments):
    """What a command prints, in this process."""
    out = io.StringIO()
    errors = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        code = command_line.main([str(one) for one in arguments])
    assert code == 0, errors.getvalue()
    return out.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    at = tmp_path_factory.mktemp("json")
    (at / "run.toml").write_text(UNFINISHED)
    for reps in (1, 2):
        (at / f"sweep{reps}.toml").write_text(SWEEP.format(reps=reps))
        printed("sweep", at / f"sweep{reps}.toml", "--store", at / "store", "--quiet")
    return at


@pytest.mark.parametrize("reps", [1, 2])
def test_runs_with_unfinished_transfers_print_null(folder, reps):
    data = strict(printed("run", folder / "run.toml", "--json", "--quiet", "--reps", reps))
    if reps == 1:
        assert data["flows"][1]["completed_after_s"] is None


@pytest.mark.parametrize("reps", [1, 2])
def test_sweeps_with_missing_values_and_single_seeds_print_null(folder, reps):
    file = folder / f"sweep{reps}.toml"
    data = strict(printed("sweep", file, "--json", "--quiet", "--store", folder / "store"))
    assert "null" in json.dumps(data)


@pytest.mark.parametrize(
    "command",
    [
        ("check", "run.toml", "--json"),
        ("explain", "run.toml", "--json"),
        ("sweep", "sweep2.toml", "--json", "--dry-run"),
    ],
)
def test_commands_that_only_read_print_json(folder, command, monkeypatch):
    monkeypatch.chdir(folder)
    strict(printed(*command))


def test_queries_of_a_store_give_null_for_nan_and_infinity(folder):
    store = ("--store", folder / "store")
    sql = (
        "SELECT 'nan'::DOUBLE AS a, '-inf'::DOUBLE AS b, 1.5 AS c, sum(3) AS n,"
        " DATE '2000-01-02' AS d"
    )
    (row,) = strict(printed("results", "query", sql, *store, "--json"))
    assert row == {"a": None, "b": None, "c": 1.5, "n": 3, "d": "2000-01-02"}
    rows = strict(printed("results", "query", "SELECT * FROM flows", *store, "--json"))
    assert {row["completed_after_s"] for row in rows if row["id"] == "job"} == {None}
    lines = printed("results", "list", *store, "--json").splitlines()
    assert len(lines) >= 4
    for line in lines:
        shown = printed("results", "show", strict(line)["key"], *store, "--json")
        strict(shown)


def test_files_of_a_run_are_json(folder, tmp_path):
    printed("run", folder / "run.toml", "--quiet", "--out", tmp_path / "out")
    files = sorted((tmp_path / "out").rglob("*.json"))
    assert [file.name for file in files] == ["provenance.json", "summary.json"]
    for file in files:
        strict(file.read_text(encoding="utf-8"))


def test_what_prints_or_saves_json_cannot_write_nan():
    """`json.dumps` writes NaN by itself; `json_text` writes null."""
    package = Path(ackclock.__file__).parent
    places = [
        package / name
        for name in ("cli", "results", "dossier/write/report.py", "peers/emulate/run.py")
    ]
    places += [package / "reproduce/write" / f"{name}.py" for name in ("artifact", "folder")]
    files = [file for at in places for file in (sorted(at.rglob("*.py")) if at.is_dir() else [at])]
    wrong = []
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            called = ast.unparse(node.func)
            refuses = any(one.arg == "allow_nan" for one in node.keywords)
            # One word of text has no number.
            is_text = ast.unparse(node).startswith("json.dumps(output['reason'])")
            if called in ("json.dumps", "json.dump") and not (refuses or is_text):
                wrong.append(f"{file.name}:{node.lineno}")
    assert wrong == []
