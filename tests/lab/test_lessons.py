"""The lessons run at each position of their slider, and show what they say."""

import tomllib
from pathlib import Path

import pytest

from ackclock.scenario.load import load

FOLDER = Path(__file__).resolve().parents[2] / "web/lessons"
LESSONS = {
    Path(lesson["file"]).stem: lesson
    for lesson in tomllib.loads((FOLDER / "lessons.toml").read_text())["lessons"]
}
KEYS = {"chapter", "title", "file", "chart", "question", "answers", "right", "explains", "slider"}


def scenario(name, value=None):
    made = load(FOLDER / f"{name}.toml")
    if value is None:
        return made
    return made.replace(**dict.fromkeys(LESSONS[name]["slider"]["paths"], value))


def flows(name, value=None):
    return {flow["id"]: flow for flow in scenario(name, value).run().summary["flows"]}


def goodputs(name, value=None):
    return [flow["goodput_bps"] / 1e6 for flow in flows(name, value).values()]


def lost(name, value):
    return sum(flow["lost_data_packets"] for flow in flows(name, value).values())


def jain(values):
    return sum(values) ** 2 / len(values) / sum(value**2 for value in values)


def test_there_are_thirty_lessons_in_seven_chapters_and_no_other_file():
    assert len(LESSONS) >= 30
    assert len({lesson["chapter"] for lesson in LESSONS.values()}) == 7
    assert {file.stem for file in FOLDER.glob("*.toml")} - {"lessons"} == set(LESSONS)


@pytest.mark.slow
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_has_a_question_and_every_position_of_its_slider_can_run(name):
    lesson = LESSONS[name]
    assert set(lesson) <= KEYS
    assert lesson["question"].endswith("?")
    assert 0 <= lesson["right"] < len(lesson["answers"]) == len(set(lesson["answers"]))
    values = lesson["slider"]["values"] if "slider" in lesson else [None]
    for value in values:
        made = scenario(name, value)
        made.check()
        # The page draws runs of up to 1.5 million packet-hops packet by packet.
        assert made.explain().data["predicted"]["packet_hops"] < 1.5e6
    if "slider" in lesson:
        start = values[lesson["slider"]["start"]]
        assert scenario(name, start).core_json() == scenario(name).core_json()


def test_small_buffers_cost_rate():
    assert goodputs("sawtooth", "0.1 bdp")[0] < 0.8 * goodputs("sawtooth", "1 bdp")[0]


def test_slow_starts_lose_what_the_lesson_says():
    assert [lost("slow-start", rule) for rule in ("standard", "hystart++", "limited")] == [
        202,
        101,
        26,
    ]


def test_the_larger_factor_wins():
    gentle, reno = goodputs("cut-factor", 0.8)
    assert gentle > 3 * reno


def test_four_times_the_loss_halves_the_rate():
    assert goodputs("square-root", 0.001)[0] / goodputs("square-root", 0.004)[0] == pytest.approx(
        2, rel=0.1
    )


def test_sack_delivers_most_and_reno_least():
    reno, newreno, sack = (goodputs("recoveries", r)[0] for r in ("reno", "newreno", "sack"))
    assert reno < newreno < sack


def test_bursts_cost_less_than_scattered_losses():
    assert goodputs("bursty-loss")[0] > 2.5 * goodputs("square-root", 0.001)[0]


def test_queues_decide_the_delay_of_the_game():
    delay = {q: flows("fq-codel-game", q)["game"]["srtt_mean_s"] for q in ("fifo", "fq-codel")}
    assert delay["fifo"] > 0.5
    assert delay["fq-codel"] < 0.04


def test_aimd_comes_to_even_shares_and_aiad_does_not():
    assert jain(goodputs("convergence", "aimd")) > 0.99
    assert jain(goodputs("akella-aiad", "aiad")) < 0.7


def test_a_doomed_source_takes_half_of_the_first_link():
    useful, doomed = goodputs("collapse", "10 Mbps")
    assert useful == pytest.approx(5, rel=0.05)
    assert doomed == pytest.approx(1, rel=0.01)
    assert goodputs("collapse", "1 Mbps")[0] > 9


def test_the_late_ledbat_flow_wins():
    first, late = goodputs("late-comer")
    assert late > 4 * first


def test_the_buffer_decides_between_bbr_and_cubic():
    bbr, cubic = goodputs("bbr-cubic", "0.5 bdp")
    assert bbr > 5 * cubic
    bbr, cubic = goodputs("bbr-cubic", "16 bdp")
    assert cubic > 2 * bbr


def test_green_takes_the_advantage_of_the_short_round_trip():
    assert goodputs("green", "red")[0] > 3 * goodputs("green", "red")[3]
    assert goodputs("green", "green")[0] < 1.2 * goodputs("green", "green")[3]


def test_waste_needs_a_second_congested_link():
    assert goodputs("mccullough", "50 Mbps") == pytest.approx([5, 5], rel=0.02)
    assert goodputs("mccullough", "1 Mbps") == pytest.approx([5, 1], rel=0.02)
