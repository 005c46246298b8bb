"""iperf3's JSON, which captures and paths read by one module."""

from __future__ import annotations

import json
import math

import pytest
import tomli_w

import ackclock as ac
from ackclock.captures.read.reading import read
from ackclock.captures.trace import CaptureError
from ackclock.catalogue.network_kinds import expand
from ackclock.errors import ScenarioError
from ackclock.scenario.paths.iperf3_log import (
    Iperf3Error,
    read_iperf3_streams,
    read_iperf3_totals,
)


def interval(start: float, **changes):
    """An interval of a second with one stream; changes hold of it and of the total."""
    common = {"socket": 5, "start": start, "end": start + 1, "bytes": 10**6, "bits_per_second": 8e6}
    both = common | {"snd_cwnd": 50_000, "rtt": 40_000, "retransmits": 2, "sender": True} | changes
    return {"streams": [both], "sum": both}


def document(*intervals, **more):
    """A test with these intervals."""
    return {"start": {"tcp_mss_default": 1448}, "intervals": list(intervals), "end": {}} | more


def path_of(folder):
    """A path that is drawn from the file `log` of a folder."""
    net = {"kind": "measured", "files": ["log"], "format": "iperf3", "rtt": "40 ms"}
    scenario = {"duration": "2 s", "net": net, "flows": [{"pair": 0}]}
    (folder / "path.toml").write_text(tomli_w.dumps(scenario))
    return ac.load(folder / "path.toml")


def test_what_was_omitted_is_no_part_of_either():
    """With -O the clock begins again when the warm-up is over."""
    log = document(interval(0, omitted=True), interval(0), interval(1, bytes=5, bits_per_second=40))
    assert [total.rate_bps for total in read_iperf3_totals(log)] == [8e6, 40]
    assert [total[:2] for total in read_iperf3_totals(log)] == [(0, 1), (1, 2)]
    samples = read_iperf3_streams(log)
    assert [sample[1:4] for sample in samples] == [(0, 1, 10**6), (1, 2, 5)]
    assert {sample[4:] for sample in samples} == {(2, 50_000, 0.04, False)}


def test_what_a_receiver_of_datagrams_writes():
    log = document(interval(0, lost_percent=25, sender=False))
    for key in ("rtt", "snd_cwnd", "retransmits"):
        del log["intervals"][0]["streams"][0][key]
    assert read_iperf3_totals(log)[0].lost == 0.25
    [sample] = read_iperf3_streams(log)
    assert sample.is_of_receiver
    assert math.isnan(sample.rtt_s + sample.cwnd_bytes) and math.isnan(sample.retransmits)


def test_a_capture_and_a_path_of_one_file_agree(tmp_path):
    file = tmp_path / "log"
    file.write_text(json.dumps(document(interval(0, omitted=True), interval(0), interval(1))))
    assert read(file).flows[0]["delivered_bytes"] == 2 * 10**6
    assert expand(path_of(tmp_path).resolve_files().data)["net"]["rate"] == pytest.approx(8e6)


BAD = {
    "a time is text": (document(interval(0, end="1")), "end: expected a number of 0 or more"),
    "a time is negative": (document(interval(0, end=-1)), "end: expected a number of 0 or more"),
    "a time is true": (document(interval(0, end=True)), "end: expected a number of 0 or more"),
    "an interval is none": (document(interval(0), 3), "intervals: expected a list of tables"),
    "a failure": (
        document(error="unable to connect to server"),
        'it has no interval, since iperf3 failed: "unable to connect to server"',
    ),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_file_is_refused_with_the_same_words(fault, tmp_path):
    log, sentence = BAD[fault]
    file = tmp_path / "log"
    file.write_text(json.dumps(log))
    with pytest.raises(CaptureError) as of_capture:
        read(file)
    with pytest.raises(ScenarioError) as of_path:
        path_of(tmp_path).resolve_files()
    for words in (str(of_capture.value), str(of_path.value)):
        assert f"{file}: " in words
        assert sentence in words


def test_numbers_of_streams_and_shares_are_within_their_ranges():
    with pytest.raises(Iperf3Error, match=r"intervals\[0\].streams\[0\].rtt: expected a number"):
        read_iperf3_streams(document(interval(0, rtt="40")))
    with pytest.raises(Iperf3Error, match="lost_percent: is 101, expected 0 to 100"):
        read_iperf3_totals(document(interval(0, lost_percent=101)))
    with pytest.raises(Iperf3Error, match=r"intervals\[0\].streams: expected a list of tables"):
        read_iperf3_streams(document({"sum": {}}))


def test_a_capture_has_no_more_intervals_than_samples_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("ackclock.captures.read.logs.MOST_ROWS", 2)
    file = tmp_path / "log"
    file.write_text(json.dumps(document(*map(interval, range(5)))))
    assert read(file).flows[0]["delivered_bytes"] == 2 * 10**6
