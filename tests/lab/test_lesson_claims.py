"""What the lessons say of windows, losses and queues, sentence by sentence, against their runs."""

import tomllib
from functools import cache

import numpy as np
import pyarrow.compute as pc
import pytest
from test_lesson_sentences import bottleneck, changed, flows, rates, run, says
from test_lessons import scenario

from ackclock.reproduce.read.folder import read

TABLES = ["windows", "packets", "flow_samples", "link_samples"]


@cache
def recorded(name, value=None):
    return scenario(name, value).run(record=TABLES, interval="10 ms")


def of_flow(result, table, flow, *columns):
    rows = result.tables[table]
    chosen = rows.filter(pc.equal(rows["flow"], flow))
    return [np.asarray(chosen[column]) for column in columns]


def cuts(result, flow, share=0.2):
    """Times of cuts by more than a share, and the windows before and after."""
    time, cwnd = of_flow(result, "windows", flow, "time_s", "cwnd_segments")
    at = np.nonzero(np.diff(cwnd) < -share * cwnd[:-1])[0]
    return list(zip(time[at + 1], cwnd[at], cwnd[at + 1], strict=True))


def drops(result, link):
    rows = result.tables["packets"]
    chosen = pc.and_(pc.equal(rows["link"], link), pc.equal(rows["event"], "drop"))
    return rows.filter(chosen)


def lost_part(flow):
    return flow["window_lost_data_packets"] / flow["window_sent_packets"]


def test_sawtooth_a_segment_a_round_trip_one_drop_a_half():
    result = recorded("sawtooth")
    seen = [cut for cut in cuts(result, "reno") if cut[0] > 10]
    assert flows(result)[0]["window_lost_data_packets"] == len(seen) > 10
    assert all(after == pytest.approx(before / 2, rel=0.05) for _, before, after in seen)
    time, srtt = of_flow(result, "flow_samples", "reno", "time_s", "srtt_s")
    (begun, _, low), (end, high, _) = seen[:2]
    between = (time > begun) & (time < end)
    assert (high - low) / np.sum(0.010 / srtt[between]) == pytest.approx(1, abs=0.1)


def test_slow_start_grows_by_a_half_and_loses_half_at_once():
    result = recorded("slow-start")
    time, cwnd = of_flow(result, "windows", "reno", "time_s", "cwnd_segments")
    rising = cwnd[: np.argmax(cwnd)]
    assert set(np.diff(rising)) == {1.0}
    first = cwnd[np.searchsorted(time, 0.13) - 1]
    later = cwnd[np.searchsorted(time, 0.13 + 5 * 0.061) - 1]
    assert (later / first) ** (1 / 5) == pytest.approx(1.5, abs=0.12)
    times = np.asarray(drops(result, "r0->r1")["time_s"])
    path_and_buffer = 4 * 20e6 * 0.060 / 12000
    assert len(times) == pytest.approx(path_and_buffer / 2, rel=0.02)
    # Within one round trip with a full queue.
    assert times[-1] - times[0] < path_and_buffer * 12000 / 20e6 + 0.060


def test_cut_factor_losses_together_and_shares_as_the_windows():
    result = recorded("cut-factor")
    gentle, reno = cuts(result, "gentle", 0.1), cuts(result, "reno", 0.3)
    times = np.array([time for time, *_ in gentle])
    together = [np.min(np.abs(times - time)) < 0.2 for time, *_ in reno]
    assert np.mean(together) > 0.8
    assert np.median([b / a for _, a, b in gentle]) == pytest.approx(0.8, abs=0.03)
    assert np.median([b / a for _, a, b in reno]) == pytest.approx(0.5, abs=0.03)
    windows = [
        cwnd[time > 20].mean()
        for time, cwnd in (
            of_flow(result, "flow_samples", who, "time_s", "cwnd_segments")
            for who in ("gentle", "reno")
        )
    ]
    assert windows[0] / windows[1] == pytest.approx(np.divide(*rates(result)), rel=0.1)
    # The rule of RFC 8312, 5.1: a = 3 (1 - b) / (1 + b) is 1 for one half, and a third here.
    fair = scenario("cut-factor").replace(**{"flows[0].cc.a": 3 * 0.2 / 1.8}).run()
    assert rates(fair)[0] == pytest.approx(rates(fair)[1], rel=0.35)


def test_cubic_does_not_depend_on_the_round_trip():
    def gaps(**changes):
        result = scenario("cubic-long").replace(**{"flows[0].cc": "cubic", **changes})
        times = [time for time, *_ in cuts(result.run(record=["windows"]), "one")][2:]
        return sorted(np.diff(times))

    long, short = gaps(), gaps(**{"net.rtt": "100 ms", "net.rate": "60 Mbps"})
    assert short == pytest.approx(long[: len(short)], rel=0.1)


