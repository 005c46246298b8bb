"""The profile rmcat: the RFC's figures in its scenarios, and what is known of some controls."""

import json
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

from ackclock.cli.main import main
from ackclock.dossier.read import PROFILES

RMCAT = PROFILES / "rmcat" / "scenarios"


def study(name):
    return tomllib.loads((RMCAT / f"{name}.toml").read_text())["scenario"]


def rows(control, tmp_path, *only, reps=2):
    words = [word for name in only for word in ("--only", name)]
    out = tmp_path / control
    words += ["--reps", str(reps), "--store", str(tmp_path / "store"), "--out", str(out)]
    text = StringIO()
    with redirect_stdout(text), redirect_stderr(text):
        code = main(["evaluate", control, "--profile", "rmcat", *words, "--workers", "1"])
    assert code == 0, text.getvalue()
    found = json.loads((out / "dossier.json").read_text())["rows"]
    return {row["id"]: row for row in found}


def steps(schedule, first):
    mbps = [float(step["rate"].removesuffix(" Mbps")) for step in schedule["steps"]]
    return [("0 s", first), *zip((step["at"] for step in schedule["steps"]), mbps, strict=True)]


def test_capacities_are_those_of_the_tables_of_rfc_8867():
    net = study("single")["net"]
    table = [("0 s", 1.0), ("40 s", 2.5), ("60 s", 0.6), ("80 s", 1.0)]
    assert steps(net["schedule"], 1.0) == table
    net = study("several")["net"]
    table = [("0 s", 4.0), ("25 s", 2.0), ("50 s", 3.5), ("75 s", 1.0), ("100 s", 2.0)]
    assert steps(net["schedule"], 4.0) == table
    link = study("feedback")["net"]["links"][4]
    table = [("0 s", 2.0), ("20 s", 1.0), ("40 s", 0.5), ("60 s", 2.0)]
    assert steps(link["schedule"], 2.0) == table
    assert steps(link["back_schedule"], 2.0) == [("0 s", 2.0), ("35 s", 0.8), ("70 s", 2.0)]


@pytest.mark.parametrize(
    ("name", "mbps"),
    [
        ("single", 1.0), ("several", 2.0), ("competing", 3.5), ("rtts", 4.0), ("long", 2.0),
        ("short", 2.0), ("pause", 3.5),
    ],
)  # fmt: skip
def test_queues_hold_300_ms_of_the_reference_capacity(name, mbps):
    # RFC 8868 section 4.3: bytes = seconds x bit/s / 8.
    kilobytes = float(study(name)["net"]["buffer"].removesuffix(" kB"))
    assert kilobytes == pytest.approx(0.3 * mbps * 1e6 / 8 / 1e3, rel=0.01)


def test_wireless_cases_are_those_of_rfc_8869():
    # Section 4.1: 1 Mbit/s, 50 ms one way, a queue of 300 ms; on and off at 60 s.
    # Section 4.2: about 20 Mbit/s.
    links = study("homewifi")["net"]["links"]
    assert (
        sum(float(link["delay"].removesuffix(" ms")) for link in links if link["a"] != "other")
        == 50
    )
    (narrow,) = [link for link in links if link["rate"] == "1 Mbps"]
    assert float(narrow["buffer"].removesuffix(" kB")) == 0.3 * 1e6 / 8 / 1e3
    cases = tomllib.loads((RMCAT / "homewifi.toml").read_text())["over"]["variant"]["values"]
    assert set(cases) == {"single", "pair", "on-off", "off-on", "tcp"}
    assert (cases["on-off"]["flows[2].stop"], cases["off-on"]["flows[2].start"]) == ("60 s", "60 s")
    net = study("hotspot")["net"]
    assert (net["rate"], net["rtt"]) == ("20 Mbps", "100 ms")
    assert float(net["buffer"].removesuffix(" kB")) == 0.3 * 20e6 / 8 / 1e3


def test_what_a_link_cannot_express_is_named_and_not_run(tmp_path):
    found = rows("aimd", tmp_path, "8869-3.1", "8869-4.2-uplink")
    assert {row["verdict"] for row in found.values()} == {"not applicable"}
    assert all("shared" in row["reason"] or "radio" in row["reason"] for row in found.values())


@pytest.mark.slow
def test_reno_shares_an_access_link_behind_wifi_with_tcp(tmp_path):
    # Both are Reno: the encoder alone, which varies and lags, holds the media back.
    (share,) = rows("aimd", tmp_path, "8869-4.1-tcp")["8869-4.1-tcp"]["numbers"]
    assert all(0.5 < value < 1.2 for value in share["values"])


def test_cubic_fills_the_queue_of_a_media_flow(tmp_path):
    delay = rows("cubic", tmp_path, "5.1-delay")["5.1-delay"]
    assert delay["verdict"] == "not met"
    of_delay = [n["measured"] for n in delay["numbers"] if n["check"] == "delay"]
    # The queue of 300 ms is 500 ms at 0.6 Mbit/s.
    assert min(of_delay) > 150


@pytest.mark.slow
@pytest.mark.parametrize("control", [pytest.param("vegas", marks=pytest.mark.slow), "ledbat"])
def test_a_delay_based_control_is_quick_alone_and_starves_beside_tcp(control, tmp_path):
    # Of two seeds the intervals of four numbers are too wide to refute one by more than chance.
    assert rows(control, tmp_path, "5.6-media", reps=4)["5.6-media"]["verdict"] == "not met"
    found = rows(control, tmp_path, "5.6-tcp", "5.6-alone")
    assert found["5.6-tcp"]["verdict"] == "met"
    assert found["5.6-alone"]["verdict"] == "met"
