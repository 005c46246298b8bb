"""Files of other tools of a few rows: rates of Flent, timestamps of TCP, tables split by names."""

import gzip
import json
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from ackclock._util.arrow import array, table, words
from ackclock.errors import AckclockError, UnsupportedError
from ackclock.results.formats import flent
from ackclock.results.formats.recorded import import_extra, require_any, rows_by, write_whole
from ackclock.results.formats.tcp_sizes import Sizes, TcpSizes
from ackclock.results.formats.tcp_timestamps import Way, stamps

NAN = float("nan")

# -- tables ---------------------------------------------------------------------------------------


def test_a_table_is_split_by_names_in_the_order_of_its_rows():
    rows = table(
        {
            "time_s": array(np.array([0.0, 1.0, 2.0, 3.0])),
            "flow": words(["b", "a", "never"], np.array([1, 0, 1, 0])),
            "reason": words(["full", "early"], np.array([0, 1, 1, 0])),
            "state": array(["x", "y", "z", "w"]),
        }
    )
    split = rows_by(rows, "flow")
    assert list(split) == ["b", "a", "never"]
    assert split["a"]["time_s"].tolist() == [0.0, 2.0]
    assert split["b"]["time_s"].tolist() == [1.0, 3.0]
    assert split["a"]["reason"].tolist() == ["full", "early"]
    assert split["b"]["state"].tolist() == ["y", "w"]
    assert [len(values) for values in split["never"].values()] == [0, 0, 0]
    assert "flow" not in split["a"]


def test_a_file_appears_whole_in_the_place_of_an_earlier_one(tmp_path):
    file = tmp_path / "a.bin"
    file.write_bytes(b"before")
    assert write_whole(file, b"after") == file
    assert file.read_bytes() == b"after"
    assert [path.name for path in tmp_path.iterdir()] == ["a.bin"]


def test_one_of_several_tables_is_needed():
    run = SimpleNamespace(tables={"drops": None})
    require_any(run, ("windows", "drops"))
    with pytest.raises(UnsupportedError) as caught:
        require_any(run, ("windows", "rtts"))
    assert str(caught.value) == (
        'none of the tables "windows", "rtts" was recorded; run with record.tables = ["windows",'
        ' "rtts"]'
    )


def test_what_is_not_installed_is_said_with_its_extra():
    assert import_extra("json.decoder", "x").__name__ == "json.decoder"
    with pytest.raises(AckclockError) as caught:
        import_extra("nowhere.to.be", "mine")
    assert str(caught.value).startswith("nowhere is not installed; ")
    assert "mine" in str(caught.value)


# -- Flent ----------------------------------------------------------------------------------------


def run_of(rows, flows, **columns):
    """A run with samples: rows of time, flow, received [B], window, smoothed RTT."""
    times, names, received, cwnd, srtt = zip(*rows, strict=True)
    distinct = list(dict.fromkeys(names))
    samples = table(
        {
            "time_s": array(np.array(times, dtype=float)),
            "flow": words(distinct, np.array([distinct.index(name) for name in names])),
            columns.get("bytes", "received_bytes"): array(np.array(received, dtype=float)),
            "cwnd_segments": array(np.array(cwnd, dtype=float)),
            "srtt_s": array(np.array(srtt, dtype=float)),
        }
    )
    summary = {
        "flows": [{"id": name, "cc": "reno", "goodput_bps": 4e6} for name in flows],
        "scenario_hash": "abc", "seed": 7, "version": "1.2",
    }  # fmt: skip
    return SimpleNamespace(
        summary=summary, scenario=SimpleNamespace(name="mine"), table=lambda name: samples,
        tables={"flow_samples": samples},
    )  # fmt: skip


ROWS = [
    (0.0, "a", 0, 1, 0.0), (0.5, "a", 250_000, 2, 0.02), (1.0, "a", 250_000, 3, 0.0),
    (0.5, "b", 0, 4, 0.0), (1.0, "b", 62_500, 5, 0.04),
]  # fmt: skip


def written(run, tmp_path):
    file = flent.write(run, tmp_path / "x.flent.gz")
    return json.loads(gzip.decompress(file.read_bytes()))


