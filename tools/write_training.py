"""Writes the labelled runs that `ackclock identify` learns from.

Runs every control that is a class on so many paths drawn from seeds, and keeps the features of each
run, some 50 numbers: ``python/ackclock/captures/identify/training.npz``; and the trees that are
grown from them, ``forest.npz`` beside it, which is read without scikit-learn. What makes
probabilities is fitted with runs of foreign controls. Takes half a second a path on one core. The
same seeds give the same files.

``python tools/write_training.py --paths 40``
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from ackclock.captures.identify.classifier import DATA, FOREST, calibrate, grow_trees
from ackclock.captures.identify.training import controls, make_foreign_runs, make_runs


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--paths", type=int, default=40, help="paths, numbered from 0")
    parser.add_argument("--foreign", type=int, default=160, help="controls that no class is")
    parser.add_argument("--out", type=Path, default=DATA, help="file to write")
    arguments = parser.parse_args()

    def report(share: float) -> None:
        print(f"\r{100 * share:.0f} %", end="", file=sys.stderr)

    rows, names, paths = make_runs(controls(), range(arguments.paths), report)
    # Three digits: the file must be small.
    rows = rows.astype(np.float16).astype(float)
    foreign = make_foreign_runs(arguments.foreign).astype(np.float16).astype(float)
    calibrated = calibrate(rows, names, paths, foreign)
    np.savez_compressed(
        arguments.out,
        rows=rows.astype(np.float16),
        names=np.asarray(names),
        paths=np.asarray(paths, np.int32),
        calibrated=np.asarray(calibrated),
    )
    np.savez_compressed(
        arguments.out.with_name(FOREST.name), **grow_trees(rows, names).pack()
    )  # fmt: skip
    print(f"\n{calibrated}", file=sys.stderr)
    print(f"\nwrote {len(rows)} runs to {arguments.out}", file=sys.stderr)


if __name__ == "__main__":
    main()
