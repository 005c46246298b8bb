"""The table of verdicts in the documentation is made of reproductions alone."""

import importlib.util
import json
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "write_verdicts.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("write_verdicts", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_counts_are_those_of_the_files_and_papers_not_run_say_so(tool, tmp_path):
    at = tmp_path / "green2002"
    at.mkdir()
    found = [("G-1", "holds", "N"), ("G-2", "holds", "N"), ("G-3", "open", "O"),
             ("E1", "erratum", "E"), ("E2", "open", "E")]  # fmt: skip
    orders = {"met": 2, "missed": 0, "undecided": 1, "right": 3}
    claims = [
        {"id": i, "standing": s, "kind": k, "statement": f"says {i} | more", "orders": orders}
        for i, s, k in found
    ]
    (at / "claims.json").write_text(json.dumps(claims))
    (at / "reproduction.json").write_text(json.dumps({"tier": "fast"}))
    rows = tool.tables(tmp_path).splitlines()
    (green,) = [row for row in rows if "| fast |" in row]
    assert [cell.strip() for cell in green.split("|")][2:-1] == [
        "fast", "3", "2", "0", "0", "0", "0", "1", "0", "0", "6 of 9", "1 of 2",
    ]  # fmt: skip
    assert sum("| not run |" in row for row in rows) == 9
    # Errata are none of the open claims.
    assert rows[-1].endswith("| G-3 | says G-3 \\| more | 2 of 3 |")


def test_the_text_around_the_markers_stays(tool):
    page = f"before\n{tool.BEGIN}\nold\n{tool.END}\nafter\n"
    new = tool.filled(page, "new")
    assert new == f"before\n{tool.BEGIN}\n\nnew\n\n{tool.END}\nafter\n"
    with pytest.raises(SystemExit, match="expected the lines"):
        tool.filled("no markers", "new")
