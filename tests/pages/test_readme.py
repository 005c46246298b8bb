"""The README's programs print what it says."""

import importlib.util
import subprocess
import sys
from pathlib import Path

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


def test_a_users_type_checker_knows_the_names_of_the_example(tmp_path):
    blocks = load().blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    program = "\n".join(block.body for block in blocks if block.kind == "python")
    wrong = 'import ackclock\n\nackclock.Scenario().run(seed="one")\n'
    for name, text in (("example.py", program), ("wrong.py", wrong)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", ROOT / ".mypy_cache"]
    reported = subprocess.run(
        [*command, "example.py", "wrong.py"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    ).stdout
    assert "example.py" not in reported, reported
    assert 'wrong.py:3: error: Argument "seed" to "run" of "Scenario"' in reported, reported
