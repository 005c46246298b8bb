"""Theorems of closed forms: what follows from equations alone, for all positive numbers.

Each is a list of assumptions and what follows; solvers look for numbers that contradict it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ackclock.prove.terms import (
    all_of,
    any_of,
    constant,
    equal,
    negated,
    product,
    smaller,
    unknown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ackclock.prove.terms import Term

__all__ = ["ALGEBRA", "Statement"]


class Statement(NamedTuple):
    """A statement about numbers.

    Attributes
    ----------
    name
        A word or two.
    sentence
        The statement.
    contradiction
        Writes what would contradict it.
    holds
        Whether it is true; a statement that is not is refuted by numbers.
    """

    name: str
    sentence: str
    contradiction: Callable[[], Iterator[Term]]
    holds: bool = True


def _late_comer(n: int, share: Term, queue: Term) -> Iterator[Term]:
    """Rates of n flows that know the base round trip, and of one that took n queued alpha for it.

    With the rates as shares of C, and the queue in units of alpha: each of the first keeps rate
    times queue = 1, the late one rate times (queue - n) = 1.
    """
    first = unknown("first")
    yield queue > n
    yield first > 0
    yield share > 0
    yield equal(product(first, queue), 1)
    yield equal(product(share, queue - n), 1)
    yield equal(n * first + share, 1)


def _golden() -> Iterator[Term]:
    share, queue = unknown("late"), unknown("queue")
    yield from _late_comer(1, share, queue)
    yield negated(equal(product(share, share) + share, 1))


def _formula(n: int) -> Callable[[], Iterator[Term]]:
    def write() -> Iterator[Term]:
        share, queue = unknown("late"), unknown("queue")
        yield from _late_comer(n, share, queue)
        # The queue is n + 1 + a.
        more = queue - (n + 1)
        yield any_of(
            negated(equal(product(more, more) + more, Fraction(n))),
            more < 0,
        )

    return write


def _times_fair(n: int, low: Fraction) -> Callable[[], Iterator[Term]]:
    def write() -> Iterator[Term]:
        share, queue = unknown("late"), unknown("queue")
        yield from _late_comer(n, share, queue)
        yield share * (n + 1) <= low

    return write


def _cured(n: int) -> Callable[[], Iterator[Term]]:
    def write() -> Iterator[Term]:
        """The late flow subtracts the n alpha: each keeps rate times queue = 1."""
        first, late, queue = unknown("first"), unknown("late"), unknown("queue")
        yield first > 0
        yield late > 0
        yield equal(product(first, queue), 1)
        yield equal(product(late, queue), 1)
        yield equal(n * first + late, 1)
        yield negated(all_of(equal(late, first), equal(late * (n + 1), 1)))

    return write


def _two_users() -> tuple[Term, Term, Term, Term, Iterator[Term]]:
    a, b, x, y = unknown("a"), unknown("b"), unknown("x"), unknown("y")
    return a, b, x, y, iter([x > 0, y > x])


def _fairness(sign: int) -> Callable[[], Iterator[Term]]:
    def write() -> Iterator[Term]:
        a, b, x, y, states = _two_users()
        yield from states
        yield b >= 0
        yield a + product(b, x) > 0
        yield {1: a > 0, 0: a >= 0, -1: a < 0}[sign]
        # The ratio of the smaller to the larger after it, (a + b x) / (a + b y), beside x / y.
        after, before = product(a + product(b, x), y), product(a + product(b, y), x)
        yield after <= before if sign == 1 else after < before

    return write


def _no_decrease() -> Iterator[Term]:
    a, b, x = unknown("a"), unknown("b"), unknown("x")
    yield a > 0
    yield b >= 0
    yield b < 1
    yield equal(2 * product(x, 1 - b), a)
    yield a + product(b, x) <= x


def _no_increase() -> Iterator[Term]:
    a, b, x = unknown("a"), unknown("b"), unknown("x")
    yield a > 0
    yield b >= 0
    yield b < 1
    yield equal(product(x - 1, 1 - b), a)
    yield a + product(b, x) >= x


def _level(demands: list[Term], rates: list[Term], name: str) -> Iterator[Term]:
    """Rates that a max-min link of capacity 1 gives."""
    level = unknown(f"level_{name}")
    yield level >= 0
    for demand, rate in zip(demands, rates, strict=True):
        yield demand >= 0
        yield equal(rate, smaller(demand, level))
    sum_ = rates[0] + rates[1] + rates[2]
    yield sum_ <= 1
    yield any_of(equal(sum_, 1), all_of(*(level >= demand for demand in demands)))


def _selfish(*, naive: bool) -> Callable[[], Iterator[Term]]:
    def write() -> Iterator[Term]:
        others = [unknown("demand_1"), unknown("demand_2")]
        naive_demand, other_demand = unknown("naive"), unknown("adapted")
        naive_rates = [unknown(f"naive_rate_{i}") for i in range(3)]
        other_rates = [unknown(f"adapted_rate_{i}") for i in range(3)]
        yield from _level([naive_demand, *others], naive_rates, "naive")
        yield from _level([other_demand, *others], other_rates, "adapted")
        if naive:
            yield naive_demand >= other_demand
            yield naive_rates[0] < other_rates[0]
        else:
            # A sender that sends what it gets takes from nobody what it would have got before.
            yield equal(other_demand, naive_rates[0])
            yield negated(
                all_of(*(equal(p, q) for p, q in zip(naive_rates, other_rates, strict=True)))
            )

    return write


def _guaranteed() -> Iterator[Term]:
    demands = [unknown("mine"), unknown("demand_1"), unknown("demand_2")]
    rates = [unknown(f"rate_{i}") for i in range(3)]
    yield from _level(demands, rates, "fair")
    yield rates[0] < smaller(demands[0], Fraction(1, 3))


def _held(held: Term) -> tuple[Term, Term, list[Term]]:
    """Rates of two flows that each keep alpha in a queue, the second held for longer.

    Rates are shares of C; the queue and what the second is held for beyond the shortest round trip
    that it saw are in units of alpha/C: each rate times the delay that its flow takes for a queue
    is 1.
    """
    free, late, queue = unknown("free"), unknown("late"), unknown("queue")
    terms = [free > 0, late > 0, queue > 0, held >= 0]
    terms += [equal(product(free, queue), 1), equal(product(late, queue + held), 1)]
    return free, late, [*terms, equal(free + late, 1)]


def _even() -> Iterator[Term]:
    free, late, terms = _held(constant(Fraction(0)))
    yield from terms
    yield negated(equal(free, late))


def _starves() -> Iterator[Term]:
    held = unknown("held")
    free, late, terms = _held(held)
    yield from terms
    yield 2 * free < 2 * late + product(held, late)


def _starves_by(times: int) -> Callable[[], Iterator[Term]]:
    def write() -> Iterator[Term]:
        held = unknown("held")
        free, late, terms = _held(held)
        yield from terms
        yield held >= 2 * (times - 1)
        yield free < times * late

    return write


FAST = "Rodriguez-Perez et al., Computer Networks 2013, equations (10) and (15)"
LINEAR = "Chiu and Jain, Computer Networks and ISDN Systems 1989, section 3"
STARVED = "Arun et al., SIGCOMM 2022, for the equilibrium of controls that keep alpha queued"
SELFISH = "McCullough et al., 2010, sections 2 and 4, in the fluid model of one link"

ALGEBRA: dict[str, tuple[str, str, tuple[Statement, ...]]] = {
    "fast-late-comer": (
        "fast",
        FAST,
        (
            Statement(
                "two flows",
                "the share s of a late-comer to one FAST flow has s^2 + s = 1, so 0.618 of C,"
                " whatever alpha, C and delays are",
                _golden,
            ),
            *(
                Statement(
                    f"{n} flows",
                    f"the share of a late-comer to {n} FAST flows is 1/(1 + a) with a^2 + a = {n}",
                    _formula(n),
                )
                for n in (1, 2, 5, 10)
            ),
            Statement(
                "ten flows",
                "a late-comer to ten FAST flows gets more than 2.9 times its fair share",
                _times_fair(10, Fraction(29, 10)),
            ),
        ),
    ),
    "fast-corrected": (
        "fast",
        FAST,
        tuple(
            Statement(
                f"{n} flows",
                f"a late-comer to {n} flows that subtracts what they queue gets 1/{n + 1}, as all",
                _cured(n),
            )
            for n in (1, 5, 10)
        ),
    ),
    "chiu-jain": (
        "linear",
        LINEAR,
        (
            Statement(
                "fairness",
                "with a >= 0 and b >= 0 the rule a + b x never makes two users less equal",
                _fairness(0),
            ),
            Statement("convergence", "with a > 0 it makes them more equal", _fairness(1)),
            Statement(
                "additive decrease",
                "with a < 0 it never makes two users less equal",
                _fairness(-1),
                holds=False,
            ),
            Statement(
                "decrease",
                "with a > 0 and b < 1 it grows at x = a/(2 (1 - b)), so a decrease has a = 0",
                _no_decrease,
            ),
            Statement(
                "increase",
                "with a > 0 and b < 1 it shrinks at x = a/(1 - b) + 1, so an increase has b >= 1",
                _no_increase,
            ),
        ),
    ),
    "starvation": (
        "vegas",
        STARVED,
        (
            Statement(
                "even",
                "of two flows that keep alpha segments in the queue each has the same rate",
                _even,
            ),
            Statement(
                "ratio",
                "if one is held for D beyond the shortest round trip that it saw, it gets at most"
                " 1/(1 + C D/(2 alpha)) of the other",
                _starves,
            ),
            *(
                Statement(
                    f"{times} times",
                    f"from a rate of C = {2 * (times - 1)} alpha/D on the other gets at least"
                    f" {times} times as much",
                    _starves_by(times),
                )
                for times in (10, 100)
            ),
        ),
    ),
    "selfish-sender": (
        "",
        SELFISH,
        (
            Statement(
                "naive",
                "on a max-min link of three senders more demand never gets less",
                _selfish(naive=True),
            ),
            Statement(
                "adapted",
                "a sender that lowers its demand to what it gets has the same, and so have others",
                _selfish(naive=False),
            ),
            Statement(
                "share",
                "a sender gets its demand or a third, whatever the others demand",
                _guaranteed,
            ),
        ),
    ),
}
"""By theorem: the control that it is about, where it is published, its statements."""
