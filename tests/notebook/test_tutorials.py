"""The tutorial notebooks, executed as Jupyter does, from top to bottom."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def shown(book):
    """What cells show, by type, and what they print to standard error."""
    found, errors = [], []
    for cell in book.cells:
        for out in cell.get("outputs", ()):
            if out.output_type in ("execute_result", "display_data"):
                found.append(out.data)
            elif out.output_type == "stream" and out.name == "stderr":
                errors.append(out.text)
    return found, errors


def test_there_are_four_tutorials():
    assert [file.stem.partition("-")[0] for file in NOTEBOOKS] == ["1", "2", "3", "4"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "file",
    [pytest.param(f, marks=pytest.mark.slow if f.stem[0] in "34" else ()) for f in NOTEBOOKS],
    ids=lambda file: file.stem,
)
def test_a_tutorial_runs_from_top_to_bottom(file, tmp_path):
    """The first two among the fast tests, the longer ones among all."""
    book = nbformat.read(file, as_version=4)
    nbformat.validate(book)
    # It is kept without results: what it shows is what this version computes.
    assert not any(cell.get("outputs") for cell in book.cells)
    assert book.cells[0].cell_type == "markdown"
    NotebookClient(
        book, timeout=None, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    found, errors = shown(book)
    assert errors == []
    assert any("image/png" in data for data in found)
    # Nothing is left behind: examples keep no store.
    assert not list(tmp_path.iterdir())
