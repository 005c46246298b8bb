"""Frames of a call over QUIC, in the table `frames`."""

import pytest

import ackclock as ac

NET = {"kind": "dumbbell", "pairs": 1, "rate": "20 Mbps", "rtt": "40 ms", "buffer": "1 bdp"}
STREAMS = [
    {"id": "audio", "priority": 2, "fps": 50, "size": "80 B", "datagrams": True},
    {"priority": 4, "fps": 25, "group": 25, "first": "20000 B", "size": "2000 B"},
]


def call(**changes):
    flow = {"pair": 0, "transport": "quic", "cc": "cubic", "stop": "4 s", "streams": STREAMS}
    return ac.Scenario.from_data({"net": NET, "flows": [flow | changes], "duration": "5 s"})


def test_each_frame_is_delivered_once_after_half_a_round_trip():
    run = call().run(record=["frames"])
    frames = run.frames.to_pandas()
    for name, count in (("audio", 200), ("s1", 100)):
        mine = frames[frames["stream"] == name]
        assert sorted(mine["frame"]) == list(range(count))
        assert mine["delay_s"].min() >= 0.02
        assert mine["made_s"].max() < 4
    late = frames[frames["made_s"] > 1]
    # 80 bytes take 59 us; video of 20,000 bytes 8.5 ms, which audio never waits for as a whole.
    assert late[late["stream"] == "audio"]["delay_s"].median() < 0.021
    sizes = frames[frames["stream"] == "s1"].sort_values("frame")["size_bytes"]
    assert sizes.iloc[:2].tolist() == [20000, 2000]
    assert sizes.iloc[25] == 20000
    flow = run.summary["flows"][0]
    assert flow["delivered_bytes"] == 200 * 80 + 4 * (20000 + 24 * 2000)


def test_streams_survive_a_bundle_and_are_refused_over_tcp(tmp_path):
    run = call().run(record=["frames"])
    again = ac.load_run(run.save(tmp_path / "run"))
    assert again.frames.equals(run.frames)
    assert again.scenario.run(record=["frames"]).frames.equals(run.frames)
    with pytest.raises(ac.ScenarioError, match=r"flows\[0\].streams: has no meaning in a flow"):
        call(transport="tcp").run()
