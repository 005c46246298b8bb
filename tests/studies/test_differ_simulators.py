"""Other simulators as peers: programs, the first event that parts, ns-2 beside its era."""

import json
import shutil
import time
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import ackclock as ac
from ackclock.cli.main import cli
from ackclock.errors import AckclockError, UnsupportedError
from ackclock.peers.ns3.run import flags_of
from ackclock.peers.program import find, run_program
from ackclock.peers.registry import Options, named_paths
from ackclock.studies.differ.differ import differ
from ackclock.studies.differ.meeting import meet

NEEDS_NS = pytest.mark.skipif(
    shutil.which("ns") is None, reason="the command ns of ns-2.35 is not installed"
)


def scenario(**changes):
    data = {
        "era": "ns2",
        "duration": 12,
        "warmup": 3,
        "net": {"kind": "dumbbell", "pairs": 2, "rate": 3e6, "rtt": 0.05, "buffer": "12 pkt"},
        "tcp": {"receiver_window": 100},
        "flows": [
            {"pair": 0, "recovery": "newreno", "tcp": {"boot": 0.0037}},
            {"pair": 1, "recovery": "sack", "start": 0.7313, "tcp": {"delayed_ack": 2}},
        ],
    }
    made = ac.Scenario.from_data(data)
    return made.replace(**changes) if changes else made


def packets(*rows):
    columns = ("time_s", "link", "event", "flow", "seq", "size_bytes", "is_ack")
    return pa.table(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)))


def event(time_s, kind, seq, flow="f0", link="a->b"):
    return (time_s, link, kind, flow, seq, 1000, False)


def test_events_are_the_same_up_to_the_microsecond_that_is_printed():
    ours = packets(event(0.1, "arrival", 0), event(0.1000004, "departure", 0))
    theirs = packets(event(0.1, "arrival", 0), event(0.100001, "departure", 0))
    found = meet(ours, theirs, ["a->b"])
    assert (found.events, found.agreed, found.time_s) == (2, 2, None)


def test_the_first_event_that_differs_is_by_time_and_said():
    ours = packets(
        event(0.1, "arrival", 0), event(0.2, "arrival", 1), event(0.3, "departure", 0),
        event(0.4, "arrival", 2),
    )  # fmt: skip
    theirs = packets(
        event(0.1, "arrival", 0), event(0.2, "arrival", 1), event(0.2, "drop", 1),
        event(0.3, "departure", 0), event(0.4, "arrival", 3),
    )  # fmt: skip
    found = meet(ours, theirs, ["a->b"])
    assert (found.time_s, found.kind, found.agreed) == (0.2, "drop", 1)
    assert found.sentence("ns2", "recovery") == (
        "the first 1 of 4 events are the same; at 0.200000 s on a->b nothing happens here,"
        " packet 1 of f0 (1000 B) is dropped at 0.200000 s in ns2 (flow f0, whose sender is in"
        " recovery here)"
    )


def test_two_packets_in_the_other_order_are_recognised():
    a, b = event(0.1, "arrival", 0), event(0.1, "arrival", 7, "f1")
    found = meet(packets(a, b), packets(b, a), ["a->b"])
    assert found.is_order
    assert found.sentence("ns2").endswith("the order of simultaneous events")


def test_a_program_that_is_not_there_is_named():
    with pytest.raises(UnsupportedError, match="ns2 is not installed"):
        find("ns2", "ns", named_paths(["ns2=no-such-ns"]), "Debian's package ns2")
    with pytest.raises(ac.ScenarioError, match='is "ns4=x"; did you mean "ns'):
        named_paths(["ns4=x"])


def test_a_program_that_fails_or_hangs_ends_with_a_sentence(tmp_path):
    with pytest.raises(AckclockError, match=r"ns-2 failed \(exit code 3\): broken"):
        run_program(["sh", "-c", "echo broken >&2; exit 3"], tmp_path, 10, "ns-2")
    began = time.monotonic()
    with pytest.raises(AckclockError, match=r"ns-2 had not finished after 0.2 s and was stopped"):
        run_program(["sh", "-c", "sleep 60 & sleep 60"], tmp_path, 0.2, "ns-2")
    assert time.monotonic() - began < 30


@NEEDS_NS
def test_era_ns2_has_the_events_of_ns2():
    found = differ(scenario(), ["ns2"]).peers[0]
    assert found.meeting.time_s is None and found.meeting.events > 10_000
    assert {row.verdict for row in found.rows} == {"equal"}
    assert {row.quantity for row in found.rows} >= {"goodput_mbps", "drops", "queue_delay_ms"}


@NEEDS_NS
def test_another_control_parts_from_ns2_at_its_first_cut():
    # Here the window keeps 0.7 at a loss, in the script half of it.
    import dataclasses

    from ackclock.peers.registry import prepare
    from ackclock.studies.differ import differ as study

    def prepared(peer, case, options):
        changed = case.replace(**{"flows[*].cc": {"kind": "aimd", "b": 0.7}})
        return dataclasses.replace(prepare(peer, case, options), ours=changed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "prepare", prepared)
        peer = differ(scenario(), ["ns2"]).peers[0]
    assert peer.meeting.time_s > 0.3
    assert 100 < peer.meeting.agreed < peer.meeting.events


@NEEDS_NS
def test_the_command_reports_ns2_as_text_data_and_page(tmp_path):
    file, out = tmp_path / "two.toml", tmp_path / "out"
    file.write_text(scenario().to_toml())
    done = CliRunner().invoke(
        cli, ["differ", str(file), "--against", "ns2", "--strict", "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    assert "events at the links compared are the same" in done.output
    data = json.loads((out / "differ.json").read_text())
    assert data["peers"][0]["events"]["time_s"] is None
    assert "<svg" in (out / "index.html").read_text()


@NEEDS_NS
def test_a_run_of_ns2_that_takes_too_long_is_stopped():
    with pytest.raises(AckclockError, match="ns-2 had not finished after"):
        differ(scenario(duration=300), ["ns2"], options=Options(time_limit_s=0.05))


def test_ns3_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UnsupportedError, match=r"ns3 is not installed .no .*/include/ns3.; "):
        flags_of(tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/usr/include/ns3/simulator.h").is_file() or shutil.which("g++") is None,
    reason="libns3-dev or g++ is not installed",
)
def test_ns3_fills_the_link_as_we_do():
    # One flow of Reno with a full buffer: the link is busy, whatever the rules of the two.
    one = scenario(
        era="rfc", duration=8,
        **{"flows": [{"pair": 0, "cc": "aimd", "recovery": "sack"}], "tcp": {"min_rto": "200 ms"}},
    )  # fmt: skip
    rows = {(row.flow, row.quantity): row for row in differ(one, ["ns3"]).peers[0].rows}
    here, there = rows["f0", "goodput_mbps"].here[0], rows["f0", "goodput_mbps"].there[0]
    assert 2.5 < there < 3.0 and there == pytest.approx(here, rel=0.1)
    assert rows["r0->r1", "drops"].there[0] > 0
    assert 5 < rows["r0->r1", "queue_delay_ms"].there[0] < 52  # 12 packets of 1500 B at 3 Mbit/s
    assert rows["f0", "cwnd_max"].there[0] == pytest.approx(
        rows["f0", "cwnd_max"].here[0], rel=0.25
    )
