"""What studies answer and write, from results made by hand: demonstration, adversary, pages."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from ackclock._util.arrow import array, table
from ackclock.experiments import store_page
from ackclock.experiments.statistics import Mean
from ackclock.studies import geant_demo
from ackclock.studies.adversary import draw
from ackclock.studies.adversary.result import AdversaryResult
from ackclock.studies.adversary.shape import PathShape
from ackclock.studies.geant_demo import DELAY, FAIR, LOSS, MEAN, MINIMUM, DemoResults
from ackclock.studies.late_comer import audit as late_audit
from ackclock.studies.late_comer import page as late_page
from ackclock.studies.late_comer.rows import LateComerRow, verdict


def demo(**values):
    """A demonstration of three seeds: by discipline, the values of each metric."""
    results = DemoResults(geant_demo.Size(), "", dict.fromkeys(values))
    plain = {metric.key: [1.0] * 3 for metric in geant_demo.METRICS}
    plain["jain_of_shares"] = [0.8125] * 3
    results.__dict__["values"] = {
        qdisc: [{key: of[i] for key, of in {**plain, **given}.items()} for i in range(3)]
        for qdisc, given in values.items()
    }
    return results


def test_means_and_differences_of_a_demonstration_are_in_the_unit_of_their_metric():
    results = demo(fifo={"mean": [1e6, 3e6, 5e6]}, red={"mean": [2e6, 4e6, 6e6]})
    mean, low, high = results.interval("fifo", MEAN)
    # Of 1, 3 and 5 Mbit/s: a deviation of 2, t of 2 degrees 4.303.
    assert mean == pytest.approx(3.0)
    assert (mean - low, high - mean) == pytest.approx((4.3027 * 2 / 3**0.5,) * 2, rel=1e-4)
    # Seed by seed each has exactly 1 Mbit/s more.
    assert results.difference("red", "fifo", MEAN) == pytest.approx((1.0, 1.0, 1.0))
    assert results.differences("red")[0].startswith("+1")
    assert results.differences("fifo")[0].startswith("0")
    assert len(results.cells("red")) == len(geant_demo.METRICS)


def test_disciplines_are_alike_within_chance_and_a_twentieth():
    results = demo(
        fifo={"fair": [0.90, 0.90, 0.90], "delay": [0.03, 0.03, 0.03]},
        red={"fair": [0.89, 0.91, 0.91], "delay": [0.01, 0.02, 0.06]},
        fq={"fair": [0.99, 0.99, 0.99], "delay": [0.01, 0.01, 0.01]},
    )
    assert results.extremes(FAIR) == ("fq", "fifo", True)
    assert results.alike("fifo", FAIR) == ["fifo", "red"]
    assert results.alike("fq", FAIR) == ["fq"]
    # Within chance of FIFO, but all the same as large: 30 and 30 ms.
    assert results.alike("fifo", DELAY) == ["fifo", "red"]
    assert results.extremes(DELAY)[1:] == ("fq", True)


def test_the_answer_of_a_demonstration_names_the_best_and_what_it_costs():
    results = demo(
        fifo={"fair": [0.5] * 3, "minimum": [2e4, 2.5e4, 3e4], "delay": [0.04] * 3,
              "loss": [0.01] * 3, "jain": [0.25] * 3},
        fq={"fair": [0.9996] * 3, "minimum": [2.1e4, 2.4e4, 3.3e4], "delay": [0.01] * 3,
            "loss": [0.02] * 3, "jain": [0.75] * 3},
    )  # fmt: skip
    assert results.answer() == (
        "Sharing is fairest, by Jain's index of goodput / max-min share: 0.9996 under FQ against"
        " 0.5 under FIFO. Raw goodputs give 0.75 against 0.25, for routes differ: the max-min"
        " shares themselves have 0.812. What is best for the slowest is not clear: 26 kbit/s under"
        " FIFO and FQ against 25 kbit/s under FIFO. Packets wait least, per link: 10 ms under FQ"
        " against 40 ms under FIFO, at a loss of 2 % against 1 % under FIFO."
    )
    assert MINIMUM.factor == 1e-3
    assert LOSS.unit == "%"


def test_a_network_falls_into_its_parts():
    links = [{"a": "a", "b": "b"}, {"a": "c", "b": "d"}, {"a": "e", "b": "f"}, {"a": "b", "b": "d"}]
    parts = geant_demo.parts_of(links)
    assert parts["a"] == parts["b"] == parts["c"] == parts["d"]
    assert parts["e"] == parts["f"] != parts["a"]


def test_a_run_of_the_demonstration_is_measured_by_hand(monkeypatch):
    monkeypatch.setattr(geant_demo, "max_min", lambda run: np.array([1e6, 2e6]))
    flows = [
        {"goodput_bps": 1e6, "sent_packets": 150, "lost_data_packets": 3},
        {"goodput_bps": 1e6, "sent_packets": 50, "lost_data_packets": 1},
    ]
    links = [{"utilisation": 0.75, "delay_mean_s": 0.02},
             {"utilisation": 0.25, "delay_mean_s": 0.1},
             {"utilisation": 0.0, "delay_mean_s": None}]  # fmt: skip
    links += [{"utilisation": 0.0, "delay_mean_s": 9.0}] * 9
    found = geant_demo.measure_run(SimpleNamespace(summary={"flows": flows, "links": links}))
    assert (found["mean"], found["minimum"], found["jain"]) == (1e6, 1e6, 1.0)
    # Shares of 1 and 1/2: (3/2)^2 / (2 (1 + 1/4)); of 1 and 2: 9 / (2 * 5).
    assert found["fair"] == pytest.approx(0.9)
    assert found["jain_of_shares"] == pytest.approx(0.9)
    assert found["loss"] == pytest.approx(4 / 200)
    assert found["delay"] == pytest.approx(0.75 * 0.02 + 0.25 * 0.1)
    # Of the ten busiest.
    assert found["used"] == pytest.approx(0.1)
    for link in links:
        link["utilisation"] = 0.0
    for flow in flows:
        flow["sent_packets"] = 0
    idle = geant_demo.measure_run(SimpleNamespace(summary={"flows": flows, "links": links}))
    assert math.isnan(idle["loss"])
    assert math.isnan(idle["delay"])


def adversary(want, gap, **goodput):
    arena = SimpleNamespace(
        controls={"mine": "aimd", "CUBIC": "cubic", "Vegas": "vegas"}, peak_bps=10e6,
        rival=lambda means, want: max(set(means) - {"mine"}, key=means.get),
    )  # fmt: skip
    shape = PathShape(((0.5, 2.0), (0.1, 1.0)))
    means = {name: Mean(mean, mean - 0.01, mean + 0.01) for name, mean in goodput.items()}
    return AdversaryResult(arena, want, shape, PathShape(((0.5, 2.0),)), means, Mean(*gap), 40, 7)


def test_an_adversary_answers_by_the_sign_of_its_gap_on_fresh_seeds():
    found = adversary("worst", (-0.25, -0.375, -0.125), mine=0.5, CUBIC=0.75, Vegas=0.25)
    assert found.holds
    assert found.answer() == (
        "mine gets 0.25 [0.125, 0.375] of the bandwidth less than CUBIC on 5 seeds that the search"
        " did not see."
    )
    # An interval that ends at 0 shows nothing.
    open_ = adversary("worst", (-0.25, -0.5, 0.0), mine=0.5, CUBIC=0.75)
    assert not open_.holds
    assert open_.answer() == (
        "No pattern was found where mine loses to the best of the others: the gap to CUBIC is"
        " -0.25 [-0.5, 0] on 5 seeds that the search did not see."
    )
    best = adversary("best", (0.25, 0.125, 0.375), mine=0.75, Vegas=0.5)
    assert best.holds
    assert "mine gets 0.25 [0.125, 0.375] of the bandwidth more than Vegas" in best.answer()
    assert not adversary("best", (0.25, 0.0, 0.5), mine=0.75, Vegas=0.5).holds
    assert adversary("last", (-0.25, -0.5, -0.125), mine=0.5, Vegas=0.75).holds


def test_the_text_and_data_of_an_adversary_have_the_pattern_and_every_goodput():
    found = adversary("worst", (-0.25, -0.375, -0.125), mine=0.5, CUBIC=0.75)
    data = found.to_dict()
    assert data["control"] == "mine"
    assert data["steps"] == [{"at": 0.0, "rate": 5_000_000}, {"at": 2.0, "rate": 1_000_000}]
    assert data["period_s"] == 3.0
    assert data["goodput"]["CUBIC"] == pytest.approx([0.75, 0.74, 0.76])
    assert (data["gap"], data["tried"], data["seed"]) == ([-0.25, -0.375, -0.125], 40, 7)
    lines = str(found).splitlines()
    assert lines[0].startswith("worst pattern for mine: ")
    assert ["CUBIC", "0.750", "0.740", "0.760"] in [line.split() for line in lines]
    assert lines[-1].startswith("40 patterns tried, seed 7; before shrinking: ")


def test_levels_of_a_pattern_are_on_logarithmic_scales():
    shape = PathShape.of([1.0, 0.0, 0.5, 0.0, 1.0, 0.5])
    # The root of 1/20, and the geometric mean of 0.1 and 20 s.
    assert shape.levels == ((1.0, 0.1), (0.05, 20.0), (0.224, 1.4))
    assert shape.period_s == pytest.approx(21.5)


def test_goodput_of_a_pattern_is_that_of_the_test_flows_together():
    rows = [(0.0, "mine-0", 0), (0.0, "cbr", 0), (0.5, "mine-0", 1000), (0.5, "mine-1", 500),
            (0.5, "cbr", 9000), (2.0, "mine-0", 4000), (2.0, "mine-1", 500)]  # fmt: skip
    times, flows, delivered = zip(*rows, strict=True)
    ends, rates = draw._rates(
        table({"time_s": array(np.array(times)), "flow": array(list(flows)),
               "delivered_bytes": array(np.array(delivered, dtype=np.uint64))})
    )  # fmt: skip
    assert ends.tolist() == [0.5, 2.0]
    assert rates.tolist() == [8 * 1500 / 0.5, 8 * 3000 / 1.5]


def sweep_of(*counts):
    points = [SimpleNamespace(labels={"cc": f"c{i}", "n": i}) for i in range(len(counts))]
    slots = [SimpleNamespace(point=i) for i, count in enumerate(counts) for _ in range(count)]
    return SimpleNamespace(sweep=SimpleNamespace(points=points), slots=slots)


def test_points_with_fewer_runs_than_others_are_named_by_the_first():
    assert store_page._gaps(sweep_of(2, 2)) == []
    assert store_page._gaps(sweep_of()) == []
    assert store_page._gaps(sweep_of(2, 1, 2)) == [
        "1 of 3 points have fewer than 2 runs: cc = c1, n = 1"
    ]
    assert store_page._gaps(sweep_of(0, 3, 1)) == [
        "2 of 3 points have fewer than 3 runs: cc = c0, n = 0, and 1 more"
    ]


def test_warnings_of_runs_are_counted_and_the_most_frequent_lead():
    summaries = {"a": {"warnings": ["x", "y", "y"]}, "b": {"warnings": ["y"]}, "c": {},
                 "d": {"warnings": None}}  # fmt: skip
    found = store_page._warnings(SimpleNamespace(summaries=summaries))
    assert found == ["2 runs: y", "1 runs: x"]
    many = {"a": {"warnings": [f"w{i}" for i in range(30)]}}
    assert len(store_page._warnings(SimpleNamespace(summaries=many))) == 20


def test_a_metric_of_a_store_has_sixty_rows_and_says_what_is_left_out(monkeypatch):
    monkeypatch.setattr(store_page, "_picture", lambda result, metric: "picture")
    rows = [{"cc": f"c{i}", "mean": 2e6, "ci_low": 1e6, "ci_high": 3e6, "seeds": 4, "note": None}
            for i in range(61)]  # fmt: skip
    result = SimpleNamespace(
        axes=("cc",), summary=lambda metric: SimpleNamespace(to_pylist=lambda: rows)
    )
    found = store_page._metric(result, "mean(flows.goodput_bps)")
    assert (len(found["rows"]), found["left_out"]) == (60, 1)
    assert found["rows"][0] == ["c0", "2 Mbit/s", "1 Mbit/s", "3 Mbit/s", "4", ""]
    rows[:] = [{**rows[0], "mean": math.nan}, {**rows[0], "mean": None}]
    with pytest.raises(store_page.AckclockError, match="no run has a value of it"):
        store_page._metric(result, "mean(flows.goodput_bps)")


def late_row(**changes):
    plain = {
        "situation": "joining", "flows": 3, "overflows": False, "ratio": 1.5, "low": 1.25,
        "high": 1.75, "predicted": 2.0, "share": 0.25, "share_predicted": 0.375,
        "share_fair": 0.2, "shares": (), "at_rest": True, "worst": "", "utilisation": 0.975,
        "verdict": "favoured",
    }  # fmt: skip
    return LateComerRow(**{**plain, **changes})


def test_a_row_of_late_comers_is_in_per_cent_and_an_endless_ratio_is_all():
    title = "one joins n"
    assert late_page._cells(late_row()) == [
        title, "3", "holds", "25.0", "20.0", "37.5", "1.50", "1.25 to 1.75", "2.00", "98",
        "favoured",
    ]  # fmt: skip
    starved = late_row(overflows=True, ratio=math.inf, high=math.inf, share_predicted=None)
    cells = late_page._cells(starved)
    assert cells[2] == "overflows"
    assert cells[5:8] == ["-", "all", "1.25 to all"]


def test_what_was_run_of_late_comers_has_the_tiers_numbers_and_the_gap_that_was_taken():
    said = late_page.about("fast", 24, 7.5)
    assert said.startswith(
        "24 runs over one link of 50 Mbit/s: round trips of 20, 80 ms, buffers of 0.5 bdp, 2 bdp,"
        " 4000 pkt, 2 start times each, 7.5 s between starts. "
    )


@pytest.mark.parametrize(
    ("ratio", "model", "said"),
    [(1.25, 9.0, "fair"), (0.8, 9.0, "fair"), (1.26, 9.0, "favoured"), (1.26, None, "favoured"),
     (2.29, 2.0, "persistent"), (1.71, 2.0, "persistent"), (2.4, 2.0, "favoured"),
     (0.79, 2.0, "starved")],
)  # fmt: skip
def test_a_ratio_is_fair_within_a_quarter_and_as_the_model_says_within_15_per_cent(
    ratio, model, said
):
    assert said in verdict(ratio, model)


def test_an_audit_has_all_runs_of_its_situations_and_stops_with_one(monkeypatch):
    interrupted, swept = [], []

    def sweep_of(document, size, title):
        def run(**words):
            swept.append((title, words["workers"], words["store"]))
            return SimpleNamespace(interrupted=title in interrupted)

        return SimpleNamespace(run=run)

    monkeypatch.setattr(
        late_audit, "documents",
        lambda value, size, settings: [("joining", n, {"duration": 10 * n}) for n in (1, 4)],
    )  # fmt: skip
    monkeypatch.setattr(late_audit, "sweep_of", sweep_of)
    monkeypatch.setattr(
        late_audit, "_measure_runs", lambda result, gap_s, duration: [(gap_s, duration)] * 3
    )
    monkeypatch.setattr(
        late_audit, "_rows", lambda situation, flows, found: [(situation, flows, *found[0])]
    )
    control = SimpleNamespace(value="aimd", label="mine")
    found = late_audit.audit(control, "fast", gap_s=2.5, workers=3, store="s")
    assert (found.control, found.tier, found.gap_s, found.runs) == ("mine", "fast", 2.5, 6)
    assert found.rows == (("joining", 1, 2.5, 10), ("joining", 4, 2.5, 40))
    assert swept == [("joining, n = 1", 3, "s"), ("joining, n = 4", 3, "s")]
    assert late_audit.audit(control, "fast").gap_s == 20.0
    interrupted.append("joining, n = 4")
    with pytest.raises(KeyboardInterrupt):
        late_audit.audit(control, "fast")
