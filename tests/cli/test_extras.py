"""A command whose packages are in an extra names it before it begins."""

import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from ackclock.cli import extras
from ackclock.cli import main as cli
from ackclock.errors import IS_ON_INDEX, how_to_install

PROJECT = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())[
    "project"
]


@pytest.fixture
def without(monkeypatch):
    def hide(module):
        monkeypatch.setattr(extras, "find_spec", lambda m: None if m == module else find_spec(m))

    return hide


@pytest.mark.parametrize("command", cli.OF_PAPERS)
def test_a_command_of_papers_is_refused_at_once_without_them(without, capsys, command):
    without("scipy")
    assert cli.main([command, "no-such-file.toml"]) == cli.EXIT_INPUT
    expected = f"scipy is not installed; {how_to_install('papers')}\n"
    assert capsys.readouterr().err == expected
    assert cli.main([command, "--help"]) == 0


def test_other_commands_need_none_of_them(without, capsys):
    without("scipy")
    example = Path(__file__).resolve().parents[2] / "examples/parking-lot.toml"
    assert cli.main(["check", str(example)]) == 0
    assert "OK" in capsys.readouterr().out


def test_an_import_that_fails_later_names_the_extra(monkeypatch, capsys, tmp_path):
    def load(*_, **__):
        raise ModuleNotFoundError("No module named 'topohub'", name="topohub.data")

    monkeypatch.setattr("ackclock.scenario.networks.graph_import.topohub_json", load)
    file = tmp_path / "x.toml"
    file.write_text('duration = 1\nnet = { kind = "topohub", name = "a/b", rate = "1 Mbps" }\n')
    assert cli.main(["check", str(file)]) == cli.EXIT_INPUT
    expected = f"topohub is not installed; {how_to_install('papers')}\n"
    assert capsys.readouterr().err == expected
    other = ModuleNotFoundError("No module named 'x'", name="x")
    assert extras.describe_missing(other) is None


def test_no_hint_names_what_no_package_index_has():
    """Until a release is on an index, hints say what works: the checkout, or a wheel's file."""
    assert how_to_install("gym", is_on_index=True) == 'pip install "ackclock[gym]"'
    root = Path(__file__).resolve().parents[2]
    said = how_to_install("gym")
    assert IS_ON_INDEX or ('".[gym]" in the checkout' in said and '"FILE.whl[gym]"' in said)
    pages = [root / "README.md", *(root / "docs").glob("*.md"), *(root / "docs/howto").glob("*.md")]
    sources = [
        file for file in (root / "python/ackclock").rglob("*.py") if file.name != "errors.py"
    ]
    named = re.compile(r"pip install \"?ackclock\b(?!-)|uvx ackclock\b")
    found = [
        f"{file.name}: {line.strip()}"
        for file in (*pages, *sources)
        for line in file.read_text("utf-8").splitlines()
        if named.search(line) and file.name not in ("releasing.md", "stability.md")
    ]
    assert IS_ON_INDEX or not found


def test_the_extras_are_those_of_the_package():
    def names(requirements):
        return {requirement.partition(">")[0] for requirement in requirements}

    given = PROJECT["optional-dependencies"]
    for module, extra in extras.EXTRA_OF.items():
        package = {"sklearn": "scikit-learn", "z3": "z3-solver"}.get(module, module)
        assert package in names(given[extra]), module
        assert package not in names(PROJECT["dependencies"]), module
        assert package in names(given["dev"]), module
