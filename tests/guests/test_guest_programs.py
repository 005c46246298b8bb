"""How the programs of guests are found, named and started, without starting one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ackclock.catalogue.guest_programs import (
    MOST_FLOWS,
    check_guests,
    hire,
    list_guests,
    name_everywhere,
    without_guests,
)
from ackclock.errors import ScenarioError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A program and two files that it reads."""
    program = tmp_path / "run"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "first").write_text("1")
    (tmp_path / "second").write_text("2")
    return tmp_path


def scenario(*command: str, count: int = 1) -> dict[str, Any]:
    """So many flows of a guest."""
    return {"flows": [{"pair": 0, "guest": {"command": list(command)}} for _ in range(count)]}


def code_of(folder: Path, *command: str) -> str:
    """The hash of a guest's files."""
    data = scenario(*command)
    check_guests(data, folder)
    return str(data["flows"][0]["guest"]["code"])


def test_files_in_other_places_are_another_program(folder: Path) -> None:
    code = code_of(folder, "./run", "first", "second")
    assert code == code_of(folder, "./run", "first", "second")
    assert code != code_of(folder, "./run", "second", "first")
    assert code != code_of(folder, "./run", "--first", "first", "second")


def test_so_many_flows_of_guests_and_no_more(folder: Path) -> None:
    check_guests(scenario("./run", count=MOST_FLOWS), folder)
    with pytest.raises(ScenarioError, match="has 257 flows of guests, expected at most 256"):
        check_guests(scenario("./run", count=MOST_FLOWS + 1), folder)


def test_files_are_found_from_anywhere(folder: Path) -> None:
    data = scenario("./run", "first", "--second", "second")
    named = name_everywhere(data, folder)["flows"][0]["guest"]["command"]
    assert named == [str(folder / "run"), str(folder / "first"), "--second", str(folder / "second")]
    assert data == scenario("./run", "first", "--second", "second")
    # A program that the system finds is left to it, whatever file has its name.
    (folder / "sh").write_text("")
    named = name_everywhere(scenario("sh", "first"), folder)["flows"][0]["guest"]["command"]
    assert named == ["sh", str(folder / "first")]


def test_flows_of_generators_have_guests_too(folder: Path) -> None:
    guest = {"command": ["./run"]}
    data = {"traffic": [{"generator": "poisson", "flow": {"pair": 0, "guest": guest}}]}
    assert [path for path, _ in list_guests(data)] == ["traffic[0].flow.guest"]
    left, commands = without_guests(data | scenario("./run", count=2))
    assert commands == ["./run"]
    assert left["traffic"][0]["flow"] == {"pair": 0, "transport": "quic"}
    assert left["flows"] == 2 * [{"pair": 0, "transport": "quic"}]


@pytest.mark.parametrize("seed", [0, 2**32 - 1, 2**32 + 5])
def test_a_seed_of_any_size_is_one_that_python_takes(seed: int, folder: Path) -> None:
    """PYTHONHASHSEED is at most 4294967295."""
    hired = hire({"command": ["./run", "first"]}, folder, seed)
    assert int(dict(hired.environment)["PYTHONHASHSEED"]) == seed % 2**32
    assert hired.command == [str(folder / "run"), "first"]
