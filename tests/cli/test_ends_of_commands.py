"""How a command ends, by what was raised in it."""

import click
import pytest

from ackclock.cli import main as module


def end(monkeypatch, outcome):
    def run(*words, **options):
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    monkeypatch.setattr(module.cli, "main", run)
    return module.main([])


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (None, 0), (1, 1), ("text", 0), (SystemExit(3), 3), (SystemExit("x"), module.EXIT_INTERNAL),
        # Who reads closes the pipe when there is enough.
        (BrokenPipeError(), 0),
        (click.UsageError("wrong"), module.EXIT_INPUT),
    ],
)  # fmt: skip
def test_a_command_ends_by_its_result_or_what_was_raised(monkeypatch, capsys, outcome, code):
    assert end(monkeypatch, outcome) == code
    assert ("wrong" in capsys.readouterr().err) == (code == module.EXIT_INPUT)


def test_an_interrupted_command_says_what_is_kept(monkeypatch, capsys):
    assert end(monkeypatch, KeyboardInterrupt("3 runs are kept")) == module.EXIT_INTERRUPTED
    assert capsys.readouterr().err == "interrupted; 3 runs are kept\n"
    assert end(monkeypatch, click.Abort()) == module.EXIT_INTERRUPTED
    assert capsys.readouterr().err == "interrupted; what had finished is kept\n"
