"""Brings a run to the situation that a case describes: what depends on an event follows it.

An event is found by a run without what follows it. Equal seeds give equal runs up to the first
change, so in the next run, with the change, the event is at the same picosecond; this is checked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.errors import AckclockError, Problem, ScenarioError, suggestion

if TYPE_CHECKING:
    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario
    from ackclock.studies.conform.suite import ConformanceCase, Losses, Trigger

__all__ = ["Staged", "fill", "merge", "stage"]

TABLES = ["states", "probe_series", "windows", "drops", "rtts", "packets"]

_TIME = re.compile(r"\{\s*(\w+)\s*(?:([+-])\s*(\d+(?:\.\d+)?)\s*)?\}")


@dataclass(frozen=True)
class Staged:
    """A case that has been run.

    Parameters
    ----------
    run
        The last run, with all that follows from events.
    events
        Times of events [s].
    missing
        Events that did not happen, in order: those after the first could not be looked for.
    scenario
        What the last run is of.
    """

    run: Run
    events: dict[str, float]
    missing: tuple[Trigger, ...]
    scenario: Scenario


def merge(base: Any, over: Any) -> Any:
    """Put one document over another: tables key by key, lists of equal length place by place.

    Parameters
    ----------
    base, over
        The documents.
    """
    if isinstance(base, Mapping) and isinstance(over, Mapping):
        both = {key: merge(base[key], over[key]) for key in base.keys() & over.keys()}
        return {**base, **over, **both}
    if isinstance(base, list) and isinstance(over, list) and len(base) == len(over):
        return [merge(a, b) for a, b in zip(base, over, strict=True)]
    return over


def fill(value: Any, events: Mapping[str, float]) -> Any:
    """Write times of events into text, as in ``"{up + 0.02}"``, with seconds as their unit.

    Parameters
    ----------
    value
        Text, or a document with text in it.
    events
        Times [s].

    Raises
    ------
    ScenarioError
        There is no such event.
    """
    if isinstance(value, Mapping):
        return {key: fill(entry, events) for key, entry in value.items()}
    if isinstance(value, list):
        return [fill(entry, events) for entry in value]
    if not isinstance(value, str):
        return value

    def time(found: re.Match[str]) -> str:
        name, sign, offset = found.groups()
        if name not in events:
            message = f'there is no event "{name}" by then; {suggestion(name, events)}'
            raise ScenarioError([Problem(value, message)])
        seconds = events[name] + float(f"{sign or '+'}{offset or 0}")
        return f"{max(seconds, 0.0):.12f} s"

    return _TIME.sub(time, value)


def stage(case: ConformanceCase, scenario: Scenario) -> Staged:
    """Run a case, once more for each of its events.

    Parameters
    ----------
    case
        The case.
    scenario
        What it runs, with the control in it.

    Raises
    ------
    ScenarioError
        The scenario is wrong, with what follows from an event or without.
    AckclockError
        An event moved although nothing before it had changed.
    """
    events: dict[str, float] = {}
    dropped: dict[str, list[int]] = {}
    run = scenario.run(record=TABLES)
    if case.losses is not None:
        scenario = scenario.replace(**_drops(run, case.losses, events, dropped))
        run = scenario.run(record=TABLES)
    for number, trigger in enumerate(case.triggers):
        event_s = _entry(run, trigger, events)
        if event_s is None:
            return Staged(run, events, case.triggers[number:], scenario)
        events[trigger.event] = event_s
        changes = fill(dict(trigger.changes), events)
        if changes:
            scenario = scenario.replace(**changes)
            run = scenario.run(record=TABLES)
        if trigger.losses is not None:
            # After the changes, which decide what arrives from here on.
            scenario = scenario.replace(**_drops(run, trigger.losses, events, dropped))
            run = scenario.run(record=TABLES)
        for earlier in case.triggers[: number + 1]:
            again = _entry(run, earlier, events)
            if again != events[earlier.event]:
                raise AckclockError(
                    f'case {case.key}: the event "{earlier.event}" was at'
                    f" {events[earlier.event]:.12f} s and is at {again} s now that what follows"
                    f' "{trigger.event}" is in the scenario; a change that follows an event must'
                    " not act before it"
                )
    return Staged(run, events, (), scenario)


def _entry(run: Run, trigger: Trigger, events: Mapping[str, float]) -> float | None:
    """When the control enters one of the states; None: it does not."""
    start = -1.0 if trigger.after is None else events[trigger.after]
    states = run.table("states")
    times = [
        time
        for time, state in zip(
            states["time_s"].to_pylist(), states["state"].to_pylist(), strict=True
        )
        if state in trigger.states and time > start
    ]
    return times[trigger.nth - 1] if len(times) >= trigger.nth else None


def _drops(
    run: Run, losses: Losses, events: Mapping[str, float], dropped: dict[str, list[int]]
) -> dict[str, Any]:
    """The change that loses packets: numbers of arrivals at the link, with those lost before."""
    import pyarrow.compute as pc

    since = float(fill(losses.at, events).removesuffix(" s"))
    packets = run.table("packets")
    link_names = sorted(set(pc.cast(packets["link"], "string").to_pylist()))
    if losses.link not in link_names:
        message = f'there is no link "{losses.link}"; {suggestion(losses.link, link_names)}'
        raise ScenarioError([Problem("lose.link", message)])
    here = pc.and_(
        pc.equal(pc.cast(packets["link"], "string"), losses.link),
        pc.equal(pc.cast(packets["event"], "string"), "arrival"),
    )
    first = int(pc.sum(pc.less(packets.filter(here)["time_s"], since)).as_py() or 0)
    # One link may be without drops yet, so the whole list is given again.
    numbers = dropped.setdefault(losses.link, [])
    numbers += [first + i * losses.every for i in range(losses.count)]
    changes = [{"link": link, "drop": sorted(set(of))} for link, of in dropped.items()]
    return {"links": changes}
