"""The page of text that an evaluation of a queue prints."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ackclock._util.number_text import bounds, decimals
from ackclock._util.text_table import table
from ackclock.studies.evaluate_queue.scenarios import DROP_TAIL, SCENARIOS
from ackclock.studies.evaluate_queue.score import better

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.studies.evaluate_queue.score import Scores

__all__ = ["page", "sentences"]


def page(scores: Mapping[str, Scores], tier: str, runs: int, seeds: int) -> str:
    """Write it.

    Parameters
    ----------
    scores
        By scenario.
    tier
        What was run.
    runs
        Runs in all.
    seeds
        Replicates of each.
    """
    first = next(iter(scores.values()))
    own_label, *rivals = first.queues
    head = (
        f"{own_label} beside {', '.join(rivals)}\n"
        f"{len(scores)} scenarios of RFC 7928, 20 Mbit/s, 100 ms, buffer twice their product;"
        f" {seeds} seeds, tier {tier}: {runs} runs"
    )
    rows = []
    for name, queue_scores in scores.items():
        beside = DROP_TAIL if own_label != DROP_TAIL else rivals[0]
        cells = [name]
        for metric, digits in (("goodput", 3), ("delay_ms", 1), ("loss_percent", 2), ("jain", 2)):
            cells.append(decimals(queue_scores.mean(own_label, metric)[0], digits))
            cells.append(decimals(queue_scores.mean(beside, metric)[0], digits))
        cells.append(", ".join(q for q in rivals if better(queue_scores, q, own_label)) or "-")
        rows.append(cells)
    columns = ["scenario", "goodput", "", "delay [ms]", "", "loss [%]", "", "Jain", "", "better"]
    about = (
        f"Each second column: {DROP_TAIL if own_label != DROP_TAIL else rivals[0]}."
        " better: more goodput or less delay beyond doubt, and not less, or"
        " more,\nof the other (paired differences, 95 %)"
    )
    blocks = [head, f"{about}\n{table(columns, rows)}", _others(scores)]
    return "\n\n".join([*blocks, *(textwrap.fill(text, 100) for text in sentences(scores))])


def _others(scores: Mapping[str, Scores]) -> str:
    queues = next(iter(scores.values())).queues
    rows = []
    for queue in queues:
        goodput = [queue_scores.mean(queue, "goodput")[0] for queue_scores in scores.values()]
        delay = [queue_scores.mean(queue, "delay_ms")[0] for queue_scores in scores.values()]
        cells = [
            queue,
            decimals(sum(goodput) / len(goodput), 3),
            decimals(sum(delay) / len(delay), 1),
            decimals(max(delay), 1),
        ]
        for scene, metric, digits in (
            ("rtt", "long_share", 2),
            ("bursts", "burst_loss_percent", 1),
            ("unresponsive", "goodput", 3),
        ):
            cells.append(decimals(scores[scene].mean(queue, metric)[0], digits))
        rows.append(cells)
    columns = ["queue", "goodput", "delay [ms]", "worst", "200/20 ms", "burst loss [%]", "TCP left"]
    about = (
        "Means over scenarios; worst delay of a scenario; share of long round trips in rtt; loss of"
        " bursts; goodput of TCP\nbeside a stream that takes half the link"
    )
    return f"{about}\n{table(columns, rows)}"


def sentences(scores: Mapping[str, Scores]) -> list[str]:
    """What to read out of the tables.

    Parameters
    ----------
    scores
        By scenario.
    """
    own_label = next(iter(scores.values())).queues[0]
    rival = DROP_TAIL if own_label != DROP_TAIL else next(iter(scores.values())).queues[1]
    wins = [name for name, queue_scores in scores.items() if better(queue_scores, own_label, rival)]
    losses = [
        name for name, queue_scores in scores.items() if better(queue_scores, rival, own_label)
    ]
    text = f"{own_label} is better than {rival} in {len(wins)} of {len(scores)} scenarios"
    text += f", worse in {', '.join(losses)}." if losses else " and worse in none."
    worst = max(scores, key=lambda name: scores[name].mean(own_label, "delay_ms")[0])
    delay, low, high = scores[worst].mean(own_label, "delay_ms")
    least = min(scores, key=lambda name: scores[name].mean(own_label, "goodput")[0])
    text += (
        f" Its longest delay is {bounds(delay, low, high, figures=3)} ms in {worst}"
        f" ({SCENARIOS[worst].title}), its lowest goodput"
        f" {decimals(scores[least].mean(own_label, 'goodput')[0], 3)}"
        f" in {least} ({SCENARIOS[least].title})."
    )
    return [text]
