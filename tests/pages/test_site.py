"""Pages of the site that tools write: the Python reference, the gallery, the extras."""

import ast
import json
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
    public = {name for name in ac.__all__ if type(getattr(ac, name)).__name__ != "module"}
    assert "Scenario" in public
    for name in public:
        page = api[f"ackclock/{name}.md"]
        assert re.search(rf"auto(?:class|function|data):: ackclock[\w.]*\.{name}$", page, re.M)
        assert f"(ackclock/{name}.md)" in api["ackclock.md"]
        assert f"\nackclock/{name}\n" in api["ackclock.md"]


def test_the_package_is_first_in_the_python_reference(api):
    assert api["index.md"].index("(ackclock.md)") < api["index.md"].index("(ackclock-plot.md)")


def test_values_are_described_where_they_are_assigned(api):
    assert ".. autodata:: ackclock.gym.policies.POLICIES" in api["ackclock-gym/POLICIES.md"]


def test_every_figure_is_in_the_gallery():
    assert set(write_gallery.ENTRIES) == {*FIGURES, "overlay"}
    for code in (write_gallery.BEGIN, *write_gallery.ENTRIES.values()):
        ast.parse(code)
    pages = write_gallery.pages()
    for name, code in write_gallery.ENTRIES.items():
        assert f":img-top: gallery/{name}.svg\n:link: gallery/{name}\n" in pages["gallery.md"]
        page = pages[f"gallery/{name}.md"]
        assert f"({name}.svg)" in page
        assert page.index(code) < page.index(write_gallery.BEGIN.strip())


def test_the_numbers_of_the_front_page_are_those_of_the_pages_that_have_them():
    front = (ROOT / "docs/index.md").read_text("utf-8")
    front = " ".join(front.split())
    for file, number in (
        ("README.md", "a ninth to a twelfth of ns-2's processor time and about a four-hundredth"),
        ("docs/ns2-agreement.md", "100 (9.0 million events)"),
        ("docs/explanation/linux.md", "168 of 192"),
    ):
        assert number in " ".join((ROOT / file).read_text("utf-8").split()), file
    for number in ("a ninth to a twelfth of ns-2's", "a four-hundredth", "9.0 million events",
                   "100 of 100", "168 of 192"):  # fmt: skip
        assert number in front
    controls = json.loads((ROOT / "docs/reference/dossiers.json").read_text("utf-8"))["controls"]
    each_s = sum(control["cpu_s"] for control in controls.values()) / len(controls)
    assert f"{len(controls)} controls are judged" in front
    assert f"each in {each_s:.0f} s of one core" in front


def test_every_how_to_page_is_in_a_group_of_the_index():
    index = (ROOT / "docs/howto/index.md").read_text("utf-8")
    first_group = index.index("\n## ")
    for file in (ROOT / "docs/howto").glob("*.md"):
        if file.stem != "index":
            assert index.index(f"]({file.name})") > first_group, file.name
            assert f"\n{file.stem}\n" in index


@pytest.mark.slow
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


@pytest.mark.slow
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
