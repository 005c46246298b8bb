"""Emulation: the kernel's TCP over our links, in real time, where the kernel allows namespaces."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from functools import cache, partial
from pathlib import Path

import pytest
from click.testing import CliRunner

import ackclock as ac
from ackclock.cli.main import cli, main
from ackclock.peers.emulate import controls

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="emulation needs Linux")

SCENARIO = """
duration = "3 s"
warmup = "1 s"
era = "linux"
[net]
kind = "dumbbell"
pairs = 2
rate = "20 Mbps"
rtt = "40 ms"
buffer = "1 bdp"
[[flows]]
pair = 0
cc = "cubic"
[[flows]]
pair = 1
cc = "aimd"
start = "100 ms"
"""


def scenario(**changes):
    import tomllib

    return ac.Scenario.from_data(tomllib.loads(SCENARIO)).replace(**changes)


@cache
def refusal():
    """Why this machine does not emulate, by its sentence; empty if it does."""
    from ackclock.peers.emulate.emulate import emulate

    try:
        emulate(scenario(duration=0.05, warmup=0))
    except ac.UnsupportedError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def allowed():
    if why := refusal():
        pytest.skip(why)


@pytest.fixture(scope="module")
def marked(allowed):
    """A run whose flows have ECN, under a discipline that marks."""
    from ackclock.peers.emulate.emulate import emulate

    changes = {
        "net.qdisc": {"kind": "codel", "ecn": True},
        "tcp.ecn": True,
        "flows[1].size": "100 kB",
        "record.tables": ["windows", "flow_samples", "link_samples", "drops", "packets", "queues"],
    }
    return emulate(scenario(**changes), captures=True)


def bottleneck(run):
    (link,) = [link for link in run.summary["links"] if link["id"] == "r0->r1"]
    return link


def test_packets_are_conserved_at_every_link_and_for_every_flow(marked):
    for link in marked.summary["links"]:
        left = link["departed_packets"] + link["drops"] + link["waiting_packets"]
        assert link["arrived_packets"] == left
    for flow in marked.summary["flows"]:
        under_way = flow["data_under_way"] + flow["acks_under_way"]
        assert 0 <= under_way < 2000
        # What the network lost the kernel has sent again, but for the last.
        assert flow["delivered_packets"] <= flow["sent_packets"]
    first = marked.summary["flows"][0]
    assert first["cc"] == "linux/cubic"
    assert 0 < first["goodput_bps"] < 20e6 * 1448 / 1500


def test_a_flow_of_a_size_is_delivered_whole_and_completes(marked):
    flow = marked.summary["flows"][1]
    assert flow["delivered_bytes"] == 100_000
    # Two round trips at least: the connection, and data that begin with ten segments.
    assert flow["completed_after_s"] > 0.08


def test_marks_of_the_queue_are_in_the_packets_with_valid_checksums(marked):
    seen = {"sender": 0, "receiver": 0}
    for _, side, is_sent, size, data in marked.captured:
        head = data[: 4 * (data[0] & 15)]
        total = sum(struct.unpack(f"!{len(head) // 2}H", head))
        while total > 0xFFFF:
            total = (total & 0xFFFF) + (total >> 16)
        assert total == 0xFFFF
        assert size == struct.unpack_from("!H", data, 2)[0]
        if data[1] & 3 == 3:
            assert not is_sent
            seen[("sender", "receiver")[side]] += 1
    link = bottleneck(marked)
    if marked.is_valid:
        assert link["drops"] == 0
    # A machine that stops for a moment hands over what the buffer cannot hold, and Linux then sends
    # it again without ECN (RFC 3168, section 6.1.5), which CoDel can only drop; the rest it marks.
    assert set(link["drop_reasons"]) <= {"overflow", "unmarkable"}
    unmarkable = sum(data[1] & 3 == 0 for _, side, is_sent, _, data in marked.captured if is_sent)
    assert link["drop_reasons"].get("unmarkable", 0) <= unmarkable
    on_the_wire = link["marks"] - seen["receiver"]
    assert seen["sender"] == 0
    assert 0 <= on_the_wire <= 20
    # The kernel sent data as capable of ECN, or nothing could be marked.
    assert any(data[1] & 3 == 2 for _, side, is_sent, _, data in marked.captured if is_sent)


def test_tables_of_hosts_and_links_agree(marked):
    windows = marked.tables["windows"].to_pydict()
    assert set(windows["flow"]) <= {"f0", "f1"}
    assert all(cwnd >= 1 for cwnd in windows["cwnd_segments"])
    samples = marked.tables["link_samples"].to_pydict()
    last = [n for link, n in zip(samples["link"], samples["departed_bytes"], strict=True)
            if link == "r0->r1"][-1]  # fmt: skip
    assert last <= bottleneck(marked)["departed_bytes"]
    packets = marked.tables["packets"].to_pydict()
    rows = zip(packets["link"], packets["event"], strict=True)
    arrived = sum(row == ("r0->r1", "arrival") for row in rows)
    assert arrived == bottleneck(marked)["arrived_packets"]


def test_the_bundle_names_kernel_and_lateness_and_is_read_again(marked, tmp_path):
    from ackclock.results.bundle import read_bundle

    folder = marked.save(tmp_path / "out")
    provenance = json.loads((folder / "provenance.json").read_text())
    emulation = provenance["emulation"]
    assert emulation["kernel"] == os.uname().release
    assert emulation["lateness"]["p50_s"] <= emulation["lateness"]["p99_s"]
    late = emulation["lateness"]
    # A tenth of the round trip of 40 ms is the longest stall.
    assert emulation["valid"] == (late["p99_s"] <= 0.0005 and late["max_s"] <= 0.004)
    summary, tables = read_bundle(folder)
    assert summary["engine"] == "emulation"
    assert tables["windows"].num_rows == marked.tables["windows"].num_rows
    text = str(marked)
    assert ("valid, the limits" in text) or ("INVALID, the limits" in text)
    capture = marked.to_pcapng(tmp_path / "all.pcapng").read_bytes()
    assert capture[:4] == b"\x0a\x0d\x0d\x0a"
    assert capture.count(struct.pack("<I", 6)) >= len(marked.captured)


@pytest.mark.slow
def test_goodput_is_that_of_the_link(allowed):
    from ackclock.peers.emulate.emulate import emulate

    run = emulate(scenario(duration=4, warmup=1))
    if not run.is_valid:
        pytest.skip(f"the machine was too busy: {run.summary['emulation']['lateness']}")
    here = scenario(duration=4, warmup=1).run()
    theirs, ours = (sum(f["goodput_bps"] for f in one.summary["flows"]) for one in (run, here))
    assert theirs == pytest.approx(ours, rel=0.05)


def test_a_run_that_is_late_is_invalid_and_the_command_says_so(allowed, tmp_path):
    file = tmp_path / "two.toml"
    file.write_text(SCENARIO)
    arguments = ["emulate", str(file), "--set", "duration=500 ms", "--set", "warmup=0 s"]
    # No packet can be handed over within a tenth of a nanosecond.
    done = CliRunner().invoke(cli, [*arguments, "--lateness", "1e-7"])
    assert done.exit_code == 1
    assert "INVALID" in done.output


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"flows[0].cc": "copa"}, 'flows[0].cc: is "copa", which the kernel does not have'),
        ({"flows[0].cc": {"kind": "cubic", "beta": 0.5}}, "flows[0].cc.beta: is not the default"),
        ({"net.rate": "10 Gbps"}, "net: has 10000 Mbit/s on link r0->r1, more than can be"),
        ({"flows[1].transport": "quic"}, "flows[1].transport: is quic, expected tcp"),
        ({"net.access_rate": "20 Mbps"}, "net: has two bottlenecks, s0->r0 (20 Mbit/s) and r0->r1"),
        (
            {"flows": [{"pair": 0, "credits": "homa"}]},
            "flows[0].credits: is homa, and the kernel's receivers give no credit; expected none",
        ),
    ],
)
def test_what_cannot_be_emulated_is_one_sentence(tmp_path, capsys, changes, sentence):
    file = tmp_path / "refused.toml"
    file.write_text(scenario(**changes).to_toml())
    assert main(["emulate", str(file), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert f"{file}: {sentence}" in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_control_that_the_kernel_lacks_is_refused_with_those_that_it_has():
    flow = {"path": "flows[0]", "cc": {"kind": "vegas", "params": {}}}
    (problem,) = controls.find_problems([flow], ["reno", "cubic"])
    assert str(problem) == (
        'flows[0].cc: is "vegas", for which the kernel has no congestion control "vegas"; it has'
        " reno, cubic"
    )


def test_a_cc_may_name_another_control_of_the_kernel(allowed, capsys, tmp_path):
    file = tmp_path / "copa.toml"
    file.write_text(scenario(**{"flows[0].cc": "copa", "duration": 0.3, "warmup": 0}).to_toml())
    # Copa is not in the kernel; the user says what to take.
    assert main(["emulate", str(file), "--control", "copa=reno", "--lateness", "1e9"]) == 0
    assert "linux/reno" in capsys.readouterr().out
    assert main(["emulate", str(file), "--control", "copa=bpf_none"]) == 2
    assert 'no congestion control "bpf_none"; it has reno' in capsys.readouterr().err
    assert main(["emulate", str(file), "--control", "copa"]) == 2


def test_a_machine_that_refuses_namespaces_is_one_sentence(monkeypatch, capsys, tmp_path):
    from ackclock.peers.emulate import hosts
    from ackclock.peers.emulate.namespaces import RefusedError

    def refuse(self):
        message = "the kernel refuses a user namespace to user 1000 (Operation not permitted)"
        raise RefusedError(message)

    monkeypatch.setattr(hosts.Host, "wait_until_ready", refuse)
    file = tmp_path / "two.toml"
    file.write_text(SCENARIO)
    assert main(["emulate", str(file)]) == 2
    assert capsys.readouterr().err.endswith(
        "the kernel refuses a user namespace to user 1000 (Operation not permitted)\n"
    )


def children(pid):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(stat.parent.name))
    return found


def lives(pid):
    """Whether a process is there; one that has ended may wait for its new parent to notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_nothing_outlives_a_killed_command(allowed, tmp_path):
    file = tmp_path / "long.toml"
    file.write_text(scenario(duration=100).to_toml())
    command = [sys.executable, "-m", "ackclock", "emulate", str(file), "--out", tmp_path / "out"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ends = []
    try:
        ours = Path("/proc/self/ns/net").readlink()
        deadline = time.monotonic() + 60
        while len(ends) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
            # Each enters its namespace a moment after it began.
            ends = [
                end
                for end in children(process.pid)
                if Path(f"/proc/{end}/ns/net").readlink() != ours
            ]
        assert len(ends) == 2
        spaces = {Path(f"/proc/{end}/ns/net").readlink() for end in ends}
        assert len(spaces) == 2
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    deadline = time.monotonic() + 60
    while any(map(lives, ends)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(lives, ends))
    # A namespace without a name lasts as long as a process in it.
    left = {
        space.readlink() for space in Path("/proc").glob("[0-9]*/ns/net") if _is_readable(space)
    }
    assert not spaces & left
    assert not (tmp_path / "out").exists()


def _is_readable(link):
    try:
        link.readlink()
    except OSError:
        return False
    return True


def test_a_host_that_does_not_react_is_ended(monkeypatch):
    """It is stopped before it can read that its channel is closed."""
    from ackclock.peers.emulate.hosts import Host

    host = Host({"side": "sender"})
    monkeypatch.setattr(host.process, "wait", partial(host.process.wait, timeout=20))
    try:
        with host:
            os.kill(host.process.pid, signal.SIGSTOP)
        assert host.process.returncode == -signal.SIGKILL
    finally:
        host.process.kill()
