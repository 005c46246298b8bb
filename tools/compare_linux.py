"""Compare recordings of the kernel's TCP with era `linux`, and print the table.

    tools/compare_linux.py [--folder tests/data/linux] [--markdown] [NAME ...]

Exit status: 0 all numbers agree, 1 some do not, 2 there is no such recording.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from linux_link import files
from linux_link.compare import Verdict, compare

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "linux"
HEAD = ("case", "quantity", "recorded", "here", "difference", "verdict")
WORDS = {
    "goodput_bps": "goodput, Mbit/s",
    "drops": "drops",
    "cwnd_min": "smallest cwnd",
    "cwnd_mean": "mean cwnd",
    "cwnd_max": "largest cwnd",
    "queue_mean_packets": "mean queue, packets",
}


def row(verdict: Verdict) -> tuple[str, ...]:
    """Write a verdict as cells."""
    scale = 1e-6 if verdict.quantity == "goodput_bps" else 1.0
    digits = 2 if verdict.quantity == "goodput_bps" else 1

    def number(value: float) -> str:
        return f"{value * scale:.{digits}f}"

    middle = (verdict.least + verdict.most) / 2
    band = number(verdict.least)
    if number(verdict.most) != band:
        band += f" to {number(verdict.most)}"
    difference = f"{(verdict.here / middle - 1) * 100:+.1f} %" if middle else "-"
    word = "agrees" if verdict.agrees else "apart"
    return verdict.case, WORDS[verdict.quantity], band, number(verdict.here), difference, word


def show(rows: list[tuple[str, ...]], *, markdown: bool) -> None:
    """Print the table; a case is named once."""
    cells: list[tuple[str, ...]] = [HEAD]
    last = ""
    for cell in rows:
        cells.append(("" if cell[0] == last else cell[0], *cell[1:]))
        last = cell[0]
    if markdown:
        cells.insert(1, ("---",) * len(HEAD))
        for line in cells:
            print(f"| {' | '.join(line)} |")
        return
    widths = [max(len(line[i]) for line in cells) for i in range(len(HEAD))]
    for line in cells:
        print("  ".join(text.ljust(w) for text, w in zip(line, widths, strict=True)).rstrip())


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases; left out: all")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    names = arguments.names or sorted(path.stem for path in arguments.folder.glob("*.parquet"))
    missing = [name for name in names if not (arguments.folder / f"{name}.parquet").exists()]
    if missing or not names:
        what = missing[0] if missing else "any case"
        print(f"compare_linux: {arguments.folder} has no recording of {what}", file=sys.stderr)
        return 2
    verdicts = []
    for name in names:
        _, about = files.read(arguments.folder / f"{name}.parquet")
        verdicts += compare(about)
    show([row(verdict) for verdict in verdicts], markdown=arguments.markdown)
    agree = sum(verdict.agrees for verdict in verdicts)
    if not arguments.markdown:
        print(f"\n{agree} of {len(verdicts)} numbers agree")
    return 0 if agree == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
