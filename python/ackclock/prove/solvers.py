"""Two solvers, Z3 and cvc5: what each says of a formula, and what they say together.

Each reads the same SMT-LIB text. A resource limit bounds the work of each, counted by the solver
and not in seconds, so that what is decided within it is the same on every machine; a limit in
seconds, of a call or of all together, is for users who wait. A formula that can be satisfied comes
with numbers, which are put into it again and computed exactly: a solver is not believed.

Source: de Moura and Bjorner, TACAS 2008 (Z3); Barbosa et al., TACAS 2022 (cvc5).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from ackclock.errors import AckclockError
from ackclock.prove.lower import lower
from ackclock.prove.terms import compute, constant_text, write_script

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ackclock.prove.terms import Term, Value

__all__ = ["SOLVERS", "Said", "SolverAnswer", "SolverLimits", "Word", "decide"]

Word = Literal["impossible", "possible", "unknown"]
"""No values satisfy the formula; some do; the limit came first."""


@dataclass(frozen=True, slots=True)
class SolverLimits:
    """Bounds of the calls of solvers.

    Attributes
    ----------
    seconds
        Of wall time, for each call.
    work
        In units of Z3's resource count; about two million take a second. cvc5 has a fortieth of it.
    solvers
        Names of the solvers that are called.
    end
        Of all calls, as time of `time.perf_counter`. A call may take half of what is left until
        then, so that a hard formula leaves time for others.
    """

    seconds: float = 120.0
    work: int = 200_000_000
    solvers: tuple[str, ...] = ("z3", "cvc5")
    end: float = math.inf

    @classmethod
    def within(cls, seconds: float) -> SolverLimits:
        """Limit all calls together, from now on [s]."""
        return cls(end=time.perf_counter() + seconds)

    @property
    def left(self) -> float:
        """What is left for all calls [s]."""
        return max(self.end - time.perf_counter(), 0.0)

    def part(self, share: float) -> SolverLimits:
        """Limit further calls together to a share of what is left."""
        return replace(self, end=time.perf_counter() + share * self.left)


@dataclass(frozen=True, slots=True)
class Said:
    """What one solver said."""

    solver: str
    word: Word
    seconds: float
    values: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SolverAnswer:
    """What the solvers said of one formula.

    Attributes
    ----------
    replies
        By each solver.
    text
        The SMT-LIB that they read.
    """

    replies: tuple[Said, ...]
    text: str

    @property
    def word(self) -> Word:
        """What all that could decide say."""
        words = {said.word for said in self.replies} - {"unknown"}
        return next(iter(words)) if len(words) == 1 else "unknown"

    @property
    def agreed(self) -> bool:
        """Whether at least two solvers said the same, and no other something else."""
        return len(self.replies) > 1 and len({said.word for said in self.replies}) == 1

    @property
    def values(self) -> Mapping[str, Value]:
        """Numbers that satisfy the formula, of the first solver that has some."""
        return next((said.values for said in self.replies if said.word == "possible"), {})

    @property
    def undecided(self) -> tuple[str, ...]:
        """Solvers that reached their limit."""
        return tuple(said.solver for said in self.replies if said.word == "unknown")


def _run_z3(
    text: str, sorts: Mapping[str, str], limits: SolverLimits
) -> tuple[Word, dict[str, Value]]:
    import z3

    # A separate context: the count of work does not depend on earlier formulas.
    context = z3.Context()
    logic = "QF_NRA" if "(set-logic QF_NRA)" in text else "QF_LRA"
    solver = z3.SolverFor(logic, ctx=context)
    solver.set("timeout", int(limits.seconds * 1000))
    solver.set("rlimit", limits.work)
    solver.set("random_seed", 0)
    solver.from_string(text)
    result = str(solver.check())
    if result == "unsat":
        return "impossible", {}
    if result != "sat":
        return "unknown", {}
    model = solver.model()
    values: dict[str, Value] = {name: False if sort == "Bool" else Fraction(0)
                                for name, sort in sorts.items()}  # fmt: skip
    for constant in model.decls():
        value = model[constant]
        name = constant.name()
        if name not in sorts:
            continue
        if sorts[name] == "Bool":
            values[name] = z3.is_true(value)
        elif z3.is_rational_value(value):
            values[name] = value.as_fraction()
        else:
            return "unknown", {}  # a root, which cannot be put in and computed exactly
    return "possible", values


def _run_cvc5(
    text: str, sorts: Mapping[str, str], limits: SolverLimits
) -> tuple[Word, dict[str, Value]]:
    import cvc5

    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    solver.setOption("produce-models", "true")
    solver.setOption("incremental", "false")
    # Long formulas take it two thirds of the time with these, of the same verdict.
    solver.setOption("static-learning", "false")
    solver.setOption("ext-rew-prep", "use")
    solver.setOption("tlimit-per", str(int(limits.seconds * 1000)))
    solver.setOption("rlimit-per", str(limits.work // 40))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "formula")
    symbols = parser.getSymbolManager()
    result = ""
    while True:
        command = parser.nextCommand()
        if command.isNull():
            break
        result += command.invoke(solver, symbols)
    word = result.strip().splitlines()[-1] if result.strip() else ""
    if word == "unsat":
        return "impossible", {}
    if word != "sat":
        return "unknown", {}
    values: dict[str, Value] = {}
    for term in symbols.getDeclaredTerms():
        value = solver.getValue(term)
        name = str(term)
        if sorts[name] == "Real" and not value.isRealValue():
            return "unknown", {}
        values[name] = (
            value.getBooleanValue() if sorts[name] == "Bool" else Fraction(value.getRealValue())
        )
    return "possible", values


SOLVERS: dict[
    str, Callable[[str, Mapping[str, str], SolverLimits], tuple[Word, dict[str, Value]]]
] = {
    "z3": _run_z3,
    "cvc5": _run_cvc5,
}
"""Solvers by name."""


SHARE = 0.5
"""Share of what is left that a call may take."""

LEAST_S = 0.05
"""Time below which a solver is not called [s]."""


def decide(
    terms: Sequence[Term],
    limits: SolverLimits,
    comments: Sequence[str] = (),
    wanted: Word | None = None,
) -> SolverAnswer:
    """Let each solver say whether formulas can hold together.

    Parameters
    ----------
    terms
        The formulas.
    limits
        Of the calls.
    comments
        Lines above the SMT-LIB text.
    wanted
        The answer that leads on, if it is only one: what a solver said otherwise, no other is
        called for. None: both lead on. No other is called either after one that reached its limit.

    Raises
    ------
    AckclockError
        Two solvers contradict each other, or numbers of one do not satisfy the formulas.
    """
    formulas = [lower(term) for term in terms]
    text, sorts = write_script(formulas, comments)
    said: list[Said] = []
    for name in limits.solvers:
        if said and (said[-1].word == "unknown" or wanted not in {None, said[-1].word}):
            break
        values = said[-1].values if said else {}
        said.append(_run(name, _pin(text, values), sorts, limits))
        values = said[-1].values
        if said[-1].word == "possible" and not all(compute(term, values) for term in terms):
            raise AckclockError(f"the numbers of {name} do not satisfy the formulas it was given")
    words = {one.word for one in said} - {"unknown"}
    if len(words) > 1:
        verdicts = ", ".join(f"{one.solver}: {one.word}" for one in said)
        raise AckclockError(f"the solvers contradict each other ({verdicts}); no verdict holds")
    return SolverAnswer(tuple(said), text)


def _pin(text: str, values: Mapping[str, Value]) -> str:
    """Add to a script that its variables have these values."""
    pinned = [f"(assert (= {name} {constant_text(value)}))" for name, value in values.items()]
    return text.removesuffix("(check-sat)\n") + "\n".join([*pinned, "(check-sat)", ""])


def _run(name: str, text: str, sorts: Mapping[str, str], limits: SolverLimits) -> Said:
    begin = time.perf_counter()
    seconds = min(limits.seconds, SHARE * limits.left)
    if seconds < LEAST_S:
        return Said(name, "unknown", 0.0)
    word, values = SOLVERS[name](text, sorts, replace(limits, seconds=seconds))
    return Said(name, word, time.perf_counter() - begin, values)
