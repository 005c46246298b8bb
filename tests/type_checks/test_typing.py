"""What a stranger writes passes strict type checkers, and what is wrong does not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SAMPLE = Path(__file__).parent / "sample.py"

WRONG = [
    ("DelayAimd(targe=1)", "an unknown parameter of a user-defined control"),
    ("ac.Flow(pair='a')", "text for a number"),
    ("ac.Flow(pair=0, cc=ac.Problem)", "a class that is no control"),
    ("run.flows.num_row", "a misspelled property of a table"),
    ("ac.cc.Vegas(alfa=2)", "an unknown parameter"),
    ("ac.cc.Aimd(count='segment')", "a name that the parameter does not have"),
    ("ac.topology.Barabasi(nodes=9, edges=9, radius='graf')", "such a name of a network"),
]


def mypy(file, cache):
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, file]
    done = subprocess.run(command, capture_output=True, text=True, cwd=file.parent, check=False)
    return done.returncode, done.stdout


def pyright(file):
    config = {"include": [file.name], "typeCheckingMode": "strict"}
    place = file.with_name("pyrightconfig.json")
    place.write_text(json.dumps(config))
    command = [sys.executable, "-m", "basedpyright", "-p", place, "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("typing")
    right, wrong = folder / "right.py", folder / "wrong.py"
    right.write_text(SAMPLE.read_text())
    wrong.write_text(SAMPLE.read_text() + "".join(f"print({text})\n" for text, _ in WRONG))
    return right, wrong


@pytest.mark.slow
def test_a_script_passes_and_faults_are_found(files, tmp_path):
    right, wrong = files
    assert mypy(right, tmp_path) == (0, "Success: no issues found in 1 source file\n")
    first = len(right.read_text().splitlines()) + 1
    code, reported = mypy(wrong, tmp_path)
    assert code == 1
    for line, (_, what) in enumerate(WRONG, first):
        assert f"wrong.py:{line}: error:" in reported, what


@pytest.mark.slow
def test_pyright_agrees(files):
    right, wrong = files
    assert pyright(right) == (0, "0 errors, 0 warnings, 0 notes\n")
    first = len(right.read_text().splitlines()) + 1
    code, reported = pyright(wrong)
    assert code == 1
    for line, (_, what) in enumerate(WRONG, first):
        assert f"wrong.py:{line}:" in reported, what


def test_the_sample_runs():
    done = subprocess.run([sys.executable, SAMPLE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "1.01"


def test_public_types_describe_themselves():
    import ackclock as ac

    views = (ac.Ack, ac.Congestion, ac.Packet, ac.Queue)
    for kind in (*views, ac.Window, ac.Verdict, ac.Control, ac.Aqm, ac.Table):
        assert kind.__doc__
        own = [name for name in vars(kind) if not name.startswith("_")]
        assert own
    for kind in views:
        for name, member in vars(kind).items():
            assert name.startswith("_") or member.__doc__, f"{kind.__name__}.{name}"
