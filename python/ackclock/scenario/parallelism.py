"""How much of a run could happen at once."""

from __future__ import annotations

import json
from typing import Any, Protocol

from ackclock._util.number_text import engineering
from ackclock._util.text_table import table

__all__ = ["Parallelism", "measure"]

_WORTH = 1.2
"""Speed-up below which a second core is not worth while."""


class Parallelism:
    """Critical path and average parallelism of a run, and the speed-up that they allow.

    Parameters
    ----------
    name
        The scenario's name.
    data
        As the core gave it: from_s, until_s, processes, turns, steps, critical_steps,
        average_parallelism, busiest, critical, step_s, sync_s, crossing_s, on_one, on_two,
        not_on_two, predicted.
    """

    def __init__(self, name: str, data: dict[str, Any]) -> None:
        self.name = name
        self.data = data

    def __repr__(self) -> str:
        return f"Parallelism({self.data['average_parallelism']:.3g} on average)"

    def __str__(self) -> str:
        data = self.data
        path = data["critical_steps"] / data["steps"]
        rows = [
            [
                str(on["cores"]),
                f"{on['speedup']:.2f}",
                f"{on['speedup_of_stretch']:.2f}",
                f"{on['largest_share']:.1%}",
                f"{on['crossing']:.1%}",
            ]
            for on in data["predicted"]
        ]
        stretch = f"{engineering(data['from_s'], 's')} to {engineering(data['until_s'], 's')}"
        busiest, critical = data["busiest"], data["critical"]
        parts = [
            f"{self.name or 'scenario'}: recorded on one thread from {stretch} of simulated time",
            f"{data['steps']:,} steps in {data['turns']:,} turns"
            f" of {data['processes']:,} processes\n"
            f"critical path: {data['critical_steps']:,} steps, {path:.1%} of all\n"
            f"average parallelism: {data['average_parallelism']:.2f}\n"
            f"most work: {busiest['name']}, {busiest['share']:.1%} of all steps\n"
            f"most of the critical path: {critical['name']}, {critical['share']:.1%} of its steps\n"
            f"measured: {engineering(data['step_s'], 's', 3)} a step,"
            f" {engineering(data['sync_s'], 's', 3)} a synchronisation of two threads\n"
            + self._describe_cost(),
            table(
                [
                    "cores",
                    "speed-up",
                    "without setting up",
                    "most on one core",
                    "dependencies between cores",
                ],
                rows,
            ),
            f"{self.limit()}\nSpeed-ups are predicted, for ackclock run --threads N.",
        ]
        return "\n\n".join(parts)

    def _describe_cost(self) -> str:
        """Say what two threads took for the stretch."""
        one, two = self.data["on_one"], self.data["on_two"]
        if two is None:
            return f"not held against a run on two threads: {self.data['not_on_two']}"
        return (
            f"run on one thread and on two: {engineering(one['stretch_s'], 's')} and"
            f" {engineering(two['stretch_s'], 's')}, and {engineering(one['setup_s'], 's')} and"
            f" {engineering(two['setup_s'], 's')} to set up; so a step that depends on another"
            f" core takes {engineering(self.data['crossing_s'], 's', 3)} more"
        )

    def limit(self) -> str:
        """Say what limits the speed-up, in one sentence."""
        data = self.data
        busiest, average = data["busiest"], data["average_parallelism"]
        if data["processes"] == 1:
            return (
                f"All is one process, {busiest['name']}:"
                " delays are short against transmission times. Threads divide it."
            )
        if busiest["share"] * average > 1 / _WORTH:
            return (
                f"What limits it is one process, {busiest['name']},"
                f" with {busiest['share']:.1%} of the work."
            )
        best = max(on["speedup_of_stretch"] for on in data["predicted"])
        if best < average / 2:
            return (
                "What limits it are synchronisations: a turn has"
                f" {data['steps'] / data['turns']:.1f} steps, a synchronisation costs"
                f" {data['sync_s'] / data['step_s']:.1f}, and a step that depends on another core"
                f" {1 + data['crossing_s'] / data['step_s']:.1f}."
            )
        if best > average:
            largest = min(
                on["largest_share"] for on in data["predicted"] if on["speedup_of_stretch"] == best
            )
            return (
                "What limits it is how the work can be divided: of the best division one core has"
                f" {largest:.1%}. Turns of threads are shorter than those of one, and overlap."
            )
        return (
            "What limits it is the critical path: processes wait for one another,"
            f" {average:.2f} at a time."
        )


class _Case(Protocol):
    """What is needed of a scenario."""

    @property
    def name(self) -> str: ...
    @property
    def holds_lock(self) -> bool: ...
    def check(self) -> None: ...
    def core_json(self) -> str: ...


def measure(scenario: _Case) -> Parallelism:
    """Measure a short stretch of a run, as `Scenario.parallelism`."""
    from ackclock import _core
    from ackclock.errors import UnsupportedError

    scenario.check()
    if scenario.holds_lock:
        message = (
            "the scenario has algorithms written in Python, which the interpreter's lock runs"
            " one at a time; expected algorithms of the catalogue"
        )
        raise UnsupportedError(message)
    return Parallelism(scenario.name, json.loads(_core.parallelism(scenario.core_json())))
