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


def page(judgement: Judgement, tier: str) -> str:
    """Write it.

    Parameters
    ----------
    judgement
        The judgement.
    tier
        What was run.
    """
    control_name = judgement.control
    rivals = ", ".join(name for name in judgement.controls if name != control_name)
    head = (
        f"{control_name} beside {rivals}\n"
        f"{len(judgement.settings)} settings, {len(judgement.environments)} environments,"
        f" {judgement.seeds} seeds, tier {tier}: {judgement.runs:,} runs,"
        f" {judgement.cpu_s:.0f} s of one core"
    )
    blocks = [head, _goodput(judgement), _sharing(judgement), _cost(judgement)]
    reported = [textwrap.fill(text, 100) for text in sentences(judgement)]
    return "\n\n".join([*blocks, *reported])


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


def _goodput(judgement: Judgement) -> str:
    control_name = judgement.control
    rows = []
    for s in judgement.settings:
        order = sorted(judgement.controls, key=lambda c: judgement.rank_d[s, c].mean)
        environment, gap, other = judgement.worst[s]
        best = ", ".join(c + "*" * judgement.is_unfair(s, c) for c in judgement.best[s])
        rows.append(
            [
                s,
                f"{order.index(control_name) + 1}/{len(order)}",
                _interval(judgement.rank_d[s, control_name]),
                _interval(judgement.rank_c[s, control_name]),
                "none"
                if other == control_name
                else f"{environment}: {decimals(gap.mean, 2)} to {other}",
                best,
            ]
        )
    names = ["setting", "rank", "D", "C", "worst environment", "best"]
    about = (
        "Goodput of the best less its own, as a part of the available bandwidth: D mean, C worst"
        " over environments;\n"
        + describe_choice(judgement.seeds)
        + f"best: not distinguishable from the least D; * unfair, (max-min)/mean >"
        f" {number(UNFAIR)} beyond its interval"
    )
    return f"{about}\n{table(names, rows)}"


def _sharing(judgement: Judgement) -> str:
    routers = list(dict.fromkeys(router for router, _ in judgement.neighbours))
    rivals = list(dict.fromkeys(other for _, other in judgement.neighbours))
    rows = []
    for router in routers:
        cells = [
            router,
            _interval(judgement.metrics[f"SACK + {router}", judgement.control, "fairness"]),
        ]
        for other in rivals:
            neighbour = judgement.neighbours[router, other]
            cells.append(
                f"{decimals(neighbour.share.mean, 2)} ({percent(neighbour.retained.mean, 0)})"
            )
        rows.append(cells)
    about = (
        f"Sharing with SACK: (max-min)/mean among its own kind; beside five flows of another,"
        f" goodput of a flow of {judgement.control}\nover one of"
        " theirs (and theirs over its goodput among its own kind), all environments together"
    )
    return f"{about}\n{table(['router', 'own kind', *rivals], rows)}"


def _cost(judgement: Judgement) -> str:
    control_name = judgement.control
    rows = []
    for s in judgement.settings:
        cells = [s]
        for metric, digits in (("loss_percent", 2), ("delay_ms", 1)):
            mine = judgement.metrics[s, control_name, metric]
            rival_means = [
                judgement.metrics[s, c, metric].mean
                for c in judgement.controls
                if c != control_name
            ]
            cells += [
                decimals(mine.mean, digits),
                f"{decimals(min(rival_means), digits)} to {decimals(max(rival_means), digits)}",
            ]
        rows.append(cells)
    names = ["setting", "loss [%]", "others", "queueing delay [ms]", "others"]
    return f"Loss and delay, means over environments\n{table(names, rows)}"


def sentences(judgement: Judgement) -> list[str]:
    """What the intervals support; a finding that they do not support is not said.

    Parameters
    ----------
    judgement
        The judgement.
    """
    if judgement.seeds < 2:
        return ["One seed gives no intervals: the tables show one sample, and no finding follows."]
    equal = describe_one_run(judgement.one_run, judgement.points)
    texts = [
        _winner(judgement),
        _furthest(judgement),
        _own_kind(judgement),
        _harm(judgement),
        equal,
    ]
    return [" ".join(sentence for sentence in texts if sentence)]


def _winner(judgement: Judgement) -> str:
    control_name, won = judgement.control, judgement.won
    lost = [s for s in judgement.settings if s not in won]
    if not lost:
        return f"{control_name} is among the best in all {len(won)} settings."
    if not won:
        return f"{control_name} is among the best in no setting."
    return (
        f"{control_name} is among the best in {len(won)} of {len(judgement.settings)} settings,"
        f" not with {', '.join(lost)}."
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


def _own_kind(judgement: Judgement) -> str:
    control_name = judgement.control
    spread = {s: judgement.metrics[s, control_name, "fairness"] for s in judgement.settings}
    unfair = [s for s in judgement.settings if judgement.is_unfair(s, control_name)]
    open_ = [s for s in judgement.settings if s not in unfair and not spread[s].high <= UNFAIR]
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


def _harm(judgement: Judgement) -> str:
    harmed = [pair for pair, neighbour in judgement.neighbours.items() if neighbour.is_harmed]
    if not harmed:
        return "Beside it no other gets less than among its own kind, by these intervals."
    router, rival = min(harmed, key=lambda pair: judgement.neighbours[pair].retained.mean)
    kept_share = judgement.neighbours[router, rival].retained
    low, high = (percent(end, 0) for end in (max(kept_share.low, 0.0), kept_share.high))
    share_text = f"{percent(kept_share.mean, 0)} [{low}, {high}]"
    return (
        f"It harms {rival} most, with {router}: beside it a flow of {rival} gets {share_text} of"
        " its goodput among its own kind."
    )


def _interval(value: Mean) -> str:
    return interval(*value, figures=3)
