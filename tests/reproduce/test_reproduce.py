"""Papers from folder to report: the worked example, wrong input, the command line."""

import csv
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from ackclock.cli.main import main
from ackclock.errors import AckclockError, ConvergenceError, UnsupportedError
from ackclock.reproduce.check.crosscheck import studies_of
from ackclock.reproduce.read.folder import PAPERS, names, read
from ackclock.reproduce.run.predict import REST
from ackclock.reproduce.run.reproduction import reproduce
from ackclock.reproduce.run.sensitivity import sensitivity
from ackclock.reproduce.run.studies import RunOptions, run_study
from ackclock.reproduce.write.folder import write

QUIET = RunOptions(store=False, progress=False)
KEYS = [
    "id",
    "statement",
    "kind",
    "paper",
    "measured",
    "ci_low",
    "ci_high",
    "tolerance",
    "verdict",
    "orders",
    "decided_by",
    "reason",
    "unstated",
    "reading",
    "standing",
    "standing_reason",
    "share",
    "decides",
]
"""Keys of an entry of claims.json: what other programs rely on."""


@pytest.fixture(scope="module")
def example():
    return reproduce(read("example"), options=QUIET)


@pytest.fixture(scope="module")
def folder(example, tmp_path_factory):
    return write(example, tmp_path_factory.mktemp("out") / "example")


@pytest.fixture
def paper(tmp_path):
    """The example with short runs."""
    at = Path(shutil.copytree(PAPERS / "example", tmp_path / "mine"))
    study = at / "scenarios" / "loss.toml"
    text = study.read_text().replace("0.001, 0.002, 0.005, 0.01, 0.02, 0.05", "0.001, 0.005, 0.05")
    study.write_text(text.replace('"120 s"', '"30 s"').replace("reps = 6", "reps = 4"))
    return at


def test_a_run_that_fails_names_its_study_and_stays_the_error_that_it_is(paper, monkeypatch):
    def fails(*_, **__):
        raise ConvergenceError(["a->b"], 0.5, 2000)

    monkeypatch.setattr("ackclock.experiments.sweeps.Sweep.run", fails)
    data = read(paper)
    with pytest.raises(ConvergenceError, match=r"loss\.toml: rates did not settle") as caught:
        run_study(data, data.studies["loss"], "fast", QUIET)
    assert caught.value.links == ("a->b",)


def claim(done, name):
    return next(result for result in done.claims if result.claim.id == name)


def test_the_example_holds_where_the_law_holds(example):
    verdicts = {result.claim.id: result.verdict for result in example.claims}
    assert verdicts == {
        "S-1": "reproduced",
        "S-2": "reproduced",
        "S-3": "reproduced",
        "S-4": "reproduced",
        "S-5": "reproduced",
        "S-6": "deviates",
        "S-7": "not-checkable",
        "E1": "reproduced",
    }
    assert claim(example, "S-6").is_known_deviation
    assert not example.deviations
    # The constant for periodic loss is sqrt(3/2), less a recovery of 1 to 2 of 82 round trips.
    measured = claim(example, "S-1").results[0].measured
    assert 1.2247 * (1 - 2 / 82) < measured < 1.2247


def test_claims_json_has_the_keys_that_others_rely_on(folder):
    entries = json.loads((folder / "claims.json").read_text())
    assert [list(entry) for entry in entries] == [KEYS] * 8
    for entry in entries:
        assert entry["verdict"] in ("reproduced", "deviates", "not-checkable")
    ratio = next(entry for entry in entries if entry["id"] == "S-4")
    assert list(ratio["measured"]) == ["less", "ratio"]
    assert ratio["ci_low"]["ratio"] < ratio["measured"]["ratio"] < ratio["ci_high"]["ratio"]


def test_every_figure_has_its_data_and_its_recipe(folder):
    for number in "123":
        recipe = (folder / "figures" / f"fig-{number}.svg").read_text()
        assert f"ackclock reproduce example --figure {number} --tier fast" in recipe
        assert (folder / "figures" / f"fig-{number}.png").stat().st_size > 5000
    with (folder / "figures" / "fig-1.csv").open() as file:
        rows = list(csv.DictReader(file))
    ours = [row for row in rows if row["layer"] == "data"]
    assert len(ours) == 36
    assert {row["replicates"] for row in ours} == {"6"}
    assert all(float(row["low"]) < float(row["y"]) < float(row["high"]) for row in ours)
    # Model: 3 MSS-windows over RTT, sqrt(1.5 / 0.001) segments of 1460 bytes in 20 ms.
    first = next(r for r in rows if r["layer"] == "model" and float(r["x"]) == 0.001)
    assert float(first["y"]) == pytest.approx((1.5e3) ** 0.5 * 1460 * 8 / 0.02)


