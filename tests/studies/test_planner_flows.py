"""Demands as flows: hashed to equal paths, and sampled over time; against closed forms."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

from ackclock import _core
from ackclock.cli.main import cli
from ackclock.errors import ScenarioError
from ackclock.studies.planner.enforcement import enforcement
from ackclock.studies.planner.failures import everything, failure_from_names, survey
from ackclock.studies.planner.hashing import Hashing
from ackclock.studies.planner.percentiles import by_name, percentile, quantiles
from ackclock.studies.planner.sampling import read_sizes, sample, variance, write_series
from ackclock.studies.planner.situation import Situation, read_situation
from ackclock.studies.planner.size_tails import beyond, second_moment, still_to_send
from ackclock.studies.planner.upgrades import upgrades
from ackclock.studies.planner.utilisation import utilisation

if TYPE_CHECKING:
    from pathlib import Path

DIAMOND = "source,target,capacity_bps\n" + "".join(
    f"{a},{b},10 Gbps\n" for m in "wxyz" for a, b in (("a", m), (m, "b"))
)
"""Four equal paths from a to b."""


def diamond(folder: Path, demands: str, hashing: Hashing | None = None) -> Situation:
    (folder / "diamond.csv").write_text(DIAMOND)
    (folder / "demands.csv").write_text(demands)
    return read_situation(folder / "diamond.csv", demands=folder / "demands.csv", hashing=hashing)


def first_hops(situation: Situation) -> np.ndarray:
    """Part of the demand on each of the four links from a."""
    loads = situation.loads / situation.volume.sum()
    return np.array([loads[i] for i in range(16) if situation.direction(i).startswith("a->")])


def test_parts_of_hashed_flows_are_binomial_about_equal_parts(tmp_path: Path) -> None:
    flows = 20
    demands = f"source,target,demand_bps,flows\na,b,8 Gbps,{flows}\n"
    situation = diamond(tmp_path, demands, Hashing())
    equal = first_hops(replace(situation, hashing=None))
    assert equal == pytest.approx([0.25] * 4)
    drawn = np.array([first_hops(one) for one in situation.with_seeds(2000)])
    assert drawn.sum(axis=1) == pytest.approx(np.ones(2000))
    # A binomial part has the variance p (1 - p) / n; four standard errors of each are allowed.
    expected = 0.25 * 0.75 / flows
    assert np.abs(drawn.mean(axis=0) - 0.25).max() < 4 * math.sqrt(expected / 2000)
    assert np.abs(drawn.var(axis=0) / expected - 1).max() < 4 * math.sqrt(2 / 2000)
    # Two parts of a multinomial are correlated by -p / (1 - p).
    assert np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1] == pytest.approx(-1 / 3, abs=0.08)


def test_flows_come_from_the_column_or_the_rate_of_a_flow(tmp_path: Path) -> None:
    demands = "source,target,demand_bps,flows\na,b,95 Mbps,3\nb,a,95 Mbps,\nw,x,1,\n"
    situation = diamond(tmp_path, demands, Hashing(10e6))
    assert situation.flows().tolist() == [3, 10, 1]
    one = diamond(tmp_path, "source,target,demand_bps\na,b,9 Gbps\n", Hashing(1e10))
    assert sorted(first_hops(one)) == pytest.approx([0, 0, 0, 1])
    with pytest.raises(ScenarioError, match="900,000,000 flows; expected 20,000,000 at most"):
        replace(one, hashing=Hashing(10)).core()
    bad = "source,target,demand_bps,flows\na,b,1,0\na,w,1,2.5\na,x,1,x\nb,a,1,-3\n"
    with pytest.raises(ScenarioError) as caught:
        diamond(tmp_path, bad)
    lines = [p.message.split(":")[0] for p in caught.value.problems]
    assert lines == ["line 2", "line 3", "line 4", "line 5"]


def test_a_second_failure_may_add_more_than_its_link_carried(tmp_path: Path) -> None:
    # A router that loses one of four next hops moves flows between the others, too: 12 Gbit/s more
    # than the first failure's loss and the load of the second link are lost here.
    demands = "source,target,demand_bps,flows\na,b,30 Gbps,5\nb,a,20 Gbps,4\n"
    situation = diamond(tmp_path, demands, Hashing(seed=10))
    links = everything(situation, "links")
    pairs = [failure_from_names(situation, [a.name, b.name]) for a, b in combinations(links, 2)]
    found, brute = survey(situation, "pairs"), survey(situation, failed=pairs)
    assert found.solved == found.tried == len(pairs)
    for i in range(10):
        assert found.least_lost(i) == pytest.approx(brute.least_lost(i))
    alone = {one.name: survey(situation, failed=[one]) for one in links}
    worst = 0.0
    for i, pair in enumerate(brute.failed):
        one, other = (alone[name] for name in pair.name.split(" and "))
        carried = one.least_lost(0) + float(situation.loads[list(other.failed[0].links)].sum())
        worst = max(worst, brute.least_lost(i) - carried)
    assert worst > 1e9


def test_a_failure_moves_only_flows_of_routers_that_lose_a_next_hop(tmp_path: Path) -> None:
    demands = "source,target,demand_bps,flows\na,b,4 Gbps,40\nb,a,4 Gbps,40\n"
    situation = diamond(tmp_path, demands, Hashing())
    failed = failure_from_names(situation, ["a - w"])
    up = np.ones(len(situation.capacity), dtype=np.bool_)
    up[list(failed.links)] = False
    before, after = situation.loads, situation.core().loads(up=up)[0]
    for row in range(situation.links):
        # Router b still has all next hops toward a but w, as w has no way to a any more.
        if "w" in situation.link(row):
            assert after[2 * row : 2 * row + 2] == pytest.approx([0, 0])
    assert after.sum() == pytest.approx(before.sum()) == pytest.approx(16e9)
    found = survey(situation, failed=[failed])
    assert found.impact["utilisation"][0] == pytest.approx((after / situation.capacity).max())
    assert found.least_lost(0) == 0


@pytest.mark.parametrize("same", [False, True])
def test_all_failures_agree_with_networks_without_the_links(tmp_path: Path, *, same: bool) -> None:
    from test_planner import drawn

    situation = replace(drawn(4), hashing=Hashing(5e7, 3, same))
    found = survey(situation, "links")
    for i, failed in enumerate(found.failed):
        up = np.ones(len(situation.capacity), dtype=np.bool_)
        up[list(failed.links)] = False
        loads = situation.core().loads(up=up)[0]
        assert found.impact["utilisation"][i] == pytest.approx((loads / situation.capacity).max())
    assert len(found.failed) == len(everything(situation, "links"))


def test_quantiles_over_seeds_come_with_the_answer(tmp_path: Path) -> None:
    demands = "source,target,demand_bps,flows\na,b,10 Gbps,4\n"
    situation = diamond(tmp_path, demands, Hashing())
    found = utilisation(situation, hashes=200)
    data = found.to_data()
    # Four flows on four links: 0 on one link has the probability 0.75^4 = 0.32, all differ in 9 %.
    over = data["busiest_over_hashes"]
    assert over == {"p5": 0.25, "p50": 0.5, "p95": 0.75}
    assert data["links"][0]["p95_over_hashes"]["p5"] == 0
    worst = survey(situation, "links", hashes=50)
    assert worst.hashed is not None
    assert worst.hashed.shape == (50, 8)
    with pytest.raises(ScenarioError, match="--hashes: needs --ecmp hash"):
        utilisation(replace(situation, hashing=None), hashes=2)


def test_rates_and_fair_queueing_follow_the_paths_of_flows(tmp_path: Path) -> None:
    demands = "source,target,demand_bps,flows\na,b,30 Gbps,400\n"
    hashed = diamond(tmp_path, demands, Hashing())
    # Equal shares would fit: 7.5 of 10 on each of four; on the first path alone 20 of 30 are lost.
    assert upgrades(replace(hashed, hashing=None), "total").before == pytest.approx(10e9)
    assert upgrades(hashed, "total").before == pytest.approx(30e9)
    net, owner = hashed.route(np.array([True]), hashed.volume)
    assert net.n_flows == 4
    assert owner.tolist() == [0] * 4
    assert net.demand is not None
    assert net.demand.sum() == pytest.approx(30e9)
    assert enforcement(hashed, share=0).best.polite == pytest.approx(30e9)


SIZES = [
    '{kind = "fixed", mean = "1 MB"}',
    '{kind = "exponential", mean = "1 MB"}',
    '{kind = "bounded-pareto", least = "200 kB", most = "20 MB", shape = 1.1}',
    '{kind = "log-normal", mean = "1 MB", sigma = 0.7}',
    '{kind = "empirical", values = ["100 kB", "3 MB"], weights = [4, 1]}',
]


@pytest.mark.parametrize("rate", [math.inf, 4e6])
@pytest.mark.parametrize("sizes", SIZES)
def test_sampled_demands_have_the_mean_and_variance_of_theory(
    tmp_path: Path, sizes: str, rate: float
) -> None:
    situation = diamond(tmp_path, "source,target,demand_bps\na,b,200 Mbps\nb,a,50 Mbps\n")
    bins, bin_s = 4000, 1.0
    found = sample(situation, read_sizes(sizes), rate_bps=rate, bin_s=bin_s, bins=bins, seed=2)
    volume = found.demands.volume
    # Bins are correlated as long as a flow lasts, up to 40 s at this rate.
    independent = bins / (1 if math.isinf(rate) else 5)
    error = found.deviation / math.sqrt(independent)
    assert (np.abs(volume.mean(axis=0) - situation.volume) < 4 * error).all()
    assert volume.var(axis=0) == pytest.approx(found.deviation**2, rel=0.2)
    # The two pairs are independent, and the series is the same for the same seed.
    assert abs(np.corrcoef(volume.T)[0, 1]) < 0.15
    again = sample(situation, read_sizes(sizes), rate_bps=rate, bin_s=bin_s, bins=bins, seed=2)
    assert (again.demands.volume == volume).all()


def test_the_variance_by_hand() -> None:
    fixed = {"kind": "fixed", "mean": 8e6}
    # All at once: E[S^2] / (E[S] b) = 8e6 / 2.
    assert variance(fixed, math.inf, 2.0) == pytest.approx(4e6)
    # D = 4 s in bins of 1 s: r (b^2 D - b^3 / 3) / (D b^2) = 2e6 (4 - 1/3) / 4.
    assert variance(fixed, 2e6, 1.0) == pytest.approx(2e6 * (11 / 3) / 4, rel=1e-3)
    # In bins of 8 s: r (b D^2 - D^3 / 3) / (D b^2).
    assert variance(fixed, 2e6, 8.0) == pytest.approx(2e6 * (128 - 64 / 3) / 256, rel=1e-3)
    # Bins much shorter than flows see a Poisson number of them: variance r.
    assert variance({"kind": "exponential", "mean": 8e6}, 2e6, 1e-3) == pytest.approx(2e6, rel=1e-3)
    # A heavy tail has no second moment, but a rate of flows bounds what a bin sees.
    heavy = {"kind": "pareto", "mean": 8e6, "shape": 1.3}
    assert math.isinf(variance(heavy, math.inf, 1.0))
    assert 0 < variance(heavy, 2e6, 1.0) < 2e6


def test_flows_under_way_are_there_from_the_first_bin(tmp_path: Path) -> None:
    """Flows of 100 s: without those that began before, the first bins would be nearly empty."""
    situation = diamond(tmp_path, "source,target,demand_bps\na,b,1 Gbps\n")
    sizes = {"kind": "fixed", "mean": 1e8}
    found = sample(situation, sizes, rate_bps=1e6, bin_s=1.0, bins=400, seed=1)
    first = found.demands.volume[:20].mean()
    assert first == pytest.approx(1e9, abs=4 * float(found.deviation[0]))
    assert found.demands.flows is not None
    assert found.demands.flows[0, 0] == pytest.approx(1000, abs=150)


def test_a_sampled_series_is_read_back(tmp_path: Path) -> None:
    demands = "source,target,demand_bps\na,b,8 Mbps\nb,a,1 Mbps\n"
    situation = diamond(tmp_path, demands)
    found = sample(situation, {"kind": "fixed", "mean": 8e6}, bin_s=1.0, bins=60, seed=1)
    write_series(found, tmp_path / "series.csv")
    read = read_situation(tmp_path / "diamond.csv", demands=tmp_path / "series.csv")
    # Bins in which nobody sends are there, too.
    assert (found.demands.volume.sum(axis=1) == 0).any()
    assert read.demands.times == found.demands.times
    assert read.demands.volume.sum(axis=1) == pytest.approx(found.demands.volume.sum(axis=1))
    assert read.demands.flows is not None
    assert read.demands.flows.sum() == found.flows


def test_the_commands_of_flows(tmp_path: Path) -> None:
    diamond(tmp_path, "source,target,demand_bps\na,b,800 Mbps\n")
    files = [str(tmp_path / "diamond.csv"), "--demands"]
    series = tmp_path / "series.csv"
    sizes = '{kind = "pareto", mean = "1 MB", shape = 1.3}'
    more = ["--sizes", sizes, "--flow-rate", "8 Mbps", "--bin", "1 s", "--bins", "50"]
    made = CliRunner().invoke(
        cli,
        ["plan", "sample", *files, str(tmp_path / "demands.csv"), *more, "--series", str(series)],
    )
    assert made.exit_code == 0, made.output
    assert "50 bins of 1 s" in made.output
    run = CliRunner().invoke(
        cli, ["plan", "load", *files, str(series), "--ecmp", "hash", "--hashes", "5", "--json"]
    )
    assert run.exit_code == 0, run.output
    found = json.loads(run.output)
    assert len(found["times"]) == 50
    assert found["hashes"] == 5
    wrong = CliRunner().invoke(
        cli,
        ["plan", "sample", *files, str(tmp_path / "demands.csv"), "--series", str(series),
         "--sizes", '{kind = "pareto", mean = "1 MB", shape = 0.5}', "--bin", "x"],
    )  # fmt: skip
    assert isinstance(wrong.exception, ScenarioError)
    assert [p.path for p in wrong.exception.problems] == ["--bin", "--sizes.shape"]


def test_the_busiest_link_is_that_of_the_highest_95th_percentile(tmp_path: Path) -> None:
    (tmp_path / "line.csv").write_text("source,target,capacity_bps\na,b,1 Gbps\nb,c,1 Gbps\n")
    rows = [f"{n},a,b,0.5 Gbps" for n in range(10)] + [f"{n},b,c,0.9 Gbps" for n in range(2)]
    series = "\n".join(["time,source,target,demand_bps", *sorted(rows)])
    (tmp_path / "series.csv").write_text(f"{series}\n")
    found = utilisation(read_situation(tmp_path / "line.csv", demands=tmp_path / "series.csv"))
    links = found.to_data()["links"]
    # Of ten times the tenth: by the median, and by the mean, a->b would be first.
    assert [(one["link"], one["p95"]) for one in links[:2]] == [("b->c", 0.9), ("a->b", 0.5)]


def test_a_demand_is_as_many_flows_as_carry_it():
    """A part of a flow is one more; a part that is of rounding alone is none."""
    volume = np.array([0.0, 1.0, 10e6, 10.1e6, 24e6, 0.1 * 3 * 100e6])
    assert Hashing(flow_bps=10e6).flows(volume, None).tolist() == [1, 1, 1, 2, 3, 3]
    counts = np.array([7, 0, 2, 0, 1, 0], dtype=np.uint32)
    assert Hashing(flow_bps=10e6).flows(volume, counts).tolist() == [7, 1, 2, 2, 1, 3]


def test_too_many_flows_are_refused_with_the_option():
    with pytest.raises(ScenarioError, match=r"--flow-rate: the demands are 10,000,000,000"):
        Hashing(flow_bps=1.0).flows(np.array([1e10]), None)


def test_a_percentile_is_the_smallest_value_not_below():
    """Of ten values 5 % are the first, 50 % the fifth, 51 % the sixth, 95 % the last."""
    values = np.array([4.0, 1.0, 9.0, 3.0, 8.0, 2.0, 10.0, 5.0, 7.0, 6.0])
    for q, value in ((5.0, 1.0), (50.0, 5.0), (51.0, 6.0), (90.0, 9.0), (95.0, 10.0)):
        assert percentile(values, q) == value
    assert by_name(quantiles(values)) == {"p5": 1.0, "p50": 5.0, "p95": 10.0}
    twice = np.stack([values, -values], axis=1)
    assert quantiles(twice).tolist() == [[1.0, -10.0], [5.0, -6.0], [10.0, -1.0]]


@pytest.mark.parametrize(
    "sizes",
    [
        {"kind": "fixed", "mean": 3.0},
        {"kind": "exponential", "mean": 3.0},
        {"kind": "pareto", "mean": 3.0, "shape": 3.5},
        *(
            {"kind": "bounded-pareto", "least": 1.0, "most": 40.0, "shape": shape}
            for shape in (0.8, 1.0, 1.5, 2.0, 3.0)
        ),
        {"kind": "log-normal", "mean": 3.0, "sigma": 0.8},
        {"kind": "empirical", "values": [1.0, 2.0, 9.0], "weights": [4.0, 2.0, 1.0]},
    ],
    ids=lambda sizes: f"{sizes['kind']} {sizes.get('shape', '')}",
)
def test_what_flows_under_way_have_to_send_is_the_equilibrium_of_renewal_theory(
    sizes: dict[str, Any],
) -> None:
    """P(Y > y) = 1 - integral of P(X > x) over [0, y] / E[X], and E[Y] = E[X^2] / (2 E[X])."""
    draws = still_to_send(sizes, 200_000, np.random.default_rng(1))
    mean = _core.mean_size(json.dumps(sizes))
    x = np.linspace(0, 12, 24_001)[1:] - 0.00025
    integral = np.cumsum(beyond(sizes, x)) * 0.0005 / mean
    for y in (0.5, 1.0, 2.0, 4.0, 8.0):
        share = 1 - integral[round(y / 0.0005) - 1]
        # Five standard errors of 200,000 draws, and the error of the sum.
        assert np.mean(draws > y) == pytest.approx(share, abs=5 * 0.5 / 200_000**0.5 + 1e-3)
    expected = second_moment(sizes) / (2 * mean)
    assert draws.mean() == pytest.approx(expected, abs=5 * draws.std() / 200_000**0.5)
