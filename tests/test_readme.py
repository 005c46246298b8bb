"""The README's programs print what it says."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


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
