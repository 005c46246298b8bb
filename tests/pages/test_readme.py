"""The README's programs print what it says."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load():
    file = ROOT / "tools" / "check_blocks.py"
    spec = importlib.util.spec_from_file_location("check_blocks", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_block_of_the_readme_prints_what_it_says():
    tool = load()
    readme = ROOT / "README.md"
    kinds = [block.kind for block in tool.blocks(readme.read_text(encoding="utf-8"))]
    assert {"python", "text", "console"} <= set(kinds)
    _, differences = tool.checked(readme)
    assert not differences, "\n".join(differences)


def test_an_output_that_differs_is_found(tmp_path):
    tool = load()
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n")
    fixed, differences = tool.checked(page)
    assert "+2" in differences
    assert "```text\n2\n```" in fixed


@pytest.fixture
def programs(tmp_path):
    """The page's program, and one with a fault that a type checker finds."""
    blocks = load().blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    program = "\n".join(block.body for block in blocks if block.kind == "python")
    wrong = 'import ackclock\n\nackclock.Scenario().run(seed="one")\n'
    for name, text in (("example.py", program), ("wrong.py", wrong)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def check_types(command, place):
    command = [sys.executable, "-m", *command]
    return subprocess.run(
        command, cwd=place, check=False, capture_output=True, text=True
    ).stdout  # fmt: skip


@pytest.mark.slow
def test_a_users_type_checker_knows_the_names_of_the_example(programs):
    config = {"include": ["*.py"], "typeCheckingMode": "strict"}
    (programs / "pyrightconfig.json").write_text(json.dumps(config))
    reported = check_types(["basedpyright", "--pythonpath", sys.executable], programs)
    assert "example.py" not in reported, reported
    assert "wrong.py:3:" in reported, reported
    assert 'parameter "seed"' in reported, reported


@pytest.mark.slow
def test_mypy_knows_the_names_of_the_example(programs):
    """It reads the whole package anew, for half a minute."""
    cache = ROOT / ".mypy_cache"
    command = ["mypy", "--strict", "--cache-dir", str(cache), "example.py", "wrong.py"]
    reported = check_types(command, programs)
    assert "example.py" not in reported, reported
    assert 'wrong.py:3: error: Argument "seed" to "run" of "Scenario"' in reported, reported
