"""The dossiers of the registry in the documentation: all there, and what is known of them."""

import importlib.util
import json
from pathlib import Path

import pytest

from ackclock.catalogue.schema import catalogue
from ackclock.dossier.read import read

ROOT = Path(__file__).resolve().parents[2]
DATA = json.loads((ROOT / "docs/reference/dossiers.json").read_text())


def verdict(control, requirement):
    return DATA["controls"][control]["rows"][requirement]["verdict"]


def tool():
    at = ROOT / "tools/dossiers/write_dossiers.py"
    spec = importlib.util.spec_from_file_location("write_dossiers", at)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_every_control_that_is_not_left_out_has_every_requirement():
    # A control that is newer than the data need not be there: they take half an hour.
    assert len(DATA["controls"]) > 40
    assert {*DATA["controls"], *DATA["left_out"]} <= set(catalogue()["cc"])
    requirements = read(DATA["profile"]).requirements.values()
    for name, control in DATA["controls"].items():
        is_coupled = "coupled" in catalogue()["cc"][name]["facts"]
        other = "uncoupled" if is_coupled else "coupled"
        wanted = {one.id for one in requirements if one.of != other}
        assert set(control["rows"]) == wanted, name


def test_the_page_is_written_from_the_data():
    page = (ROOT / "docs/reference/dossiers.md").read_text()
    assert page == tool().page(DATA)


@pytest.mark.parametrize(
    ("control", "requirement", "expected"),
    [
        ("bbr", "5.1.3-loss", "not met"),
        ("bbr", "5.2-share", "not met"),
        ("bbr3", "5.1.3-loss", "met"),
        ("vegas", "5.2-starved", "not met"),
        ("ledbat++", "5.2-starved", "not met"),
        ("aimd", "5.1.1-backoff", "met"),
        ("aimd", "5.1.1-collapse", "met"),
        ("cubic", "5.1.1-backoff", "met"),
        ("cubic", "5.1.1-collapse", "met"),
        ("aimd", "5.1.2-queue", "not met"),
        ("cubic", "5.1.2-queue", "not met"),
        ("vegas", "5.1.2-queue", "met"),
        ("aimd", "5.2-share", "met"),
        ("dctcp", "7.1-share", "not met"),
    ],
)
def test_what_is_known_of_a_control_is_in_its_dossier(control, requirement, expected):
    assert verdict(control, requirement) == expected