def test_the_page_opens_from_disk_without_a_network(folder):
    page = (folder / "report.html").read_text()
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    for word in ("✓ met", "✗ missed (known)", "not-judged", "Figure 1.", "min-rto"):
        assert word in page
    assert "ackclock reproduce example --figure 1 --tier fast" in page


@pytest.mark.slow
def test_the_same_again_is_the_same_to_the_byte(example, folder, tmp_path):
    again = write(reproduce(read("example"), options=QUIET), tmp_path / "again")
    files = sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
    assert len(files) == 12
    for file in files:
        assert (folder / file).read_bytes() == (again / file).read_bytes(), file


OTHERS = [name for name in names() if name != "example"]


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_what_needs_no_run_of_packets_or_flows_comes_out_as_expected(name):
    paper = read(name)
    quick = {name for name, study in paper.studies.items() if engine(study) == "model"}
    chosen = [
        claim.id
        for claim in paper.claims.values()
        if claim.checks
        and quick.issuperset(studies_of(paper, *(check.measure for check in claim.checks)))
    ]
    if not chosen:
        pytest.skip("every claim of this paper that can be checked needs runs")
    done = reproduce(paper, claims=chosen, options=QUIET)
    for result in done.claims:
        if result.claim.id in chosen:
            expected = "deviates" if result.claim.known_deviation else "reproduced"
            assert result.verdict == expected, (result.claim.id, result.reason)


def engine(study):
    return study.document.get("scenario", {}).get("engine", "packet")


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_the_fast_tier_judges_every_claim(name):
    paper = read(name)
    left_out = {name for name, study in paper.studies.items() if "fast" in study.skipped}
    done = reproduce(paper, options=QUIET)
    for result in done.claims:
        assert result.verdict in ("reproduced", "deviates", "not-checkable")
        assert result.verdict == "reproduced" or result.reason, result.claim.id
        reads = studies_of(paper, *(check.measure for check in result.claim.checks))
        if result.claim.checks and not (left_out.intersection(reads) or result.claim.full_only):
            assert result.results, (result.claim.id, result.reason)


def test_every_claim_and_pair_of_the_papers_has_an_entry():
    papers = {name: read(name) for name in names()}
    numbered = {"mccullough2010": ("M", 39), "legout1999": ("L", 27), "akella2002": ("A", 27),
                "green2002": ("G", 12), "fast2013": ("F", 30)}  # fmt: skip
    for name, (code, count) in numbered.items():
        wanted = {f"{code}-{i}" for i in range(1, count + 1)}
        assert wanted <= set(papers[name].claims)
    pairs = [c for c in papers["akella2002"].claims.values() if c.made_from == "appendix.csv"]
    assert len(pairs) == 288
    errata = {id_ for p in papers.values() for id_, c in p.claims.items() if c.kind == "E"}
    assert {f"E{i}" for i in range(1, 8)} <= errata


def test_a_study_that_a_tier_leaves_out_is_reported(paper):
    study = paper / "scenarios" / "loss.toml"
    study.write_text(study.read_text().replace("[tiers.fast]", '[tiers.fast]\nskip = "hours"'))
    done = reproduce(read(paper), options=QUIET)
    assert claim(done, "S-2").verdict == "not-checkable"
    assert claim(done, "S-2").reason == "hours (study loss)"
    assert claim(done, "S-1").verdict == "reproduced"
    assert [item.missing for item in done.figures] == ["hours (study loss)"] * 3


def test_a_figure_alone_runs_only_its_studies(paper):
    done = reproduce(read(paper), figures=["3"], options=QUIET)
    assert list(done.studies) == ["loss"]
    assert claim(done, "S-1").reason.startswith("not run: only a part")
    assert done.command == "ackclock reproduce mine --figure=3 --tier fast"


def edited(folder, name, old, new):
    file = folder / name
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(AckclockError) as caught:
        reproduce(read(folder), options=QUIET)
    return str(caught.value).replace(f"{folder}/", "")


