"""What ``ackclock identify`` gives: probabilities of controls, and what they rest on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ackclock._util.number_text import percent
from ackclock._util.text_table import table
from ackclock.captures.identify.classifier import load_classifier
from ackclock.captures.identify.features import NAMES, features_of_flow
from ackclock.captures.identify.training import LEFT_OUT, SAME
from ackclock.captures.read.read import read_trace
from ackclock.captures.trace import CaptureError
from ackclock.errors import suggestion
from ackclock.studies.outcome import StudyOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.captures.trace import FlowTrace

__all__ = ["Identification", "identify", "identify_flow", "name_of"]

SURE = 0.5
"""Probability from which on a control is named."""
NONE = "none of them"


@dataclass
class Identification(StudyOutcome):
    """The control of a flow, as far as its flight shows it. Printing it gives the answer.

    Parameters
    ----------
    name
        Name of the file.
    flow
        The flow.
    probabilities
        By name of the control, and of `NONE`, largest first; empty if nothing can be said.
    values
        Features by name.
    doubts
        Why nothing can be said, and what the file does not show.
    """

    MARKER: ClassVar[str] = "identification.json"

    name: str
    flow: FlowTrace
    probabilities: dict[str, float] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)

    @property
    def answer(self) -> str:
        """The control, `NONE`, or ``not known``."""
        return name_of(self.probabilities)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        from ackclock import _core

        return {
            "version": _core.version(),
            "file": self.name,
            "flow": self.flow.name,
            "answer": self.answer,
            "named_in_file": self.flow.control,
            "probabilities": self.probabilities,
            "features": self.values,
            "doubts": self.doubts,
        }

    def __str__(self) -> str:
        lines = [f"{self.name}: flow {self.flow.name} is sent by: {self.answer}"]
        if self.flow.control:
            lines.append(f"the file itself names {self.flow.control}")
        if self.probabilities:
            rows = [[name, percent(share)] for name, share in list(self.probabilities.items())[:6]]
            lines += ["", table(["control", "probability"], rows)]
        if self.doubts:
            lines += ["", "what is not known:", *(f"- {doubt}" for doubt in self.doubts)]
        return "\n".join(lines)


def classes_of(among: Sequence[str], names: Sequence[str]) -> list[str]:
    """The classes of some controls; those of all if none is named.

    Parameters
    ----------
    among
        Names of controls.
    names
        Classes that there are.
    """
    from ackclock.catalogue.schema import registry_name

    selected = [registry_name("cc", name) for name in among]
    selected = [SAME.get(name, name) for name in selected]
    for name in selected:
        if name not in names:
            reason = LEFT_OUT.get(name)
            message = f'"{name}" is no class, for {reason}' if reason else suggestion(name, names)
            raise CaptureError(f"--among: {message}")
    return selected or list(names)


def name_of(probabilities: dict[str, float]) -> str:
    """The answer that probabilities give.

    Parameters
    ----------
    probabilities
        By name.
    """
    if not probabilities:
        return "not known"
    best = max(probabilities, key=lambda name: probabilities[name])
    return best if probabilities[best] >= SURE else "not known"


def identify(
    path: str | Path,
    *,
    flow: int = 1,
    among: Sequence[str] = (),
    interface: int | None = None,
) -> Identification:
    """Identify the congestion control of a flow of a capture.

    Parameters
    ----------
    path
        A capture near the sender, or a qlog.
    flow
        Number of the flow, from 1, as `read` prints it.
    among
        Controls of which it can be one; left out: all.
    interface
        As of `read`.
    """
    path = Path(path)
    trace = read_trace(path, interface=interface)
    if not 1 <= flow <= len(trace.flows):
        raise CaptureError(f"{path}: there is no flow {flow}; it has 1 to {len(trace.flows)}")
    return identify_flow(trace.flows[flow - 1], path.name, among=among, doubts=trace.doubts)


def identify_flow(
    flow: FlowTrace, name: str, *, among: Sequence[str] = (), doubts: Sequence[str] = ()
) -> Identification:
    """Identify the congestion control of a flow that was read.

    Parameters
    ----------
    flow
        The flow.
    name
        Name of its file.
    among
        Controls of which it can be one; left out: all.
    doubts
        What the file cannot show.
    """
    result = Identification(name, flow, doubts=[*doubts, *flow.doubts])
    if flow.position == "between":
        result.doubts.insert(0, "between both ends it is not known what was in flight")
        return result
    row = features_of_flow(flow)
    if row is None:
        result.doubts.insert(0, "too little was seen: 40 round trips and 100 packets are needed")
        return result
    classifier = load_classifier()
    shares = classifier.probabilities(row[None, :], classes_of(among, classifier.names))[0]
    pairs = zip([*classifier.names, NONE], shares.tolist(), strict=True)
    result.probabilities = dict(sorted(pairs, key=lambda pair: -pair[1]))
    result.values = dict(zip(NAMES, row.tolist(), strict=True))
    return result
