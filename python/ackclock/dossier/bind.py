"""Puts the control under study, and the others, into the studies of a profile."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ackclock.dossier.profile import AGAINST, MINE
from ackclock.errors import AckclockError
from ackclock.studies.algorithm_argument import Subject, read_subject

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ackclock.dossier.profile import Profile
    from ackclock.reproduce.paper import PaperData, Study

__all__ = ["bound", "read_control", "read_others"]

Data = dict[str, Any]


def _trial(value: Any) -> Data:
    net = {"kind": "dumbbell", "pairs": 1, "rate": "10 Mbps", "rtt": "40 ms"}
    return {"net": net, "flows": [{"pair": 0, "cc": value}], "duration": 1.0}


def read_control(text: str, folder: Path) -> Subject:
    """Read and check a control.

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
    return read_subject(text, folder, "cc", _trial)


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
    made: dict[str, Any] = {}
    for text in texts:
        one = read_control(text, folder)
        if one.label in made:
            raise AckclockError(f"--against names two controls {one.label}; expected one of each")
        made[one.label] = one.value
    return made


def bound(
    profile: Profile,
    control: Subject,
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
        Takes the place of ``@mine``.
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
            return {key: put(item) for key, item in value.items()}
        return [put(item) for item in value] if isinstance(value, list) else value

    def study(one: Study) -> Study:
        document: Data = put(dict(one.document))
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
