"""A finished proof: verdict, what it rests on, formulas, counterexample; page, data, folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ackclock._util.text_table import table
from ackclock.studies.outcome import StudyOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ackclock.prove.question import Question
    from ackclock.prove.replay import Replay
    from ackclock.prove.solvers import SolverAnswer
    from ackclock.prove.trace import ModelTrace

__all__ = ["Formula", "Proof", "Verdict", "write_formulas", "write_scenario"]

Verdict = Literal["proved", "refuted", "unknown"]
"""Of a claim."""


_LEFT = "of the relation alone: packet runs of the control leave it, at {}"


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula with what the solvers said.

    Attributes
    ----------
    name
        What it states the contrary of.
    answer
        Of the solvers.
    """

    name: str
    answer: SolverAnswer

    def row(self) -> dict[str, Any]:
        """What each solver that was called said, in seconds."""
        row: dict[str, Any] = {"formula": self.name}
        for said in self.answer.replies:
            row[said.solver] = said.word
            row[f"{said.solver}_s"] = round(said.seconds, 3)
        return row


@dataclass(frozen=True)
class Proof(StudyOutcome):
    """The result of a proof.

    Attributes
    ----------
    question
        What was to be proved.
    verdict
        ``proved``, ``refuted`` or ``unknown``.
    sentence
        What is proved, or what violates the claim, or how far it came.
    steps
        Length of the proof's or counterexample's path, or of the longest cycle that was decided
        [base round trips].
    formulas
        What the solvers were given, in order.
    trace
        Of a counterexample.
    replay
        Of a counterexample in packets.
    elsewhere
        Of the same in shipped code and in the kernel, by its name.
    conditions
        What is proved holds as long as these do, which are not proved.
    """

    MARKER: ClassVar[str] = "proof.json"
    PAGE: ClassVar[str] = "page.txt"

    question: Question
    verdict: Verdict
    sentence: str
    steps: int
    formulas: tuple[Formula, ...]
    trace: ModelTrace | None = None
    replay: Replay | None = None
    elsewhere: Mapping[str, Replay] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The verdict in a line."""
        line = f"{self.verdict}: {self.question.relation.name}, {self.question.claim.text}"
        if self.verdict == "unknown" and self.question.claim.kind.kind == "cycle":
            line += f"; decided up to T = {self.steps} round trips"
        if self.conditions:
            line += "; as long as " + " and ".join(self.conditions)
        if self.replay is not None:
            line += "; replayed" if self.replay.replayed else "; only in the model"
        return line

    @property
    def seconds(self) -> float:
        """Time of all solvers [s]."""
        return sum(said.seconds for one in self.formulas for said in one.answer.replies)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "control": self.question.relation.name,
            "parameters": {k: float(x) for k, x in self.question.values.items()},
            "property": self.question.claim.kind.name,
            "value": float(self.question.claim.value),
            "claim": self.question.claim.sentence,
            "path": {
                "server": self.question.path.server,
                "jitter_rtt": self.question.path.jitter,
                "access_jitter_rtt": self.question.path.access_jitter,
                "buffer_bdp": None
                if self.question.path.buffer is None
                else float(self.question.path.buffer),
                "segment_bdp": [float(x) for x in self.question.path.segment],
                "flows": self.question.path.flows,
            },
            "verdict": self.verdict,
            "sentence": self.sentence,
            "steps": self.steps,
            "left_at": list(self.question.relation.left_at),
            "conditions": list(self.conditions),
            "assumptions": self.question.assumptions(),
            "formulas": [one.row() for one in self.formulas],
            "counterexample": None if self.trace is None else self.trace.rows(),
            "replay": None if self.replay is None else self.replay.to_dict(),
            "elsewhere": {name: one.to_dict() for name, one in self.elsewhere.items()},
        }

    def __str__(self) -> str:
        question, relation = self.question, self.question.relation
        lines = [
            self.headline,
            f"claim: {question.claim.sentence}",
            self.sentence,
            *([_LEFT.format(", ".join(relation.left_at))] if relation.left_at else []),
        ]
        if self.replay is not None:
            status = "replayed" if self.replay.replayed else "not replayed, only in the model"
            lines.append(f"{status}: {self.replay.sentence}")
        lines += [f"{name}: {one.sentence}" for name, one in self.elsewhere.items()]
        if self.trace is not None:
            lines += ["", self._path()]
        rows_of = [one.row() for one in self.formulas]
        heads = list(dict.fromkeys(key for row in rows_of for key in row))
        rows = [[str(row.get(key, "")) for key in heads] for row in rows_of]
        lines += ["", table(heads, rows), "", "It rests on:"]
        lines += [f"- As long as {condition}." for condition in self.conditions]
        lines += [f"- {sentence}" for sentence in question.assumptions()]
        return "\n".join(lines)

    def _path(self) -> str:
        assert self.trace is not None
        rows = self.trace.rows()
        keys = list(rows[0])
        if self.question.path.flows == 1:
            keys.remove("flow")
        return table(keys, [[f"{row[key]:.4g}" for key in keys] for row in rows])

    def pages(self, command: str) -> dict[str, str]:
        """Text of the folder."""
        del command
        return {self.PAGE: str(self)}

    def write_files(self, at: Path, command: str) -> None:
        """Write the formulas as SMT-LIB, and the scenario of a counterexample."""
        del command
        write_formulas(self.formulas, at / "formulas")
        write_scenario(self.replay, at)


def write_formulas(formulas: Sequence[Formula], folder: Path) -> None:
    """Write what the solvers were given as SMT-LIB, a file each.

    Parameters
    ----------
    formulas
        In order.
    folder
        Is made.
    """
    folder.mkdir()
    for i, formula in enumerate(formulas, start=1):
        (folder / f"{i:02d}.smt2").write_text(formula.answer.text, encoding="utf-8")


def write_scenario(replay: Replay | None, folder: Path) -> None:
    """Write the scenario of a counterexample, if there is one.

    Parameters
    ----------
    replay
        The counterexample in packets.
    folder
        Where ``scenario.toml`` goes.
    """
    if replay is not None and replay.data is not None:
        from ackclock.scenario.scenario import Scenario

        text = Scenario.from_data(dict(replay.data)).to_toml()
        (folder / "scenario.toml").write_text(text, encoding="utf-8")
