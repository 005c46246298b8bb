"""The command line as a user sees it: output, exit codes, no tracebacks."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ackclock as ac
from ackclock.catalogue import schema
from ackclock.cli import main as cli


def ackclock(*arguments):
    command = [sys.executable, "-m", "ackclock", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_help_imports_nothing_heavy():
    """What makes the command line start slowly stays out of it; the time is in benchmarks."""
    code = (
        "import sys; from ackclock.cli.main import main; main(['--help']); "
        "print(sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(done.stderr))
    heavy = {"numpy", "pyarrow", "scipy", "networkx", "matplotlib", "duckdb", "jinja2", "rich"}
    heavy |= {"distributed", "jsonschema", "sqlite3", "pandas", "ackclock._core"}
    assert not heavy & loaded


@pytest.mark.parametrize("command", ["check", "run"])
def test_check_and_run_import_nothing_heavy(command, small_file):
    """What a user waits for first needs no library of tables or figures, and few modules."""
    code = (
        "import sys; from ackclock.cli.main import main; main(sys.argv[1:]); "
        "print(sorted(sys.modules), file=sys.stderr)"
    )
    words = [sys.executable, "-c", code, command, str(small_file)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(done.stderr.splitlines()[-1]))
    heavy = {"numpy", "pyarrow", "scipy", "networkx", "matplotlib", "duckdb", "jinja2", "rich"}
    heavy |= {"distributed", "jsonschema", "sqlite3", "pandas"}
    # What only some scenarios need: networks that Python spells out, user-defined classes.
    heavy |= {f"ackclock.catalogue.{name}" for name in ("python_class", "python_source")}
    rare = ("environments", "networks", "paths")
    heavy |= {f"ackclock.scenario.{name}" for name in rare}
    assert not heavy & loaded


def test_version_is_the_package_version():
    assert ackclock("version").stdout.strip() == ac.__version__


def test_run_prints_one_json_object(small_file):
    done = ackclock("run", small_file, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["seed"] == 3


def test_run_takes_changes_and_seed(small_file):
    done = ackclock("run", small_file, "--json", "--seed", 9, "--set", "flows[*].cc=aimd")
    summary = json.loads(done.stdout)
    assert summary["seed"] == 9
    assert {flow["cc"] for flow in summary["flows"]} == {"aimd"}


@pytest.mark.slow
def test_run_writes_a_bundle_that_plots(small_file, tmp_path):
    done = ackclock("run", small_file, "--out", tmp_path / "out", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    figure = tmp_path / "cwnd.svg"
    done = ackclock("plot", tmp_path / "out", "--kind", "cwnd", "--out", figure)
    assert done.returncode == 0, done.stderr
    assert ac.load_run(tmp_path / "out").summary["scenario_hash"] in figure.read_text()


def test_replications_leave_a_bundle_each(small_file, tmp_path):
    done = ackclock("run", small_file, "--reps", 2, "--json", "--out", tmp_path / "out")
    result = json.loads(done.stdout)
    assert result["seeds"] == [3, 4]
    assert not result["interrupted"]
    assert {f.name for f in (tmp_path / "out").iterdir()} == {
        "seed-3", "seed-4", "means.parquet", "observations.parquet",
    }  # fmt: skip


def test_replications_take_the_place_of_all_runs_before_them(small_file, tmp_path):
    def run(*options):
        out = tmp_path / "out"
        return cli.main(["run", str(small_file), "--quiet", "--out", str(out), *options])

    def names():
        return {f.name for f in (tmp_path / "out").iterdir()}

    means = {"means.parquet", "observations.parquet"}
    assert run() == 0
    assert run("--reps", "3") == 0
    assert names() == {"seed-3", "seed-4", "seed-5"} | means
    # A run that does not begin takes nothing away.
    assert run("--reps", "2", "--set", "net.rate=-1") == cli.EXIT_INPUT
    assert names() == {"seed-3", "seed-4", "seed-5"} | means
    assert run("--reps", "2", "--set", "net.rate=4 Mbps") == 0
    assert names() == {"seed-3", "seed-4"} | means
    # A name that a bundle has does not make a file one of ours.
    (tmp_path / "out" / "scenario.toml").write_text("precious")
    assert run("--reps", "2") == cli.EXIT_INPUT
    assert names() == {"seed-3", "seed-4", "scenario.toml"} | means


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "/nowhere/x.toml"),
        ("run", "FILE", "--set", "net.rtte=1"),
        ("run", "FILE", "--set", "nonsense"),
        ("run", "FILE", "--reps", "0"),
        ("run", "FILE", "--colour", "red"),
        ("check", "/nowhere/x.toml"),
        ("explain", "FILE", "--set", "duration=abc"),
        ("plot", "/nowhere", "--kind", "cwnd", "--out", "x.svg"),
        ("list", "rooms"),
        ("show", "no-such-thing"),
        ("nonsense",),
    ],
)
def test_a_users_error_is_a_sentence_and_exit_code_2(small_file, arguments):
    done = ackclock(*(small_file if a == "FILE" else a for a in arguments))
    assert done.returncode == 2
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr


def test_check_and_explain_say_that_a_file_is_valid(small_file):
    assert ": OK" in ackclock("check", small_file).stdout
    assert "bdp" in ackclock("explain", small_file).stdout
    assert json.loads(ackclock("explain", small_file, "--json").stdout)["flows"]


def test_no_sentence_of_a_group_of_commands_is_cut(capsys):
    for name in cli.cli.list_commands(None):
        assert cli.main([name, "--help"]) == 0
        text = capsys.readouterr().out.partition("Commands:")[2]
        assert "..." not in text, name


def test_every_algorithm_is_listed_and_shown():
    assert "aimd" in ackclock("list", "cc").stdout
    assert "References" in ackclock("show", "aimd").stdout


def test_help_lists_every_command_in_a_group_whole_and_without_importing_it(capsys):
    from ackclock.cli.main import GROUPS, HOMES

    assert cli.main(["--help"]) == 0
    text = capsys.readouterr().out
    assert "..." not in text.replace("[ARGS]...", "")
    assert all(f"{title}:" in text for title in GROUPS)
    lines = text.splitlines()
    for group in GROUPS.values():
        for name, home in group.items():
            (line,) = [line for line in lines if line.split()[:1] == [name]]
            assert line.endswith(home.help), name
    assert set(HOMES) | {"version"} == set(cli.cli.list_commands(None))


def test_a_dossier_is_a_command_that_refuses_a_profile_without_requirements(capsys):
    assert cli.main(["dossier", "reno", "--only", "5.1.1", "--tier", "fast", "--dry-run"]) == 0
    by_dossier = capsys.readouterr().out
    wider = ["evaluate", "reno", "--profile", "rfc9743", "--only", "5.1.1", "--tier", "fast"]
    assert cli.main([*wider, "--dry-run"]) == 0
    assert capsys.readouterr().out == by_dossier
    assert cli.main(["dossier", "reno", "--profile", "akella"]) == 2
    assert "has no requirements; ackclock evaluate runs it" in capsys.readouterr().err


def test_networks_are_listed_and_shown(capsys):
    assert cli.main(["list", "networks"]) == 0
    assert "fat-tree" in capsys.readouterr().out
    assert cli.main(["show", "fat-tree"]) == 0
    assert "Ports of a switch" in capsys.readouterr().out
    assert cli.main(["show", "reno"]) == 0
    shown = capsys.readouterr().out
    assert "cc aimd" in shown
    assert "Other names: reno" in shown
    assert "recovery reno" in shown


def test_the_help_of_list_names_every_room():
    help_text = ackclock("list", "--help").stdout
    named = re.search(r"Rooms: ([^.]*)\.", help_text)[1].replace("\n", " ").split(", ")
    assert [name.strip() for name in named] == [*schema.catalogue(), "networks"]


@pytest.mark.slow
def test_a_table_that_was_not_recorded_is_reported_by_the_key_of_the_file(small_file, tmp_path):
    out = tmp_path / "out"
    assert cli.main(["run", str(small_file), "--out", str(out), "--set", "record.tables=[]"]) == 0
    done = ackclock("plot", out, "--kind", "queue", "--out", tmp_path / "x.svg")
    assert done.returncode == 2
    key = re.search(r'record\.tables = \["\w+"\]', done.stderr)[0]
    small_file.write_text(small_file.read_text().partition("[record]")[0])
    change = key.replace(" = ", "=")
    assert cli.main(["run", str(small_file), "--out", str(out), "--set", change]) == 0
    done = ackclock("plot", out, "--kind", "queue", "--out", tmp_path / "x.svg")
    assert done.returncode == 0, done.stderr


def test_an_internal_error_is_reported_as_such(monkeypatch, capsys):
    def broken(*_args, **_kwargs):
        raise ZeroDivisionError("inside")

    monkeypatch.setattr("ackclock.catalogue.schema.catalogue", broken)
    assert cli.main(["list"]) == cli.EXIT_INTERNAL
    reported = capsys.readouterr().err
    assert "internal error" in reported
    assert "Traceback" not in reported


# Ctrl-C as soon as the first replication is saved.
INTERRUPTED = """
import os, signal, sys
from ackclock.results.run import Run
save = Run.save
def save_and_interrupt(self, *arguments, **options):
    save(self, *arguments, **options)
    os.kill(os.getpid(), signal.SIGINT)
