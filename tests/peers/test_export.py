"""Scenarios written out for other simulators: what is written, refused and named."""

import re
import shutil
import subprocess

import pytest
from click.testing import CliRunner

import ackclock as ac
from ackclock.cli.main import cli
from ackclock.peers.simulators import SIMULATORS, write_for
from ackclock.peers.written import comment_text, number_text

NS = shutil.which("ns")

EVIL = 'x"]; [exec touch evil]; $ns\n}\\\r{ */ ??/\nsystem("touch evil"); //'


def scenario(**changes):
    data = {
        "era": "ns2",
        "duration": 5,
        "net": {"kind": "dumbbell", "pairs": 2, "rate": 5e6, "rtt": 0.04, "buffer": "20 pkt"},
        "flows": [{"pair": 0, "recovery": "newreno"}, {"pair": 1, "recovery": "sack"}],
    }
    made = ac.Scenario.from_data(data)
    return made.replace(**changes) if changes else made


def refusals(simulator, **changes):
    with pytest.raises(ac.ScenarioError) as caught:
        write_for(scenario(**changes), simulator)
    return [str(problem) for problem in caught.value.problems]


def test_a_name_in_a_comment_has_nothing_that_a_language_reads():
    assert re.fullmatch(r"[\w.:>~%-]+", comment_text(EVIL))
    assert comment_text("r0->r1") == "r0->r1"


def test_numbers_are_the_same_doubles():
    for value in (0.1, 5e6, 1e-12, 0.018, 1 / 3, 2.0**53):
        assert float(number_text(value)) == value


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_names_of_strangers_are_in_comments_only(simulator):
    links = [{"a": EVIL, "b": "n", "rate": "1 Mbps", "delay": "10 ms", "buffer": "9 pkt"}]
    flows = [{"src": EVIL, "dst": "n", "id": EVIL}]
    era = {"ns2": "ns2"}.get(simulator, "rfc")
    made = scenario(net={"kind": "graph", "links": links}, flows=flows, name=EVIL, era=era)
    text = write_for(made, simulator).text
    assert text.isascii() and "evil" in text
    for line in text.splitlines():
        if "evil" in line:
            assert re.fullmatch(r"\s*(#|//) [\w.,:()\[\]>~% -]+", line), line


@pytest.mark.skipif(NS is None, reason="the command ns of ns-2.35 is not installed")
def test_a_stranger_cannot_run_anything_by_ns2(tmp_path):
    links = [{"a": EVIL, "b": "n", "rate": "1 Mbps", "delay": "10 ms", "buffer": "9 pkt"}]
    flows = [{"src": EVIL, "dst": "n", "id": EVIL}]
    made = scenario(net={"kind": "graph", "links": links}, flows=flows, name=EVIL)
    (tmp_path / "net.tcl").write_text(write_for(made, "ns2").text)
    subprocess.run([NS, "net.tcl"], cwd=tmp_path, check=True, capture_output=True)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "events.tr", "net.tcl", "totals.csv", "windows.tr",
    ]  # fmt: skip


def test_what_ns2_lacks_is_refused_by_key_all_at_once():
    found = refusals("ns2", era="rfc", **{"net.qdisc": "codel", "flows[0].cc": "bbr"})
    assert found == [
        'flows[0].cc: ns-2 has no control "bbr"; expected one of: aimd, aiad, mimd, miad, linear, '
        "binomial, iiad, sqrt, highspeed, vegas, bic, compound, cubic, htcp, hybla, illinois, lp, "
        "scalable, veno, westwood, yeah",
        'net.qdisc: ns-2 has no queue discipline "codel"; expected one of: fifo, red, drr, sfq',
    ]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"net.qdisc": "drr"}, "net.buffer: ns-2's DRR shares a buffer of bytes; give it in bytes"),
        ({"net.impairments": [{"kind": "jitter"}]}, "net.impairments: ns-2 has none of them"),
        ({"flows[0].tcp.delayed_ack": 4}, "tcp.delayed_ack: is 4, ns-2's receivers have 1 or 2"),
        ({"flows[0].tcp.ns2": {"first_decrease": False}}, "ns-2.35 always halves at first"),
        ({"flows[0].cc": {"kind": "linear", "b_i": 1.1}}, "of which each side is one rule"),
    ],
)
def test_what_ns2_cannot_express_is_refused(changes, sentence):
    assert any(
        found.endswith(sentence) or sentence in found for found in refusals("ns2", **changes)
    )


