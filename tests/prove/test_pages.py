"""The pages say what the code does."""

from pathlib import Path

import pytest

from ackclock.prove.controls import RELATIONS
from ackclock.prove.path import CONSTRAINTS
from ackclock.prove.properties import PROPERTIES

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_of_the_model_has_every_constraint_with_its_sentence():
    page = (DOCS / "explanation/path-model.md").read_text()
    for one in CONSTRAINTS:
        assert f"| `{one.name}` | {one.sentence} |" in page


@pytest.mark.parametrize("name", RELATIONS)
def test_the_page_of_the_model_has_every_rule_with_its_sentence(name):
    page = (DOCS / "explanation/path-model.md").read_text()
    section = page.split(f"### {name}\n")[1].split("\n##")[0]
    for rule in RELATIONS[name].rules:
        assert f"| `{rule.name}` | {rule.sentence} |" in section
    assert RELATIONS[name].leaves_out in section
    for left in RELATIONS[name].left_at:
        assert f"`{left}`" in section.split("|")[0]


def test_the_how_to_names_every_property():
    page = (DOCS / "howto/prove.md").read_text()
    for name in PROPERTIES:
        assert f"| `{name}=" in page
