"""Check that scenarios are checked in linear time: what a doubled size adds, and doubled again.

Instructions are counted under callgrind, so that the verdict depends on no machine's speed. From
2n to 4n a check may add 2.15 times as many as from n to 2n, so that n log n passes (2.14) and n^1.2
does not (2.30). What does not depend on size cancels out; a small scenario is no measure of it, for
small ones are tried for some steps and large ones are not.

Exit status: 0 all are linear, 1 one is not, 3 valgrind is not there.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from check import instructions
from measure import build

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 4000
MOST = 2.15


def _dumbbell(pairs: int = 1, **more: Any) -> dict[str, Any]:
    net = {"kind": "dumbbell", "pairs": pairs, "rate": 1e9, "rtt": 0.04, "buffer": "20 pkt"}
    return {"net": {**net, **more}, "flows": [{"pair": 0}], "duration": 1.0}


def flows(size: int) -> dict[str, Any]:
    """Return a flow for each pair."""
    return {**_dumbbell(size), "flows": [{"pair": 0, "count": size}]}


def _of_routers(kind: str, **size: int) -> dict[str, Any]:
    net = {"kind": kind, "rate": 1e9, "delay": 0.001, "buffer": "20 pkt", **size}
    return {"net": net, "flows": [{"src": "h0", "dst": "h1"}], "duration": 1.0}


def steps(size: int) -> dict[str, Any]:
    """Return a link whose rate changes."""
    listed = [{"at": 1e-5 * i, "rate": 1e6} for i in range(size)]
    return _dumbbell(schedule={"steps": listed})


def opportunities(size: int) -> dict[str, Any]:
    """Return a link with delivery opportunities, as a trace gives them."""
    return _dumbbell(schedule={"mahimahi": list(range(size))})


SHAPES: dict[str, Callable[[int], dict[str, Any]]] = {
    "pairs": _dumbbell,
    "flows": flows,
    "star": lambda size: _of_routers("star", hosts=size),
    "ring": lambda size: _of_routers("ring", routers=size),
    "rate steps": steps,
    "trace": opportunities,
}


def main() -> int:
    """Count and compare."""
    if shutil.which("valgrind") is None:
        print("growth: valgrind is not installed; nothing is checked", file=sys.stderr)
        return 3
    program, good = build(), True
    print(f"{'check of':12} {'of n':>14} {'of 2n':>14} {'of 4n':>14} {'growth':>6}")
    with tempfile.TemporaryDirectory() as name:
        for shape, make in SHAPES.items():
            counts = [
                instructions(program, make(times * SIZE), Path(name), command="check")[0]
                for times in (1, 2, 4)
            ]
            once, twice, four_times = counts
            ratio = (four_times - twice) / (twice - once)
            good = good and ratio <= MOST
            verdict = "ok" if ratio <= MOST else f"more than {MOST}"
            columns = " ".join(f"{count:14,}" for count in counts)
            print(f"{shape:12} {columns} {ratio:6.2f}  {verdict}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
