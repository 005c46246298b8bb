"""The wheel of `make wheels`, installed into empty environments, as a user has it.

Needs the wheel and the network: packages come from the index.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WHEELS = sorted((ROOT / "dist").glob("ackclock-*.whl"), key=lambda file: file.stat().st_mtime)
ARCHIVES = sorted((ROOT / "dist").glob("ackclock-*.tar.gz"), key=lambda file: file.stat().st_mtime)
MOST_BYTES = 300e6
"""What `pip install ackclock` may take, dependencies included."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not WHEELS, reason="needs the wheel: make wheels"),
]


class Environment:
    """A virtual environment that knows nothing of this checkout."""

    def __init__(self, folder: Path, *packages: str) -> None:
        self.folder = folder
        uv = str(Path(sys.executable).with_name("uv"))
        python = folder / "bin/python"
        run(uv, "venv", "--quiet", "--python", sys.executable, str(folder))
        # As pip does, with the bytecode.
        run(
            uv,
            "pip",
            "install",
            "--quiet",
            "--compile-bytecode",
            "--python",
            str(python),
            *packages,
        )

    def ackclock(self, *arguments: str, cwd: Path, code: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [str(self.folder / "bin/ackclock"), *arguments],
            cwd=cwd,
            env=clean(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done

    def size(self) -> int:
        """Bytes of the installed files."""
        files = (self.folder / "lib").rglob("*")
        return sum(
            file.stat().st_size for file in files if file.is_file() and not file.is_symlink()
        )


def clean() -> dict[str, str]:
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "ACKCLOCK_DATA")
    return {key: value for key, value in os.environ.items() if key not in hidden}


def run(*command: str) -> None:
    done = subprocess.run(command, env=clean(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("base") / "venv", str(WHEELS[-1]))


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("papers") / "venv", f"{WHEELS[-1]}[papers]")


@pytest.fixture
def scenario(tmp_path):
    text = (ROOT / "examples/parking-lot.toml").read_text()
    (tmp_path / "parking-lot.toml").write_text(text)
    return "parking-lot.toml"


def test_the_wheel_and_the_archive_hold_the_page_the_schemas_and_the_papers():
    with zipfile.ZipFile(WHEELS[-1]) as wheel:
        names = set(wheel.namelist())
    for name in ("lab/lab.html", "schemas/scenario.json", "papers/example/paper.toml", "py.typed"):
        assert f"ackclock/{name}" in names
    assert not [name for name in names if name.endswith((".pyc", ".rs")) or "/tests/" in name]
    assert "manylinux" in WHEELS[-1].name
    with tarfile.open(ARCHIVES[-1]) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"Cargo.lock", "pyproject.toml", "python/ackclock/lab/lab.html"}
    needed |= {"crates/ackclock-core/src/lib.rs", "crates/ackclock-py/src/lib.rs"}
    assert needed <= inside


def test_what_pip_installs_is_small_enough(base):
    assert base.size() < MOST_BYTES


def test_a_scenario_runs_with_what_is_installed_and_a_study_names_its_extra(
    base, scenario, tmp_path
):
    done = base.ackclock("run", scenario, "--json", "--out", "run", cwd=tmp_path)
    assert json.loads(done.stdout)["totals"]["packet_hops"] > 0
    assert (tmp_path / "run/flows.parquet").is_file()
    for command in (["demo"], ["reproduce", "example"], ["plot", "run"], ["sweep", scenario]):
        refused = base.ackclock(*command, cwd=tmp_path, code=2)
        assert 'pip install "ackclock[papers]"' in refused.stderr


def test_the_lab_serves_its_page(base, scenario, tmp_path):
    command = [str(base.folder / "bin/ackclock"), "lab", scenario, "--no-browser"]
    program = subprocess.Popen(
        command, cwd=tmp_path, env=clean(), stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        assert program.stdout is not None
        address = next(
            match[0]
            for line in program.stdout
            if (match := re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", line))
        )
        with urllib.request.urlopen(address) as answer:
            page = answer.read()
        assert b"ackclock lab" in page
        with zipfile.ZipFile(WHEELS[-1]) as wheel:
            assert page == wheel.read("ackclock/lab/lab.html")
    finally:
        program.terminate()
        program.communicate(timeout=30)


def test_the_demonstration_and_a_paper_run_with_the_extra(papers, tmp_path):
    papers.ackclock("demo", "--out", "demo", cwd=tmp_path)
    assert (tmp_path / "demo/index.html").is_file()
    papers.ackclock("reproduce", "example", "--out", "example", cwd=tmp_path)
    claims = json.loads((tmp_path / "example/claims.json").read_text())
    # The example shows each verdict: a known deviation, and a claim that no study can check.
    others = {claim["id"]: claim["verdict"] for claim in claims if claim["verdict"] != "reproduced"}
    assert others == {"S-6": "deviates", "S-7": "not-checkable"}
    assert len(claims) == 8
