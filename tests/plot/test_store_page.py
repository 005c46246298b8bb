"""The page over a store: its sweeps with their figures, what is missing, nothing from elsewhere."""

import re

import pytest

import ackclock as ac
from ackclock._util.number_text import metric
from ackclock.cli.main import EXIT_INPUT, main
from ackclock.experiments.store import Store
from ackclock.experiments.store_page import store_page
from conftest import SMALL


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    place = tmp_path_factory.mktemp("page") / "store"
    metrics = ["mean(flows.goodput_bps)"]

    def run(name, seed, buffers, reps):
        case = ac.load(SMALL).replace(seed=seed)
        made = ac.sweep(case, {"net.buffer": buffers}, reps=reps, metrics=metrics, name=name)
        made.run(store=place, progress=False)

    run("full", 1, ["5 pkt", "10 pkt"], 2)
    # A sweep that stopped: the first point has more runs than the second.
    run("thin", 77, ["5 pkt", "10 pkt"], 1)
    run("thin", 77, ["5 pkt"], 3)
    return place


def test_the_page_has_every_sweep_with_its_means_and_loads_nothing(store):
    page = store_page(Store(store))
    assert page.index(">full</h2>") < page.index(">thin</h2>")
    assert page.count("src=") >= 2
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)
    runs = [ac.load(SMALL).replace(**{"net.buffer": "5 pkt", "seed": s}).run() for s in (1, 2)]
    goodputs = [flow["goodput_bps"] for run in runs for flow in run.summary["flows"]]
    assert f"<td>{metric('goodput_bps', sum(goodputs) / len(goodputs))}</td>" in page


def test_points_with_fewer_runs_than_others_are_said_to_be(store):
    page = store_page(Store(store), sweeps=["thin"])
    assert "1 of 2 points have fewer than 3 runs: net.buffer = 10 pkt" in page
    assert ">full</h2>" not in page
    assert "have fewer than" not in store_page(Store(store), sweeps=["full"])


def test_a_metric_that_no_run_has_is_named_on_the_page(store):
    page = store_page(Store(store), metrics=["flows[nix].goodput_bps"], sweeps=["full"])
    assert "flows[nix].goodput_bps: no run has a value of it" in page


def test_the_command_writes_the_page_or_says_what_is_not_there(store, tmp_path, capsys):
    out = tmp_path / "page.html"
    assert main(["results", "page", "--store", str(store), "--out", str(out)]) == 0
    assert out.read_text("utf-8").startswith("<!doctype html>")
    code = main(["results", "page", "--store", str(store), "--sweep", "nix", "--out", str(out)])
    assert code == EXIT_INPUT
    assert 'has no sweep "nix"' in capsys.readouterr().err
