"""What the planner states and writes: loaded again, a file gives what was stated."""

from __future__ import annotations

import csv
import json
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ackclock.cli import main as cli
from ackclock.cli.main import main
from ackclock.errors import ScenarioError
from ackclock.studies.planner.failures import failure_from_names, survey
from ackclock.studies.planner.situation import costs, read_situation
from ackclock.studies.planner.weights import search

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ["a", "b - c", "d, e", 'f "g"', "h->i", "j"]
"""What separates names elsewhere."""


def write(path: Path, head: str, rows: list[list[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head.split(","), *rows])
    return path


def network(folder: Path, seed: int, *, digits: bool = True) -> tuple[Path, Path]:
    """A ring with chords, capacities and weights of many digits that differ by direction."""
    draw = random.Random(seed)
    ends = [(i, (i + 1) % len(NAMES)) for i in range(len(NAMES))] + [(0, 3), (1, 4)]
    links = []
    for a, b in ends:
        capacity = [draw.uniform(1e9, 4e10) for _ in range(2)]
        weight = [draw.uniform(1, 4) if digits else draw.randint(1, 4) for _ in range(2)]
        links.append([NAMES[a], NAMES[b], *capacity, *weight, "x;y" if a == 0 else ""])
    head = "source,target,capacity_bps,back_capacity_bps,weight,back_weight,srlg"
    demands = [
        [a, b, draw.uniform(1e8, 3e9)]
        for a in NAMES
        for b in NAMES
        if a != b and draw.random() < 0.7
    ]
    return (
        write(folder / "links.csv", head, links),
        write(folder / "demands.csv", "source,target,demand_bps", demands),
    )


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    capsys.readouterr()
    assert cli.main(["plan", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.parametrize("tries", [1, 300])
@pytest.mark.parametrize("seed", range(4))
def test_weights_that_were_written_give_what_was_stated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int, tries: int
) -> None:
    links, demands = network(tmp_path, seed)
    stated = answer(
        capsys, "weights", links, "--demands", demands, "--tries", tries, "--out", tmp_path / "out"
    )
    written = tmp_path / "out" / "weights.csv"
    before, after = (read_situation(file, demands=demands) for file in (links, written))
    assert float(after.utilisation.max()) == stated["utilisation"]
    assert after.network.graph.nodes == before.network.graph.nodes
    assert (after.capacity == before.capacity).all()
    assert after.network.risk_groups == before.network.risk_groups
    assert stated["utilisation"] <= min(stated["baselines"].values())


def test_weights_that_differ_by_direction_are_kept(tmp_path: Path) -> None:
    """The given weights are the best here: no try may lower them."""
    links, demands = network(tmp_path, 5)
    situation = read_situation(links, demands=demands)
    found = search(situation, tries=1)
    rows = found.to_data()["weights"]
    assert [row["weight"] for row in rows] == found.cost[::2].tolist()
    assert [row["back_weight"] for row in rows] == found.cost[1::2].tolist()
    names = {name for name, _, _ in found.list_changes()}
    for i in np.flatnonzero(found.cost != situation.cost):
        assert names & {situation.direction(int(i)), situation.link(int(i) // 2)}


def test_a_series_that_was_written_has_what_was_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    links, demands = network(tmp_path, 3)
    stated = answer(
        capsys, "sample", links, "--demands", demands, "--sizes", '{kind="fixed", mean="7 MB"}',
        "--bins", 5, "--bin", "0.3 s", "--series", tmp_path / "series.csv",
    )  # fmt: skip
    again = read_situation(links, demands=tmp_path / "series.csv")
    names = [again.pair(i) for i in range(len(again.demands.source))]
    means = dict(zip(names, again.demands.volume.mean(axis=0).tolist(), strict=True))
    of = {row["pair"]: row["mean_bps"] for row in stated["demands"] if row["mean_bps"]}
    assert means == pytest.approx(of, rel=1e-15)


def test_inverse_capacities_are_of_the_largest_link_or_as_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By hand: 40, 10 and 9 Gbit/s; the largest over each is 1, 4 and 4.44."""
    links = write(
        tmp_path / "links.csv", "source,target,capacity_bps",
        [["a", "b", 40e9], ["b", "c", 10e9], ["a", "c", 9e9]],
    )  # fmt: skip
    demands = write(tmp_path / "d.csv", "source,target,demand_bps", [["a", "c", 1e9]])
    of = read_situation(links, demands=demands).network
    assert costs(of, "inverse-capacity")[::2].tolist() == [1, 4, 4]
    assert costs(of, "inverse-capacity", 100e9)[::2].tolist() == [2, 10, 11]
    assert costs(of, "inverse-capacity", 1e8)[::2].tolist() == [1, 1, 1]
    # 2 + 10 by b is more than 11.
    command = ["load", links, "--demands", demands, "--metric", "inverse-capacity"]
    direct = answer(capsys, *command, "--reference-bandwidth", "100 Gbps")
    assert {row["link"] for row in direct["links"] if row["mean"]} == {"a->c"}
    capsys.readouterr()
    assert cli.main(["plan", *map(str, command)]) == 0
    assert "a link costs 40 Gbit/s over its capacity" in capsys.readouterr().out
    for wrong in ("0", "-1 Gbps", "fast", "inf"):
        assert cli.main(["plan", *map(str, command), "--reference-bandwidth", wrong]) == 2
        assert "expected a rate above 0, such as 100 Gbps" in capsys.readouterr().err


def test_demand_of_a_node_that_fails_is_shown_as_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    links, _ = network(tmp_path, 1, digits=False)
    demands = write(
        tmp_path / "d.csv", "source,target,demand_bps", [["a", "j", 3e8], ["j", "a", 2e8]]
    )
    command = ["failures", links, "--demands", demands, "--of", "nodes"]
    worst = {row["failed"]: row for row in answer(capsys, *command)["worst"]}
    assert (worst["j"]["own_bps"], worst["a"]["own_bps"]) == (5e8, 5e8)
    assert sum(row["own_bps"] for row in worst.values()) == 1e9
    capsys.readouterr()
    assert cli.main(["plan", *map(str, command)]) == 0
    said = capsys.readouterr().out
    assert "every demand can be met" not in said
    assert "every other demand can be met after each failure" in said
    assert "goes most, 500 Mbit/s" in said
    assert "own demand" in said
    assert cli.main(["plan", *map(str, command[:-1]), "links"]) == 0
    said = capsys.readouterr().out
    assert "own demand" not in said
    assert "every demand can be met after each failure" in said


def test_links_between_nodes_of_any_names_can_fail(tmp_path: Path) -> None:
    links, demands = network(tmp_path, 2)
    situation = read_situation(links, demands=demands)
    graph = situation.network.graph
    for row in range(situation.links):
        a, b = graph.nodes[graph.src[2 * row]], graph.nodes[graph.dst[2 * row]]
        for name in (f"{a} - {b}", f"{b} - {a}", f"{a}->{b}"):
            assert set(failure_from_names(situation, [name]).links) == {2 * row, 2 * row + 1}


def test_a_name_of_two_links_is_refused(tmp_path: Path) -> None:
    links = write(
        tmp_path / "l.csv", "source,target,capacity_bps",
        [["a", "b - c", 1e9], ["a - b", "c", 1e9], ["a", "c", 1e9]],
    )  # fmt: skip
    demands = write(tmp_path / "d.csv", "source,target,demand_bps", [["a", "c", 1e8]])
    situation = read_situation(links, demands=demands)
    with pytest.raises(ScenarioError, match='"a - b - c" names several links'):
        failure_from_names(situation, ["a - b - c"])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_fluid_survey_takes_the_paths_of_the_planner(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    """Weights of many digits leave no equal paths; demands are small, so all of them arrive."""
    links, demands = network(tmp_path, seed)
    loads = {
        row["link"]: row["mean"]
        for row in answer(capsys, "load", links, "--demands", demands, "--scale", 0.01)["links"]
    }
    out = tmp_path / "out"
    command = ["fluid", str(links), "--demands", str(demands), "--scale", "0.01", "--out", str(out)]
    assert cli.main(command) == 0
    assert "routed by weight" in capsys.readouterr().out
    with (out / "links.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["sender"] == "naive"]
    ends = {f"{row['src']}->{row['dst']}": float(row["utilisation"]) for row in rows}
    assert ends == pytest.approx(loads, rel=1e-9, abs=1e-12)


def test_parts_of_an_analysis_that_were_changed_are_computed_again(tmp_path: Path) -> None:
    links, demands = network(tmp_path, 4)
    situation = read_situation(links, demands=demands)
    whole = survey(situation, "links").to_data()
    folder = tmp_path / "parts"

    class StopError(Exception):
        pass

    def stop(done: float) -> None:
        if done >= 0.7:
            raise StopError

    memory = 8 * len(situation.capacity) * 2
    with pytest.raises(StopError):
        survey(situation, "links", memory=memory, resume=folder, progress=stop)
    kept = {file: file.read_bytes() for file in folder.iterdir()}
    assert len(kept) >= 2
    draw = random.Random(9)
    for _ in range(12):
        for file, content in kept.items():
            at = draw.randrange(len(content))
            flipped = (
                content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :]
            )
            folder.mkdir(exist_ok=True)
            file.write_bytes(draw.choice([flipped, content[:at], b""]))
        assert survey(situation, "links", memory=memory, resume=folder).to_data() == whole
    folder.mkdir(exist_ok=True)
    (folder / "x.part").symlink_to("/etc/hostname")
    with pytest.raises(ScenarioError, match="it is a link"):
        survey(situation, "links", memory=memory, resume=folder)


def test_the_current_folder_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "germany"
    folder.mkdir()
    (folder / "edges.csv").write_text("source,target,capacity_bps\na,b,1e9\n")
    (folder / "demands.csv").write_text("source,target,demand_bps\na,b,1e6\n")
    monkeypatch.chdir(folder)
    for place in (".", str(folder), "../germany"):
        assert main(["plan", "load", place, "--demands", "demands.csv"]) == 0
        assert capsys.readouterr().out.startswith("germany: 2 nodes")
