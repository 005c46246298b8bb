"""Each constant of the BBR draft that ``bbr3`` has as a parameter fails a case if it changes."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from ackclock.studies.conform import conform

PAGE = Path(__file__).parents[2] / "docs/howto/conform.md"


class Constant(NamedTuple):
    """A constant of the draft, its changed values as a table has them, the cases that name it."""

    name: str
    parameter: str
    value: str
    changed: tuple[str, str]
    cases: tuple[str, ...]


def ms(value: int) -> str:
    return f'"{value} ms"'


CONSTANTS = (
    Constant("StartupPacingGain", "startup_pacing_gain", "2.77", ("2.493", "3.047"), ("1", "12")),
    Constant("DrainPacingGain", "drain_pacing_gain", "0.5", ("0.45", "0.55"), ("3",)),
    Constant(
        "pacing gain of ProbeBW_UP", "probe_up_pacing_gain", "1.25", ("1.125", "1.375"), ("5",)
    ),
    Constant("ProbeDownPacingGain", "probe_down_pacing_gain", "0.9", ("0.81", "0.99"), ("8",)),
    Constant("DefaultCwndGain", "cwnd_gain", "2", ("1.8", "2.2"), ("1", "13")),
    Constant(
        "cwnd gain of ProbeBW_UP",
        "probe_up_cwnd_gain",
        "2.25",
        ("2.025", "2.475"),
        ("5", "7b", "15"),
    ),
    Constant("ProbeRTTCwndGain", "probe_rtt_cwnd_gain", "0.5", ("0.45", "0.55"), ("10",)),
    Constant("LossThresh", "loss_thresh", "0.02", ("0.018", "0.022"), ("6b", "6c")),
    Constant("Beta", "beta", "0.7", ("0.63", "0.77"), ("16", "17")),
    Constant("Headroom", "headroom", "0.15", ("0.135", "0.165"), ("8",)),
    Constant(
        "PacingMarginPercent / 100", "pacing_margin", "0.01", ("0.009", "0.011"), ("1", "5", "12")
    ),
    Constant("BBRStartupFullLossCnt", "startup_full_loss_count", "6", ("5", "7"), ("2", "2b")),
    Constant("MinRTTFilterLen", "min_rtt_filter_len", "10 s", (ms(9000), ms(11000)), ("10b",)),
    Constant("ProbeRTTInterval", "probe_rtt_interval", "5 s", (ms(4500), ms(5500)), ("10",)),
    Constant("ProbeRTTDuration", "probe_rtt_duration", "200 ms", (ms(180), ms(220)), ("10",)),
)
# Of these two cases each holds the constant on one side only.
ONE_SIDE = {"loss_thresh": ("6b", "6c"), "startup_full_loss_count": ("2b", "2")}


def failed(constant: Constant, value: str) -> list[str]:
    control = f'{{kind = "bbr3", {constant.parameter} = {value}}}'
    found = conform("bbr", control, cases=constant.cases, workers=1)
    return sorted(case for case, verdict in found.verdicts().items() if verdict == "fail")


def expected(constant: Constant, side: int) -> list[str]:
    alone = ONE_SIDE.get(constant.parameter)
    return [alone[side]] if alone else sorted(constant.cases)


@pytest.mark.slow
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("constant", CONSTANTS, ids=lambda c: c.parameter)
def test_a_constant_changed_by_a_tenth_fails_every_case_that_names_it(
    constant: Constant, side: int
) -> None:
    assert failed(constant, constant.changed[side]) == expected(constant, side)


def test_a_smallest_change_of_each_kind_is_noticed() -> None:
    beta, margin = CONSTANTS[8], CONSTANTS[10]
    assert failed(margin._replace(cases=("1",)), "0.011") == ["1"]
    assert failed(beta._replace(cases=("17",)), "0.77") == ["17"]


def test_the_page_has_this_table() -> None:
    rows = [f"| {c.name} | {c.value} | {', '.join(c.cases)} |" for c in CONSTANTS]
    assert "\n".join(rows) in PAGE.read_text(encoding="utf-8")