def test_a_measure_of_an_unknown_column_is_reported_before_the_studies_run(paper, monkeypatch):
    monkeypatch.setattr("ackclock.reproduce.run.reproduction.run_study", None)
    message = edited(paper, "claims.toml", "ln(goodput_bps), ln(loss)", "ln(goodputs), ln(loss)")
    assert message.startswith("claims.toml: claim[S-2].check[0].measure: ")
    assert '"goodputs" not found' in message
    assert '"goodput_bps"' in message
    assert "\n" not in message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (
            "claims.toml",
            "FROM loss.flows WHERE loss = 0.05 AND per_ack = 1",
            "FROM loss.flow WHERE loss = 0.05",
            'claim[S-6].check[0].measure: the study "loss" has no table "flow"; '
            'did you mean "flows"?',
        ),
        (
            "claims.toml",
            "SELECT replicate, regr_slope",
            "SELECT regr_slope",
            'claim[S-2].check[0].measure: gives no column "replicate", and the study "loss" is '
            "random: without it there is no interval",
        ),
        (
            "claims.toml",
            "AS value, e.constant\nFROM periodic",
            "AS value\nFROM periodic",
            "claim[S-1].check[0].expect: the measure has no number in a column 'constant'; "
            "expected one of: replicate, value",
        ),
        (
            "claims.toml",
            "SELECT replicate, rtt_ms || ' ms' AS part,",
            "SELECT replicate,",
            "claim[S-6].check[0].measure: gives 12 rows for 4 replicates",
        ),
        (
            "claims.toml",
            "SELECT constant AS value FROM",
            "SELECT constant AS v FROM",
            "",
        ),
        (
            "figures.toml",
            "replicate, timeouts AS value",
            "replicate, timeouts AS count",
            'figure[3].data: gives no column "value"; it gives x, y, replicate, count',
        ),
        (
            "unstated.toml",
            'path = "flows[0].tcp.min_rto"',
            'path = "flows[0].tcp.min_rt"',
            "parameter[min-rto]: study loss, flows[0].tcp.min_rt: ",
        ),
        (
            "scenarios/loss.toml",
            "[0.001, 0.005, 0.05]",
            "[]",
            "scenarios/loss.toml: ",
        ),
    ],
)
def test_what_is_wrong_with_a_paper_is_reported_with_file_and_key(paper, name, old, new, message):
    if not message:
        name, message = "errata.toml", 'claim[E1].check[0].measure: gives no column "value"'
    assert message in edited(paper, name, old, new)


@pytest.mark.slow
def test_sensitivity_finds_where_a_claim_holds(paper):
    data = read(paper)
    done = sensitivity(data, "S-4", options=QUIET)
    assert [trial.label for trial in done.trials] == [
        "defaults",
        "recovery = newreno",
        "recovery = reno",
    ]
    held = done.region["recovery"]
    assert sum(len(values) for values in held.values()) == 3
    assert "recovery = reno" in str(done)
    with pytest.raises(UnsupportedError, match="S-1 rests on no unstated parameter"):
        sensitivity(data, "S-1", options=QUIET)
    with pytest.raises(UnsupportedError, match="S-7 is not checkable"):
        sensitivity(data, "S-7", options=QUIET)


