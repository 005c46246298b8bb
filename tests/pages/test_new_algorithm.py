"""`make new` writes a file of the house's form and its two lines in the room, nothing else."""

import difflib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location(
        "new_algorithm", ROOT / "tools" / "new_algorithm.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def crates(tool, tmp_path):
    for crate, folder, *_ in tool.ROOMS.values():
        home = Path(f"ackclock-{crate}") / "src" / folder / "mod.rs"
        (tmp_path / home).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tool.CRATES / home, tmp_path / home)
    return tmp_path


def home_of(tool, crates, room):
    crate, folder, *_ = tool.ROOMS[room]
    return crates / f"ackclock-{crate}" / "src" / folder


@pytest.mark.parametrize("room", ["cc", "qdisc", "recovery", "slow_start", "sharing", "policy"])
def test_a_new_algorithm_is_one_file_and_two_lines(tool, crates, room):
    home = home_of(tool, crates, room) / "mod.rs"
    before = home.read_text().splitlines()
    path = tool.begin(crates, room, "my-rule")
    text = path.read_text()
    assert path.name == "my_rule.rs"
    assert 'name: "my-rule"' in text
    assert "pub struct MyRule" in text
    assert "{{" not in text
    after = home.read_text().splitlines()
    added = [line.strip() for line in after if line not in before]
    assert added == ["pub mod my_rule;", f'"{room}/my_rule.rs" => my_rule::MyRule,']
    parts = ["**Source**", "**Rule**", "pub struct Params", "impl About", "#[cfg(test)]"]
    assert sorted(parts, key=text.index) == parts


@pytest.mark.parametrize(
    ("room", "name", "reported"),
    [
        ("queues", "x", "no room"),
        ("cc", "My Rule", "not a registry name"),
        ("cc", "my-rule", "exists already"),
    ],
)
def test_what_cannot_be_is_reported_and_nothing_is_written(tool, crates, room, name, reported):
    (home_of(tool, crates, "cc") / "my_rule.rs").write_text("mine")
    before = {path: path.read_text() for path in crates.rglob("*.rs")}
    with pytest.raises(ValueError, match=reported):
        tool.begin(crates, room, name)
    assert {path: path.read_text() for path in crates.rglob("*.rs")} == before


def test_a_new_aqm_is_one_file_a_module_and_one_line_of_the_registry(tool, crates):
    homes = [home_of(tool, crates, room) / "mod.rs" for room in ("aqm", "qdisc")]
    before = [home.read_text().splitlines() for home in homes]
    path = tool.begin(crates, "aqm", "my-aqm")
    assert path == home_of(tool, crates, "aqm") / "my_aqm.rs"
    after = [home.read_text().splitlines() for home in homes]
    added = [
        [line.strip() for line in new if line not in old]
        for old, new in zip(before, after, strict=True)
    ]
    assert added == [
        ["pub mod my_aqm;"],
        ['"qdisc/aqm/my_aqm.rs" => managed::Managed<aqm::my_aqm::MyAqm>,'],
    ]


NEW = [("cc", "scratch-control"), ("qdisc", "scratch-queue"), ("aqm", "scratch-aqm")]
CONTROLS, QUEUES = "crates/ackclock-controls/src", "crates/ackclock-queues/src"
LINES = {
    f"{CONTROLS}/cc/scratch_control.rs": [],
    f"{CONTROLS}/cc/mod.rs": [
        "pub mod scratch_control;",
        '"cc/scratch_control.rs" => scratch_control::ScratchControl,',
    ],
    f"{QUEUES}/qdisc/scratch_queue.rs": [],
    f"{QUEUES}/qdisc/aqm/scratch_aqm.rs": [],
    f"{QUEUES}/qdisc/aqm/mod.rs": ["pub mod scratch_aqm;"],
    f"{QUEUES}/qdisc/mod.rs": [
        "pub mod scratch_queue;",
        '"qdisc/scratch_queue.rs" => scratch_queue::ScratchQueue,',
        '"qdisc/aqm/scratch_aqm.rs" => managed::Managed<aqm::scratch_aqm::ScratchAqm>,',
    ],
}
"""New files, and in others the new lines."""
BUILT = ("Cargo.toml", "Cargo.lock", "clippy.toml", "crates")
MADE_FROM = ("tools", "python/ackclock/catalogue", "docs/reference", "README.md")


@pytest.fixture
def tree(tmp_path):
    """A copy of what builds the core, and of what lists algorithms."""
    for name in (*BUILT, *MADE_FROM):
        here, there = ROOT / name, tmp_path / name
        there.parent.mkdir(parents=True, exist_ok=True)
        if here.is_dir():
            shutil.copytree(here, there, ignore=shutil.ignore_patterns("__pycache__", "generated"))
        else:
            shutil.copy(here, there)
    return tmp_path


def contents(tree):
    files = (path for path in tree.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in files}


def begin(tree, room, name):
    command = [sys.executable, tree / "tools" / "new_algorithm.py", room, name]
    subprocess.run(command, check=True, capture_output=True, cwd=tree)


def test_a_control_a_queue_and_an_aqm_change_nothing_else(tree):
    before = contents(tree)
    for room, name in NEW:
        begin(tree, room, name)
    after = contents(tree)
    changed = {name for name, text in after.items() if before.get(name) != text}
    assert set(before) <= set(after)
    assert changed == set(LINES)
    for name, lines in LINES.items():
        if lines:
            old, new = (one[name].decode().splitlines() for one in (before, after))
            found = [line for line in difflib.ndiff(old, new) if line[0] in "+-"]
            assert [line[0] + line[1:].strip() for line in found] == [f"+{line}" for line in lines]


@pytest.mark.slow
def test_a_control_a_queue_and_an_aqm_compile_and_keep_the_contracts(tree):
    for room, name in NEW:
        begin(tree, room, name)
    libraries = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target")}
    build = ["cargo", "test", "--offline", "--locked", "--lib"]
    build += ["-p", "ackclock-controls", "-p", "ackclock-queues", "--"]
    done = subprocess.run(
        [*build, "contract::", "scratch_"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tree,
        env=libraries,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for room, name in NEW:
        module = name.replace("-", "_")
        inside = "qdisc::aqm" if room == "aqm" else room
        assert f"test {inside.split('::')[0]}::contract::" in done.stdout
        assert f"test {inside}::{module}::" in done.stdout
