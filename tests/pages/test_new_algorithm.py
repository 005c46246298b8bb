"""`make new` writes a file of the house's form and its two lines in the room."""

import importlib.util
import shutil
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
def core(tool, tmp_path):
    for room in tool.ROOMS:
        (tmp_path / room).mkdir()
        shutil.copy(tool.CORE / room / "mod.rs", tmp_path / room / "mod.rs")
    return tmp_path


@pytest.mark.parametrize("room", ["cc", "qdisc", "recovery", "slow_start", "sharing", "policy"])
def test_a_new_algorithm_is_one_file_and_two_lines(tool, core, room):
    before = (core / room / "mod.rs").read_text().splitlines()
    path = tool.begin(core, room, "my-rule")
    text = path.read_text()
    assert path.name == "my_rule.rs"
    assert 'name: "my-rule"' in text
    assert "pub struct MyRule" in text
    assert "{{" not in text
    after = (core / room / "mod.rs").read_text().splitlines()
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
def test_what_cannot_be_is_reported_and_nothing_is_written(tool, core, room, name, reported):
    (core / "cc" / "my_rule.rs").write_text("mine")
    before = {path: path.read_text() for path in core.rglob("*.rs")}
    with pytest.raises(ValueError, match=reported):
        tool.begin(core, room, name)
    assert {path: path.read_text() for path in core.rglob("*.rs")} == before