def test_flent_gets_rates_between_samples_and_their_sum_mean_and_fairness(tmp_path):
    data = written(run_of(ROWS, ["a", "b"]), tmp_path)
    assert data["version"] == 4
    # A value for each interval, at its end.
    assert data["x_values"] == [0.5, 1.0]
    # 250 kB in half a second are 4 Mbit/s; b began with the second interval.
    assert data["results"] == {
        "TCP upload::1": [4.0, 0.0], "TCP upload::2": [None, 1.0], "TCP upload avg": [4.0, 0.5],
        "TCP upload sum": [4.0, 1.0], "TCP upload fairness": [1.0, 0.5],
    }  # fmt: skip
    assert data["raw_values"] == {
        "TCP upload::1": [
            {"t": 0.5, "val": 4.0, "tcp_cwnd": 2, "tcp_rtt": 20.0},
            {"t": 1.0, "val": 0.0, "tcp_cwnd": 3},
        ],
        "TCP upload::2": [{"t": 1.0, "val": 1.0, "tcp_cwnd": 5, "tcp_rtt": 40.0}],
    }


def test_flent_gets_what_the_run_was(tmp_path):
    data = written(run_of(ROWS, ["a", "b"]), tmp_path)
    meta = data["metadata"]
    assert (meta["NAME"], meta["TITLE"]) == ("tcp_nup", "mine")
    assert meta["NOTE"] == "ackclock scenario abc, seed 7"
    assert (meta["LENGTH"], meta["TOTAL_LENGTH"], meta["STEP_SIZE"]) == (1.0, 1.0, 0.5)
    assert meta["TEST_PARAMETERS"] == {"upload_streams": "2"}
    assert (meta["FLENT_VERSION"], meta["IP_VERSION"]) == ("ackclock 1.2", 4)
    series = meta["SERIES_META"]
    assert series["TCP upload::2"] == {
        "FLOW": "b", "CONG_CONTROL": "reno", "MEAN_VALUE": 4.0, "UNITS": "Mbits/s",
    }  # fmt: skip
    assert {name: series[f"TCP upload {name}"] for name in ("avg", "sum", "fairness")} == {
        "avg": {"UNITS": "Mbits/s"}, "sum": {"UNITS": "Mbits/s"}, "fairness": {"UNITS": "Idx"},
    }  # fmt: skip


def test_flows_without_samples_are_no_streams_and_idle_intervals_have_no_fairness(tmp_path):
    rows = [(0.0, "a", 0, 1, 0.0), (1.0, "a", 0, 1, 0.0), (2.0, "a", 125_000, 1, 0.0)]
    data = written(run_of(rows, ["other", "a"], bytes="delivered_bytes"), tmp_path)
    assert data["results"]["TCP upload::1"] == [0.0, 1.0]
    assert data["results"]["TCP upload fairness"] == [None, 1.0]
    assert data["metadata"]["TEST_PARAMETERS"] == {"upload_streams": "1"}


def test_one_sample_is_too_few(tmp_path):
    with pytest.raises(UnsupportedError, match="fewer than two samples were recorded"):
        flent.write(run_of(ROWS[:1], ["a"]), tmp_path / "x.gz")
    assert list(tmp_path.iterdir()) == []


# -- timestamps -----------------------------------------------------------------------------------

WAYS = {
    "up": Way("s", "d", 8e6, 0.010), "down": Way("d", "s", 8e6, 0.020),
    "first": Way("s", "r", 8e6, 0.010), "second": Way("r", "d", 8e6, 0.010),
}  # fmt: skip
ENDS = {"f": ("s", "d")}


def packet(time_s, link, event, seq, *, ack=False, flags=0, size=1000, flow="f"):
    return {
        "time_s": time_s, "link": link, "event": event, "seq": seq, "is_ack": ack, "flags": flags,
        "size_bytes": size, "flow": flow,
    }  # fmt: skip


def found(*rows):
    return [
        None if stamp is None else (stamp.value, stamp.echo) for stamp in stamps(rows, WAYS, ENDS)
    ]


def test_a_value_is_the_millisecond_of_the_first_arrival_at_least_1():
    assert found(
        packet(0.0, "up", "arrival", 1), packet(0.0049, "up", "departure", 1),
        packet(1.2349, "up", "arrival", 2), packet(1.2350, "up", "departure", 2),
    ) == [(1, 0), (1, 0), (1234, 0), (1234, 0)]  # fmt: skip
    assert found(packet(2.0, "up", "arrival", 1, flow="other")) == [None]
    # One that left before the table began is not known.
    assert found(packet(2.0, "up", "departure", 1)) == [None]


