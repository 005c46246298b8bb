"""The page of text that an evaluation prints."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ackclock._util.number_text import bounds, decimals, interval, number, percent
from ackclock._util.text_table import table
from ackclock.experiments.groups import describe_one_run
from ackclock.studies.evaluate_control.judge import UNFAIR

if TYPE_CHECKING:
    from ackclock.experiments.statistics import Mean
    from ackclock.studies.evaluate_control.judge import Judgement

__all__ = ["describe_choice", "page", "sentences"]


def page(found: Judgement, tier: str) -> str:
    """Write it.

    Parameters
    ----------
    found
        The judgement.
    tier
        What was run.
    """
    own = found.control
    others = ", ".join(name for name in found.controls if name != own)
    head = (
        f"{own} beside {others}\n"
        f"{len(found.settings)} settings, {len(found.environments)} environments,"
        f" {found.seeds} seeds, tier {tier}: {found.runs:,} runs, {found.cpu_s:.0f} s of one core"
    )
    parts = [head, _goodput(found), _sharing(found), _cost(found)]
    reported = [textwrap.fill(text, 100) for text in sentences(found)]
    return "\n\n".join([*parts, *reported])


def describe_choice(seeds: int) -> str:
    """Say what D and C below 0 mean; nothing of a single seed, which has none.

    Parameters
    ----------
    seeds
        Replicates.
    """
    if seeds < 2:
        return ""
    return (
        "what is best or worst is chosen by other seeds than are measured: 0 is level, below 0"
        " above that choice;\n"
    )


def _goodput(found: Judgement) -> str:
    own = found.control
    rows = []
    for s in found.settings:
        order = sorted(found.controls, key=lambda c: found.rank_d[s, c].mean)
        place, gap, other = found.worst[s]
        best = ", ".join(c + "*" * found.is_unfair(s, c) for c in found.best[s])
        rows.append(
            [
                s,
                f"{order.index(own) + 1}/{len(order)}",
                _interval(found.rank_d[s, own]),
                _interval(found.rank_c[s, own]),
                "none" if other == own else f"{place}: {decimals(gap.mean, 2)} to {other}",
                best,
            ]
        )
    names = ["setting", "rank", "D", "C", "worst environment", "best"]
    about = (
        "Goodput of the best less its own, as a part of the available bandwidth: D mean, C worst"
        " over environments;\n"
        + describe_choice(found.seeds)
        + f"best: not distinguishable from the least D; * unfair, (max-min)/mean >"
        f" {number(UNFAIR)} beyond its interval"
    )
    return f"{about}\n{table(names, rows)}"


def _sharing(found: Judgement) -> str:
    routers = list(dict.fromkeys(router for router, _ in found.neighbours))
    others = list(dict.fromkeys(other for _, other in found.neighbours))
    rows = []
    for router in routers:
        cells = [router, _interval(found.metrics[f"SACK + {router}", found.control, "fairness"])]
        for other in others:
            one = found.neighbours[router, other]
            cells.append(f"{decimals(one.share.mean, 2)} ({percent(one.kept.mean, 0)})")
        rows.append(cells)
    about = (
        f"Sharing with SACK: (max-min)/mean among its own kind; beside five flows of another,"
        f" goodput of a flow of {found.control}\nover one of"
        " theirs (and theirs over its goodput among its own kind), all environments together"
    )
    return f"{about}\n{table(['router', 'own kind', *others], rows)}"


def _cost(found: Judgement) -> str:
    own = found.control
    rows = []
    for s in found.settings:
        cells = [s]
        for metric, digits in (("loss_percent", 2), ("delay_ms", 1)):
            mine = found.metrics[s, own, metric]
            rest = [found.metrics[s, c, metric].mean for c in found.controls if c != own]
            cells += [
                decimals(mine.mean, digits),
                f"{decimals(min(rest), digits)} to {decimals(max(rest), digits)}",
            ]
        rows.append(cells)
    names = ["setting", "loss [%]", "others", "queueing delay [ms]", "others"]
    return f"Loss and delay, means over environments\n{table(names, rows)}"


def sentences(found: Judgement) -> list[str]:
    """What the intervals support; a finding that they do not support is not said.

    Parameters
    ----------
    found
        The judgement.
    """
    if found.seeds < 2:
        return ["One seed gives no intervals: the tables show one sample, and no finding follows."]
    equal = describe_one_run(found.one_run, found.points)
    texts = [_winner(found), _furthest(found), _own_kind(found), _harm(found), equal]
    return [" ".join(part for part in texts if part)]


def _winner(found: Judgement) -> str:
    own, won = found.control, found.won
    lost = [s for s in found.settings if s not in won]
    if not lost:
        return f"{own} is among the best in all {len(won)} settings."
    if not won:
        return f"{own} is among the best in no setting."
    return (
        f"{own} is among the best in {len(won)} of {len(found.settings)} settings, not with"
        f" {', '.join(lost)}."
    )


def _furthest(found: Judgement) -> str:
    behind = [s for s in found.settings if found.worst[s][1].low > 0]
    if not behind:
        return ""
    s = max(behind, key=lambda name: found.worst[name][1].mean)
    place, gap, other = found.worst[s]
    return (
        f"It is furthest behind the best in {place} with {s}, where {other} gets most:"
        f" {bounds(*gap, figures=2)} of the bandwidth."
    )


def _own_kind(found: Judgement) -> str:
    own = found.control
    spread = {s: found.metrics[s, own, "fairness"] for s in found.settings}
    unfair = [s for s in found.settings if found.is_unfair(s, own)]
    open_ = [s for s in found.settings if s not in unfair and not spread[s].high <= UNFAIR]
    texts = []
    if unfair:
        texts.append(f"Its flows share unevenly with {', '.join(unfair)}.")
    if open_:
        texts.append(
            f"Whether they do with {', '.join(open_)} is open."
            if unfair
            else f"Whether its flows share unevenly with {', '.join(open_)} is open."
        )
    if not texts:
        most = max(spread, key=lambda s: spread[s].mean)
        texts.append(
            f"Among its flows (max - min) / mean of goodputs is at most"
            f" {interval(*spread[most])}, with {most}."
        )
    return " ".join(texts)


def _harm(found: Judgement) -> str:
    harmed = [place for place, one in found.neighbours.items() if one.is_harmed]
    if not harmed:
        return "Beside it no other gets less than among its own kind, by these intervals."
    router, rival = min(harmed, key=lambda place: found.neighbours[place].kept.mean)
    kept = found.neighbours[router, rival].kept
    parts = f"{percent(kept.mean, 0)} [{percent(max(kept.low, 0.0), 0)}, {percent(kept.high, 0)}]"
    return (
        f"It harms {rival} most, with {router}: beside it a flow of {rival} gets {parts} of its"
        " goodput among its own kind."
    )


def _interval(value: Mean) -> str:
    return interval(*value, figures=3)
