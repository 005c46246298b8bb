"""Every number and every comparison that a lesson states, against the runs of its slider."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from test_lessons import LESSONS, scenario

MBIT = 1e6
CHARTS = {"window", "rate", "queue", "rtt", "phase", "sequence"}


@cache
def run(name, value=None, **changes):
    made = scenario(name, value)
    return (made.replace(**changes) if changes else made).run()


@cache
def changed(name, path, value, tables=()):
    return scenario(name).replace(**{path: value}).run(record=[*tables], interval="1 ms")


def flows(result):
    return result.summary["flows"]


def rates(result):
    return [flow["goodput_bps"] / MBIT for flow in flows(result)]


def bottleneck(result):
    return max(result.summary["links"], key=lambda link: link["queue_mean_packets"])


def says(name, *words):
    for word in words:
        assert word in LESSONS[name]["explains"], word


def near(value, digits=2):
    """Equal when rounded as the sentence has it."""
    return pytest.approx(value, abs=0.5001 * 10**-digits)


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_names_the_one_chart_that_shows_its_answer(name):
    assert LESSONS[name]["chart"] in CHARTS


def test_sawtooth():
    says("sawtooth", "used to 99.7 %", "leaves 7.5 of 10 Mbit/s")
    assert bottleneck(run("sawtooth", "1 bdp"))["utilisation"] == near(0.997, 3)
    assert rates(run("sawtooth", "0.1 bdp")) == [near(7.5, 1)]
    rising = [rates(run("sawtooth", value))[0] for value in ("0.1 bdp", "0.25 bdp", "0.5 bdp")]
    assert rising == sorted(rising)


def test_cut_factor():
    says("cut-factor", "7.7 and 2.0 Mbit/s")
    assert rates(run("cut-factor", 0.8)) == [near(7.7, 1), near(2.0, 1)]


def test_square_root():
    says("square-root", "about 5.6 Mbit/s of 50", "delivers 47")
    law = np.sqrt(3 / 2) / np.sqrt(0.001) * 1460 * 8 / 0.080 / MBIT
    assert law == near(5.65, 1)
    assert rates(run("square-root", 0.001))[0] == pytest.approx(law, rel=0.1)
    assert rates(changed("square-root", "flows[0].cc", "bbr")) == [near(47, 0)]


def cuts(result):
    """Times of halvings or cuts after slow start, and the windows before them."""
    windows = result.tables["windows"]
    time, cwnd = (np.asarray(windows[name]) for name in ("time_s", "cwnd_segments"))
    at = np.nonzero(np.diff(cwnd) < -0.2 * cwnd[:-1])[0]
    return [(time[i], cwnd[i]) for i in at]


def test_cubic_long():
    says("cubic-long", "250 round trips of 200 ms: 50 s", "after 5 or 12 s, in turn")
    (_, first), (_, _) = cuts(changed("cubic-long", "flows[0].cc", "reno", ("windows",)))[:2]
    assert first > 200
    # One segment a round trip from the first cut to the second.
    (begun, low), (end, high) = cuts(changed("cubic-long", "flows[0].cc", "reno", ("windows",)))[:2]
    assert (high - low / 2) / (end - begun) == pytest.approx(1 / 0.200, rel=0.05)
    times = [t for t, _ in cuts(changed("cubic-long", "flows[0].cc", "cubic", ("windows",)))][2:]
    gaps = [b - a for a, b in pairwise(times)]
    assert {round(gap) for gap in gaps} == {5, 12}


def test_recoveries():
    reno = flows(run("recoveries", "reno"))[0]
    assert reno["timeouts"] == 1
    assert reno["retransmits"] > flows(run("recoveries", "sack"))[0]["retransmits"]


def test_reordering():
    sack, rack = (run("reordering", value) for value in ("sack", "rack"))
    assert flows(sack)[0]["lost_data_packets"] == 0
    assert flows(sack)[0]["recoveries"] > 10
    assert rates(rack)[0] > 1.5 * rates(sack)[0]
    assert bottleneck(sack)["utilisation"] < 0.5


def test_bursty_loss():
    says("bursty-loss", "5.2 Mbit/s", "about three times")
    random = rates(run("square-root", 0.001))[0]
    assert random == near(5.2, 1)
    assert rates(run("bursty-loss"))[0] / random == pytest.approx(3, abs=0.2)


def test_bufferbloat():
    says("bufferbloat", "1.2 s", "3.5 ms", "4.87 to 4.52", "92.8 %", "16 ms")
    assert 500 * 12000 / 5e6 == 1.2
    assert flows(run("bufferbloat", "fifo"))[0]["srtt_mean_s"] > 0.5
    assert rates(run("bufferbloat", "fifo")) == [near(4.87)]
    codel = run("bufferbloat", "codel")
    assert rates(codel) == [near(4.52)]
    assert bottleneck(codel)["utilisation"] == near(0.928, 3)
    assert 1e3 * bottleneck(codel)["delay_mean_s"] == near(3.5, 1)
    pie = run("bufferbloat", "pie")
    assert 1e3 * bottleneck(pie)["delay_mean_s"] == near(16, 0)
    assert rates(pie)[0] == pytest.approx(4.87, rel=0.005)


def test_codel_target():
    says("codel-target", "a quarter of the time", "20 flows", "97 %")
    short, usual = (run("codel-target", value) for value in ("1 ms", "5 ms"))
    assert rates(short)[0] < rates(usual)[0]
    assert bottleneck(short)["delay_mean_s"] < bottleneck(usual)["delay_mean_s"]
    assert 1 - bottleneck(short)["utilisation"] == pytest.approx(0.25, abs=0.01)
    many = scenario("codel-target", "1 ms")
    flow = many.to_document()["flows"][0]
    many = many.replace(flows=[{**flow, "id": f"reno{n}"} for n in range(20)]).run()
    assert bottleneck(many)["utilisation"] == near(0.97)


def test_the_game():
    says("fq-codel-game", "less than two packets of the download")
    milliseconds = {
        queue: 1e3 * flows(run("fq-codel-game", queue))[1]["srtt_mean_s"]
        for queue in ("fifo", "codel", "fq-codel")
    }
    assert milliseconds["fifo"] > 500
    assert milliseconds["codel"] == near(38, 0)
    assert milliseconds["fq-codel"] == near(35, 0)
    packet_ms = 1500 * 8 / 5e6 * 1e3
    assert milliseconds["fq-codel"] - 30 < 2 * packet_ms


def test_red_with_marks():
    drop, mark = (run("red-ecn", value) for value in (False, True))
    assert sum(rates(mark)) == pytest.approx(sum(rates(drop)), rel=0.01)
    sent = [sum(flow["retransmits"] for flow in flows(result)) for result in (drop, mark)]
    assert sent[1] / sent[0] == pytest.approx(0.1, abs=0.02)


def test_convergence():
    first, second = rates(run("convergence", "reno"))
    assert first == pytest.approx(second, rel=0.01)
    first, second = rates(run("convergence", "mimd"))
    assert first > 2 * second


def test_round_trip_bias():
    says("rtt-bias", "60 and 163 ms", "2.7 times", "7.2 Mbit/s of 10", "6.4 and 3.3")
    fifo = run("rtt-bias", "fifo")
    rtts = [1e3 * flow["srtt_mean_s"] for flow in flows(fifo)]
    assert rtts == [near(60, 0), near(163, 0)]
    assert rtts[1] / rtts[0] == near(2.7, 1)
    assert rates(fifo)[0] == near(7.2, 1)
    assert rates(run("rtt-bias", "fq"))[0] < 1.1 * rates(run("rtt-bias", "fq"))[1]
    assert rates(changed("rtt-bias", "flows[*].cc", "cubic")) == [near(6.4, 1), near(3.3, 1)]


def test_an_unresponsive_source():
    says("unresponsive", "2.0 Mbit/s")
    hose, *tcp = rates(run("unresponsive", "fifo"))
    assert hose > 0.99 * 8
    assert sum(tcp) == near(2.0, 1)
    assert rates(run("unresponsive", "fq")) == [pytest.approx(2.5, rel=0.05)] * 4


def test_collapse():
    assert rates(run("collapse", "10 Mbps")) == [pytest.approx(5, rel=0.01), pytest.approx(1)]
    assert rates(run("collapse", "1 Mbps"))[0] > 9
    document = scenario("collapse").to_document()
    links = [{**link, "qdisc": "fq"} for link in document["net"]["links"]]
    fair = scenario("collapse").replace(**{"net.links": links}).run()
    assert rates(fair) == [pytest.approx(5, rel=0.01), pytest.approx(1, rel=0.01)]


def test_parking_lot():
    says("parking-lot", "4.7 Mbit/s where FIFO gives 0.4")
    fifo, fair = (run("parking-lot", value) for value in ("fifo", "fq"))
    assert rates(fifo)[0] == near(0.4, 1)
    assert rates(fair)[0] == near(4.7, 1)
    rtts = [flow["srtt_mean_s"] for flow in flows(fifo)]
    assert rtts[0] == max(rtts)


def test_vegas_alone():
    vegas = run("vegas", "vegas")
    # Between 2 and 4 packets for each of two flows.
    assert 4 <= bottleneck(vegas)["queue_mean_packets"] <= 8
    assert sum(flow["lost_data_packets"] for flow in flows(vegas)) == 0


def test_vegas_beside_reno():
    says("vegas-reno", "buffer of 10 packets shares are nearly even")
    vegas, reno = rates(run("vegas-reno", "fifo"))
    assert reno > 5 * vegas
    vegas, reno = rates(changed("vegas-reno", "net.buffer", "10 pkt"))
    assert vegas == pytest.approx(reno, rel=0.1)
    vegas, reno = rates(run("vegas-reno", "fq-codel"))
    assert vegas == pytest.approx(reno, rel=0.2)


def test_the_late_comer():
    says("late-comer", "89 ms of queue")
    late = flows(run("late-comer"))[1]
    assert 1e3 * late["rtt_min_s"] - 40 == near(89, 0)
    assert flows(run("late-comer"))[0]["srtt_mean_s"] > 0.040 + 0.100
    first, second = rates(changed("late-comer", "flows[*].cc", "ledbat++"))
    assert first == pytest.approx(second, rel=0.2)


def test_fast():
    shares = rates(run("fast", "fast"))
    assert shares == sorted(shares)
    least = [flow["rtt_min_s"] for flow in flows(run("fast", "fast"))]
    assert least == sorted(least)
    reduced = rates(run("fast", "fast-rate-reduction"))
    assert max(reduced) / min(reduced) < 0.5 * max(shares) / min(shares)


def test_bbr_alone():
    says("bbr", "to four packets")
    windows = changed("bbr", "flows[0].cc", "bbr", ("windows",)).tables["windows"]
    time, cwnd = (np.asarray(windows[name]) for name in ("time_s", "cwnd_segments"))
    assert cwnd[time > 5].min() == 4
    dips = time[(cwnd == 4) & (time > 5)]
    apart = np.diff(dips)
    assert apart[apart > 1].min() == pytest.approx(10, abs=1)
    assert bottleneck(run("bbr", "bbr"))["queue_mean_packets"] < 0.05 * 455
    assert bottleneck(run("bbr", "cubic"))["queue_mean_packets"] == near(455, 0)


def test_loss_that_means_nothing():
    assert rates(run("bbr-loss", "bbr"))[0] > 0.9 * 50
    assert rates(run("bbr-loss", "bbr3"))[0] > 0.75 * 50
    assert rates(run("bbr-loss", "cubic"))[0] < 0.1 * 50


def test_dctcp():
    def queue(control):
        table = changed("dctcp", "flows[0].cc", control, ("link_samples",)).tables["link_samples"]
        rows = [r for r in table.to_pylist() if r["link"] == "r0->r1" and r["time_s"] > 1]
        return np.array([row["queue_packets"] for row in rows])

    dctcp, reno = queue("dctcp"), queue("reno")
    assert dctcp.mean() == pytest.approx(20, abs=1)
    assert reno.std() > 2 * dctcp.std()
    assert bottleneck(run("dctcp", "dctcp"))["utilisation"] > 0.999


def test_the_cellular_link():
    says("cellular", "78 of its 100 packets", "keeps 8 waiting")
    cubic, bbr = (run("cellular", value) for value in ("cubic", "bbr"))
    assert bottleneck(cubic)["queue_mean_packets"] == near(78, 0)
    assert bottleneck(bbr)["queue_mean_packets"] == near(8, 0)
    assert rates(bbr)[0] == pytest.approx(rates(cubic)[0], rel=0.03)
    assert flows(cubic)[0]["lost_data_packets"] > 0


def test_aiad():
    first, second = flows(run("akella-aiad", "aiad"))
    lost = [flow["lost_data_packets"] / flow["sent_packets"] for flow in (first, second)]
    assert first["goodput_bps"] > 5 * second["goodput_bps"]
    assert lost[1] > lost[0]


def test_greed():
    greedy, *polite = rates(run("legout-fq", "fifo"))
    assert greedy > 0.8 * 10
    greedy, *polite = rates(run("legout-fq", "fq"))
    assert greedy < min(polite)


def test_green():
    says("green", "20, 60, 100 and 140 ms", "6.0, 8.8, 15.1 and 8.9", "18.4 and the longest 2.6")
    least = [1e3 * flow["rtt_min_s"] for flow in flows(run("green", "green"))]
    assert least == [pytest.approx(rtt, rel=0.02) for rtt in (20, 60, 100, 140)]
    green = rates(run("green", "green"))
    assert green == [near(6.0, 1), near(8.8, 1), near(15.1, 1), near(8.9, 1)]
    assert green[0] == min(green)
    red = rates(run("green", "red"))
    assert (red[0], red[3]) == (near(18.4, 1), near(2.6, 1))


def test_fast_rate_reduction():
    says("fast-rate-reduction", "42 ms, where propagation is 40")
    result = run("fast-rate-reduction", "fast-rate-reduction")
    assert 1e3 * flows(result)[1]["rtt_min_s"] == near(42, 0)
    first, late = rates(result)
    assert first == pytest.approx(late, rel=0.06)
    first, late = rates(run("fast-rate-reduction", "fast"))
    assert late > 1.5 * first


def test_jitter():
    says("jitter", "1.3 and 0.5 Mbit/s", "11.1 and 11.6")
    assert "every ninth round trip" in LESSONS["jitter"]["question"]
    controls = ("copa", "vegas", "bbr", "cubic")
    delivered = [rates(run("jitter", cc))[0] for cc in controls]
    assert delivered == [near(x, 1) for x in (1.3, 0.5, 11.1, 11.6)]
    steps = scenario("jitter").data["net"]["impairments"][0]["steps"]
    assert [step["at"] for step in steps[:3]] == ["0 ms", "800 ms", "900 ms"]


def test_mccullough():
    says("mccullough", "takes 5 Mbit/s of the shared link and delivers 1")
    narrow = run("mccullough", "1 Mbps")
    assert rates(narrow) == [pytest.approx(5, rel=0.01), pytest.approx(1, rel=0.01)]
    assert bottleneck(narrow)["utilisation"] > 0.99
