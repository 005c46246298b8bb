"""Pages of the site that tools write: the Python reference, the gallery, the extras."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import ackclock as ac
import write_gallery
from ackclock.plot.registry import FIGURES

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def api():
    pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    pytest.importorskip("pettingzoo", reason="pettingzoo is not installed")
    import write_api

    return write_api.pages()


def test_every_public_class_and_function_is_in_the_python_reference(api):
    named = set(
        re.findall(r"auto(?:class|function|data):: ackclock\.(\w+)$", api["ackclock.md"], re.M)
    )
    public = {name for name in ac.__all__ if type(getattr(ac, name)).__name__ != "module"}
    assert "Scenario" in public
    missing = {name for name in public - named if f"\n## {name}\n" not in api["ackclock.md"]}
    assert not missing


def test_values_are_described_where_they_are_assigned(api):
    assert ".. autodata:: ackclock.gym.policies.POLICIES" in api["ackclock-gym.md"]


def test_every_figure_is_in_the_gallery():
    assert set(write_gallery.ENTRIES) == {*FIGURES, "overlay"}
    for code in (write_gallery.BEGIN, *write_gallery.ENTRIES.values()):
        ast.parse(code)
    page = write_gallery.page()
    for name, code in write_gallery.ENTRIES.items():
        assert f"(gallery/{name}.svg)" in page
        assert code in page


def test_the_code_of_the_gallery_makes_its_figures(tmp_path, monkeypatch):
    # The map's network is beside the examples of the checkout.
    monkeypatch.chdir(ROOT)
    names = ["throughput", "overlay", "pareto", "map"]
    write_gallery.draw(names, tmp_path)
    for name in names:
        text = (tmp_path / f"{name}.svg").read_text()
        assert "tools/write_gallery.py" in text
        assert "scenario" in text


def test_the_install_page_has_every_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    page = (ROOT / "docs" / "install.md").read_text()
    listed = re.findall(r"^\| `(\w+)` \|", page, re.M)
    assert sorted(listed) == sorted(project["optional-dependencies"])
    assert project["requires-python"].removeprefix(">=") in page


def test_a_queue_has_a_page_with_its_rule_parameters_and_figure(tmp_path):
    import write_queues

    names = ["fifo", "dualpi2", "policer"]
    write_queues.main([str(tmp_path), *(f"--only={name}" for name in names)])
    for name in names:
        text = (tmp_path / f"{name}.md").read_text()
        assert text.count("\n## ") == 2
        assert "tools/write_queues.py" in (tmp_path / "figures" / f"{name}.svg").read_text()
    assert "p_C = p'^2" in (tmp_path / "dualpi2.md").read_text()
    rows = re.findall(r"^\| \[([a-z0-9]+)\]", (tmp_path / "index.md").read_text(), re.M)
    assert rows == names
