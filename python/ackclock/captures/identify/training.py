"""Labelled runs of every control over many paths, which a classifier learns from."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.captures.identify.features import features_of_run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ackclock.captures.trace import Floats
    from ackclock.scenario.scenario import Scenario

__all__ = [
    "LEFT_OUT",
    "SAME",
    "classes",
    "controls",
    "foreign",
    "make_foreign_runs",
    "make_runs",
    "path_of",
    "scenario_for",
]

LEFT_OUT = {
    "dctcp": "without marks it is Reno",
    "prague": "without marks it is Reno",
    "decbit": "without marks it has no signal",
    "hpcc": "without records of the ports on the way it has no signal",
    "linear": "its defaults are those of aimd",
    "binomial": "its defaults are those of aimd",
    "lia": "on one path it is Reno",
    "olia": "on one path it is Reno",
    "balia": "on one path it is Reno",
    "none": "it is no control: credits of the receiver hold the flow back",
}
"""Controls that are no class, and why."""

SAME = {"fast-corrected": "fast", "fast-rate-reduction": "fast", "fast-self-tuning": "fast"}
"""Controls that are of another's class: alone on a path they do the same."""


TABLES = ("windows", "rtts", "drops")
"""Tables of a run that features are computed from."""


def controls() -> list[str]:
    """Names of the controls that are run: those of the registry without `LEFT_OUT`."""
    from ackclock.catalogue.schema import catalogue

    return [name for name in catalogue()["cc"] if name not in LEFT_OUT]


def classes() -> list[str]:
    """Names of the controls that are distinguished."""
    return sorted({SAME.get(name, name) for name in controls()})


def foreign(number: int) -> dict[str, Any]:
    """Draw a control whose constants are far from those of any class.

    Parameters
    ----------
    number
        Seed of the draw.
    """
    rng = random.Random(f"foreign {number}")

    def draw(low: float, high: float) -> float:
        return rng.uniform(low, high)

    kinds: list[dict[str, Any]] = [
        {"kind": "binomial", "k": draw(-0.8, 0.8), "l": draw(0.2, 0.9),
         "alpha": draw(1, 8), "beta": draw(0.1, 0.5)},
        {"kind": "maimd", "a_i": draw(2, 8), "b_i": draw(1.02, 1.3), "b_d": draw(0.5, 0.75)},
        {"kind": "mimd", "a": draw(1.02, 1.08), "b": draw(0.4, 0.7)},
        {"kind": "mimd", "a": draw(1.2, 1.5), "b": draw(0.5, 0.9)},
        {"kind": "aiad", "a": draw(2, 8), "d": draw(6, 40)},
        {"kind": "illinois", "alpha_max": draw(20, 60), "beta_max": draw(0.6, 0.8)},
        {"kind": "copa", "delta": draw(0.03, 0.2)},
        {"kind": "veno", "beta": draw(8, 30)},
    ]  # fmt: skip
    return kinds[number % len(kinds)]


def make_foreign_runs(count: int, first_path: int = 3000) -> Floats:
    """Run controls that no class is, and compute their features.

    Parameters
    ----------
    count
        Controls, numbered from 0, on a path each.
    first_path
        Number of the first path.

    Returns
    -------
    array
        A row for each run that shows enough.
    """
    rows = []
    for number in range(count):
        path = path_of(first_path + number)
        row = features_of_run(scenario_for(foreign(number), path, TABLES).run())
        if row is not None:
            rows.append(row)
    return np.asarray(rows, float)


def path_of(number: int) -> dict[str, Any]:
    """Draw a path.

    Parameters
    ----------
    number
        Seed of the draw.
    """
    rng = random.Random(f"identify {number}")
    rate = math.exp(rng.uniform(math.log(4e6), math.log(40e6)))
    rtt = math.exp(rng.uniform(math.log(0.015), math.log(0.12)))
    packets = rate * rtt / 8 / 1500
    return {
        "rate": rate,
        "rtt": rtt,
        "buffer": max(12, round(math.exp(rng.uniform(math.log(0.6), math.log(4))) * packets)),
        "era": rng.choice(("linux", "rfc")),
        "duration": min(30.0, max(15.0, 250 * rtt)),
    }


def scenario_for(control: Any, path: dict[str, Any], record: Sequence[str]) -> Scenario:
    """Make the scenario of one flow on a path.

    Parameters
    ----------
    control
        Name of a control, or one with parameters.
    path
        As `path_of` gives it.
    record
        Tables.
    """
    from ackclock.scenario.scenario import Scenario

    return Scenario.from_data({
        "duration": f"{path['duration']} s",
        "era": path["era"],
        "net": {
            "kind": "dumbbell", "pairs": 1, "rate": f"{path['rate']:.6g} bps",
            "rtt": f"{path['rtt']:.6g} s", "buffer": f"{path['buffer']} pkt",
        },
        "flows": [{"id": "flow", "pair": 0, "cc": control}],
        "record": {"tables": list(record)},
    })  # fmt: skip


def make_runs(
    algorithms: Sequence[Any],
    numbers: Sequence[int],
    progress: Callable[[float], object] | None = None,
) -> tuple[Floats, list[str], list[int]]:
    """Run controls on paths, and compute their features.

    Parameters
    ----------
    algorithms
        Names, or tables with ``kind`` and parameters.
    numbers
        Numbers of paths.
    progress
        Called with the share of runs that are finished.

    Returns
    -------
    tuple
        A row of features for each run; names of classes; numbers of paths. Runs that show too
        little are left out.
    """
    rows, names, paths = [], [], []
    total = len(algorithms) * len(numbers)
    for count, (number, control) in enumerate((n, c) for n in numbers for c in algorithms):
        run = scenario_for(control, path_of(number), TABLES).run()
        row = features_of_run(run)
        if row is not None:
            rows.append(row)
            name = control if isinstance(control, str) else str(control["kind"])
            names.append(SAME.get(name, name))
            paths.append(number)
        if progress is not None:
            progress((count + 1) / total)
    return np.asarray(rows, float), names, paths
