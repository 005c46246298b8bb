"""How often the control of a flow is identified: held-out paths, captures, made-up controls.

Runs every class on paths that the training data do not have, and prints the share of right answers
by control, by family and of Linux's three; then controls that no class is: how often one is called
by a name with a probability above 0.9. With `--captures` Linux's three go through capture files.

Exit status: 0.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from ackclock.captures.identify.classifier import load_classifier
from ackclock.captures.identify.features import features_of_run
from ackclock.captures.identify.identification import NONE, identify, name_of
from ackclock.captures.identify.training import controls, make_runs, path_of, scenario_for

LINUX = ("aimd", "cubic", "bbr")
FAMILIES = {
    "aimd": "additive increase", "aimad": "additive increase", "westwood": "additive increase",
    "veno": "additive increase", "compound": "additive increase", "hybla": "additive increase",
    "lp": "delay", "rtt-squared": "additive increase", "maimd": "additive increase",
    "yeah": "additive increase", "illinois": "additive increase", "nv": "delay",
    "cubic": "fast growth", "bic": "fast growth", "htcp": "fast growth",
    "highspeed": "fast growth", "scalable": "fast growth", "mimd": "fast growth",
    "vegas": "delay", "fast": "delay", "ledbat": "delay", "ledbat++": "delay", "copa": "delay",
    "cdg": "delay", "nscc": "delay",
    "bbr": "model of the path", "bbr2": "model of the path", "bbr3": "model of the path",
    "c4": "model of the path", "c4-02": "model of the path", "vivace": "utility",
    "aiad": "small decrease", "miad": "small decrease", "iiad": "small decrease",
    "aild": "small decrease", "sqrt": "binomial",
}  # fmt: skip
"""By control the family that answers are also judged by."""


def made_up(number: int) -> dict[str, Any]:
    """Draw a control that no class is.

    Parameters
    ----------
    number
        Seed of the draw.
    """
    rng = random.Random(f"made-up {number}")
    kinds = [
        {"kind": "aimd", "a": rng.uniform(3, 12), "b": rng.uniform(0.6, 0.9)},
        {"kind": "aimd", "a": rng.uniform(0.1, 0.3), "b": rng.uniform(0.1, 0.3)},
        {"kind": "cubic", "beta": rng.uniform(0.3, 0.5), "c": rng.uniform(2, 8)},
        {"kind": "vegas", "alpha": rng.uniform(15, 30), "beta": rng.uniform(32, 60)},
        {"kind": "scalable", "a": rng.uniform(0.03, 0.1), "b": rng.uniform(0.3, 0.6)},
    ]
    return kinds[number % len(kinds)]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--first", type=int, default=9000, help="first path")
    parser.add_argument("--paths", type=int, default=10, help="paths")
    parser.add_argument("--made-up", type=int, default=50, help="controls that no class is")
    parser.add_argument("--captures", type=int, default=0, help="paths of captures")
    parser.add_argument("--runs", type=Path, help="features of runs, made before")
    arguments = parser.parse_args()
    classifier = load_classifier()
    if arguments.runs:
        with np.load(arguments.runs) as data:
            rows, labels = data["rows"].astype(float), [str(name) for name in data["names"]]
    else:
        numbers = range(arguments.first, arguments.first + arguments.paths)
        rows, labels, _ = make_runs(controls(), numbers)
    shares = classifier.probabilities(rows)
    names = [*classifier.names, NONE]
    best = [names[int(np.argmax(row))] for row in shares]
    print_figures(labels, best, shares, names)
    mask = np.isin(labels, LINUX)
    alone = classifier.probabilities(rows[mask], LINUX)
    right = [
        names[int(np.argmax(row))] == name
        for row, name in zip(alone, np.asarray(labels)[mask], strict=True)
    ]
    print(f"Linux's three among themselves: {np.mean(right):.1%} of {len(right)}")
    if arguments.made_up:
        print_made_up(classifier, names, arguments.made_up)
    if arguments.captures:
        print_captures(arguments.first, arguments.captures)


def print_figures(labels: list[str], best: list[str], shares: Any, names: list[str]) -> None:
    """Print shares of right answers, and what is taken for what.

    Parameters
    ----------
    labels
        Controls of the runs.
    best
        Most probable answers.
    shares
        Probabilities.
    names
        Of their columns.
    """
    right = [a == b for a, b in zip(labels, best, strict=True)]
    family = [FAMILIES.get(a, a) == FAMILIES.get(b, b) for a, b in zip(labels, best, strict=True)]
    print(f"{len(labels)} runs: {np.mean(right):.1%} right, {np.mean(family):.1%} by family")
    linux = [r for r, name in zip(right, labels, strict=True) if name in LINUX]
    print(f"Linux's three among all: {np.mean(linux):.1%} of {len(linux)}")
    top = shares.max(axis=1)
    for low, high in ((0.5, 0.7), (0.7, 0.9), (0.9, 1.01)):
        mask = (top >= low) & (top < high)
        if mask.any():
            print(
                f"probability {low:g} to {min(high, 1):g}: {np.mean(np.array(right)[mask]):.1%}"
                f" right of {mask.sum()}"
            )
    for name in sorted(set(labels)):
        rows = [b for a, b in zip(labels, best, strict=True) if a == name]
        counts = ", ".join(f"{other} {count}" for other, count in Counter(rows).most_common(4))
        print(f"  {name} ({len(rows)}): {counts}")


def print_made_up(classifier: Any, names: list[str], count: int) -> None:
    """Print how often a control that no class is gets a name.

    Parameters
    ----------
    classifier
        The classifier.
    names
        Of its columns.
    count
        Controls.
    """
    called: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for number in range(count):
        path = path_of(8000 + number)
        run = scenario_for(made_up(number), path, ("windows", "rtts", "drops")).run()
        row = features_of_run(run)
        if row is None:
            continue
        shares = dict(zip(names, classifier.probabilities(row[None, :])[0].tolist(), strict=True))
        answers[name_of(shares)] += 1
        best = max(shares, key=lambda name: shares[name])
        if best != NONE and shares[best] > 0.9:
            called[f"{made_up(number)['kind']} as {best}"] += 1
    print(f"made-up controls: {sum(called.values())} of {count} named with more than 0.9: {called}")
    print(f"answers: {answers}")


def print_captures(first: int, count: int) -> None:
    """Print answers for Linux's three through capture files.

    Parameters
    ----------
    first
        First path.
    count
        Paths.
    """
    right, total = 0, 0
    for number in range(first, first + count):
        for name in LINUX:
            scenario = scenario_for(name, {**path_of(number), "duration": 15.0}, ("packets",))
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "x.pcapng"
                scenario.run().to_pcapng(file, link="s0->r0")
                answer = identify(file).answer
            right, total = right + (answer == name), total + 1
            if answer != name:
                print(f"  capture {number}: {name} as {answer}")
    print(f"through captures: {right} of {total} of Linux's three")


if __name__ == "__main__":
    main()