def test_recoveries_repair_what_the_lesson_says():
    def repairs(name):
        result = recorded("recoveries", name)
        time, sent = of_flow(result, "flow_samples", "one", "time_s", "retransmits")
        return result, time, sent

    result, time, sent = repairs("newreno")
    lost = flows(result)[0]["lost_data_packets"]
    assert lost > 20
    first = time[np.argmax(sent > 0)]
    # NewReno: about one a round trip of 60 to 90 ms; SACK several.
    newreno = sent[np.searchsorted(time, first + 1.0)]
    assert newreno <= 1.0 / 0.060 + 1
    _, time, sent = repairs("sack")
    first = time[np.argmax(sent > 0)]
    assert sent[np.searchsorted(time, first + 0.2)] > 2 * 0.2 / 0.060


def test_reno_takes_duplicates_of_one_burst_for_new_losses_and_ends_at_its_timer():
    result = scenario("recoveries", "reno").run(record=[*TABLES, "states"], interval="1 ms")
    time, state = of_flow(result, "states", "one", "time_s", "state")
    timer = list(state).index("loss")
    begun = time[:timer][state[:timer] == "recovery"]
    assert len(begun) == 2
    # No packet is dropped after the first halving, so the second is for the same losses.
    dropped = np.asarray(drops(result, "r0->r1")["time_s"])
    assert not np.any((dropped > begun[0]) & (dropped < time[timer]))
    before_timer = [cut for cut in cuts(result, "one") if cut[0] < time[timer]]
    assert [when for when, *_ in before_timer] == list(begun)
    assert [b / a for _, a, b in before_timer] == [0.5, 0.5]
    when, repaired = of_flow(result, "flow_samples", "one", "time_s", "retransmits")
    assert repaired[np.searchsorted(when, time[timer]) - 1] == 2  # one each
    # The least timeout of the lesson's era, after the last acknowledgement.
    assert time[timer] - time[timer - 1] == pytest.approx(1, abs=0.01)


def test_bursts_are_the_same_loss_in_fewer_cuts():
    burst, single = recorded("bursty-loss"), recorded("square-root", 0.001)
    parts = [
        flows(result)[0]["lost_data_packets"] / flows(result)[0]["sent_packets"]
        for result in (burst, single)
    ]
    assert parts[0] == pytest.approx(parts[1], rel=0.4)
    for_each = [
        flows(r)[0]["lost_data_packets"] / flows(r)[0]["recoveries"] for r in (burst, single)
    ]
    assert for_each[0] > 4 * for_each[1]


def test_reordering_halves_at_events_and_rack_does_not():
    result = recorded("reordering", "sack")
    seen = cuts(result, "one")
    assert len(seen) > 10
    assert np.median([b / a for _, a, b in seen]) == pytest.approx(0.5, abs=0.05)
    # RACK waits longer: fewer packets are called lost of those that it delivers.
    of_each = [
        flows(made)[0]["recoveries"] / flows(made)[0]["delivered_packets"]
        for made in (result, recorded("reordering", "rack"))
    ]
    assert of_each[0] > 2 * of_each[1]


def test_a_full_link_needs_a_queue_of_a_path():
    plain = {"net.qdisc": "fifo"}
    whole = scenario("codel-target").replace(**plain, **{"net.buffer": "1 bdp"}).run()
    less = scenario("codel-target").replace(**plain, **{"net.buffer": "0.25 bdp"}).run()
    assert bottleneck(whole)["utilisation"] > 0.97 > bottleneck(less)["utilisation"] + 0.02


def test_the_game_waits_behind_the_download_and_codel_shortens_one_queue():
    for queue in ("fifo", "codel"):
        download, game = flows(run("fq-codel-game", queue))
        assert game["srtt_mean_s"] == pytest.approx(download["srtt_mean_s"], rel=0.15)


def test_a_mark_halves_as_a_loss_does():
    result = scenario("red-ecn", True).run(record=["windows"])
    assert flows(result)[0]["ecn_reductions"] > 10
    parts = [b / a for flow in flows(result) for _, a, b in cuts(result, flow["id"])]
    assert np.median(parts) == pytest.approx(0.5, abs=0.05)


def test_each_common_cut_halves_the_difference():
    result = recorded("convergence", "reno")
    assert rates(scenario("convergence").replace(duration="10 s", warmup="5 s").run())[0] > 9
    first, second = cuts(result, "first"), cuts(result, "second")
    parts = []
    for time, before, after in first:
        for when, low, lower in second:
            if abs(time - when) < 0.2 and before - low > 8:
                parts.append((after - lower) / (before - low))
    assert parts
    assert np.median(parts) == pytest.approx(0.5, abs=0.15)