Run.save = save_and_interrupt
from ackclock.cli import main as cli
sys.exit(cli.main(sys.argv[1:]))
"""


def test_ctrl_c_gives_3_and_keeps_what_finished(small_file, tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-c", INTERRUPTED, "run", str(small_file), "--workers", "1"]
    command += ["--reps", "1000", "--out", str(out), "--set", "record.tables=[]"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert ac.load_run(next(iter(out.glob("seed-*")))).summary["seed"] >= 3


@pytest.mark.parametrize("arguments", [["--version"], ["version"]])
def test_the_version_is_printed(capsys, arguments):
    assert cli.main(arguments) == 0
    assert capsys.readouterr().out == f"{ac.__version__}\n"


def test_list_and_show_print_json(capsys):
    assert cli.main(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {entry["room"] for entry in listed} == set(schema.ROOMS)
    assert ("cc", "vegas") in {(entry["room"], entry["name"]) for entry in listed}
    assert cli.main(["list", "slow-start", "--json"]) == 0
    assert {e["room"] for e in json.loads(capsys.readouterr().out)} == {"slow_start"}
    assert cli.main(["show", "vegas", "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert shown["python"] == "ackclock.cc.Vegas"
    assert {"alpha", "beta", "gamma"} <= set(shown["params"]["properties"])


def test_check_prints_json_of_every_file(small_file, tmp_path, capsys):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(small_file.read_text().replace("pairs = 2", "pairs = 0"))
    assert cli.main(["check", str(small_file), str(wrong), "--json"]) == 2
    printed = capsys.readouterr()
    assert printed.err == ""
    good, bad = json.loads(printed.out)
    assert good == {"file": str(small_file), "ok": True, "problems": [], "warnings": []}
    assert (bad["file"], bad["ok"]) == (str(wrong), False)
    assert "net.pairs" in {problem["path"] for problem in bad["problems"]}


def test_run_records_tables_and_a_capture(small_file, tmp_path, capsys):
    out, capture = tmp_path / "out", tmp_path / "packets.pcapng"
    command = ["run", str(small_file), "--out", str(out), "--set", "record.tables=['drops']"]
    assert cli.main([*command, "--record", "windows", "--pcapng", str(capture)]) == 0
    run = ac.load_run(out)
    assert {"drops", "windows", "packets"} <= set(run.tables)
    assert "rtts" not in run.tables
    assert capture.read_bytes() == run.to_pcapng(tmp_path / "again.pcapng").read_bytes()
    links = [link["id"] for link in run.summary["links"]]
    access = next(link for link in links if link != links[0])
    assert cli.main([*command, "--pcapng", str(capture), "--link", access]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        (["--record", "window"], 'no table "window"; did you mean "windows"'),
        (["--pcapng", "x.pcapng", "--reps", "2"], "--pcapng writes the packets of one run"),
        (["--link", "r0->r1"], "--link goes with --pcapng FILE"),
    ],
)
def test_recording_options_that_cannot_be_are_refused(small_file, capsys, options, reported):
    assert cli.main(["run", str(small_file), *options]) == 2
    assert reported in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        (
            ["--pcapng", "x.pcapng", "--link", "r9"],
            '--link: there is no link "r9"; expected one of',
        ),
        (["--qlog", "nowhere/x.qlog"], "--qlog: there is no folder nowhere"),
        (["--qlog", "."], "--qlog: . is a folder; expected a file"),
        (["--perfetto", "x.pftrace"], 'pip install ".[perfetto]"'),
    ],
)
def test_what_cannot_be_written_is_found_before_the_run(
    small_file, tmp_path, monkeypatch, capsys, options, reported
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ackclock.cli.run._run_one", lambda *_: pytest.fail("it ran"))
    monkeypatch.setattr("ackclock.cli.extras.find_spec", lambda _: None)
    assert cli.main(["run", str(small_file), *options]) == 2
    assert reported in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "names"),
    [
        (["show", "veg"], ["vegas"]),
        (["list", "slow"], ["slow-start"]),
        (["evaluate", "cub"], ["cubic"]),
        (["reproduce", "leg"], ["legout1999"]),
        (["plot", "out", "--kind", "th"], ["throughput"]),
        (["run", "x.toml", "--record", "dr"], ["drops"]),
    ],
)
def test_the_shell_completes_names(typed, names):
    words = " ".join(["ackclock", *typed])
    done = subprocess.run(
        [sys.executable, "-m", "ackclock"], capture_output=True, text=True, check=False,
        env={**os.environ, "_ACKCLOCK_COMPLETE": "zsh_complete", "COMP_WORDS": words,
             "COMP_CWORD": str(len(typed))},
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert (lines[::3], lines[1::3]) == (["plain"] * len(names), names), done.stderr


def test_the_folder_of_a_paper_or_of_a_profile_is_checked(tmp_path, capsys):
    package = Path(ac.__file__).parent
    good = [package / "papers" / "example", package / "profiles" / "rfc9743"]
    assert cli.main(["check", *map(str, good)]) == 0
    assert capsys.readouterr().out == "".join(f"{folder}: OK\n" for folder in good)
    bad = tmp_path / "bad"
    shutil.copytree(good[0], bad)
    claims = bad / "claims.toml"
    claims.write_text(claims.read_text(encoding="utf-8").replace('kind = "Q"', 'kind = "Z"'))
    assert cli.main(["check", str(bad)]) == 2
    assert 'claim[S-6].kind: "Z" is not known here' in capsys.readouterr().err
