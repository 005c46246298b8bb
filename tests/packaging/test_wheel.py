"""The wheel of `make wheels`, installed into empty environments, as a user has it.

Needs the wheel and the network: packages come from the index.
"""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
import tomllib
import urllib.request
import zipfile

import pytest
from empty_environment import (
    ARCHIVES,
    ROOT,
    UV,
    VERSION,
    WHEELS,
    Environment,
    clean,
    run,
)

from ackclock.cli.extras import EXTRA_OF

MOST_BYTES = 300e6
"""What `pip install ackclock` may take, dependencies included."""
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not WHEELS, reason="needs the wheel: make wheels"),
]


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


def test_the_wheel_and_the_archive_hold_the_page_the_stubs_and_the_papers():
    with zipfile.ZipFile(WHEELS[-1]) as wheel:
        names = set(wheel.namelist())
    stubs = ("catalogue/rooms/cc.pyi", "results/recorded.pyi")
    for name in ("lab/lab.html", "papers/example/paper.toml", "py.typed", *stubs):
        assert f"ackclock/{name}" in names
    assert not [name for name in names if name.endswith((".pyc", ".rs")) or "/tests/" in name]
    assert "manylinux" in WHEELS[-1].name
    with tarfile.open(ARCHIVES[-1]) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"Cargo.lock", "pyproject.toml", "python/ackclock/lab/lab.html"}
    needed |= {f"python/ackclock/{name}" for name in stubs}
    crates = ("ackclock-base", "ackclock-core", "ackclock-packet", "ackclock-py")
    needed |= {f"crates/{crate}/src/lib.rs" for crate in crates}
    assert needed <= inside


def test_what_pip_installs_is_small_enough(base):
    assert base.size() < MOST_BYTES


def test_a_scenario_is_the_first_thing_that_runs(base, scenario, tmp_path):
    base.ackclock("run", scenario, cwd=tmp_path)
    assert base.ackclock("version", cwd=tmp_path).stdout.strip() == VERSION


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_installs_what_it_names(extra, tmp_path):
    environment = Environment(tmp_path / "venv", f"{WHEELS[-1]}[{extra}]")
    modules = ["ackclock", *(module for module, other in EXTRA_OF.items() if other == extra)]
    assert extra in ("web", "docs", "dev") or len(modules) > 1
    imports = "; ".join(f"import {module}" for module in modules)
    run(str(environment.folder / "bin/python"), "-c", imports, cwd=tmp_path)


def test_the_demonstration_runs_without_being_installed(tmp_path):
    demo = ["ackclock", "demo", "--out", "demo"]
    printed = run(f"{UV}x", "--isolated", "--from", str(WHEELS[-1]), *demo, cwd=tmp_path)
    assert "Jain's index" in printed
    assert 'pip install ".[papers]"' in printed
    assert (tmp_path / "demo/index.html").is_file()


def test_a_scenario_runs_with_what_is_installed_and_a_study_names_its_extra(
    base, scenario, tmp_path
):
    done = base.ackclock("run", scenario, "--json", "--out", "run", cwd=tmp_path)
    assert json.loads(done.stdout)["totals"]["packet_hops"] > 0
    assert (tmp_path / "run/flows.parquet").is_file()
    for command in (["reproduce", "example"], ["plot", "run"], ["sweep", scenario]):
        refused = base.ackclock(*command, cwd=tmp_path, code=2)
        assert 'pip install ".[papers]"' in refused.stderr


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
