"""Writes README's table of algorithms from the core's catalogue, between its two markers.

``python tools/write_readme.py`` writes it; with ``--check`` it only reports whether it is current.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ackclock.catalogue import schema

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN = "<!-- algorithms: written by tools/write_readme.py -->"
END = "<!-- end of algorithms -->"

KINDS = {
    "cc": "congestion control",
    "recovery": "loss recovery",
    "slow_start": "slow start",
    "credits": "credits of receivers",
    "qdisc": "queue discipline",
    "multicast": "layer controls of multicast receivers",
    "impairment": "impairments of a link",
    "source": "traffic without TCP",
    "arrivals": "generators of transfers",
    "pattern": "traffic patterns",
    "sharing": "flow-level sharing",
    "policy": "flow-level senders",
}
"""What each room is called for readers."""


def algorithms() -> str:
    """The table of algorithms as Markdown: a row for each room, names as the registry has them."""
    rows = ["| kind | algorithms |", "| --- | --- |"]
    for room in schema.ROOMS:
        names = ", ".join(f"`{name}`" for name in schema.catalogue()[room])
        rows.append(f"| {KINDS[room]} | {names} |")
    shapes = ", ".join(f"`{kind}`" for kind in schema.net_kinds())
    rows.append(f"| network | {shapes} |")
    return "\n".join(rows)


def with_table(text: str) -> str:
    """Replace what is between the markers.

    Parameters
    ----------
    text
        README as it is.

    Raises
    ------
    ValueError
        A marker is missing.
    """
    if BEGIN not in text or END not in text:
        message = f"README has no lines {BEGIN} and {END}"
        raise ValueError(message)
    table = f"{BEGIN}\n\n{algorithms()}\n\n{END}"
    return re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: table, text, flags=re.DOTALL)


def main(arguments: list[str] | None = None) -> int:
    """Write the table, or check it.

    Parameters
    ----------
    arguments
        Left out: those of this process.
    """
    check = "--check" in (sys.argv[1:] if arguments is None else arguments)
    old = README.read_text(encoding="utf-8")
    new = with_table(old)
    if check and new != old:
        sys.stderr.write("README.md is not current; run python tools/write_readme.py\n")
        return 1
    if new != old:
        README.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
