"""The reference pages follow the core."""

import json
import re

import pytest

import write_reference
from ackclock.catalogue import schema
from ackclock.catalogue.entries import schema_of
from ackclock.document_schemas import FORMS
from ackclock.engines.fluid.document import FluidDocument
from ackclock.engines.hybrid.document import Background
from ackclock.experiments.file_form import SweepFile


@pytest.fixture(scope="module")
def pages():
    return write_reference.pages()


def test_every_algorithm_has_a_page_with_its_parameters_and_source_in_its_rooms_list(pages):
    for room, entries in schema.catalogue().items():
        for name, entry in entries.items():
            page = pages[f"algorithms/{room}/{name.replace('+', 'plus')}.md"]
            assert f"\n# {name}\n" in page
            assert f"`{entry['file']}`" in page
            for field in entry["params"].get("properties", {}):
                assert f"| `{field}` |" in page, (name, field)
            assert f"\n{room}/{name.replace('+', 'plus')}\n" in pages[f"algorithms/{room}.md"]


def test_the_header_of_the_rust_file_is_on_one_page(pages):
    controls = "".join(text for path, text in pages.items() if path.startswith("algorithms/cc/"))
    assert controls.count("baseRTT - W / R) baseRTT") == 1
    assert controls.count("What linear.rs says") == 1


def test_a_controls_page_says_what_its_dossier_found_not_met(pages):
    data = json.loads(write_reference.DOSSIERS.read_text("utf-8"))
    for name, control in data["controls"].items():
        page = pages[f"algorithms/cc/{name.replace('+', 'plus')}.md"]
        missed = [id_ for id_, row in control["rows"].items() if row["verdict"] == "not met"]
        for id_ in missed:
            assert f"[{id_}](#requirement-" in page, (name, id_)
        assert ("none is not met" in page) == (not missed)
        assert "](#dossier-" in page


def test_every_field_of_a_scenario_is_on_its_page(pages):
    for name, rules in schema.scenario()["$defs"].items():
        for field in rules.get("properties", {}):
            assert f"| `{field}` |" in pages["scenario.md"], (name, field)


def test_every_key_of_a_document_is_on_its_page_with_its_sentence(pages):
    parts = pages["documents.md"].split("\n## ")[1:]
    forms = [(SweepFile, "FILE.toml of a sweep"), (FluidDocument, "FILE.toml of a fluid case")]
    forms += [(Background, "[background] of a hybrid case"), *FORMS.values()]

    def keys(rules):
        for key, inner in rules.get("properties", {}).items():
            yield key, inner.get("description", "")
            yield from keys(inner)
        yield from keys(rules["items"]) if "items" in rules else ()

    for part, (form, title) in zip(parts, forms, strict=True):
        assert part.replace("`", "").startswith(title)
        for key, sentence in keys(schema_of(form)):
            line = rf"\| `{key}` \| .*\| {re.escape(write_reference.linked(sentence))}"
            assert re.search(line, part), (title, key)


def test_every_kind_of_traffic_and_of_sizes_has_its_keys(pages):
    page = pages["documents.md"]
    assert '### `traffic, kind = "pattern"`' in page
    part = page.partition('### `arrivals.sizes, kind = "pareto"`')[2]
    assert "| `shape` | number | required |" in part.partition("###")[0]


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
