"""Runs that commands do for their reports: named by the command, hidden unless requested."""

import json

import pytest

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.experiments.store import Store
from ackclock.experiments.store.purpose import runs_of
from ackclock.experiments.stored import stored_result
from conftest import SMALL


@pytest.fixture
def place(tmp_path):
    place = tmp_path / "store"
    small = ac.load(SMALL).replace(duration="3 s", record=None)
    ac.sweep(small, {"net.rate": ["1 Mbps", "2 Mbps"]}, name="mine").run(
        store=place, progress=False
    )
    with runs_of("evaluate"), runs_of("audit"):
        ac.sweep(small, {"net.rate": ["3 Mbps", "4 Mbps"]}, name="theirs").run(
            store=place, progress=False
        )
    return place


def listed(capsys, place, *more):
    capsys.readouterr()
    assert cli.main(["results", "list", "--json", "--store", str(place), *more]) == 0
    return sorted(json.loads(line)["sweep"] for line in capsys.readouterr().out.splitlines())


def test_runs_of_a_command_are_listed_on_request(place, capsys):
    mine, theirs = ["mine"] * 2, ["ackclock evaluate: theirs"] * 2
    assert listed(capsys, place) == mine
    assert listed(capsys, place, "--all") == theirs + mine
    assert listed(capsys, place, "--where", f"sweep={theirs[0]}") == theirs
    assert listed(capsys, place, "--where", "net.rate>1 Mbps") == ["mine"]
    assert cli.main(["results", "list", "--store", str(place)]) == 0
    assert "2 of them are of commands such as evaluate" in capsys.readouterr().out


def test_a_figure_of_a_store_is_of_the_users_sweep(place):
    assert stored_result(Store(place)).sweep.name == "mine"
    assert stored_result(Store(place), "ackclock evaluate: theirs").sweep.name.endswith("theirs")


def test_cleaning_by_a_filter_takes_what_a_list_with_it_shows(place, capsys):
    command = ["results", "gc", "--json", "--dry-run", "--store", str(place)]

    def count(*more):
        capsys.readouterr()
        assert cli.main([*command, *more]) == 0
        return json.loads(capsys.readouterr().out)["runs"]

    assert count("--where", "net.rate<9 Mbps") == 2
    assert count("--where", "net.rate<9 Mbps", "--all") == 4
    assert count("--older-than", "0") == 4


def test_hidden_runs_are_not_done_again(place):
    small = ac.load(SMALL).replace(duration="3 s", record=None)
    again = ac.sweep(small, {"net.rate": ["3 Mbps", "4 Mbps"]}).run(store=place, progress=False)
    assert again.stored == 2