@pytest.mark.slow
def test_sensitivity_by_pairs_tries_every_pair(paper, tmp_path):
    from ackclock.reproduce.write import sensitivity as report

    done = sensitivity(read(paper), "S-6", options=QUIET, pairs=True)
    # Defaults, 2 + 2 alone, 2 x 2 together.
    assert len(done.trials) == 9
    at = report.write(done, tmp_path / "s")
    with (at / "sensitivity.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 9 * 3
    assert {(row["recovery"], row["min-rto"]) for row in rows} >= {("reno", "10 ms")}
    # Every trial but the defaults changed something.
    measured = [row["measured"] for row in rows if row["part"] == "20 ms"]
    assert len(set(measured)) > 4
    assert (at / "sensitivity.svg").is_file()


def test_the_command_writes_a_report_and_an_index(paper, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", str(paper), "--json", "--store", str(tmp_path / "store")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["paper"] == "mine"
    assert len(printed["claims"]) == 8
    assert (tmp_path / "reproductions" / "mine" / "report.html").is_file()
    assert 'href="mine/report.html"' in (tmp_path / "reproductions" / "index.html").read_text()


def test_a_dry_run_says_what_would_run_and_runs_nothing(paper, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ackclock.reproduce.run.reproduction.run_study", None)
    assert main(["reproduce", str(paper), "--dry-run", "--json"]) == 0
    rows = {row["study"]: row for row in json.loads(capsys.readouterr().out)}
    assert {name: row["runs"] for name, row in rows.items()} == {
        "law": 1,
        "loss": 72,
        "periodic": 2,
        REST: 0,
    }
    assert 0 < rows[REST]["seconds"] == rows[REST]["cpu_s"]
    # No claim of the example gets more replicates, as its tiers state no limit.
    assert all(row["most_runs"] == row["runs"] for row in rows.values())
    assert not (tmp_path / "reproductions").exists()


def test_a_dry_run_of_a_part_prices_what_that_needs_with_more_replicates(paper, capsys):
    about = paper / "paper.toml"
    about.write_text(about.read_text().replace("[tiers.full]", "replicates = 20\n\n[tiers.full]"))
    rows = []
    for part in (("--claim", "S-1"), ("--claim", "S-6"), ("--figure", "1")):
        assert main(["reproduce", str(paper), *part, "--dry-run", "--json"]) == 0
        rows.append({row["study"]: row for row in json.loads(capsys.readouterr().out)})
    assert [set(one) for one in rows[:2]] == [{"periodic", REST}, {"loss", REST}]
    loss = rows[1]["loss"]
    # 18 points: at first 4 replicates each, while claims are undecided 8, 16, 20.
    assert (loss["points"], loss["runs"], loss["most_runs"]) == (18, 72, 360)
    assert loss["most_seconds"] == pytest.approx(5 * loss["seconds"])
    assert main(["reproduce", str(paper), "--claim", "S-6", "--dry-run"]) == 0
    assert "if all claims stay undecided: about" in capsys.readouterr().out
    assert main(["reproduce", str(paper), "--claim", "S-66", "--dry-run"]) == 2


def test_strict_fails_on_a_deviation_that_nobody_listed(paper, tmp_path, capsys):
    file = paper / "claims.toml"
    text = file.read_text()
    arguments = ["reproduce", str(paper), "--claim", "S-6", "--store", str(tmp_path / "store"),
                 "--out", str(tmp_path / "o"), "--quiet", "--strict"]  # fmt: skip
    assert main(arguments) == 0
    file.write_text("\n".join(li for li in text.splitlines() if "known_deviation" not in li))
    assert main(arguments) == 1
    assert "not listed as known: mine S-6" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "exampel"], 'there is no paper "exampel"; did you mean "example"?'),
        (["reproduce"], "name a paper"),
        (["reproduce", "example", "--figure", "4"], 'the paper has no figure "4"'),
        (["reproduce", "example", "--claim", "S-9"], 'the paper has no claim "S-9"; did you mean'),
        (["reproduce", "example", "--pairs"], "--pairs goes with --sensitivity"),
        (["reproduce", "example", "--all", "--figure", "1"], "are for one paper"),
        (["artifact", "example", "--out", "x.zip"], "expected FILE.tar.gz"),
    ],
)
def test_a_wrong_command_gets_one_sentence(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_folder_of_somebody_else_is_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("x")
    assert main(["reproduce", "example", "--out", str(tmp_path)]) == 2
    assert "is not a folder that ackclock wrote" in capsys.readouterr().err


@pytest.mark.slow
def test_an_artifact_reruns_to_the_same_bytes(paper, tmp_path):
    from ackclock.reproduce.write.artifact import pack

    (tmp_path / "b").mkdir()
    file = pack(read(paper), tmp_path / "a.tar.gz", tier="fast", options=QUIET)
    other = pack(read(paper), tmp_path / "b" / "a.tar.gz", tier="fast", options=QUIET)
    assert file.read_bytes() == other.read_bytes()
    with tarfile.open(file) as tar:
        tar.extractall(tmp_path / "unpacked", filter="data")
    at = tmp_path / "unpacked" / "a"
    with (at / "seeds.csv").open() as rows:
        seeds = list(csv.DictReader(rows))
    assert len([row for row in seeds if row["study"] == "loss"]) == 18 * 4
    command = tmp_path / "ackclock"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ackclock "$@"\n')
    command.chmod(0o755)
    done = subprocess.run(
        ["sh", str(at / "rerun.sh")],
        env={**os.environ, "ACKCLOCK": str(command)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "every file of results/ was made again, byte for byte" in done.stdout
    # One byte changed is noticed.
    sums = at / "SHA256SUMS"
    first = sums.read_text()
    sums.write_text(("0" if first[0] != "0" else "1") + first[1:])
    assert subprocess.run(
        ["sh", str(at / "rerun.sh")],
        env={**os.environ, "ACKCLOCK": str(command)},
        capture_output=True,
        check=False,
    ).returncode
