"""Compare recordings of the kernel over paths of each kind with era `linux`, and print tables.

    PYTHONPATH=tools python -m linux_link.compare_paths open|held [--markdown] [--apart] [NAME ...]

A cell is a control with so many flows: nine quantities on each of eight paths.

Exit status: 0 all quantities agree, 1 some do not, 2 there is no recording.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from linux_link import files, paths

FOLDER = Path(__file__).resolve().parent.parent.parent / "tests" / "data" / "linux"


def compare(cell: paths.Cell, folder: Path) -> list[paths.Verdict]:
    """Judge a recorded case, with as many runs here as there are seeds."""
    _, about = files.read(folder / f"{cell.name}.parquet")
    there = [repeat["quantities"] for repeat in about["repeats"]]
    here = [paths.quantities(paths.run_here(cell, repeat["seed"])) for repeat in about["repeats"]]
    return paths.verdicts(cell, there, here)


def span(values: tuple[float, ...]) -> str:
    """Write values of several runs."""
    least, most = f"{min(values):.4g}", f"{max(values):.4g}"
    return least if least == most else f"{least} to {most}"


def table(judged: list[paths.Verdict], *, markdown: bool) -> list[str]:
    """Count what agrees, by cell and by path."""
    names = [*paths.PATHS, "all"]
    rows = [["cell", *names]]
    for cc in paths.CONTROLS:
        for flows in paths.FLOWS:
            cells = [f"{flows} {cc}"]
            for path in names:
                mine = [
                    v.agrees
                    for v in judged
                    if (v.cell.cc, v.cell.flows) == (cc, flows) and path in (v.cell.path, "all")
                ]
                cells.append(f"{sum(mine)}/{len(mine)}")
            rows.append(cells)
    if markdown:
        rows.insert(1, ["---"] * len(names) + ["---"])
        return [f"| {' | '.join(row)} |" for row in rows]
    return ["  ".join(f"{cell:>9}" for cell in row) for row in rows]


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("setting", choices=sorted(paths.SETTINGS))
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases; left out: all")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--apart", action="store_true", help="list what is apart")
    arguments = parser.parse_args()
    folder = arguments.folder / arguments.setting
    judged: list[paths.Verdict] = []
    for cell in paths.cells(arguments.setting):
        if arguments.names and cell.name not in arguments.names:
            continue
        if (folder / f"{cell.name}.parquet").exists():
            judged += compare(cell, folder)
    if not judged:
        print(f"compare_paths: {folder} has no such recording", file=sys.stderr)
        return 2
    print("\n".join(table(judged, markdown=arguments.markdown)))
    agree = sum(one.agrees for one in judged)
    print(f"\n{agree} of {len(judged)} quantities agree")
    if arguments.apart:
        for one in judged:
            if not one.agrees:
                words = paths.ALL_QUANTITIES[one.quantity]
                print(f"{one.cell.name}, {words}: kernel {span(one.there)}, here {span(one.here)}")
    return 0 if agree == len(judged) else 1


if __name__ == "__main__":
    sys.exit(main())