def test_a_packet_keeps_its_value_over_several_links():
    assert found(
        packet(0.100, "first", "arrival", 5), packet(0.150, "first", "departure", 5),
        packet(0.161, "second", "arrival", 5), packet(0.170, "second", "departure", 5),
    ) == [(100, 0)] * 4  # fmt: skip
    # What a queue marks on the way is the same packet still.
    assert found(
        packet(0.100, "first", "arrival", 5), packet(0.150, "first", "departure", 5, flags=8),
        packet(0.161, "second", "arrival", 5, flags=8),
    ) == [(100, 0)] * 3  # fmt: skip
    assert found(
        packet(0.100, "first", "arrival", 5), packet(0.150, "first", "departure", 5, flags=1)
    ) == [(100, 0), None]


def test_of_two_copies_the_first_leaves_first_and_the_last_is_refused():
    rows = [packet(0.1, "up", "arrival", 5), packet(0.2, "up", "arrival", 5)]
    assert found(*rows, packet(0.3, "up", "departure", 5))[-1] == (100, 0)
    assert found(*rows, packet(0.3, "up", "drop", 5))[-1] == (200, 0)


def test_an_acknowledgement_echoes_the_data_that_it_acknowledges():
    # Of 1000 bytes at 8 Mbit/s, and 10 ms: 11 ms after its departure it is there.
    rows = [
        packet(0.100, "up", "arrival", 0), packet(0.100, "up", "departure", 0),
        packet(0.111, "down", "arrival", 1, ack=True),
        packet(0.111, "down", "departure", 1, ack=True),
        packet(0.150, "up", "arrival", 1),
    ]  # fmt: skip
    assert found(*rows) == [(100, 0), (100, 0), (111, 100), (111, 100), (150, 111)]
    # Sooner it has nothing to echo; and its echo, at 132 ms, is not there yet at 131 ms.
    rows[2] = packet(0.110, "down", "arrival", 1, ack=True)
    assert found(*rows)[2] == (110, 0)
    rows[2] = packet(0.111, "down", "arrival", 1, ack=True)
    rows[4] = packet(0.131, "up", "arrival", 1)
    assert found(*rows)[4] == (131, 0)


def test_data_behind_a_hole_is_not_echoed_nor_is_what_is_older():
    def both(time_s, seq):
        return packet(time_s, "up", "arrival", seq), packet(time_s, "up", "departure", seq)

    def acknowledge(time_s, seq):
        return packet(time_s, "down", "arrival", seq, ack=True)

    rows = [
        *both(0.100, 0), acknowledge(0.120, 1), *both(0.200, 2), acknowledge(0.220, 1),
        *both(0.300, 1), acknowledge(0.320, 3), *both(0.400, 3), acknowledge(0.420, 4),
    ]  # fmt: skip
    echoes = [stamp.echo for stamp, row in zip(stamps(rows, WAYS, ENDS), rows, strict=True)
              if row["is_ack"]]  # fmt: skip
    # After the first, the second came behind a hole: RFC 7323, section 4.3, case B.
    assert echoes == [100, 100, 300, 400]


def test_a_syn_is_echoed_once():
    rows = [
        packet(0.100, "up", "arrival", 0, flags=2), packet(0.100, "up", "departure", 0, flags=2),
        packet(0.150, "up", "arrival", 0, flags=2), packet(0.150, "up", "departure", 0, flags=2),
        packet(0.200, "down", "arrival", 0, ack=True),
    ]  # fmt: skip
    assert stamps(rows, WAYS, ENDS)[-1].echo == 100


# -- sizes ----------------------------------------------------------------------------------------


def test_a_full_segment_has_its_headers_and_the_option_of_timestamps():
    assert TcpSizes().full == 1500
    assert TcpSizes(mss=1448, timestamps=True).full == 1500
    assert TcpSizes(mss=1000, header=20).full == 1020


@pytest.mark.parametrize(
    ("sizes", "may"),
    [
        (Sizes(), True),
        (Sizes(largest=1500), True),
        (Sizes(largest=1499), False),
        (Sizes(largest=1500, bare=40), True),
        (Sizes(largest=1500, bare=52), False),
        (Sizes(largest=600, last=(3, 600)), True),
        (Sizes(largest=1600, last=(3, 1600)), False),
        (Sizes(largest=600, last=(3, 500)), False),
        (Sizes(bare=40, has_syn=True), True),
    ],
)
def test_settings_fit_what_a_table_shows_of_a_flow(sizes, may):
    assert sizes.fit(TcpSizes()) is may


