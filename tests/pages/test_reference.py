"""The reference pages follow the core."""

import re

import pytest

import write_reference
from ackclock.catalogue import schema


@pytest.fixture(scope="module")
def pages():
    return write_reference.pages()


def test_every_algorithm_has_its_parameters_and_source_on_its_rooms_page(pages):
    for room, entries in schema.catalogue().items():
        page = pages[f"algorithms/{room}.md"]
        for name, entry in entries.items():
            section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
            assert f"`{entry['file']}`" in section
            for field in entry["params"].get("properties", {}):
                assert f"| `{field}` |" in section, (name, field)


def test_the_header_of_the_rust_file_is_on_the_page_once(pages):
    assert pages["algorithms/cc.md"].count("baseRTT - W / R) baseRTT") == 1
    assert pages["algorithms/cc.md"].count("What linear.rs says") == 1


def test_every_field_of_a_scenario_is_on_its_page(pages):
    for name, rules in schema.scenario()["$defs"].items():
        for field in rules.get("properties", {}):
            assert f"| `{field}` |" in pages["scenario.md"], (name, field)


def test_the_eras_differ_in_the_initial_window(pages):
    row = next(line for line in pages["eras.md"].splitlines() if "`tcp.initial_window`" in line)
    assert re.findall(r"\d+", row) == ["10", "10", "10", "1", "2", "2", "2"]


def test_a_rust_link_becomes_code_and_a_doi_a_link_that_ends_before_the_full_stop():
    text = write_reference.linked("See [`Red`](crate::red), doi:10.1016/0169-7552(89)90019-6.")
    link = "[doi:10.1016/0169-7552(89)90019-6](<https://doi.org/10.1016/0169-7552(89)90019-6>)"
    assert text == f"See `Red`, {link}."


def test_every_command_is_on_its_page_with_those_of_its_groups(pages):
    page = pages["cli.md"]
    assert "\n## sweep\n" in page
    assert "\n### results gc\n" in page
    assert "Usage: ackclock results gc [OPTIONS]" in page