def test_what_ns2_does_otherwise_is_named():
    written = write_for(scenario(**{"net.loss": 0.01}), "ns2")
    assert "net.loss: ns-2 draws its own random numbers" in map(str, written.notes)
    assert "# Different: net.loss: ns-2 draws its own random numbers" in written.text


def test_loss_by_schedule_is_written_for_ns2_and_refused_for_ns3():
    steps = {"steps": [{"at": "2 s", "loss": 0.5}, {"at": "3 s", "loss": 0}]}
    written = write_for(scenario(**{"net.schedule": steps}), "ns2")
    assert "net.loss: ns-2 draws its own random numbers" in map(str, written.notes)
    lines = written.text.splitlines()
    made = lines.index("$e unit pkt; $e set rate_ 0")
    assert lines[made + 2 : made + 4] == [
        '$ns at 2 "$e set rate_ 0.5"',
        '$ns at 3 "$e set rate_ 0"',
    ]
    with pytest.raises(ac.ScenarioError, match=r"net\.loss: random loss is not written for ns-3"):
        write_for(of_ns3(**{"net.schedule": steps}), "ns3")


def test_a_buffer_of_ns2_counts_the_packet_that_is_being_sent():
    # Era ns2 keeps ns-2's habit, so that its limit is ns-2's; in all others N packets wait.
    assert "put $q {limit 20}" in write_for(scenario(), "ns2").text
    assert "put $q {limit 21}" in write_for(scenario(era="2002"), "ns2").text


def test_the_command_writes_a_file_or_nothing(tmp_path):
    file, out = tmp_path / "a.toml", tmp_path / "a.tcl"
    file.write_text(scenario().to_toml())
    arguments = ["export", str(file), "--to", "ns2", "--out", str(out)]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    assert out.read_text() == write_for(scenario(), "ns2").text
    out.unlink()
    refused = CliRunner().invoke(cli, [*arguments, "--set", "net.qdisc=codel"])
    assert isinstance(refused.exception, ac.ScenarioError)
    assert sorted(found.name for found in tmp_path.iterdir()) == ["a.toml"]


def of_ns3(**changes):
    return scenario(era="rfc", **changes)


def test_what_ns3_lacks_is_refused_by_key_all_at_once():
    with pytest.raises(ac.ScenarioError) as caught:
        write_for(of_ns3(**{"net.qdisc": "drr", "flows[0].cc": "copa", "net.loss": 0.1}), "ns3")
    found = [str(problem) for problem in caught.value.problems]
    assert [line.partition(":")[0] for line in found] == ["flows[0].cc", "net.loss", "net.qdisc"]
    assert found[2] == (
        'net.qdisc: ns-3 has no queue discipline "drr"; expected one of: fifo, red, codel, '
        "fq-codel, pie, cobalt"
    )
    assert refusals("ns3")[0] == 'era: is "ns2", whose senders are those of ns-2'


def test_a_segment_of_ns3_fills_the_same_packet():
    # 1460 B and 40 B of headers here; there 2 B of frame and, with timestamps, 12 B are more.
    assert 'TcpSocket::SegmentSize", UintegerValue(1458)' in write_for(of_ns3(), "ns3").text
    stamped = of_ns3(**{"tcp.timestamps": True})
    assert 'TcpSocket::SegmentSize", UintegerValue(1446)' in write_for(stamped, "ns3").text


def test_a_fifo_of_ns3_is_the_queue_of_its_device():
    text = write_for(of_ns3(), "ns3").text
    assert 'Join(0, 0, 1, 5000000ULL, Seconds(0.018), "20p", false);' in text
    codel = write_for(of_ns3(**{"net.qdisc": {"kind": "codel", "target": "10 ms"}}), "ns3")
    assert 'discipline.Set("Target", TimeValue(Seconds(0.01)));' in codel.text
    assert any("one packet more waits" in note.message for note in codel.notes)