def test_fair_queueing_drops_the_excess_of_the_source():
    hose, *tcp = flows(run("unresponsive", "fq"))
    assert lost_part(hose) == pytest.approx(1 - 2.5 / 8, abs=0.03)
    assert max(lost_part(flow) for flow in tcp) < 0.02


def test_half_of_the_first_link_dies_at_the_second():
    links = {link["id"]: link for link in run("collapse", "10 Mbps").summary["links"]}
    second = links["r2->d2"]
    rate = second["window_arrived_packets"] * 1000 * 8 / 15 / 1e6
    assert rate == pytest.approx(5, rel=0.02)
    assert second["loss_ratio"] == pytest.approx(0.8, abs=0.02)


@pytest.mark.slow
def test_the_long_flow_loses_at_three_places_and_backs_off_more_for_what_it_sends():
    result = recorded("parking-lot", "fifo")
    for link in ("r0->r1", "r1->r2", "r2->r3"):
        assert "long" in drops(result, link)["flow"].to_pylist()
    long, *local = flows(result)
    assert lost_part(long) > 1.5 * max(lost_part(flow) for flow in local)


def test_vegas_keeps_two_to_four_packets_of_each_flow():
    result = recorded("vegas", "vegas")
    for flow in flows(result):
        time, cwnd, srtt = of_flow(
            result, "flow_samples", flow["id"], "time_s", "cwnd_segments", "srtt_s"
        )
        late = time > 20
        extra = np.mean(cwnd[late] * (1 - flow["rtt_min_s"] / srtt[late]))
        assert 1.5 <= extra <= 4.5
        assert flow["srtt_mean_s"] < 1.3 * 0.040


def test_reno_fills_the_queue_and_vegas_retreats():
    result = recorded("vegas-reno", "fifo")
    assert bottleneck(result)["queue_mean_packets"] > 30
    time, cwnd = of_flow(result, "flow_samples", "vegas", "time_s", "cwnd_segments")
    assert cwnd[time > 20].mean() < 10


def test_ledbat_plus_plus_drains_the_queue():
    result = changed("late-comer", "flows[*].cc", "ledbat++", ("link_samples",))
    rows = result.tables["link_samples"]
    rows = rows.filter(pc.equal(rows["link"], "r0->r1"))
    late = np.asarray(rows["queue_packets"])[np.asarray(rows["time_s"]) > 30]
    assert late.min() <= 2 < late.mean()


@pytest.mark.slow
def test_fast_keeps_alpha_packets_beyond_what_it_believes():
    result = recorded("fast", "fast")
    for flow in flows(result):
        time, cwnd, srtt = of_flow(
            result, "flow_samples", flow["id"], "time_s", "cwnd_segments", "srtt_s"
        )
        late = time > 50
        extra = np.mean(cwnd[late] * (1 - flow["rtt_min_s"] / srtt[late]))
        assert extra == pytest.approx(20, rel=0.15)
    least = [flow["rtt_min_s"] for flow in flows(result)]
    reduced = [flow["rtt_min_s"] for flow in flows(run("fast", "fast-rate-reduction"))]
    assert all(b < a for a, b in zip(least[1:], reduced[1:], strict=True))


def test_bbr_probes_a_quarter_above_in_one_of_eight_round_trips():
    rows = recorded("bbr", "bbr").tables["packets"]
    arrived = rows.filter(
        pc.and_(pc.equal(rows["link"], "r0->r1"), pc.equal(rows["event"], "arrival"))
    )
    time = np.asarray(arrived["time_s"])
    counts, _ = np.histogram(time[(time > 5) & (time < 14)], bins=np.arange(5, 14, 0.010))
    rate = np.convolve(counts, np.ones(3), "valid") * 12000 / 0.030 / 20e6
    assert np.quantile(rate, 0.98) == pytest.approx(1.25, abs=0.07)
    assert np.mean(rate > 1.12) == pytest.approx(1 / 8, abs=0.06)


def test_cubic_backs_off_from_losses_that_bbr_ignores():
    bbr, cubic = flows(run("bbr-cubic", "0.5 bdp"))
    assert bbr["lost_data_packets"] > cubic["lost_data_packets"] > 0
    assert (
        bottleneck(run("bbr-cubic", "16 bdp"))["queue_mean_packets"]
        > flows(run("bbr-cubic", "16 bdp"))[0]["cwnd_segments"]
    )


