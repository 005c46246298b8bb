"""Python files that come with scenarios, bundles, stores and papers run only where they may."""

import shutil

import pytest

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.engines.registry import load_case
from ackclock.experiments.file_form import load_sweep
from ackclock.reproduce.read.folder import read
from ackclock.results.formats.registry import FORMATS

CODE = """
from pathlib import Path
import ackclock
Path("{0}").touch()

@ackclock.control
class Mine:
    def on_ack(self, window, ack):
        window.cwnd = 9.0
    def on_congestion(self, window, event):
        window.cwnd = 9.0
"""

SCENARIO = """
duration = "1 s"
[net]
kind = "dumbbell"
pairs = 1
rate = "1 Mbps"
rtt = "10 ms"
buffer = "20 pkt"
[[flows]]
pair = 0
cc = "mine.py:Mine"
"""
RECORD = """
[record]
tables = ["windows", "packets", "flow_samples", "link_samples", "queues", "drops", "states", "rtts"]
interval = "100 ms"
"""
BACKGROUND = """
[background]
per_pair = 100
traffic = { kind = "listed", flows = [["s0", "d0"]] }
flow = { cc = "cubic" }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder from somebody else, whose code leaves a mark."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE.format(tmp_path / "was-run"))
    (tmp_path / "packets.toml").write_text(SCENARIO + RECORD)
    (tmp_path / "hybrid.toml").write_text(f'engine = "hybrid"\n{SCENARIO}{BACKGROUND}')
    (tmp_path / "sweep.toml").write_text('base = "packets.toml"\n[over]\n"net.rate" = ["1 Mbps"]')
    (tmp_path / "over.toml").write_text(
        'base = "hybrid.toml"\n[over]\n"flows[0].cc" = ["mine.py:Mine", "cubic"]'
    )
    return tmp_path


def was_run(folder):
    mark = folder / "was-run"
    found = mark.exists()
    mark.unlink(missing_ok=True)
    return found


def test_opening_runs_no_code(folder):
    ac.load(folder / "packets.toml")
    load_case(folder / "hybrid.toml")
    load_sweep(folder / "sweep.toml")
    load_sweep(folder / "over.toml")
    assert not was_run(folder)


@pytest.mark.parametrize("engine", ["packets", "hybrid"])
@pytest.mark.parametrize("words", [["check", "--no-code"], ["--no-code", "check"]])
def test_a_check_without_code_is_so_for_every_engine(folder, capsys, engine, words):
    assert cli.main([*words, f"{engine}.toml"]) == 0
    assert "mine.py:Mine was not imported, so it was not checked" in capsys.readouterr().out
    assert not was_run(folder)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "packets.toml"], ["run", "hybrid.toml"], ["explain", "packets.toml"],
        ["sweep", "sweep.toml", "--store", "s"], ["sweep", "over.toml", "--dry-run"],
        ["sweep", "sweep.toml", "--dry-run"],
        ["evaluate", "mine.py:Mine", "--profile", "quick", "--dry-run"],
    ],
)  # fmt: skip
def test_without_code_what_needs_it_is_refused(folder, capsys, words):
    assert cli.main(["--no-code", *words]) == 2
    message = capsys.readouterr().err
    assert "mine.py is Python code, which was not run: --no-code was given" in message
    assert not was_run(folder)
    # It holds for one command only.
    assert cli.main(["run", "packets.toml", "--quiet"]) == 0
    assert was_run(folder)


@pytest.fixture
def bundle(folder):
    assert cli.main(["run", "packets.toml", "--out", "bundle", "--quiet"]) == 0
    assert was_run(folder)
    # Another file, so that what this process has imported is not used.
    moved = folder / "received"
    shutil.move(folder / "bundle", moved)
    return moved


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["cwnd", "throughput", "queue", "delay", "fairness", "sequence", "states"]
)
def test_a_figure_of_a_bundle_runs_no_code(folder, bundle, kind):
    assert cli.main(["plot", str(bundle), "--kind", kind, "--out", str(folder / "x.svg")]) == 0
    assert not was_run(folder)


@pytest.mark.parametrize("form", [name for name in FORMATS if name != "perfetto"])
def test_a_bundle_is_written_in_other_formats_without_its_code(folder, bundle, form):
    command = ["results", "export", str(bundle), "--format", form, "--out", str(folder / "out")]
    assert cli.main(command) == 0
    assert (folder / "out").stat().st_size > 0
    assert not was_run(folder)


def test_a_paper_runs_its_code_only_where_it_is_allowed(folder, paper, capsys):
    nested = SCENARIO.replace("[net]", "[scenario.net]").replace("[[flows]]", "[[scenario.flows]]")
    (paper / "scenarios" / "stranger.toml").write_text(
        "[scenario]\n" + nested.replace("mine.py:Mine", f"{folder}/mine.py:Mine")
    )
    claim = """
[[claim]]
id = "S-9"
statement = "the stranger's sender sends"
kind = "Q"
paper = "it sends"
where = "nowhere"

[[claim.check]]
measure = "SELECT replicate, goodput_bps AS value FROM stranger.flows"
expect = { at_least = 1 }
reason = "a study runs where a claim needs it"
"""
    with (paper / "claims.toml").open("a") as claims:
        claims.write(claim)
    read(paper)
    assert not was_run(folder)
    command = ["reproduce", str(paper), "--dry-run", "--store", str(folder / "s")]
    assert cli.main(command) == 2
    assert "it came with a paper; read it, and give --allow-code" in capsys.readouterr().err
    assert not was_run(folder)
    assert cli.main([*command, "--allow-code"]) == 0
    assert was_run(folder)
