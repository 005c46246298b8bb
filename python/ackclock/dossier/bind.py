"""Puts the control under study, and the others, into the studies of a profile."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ackclock.dossier.profile import AGAINST, MINE
from ackclock.errors import AckclockError, ScenarioError
from ackclock.studies.algorithm_argument import Subject, read_subject

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ackclock.dossier.profile import Profile
    from ackclock.reproduce.paper import PaperData, Study

__all__ = ["BoundControl", "bound", "read_control", "read_others"]

Data = dict[str, Any]


ECN = {"ecn": True, "accecn": True}
"""What flows of a control negotiate that cannot run without counts of marks (RFC 9768)."""

SHIPPED = {"recovery": "rack"}
"""What flows have of a control of a released library: written for QUIC, it relies on a recovery
that also finds what is lost when it is sent again."""


@dataclass(frozen=True)
class BoundControl(Subject):
    """A control under study.

    Parameters
    ----------
    tcp
        TCP settings that its flows need.
    """

    tcp: Mapping[str, Any] = field(default_factory=dict)

    @property
    def flow(self) -> Mapping[str, Any]:
        """Other settings that its flows need: those of a control of a released library."""
        is_shipped = isinstance(self.value, str) and "/" in self.value and ":" not in self.value
        return SHIPPED if is_shipped else {}

    @property
    def is_coupled(self) -> bool:
        """Whether it couples the windows of a connection's subflows."""
        from ackclock.catalogue import schema

        kind = self.value.get("kind") if isinstance(self.value, dict) else self.value
        entry = schema.catalogue()["cc"].get(str(kind))
        return entry is not None and "coupled" in entry["facts"]

    @property
    def settings(self) -> dict[str, Any]:
        """All that its flows need, as keys of a flow."""
        return {**self.flow, **({"tcp": dict(self.tcp)} if self.tcp else {})}


def read_control(text: str, folder: Path) -> BoundControl:
    """Read and check a control; find out whether its flows need ECN.

    Parameters
    ----------
    text
        Registry name, ``file.py:Class``, or a table as ``{kind = "aimd", b = 0.7}``; in a build
        with released libraries also the name of one of their controls, as ``s2n/cubic``.
    folder
        What files are relative to.

    Raises
    ------
    AckclockError
        It is a whole connection, which has its own transport.
    ScenarioError
        It is no control.
    """

    def trial(value: Any, tcp: Mapping[str, Any]) -> Data:
        net = {"kind": "dumbbell", "pairs": 1, "rate": "10 Mbps", "rtt": "40 ms"}
        return {"net": net, "flows": [{"pair": 0, "cc": value, "tcp": dict(tcp)}], "duration": 1.0}

    tcp: Data = {}
    try:
        subject = read_subject(text, folder, "cc", lambda value: trial(value, tcp))
    except ScenarioError as error:
        if any('transport = "quic"' in problem.message for problem in error.problems):
            message = f"{text} is a whole connection over QUIC; studies of profiles are over TCP"
            raise AckclockError(f"{message}; expected a control, as s2n/cubic") from None
        if not all(problem.path.endswith("tcp.accecn") for problem in error.problems):
            raise
        tcp = ECN
        subject = read_subject(text, folder, "cc", lambda value: trial(value, tcp))
    return BoundControl(subject.label, subject.value, tcp)


def read_others(texts: Sequence[str], profile: Profile, folder: Path) -> dict[str, Any]:
    """Read the controls that the one under study is measured beside.

    Parameters
    ----------
    texts
        As of `read_control`; none: those of the profile.
    profile
        The profile.
    folder
        What files are relative to.

    Raises
    ------
    AckclockError
        Two of them have one label.
    ScenarioError
        One is no control.
    """
    if not texts:
        return dict(profile.against)
    values_by_label: dict[str, Any] = {}
    for text in texts:
        control = read_control(text, folder)
        if control.tcp:
            message = f"--against names {control.label}, which cannot run without ECN"
            raise AckclockError(f"{message}; expected a control that can")
        if control.label in values_by_label:
            raise AckclockError(
                f"--against names two controls {control.label}; expected one of each"
            )
        values_by_label[control.label] = control.value
    return values_by_label


def bound(
    profile: Profile,
    control: BoundControl,
    others: Mapping[str, Any],
    *,
    seed: int | None = None,
    reps: int | None = None,
) -> PaperData:
    """Make the profile's studies for a control.

    Parameters
    ----------
    profile
        The profile.
    control
        Takes the place of ``@mine``. Flows that have it in the scenario get the settings that it
        needs; if these have ECN, cases that switch it off are left out.
    others
        Take the place of ``@against``.
    seed
        Of the first replicate; left out: the studies'.
    reps
        Replicates; left out: the studies'.
    """

    def put(value: Any) -> Any:
        if value == MINE:
            return copy.deepcopy(control.value)
        if value == AGAINST:
            return copy.deepcopy(dict(others))
        if isinstance(value, dict):
            found = {key: put(item) for key, item in value.items()}
            if value.get("cc") == MINE:
                found |= control.flow
                if control.tcp:
                    found["tcp"] = {**found.get("tcp", {}), **control.tcp}
            return found
        return [put(item) for item in value] if isinstance(value, list) else value

    def study(one: Study) -> Study:
        document: Data = put(dict(one.document))
        if control.tcp.get("ecn"):
            for place in (document, *document.get("tiers", {}).values()):
                for axis in place.get("over", {}).values():
                    axis["values"] = _with_ecn(axis["values"])
        if seed is not None:
            document["scenario"] = {**document["scenario"], "seed": seed}
        if reps is not None:
            for place in (document, *document.get("tiers", {}).values()):
                if "reps" in place or place is document:
                    place["reps"] = reps
        return replace(one, document=document)

    return replace(
        profile.data, studies={name: study(one) for name, one in profile.data.studies.items()}
    )


def _with_ecn(values: Any) -> Any:
    """Values of an axis without those that switch off ECN."""
    if not isinstance(values, dict):
        return values

    def is_off(changes: Any) -> bool:
        return isinstance(changes, dict) and any(
            path.endswith(".tcp.ecn") and value is False for path, value in changes.items()
        )

    return {label: changes for label, changes in values.items() if not is_off(changes)}
