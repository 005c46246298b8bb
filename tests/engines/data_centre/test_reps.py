"""REPS held against outputs that uet-htsim ships: a permutation of 1,024 hosts, and slow links.

The outputs are `validate_outputs/validate_load_balancing_snd.out` and
`validate_load_balancing_failed_snd.out` of ultraethernet/uet-htsim (commit 40ccb05). The settings
are those of `test_ultra_ethernet.py`; permutations are drawn here.
"""

import random
from statistics import mean

import pytest
from test_ultra_ethernet import SIZES, case
from uet_htsim import slow_links

from ackclock import Scenario

pytestmark = pytest.mark.slow


def last_us(choice, seed, *, is_slow):
    """When the last of 1,024 flows ends, and how many packets were sent again."""
    hosts = list(range(1024))
    ends = hosts[:]
    draw = random.Random(seed)
    while any(a == b for a, b in zip(hosts, ends, strict=True)):
        draw.shuffle(ends)
    data = case(list(zip(hosts, ends, strict=True)), seed=seed, equal_paths=choice)
    data["net"] |= {"k": 16}
    data["tcp"] |= {"delayed_ack": 1}
    if is_slow:
        # All eight links from the core to one switch.
        slow_links(data, SIZES, ["c*->a0"])
    flows = Scenario.from_data(data).run().summary["flows"]
    repeats = sum(flow["retransmits"] for flow in flows)
    return max(flow["completed_after_s"] * 1e6 for flow in flows), repeats


APART = "2.5 % apart since retransmissions are ECN-capable; why has not been found"


@pytest.mark.parametrize(
    ("is_slow", "published"),
    [
        (False, 198.246),
        pytest.param(True, 206.684, marks=pytest.mark.xfail(strict=True, reason=APART)),
    ],
)
def test_a_permutation_over_paths_that_worked_takes_what_htsim_prints(is_slow, published):
    # 198.246 us, nothing sent again; with eight slow links 206.684 us and 298. Within 2 %.
    rows = [last_us("reps", seed, is_slow=is_slow) for seed in (1, 2)]
    for _, repeats in rows:
        assert (repeats > 0) == is_slow
    assert mean(last for last, _ in rows) == pytest.approx(published, rel=0.02)


def test_slow_links_rule_drawn_paths_alone():
    # 280.775 us drawn, 2958 sent again; REPS 206.684 us and 298.
    drawn, drawn_repeats = last_us("spray", 1, is_slow=True)
    learned, learned_repeats = last_us("reps", 1, is_slow=True)
    assert drawn > 1.15 * learned
    assert drawn_repeats > 5 * learned_repeats
