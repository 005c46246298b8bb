"""A result that no network can bring about is a fault of the engine: exit code 70."""

from pathlib import Path

import pytest

import ackclock as ac
from ackclock import _core
from ackclock.cli.main import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "red-ecn.toml"


def broken(*_args, **_kwargs):
    raise _core.EngineFault(
        "impossible result: link narrow: utilisation is 1.5, outside of [0, 1]; this is a fault of"
        " ackclock: please report it to the project"
    )


def test_an_impossible_result_is_reported_once_with_a_request_to_report_it(monkeypatch, capsys):
    monkeypatch.setattr(_core, "run", broken)
    assert main(["run", str(EXAMPLE)]) == 70
    found = capsys.readouterr().err
    assert found.startswith("impossible result: link narrow: utilisation is 1.5"), found
    assert found.count("please report it") == 1
    with pytest.raises(RuntimeError, match="please report it"):
        ac.load(EXAMPLE).run()
