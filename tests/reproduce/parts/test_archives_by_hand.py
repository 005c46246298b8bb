"""The archive of a reproduction: what is in it, and what a name must be."""

import hashlib
import json
import os
import platform
import tarfile
from types import SimpleNamespace

import pytest

import ackclock as ac
from ackclock.errors import AckclockError
from ackclock.reproduce.run import reproduction
from ackclock.reproduce.write import artifact, folder
from ackclock.reproduce.write.artifact import pack


@pytest.fixture
def paper(tmp_path):
    home = tmp_path / "mine"
    (home / "scenarios").mkdir(parents=True)
    (home / "__pycache__").mkdir()
    (home / "claims.toml").write_text("x = 1\n")
    (home / "scenarios/a.toml").write_text("y = 2\n")
    (home / ".hidden").write_text("secret")
    (home / "__pycache__/a.pyc").write_text("z")
    return SimpleNamespace(name="mine", folder=home, about={"title": "A paper"})


@pytest.fixture
def seen(monkeypatch):
    """In the place of studies: a reproduction of two runs, and a report of two files."""
    calls = []

    def reproduce(paper, *, tier, options):
        calls.append((paper.name, tier, options))
        rows = [{"point": 0, "seed": 5}, {"point": 1, "seed": 6, "label": "x"}]
        study = SimpleNamespace(tables={"runs": SimpleNamespace(to_pylist=lambda: rows)})
        counts = {"holds": 3, "open": 1}
        return SimpleNamespace(
            studies={"s": study}, count_standing=lambda name: counts.get(name, 0)
        )

    def write(done, target):
        (target / "figures").mkdir(parents=True)
        (target / "report.html").write_text("<p>")
        (target / "figures/1.csv").write_text("a\n")

    monkeypatch.setattr(reproduction, "reproduce", reproduce)
    monkeypatch.setattr(folder, "write", write)
    return calls


def unpacked(file):
    with tarfile.open(file) as tar:
        return {
            info.name: (info, b"" if info.isdir() else tar.extractfile(info).read())
            for info in tar.getmembers()
        }


def test_an_archive_has_input_results_seeds_and_how_to_make_them_again(paper, seen, tmp_path):
    file = tmp_path / "mine-fast.tar.gz"
    assert pack(paper, file, tier="fast", options="options") == file
    assert seen == [("mine", "fast", "options")]
    members = unpacked(file)
    names = {name.removeprefix("mine-fast/") for name in members}
    assert names == {
        "paper", "paper/mine", "paper/mine/claims.toml", "paper/mine/scenarios",
        "paper/mine/scenarios/a.toml", "results", "results/report.html", "results/figures",
        "results/figures/1.csv", "seeds.csv", "environment.json", "requirements.txt",
        "SHA256SUMS", "README", "rerun.sh",
    }  # fmt: skip
    text = {name.removeprefix("mine-fast/"): data.decode() for name, (_, data) in members.items()}
    assert text["seeds.csv"] == "study,point,seed,label\ns,0,5,\ns,1,6,x\n"
    assert text["SHA256SUMS"] == (
        f"{hashlib.sha256(b'a' + os.linesep.encode()[-1:]).hexdigest()}  figures/1.csv\n"
        f"{hashlib.sha256(b'<p>').hexdigest()}  report.html\n"
    )
    environment = json.loads(text["environment.json"])
    assert environment["python"] == platform.python_version()
    assert environment["packages"]["ackclock"] == ac.__version__
    assert "numpy" in environment["packages"]
    assert "pytest" not in environment["packages"]
    assert text["requirements.txt"].splitlines() == [
        f"{name}=={version}" for name, version in sorted(environment["packages"].items())
    ]
    lines = text["README"].splitlines()
    assert lines[0] == "A paper"
    assert f"A reproduction by ackclock {ac.__version__}, tier fast: 3 holds, 1 open." in lines
    script = text["rerun.sh"]
    assert script.startswith("#!/bin/sh\n")
    assert (
        "$ackclock reproduce paper/mine --tier fast --out rerun --store rerun-store --quiet\n"
        in script
    )
    assert "ackclock=${ACKCLOCK:-ackclock}\n" in script
    assert members["mine-fast/rerun.sh"][0].mode == 0o755
    assert members["mine-fast/README"][0].mode == 0o644
    assert members["mine-fast/paper"][0].mode == 0o755


def test_the_same_reproduction_is_the_same_archive(paper, seen, tmp_path):
    first = pack(paper, tmp_path / "a.tar.gz", tier="full", options=None).read_bytes()
    for file in paper.folder.rglob("*"):
        os.utime(file, (1, 1))
    assert pack(paper, tmp_path / "a.tar.gz", tier="full", options=None).read_bytes() == first
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "nowhere/a.tar.gz", "tar.gz"])
def test_a_name_that_is_none_of_an_archive_is_refused_before_the_runs(paper, seen, tmp_path, name):
    file = tmp_path / name
    with pytest.raises(AckclockError) as caught:
        pack(paper, file, tier="fast", options=None)
    assert str(caught.value) == (
        f"{file} is not a name for an archive; expected FILE.tar.gz in a folder that is"
    )
    assert seen == []


def test_an_archive_that_cannot_be_made_leaves_the_one_before(paper, seen, tmp_path, monkeypatch):
    file = tmp_path / "a.tar.gz"
    file.write_bytes(b"before")

    def fail(_):
        raise OSError("disk")

    monkeypatch.setattr(artifact, "_archive", fail)
    with pytest.raises(OSError, match="disk"):
        pack(paper, file, tier="fast", options=None)
    assert file.read_bytes() == b"before"
    assert not (tmp_path / ".a.tar.gz.part").exists()
