"""Paths with names: each beside the published numbers that its model is made from."""

import random
import statistics
import tomllib
from pathlib import Path

import numpy as np
import pytest

import ackclock as ac
from ackclock.cli.main import main
from ackclock.scenario.paths.model import ASSUMED
from ackclock.scenario.paths.models import PATHS, REALLOCATION_S

NUMBERS = tomllib.loads(
    (Path(__file__).parents[3] / "tools/calibration/published.toml").read_text(encoding="utf-8")
)
NAMES = ["starlink-2025", "lte-driving", "5g-mmwave", "wifi-busy", "cable-docsis", "geo"]
PING = {"id": "ping", "pair": 0, "size": "64 B", "every": "100 ms"}
PING |= {"tcp": {"mss": 64, "delayed_ack": 1}}


def scenario(name, flows=(PING,), duration="60 s", seed=1, **net):
    net = {"kind": "path", "path": name, **net}
    return ac.Scenario(net=net, flows=[*flows], duration=duration, seed=seed)


def round_trips(name, **options):
    result = scenario(name, **options).run(record=["rtts"])
    rows = result.tables["rtts"]
    return np.asarray(rows["time_s"]), np.asarray(rows["rtt_s"])


def drawn(name, seed=1, duration=60.0):
    return PATHS[name].make(random.Random(seed), duration)


@pytest.mark.parametrize("name", NAMES)
def test_a_path_runs_says_where_its_numbers_come_from_and_is_the_same_by_its_seed(name):
    assert set(PATHS) == set(NAMES)
    sourced = [p for p in PATHS[name].parameters if not p.is_assumed]
    assert sourced
    assert all(p.source for p in PATHS[name].parameters)
    flow = {"id": "one", "pair": 0, "cc": "cubic"}
    made = scenario(name, [flow], duration="2 s")
    assert made.run().summary["flows"][0]["goodput_bps"] > 0
    again = scenario(name, [flow], duration="2 s")
    assert made.core_json() == again.core_json()
    changes = scenario(name, [flow], duration="2 s", seed=2).core_json() != made.core_json()
    assert changes


def test_starlink_has_the_published_period_jitter_spikes_and_loss():
    steps = drawn("starlink-2025", duration=600.0)["impairments"][0]["steps"]
    # 15 s (Mohan and others; Huston).
    assert {step["at"] % REALLOCATION_S for step in steps[1::2]} == {0.0}
    spikes = [a["extra"] - b["extra"] for a, b in zip(steps[1::2], steps[2::2], strict=True)]
    assert min(spikes) >= 0.030
    assert max(spikes) <= 0.050
    time, rtt = round_trips("starlink-2025", duration="300 s")
    assert 0.030 <= rtt.min() < 0.036
    # Within an interval, away from its spike: 6.7 ms between successive pings (Huston).
    inside = (time % REALLOCATION_S > 1) & (time % REALLOCATION_S < 14)
    apart = np.abs(np.diff(rtt))[inside[1:] & inside[:-1]]
    assert statistics.mean(apart) == pytest.approx(0.0067, rel=0.15)
    # Least round trips of neighbouring intervals differ, those within one do not.
    least = [rtt[(time > 15 * n + 1) & (time < 15 * n + 14)].min() for n in range(20)]
    halves = [rtt[(time > 15 * n + 1) & (time < 15 * n + 7)].min() for n in range(20)]
    assert np.std(least) > 3 * np.std(np.subtract(least, halves))


def test_starlink_loses_one_packet_in_a_hundred_without_congestion():
    source = {"kind": "cbr", "rate": "2 Mbps"}
    result = scenario("starlink-2025", [{"id": "s", "pair": 0, "source": source}]).run()
    assert result.summary["flows"][0]["loss_ratio"] == pytest.approx(0.01, abs=0.003)


def test_lte_is_like_a_recorded_drive():
    """Seconds of the model beside those of Mahimahi's trace ATT-LTE-driving-2016.down."""
    seconds = []
    for seed in range(20):
        times = drawn("lte-driving", seed, 120.0)["schedule"]["mahimahi"]
        counts, _ = np.histogram(times, bins=np.arange(0, 120_001, 1000))
        seconds.extend(counts * 12000 / 1e6)
    # Recorded: mean 4.56 Mbit/s, median of seconds 3.74, 90th percentile 10.1, and no outage.
    assert np.mean(seconds) == pytest.approx(4.56, rel=0.3)
    assert np.quantile(seconds, 0.9) == pytest.approx(10.1, rel=0.1)
    # The published model has more outages than that drive.
    assert np.quantile(seconds, 0.1) == 0


