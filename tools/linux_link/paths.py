"""Cases of era `linux` against the kernel: a control, some flows, a kind of path; nine quantities.

A path is a bottleneck of one kind: its queue discipline, or what it loses at random. The links are
those of `ackclock emulate`, so that the kernel and era `linux` meet the same queue and, by the
seed, lose the packets of the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import ackclock as ac
from ackclock.studies.differ.measure import (
    LINK_QUANTITIES,
    QUANTITIES,
    SLACK,
    known_since,
    measure,
    measure_link,
    sample_windows,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ackclock.results.run import Run

#: The control that has a kernel control's name here.
CONTROLS = {"reno": "aimd", "cubic": "cubic", "bbr": "bbr"}
FLOWS = (1, 2, 10)
PATHS = ("drop-tail", "red", "codel-ecn", "policer", "loss-0.1", "loss-1", "loss-5", "loss-20")
ALL_QUANTITIES = {**QUANTITIES, **LINK_QUANTITIES}
#: By how much of our mean the range of our values is widened.
TOLERANCE = 0.05
SAMPLES_S = 0.01
BOTTLENECK = "sender->receiver"


@dataclass(frozen=True)
class Setting:
    """What all cases of a set share: rate and round trip of the path, length, seeds."""

    rate_bps: int
    rtt_s: float
    seconds: float
    warmup_s: float
    seeds: tuple[int, ...]


#: The cases that faults are looked for in, and those that are looked at only when all is done.
SETTINGS = {
    "open": Setting(20_000_000, 0.08, 12.0, 4.0, (1, 2)),
    "held": Setting(30_000_000, 0.1, 12.0, 4.0, (11, 12, 13)),
}


@dataclass(frozen=True)
class Cell:
    """A case: a kernel control, how many flows, a path of a setting."""

    cc: str
    flows: int
    path: str
    setting: str

    @property
    def name(self) -> str:
        """The name of the case's file."""
        return f"{self.cc}-{self.flows}-{self.path}"


def cells(setting: str) -> list[Cell]:
    """List the cases of a setting."""
    return [Cell(cc, flows, path, setting) for cc in CONTROLS for flows in FLOWS for path in PATHS]


def document(cell: Cell) -> dict[str, Any]:
    """Return the scenario of a case; flows begin 0.1 s apart, several with up to 1 ms of jitter."""
    setting = SETTINGS[cell.setting]
    bdp = round(setting.rate_bps * setting.rtt_s / 8 / 1500)
    link: dict[str, Any] = {
        "a": "sender",
        "b": "receiver",
        "rate": setting.rate_bps,
        "delay": setting.rtt_s / 2,
        "buffer": f"{bdp} pkt",
    }
    flow: dict[str, Any] = {"src": "sender", "dst": "receiver", "cc": CONTROLS[cell.cc]}
    if cell.path == "red":
        link |= {"buffer": f"{2 * bdp} pkt"}
        link["qdisc"] = {"kind": "red", "min_th": bdp / 4, "max_th": bdp, "w_q": 0.002}
    elif cell.path == "codel-ecn":
        link |= {"buffer": f"{4 * bdp} pkt", "qdisc": {"kind": "codel", "ecn": True}}
        flow["tcp"] = {"ecn": True}
    elif cell.path == "policer":
        burst = bdp * 1500 // 2
        link["qdisc"] = {"kind": "policer", "rate": setting.rate_bps // 2, "burst": burst}
    elif cell.path.startswith("loss-"):
        link["loss"] = float(cell.path.removeprefix("loss-")) / 100
    if cell.flows > 1:
        flow |= {"count": cell.flows, "stagger": 0.1, "start_jitter": 0.001}
    return {
        "name": f"{cell.cc}, {cell.flows}, {cell.path}",
        "era": "linux",
        "duration": setting.seconds,
        "warmup": setting.warmup_s,
        "net": {"kind": "graph", "links": [link]},
        "flows": [flow],
        "record": {"tables": ["windows"], "interval": SAMPLES_S},
    }


def run_here(cell: Cell, seed: int) -> Run:
    """Run a case in era `linux`, its windows looked at as those of the kernel are."""
    return sample_windows(ac.Scenario.from_data({**document(cell), "seed": seed}).run(), SAMPLES_S)


def quantities(run: Run) -> dict[str, float]:
    """Compute the nine quantities of a run: goodput is summed, the largest window the largest."""
    flows = []
    for number, flow in enumerate(run.summary["flows"]):
        since = known_since([run], flow["id"]) + SAMPLES_S
        flows.append(measure(run, number, since))
    columns = {name: np.array([flow[name] for flow in flows]) for name in QUANTITIES}
    put: dict[str, Callable[..., Any]] = {"goodput_mbps": np.sum, "cwnd_max": np.max}
    numbers = {name: float(put.get(name, np.mean)(column)) for name, column in columns.items()}
    return {**numbers, **measure_link(run, BOTTLENECK)}


@dataclass(frozen=True)
class Verdict:
    """A quantity of a case: values of the kernel's repeats, of ours, whether they agree."""

    cell: Cell
    quantity: str
    there: tuple[float, ...]
    here: tuple[float, ...]
    agrees: bool


def verdicts(
    cell: Cell, there: Sequence[dict[str, float]], here: Sequence[dict[str, float]]
) -> list[Verdict]:
    """Judge each quantity: the mean of the kernel is in the range of ours, widened at both ends."""
    judged = []
    for quantity in ALL_QUANTITIES:
        theirs, ours = (tuple(one[quantity] for one in side) for side in (there, here))
        slack = max(SLACK.get(quantity, 0.0), TOLERANCE * abs(float(np.mean(ours))))
        agrees = min(ours) - slack <= float(np.mean(theirs)) <= max(ours) + slack
        judged.append(Verdict(cell, quantity, theirs, ours, agrees))
    return judged
