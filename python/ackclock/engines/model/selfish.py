"""Selfish users of one queue: where they come to rest, how good that is, what greed takes.

The queue, the utilities and the searches for a rate are in `ackclock.engines.model.users`. What
is computed are the properties of A. Legout & E. Biersack, "Beyond TCP-friendliness", Eurecom
1999, section 2.2: stability (a Nash equilibrium exists and is the only one), efficiency (nobody can
gain without another's loss; it is reached fast), robustness (a greedy user takes nothing from the
others).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.engines.model.ranges import Range, ranges

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from ackclock.engines.model.users.bottleneck import Queue, Want

    Real = npt.NDArray[np.float64]

__all__ = ["poisson_users", "selfish_users", "several_connections"]

APART = 1e-3
"""Users who get goodputs that differ by less than this, in parts of the link, get the same."""

MIXED = ("linear", "concave", "loss-tolerant", "delay-sensitive")
"""What users want, one after the other, where they are ``mixed``."""


def _utilities(name: str, users: int) -> list[Want]:
    from ackclock.engines.model.users.bottleneck import want

    names = MIXED if name == "mixed" else (name,)
    return [want(names[i % len(names)]) for i in range(users)]


def _starts(users: int, count: int, seed: int) -> Real:
    drawn = np.random.default_rng(seed).exponential(size=(count, users + 1))
    starts: Real = drawn[:, :-1] / drawn.sum(axis=1, keepdims=True)
    return starts


def _outcomes(behind: Queue, found: Sequence[Real]) -> list[Real]:
    """Rates that give everybody the same are one outcome."""
    kept: list[Real] = []
    for rates in found:
        goodput = behind.got(rates).goodput
        if all(np.abs(behind.got(k).goodput - goodput).max() > APART for k in kept):
            kept.append(rates)
    return kept


def _find_rest(
    name: str, want_name: str, users: int, most: float, starts: int, seed: int
) -> list[float]:
    from ackclock.engines.model.users import bottleneck, search

    behind = bottleneck.queue(name)
    wants = _utilities(want_name, users)
    value = bottleneck.value_of(behind, wants)
    begin = _starts(users, starts, seed)
    rests = [search.settle(value, start, most, rounds=60, tolerance=1e-5) for start in begin]
    at_rest = [outcome.rates for outcome in rests if outcome.converged]
    outcomes = _outcomes(behind, at_rest)
    climbs = [search.climb(value, start, most, rounds=1000, tolerance=1e-4) for start in begin]
    first = outcomes[0] if outcomes else rests[0].rates
    got = behind.got(first)
    arrived = [
        climb.converged
        and any(
            np.abs(behind.got(climb.rates).goodput - behind.got(k).goodput).max() < 10 * APART
            for k in outcomes
        )
        for climb in climbs
    ]
    room = bottleneck.room_for_all(behind, wants, first, most)
    modest = search.settle(
        bottleneck.value_of(bottleneck.queue("fq"), wants),
        begin[0],
        most,
        rounds=60,
        tolerance=1e-5,
    ).rates
    greedy = modest.copy()
    greedy[-1] = most
    before, after = behind.got(modest).goodput, behind.got(greedy).goodput
    modest_share = (after / np.minimum(before, 1 / users))[:-1]
    return [
        len(outcomes),
        len(at_rest) / starts,
        float(first.sum()),
        float(got.goodput.sum()),
        float(got.goodput.min() / got.goodput.max()),
        room,
        float(np.median([climb.rounds for climb in climbs])),
        sum(arrived) / starts,
        float(modest_share.min()),
        float(after[-1]),
    ]


COLUMNS = (
    "equilibria",
    "settled_share",
    "load",
    "goodput",
    "least_to_most",
    "room",
    "climb_rounds",
    "climb_arrives_share",
    "others_keep",
    "greedy_goodput",
)


@ranges(
    users=Range(minimum=2, is_integer=True),
    most=Range(above=0),
    starts=Range(minimum=1, is_integer=True),
    seed=Range(minimum=0, is_integer=True),
)
def selfish_users(
    queue: npt.NDArray[Any],
    want: npt.NDArray[Any],
    users: npt.NDArray[np.int64] = 4,  # type: ignore[assignment]
    most: Real = 1.0,  # type: ignore[assignment]
    starts: npt.NDArray[np.int64] = 6,  # type: ignore[assignment]
    seed: npt.NDArray[np.int64] = 1,  # type: ignore[assignment]
) -> Mapping[str, npt.NDArray[Any]]:
    """Let users choose their rates selfishly at a queue of 50 packets.

    Parameters
    ----------
    queue
        ``fifo``, ``red`` or ``fq``; see `ackclock.engines.model.users.bottleneck`.
    want
        ``linear``, ``concave``, ``loss-tolerant``, ``delay-sensitive``, ``power``, or ``mixed``: of
        the first four, user by user another.
    users
        How many, at least 2.
    most
        Largest rate of a user, in units of the link's.
    starts
        Random rates from which they look.
    seed
        Of the starts.

    Returns
    -------
    mapping
        ``equilibria``: different outcomes found by best replies; ``settled_share``: part of the
        starts that ended in one; of the first one ``load``, ``goodput`` (sums, in units of the
        link's rate), ``least_to_most`` goodput of a user, and ``room``: by what part of its goodput
        everybody could be better off; ``climb_rounds``: median of the rounds that climbing a hill
        takes; ``climb_arrives_share``: part of the starts from which it ends in an equilibrium.
        Of modest users, who send as they would behind ``fq``: ``others_keep``, when the last one
        sends all it can, what the worst off of the others keeps of what it got or, if that was
        more, of an equal share; ``greedy_goodput``: what the last one then gets.
    """
    rows = np.array(
        [
            _find_rest(str(q), str(w), int(n), float(r), int(k), int(s))
            for q, w, n, r, k, s in zip(queue, want, users, most, starts, seed, strict=True)
        ]
    )
    return dict(zip(COLUMNS, rows.T, strict=True))


@ranges(
    connections=Range(minimum=1, is_integer=True),
    others=Range(minimum=1, is_integer=True),
    most=Range(above=0),
)
def several_connections(
    queue: npt.NDArray[Any],
    want: npt.NDArray[Any],
    connections: npt.NDArray[np.int64],
    others: npt.NDArray[np.int64] = 3,  # type: ignore[assignment]
    most: Real = 1.0,  # type: ignore[assignment]
) -> Mapping[str, npt.NDArray[Any]]:
    """Give the share of a user with several connections, each of which chooses its own rate.

    Parameters
    ----------
    queue, want, most
        As of `selfish_users`; all connections have the same utility.
    connections
        Of the user.
    others
        Users with one connection each.

    Returns
    -------
    mapping
        ``share``: of all goodput, what the user gets.
    """
    from ackclock.engines.model.users import bottleneck, search

    shares = []
    for q, w, m, n, r in zip(queue, want, connections, others, most, strict=True):
        behind = bottleneck.queue(str(q))
        count = int(m) + int(n)
        value = bottleneck.value_of(behind, _utilities(str(w), count))
        start = np.full(count, 0.5 / count)
        rates = search.settle(value, start, float(r), rounds=60, tolerance=1e-5).rates
        goodput = behind.got(rates).goodput
        shares.append(float(goodput[: int(m)].sum() / goodput.sum()))
    return {"share": np.array(shares)}


@ranges(
    dislike=Range(above=0),
    spread=Range(above=0),
    users=Range(minimum=2, is_integer=True),
    starts=Range(minimum=1, is_integer=True),
    seed=Range(minimum=0, is_integer=True),
)
def poisson_users(
    discipline: npt.NDArray[Any],
    want: npt.NDArray[Any],
    dislike: Real,
    spread: Real = 1.0,  # type: ignore[assignment]
    users: npt.NDArray[np.int64] = 3,  # type: ignore[assignment]
    starts: npt.NDArray[np.int64] = 6,  # type: ignore[assignment]
    seed: npt.NDArray[np.int64] = 1,  # type: ignore[assignment]
) -> Mapping[str, npt.NDArray[Any]]:
    """Let users choose Poisson rates at a queue without end, Shenker's model.

    Parameters
    ----------
    discipline
        ``fifo`` or ``fair-share``; see `ackclock.engines.model.users.disciplines`.
    want
        A form of `ackclock.engines.model.users.utility`.
    dislike
        Of congestion, of the first user.
    spread
        How many times more the last user dislikes it; those between at equal factors.
    users
        How many, at least 2.
    starts, seed
        As of `selfish_users`.

    Returns
    -------
    mapping
        ``equilibria``: different ones found; ``load``: sum of the rates of the first; ``room``: by
        what part of its rate everybody could be better off, at any allocation that serves without
        idling.
    """
    from ackclock.engines.model.users import rates
    from ackclock.engines.model.users.utility import utility

    rows = []
    broadcast = (discipline, want, dislike, spread, users, starts, seed)
    for name, form, least, factor, n, count, s in zip(*broadcast, strict=True):
        dislikes = np.geomspace(least, least * factor, int(n))
        wants = [utility(str(form), float(w)) for w in dislikes]
        outcomes = rates.equilibria(str(name), wants, int(s), int(count))
        first = outcomes[0]
        rows.append((len(outcomes), first.rates.sum(), rates.room_for_all(wants, first)))
    return dict(zip(("equilibria", "load", "room"), np.array(rows, dtype=float).T, strict=True))