def test_with_timestamps_acknowledgements_are_longer():
    stamped = TcpSizes(mss=1448, timestamps=True)
    assert Sizes(largest=1500, bare=52).fit(stamped)
    assert not Sizes(largest=1500, bare=40).fit(stamped)


# -- Perfetto -------------------------------------------------------------------------------------


def test_a_trace_has_slices_of_states_marks_of_drops_and_counters(tmp_path):
    pytest.importorskip("perfetto", reason="perfetto is not installed")
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

    from ackclock.results.formats import perfetto

    one = words(["f"], np.zeros(2, dtype=int))
    tables = {
        "states": table({"time_s": array(np.array([0.5, 2.0])), "flow": one,
                         "state": words(["slow-start", "recovery"], np.array([0, 1]))}),
        "windows": table({"time_s": array(np.array([1.0, 2.0])), "flow": one,
                          "cwnd_segments": array(np.array([10.0, 5.0])),
                          "ssthresh_segments": array(np.array([np.inf, 5.0])),
                          "in_flight_segments": array(np.array([9.0, 4.0]))}),
        "rtts": table({"time_s": array(np.array([1.0, 2.0])), "flow": one,
                       "rtt_s": array(np.array([0.02, 0.03]))}),
        "drops": table({"time_s": array(np.array([1.5, 1.75])), "flow": one,
                        "link": words(["l"], np.zeros(2, dtype=int)),
                        "reason": words(["full"], np.zeros(2, dtype=int)),
                        "seq": array(np.array([7, 8]))}),
        "queues": table({"time_s": array(np.array([1.0, 2.0])),
                         "link": words(["l"], np.zeros(2, dtype=int)),
                         "queue_packets": array(np.array([3.0, 0.0]))}),
    }  # fmt: skip
    run = SimpleNamespace(
        tables=tables, table=tables.__getitem__,
        summary={"duration_s": 4.0, "links": [{"id": "l"}, {"id": "quiet"}],
                 "flows": [{"id": "f", "src": "a", "dst": "b", "cc": None}]},
    )  # fmt: skip
    trace = Trace.FromString(perfetto.write(run, tmp_path / "x.perfetto").read_bytes())
    names, parents, units, events = {}, {}, {}, []
    for entry in trace.packet:
        if entry.HasField("track_descriptor"):
            described = entry.track_descriptor
            names[described.uuid] = described.name
            if described.HasField("parent_uuid"):
                parents[described.name] = names[described.parent_uuid]
            if described.HasField("counter"):
                units[described.name] = described.counter.unit_name
        else:
            event = entry.track_event
            kind = TrackEvent.Type.Name(event.type).removeprefix("TYPE_")
            value = event.double_counter_value if kind == "COUNTER" else event.name
            events.append((names[event.track_uuid], kind, entry.timestamp / 1e9, value))
    flow = "flow f: no congestion control, a -> b"
    assert list(names.values()) == [
        flow, "cwnd", "ssthresh", "in flight", "RTT", "link l", "queue",
    ]  # fmt: skip
    assert parents == {
        "cwnd": flow, "ssthresh": flow, "in flight": flow, "RTT": flow, "queue": "link l",
    }  # fmt: skip
    assert units == {"cwnd": "segments", "ssthresh": "segments", "in flight": "segments",
                     "RTT": "ms", "queue": "packets"}  # fmt: skip
    assert events == [
        (flow, "SLICE_BEGIN", 0.5, "slow-start"), (flow, "SLICE_END", 2.0, ""),
        (flow, "SLICE_BEGIN", 2.0, "recovery"), (flow, "SLICE_END", 4.0, ""),
        (flow, "INSTANT", 1.5, "drop (full): seq 7"), (flow, "INSTANT", 1.75, "drop (full): seq 8"),
        ("cwnd", "COUNTER", 1.0, 10.0), ("cwnd", "COUNTER", 2.0, 5.0),
        # A threshold that is infinite yet is not drawn.
        ("ssthresh", "COUNTER", 2.0, 5.0),
        ("in flight", "COUNTER", 1.0, 9.0), ("in flight", "COUNTER", 2.0, 4.0),
        ("RTT", "COUNTER", 1.0, 20.0), ("RTT", "COUNTER", 2.0, 30.0),
        ("link l", "INSTANT", 1.5, "drop (full): flow f"),
        ("link l", "INSTANT", 1.75, "drop (full): flow f"),
        ("queue", "COUNTER", 1.0, 3.0), ("queue", "COUNTER", 2.0, 0.0),
    ]  # fmt: skip
    assert isinstance(tables["drops"], pa.Table)
