"""Studies of controls take guests: `guest:COMMAND` in the place of a control's name."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import ackclock
from ackclock.catalogue.guest_programs import guest_of
from ackclock.cli.main import main
from ackclock.dossier.bind import read_control
from ackclock.errors import AckclockError, ScenarioError
from ackclock.studies.conform import Conformance, conform
from ackclock.studies.conform.judge import FAIL, PASS, UNDECIDED
from ackclock.studies.conform.ranges import conform_over_ranges
from ackclock.studies.differ.differ import differ

RENO = Path(__file__).parents[2] / "examples/guests/python/reno.py"
GUEST = f"guest:{sys.executable} {RENO}"
NET = {"kind": "dumbbell", "pairs": 1, "rate": "2 Mbps", "rtt": "40 ms", "buffer": "20 pkt"}


def scenario(**flow: object) -> ackclock.Scenario:
    """One flow for two seconds."""
    document = {"net": NET, "flows": [{"pair": 0, **flow}], "duration": "2 s", "seed": 1}
    return ackclock.Scenario.from_data(document)


def test_a_guest_in_the_place_of_a_control_is_the_guest_of_its_flow() -> None:
    command = [sys.executable, str(RENO)]
    by_key = scenario(guest={"command": command}).run().summary["digest"]
    by_name = scenario(cc=GUEST, recovery="rack").run().summary["digest"]
    by_table = scenario(cc={"kind": "guest", "command": command}).run().summary["digest"]
    assert by_key == by_name == by_table


def test_a_control_takes_the_place_of_a_guest_that_was_in_one() -> None:
    changed = scenario(cc=GUEST, recovery="rack").replace(**{"flows[0].cc": "cubic"})
    assert changed.run().summary["flows"][0]["cc"] == "cubic"
    assert changed.data["flows"][0]["recovery"] == "rack"


@pytest.mark.parametrize(
    ("control", "name"),
    [
        ("guest:target/guests/quiche bbr2_gcongestion", "quiche bbr2_gcongestion"),
        ("guest:venv/bin/python examples/guests/aioquic/guest.py reno", "aioquic reno"),
        ("guest:python3", "python3"),
        ({"kind": "guest", "command": ["a/b", "c"], "name": "mine"}, "mine"),
    ],
)
def test_a_guest_has_the_name_of_its_program_and_arguments(control: object, name: str) -> None:
    guest = guest_of(control)
    assert guest is not None
    assert guest["name"] == name


def test_other_controls_are_no_guests() -> None:
    assert guest_of("bbr3") is None
    assert guest_of({"kind": "bbr3"}) is None


def test_a_command_without_its_last_quotation_mark_is_a_sentence() -> None:
    with pytest.raises(ScenarioError, match=r"flows\[0\]\.cc: guest:'a: No closing quotation"):
        scenario(cc="guest:'a")
    with pytest.raises(AckclockError, match="No closing quotation"):
        conform("bbr", "guest:'a")


@pytest.fixture(scope="module")
def reno() -> Conformance:
    """What two cases of the suite for guests say of a Reno."""
    return conform("bbr", GUEST, cases=["4", "10"])


def test_a_guest_is_put_through_the_suite_of_packets_beside_ours(reno: Conformance) -> None:
    assert (reno.suite, reno.beside) == ("bbr-packets", "bbr3")
    rows = {(row.case, row.step): row for row in reno.rows}
    assert all(row.ours for row in rows.values())
    # A Reno fills the buffer of 50 packets until it loses; BBR has 4 in flight, or a few more.
    queue = rows["4", 3]
    assert queue.verdict == FAIL
    assert isinstance(queue.value, float)
    assert 12 < queue.value <= 52
    assert queue.packet is not None
    assert queue.since_s is not None
    assert 20 < queue.since_s < 40
    assert f"packet {queue.packet:,}" in queue.sentence
    assert "beyond MinPipeCwnd" in queue.sentence
    assert rows["10", 1].verdict == PASS


def test_what_ours_fails_too_is_undecided(reno: Conformance) -> None:
    beside = conform("bbr", GUEST, cases=["4"], beside="aimd")
    verdicts = {row.step: row.verdict for row in beside.rows}
    assert verdicts[3] == UNDECIDED
    assert FAIL not in verdicts.values()
    assert beside.passed
    assert beside.verdicts() == {"4": UNDECIDED}
    assert not reno.passed


@pytest.mark.slow
def test_the_suite_of_packets_passes_ours_of_version_3_and_not_of_version_1() -> None:
    assert conform("bbr-packets", "bbr3").passed
    failed = {row.case for row in conform("bbr-packets", "bbr").rows if row.verdict == FAIL}
    # Its window in Startup is 2.89 BDP, its ProbeRTT comes each 10 s, and losses bound nothing.
    assert failed == {"1", "3", "7"}


def test_ranges_are_of_controls_and_of_no_guest() -> None:
    with pytest.raises(ScenarioError, match="ranges: are measured in segments of TCP"):
        conform_over_ranges("bbr", GUEST)


def test_differ_says_where_the_windows_of_a_guest_part_from_ours() -> None:
    found = differ(scenario(transport="quic", cc="reno"), [GUEST])
    (peer,) = found.peers
    assert peer.release == "reno.py"
    assert next(row.controls for row in peer.rows) == ("reno", "reno.py")
    goodput = next(row for row in peer.rows if row.quantity == "goodput_mbps")
    assert goodput.there[0] == pytest.approx(goodput.here[0], rel=0.1)
    assert peer.partings["f0"].packet is not None


def test_differ_puts_a_guest_in_the_place_of_flows_with_the_first_control_alone() -> None:
    document = scenario(transport="quic", cc="reno").data
    flows = [{"pair": 0, "transport": "quic", "cc": cc} for cc in ("reno", "cubic", "reno")]
    several = ackclock.Scenario.from_data({**document, "flows": flows})
    (peer,) = differ(several, [GUEST]).peers
    assert set(peer.partings) == {"f0", "f2"}


def test_a_dossier_takes_a_guest_as_its_control() -> None:
    control = read_control(GUEST, Path())
    assert control.label == "reno.py"
    assert control.is_guest
    assert control.settings == {}


@pytest.mark.parametrize("command", [["conform", "bbr"], ["dossier"], ["differ", "FILE"]])
def test_no_guest_is_started_where_code_may_not_run(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "one.toml"
    file.write_text(scenario(transport="quic", cc="reno").to_toml(), encoding="utf-8")
    words = [str(file) if word == "FILE" else word for word in command]
    guest = ["--against", GUEST] if "differ" in command else [GUEST]
    assert main(["--no-code", *words, *guest]) == 2
    assert "is a program, which was not run: --no-code was given" in capsys.readouterr().err


def test_the_command_prints_ours_beside_and_what_is_not_seen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["conform", "bbr", GUEST, "--case", "4", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["beside"] == "bbr3"
    assert {"since_s", "packet", "advice", "ours"} <= set(found["checks"][0])
    assert main(["conform", "bbr", GUEST, "--case", "4"]) == 1
    shown = capsys.readouterr().out
    assert "Not seen: the states and their order" in shown
    assert "Ours: bbr3 over our QUIC" in shown
