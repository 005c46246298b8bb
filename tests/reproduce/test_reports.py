"""What reports say first, and how undecided claims get more replicates."""

import json
import shutil
from pathlib import Path

import pytest

from ackclock.reproduce.read.folder import PAPERS, read
from ackclock.reproduce.run.inference import ClaimFound, Inference
from ackclock.reproduce.run.reproduction import reproduce
from ackclock.reproduce.run.standing import STANDINGS
from ackclock.reproduce.run.studies import RunOptions
from ackclock.reproduce.write.folder import write
from ackclock.reproduce.write.html import index_page
from ackclock.reproduce.write.opening import sentences


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    """The example with two short replicates, and with more if claims are undecided."""
    at = Path(shutil.copytree(PAPERS / "example", tmp_path_factory.mktemp("papers") / "mine"))
    study = at / "scenarios" / "loss.toml"
    text = study.read_text().replace("0.001, 0.002, 0.005, 0.01, 0.02, 0.05", "0.001, 0.005, 0.05")
    study.write_text(text.replace('"120 s"', '"30 s"').replace("reps = 6", "reps = 2"))
    about = at / "paper.toml"
    about.write_text(about.read_text().replace("[tiers.full]", "replicates = 8\n\n[tiers.full]"))
    return at


@pytest.fixture(scope="module")
def said():
    return []


@pytest.fixture(scope="module")
def done(paper, said, tmp_path_factory):
    options = RunOptions(store=tmp_path_factory.mktemp("store"), progress=False, report=said.append)
    found = Inference(
        {"recovery": "reno"}, {"S-6": ClaimFound(0.25, False, ("min-rto",), points=64, alike=1.0)}
    )
    return reproduce(read(paper), options=options, inference=found)


def test_undecided_claims_get_more_replicates_up_to_the_limit_that_the_paper_states(done, said):
    again = [text for text in said if text.startswith("undecided claims: study loss again")]
    assert [text.rsplit(" ", 2)[1] for text in again] in (["4"], ["4", "8"])
    assert done.studies["loss"].provenance["replicates"] == 4 * len(again)
    # A study without seeds in it is not run again.
    assert not any("study law again" in text for text in said)
    open_ = [r for r in done.claims if r.outcome == "undecided"]
    assert not open_ or done.studies["loss"].provenance["replicates"] == 8


def test_a_report_opens_with_at_most_ten_sentences_with_numbers(done, tmp_path):
    opening = sentences(done)
    assert 3 <= len(opening) <= 10
    assert opening[0].startswith("7 claims of the paper are listed here, of which 6 were judged")
    assert any("S-6 in 25% (min-rto decide)" in sentence for sentence in opening)
    folder = write(done, tmp_path / "example")
    page = (folder / "report.html").read_text()
    # The paper's first page, then figures, then claims, each closed until it is opened.
    assert page.index(opening[0]) < page.index("<h2>Figures") < page.index("<h2>Claims")
    assert page.count('<details class="claim"') == len(done.claims)
    assert '<span class="standing at-undetermined">undetermined</span>' in page


@pytest.mark.slow
def test_the_index_compares_papers_by_standing(done, tmp_path):
    folder = write(done, tmp_path / "example")
    marker = json.loads((folder / "reproduction.json").read_text())
    assert sum(marker["standings"].values()) == len(done.claims)
    assert marker["standings"]["erratum"] == 1
    page = index_page(tmp_path)
    assert all(f">{name}</th>" in page for name in STANDINGS)
    row = page[page.index("example/report.html") :]
    counts = [str(marker["standings"][name]) for name in STANDINGS]
    assert "".join(f"<td>{count}</td>" for count in counts) in row


def test_totals_of_runs_are_given_without_reading_tables_of_flows(paper, tmp_path, monkeypatch):
    from ackclock.experiments.result import SweepResult
    from ackclock.reproduce.run.studies import run_study, sweep_of, tables_of

    data = read(paper)
    options = RunOptions(store=tmp_path / "store", progress=False)
    made = sweep_of(data, data.studies["loss"], "fast")
    result = made.run(store=options.store, progress=False)
    want = result.values("mean(flows.goodput_bps)").drop_columns(["value"])

    def refuse(self):
        raise AssertionError("a table of the runs was read")

    monkeypatch.setattr(SweepResult, "_each_run", refuse)
    monkeypatch.setattr(SweepResult, "summaries", property(refuse))
    runs = tables_of(result)["runs"]
    assert runs.select(want.column_names).equals(want)
    assert (
        run_study(data, data.studies["loss"], "fast", options).provenance["runs"] == want.num_rows
    )
