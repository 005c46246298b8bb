"""What an evaluation runs: the control under study and seven others, in every setting.

Two sweeps. In ``alone`` all test flows of a run use one control. In ``shared`` half of them use the
control under study, half another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.studies import algorithm_argument
from ackclock.studies.algorithm_argument import Subject

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.experiments.sweeps import Sweep

__all__ = [
    "OTHERS",
    "SETTINGS",
    "TIERS",
    "ControlTier",
    "alone",
    "document",
    "make_shared_sweep",
    "read_control",
]

Data = dict[str, Any]

OTHERS: dict[str, Any] = {
    "AIMD": {"kind": "aimd", "a": 1.0, "b": 0.8},
    "AIAD": {"kind": "aiad", "a": 1.0, "d": 3.0},
    "MIMD": {"kind": "mimd", "a": 1.125, "b": 0.8},
    "MIAD": {"kind": "miad", "a": 1.125, "d": 3.0},
    "CUBIC": "cubic",
    "BBRv3": "bbr3",
    "Vegas": "vegas",
}
"""What the control is compared with: the four instances that Akella et al. chose, and one each that
answers loss, models the path and answers delay."""

ROUTERS: dict[str, Data] = {
    "drop-tail": {"net.qdisc": "fifo", "tcp.ecn": False},
    "RED": {"net.qdisc": "red", "tcp.ecn": False},
    "RED+ECN": {"net.qdisc": {"kind": "red", "ecn": True}, "tcp.ecn": True},
    "DRR": {"net.qdisc": "drr", "tcp.ecn": False},
}

SETTINGS: dict[str, Data] = {
    f"{name} + {router}": {"flows[*].recovery": recovery, **changes}
    for name, recovery in (("Reno", "reno"), ("SACK", "sack"))
    for router, changes in ROUTERS.items()
}
"""Loss recovery and router, with what they change in a scenario."""


@dataclass(frozen=True)
class ControlTier:
    """How much is run."""

    environments: tuple[str, ...]
    beside: tuple[str, ...]
    duration_s: float
    warmup_s: float
    reps: int


_ALL = (
    "cons-low",
    "cons-high",
    "sq-low",
    "sq-high",
    "rw-low",
    "rw-high",
    "rd-low",
    "rd-high",
    "rw-additive",
    "rw-multiplicative",
    "real-cons-low",
    "real-cons-high",
    "real-sq",
)

TIERS = {
    "fast": ControlTier(
        ("cons-low", "sq-low", "sq-high", "rw-low", "rd-high"), ("cons-low", "sq-low"), 40, 10, 3
    ),
    "full": ControlTier(_ALL, ("cons-low", "cons-high", "sq-high", "rw-high"), 100, 10, 5),
}
"""Fast: a minute or two; full: everything."""


def read_control(text: str, folder: Path) -> Subject:
    """Read and check the control under study.

    Parameters
    ----------
    text
        Registry name, ``file.py:Class``, or a table as ``{kind = "aimd", b = 0.7}``.
    folder
        What files are relative to.

    Raises
    ------
    ScenarioError
        It is no control.
    """
    subject = algorithm_argument.read_subject(
        text, folder, "cc", lambda value: document(value, TIERS["fast"], seed=1)
    )
    taken = {other.lower(): other for other in OTHERS}
    label = subject.label
    if label.lower() in taken and subject.value != OTHERS[taken[label.lower()]]:
        label = f"{label} (under study)"
    return Subject(label, subject.value)


def document(value: Any, tier: ControlTier, *, seed: int) -> Data:
    """Make the scenario that the sweeps change.

    Parameters
    ----------
    value
        The control of all flows, as a scenario says it.
    tier
        How much.
    seed
        Of the first replicate.
    """
    return {
        "net": {"kind": "environment", "name": tier.environments[0], "packet": 1500},
        "flows": [{"pair": 0, "count": 10, "stagger": "100 ms", "cc": value}],
        "duration": tier.duration_s,
        "warmup": tier.warmup_s,
        "seed": seed,
    }


def alone(control: Subject, tier: ControlTier, *, seed: int, reps: int) -> Sweep:
    """Every control by itself, in every setting and environment.

    Parameters
    ----------
    control
        The one under study.
    tier
        How much.
    seed
        Of the first replicate.
    reps
        Replicates.
    """
    from ackclock.experiments.grid import Axis
    from ackclock.experiments.sweeps import sweep

    controls = {control.label: control.value, **_others(control)}
    return sweep(
        document(control.value, tier, seed=seed),
        {
            "control": Axis("flows[*].cc", controls),
            "setting": Axis(None, SETTINGS),
            "environment": Axis("net.name", list(tier.environments)),
        },
        reps=reps,
        name=f"{control.label} and the others, each by itself",
    )


def make_shared_sweep(control: Subject, tier: ControlTier, *, seed: int, reps: int) -> Sweep:
    """Five flows of the control beside five of another, all with SACK.

    Parameters
    ----------
    control
        The one under study.
    tier
        How much.
    seed
        Of the first replicate.
    reps
        Replicates.
    """
    from ackclock.experiments.grid import Axis
    from ackclock.experiments.sweeps import sweep

    base_document = document(control.value, tier, seed=seed)
    half = {"count": 5, "stagger": "200 ms", "cc": control.value, "recovery": "sack"}
    base_document["flows"] = [
        {"id": "own", "pair": 0, **half},
        {"id": "other", "pair": 5, "start": "100 ms", **half},
    ]
    return sweep(
        base_document,
        {
            "other": Axis("flows[1].cc", _others(control)),
            "router": Axis(None, dict(ROUTERS)),
            "environment": Axis("net.name", list(tier.beside)),
        },
        reps=reps,
        name=f"{control.label} beside others",
    )


def _others(control: Subject) -> Data:
    return {name: cc for name, cc in OTHERS.items() if cc != control.value}
