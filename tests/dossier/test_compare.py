"""Comparisons: paired differences, who is better where, what is written."""

import json
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from types import SimpleNamespace

import jsonschema
import pytest

from ackclock.catalogue.entries import schema_of
from ackclock.cli.main import main
from ackclock.dossier.form import ComparisonForm

ONLY = ["--only", "5.1.2-queue", "--only", "5.1.3-loss", "--only", "8-security"]
PROFILE = ["--profile", "quick", "--reps", "4", "--workers", "1"]


def run(*words):
    text = StringIO()
    with redirect_stdout(text), redirect_stderr(text):
        code = main(["compare", *words])
    return SimpleNamespace(exit_code=code, output=text.getvalue())


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    at = tmp_path_factory.mktemp("compare")
    words = [*PROFILE, *ONLY[:4], "--store", str(at / "store")]
    out = run("cubic", "bbr", *words, "--out", str(at / "out"))
    assert out.exit_code == 0, out.output
    return at, words, json.loads((at / "out/comparison.json").read_text()), out.output


def test_cubic_loses_less_and_bbr_queues_less_and_the_page_says_so(saved):
    _, _, data, output = saved
    (pair,) = data["pairs"]
    better = {one["number"]: one["better"] for one in pair["differences"]}
    assert better["5.1.3 Loss by buffer: 1.0 BDP"] == "cubic"
    assert better["5.1.2 Standing queue: queue: 1 flow"] == "bbr"
    counts = Counter(better.values())
    assert pair["better"] == {name: counts[name] for name in ("cubic", "bbr")}
    assert "cubic meets and bbr does not: 5.1.3 Loss by buffer." in output
    assert "bbr is better in" in output


def test_differences_are_means_over_seeds_of_the_second_less_the_first(saved):
    _, _, data, _ = saved
    (pair,) = data["pairs"]
    values = [
        {
            (row["section"], row["title"], n["check"], n["part"]): n["values"]
            for row in dossier["rows"]
            for n in row["numbers"]
        }
        for dossier in data["dossiers"]
    ]
    by_title = {": ".join(w for w in (f"{k[0]} {k[1]}", *k[2:]) if w): k for k in values[0]}
    for one in pair["differences"]:
        key = by_title[one["number"]]
        apart = [b - a for a, b in zip(values[0][key], values[1][key], strict=True)]
        assert one["difference"] == pytest.approx(sum(apart) / len(apart))
        if one["better"] is not None:
            assert one["low"] > 0 or one["high"] < 0
            assert one["size"] > 0.05


def test_the_order_of_the_controls_changes_signs_and_nothing_else(saved):
    _, words, data, _ = saved
    out = run("bbr", "cubic", *words, "--json", "--quiet")
    turned = json.loads(out.output)["pairs"][0]["differences"]
    for one, other in zip(data["pairs"][0]["differences"], turned, strict=True):
        assert other["number"] == one["number"]
        assert other["difference"] == pytest.approx(-one["difference"])
        assert other["better"] == one["better"]


def test_the_json_has_its_schema_and_the_folder_a_dossier_of_each(saved):
    at, _, data, _ = saved
    jsonschema.Draft7Validator(schema_of(ComparisonForm)).validate(data)
    assert [one["control"] for one in data["dossiers"]] == ["cubic", "bbr"]
    for number in (1, 2):
        assert (at / f"out/dossier-{number}/report.html").is_file()
    page = (at / "out/report.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert data["command"].startswith("ackclock compare cubic bbr --profile quick")
    runs = [one["runs"] for one in data["dossiers"]]
    assert data["runs"] == sum(runs) > max(runs)


def test_three_settings_of_one_control_are_labelled_by_their_values_and_compared_in_pairs(tmp_path):
    controls = ["aimd", '{kind = "aimd", b = 0.7}', '{kind = "aimd", b = 0.8}']
    only = ["--only", "5.1.1-backoff", "--reps", "2"]
    store = ["--profile", "rfc9743", "--store", str(tmp_path)]
    out = run(*controls, *only, *store, "--json", "--quiet")
    assert out.exit_code == 0, out.output
    pairs = [tuple(pair["controls"]) for pair in json.loads(out.output)["pairs"]]
    assert len(set(pairs)) == 3
    assert pairs[0] == ("aimd", '{kind = "aimd", b = 0.7}')


def test_a_control_beside_itself_or_alone_is_refused(tmp_path):
    for words in (["cubic", "cubic"], ["cubic"], ["cubic", "bbr", "aimd", "vegas"]):
        out = run(*words, *PROFILE, "--store", str(tmp_path / "s"))
        assert out.exit_code == 2
        assert "expected" in out.output
    assert not (tmp_path / "s").exists()


def test_a_dry_run_predicts_each_study_and_what_is_shared_once(tmp_path):
    out = run("cubic", "bbr", "--profile", "quick", "--dry-run", "--store", str(tmp_path / "s"))
    assert "cubic: alone" in out.output
    assert "bbr: alone" not in out.output
    assert "bbr: buffers" in out.output
    assert "predicted" in out.output