def test_mmwave_is_between_one_and_two_gigabits_until_it_is_blocked():
    steps = drawn("5g-mmwave", duration=2000.0)["schedule"]["steps"]
    rates = np.array([step["rate"] for step in steps])
    assert set(rates[1::2]) == {100e6}
    assert 1e9 <= rates[::2].min() < 1.1e9
    assert 1.9e9 < rates[::2].max() <= 2e9
    ends = np.diff([step["at"] for step in steps])
    assert ends[::2].mean() == pytest.approx(5.0, rel=0.2)
    assert ends[1::2].mean() == pytest.approx(0.5, rel=0.2)


def test_busy_wifi_has_the_drafts_jitter():
    time, rtt = round_trips("wifi-busy", duration="120 s")
    # The rule's mean is 0.32 ms below J = 7 ms.
    assert rtt.mean() - 0.022 == pytest.approx(0.0067, rel=0.25)
    # Spikes of 100 to 200 ms come, as the draft says.
    assert np.max(rtt) > 0.1
    assert time.size > 1000


def test_satellite_and_cable_have_two_rates():
    for name, there, back, rtt in (
        ("geo", 50e6, 10e6, 0.650),
        ("cable-docsis", 200e6, 20e6, 0.020),
    ):
        links = {link["id"]: link for link in scenario(name).run().summary["links"]}
        assert links["r0->r1"]["rate_bps"] == there
        assert links["r1->r0"]["rate_bps"] == back
        _, measured = round_trips(name)
        assert measured.min() == pytest.approx(rtt, rel=0.15)


def test_every_path_is_beside_published_numbers_whose_sources_are_named():
    assert set(NUMBERS) == set(PATHS)
    entries = [entry for path in NUMBERS.values() for entry in path.values()]
    assert all(len(entry["source"]) > 30 for entry in entries)
    for entry in entries:
        assert ("share" in entry) + ("at" in entry) + ("least" in entry) == 1


def test_mmwave_is_like_the_phones_of_5gophers():
    steps = drawn("5g-mmwave", duration=2000.0)["schedule"]["steps"]
    rates = np.array([step["rate"] for step in steps]) / 1e6
    sight = NUMBERS["5g-mmwave"]["in-sight"]["value"]
    assert np.quantile(rates[::2], (0.1, 0.5, 0.9)) == pytest.approx(sight[::2], rel=0.2)
    blocked = NUMBERS["5g-mmwave"]["blocked"]["value"]
    assert blocked[0] < rates[1::2].min() == rates[1::2].max() < blocked[2]


def test_an_upload_over_cable_delays_as_modems_with_pie_do():
    upload = {"src": "d0", "dst": "s0", "cc": "cubic"}
    result = scenario("cable-docsis", (PING, upload), "60 s").run(record=["rtts"])
    rows = result.tables["rtts"]
    is_late = (np.asarray(rows["flow"]) == "ping") & (np.asarray(rows["time_s"]) > 5)
    rtt_ms = 1e3 * np.asarray(rows["rtt_s"])[is_late]
    band, without = (NUMBERS["cable-docsis"][key] for key in ("with-aqm", "without-aqm"))
    # 10 ms of the round trip are beyond the access network, which the published one has as well.
    assert band["least"] < np.quantile(rtt_ms, 0.1) < band["most"]
    assert np.quantile(rtt_ms, 0.9) < without["at"] / 4


def test_a_geostationary_round_trip_is_between_the_least_possible_and_a_median_of_subscribers():
    _, rtt = round_trips("geo")
    assert NUMBERS["geo"]["least"]["at"] < 1e3 * rtt.min() < NUMBERS["geo"]["hughesnet"]["at"]


def test_the_drafts_wifi_is_calmer_than_a_campus():
    _, rtt = round_trips("wifi-busy", duration="120 s")
    hop_ms = 1e3 * rtt - 20
    for share, value in zip(
        *(NUMBERS["wifi-busy"]["campus"][key] for key in ("share", "value")), strict=True
    ):
        assert np.mean(hop_ms > value) < 1 - share


def test_another_queue_takes_the_place_of_the_models_and_a_wrong_name_is_answered(tmp_path, capsys):
    made = scenario("geo", pairs=2, buffer="10 pkt", qdisc="codel").resolve_files().data["net"]
    assert (made["pairs"], made["buffer"]) == (2, "10 pkt")
    assert "codel" in str(made["qdisc"])
    file = tmp_path / "x.toml"
    file.write_text(
        'duration = "1 s"\n[net]\nkind = "path"\npath = "starlink"\n'
        '[[flows]]\nid = "a"\npair = 0\ncc = "cubic"\n'
    )
    assert main(["check", str(file)]) == 2
    assert 'did you mean "starlink-2025"' in capsys.readouterr().err


def test_the_reference_names_every_source(capsys):
    assert main(["show", "path"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for source in ("arXiv 2402.16448", "APNIC Blog", "NSDI 2013", "draft-huitema-ccwg-c4-test"):
        assert source in said
    assert ASSUMED in said
