"""Conformance suites: staging of events, judging of checks, what the BBR suite says of controls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from ackclock.cli.main import main
from ackclock.errors import AckclockError, ScenarioError
from ackclock.studies.conform import conform, find_suite
from ackclock.studies.conform.judge import FAIL, INEXPRESSIBLE, PASS, meets
from ackclock.studies.conform.stages import fill, merge

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.studies.conform.run import Conformance

SUITE = """
title = "Two states"
source = "this test"
states = { startup = "first" }
probes = { max_bw_bps = "estimate" }

[scenario]
duration = "2 s"
net = { kind = "dumbbell", pairs = 1, rate = "10 Mbps", rtt = "40 ms", buffer = "4 bdp" }
flows = [{ pair = 0, recovery = "rack" }]
"""

CASE = """
title = "Losses that follow an event"

[[when]]
event = "cruise"
state = "probe-bw-cruise"
lose = { link = "r0->r1", at = "{cruise + 0.1}", every = 10, count = 3 }

[[check]]
step = 1
text = "packets lost"
value = "SELECT count(*) AS value FROM drops WHERE time_s > event('cruise') + 0.1"
is = 3
"""


def write_suite(folder: Path, case: str = CASE, head: str = SUITE) -> str:
    (folder / "cases").mkdir(parents=True)
    (folder / "suite.toml").write_text(head, encoding="utf-8")
    (folder / "cases" / "01-first.toml").write_text(case, encoding="utf-8")
    return str(folder)


def problems(folder: str) -> list[tuple[str, str]]:
    with pytest.raises(ScenarioError) as caught:
        find_suite(folder)
    return [(p.path, p.message) for p in caught.value.problems]


def test_times_of_events_are_written_into_text_wherever_it_is() -> None:
    events = {"up": 3.25, "down": 4.0}
    data = {"steps": [{"at": "{up}"}, {"at": "{down - 0.5}"}], "rate": "5 Mbps", "n": 3}
    assert fill(data, events) == {
        "steps": [{"at": "3.250000000000 s"}, {"at": "3.500000000000 s"}],
        "rate": "5 Mbps",
        "n": 3,
    }
    with pytest.raises(ScenarioError, match='no event "ups" by then; did you mean "up"'):
        fill("{ups + 1}", events)


def test_a_case_goes_over_the_suite_key_by_key() -> None:
    base = {"net": {"rate": 1, "rtt": 2}, "flows": [{"id": "a", "pair": 0}]}
    over = {"net": {"rate": 3}, "flows": [{"app": 4}], "duration": 5}
    assert merge(base, over) == {
        "net": {"rate": 3, "rtt": 2},
        "flows": [{"id": "a", "pair": 0, "app": 4}],
        "duration": 5,
    }


@pytest.mark.parametrize(
    ("goal", "inside", "outside"),
    [
        ({"between": [1, 2]}, [1.0, 2.0], [0.999, 2.001]),
        ({"equals": 100, "tolerance": "2 %"}, [98.0, 102.0], [97.9, 102.1]),
        ({"at_least": 3}, [3.0], [2.9]),
        ({"at_most": 3}, [3.0], [3.1]),
        ({"above": 3}, [3.1], [3.0]),
        ({"below": 3}, [2.9], [3.0]),
        ({"is": 1}, [1.0], [0.0, "1"]),
        ({"is": ["drain", "startup"]}, ["drain", "startup"], ["probe-rtt", 1.0]),
    ],
)
def test_a_goal_is_met_inside_of_its_bounds_only(
    goal: dict[str, Any], inside: list[Any], outside: list[Any]
) -> None:
    assert all(meets(goal, value) for value in inside)
    assert not any(meets(goal, value) for value in outside)


def test_packets_are_lost_when_the_event_is_and_it_stays_where_it_was(tmp_path: Path) -> None:
    found = conform(write_suite(tmp_path / "own"), "bbr3")
    assert [(row.verdict, row.value) for row in found.rows] == [(PASS, 3.0)]


def test_a_change_that_acts_before_its_event_is_an_error(tmp_path: Path) -> None:
    early = CASE.replace(
        'lose = { link = "r0->r1", at = "{cruise + 0.1}", every = 10, count = 3 }',
        'set = { "net.schedule" = { steps = [{ at = "{cruise - 0.3}", rate = "5 Mbps" }] } }',
    )
    with pytest.raises(AckclockError, match='the event "cruise" was at'):
        conform(write_suite(tmp_path / "own", early), "bbr3")


def test_everything_wrong_in_a_suite_is_reported_with_its_place(tmp_path: Path) -> None:
    wrong = (
        CASE.replace("is = 3", "is = 3\nat_most = 4")
        .replace('text = "packets lost"', 'texte = "packets lost"')
        .replace("count = 3", "count = 0")
        .replace('event = "cruise"', 'event = "cruise"\nafter = "crouse"')
    )
    found = dict(problems(write_suite(tmp_path / "own", wrong)))
    assert found["check[0].text"] == "is missing; expected text"
    assert found["check[0].texte"] == 'is not known; did you mean "text"?'
    assert found["check[0]"].startswith("says ['at_most', 'is'] of what must be")
    assert found["when[0].lose.count"] == "is 0; expected a whole number from 1"
    assert found["when[0].after"].startswith('there is no earlier event "crouse"')
    with pytest.raises(ScenarioError, match=r'no suite "bbrr".*did you mean "bbr"'):
        find_suite("bbrr")


def test_an_event_may_be_the_entry_into_one_of_several_states(tmp_path: Path) -> None:
    either = CASE.replace('state = "probe-bw-cruise"', 'state = ["probe-rtt", "probe-bw-cruise"]')
    assert conform(write_suite(tmp_path / "own", either), "bbr3").passed
    none = CASE.replace('state = "probe-bw-cruise"', "state = []")
    assert problems(write_suite(tmp_path / "none", none)) == [
        ("when[0].state", "is []; expected text or a list of text")
    ]


def test_a_case_without_checks_says_why(tmp_path: Path) -> None:
    bare = 'title = "Nothing"\ninexpressible = "needs a wormhole"\n'
    found = conform(write_suite(tmp_path / "own", bare), "bbr3")
    assert [(row.verdict, row.why) for row in found.rows] == [(INEXPRESSIBLE, "needs a wormhole")]
    assert found.passed
    empty = write_suite(tmp_path / "empty", 'title = "Nothing"\n')
    assert problems(empty)[0][0] == "check"


def test_a_query_that_is_wrong_names_its_file_and_step(tmp_path: Path) -> None:
    wrong = CASE.replace("FROM drops", "FROM drop_s")
    with pytest.raises(AckclockError, match=r"01-first.toml: step 1: .*drop_s"):
        conform(write_suite(tmp_path / "own", wrong), "bbr3")


def test_a_control_that_records_no_states_of_bbr_fails_and_the_reason_is_said() -> None:
    found = conform("bbr", "aimd", cases=["3", "10"])
    assert set(found.verdicts().values()) == {FAIL}
    said = {"never in drain", "never in probe-rtt", "no min_rtt_s"}
    assert {row.measured for row in found.rows} == said


MINE = '''
import ackclock as ac


@ac.control(slow_start=False)
class Claims:
    """Reno that claims to be BBR: it says the names, and has none of the behaviour."""

    def __post_init__(self):
        self.seen = 0

    def on_ack(self, window, ack):
        self.seen += ack.acked
        window.cwnd += ack.acked / window.cwnd

    def on_congestion(self, window, event):
        window.cwnd = event.in_use / 2

    def phase(self):
        return "startup" if self.seen < 300 else "drain" if self.seen < 400 else "probe-bw-cruise"

    def probes(self):
        return {"pacing_gain": 0.5, "inflight": 10.0, "bdp_inflight": 20.0, "round_count": 1.0}
'''


def test_a_reno_that_claims_to_be_bbr_in_a_file_of_the_users_fails(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    found = conform("bbr", "mine.py:Claims", cases=["3", "10"], folder=tmp_path)
    verdicts = {(row.case, row.step, row.text): row.verdict for row in found.rows}
    assert verdicts["3", 1, "the state before DRAIN"] == PASS, "its states are recorded"
    assert verdicts["3", 2, "pacing_gain"] == PASS, "and its probes"
    least = "least of inflight - Inflight(1.0) before the end of DRAIN"
    assert verdicts["3", 3, least] == FAIL
    assert found.verdicts() == {"3": FAIL, "10": FAIL, "10b": FAIL}


def test_a_bbr_whose_probe_rtt_is_cut_short_fails_that_case_alone() -> None:
    hasty = '{kind = "bbr3", probe_rtt_duration = "20 ms"}'
    found = conform("bbr", hasty, cases=["1", "10"])
    assert found.verdicts() == {"1": PASS, "10": FAIL, "10b": PASS}
    failed = [(row.step, row.text) for row in found.rows if row.verdict == FAIL]
    assert (4, "time in PROBE_RTT") in failed


def cases_that_pass(found: Conformance) -> list[str]:
    return [case for case, verdict in found.verdicts().items() if verdict == PASS]


def test_bbr3_passes_cases_of_each_kind() -> None:
    found = conform("bbr", "bbr3", cases=["1", "4b", "18"])
    assert cases_that_pass(found) == ["1", "4b", "18"], str(found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_bbr3_passes_all_cases_of_the_draft(seed: int) -> None:
    found = conform("bbr", "bbr3", seed=seed)
    assert len({case.rstrip("abc") for case in found.verdicts()}) == 22
    assert found.passed, str(found)


@pytest.mark.slow
def test_other_versions_of_bbr_fail_what_they_do_otherwise() -> None:
    assert "5" not in cases_that_pass(conform("bbr", "bbr2", cases=["5"]))
    first = conform("bbr", "bbr", cases=["1", "3", "5", "10"])
    assert cases_that_pass(first) == []


def test_the_command_prints_the_table_writes_junit_and_exits_by_the_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = write_suite(tmp_path / "own")
    report = tmp_path / "junit.xml"
    out = tmp_path / "out"
    assert main(["conform", suite, "bbr3", "--junit", str(report), "--out", str(out)]) == 0
    page = tmp_path / "page.html"
    assert main(["conform", suite, "bbr3", "--quiet", "--html", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    first, _, rest = html.partition("<h2 id=")
    assert "Losses that follow an event" in first and "<svg" not in first, "verdicts come first"
    assert "<svg" in rest and "&#34;bbr3&#34;" in rest and "cruise at" in rest, (
        "figure, recipe, events"
    )
    assert "own" in report.read_text(encoding="utf-8")
    printed = capsys.readouterr().out
    assert "1 of 1 cases pass" in printed and "packets lost" in printed
    assert {p.name for p in out.iterdir()} >= {"conformance.json", "table.txt", "junit.xml"}
    assert main(["conform", suite, "cubic", "--json", "--junit", str(report)]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["passed"], data["checks"][0]["verdict"]) == (False, FAIL)
    tests = ET.fromstring(report.read_text(encoding="utf-8"))
    assert (tests.get("tests"), tests.get("failures")) == ("1", "1")
    assert "never in probe-bw-cruise" in (tests.findtext("testcase/failure") or "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["conform", "bbrr", "bbr3"], 'there is no suite "bbrr"'),
        (["conform", "bbr", "bbr9"], 'there is no cc "bbr9"'),
        (["conform", "bbr", "bbr3", "--case", "99"], 'bbr has no case "99"'),
        (["conform", "bbr", "bbr3", "--case", "1", "--ranges"], "exclude each other"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_ranges_put_one_flow_on_each_path(tmp_path: Path) -> None:
    head = SUITE + (
        '\n[ranges]\nrates = ["2 Mbps"]\nrtts = ["20 ms"]\nshare_slack = 0.02\nshare_reason = "r"\n'
        'queue_bdp = 1.25\nqueue_reason = "r"\nloss_reason = "r"\n'
    )
    suite = write_suite(tmp_path / "own", head=head)
    from ackclock.studies.conform.ranges import conform_over_ranges

    good = conform_over_ranges(suite, "bbr3")
    assert [row.verdict for row in good.rows] == [PASS] * 3, str(good)
    # CUBIC fills the buffer of 64 packets, where BBR keeps to its model.
    full = conform_over_ranges(suite, "cubic")
    assert [row.verdict for row in full.rows] == [PASS, FAIL, FAIL], str(full)
    with pytest.raises(ScenarioError, match="has none"):
        conform_over_ranges(write_suite(tmp_path / "bare"), "bbr3")