def test_bbr3_bears_one_percent_and_not_four():
    part = [
        rates(scenario("bbr-loss", "bbr3").replace(**{"net.loss": p}).run())[0]
        for p in (0.01, 0.08)
    ]
    assert part[0] > 0.75 * 50
    bbr = rates(scenario("bbr-loss", "bbr").replace(**{"net.loss": 0.08}).run())[0]
    assert part[1] < 0.7 * bbr


def test_dctcp_cuts_by_less_than_reno():
    small = [
        1 - b / a
        for _, a, b in cuts(
            scenario("dctcp", "dctcp").run(record=["windows"]),
            flows(run("dctcp", "dctcp"))[0]["id"],
            0.01,
        )
    ]
    large = [
        1 - b / a
        for _, a, b in cuts(
            scenario("dctcp", "reno").run(record=["windows"]),
            flows(run("dctcp", "reno"))[0]["id"],
            0.01,
        )
    ]
    assert np.median(small[3:]) < 0.35
    assert np.median(large[1:]) == pytest.approx(0.5, abs=0.05)


def test_the_cellular_link_loses_when_its_buffer_is_full():
    result = recorded("cellular", "cubic")
    rows = result.tables["packets"]
    rows = rows.filter(pc.equal(rows["link"], "r0->r1"))
    waiting, full = 0, []
    for event in rows["event"].to_pylist():
        if event == "drop":
            full.append(waiting)
        else:
            waiting += 1 if event == "arrival" else -1
        if event == "drop":
            waiting -= 1
    assert min(full) >= 99


def test_aiad_leaves_the_difference_and_reno_does_not():
    result = recorded("akella-aiad", "aiad")
    time, first = of_flow(result, "flow_samples", "first", "time_s", "cwnd_segments")
    later, second = of_flow(result, "flow_samples", "second", "time_s", "cwnd_segments")
    gap = np.interp(np.arange(30, 90, 1.0), time, first) - np.interp(
        np.arange(30, 90, 1.0), later, second
    )
    assert gap.min() > 0.5 * gap.max()
    even = rates(run("akella-aiad", "reno"))
    assert even[0] == pytest.approx(even[1], rel=0.1)


def test_the_paper_says_that_aimd_is_fairer_and_the_reproduction_measures_it():
    says("akella-aiad", "AIMD fairer than AIAD", "reproduce akella2002", "up to 13 environments")
    paper = read("akella2002")
    claim = paper.claims["A-3"]
    assert "AIMD fairer than AIAD" in claim.statement
    check = next(one for one in claim.checks if one.name == "unfairness of AIAD above AIMD")
    assert "f_aiad - f_aimd" in check.measure
    assert check.expect == {"above": 0}
    study = tomllib.loads(paper.studies["settings"].file.read_text())
    assert len(study["over"]["environment"]["values"]) == 13


def test_greed_costs_only_the_greedy():
    greedy, *polite = flows(run("legout-fq", "fq"))
    assert lost_part(greedy) > 3 * max(lost_part(flow) for flow in polite)
    assert min(flow["goodput_bps"] for flow in polite) > 2.3e6


def test_green_drops_long_round_trips_less():
    parts = [lost_part(flow) for flow in flows(run("green", "green"))]
    assert parts[0] > parts[1] > parts[3]


def test_rate_reduction_fills_then_drains():
    result = recorded("fast-rate-reduction", "fast-rate-reduction")
    time, waiting = of_flow(result, "flow_samples", "late", "time_s", "in_flight_segments")
    start = waiting[(time > 20) & (time < 25)]
    peak = np.argmax(start)
    assert start[peak:].min() < 0.1 * start[peak]


def test_nothing_is_wasted_with_one_congested_link():
    whole = run("mccullough", "50 Mbps")
    assert bottleneck(whole)["utilisation"] > 0.99
    assert sum(rates(whole)) == pytest.approx(10, rel=0.03)


def test_a_solver_finds_a_path_of_the_kind_that_the_lesson_plays():
    says("jitter", "a delay of up to a round trip that comes and goes: ackclock prove")
    pytest.importorskip("z3")
    pytest.importorskip("cvc5")
    from ackclock.prove.prove import prove
    from ackclock.prove.question import make_question

    proof = prove(make_question("copa", "utilisation=0.1"), periods=(2,))
    assert proof.verdict == "refuted"
    assert proof.replay.replayed
    paths = [proof.replay.data["net"], scenario("jitter").data["net"]]
    for net in paths:
        (held,) = net["impairments"]
        assert held["kind"] == "delay-steps"
        assert held["keep_order"]
        delays = [float(step["extra"].removesuffix(" ms")) for step in held["steps"]]
        trip = float(str(net["rtt"]).removesuffix(" ms"))
        assert trip / 2 < max(delays) <= trip
        assert min(delays) == 0
        # It goes back to nothing again and again.
        assert delays.count(0) > 10
