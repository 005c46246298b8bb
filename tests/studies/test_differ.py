"""A scenario here and by peers: verdicts, where windows part, the command."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import ackclock as ac
from ackclock.catalogue import schema
from ackclock.cli.main import cli
from ackclock.errors import Problem
from ackclock.peers.registry import read_peers
from ackclock.peers.shipped import swap_controls
from ackclock.studies.differ.differ import differ
from ackclock.studies.differ.measure import (
    DivergencePlace,
    PeerTrace,
    count_cuts,
    judge,
    known_since,
    part,
)

SCENARIO = """
duration = "12 s"
warmup = "4 s"
[net]
kind = "dumbbell"
pairs = 2
rate = "5 Mbps"
rtt = "40 ms"
buffer = "1 bdp"
[[flows]]
pair = 0
transport = "quic"
cc = "{cc}"
[[flows]]
pair = 1
transport = "quic"
cc = "vegas"
"""


def trace(*steps):
    times, windows = zip(*steps, strict=True)
    acked = 10 * np.arange(len(times), dtype=float)
    return PeerTrace(np.array(times, dtype=float), np.array(windows, dtype=float), acked)


def scenario(cc="cubic"):
    import tomllib

    return ac.Scenario.from_data(tomllib.loads(SCENARIO.format(cc=cc)))


def test_windows_part_where_they_differ_by_a_packet_and_by_a_tenth():
    ours = trace((0, 10), (1, 20), (2, 40), (3, 60))
    theirs = trace((0.5, 10), (1, 20.5), (2, 42), (2.5, 50), (3, 60))
    found = part(ours, theirs, [(0.0, "slow-start"), (2.2, "avoidance"), (2.8, "recovery")])
    # At 2 s they differ by 2 of 40; from 2.5 s on by 10 of 40.
    assert found.packet == DivergencePlace(2.0, 40.0, 42.0, "slow-start", 20)
    assert found.tenth == DivergencePlace(2.5, 40.0, 50.0, "avoidance", 20)
    assert str(found) == (
        "the windows are within a packet until 2.000 s, in slow-start, with 20 packets"
        " acknowledged: 40.0 packets here, 42.0 there; within a tenth until 2.500 s, in avoidance,"
        " with 20 packets acknowledged: 40.0 packets here, 50.0 there"
    )


def test_windows_that_part_by_a_packet_and_a_tenth_at_once_are_described_once():
    found = part(trace((0, 10), (1, 11)), trace((0, 10), (1, 13)))
    assert found.packet == found.tenth
    assert str(found).count("until") == 1


def test_windows_that_stay_apart_part_however_often_they_are_looked_at():
    ours = trace(*((0.01 * n, 10 if n < 5 else 20) for n in range(12)))
    late = trace(*((0.01 * n + 0.004, 10 if n < 5 else 20) for n in range(12)))
    assert part(ours, late, resolution_s=0.01).packet is None
    assert part(ours, late).packet.time_s == pytest.approx(0.05)
    other = trace(*((0.01 * n + 0.004, 10 if n < 5 else 15) for n in range(12)))
    found = part(ours, other, resolution_s=0.01)
    assert found.packet.time_s == found.tenth.time_s == pytest.approx(0.05)


def test_windows_within_a_packet_never_part():
    found = part(trace((0, 10), (1, 11)), trace((0, 10), (1.2, 11)))
    assert found.packet is None
    assert str(found) == "the windows are within a packet of each other all the time"


@pytest.mark.parametrize(
    ("ours", "theirs", "tolerance", "slack", "verdict"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0, 0.0, "equal"),
        # Differences 0.2, 0.3, 0.4: 0.3 ± 4.303 * 0.1 / sqrt(3) = 0.3 ± 0.248; 5 % of 11 is 0.55.
        ([10.0, 11.0, 12.0], [10.2, 11.3, 12.4], 0.05, 0.0, "inside"),
        ([10.0, 11.0, 12.0], [10.3, 11.4, 12.5], 0.05, 0.0, "undecided"),
        ([10.0, 11.0, 12.0], [10.8, 11.9, 13.0], 0.05, 0.0, "apart"),
        # A mean in the range of ours is no evidence: the difference is 0.5 ± 25.
        ([8.0, 14.0], [12.0, 11.0], 0.05, 0.0, "undecided"),
        ([10.0, 10.0], [10.4, 10.4], 0.05, 0.0, "inside"),
        ([10.0, math.nan], [10.0, 10.0], 0.05, 0.0, "apart"),
        ([5.0], [6.0], 0.05, 1.0, "inside"),
        ([5.0], [6.5], 0.05, 1.0, "apart"),
    ],
)
def test_the_verdict_is_by_the_interval_of_the_difference(ours, theirs, tolerance, slack, verdict):
    assert judge(ours, theirs, tolerance, slack) == verdict


def test_more_seeds_never_make_a_shift_of_a_fifth_pass():
    generator = np.random.default_rng(4)
    shares = []
    for count in (3, 10, 30):
        draws = generator.normal(1.0, 0.1, (500, 2, count))
        verdicts = [judge(ours, theirs + 0.2, 0.05) for ours, theirs in draws]
        shares.append([verdicts.count(word) / 500 for word in ("inside", "apart")])
    # By the range of ours widened by 5 % it was inside in 0.25, 0.49 and 0.85.
    assert [inside for inside, _ in shares] == pytest.approx([0, 0, 0], abs=0.025)
    assert shares[0][1] < shares[1][1] < shares[2][1]
    assert shares[2][1] > 0.99
    at_the_bound = generator.normal(1.0, 0.1, (500, 2, 10))
    inside = np.mean([judge(a, b + 0.05, 0.05) == "inside" for a, b in at_the_bound])
    assert inside <= 0.025 + 0.02


def test_a_peer_that_nobody_knows_gets_the_nearest_name():
    assert read_peers("s2n, quinn,s2n") == ["s2n", "quinn"]
    with pytest.raises(ac.ScenarioError, match='there is no peer "quin"; did you mean "quinn"'):
        read_peers("quin")


def test_a_scenario_without_a_control_of_the_peer_is_refused():
    with pytest.raises(ac.ScenarioError, match='expected cc = "cubic" or "bbr2"'):
        swap_controls(scenario("copa"), "s2n")


def test_a_peer_is_compared_with_the_scenario_that_it_names(monkeypatch):
    from ackclock.peers.registry import PreparedPeer
    from ackclock.studies.differ import differ as study

    def run(seed):
        done = scenario("cubic").replace(**{"record.tables": ["windows"]}).with_seed(seed).run()
        for flow in done.summary["flows"]:
            flow["srtt_mean_s"] = None  # what this peer does not measure
        return done

    def twin(case):
        ours = case.replace(**{"flows[0].cc": "cubic"})
        return PreparedPeer(ours, run, lambda _: [0], lambda _: "twin 1.0")

    monkeypatch.setattr(study, "prepare", lambda _, case, __: twin(case))
    found = study.differ(scenario("aimd"), ["twin"], reps=2)
    assert found.answer == "twin is equal in every quantity."
    assert found.peers[0].release == "twin 1.0"
    assert {row.flow for row in found.peers[0].rows} == {"f0"}
    assert "srtt_ms" not in {row.quantity for row in found.peers[0].rows}


def test_without_a_choice_all_that_can_run_it_are_compared_and_the_others_named(monkeypatch):
    from ackclock.peers import registry
    from ackclock.peers.registry import Options, PreparedPeer, prepare_all

    def make(peer, case, _):
        if peer == "ns2":
            raise ac.UnsupportedError("ns is not on PATH")
        if peer == "ns3":
            raise ac.ScenarioError([Problem("flows[0].cc", "is of no use"), Problem("net", "nor")])
        return PreparedPeer(
            case, lambda seed: case.with_seed(seed).run(), lambda _: [0], lambda _: peer
        )

    monkeypatch.setattr(registry, "prepare", make)
    case = scenario("aimd")
    prepared, left_out = prepare_all(case, Options())
    assert [*prepared] == [peer for peer in registry.PEERS if peer not in {"ns2", "ns3"}]
    assert left_out == {"ns2": "ns is not on PATH", "ns3": "flows[0].cc: is of no use; net: nor"}
    monkeypatch.setattr(registry, "PEERS", {"ns2": "", "s2n": "", "ns3": ""})
    found = differ(case.replace(**{"record.tables": ["windows"]}))
    assert [peer.name for peer in found.peers] == ["s2n"]
    assert "not compared with ns2: ns is not on PATH\n" in str(found)
    assert found.to_dict()["left_out"] == left_out
    assert '<p class="note">not compared with ns3: flows[0].cc' in found.pages("")["index.html"]
    monkeypatch.setattr(registry, "PEERS", {"ns2": ""})
    with pytest.raises(ac.UnsupportedError, match="no peer can run it\nns2: ns is not on PATH"):
        differ(case)


@pytest.mark.skipif(not schema.find_bundled(), reason="this build has no libraries: make stacks")
def test_the_command_prints_a_table_and_writes_page_and_data(tmp_path):
    file, out = tmp_path / "two.toml", tmp_path / "out"
    file.write_text(SCENARIO.format(cc="cubic"))
    arguments = ["differ", str(file), "--against", "s2n,quinn", "--out", str(out)]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.output.splitlines()]
    assert ["f0", "cubic", "s2n/cubic", "goodput", "[Mbit/s]"] in [row[:5] for row in rows]
    assert "f1 " not in done.output  # Vegas has no peer
    data = json.loads((out / "differ.json").read_text())
    assert [peer["peer"] for peer in data["peers"]] == ["s2n", "quinn"]
    # Our sender is driven by s2n's controller: the first packets are the same to the byte.
    s2n, quinn = (peer["events"] for peer in data["peers"])
    assert 10 < s2n["agreed"] < s2n["events"]
    assert quinn is None
    assert "<svg" in (out / "index.html").read_text()
    strict = CliRunner().invoke(cli, [*arguments[:4], "--tolerance", "0", "--strict", "--quiet"])
    assert strict.exit_code == 1
    assert "apart: f0, goodput" in strict.output


def test_a_fall_in_steps_is_one_cut():
    # 11 to 8 in steps, one of them repeated; 8.5 to 8.4 is no tenth; 20 to 1.
    windows = np.array([10, 11, 9.95, 9, 9, 8, 8, 8.5, 8.4, 20, 1, 2])
    assert count_cuts(windows) == 2
    assert count_cuts(windows[:1]) == count_cuts(windows[:0]) == 0


def test_windows_looked_at_at_intervals_are_the_last_of_each():
    import pyarrow as pa

    from ackclock.results.run import Run
    from ackclock.studies.differ.measure import sample_windows

    windows = pa.table(
        {
            "time_s": [0.0, 0.101, 0.104, 0.11, 0.1101, 0.5],
            "flow": pa.array(["a", "a", "b", "a", "a", "a"]),
            "cwnd_segments": [1.0, 2.0, 9.0, 3.0, 4.0, 5.0],
        }
    )
    rows = (
        sample_windows(Run(scenario(), {}, {"windows": windows}), 0.01)
        .tables["windows"]
        .to_pydict()
    )
    assert rows["cwnd_segments"] == [1.0, 9.0, 3.0, 4.0, 5.0]
    assert rows["time_s"] == pytest.approx([0.0, 0.11, 0.11, 0.12, 0.5])


@pytest.mark.slow
def test_the_kernel_is_compared_with_era_linux():
    from ackclock.peers.emulate.emulate import emulate
    from ackclock.peers.linux import describe

    two = scenario("cubic").replace(
        **{"flows[*].transport": None, "flows[1].cc": "aimd", "duration": 2, "warmup": 0.5}
    )
    try:
        emulate(two.replace(duration=0.05, warmup=0))
    except ac.UnsupportedError as error:
        pytest.skip(str(error))
    found = differ(two, ["linux"])
    (peer,) = found.peers
    assert peer.release.startswith("Linux ")
    assert {row.controls for row in peer.rows if row.flow == "f0"} == {("cubic", "linux/cubic")}
    assert {row.flow for row in peer.rows} == {"f0", "f1", "r0->r1"}
    assert any("begin within 1 ms" in note for note in peer.notes)

    late = {
        "kernel": "6",
        "valid": False,
        "limit_s": 5e-4,
        "lateness": {"p99_s": 2e-3, "max_s": 0.1},
    }
    run = SimpleNamespace(summary={"emulation": late})
    assert describe([run]).endswith("1 of 1 runs INVALID, the machine was too busy")


def test_windows_are_compared_from_when_all_runs_know_them():
    """Of flow a one run knows its window from 0.2 s on, one from 0.5 s, and one never."""

    def run_of(*rows):
        names = ("time_s", "flow", "cwnd_segments", "acked")
        kinds = (pa.float64(), pa.string(), pa.float64(), pa.int64())
        table = pa.table(
            [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)], names
        )
        return SimpleNamespace(tables={"windows": table})

    early, late = run_of((0.2, "a", 1.0, 0), (0.9, "a", 2.0, 1)), run_of((0.5, "a", 1.0, 0))
    other = run_of((3.0, "b", 1.0, 0))
    assert known_since([early, late, other], "a") == 0.5
    assert known_since([late, early], "a") == 0.5
    assert known_since([early, other], "b") == 3.0
    assert known_since([early], "b") == 0.0
