"""The page of text that an evaluation prints."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from ackclock._util.text_table import table
from ackclock.studies.evaluate_control.judge import UNFAIR

if TYPE_CHECKING:
    from ackclock.experiments.statistics import Mean
    from ackclock.studies.evaluate_control.judge import Judgement

__all__ = ["page", "sentences"]


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
                f"{place}: {gap.mean:.2f} to {other}",
                best,
            ]
        )
    names = ["setting", "rank", "D", "C", "worst environment", "best"]
    about = (
        "Goodput behind the best, as a part of the available bandwidth: D mean, C worst over"
        f" environments;\nbest: not distinguishable from the least D; * unfair, (max-min)/mean > "
        f"{UNFAIR:g}"
    )
    return f"{about}\n{table(names, rows)}"


def _sharing(found: Judgement) -> str:
    routers = list(dict.fromkeys(router for router, _ in found.neighbours))
    others = list(dict.fromkeys(other for _, other in found.neighbours))
    rows = []
    for router in routers:
        cells = [router, f"{found.metrics[f'SACK + {router}', found.control, 'fairness'].mean:.2f}"]
        for other in others:
            one = found.neighbours[router, other]
            cells.append(f"{_short(one.share.mean)} ({100 * one.harm.mean:+.0f} %)")
        rows.append(cells)
    about = (
        f"Sharing with SACK: (max-min)/mean among its own kind; beside five flows of another,"
        f" goodput of a flow of {found.control}\nover one of theirs (and what theirs lose to it)"
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
                f"{mine.mean:.{digits}f}",
                f"{min(rest):.{digits}f} to {max(rest):.{digits}f}",
            ]
        rows.append(cells)
    names = ["setting", "loss [%]", "others", "queueing delay [ms]", "others"]
    return f"Loss and delay, means over environments\n{table(names, rows)}"


def sentences(found: Judgement) -> list[str]:
    """What to read out of the tables.

    Parameters
    ----------
    found
        The judgement.
    """
    own, won = found.control, found.won
    lost = [s for s in found.settings if s not in won]
    if not lost:
        first = f"{own} is among the best in all {len(won)} settings."
    elif not won:
        first = f"{own} is among the best in no setting."
    else:
        first = f"{own} is among the best in {len(won)} of {len(found.settings)} settings"
        first += f", not with {', '.join(lost)}."
    s = max(found.settings, key=lambda name: found.worst[name][1].mean)
    place, gap, other = found.worst[s]
    worst = (
        f"It is furthest behind in {place} with {s}: {gap.mean:.2f} of the bandwidth less than"
        f" {other} [{gap.low:.2f}, {gap.high:.2f}]."
    )
    unfair = [name for name in found.settings if found.is_unfair(name, own)]
    fair = "Flows of its own kind share evenly in every setting."
    if unfair:
        fair = f"Flows of its own kind share unevenly with {', '.join(unfair)}."
    router, rival = max(found.neighbours, key=lambda key: _known(found.neighbours[key].harm.mean))
    harm = found.neighbours[router, rival].harm
    harmed = (
        f"It does most harm to {rival} with {router}: a flow of {rival} has"
        f" {abs(100 * harm.mean):.0f} % {'less' if harm.mean >= 0 else 'more'} than among its own."
    )
    return [" ".join([first, worst, fair, harmed])]


def _known(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _short(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _interval(value: Mean) -> str:
    if math.isnan(value.low):
        return f"{value.mean:.3f}"
    return f"{value.mean:.3f} ± {(value.high - value.low) / 2:.3f}"
