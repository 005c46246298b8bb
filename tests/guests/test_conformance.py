"""The command that tries the protocol on a program."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ackclock.cli.main import main
from ackclock.studies.guests import check_guest, conformance, driver

HERE = Path(__file__).parent
TEMPLATE = HERE.parents[1] / "examples/guests/python/reno.py"

CLOCK = """
import sys, time
sys.path.insert(0, {folder!r})
import ackclock_guest, reno

class Late(reno.Reno):
    def packet(self, now, mark, datagram):
        answer = super().packet(now, mark, datagram)
        if self.flow.is_client:
            answer.deadline = now + 10_000_000 + time.monotonic_ns() % 1_000_000
        return answer
    def time(self, now):
        return self._answer([(0, self._padded(b"S"))])

ackclock_guest.serve(Late, "late")
"""


def test_the_template_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-guest", sys.executable, str(TEMPLATE)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 8
    assert all(line.startswith("ok") for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("version", "answers HELLO"),
        ("past", "transfers data, and"),
        ("sequence", "transfers data, and"),
        ("delivers-too-much", "transfers data, and"),
        ("complete", "transfers data, and"),
        ("crash", "transfers data, and"),
    ],
)
def test_what_breaks_a_rule_is_reported(rule: str, broken: str) -> None:
    checks = check_guest([sys.executable, str(HERE / "misbehaving.py"), rule], patience_s=20)
    failed = [check for check in checks if not check.ok]
    assert len(failed) == 1
    assert failed[0].rule.startswith(broken)


def test_a_guest_that_does_nothing_but_wait_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "MOST_TIMERS", 500)
    checks = check_guest([sys.executable, str(HERE / "misbehaving.py"), "hasty"], patience_s=20)
    (failed,) = [check for check in checks if not check.ok]
    assert failed.what == "it set 500 deadlines up to 500000 ns, and nothing was under way"


def test_a_guest_that_reads_the_clock_is_reported(tmp_path: Path) -> None:
    program = tmp_path / "late.py"
    program.write_text(CLOCK.format(folder=str(TEMPLATE.parent)))
    checks = {check.rule: check for check in check_guest([sys.executable, str(program)])}
    assert not checks["does the same when it is kept waiting"].ok


def test_no_program_is_tried_where_none_may_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--no-code", "check-guest", sys.executable, str(TEMPLATE)]) == 2
    assert "which was not run: --no-code was given" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("again", "what"),
    [
        (driver.GuestTransfer(90, 200, [(1, 0, 50), (2, 1, 30)]), None),
        (
            driver.GuestTransfer(91, 200, [(1, 0, 50), (2, 1, 30)]),
            "its client reported the end at 90 ns, then at 91 ns",
        ),
        (driver.GuestTransfer(90, 200, [(1, 0, 50)]), "it sent 2 datagrams, then 1"),
        (
            driver.GuestTransfer(90, 200, [(1, 0, 50), (2, 1, 31)]),
            "datagram 1 was 30 bytes of the server at 2 ns, then 31 bytes of the server at 2 ns",
        ),
    ],
)
def test_a_second_run_is_the_same_in_each_datagram_and_its_end(
    again: driver.GuestTransfer, what: str | None
) -> None:
    program = SimpleNamespace(transfer=lambda path, pause_s: again)
    first = [driver.GuestTransfer(90, 200, [(1, 0, 50), (2, 1, 30)])]
    if what is None:
        assert "2 datagrams" in conformance._repeats(program, first, 0.0)
    else:
        with pytest.raises(driver.BrokenRuleError, match=what):
            conformance._repeats(program, first, 0.0)
