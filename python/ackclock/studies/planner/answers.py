"""Answers of a planner as text: sentences first, then tables."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from ackclock._util.number_text import engineering, number, percent
from ackclock._util.text_table import table
from ackclock.studies.planner.enforcement import Enforcement
from ackclock.studies.planner.failures import MOST, FailureSurvey
from ackclock.studies.planner.overview import HEADINGS, Overview
from ackclock.studies.planner.percentiles import QUANTILES, quantiles
from ackclock.studies.planner.sampling import Sampled
from ackclock.studies.planner.upgrades import Upgrades
from ackclock.studies.planner.utilisation import Utilisation
from ackclock.studies.planner.weights import WeightsResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ackclock.studies.planner.situation import Situation

__all__ = ["Answer", "Table", "sentences", "tables", "text"]

Answer = FailureSurvey | Upgrades | Utilisation | WeightsResult | Enforcement | Overview
"""What has a map and a page."""
Table = tuple[str, list[str], list[list[str]]]
"""Title, head and rows."""


def _bps(value: float) -> str:
    return engineering(value, "bit/s")


def _inputs(situation: Situation) -> str:
    graph = situation.network.graph
    return (
        f"{situation.network.title}: {len(graph.nodes)} nodes, {situation.links} links,"
        f" {len(situation.demands.source)} demands"
    )


def _how_routed(situation: Situation) -> list[str]:
    """Say which demands are on given paths and which flows are hashed, where some are."""
    lines = list(dict.fromkeys((*situation.network.notes, *situation.demands.notes)))
    hashing, paths = situation.hashing, situation.paths
    if situation.metric == "inverse-capacity":
        lines.append(
            f"a link costs {_bps(situation.reference)} over its capacity, whole and at least 1"
        )
    if paths is not None:
        unused = f", {paths.unused} more in the file have no demand" if paths.unused else ""
        demands_on_paths = int(np.unique(paths.pair).size)
        lines.append(
            f"given paths: {len(paths.pair)}, of {demands_on_paths} of the demands{unused}"
        )
    if hashing is not None:
        flows_in_file = situation.demands.flows
        by_rate = f"of at most {_bps(hashing.flow_bps)}"
        which = by_rate if flows_in_file is None else f"as the file gives, else {by_rate}"
        how = "one hash in all routers" if hashing.same else "a hash of each router"
        flows = int(situation.flows().sum())
        lines.append(f"{flows:,} flows, {which}, take equal paths by {how}")
    return lines


def _over_hashes(values: npt.NDArray[np.float64]) -> str:
    """Say between which utilisations the seeds of the hash come."""
    low, middle, high = (percent(float(v)) for v in quantiles(values))
    return f"{low} to {high}, median {middle}"


@singledispatch
def sentences(answer: Answer | Sampled) -> list[str]:
    """Say the answer in a few sentences.

    Parameters
    ----------
    answer
        What was found.
    """
    raise TypeError(f"no answer: {answer!r}")


@singledispatch
def tables(answer: Answer | Sampled) -> list[Table]:
    """Make the tables of an answer.

    Parameters
    ----------
    answer
        What was found.
    """
    raise TypeError(f"no answer: {answer!r}")


def text(answer: Answer | Sampled) -> str:
    """Write an answer for a terminal.

    Parameters
    ----------
    answer
        What was found.
    """
    if isinstance(answer, Overview):
        question_sections = [
            f"{head.upper()}\n{_of_report(answer, name)}" for name, head in HEADINGS.items()
        ]
        return "\n\n".join(["\n".join(sentences(answer)), *question_sections])
    blocks = ["\n".join(sentences(answer))]
    for title, head, rows in tables(answer):
        body = table(head, rows)
        blocks.append(f"{title}\n{body}" if title else body)
    return "\n\n".join(blocks)


def _of_report(answer: Overview, name: str) -> str:
    """The answer to one question of a report, whose inputs are said once above all."""
    if name not in answer.sections:
        return f"no answer: {answer.without[name]}"
    return text(answer.sections[name]).partition("\n")[2].lstrip("\n")


@sentences.register
def _(answer: Overview) -> list[str]:
    """Say in a sentence each what the questions of a report found."""
    lines = [_inputs(answer.situation) + answer.situation.when(), *_how_routed(answer.situation)]
    opening_lines = {*lines, _inputs(answer.situation)}
    for name in HEADINGS:
        if name in answer.without:
            lines.append(f"{HEADINGS[name]}: no answer, {answer.without[name]}")
            continue
        new_lines = [
            line for line in sentences(answer.sections[name])[1:] if line not in opening_lines
        ]
        first, last = {"load": (0, 1), "failures": (2, 3), "upgrades": (0, 2), "weights": (0, 1)}[
            name
        ]
        lines.append("; ".join(new_lines[first:last] or new_lines[-1:]))
    return lines


@tables.register
def _(answer: Overview) -> list[Table]:
    return [table for part in answer.sections.values() for table in tables(part)]


@sentences.register
def _(answer: Utilisation) -> list[str]:
    situation = answer.situation
    times, used = situation.demands.times, answer.used
    lines = [_inputs(situation) + (f", {len(times)} times" if len(times) > 1 else "")]
    lines += _how_routed(situation)
    time, link = divmod(int(used.argmax()), used.shape[1])
    when = f" at {times[time]}" if times[time] else ""
    lines.append(
        f"the busiest link is {situation.direction(link)}, with a load of"
        f" {percent(used[time, link])} of its capacity{when}"
    )
    if answer.hashed is not None:
        busiest = _over_hashes(answer.hashed.max(axis=1))
        of = "" if len(times) == 1 else ", a 95th percentile over time,"
        lines.append(
            f"over {len(answer.hashed)} seeds of the hash the load of the busiest link{of} is"
            f" {busiest} ({QUANTILES[0]:g}th to {QUANTILES[2]:g}th percentile)"
        )
    over = int((used > 1 + 1e-9).any(axis=0).sum())
    if over:
        overloaded = "1 link is" if over == 1 else f"{over} links are"
        lines.append(f"in one direction {overloaded} overloaded")
    missing = float(answer.unreachable.max())
    if missing > 0:
        lines.append(f"{_bps(missing)} at most has no path")
    return lines


@tables.register
def _(answer: Utilisation) -> list[Table]:
    situation, used = answer.situation, answer.used
    p95, top, times = answer.percentile(95), used.argmax(axis=0), situation.demands.times
    over_seeds = None if answer.hashed is None else quantiles(answer.hashed)
    rows = []
    for link in answer.busiest()[:12]:
        row = [situation.direction(link), _bps(float(situation.capacity[link]))]
        if len(times) > 1:
            row += [percent(float(used[:, link].mean())), percent(float(p95[link]))]
        row.append(percent(float(used[:, link].max())))
        if len(times) > 1:
            row.append(times[top[link]])
        if over_seeds is not None:
            row += [percent(float(v)) for v in over_seeds[:, link]]
        rows.append(row)
    head = ["link", "capacity", "mean", "95th percentile", "most", "at"]
    head = head if len(times) > 1 else ["link", "capacity", "load"]
    if over_seeds is not None:
        head = [*head, *(f"{q:g} % of seeds" for q in QUANTILES)]
    result_tables: list[Table] = [("", head, rows)]
    if lost := answer.lost():
        result_tables.append(_without_path(situation, lost))
    return result_tables


def _without_path(situation: Situation, lost: Sequence[int]) -> Table:
    """List demands without a path, with their lines; a long list is cut and counted."""
    first_lost = lost[:_MOST_LOST]
    rows = [
        [situation.pair(pair), str(line) if line else ""]
        for pair, line in zip(first_lost, situation.lines(first_lost), strict=True)
    ]
    if len(lost) > len(first_lost):
        rows.append([f"and {len(lost) - len(first_lost)} more", ""])
    file = situation.demands.file
    return ("without a path", ["demand", "line" if file is None else f"line of {file.name}"], rows)


_MOST_LOST = 20


def _survey_kind(answer: FailureSurvey) -> str:
    words = {
        "links": "links, each alone",
        "nodes": "nodes, each alone",
        "risk-groups": "shared-risk groups, each alone",
        "pairs": "pairs of links",
        "named": "given failure" + ("s" if answer.tried != 1 else ""),
    }[answer.kind]
    return f"{answer.tried} {words}"


@sentences.register
def _(answer: FailureSurvey) -> list[str]:
    situation = answer.situation
    demand = float(situation.volume.sum())
    used = answer.base / situation.capacity
    lines = [
        f"{_inputs(situation)}, {_bps(demand)}{situation.when()}",
        *_how_routed(situation),
        f"without failure the busiest link, {situation.direction(int(used.argmax()))}, has a"
        f" load of {percent(float(used.max()))} of its capacity"
        + (f", and {_bps(answer.base_lost)} is lost" if answer.base_lost else ""),
    ]
    if answer.solved < answer.tried:
        unsolved = answer.tried - answer.solved
        lines.append(
            f"{_survey_kind(answer)}; {unsolved} of them cannot be among the worst"
            f" {min(MOST, answer.tried)} and were not computed"
        )
    else:
        lines.append(_survey_kind(answer))
    worst = answer.failed[0].name
    lost = answer.least_lost(0)
    lost_at_failed = answer.own(0)
    if lost > 1e-9 * demand:
        besides = (
            f" beside {_bps(lost_at_failed)} from or to what failed" if lost_at_failed > 0 else ""
        )
        lines.append(
            f"{worst}: {_bps(lost)} at least cannot be delivered{besides}, {percent(lost / demand)}"
            " of all demand; where overloaded links drop in proportion,"
            f" {_bps(answer.hurt[0].lost)} is lost"
        )
    else:
        busiest = situation.direction(int(answer.impact["busiest"][0]))
        which, most = _own_demand(answer)
        lines.append(
            f"every {which}demand can be met after each failure; the least room is left after"
            f" {worst}: {busiest} has a load of {percent(float(answer.impact['utilisation'][0]))}"
        )
        lines += most
    restless = [failure.name for failure, hurt in zip(answer.failed, answer.hurt, strict=False)
                if not hurt.settled]  # fmt: skip
    if restless:
        lines.append(
            "what is lost in proportion had not come to rest, and is that of the last round, after"
            f" {', '.join(restless)}"
        )
    return lines


def _own_demand(answer: FailureSurvey) -> tuple[str, list[str]]:
    """Which demands can be met, and what is lost with nodes that fail."""
    own = [answer.own(i) for i in range(len(answer.failed))]
    most = max(range(len(own)), key=own.__getitem__, default=0)
    if not own or own[most] <= 0:
        return "", []
    which = f"with {answer.failed[most].name} goes most, {_bps(own[most])}"
    return "other ", [f"the demand from and to a node that fails is lost with it: {which}"]


@tables.register
def _(answer: FailureSurvey) -> list[Table]:
    rows = []
    has_own = bool((answer.impact["own"] > 0).any())
    for i, hurt in enumerate(answer.hurt):
        busiest = answer.situation.direction(int(answer.impact["busiest"][i]))
        rows.append(
            [
                answer.failed[i].name,
                _bps(answer.least_lost(i)),
                _bps(float(answer.impact["disconnected"][i])),
                _bps(hurt.lost),
                str(hurt.count),
                busiest,
                percent(float(answer.impact["utilisation"][i])),
                str(int(answer.impact["overloaded"][i])),
            ]
        )
        if has_own:
            rows[-1].insert(1, _bps(answer.own(i)))
        if answer.hashed is not None:
            rows[-1].append(_over_hashes(answer.hashed[:, i]))
    head = [
        "failed",
        "lost at least",
        "without a path",
        "lost in proportion",
        "demands hurt",
        "busiest link left",
        "its load",
        "overloaded",
    ]
    if has_own:
        head.insert(1, "own demand")
    if answer.hashed is not None:
        head.append(f"its load over {len(answer.hashed)} seeds")
    result_tables: list[Table] = [("", head, rows)]
    if answer.hurt and answer.hurt[0].demands:
        result_tables.append(
            (
                f"hurt most when {answer.failed[0].name} fails",
                ["demand", "volume", "arrives"],
                [
                    [pair, _bps(v), percent(arriving_share)]
                    for pair, v, arriving_share in answer.hurt[0].demands
                ],
            )
        )
    return result_tables


_GOALS = {
    "utilisation": "load of the busiest link",
    "failure": "load of the busiest link under the worst failure of a link",
    "minimum": "least max-min rate of a demand that wants more",
    "total": "sum of max-min rates",
}


@sentences.register
def _(answer: Upgrades) -> list[str]:
    def format_value(value: float) -> str:
        if answer.goal in ("utilisation", "failure"):
            return percent(value)
        return _bps(value) if value < float("inf") else "all demands met"

    lines = [f"{_inputs(answer.situation)}{answer.situation.when()}"]
    lines += _how_routed(answer.situation)
    lines.append(f"{_GOALS[answer.goal]}: {format_value(answer.before)} as it is")
    upgrade_text = f"{number(answer.factor)} times the capacity of {', '.join(answer.links)}"
    lines.append(f"{upgrade_text}: {format_value(answer.after)}")
    how = {
        "exact": "no other set of as many links does better",
        "none": "links were added one after the other; other sets may do better",
        "bound": "links were added one after the other; no set can do better than"
        f" {format_value(answer.bound or 0.0)}",
    }[answer.proof]
    lines.append(how)
    return lines


@tables.register
def _(answer: Upgrades) -> list[Table]:
    if not answer.steps:
        return []
    rows = [[link, percent(step)] for link, step in zip(answer.links, answer.steps, strict=True)]
    return [("", ["with also", _GOALS[answer.goal]], rows)]


@sentences.register
def _(answer: WeightsResult) -> list[str]:
    best = min(answer.baselines, key=lambda name: answer.baselines[name])
    lines = [
        f"{_inputs(answer.situation)}{answer.situation.when()}",
        *_how_routed(answer.situation),
        f"busiest link after {answer.tries} tries: {percent(answer.utilisation)} of its capacity;"
        f" the best usual weights ({best}) give {percent(answer.baselines[best])}",
    ]
    if answer.situation.metric != "inverse-capacity":
        lines.append(f"inverse capacity is {_bps(answer.situation.reference)} over that of a link")
    if answer.bound is None:
        lines.append("the network is too large for the bound over all routings")
    else:
        lines.append(f"no routing of any kind can do better than {percent(answer.bound)}")
    return lines


@tables.register
def _(answer: WeightsResult) -> list[Table]:
    rows = [[name, percent(value)] for name, value in answer.baselines.items()]
    rows.append(["found", percent(answer.utilisation)])
    if answer.bound is not None:
        rows.append(["bound", percent(answer.bound)])
    changed = [[n, number(a), number(b)] for n, a, b in _most_changed(answer.list_changes())]
    found: list[Table] = [("", ["weights", "busiest link"], rows)]
    if changed:
        found.append(("weights that change", ["link", "before", "now"], changed))
    return found


def _most_changed(rows: Sequence[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """At most 30 rows; the whole list is in the file of weights."""
    return list(rows)[:30]


@sentences.register
def _(answer: Enforcement) -> list[str]:
    nowhere, _, everywhere = answer.baselines
    lines = [
        f"{_inputs(answer.situation)}{answer.situation.when()}",
        *_how_routed(answer.situation),
        f"{percent(answer.share)} of the demands, {_bps(answer.hosed)}, push"
        f" {number(answer.push)} times as much; the others demand {_bps(answer.demanded)}"
        + (f" (means of {answer.draws} draws)" if answer.draws > 1 else ""),
    ]
    if not answer.candidates:
        return [*lines, "no link overflows: fair queueing would change nothing"]
    lost = answer.demanded - nowhere.polite
    lines.append(f"without fair queueing the others lose {_bps(lost)}")
    if not answer.best.routers:
        return [*lines, "no router where fair queueing would help them was found"]
    saved = answer.best.polite - nowhere.polite
    of_loss = f", {percent(saved / lost)} of that," if lost > 0 else ""
    lines.append(f"fair queueing at {', '.join(answer.best.routers)} saves {_bps(saved)}{of_loss}"
                 f" and everywhere {_bps(everywhere.polite - nowhere.polite)}")  # fmt: skip
    lines.append(
        {
            "exact": "no other set of at most as many routers saves more",
            "none": "routers were added one after the other; other sets may save more",
            "bound": "routers were added one after the other; no routers can deliver more of"
            f" these demands than {_bps(answer.bound or 0.0)}",
        }[answer.proof]
    )
    return lines


@tables.register
def _(answer: Enforcement) -> list[Table]:
    nowhere, most, everywhere = answer.baselines
    rows = [
        [
            "found" if outcome is answer.best else outcome.label,
            _join_names(outcome.routers) if outcome is not everywhere else "all",
            _bps(outcome.polite),
            percent(outcome.polite / answer.demanded) if answer.demanded else "",
            percent(outcome.least),
            _bps(outcome.hoses),
            _bps(outcome.dead),
        ]
        for outcome in (
            nowhere,
            most,
            *([answer.best] if answer.best.routers else []),
            everywhere,
        )
    ]
    head = ["fair at", "routers", "others get", "of demand", "least", "fire hoses get", "dead"]
    result_tables: list[Table] = [("", head, rows)]
    if answer.steps:
        steps = [
            [name, _bps(step)] for name, step in zip(answer.best.routers, answer.steps, strict=True)
        ]
        result_tables.append(("one after the other", ["with also", "others get"], steps))
    return result_tables


def _join_names(names: Sequence[str]) -> str:
    """At most five names."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "") or "-"


@sentences.register
def _(answer: Sampled) -> list[str]:
    given, volume = answer.situation.volume, answer.demands.volume.sum(axis=1)
    theory = float(np.sqrt((answer.deviation**2).sum()))
    by_theory = _bps(theory) if np.isfinite(theory) else "without bound"
    return [
        f"{_inputs(answer.situation)}, {_bps(float(given.sum()))}{answer.situation.when()}",
        f"{answer.flows:,} flows in {len(volume)} bins of {engineering(answer.bin_s, 's')}",
        f"all demands: mean {_bps(float(volume.mean()))}; standard deviation"
        f" {_bps(float(volume.std()))}, by theory {by_theory}",
    ]


@tables.register
def _(answer: Sampled) -> list[Table]:
    rows = [
        [
            row["pair"],
            _bps(row["demand_bps"]),
            _bps(row["mean_bps"]),
            _bps(row["deviation_bps"]),
            "without bound"
            if row["deviation_by_theory_bps"] is None
            else _bps(row["deviation_by_theory_bps"]),
            _bps(row["p95_bps"]),
        ]
        for row in answer.to_data()["demands"][:12]
    ]
    head = ["demand", "given", "mean", "deviation", "by theory", "95th percentile"]
    return [("", head, rows)]
