"""Guests beside our flows: what they carry, that they repeat, how they are ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock.catalogue.code_permission import forbidden
from ackclock.cli.main import main
from ackclock.errors import AckclockError, AlgorithmError, ScenarioError

HERE = Path(__file__).parent
RENO = HERE.parents[1] / "examples/guests/python/reno.py"
NET = {"kind": "dumbbell", "pairs": 2, "rate": "10 Mbps", "rtt": "40 ms", "buffer": "40 pkt"}


def reno(*arguments: str, **flow: object) -> dict[str, object]:
    """A flow of the template."""
    return {"pair": 0, "guest": {"command": [sys.executable, str(RENO), *arguments]}, **flow}


def misbehaving(rule: str, **guest: object) -> dict[str, object]:
    """A flow of a guest that breaks a rule."""
    command = [sys.executable, str(HERE / "misbehaving.py"), rule]
    return {"pair": 0, "guest": {"command": command, **guest}, "size": "300 kB"}


def scenario(*flows: dict[str, object], **changes: object) -> ackclock.Scenario:
    """These flows on a dumbbell."""
    document = {"net": NET, "flows": list(flows), "duration": "4 s", "seed": 3, **changes}
    return ackclock.Scenario.from_data(document)


def row(run: ackclock.Run, index: int = 0) -> dict[str, Any]:
    """The summary of a flow."""
    return run.flows.to_pylist()[index]


def processes() -> set[int]:
    """The children of this process, zombies included."""
    found = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "pid=,comm="],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = (line.split(None, 1) for line in found.stdout.splitlines())
    return {int(pid) for pid, name in lines if name.strip() != "ps"}


def test_a_guest_fills_a_link_and_shares_it_with_our_reno() -> None:
    ours = {"pair": 1, "transport": "quic", "cc": "reno"}
    alone = scenario(reno(), warmup="1 s").run()
    shared = scenario(reno(), ours, duration="20 s", warmup="4 s").run()
    # 1183 bytes of 1228 on the wire are payload.
    assert row(alone)["goodput_bps"] == pytest.approx(1e7 * 1183 / 1228, rel=0.02)
    rates = [row(shared, i)["goodput_bps"] for i in range(2)]
    # Two senders of AIMD with one round trip: nearly equal shares (Chiu and Jain 1989).
    assert sum(rates) > 9.0e6
    assert 0.5 < rates[0] / rates[1] < 2.0


def test_a_transfer_is_carried_whole_whatever_is_lost() -> None:
    run = scenario(
        reno(size="400 kB"), links=[{"link": "r0->r1", "loss": 0.02}], duration="10 s"
    ).run()
    flow = row(run)
    assert flow["delivered_bytes"] == 400_000
    assert flow["completed_after_s"] > 0.04
    assert flow["retransmits"] > 0


def test_a_run_repeats_on_any_number_of_threads() -> None:
    case = scenario(reno(), {"pair": 1, "cc": "cubic"}, reno(size="50 kB", start="1 s"))
    digests = {case.run(threads=threads).summary["digest"] for threads in (1, 1, 2)}
    assert len(digests) == 1


def test_data_comes_later_and_ends_where_the_flow_says() -> None:
    run = scenario(reno(size="30 kB", every="1 s", stop="2.5 s")).run()
    assert row(run)["delivered_bytes"] == 3 * 30_000
    stopped = scenario(
        reno(stop="2 s"), record={"tables": ["flow_samples"], "interval": "0.5 s"}
    ).run()
    samples = stopped.tables["flow_samples"].to_pydict()
    late = [
        s for at, s in zip(samples["time_s"], samples["sent_packets"], strict=True) if at >= 2.5
    ]
    assert len(set(late)) == 1


def test_what_a_guest_reports_is_in_tables() -> None:
    run = scenario(reno(), record={"tables": ["windows", "states"]}).run()
    assert {"slow-start", "avoidance"} <= set(run.tables["states"].to_pydict()["state"])
    assert max(run.tables["windows"].to_pydict()["cwnd_segments"]) > 30
    assert run.summary["guests"][0]["code"]


SENTENCES = {
    "past": "which is before the present",
    "long": "sent a datagram of 1201 bytes, expected 1 to 1200",
    "empty": "sent a datagram of 0 bytes",
    "too-many": "sent 8193 datagrams at once, expected 8192 at most",
    "mark": "sent a datagram with mark 4",
    "short-rtt": "round trip of 1000000 ns, and propagation alone takes 40000000 ns",
    "complete": "reports that all is acknowledged, and nothing has arrived",
    "takes-back": "expected no fewer",
    "crash": "out of ideas",
    "exit": "ended before the run, with exit status 7",
    "killed": "ended before the run, by signal 9",
    "hang": "did not answer for 0.5 s of the wall's clock (guest.patience)",
    "child-hangs": "did not answer for 0.5 s of the wall's clock (guest.patience)",
    "cut": "ends within its sequence",
    "huge": "wrote a frame of 2147483648 bytes, expected 1 to 16777216",
    "kind": "wrote a frame of type 0x55, expected ANSWER",
    "prints": "wrote a frame of 1819043176 bytes",
    "says-so": "failed: no more of ",
    "sequence": "expected",
    "restless": "set its deadline to the present 10000 times in a row",
    "server-first": "sent a datagram before any had arrived from its client",
    "delivers-too-much": "delivered bytes, and only",
    "version": "version 2 of the protocol, expected 1",
    "talks-first": "wrote a frame of",
}


@pytest.mark.slow
@pytest.mark.parametrize("rule", SENTENCES)
def test_a_guest_that_breaks_a_rule_ends_the_run_with_a_sentence(rule: str) -> None:
    patience = "0.5 s" if "hang" in rule else "20 s"
    before = processes()
    with pytest.raises(AlgorithmError) as raised:
        scenario(misbehaving(rule, patience=patience)).run()
    said = str(raised.value)
    assert SENTENCES[rule] in said
    assert said.startswith("flow f0: its guest (")
    assert f"misbehaving.py {rule}, the " in said
    assert "of simulated time" in said
    if rule in ("past", "exit", "cut"):
        assert "its last lines:\n  about to break a rule" in said
    assert processes() == before
    # Only this rule starts it; beside another test it may run while this one looks.
    if rule == "child-hangs":
        every = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
        assert "sleep 60.25" not in every.stdout


def test_a_stack_may_forget_its_round_trips_as_after_persistent_congestion() -> None:
    flow = row(scenario(misbehaving("forgets")).run())
    assert 0.04 <= flow["rtt_min_s"] <= flow["srtt_mean_s"] < 0.08


def test_stop_needs_a_guest_that_takes_later_data() -> None:
    with pytest.raises(
        AlgorithmError, match="takes no data after the start, which stop and every need"
    ):
        scenario(misbehaving("no-data") | {"stop": "1 s"}).run()


def test_no_guest_runs_where_no_code_may(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = tmp_path / "ran"
    program = tmp_path / "touch.sh"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    file = tmp_path / "s.toml"
    file.write_text(
        'duration = "1 s"\n[net]\nkind = "dumbbell"\npairs = 1\nrate = "10 Mbps"\nrtt = "40 ms"\n'
        '[[flows]]\npair = 0\nguest = { command = ["./touch.sh"] }\n'
    )
    for command in (["--no-code", "run", str(file)], ["--no-code", "explain", str(file)]):
        assert main(command) == 2
        assert (
            "./touch.sh is a program, which was not run: --no-code was given"
            in capsys.readouterr().err
        )
    assert main(["check", "--no-code", str(file)]) == 0
    assert "./touch.sh was not run, so it was not checked" in capsys.readouterr().out
    # Checking and explaining start nothing either.
    assert main(["check", str(file)]) == 0
    assert main(["explain", str(file)]) == 0
    assert not mark.exists()
    assert main(["run", str(file)]) == 2
    assert "ended before the run" in capsys.readouterr().err
    assert mark.exists()
    with forbidden("it is a test"), pytest.raises(ScenarioError, match="it is a test"):
        ackclock.load(file).run()


@pytest.mark.parametrize("traffic", ['["x"]', '[{ flow = "x" }]', "3"])
@pytest.mark.parametrize("words", [[], ["--no-code"]])
def test_a_wrong_form_beside_a_guest_is_a_sentence(
    words: list[str], traffic: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrong.toml"
    net = '{ kind = "dumbbell", pairs = 1, rate = "10 Mbps", rtt = "40 ms", buffer = "50 pkt" }'
    flow = '[[flows]]\npair = 0\nguest = { command = ["python3", "x.py"] }\n'
    file.write_text(f'duration = "1 s"\ntraffic = {traffic}\nnet = {net}\n{flow}')
    assert main([*words, "check", str(file)]) == 2
    assert f"{file}: traffic" in "".join(capsys.readouterr())


def test_a_program_that_is_missing_or_another_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match='there is no program "no-such-stack"'):
        scenario({"pair": 0, "guest": {"command": ["no-such-stack"]}}).check()
    flow = reno()
    flow["guest"]["code"] = "0" * 12  # type: ignore[index]
    with pytest.raises(
        ScenarioError, match="is 000000000000, and the files of the program now have"
    ):
        scenario(flow).check()
    with pytest.raises(ScenarioError, match="has no meaning beside guest"):
        scenario(reno(cc="cubic")).check()
    with pytest.raises(ScenarioError, match="has 0 entries; expected at least 1"):
        scenario({"pair": 0, "guest": {"command": []}}).check()


def test_a_run_is_named_by_the_text_of_its_program(tmp_path: Path) -> None:
    copy = tmp_path / "mine.py"
    copy.write_text(RENO.read_text())
    flow = {"pair": 0, "guest": {"command": [sys.executable, str(copy)]}}
    before = scenario(flow).fingerprint
    assert scenario(flow).fingerprint == before
    copy.write_text(RENO.read_text() + "\n# changed\n")
    assert scenario(flow).fingerprint != before


def test_a_bundle_runs_again_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(RENO.parent)
    flow = {"pair": 0, "guest": {"command": [sys.executable, "reno.py"]}}
    run = scenario(flow).run(out=tmp_path / "bundle")
    monkeypatch.chdir(tmp_path)
    again = ackclock.load(tmp_path / "bundle/scenario.toml").run()
    assert again.summary["digest"] == run.summary["digest"]


def test_prediction_counts_a_guest() -> None:
    ours = scenario({"pair": 0, "transport": "quic"}).cost().cpu_s
    theirs = scenario(reno()).cost().cpu_s
    packets = 4 * 10e6 / 8 / 1228
    assert theirs - ours > packets * 10e-6
    with pytest.raises(AckclockError, match=r"flows\[0\].guest"):
        scenario(reno(), duration="9000000 s").check()


def test_ctrl_c_ends_a_run_and_its_guests(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    program = HERE / "misbehaving.py"
    file.write_text(
        'duration = "4 s"\n[net]\nkind = "dumbbell"\npairs = 1\nrate = "10 Mbps"\nrtt = "40 ms"\n'
        f'[[flows]]\npair = 0\nguest = {{ command = ["{sys.executable}", "{program}", "hang"] }}\n'
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "ackclock", "run", str(file)], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not (guests := _children(process.pid)) or len(guests) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 3
    assert said.strip().startswith("interrupted")
    assert not any(Path(f"/proc/{pid}").exists() for pid in guests)


def _children(pid: int) -> list[int]:
    found = subprocess.run(
        ["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True, check=False
    )
    return [int(word) for word in found.stdout.split()]
