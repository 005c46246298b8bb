"""Further studies of a control in its dossier: adversary, late-comers, selfish game, proofs.

A tier of a profile says which are run, and their size. They are shown beside the requirements and
decide no verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ackclock._util.number_text import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ackclock.dossier.task import DossierTask
    from ackclock.experiments.store import Store
    from ackclock.reproduce.run.studies import RunOptions
    from ackclock.studies.adversary.arena import Arena
    from ackclock.studies.game import Game, Played
    from ackclock.studies.late_comer.audit import Audit
    from ackclock.studies.late_comer.situations import LateComerTier
    from ackclock.studies.outcome import StudyOutcome

__all__ = ["Audited", "predict_audits", "run_audits"]

Data = dict[str, Any]

TITLES = {
    "adversary": "Worst environment found",
    "latecomer": "Late-comers",
    "game": "Selfish users",
    "proofs": "Proofs",
}

ABOUT = {
    "adversary": "A search among patterns of available bandwidth, 0.5 to 10 Mbit/s a flow, for the"
    " one in which the control loses most to the best of the others.",
    "latecomer": "What a flow of the control gets that starts after others of its kind.",
    "game": "Each user chooses a control for the goodput of its flow alone; every way in which"
    " they may choose is simulated, under drop-tail and FQ-CoDel.",
    "proofs": "Claims on every path of a model with a jitter of a base round trip, decided by two"
    " solvers; what refutes them is run in packets.",
}

FLOWS, LENGTH_S = 2, 30.0
"""Of a run of the adversary."""

GAME_REPS = 3


@dataclass(frozen=True)
class Audited:
    """A further study that was run.

    Parameters
    ----------
    name
        As the profile names it.
    size
        As the profile says.
    answer
        What was found, in sentences.
    text
        Its whole page.
    data
        Everything as plain data.
    outcome
        Writes its folder; None if there is none.
    """

    name: str
    size: int
    answer: str
    text: str
    data: Data
    outcome: StudyOutcome | None = None

    @property
    def title(self) -> str:
        """Heading."""
        return TITLES[self.name]

    @property
    def about(self) -> str:
        """What is run in it, for a reader."""
        return ABOUT[self.name]

    def to_dict(self) -> Data:
        """The entry of ``dossier.json``."""
        keys = ("title", "size", "answer", "text", "data")
        return {key: getattr(self, key) for key in keys}


def run_audits(task: DossierTask, options: RunOptions) -> dict[str, Audited]:
    """Run the audits of a task.

    Parameters
    ----------
    task
        What is evaluated.
    options
        Where and how.

    Raises
    ------
    AckclockError
        The control broke its contract.
    KeyboardInterrupt
        It was stopped; runs that had finished are in the store.
    """
    audits = {}
    for name, size in task.audits.items():
        options.report(f"audit {name}, size {size}")
        audits[name] = _RUN[name](task, size, options)
    return audits


def predict_audits(
    task: DossierTask, options: RunOptions, opened_store: Store | None
) -> Iterator[Data]:
    """Predict what audits would run, as rows of a plan.

    Parameters
    ----------
    task
        What is evaluated.
    options
        Where and how.
    opened_store
        Runs that are stored.
    """
    for name, size in task.audits.items():
        yield {"study": f"audit {name}", **_PREDICT[name](task, size, options, opened_store)}


def _rivals(task: DossierTask) -> dict[str, Any]:
    """The others, without the control itself."""
    return {name: value for name, value in task.rivals.items() if value != task.control.value}


def _arena(task: DossierTask) -> Arena:
    from ackclock.studies.adversary.arena import Arena

    control = task.control
    settings = {f"flows[0].{key}": value for key, value in control.settings.items()}
    controls = {control.label: control.value, **_rivals(task)}
    return Arena(controls, flows=FLOWS, duration_s=LENGTH_S, settings=settings)


def _search(task: DossierTask, size: int, options: RunOptions) -> Audited:
    from ackclock.studies.adversary.search import adversary

    search_result = adversary(
        _arena(task),
        budget=size,
        seed=1 if task.seed is None else task.seed,
        workers=options.workers,
        store=options.store,
        command=options.command,
    )
    pattern = search_result.shape.describe(search_result.arena.peak_bps)
    answer = f"{search_result.answer()} The pattern: {pattern}."
    return Audited(
        "adversary", size, answer, str(search_result), search_result.to_dict(), search_result
    )


def _predict_search(
    task: DossierTask, size: int, options: RunOptions, opened_store: Store | None
) -> Data:
    """As many runs as its budget allows, in a pattern of middling rate."""
    from ackclock.experiments.sweeps import sweep
    from ackclock.studies.adversary.result import FRESH_SEEDS
    from ackclock.studies.adversary.search import SEEDS
    from ackclock.studies.adversary.shape import PathShape

    del opened_store
    arena = _arena(task)
    each = SEEDS * size + FRESH_SEEDS
    cpu_s = sum(
        sweep(arena.scenario(PathShape(((0.3, 5.0),)), name, 1), {}).plan(options.workers).cpu_s
        for name in arena.controls
    )
    runs = each * len(arena.controls)
    return {"points": size, "runs": runs, "stored": 0, "cpu_s": each * cpu_s}


def _size_of_audit(task: DossierTask, size: int) -> LateComerTier:
    from ackclock.studies.late_comer.situations import TIERS

    return replace(TIERS[task.tier], starts=size)


def _audit(task: DossierTask, size: int, options: RunOptions) -> Audited:
    from ackclock.studies.late_comer.audit import audit

    audit_result = audit(
        task.control,
        task.tier,
        settings=task.control.settings,
        size=_size_of_audit(task, size),
        workers=options.workers,
        store=options.store,
        progress=options.progress,
    )
    return Audited(
        "latecomer",
        size,
        _late(audit_result),
        f"{audit_result}",
        audit_result.to_dict(),
        audit_result,
    )


def _late(audit: Audit) -> str:
    """What a late-comer gets among its own kind, in sentences."""
    pure = [row for row in audit.rows if row.situation in ("sequential", "joining")]
    least, most = min(row.low for row in pure), max(row.high for row in pure)
    ratios = f"Among its own kind a late-comer gets {number(least, 3)} to {number(most, 3)} times"
    if any(row.at_rest for row in pure):
        return f"{ratios} what the others get. {audit.answer}"
    return (
        f"{ratios} what the others get; this is no judgement, for rates still changed"
        f" {number(audit.gap_s)} s after its start."
    )


def _predict_audit(
    task: DossierTask, size: int, options: RunOptions, opened_store: Store | None
) -> Data:
    from ackclock.experiments.plan import LEAST_OF_SWEEP
    from ackclock.studies.late_comer.situations import documents, sweep_of

    tier = _size_of_audit(task, size)
    control = task.control
    plans = [
        sweep_of(document, tier, f"{situation}, n = {flows}").plan(
            options.workers, opened_store, LEAST_OF_SWEEP
        )
        for situation, flows, document in documents(control.value, tier, control.settings)
    ]
    keys = ("points", "runs", "stored", "cpu_s")
    return {key: sum(getattr(plan, key) for plan in plans) for key in keys}


def _game(task: DossierTask, size: int) -> Game:
    from ackclock.studies.game import from_document

    control = task.control
    mine = {"cc": control.value, **control.settings}
    net = {"kind": "dumbbell", "pairs": size, "rate": f"{5 * size} Mbps", "rtt": "40 ms"}
    return from_document(
        {
            "game": {"title": "Which control to choose", "players": size, "reps": GAME_REPS},
            "strategies": {
                control.label: mine,
                **{name: {"cc": value} for name, value in _rivals(task).items()},
            },
            "networks": {
                "drop-tail": {"net.qdisc": "fifo"},
                "FQ-CoDel": {"net.qdisc": "fq-codel"},
            },
            "scenario": {
                "duration": "30 s",
                "warmup": "10 s",
                "seed": 1 if task.seed is None else task.seed,
                "net": {**net, "buffer": "1 bdp"},
            },
        }
    )


def _play(task: DossierTask, size: int, options: RunOptions) -> Audited:
    from ackclock.studies.game import play

    played = play(
        _game(task, size),
        workers=options.workers,
        cluster=options.cluster,
        store=options.store,
        progress=options.progress,
        command=options.command,
    )
    answer = " ".join(_choice(played, network, task.control.label) for network in played.payoffs)
    return Audited("game", size, answer, str(played), played.to_dict())


def _choice(played: Played, network: str, control: str) -> str:
    """What selfish users would choose in one network, in sentences."""
    from ackclock.studies.game.profiles import label

    judged = played.judge_profiles(network)
    resting = [label(j.profile, played.names) for j in judged if j.verdict == "equilibrium"]
    rests = "; ".join(resting) if resting else "no choice is shown to be one"
    all_alike = next(
        j for j in judged if j.profile[played.names.index(control)] == played.game.players
    )
    gains = [gain for gain in all_alike.gains if gain.gain.low > gain.least]
    if gains:
        best = max(gains, key=lambda gain: gain.gain.mean)
        own_words = f"where all use {control}, one gains by changing to {best.right}"
    elif all(gain.gain.high <= gain.least for gain in all_alike.gains):
        own_words = f"where all use {control}, nobody gains by changing"
    else:
        own_words = f"whether one gains by leaving {control}, where all use it, is within chance"
    return f"Under {network}, equilibria: {rests}; {own_words}."


def _predict_game(task: DossierTask, size: int, options: RunOptions, kept: Store | None) -> Data:
    from ackclock.studies.game import plan

    found = plan(_game(task, size), options.workers, kept)
    return {key: getattr(found, key) for key in ("points", "runs", "stored", "cpu_s")}


def _prove(task: DossierTask, size: int, options: RunOptions) -> Audited:
    from ackclock.dossier.proofs import prove_control

    del options
    proofs = prove_control(task.control.label, task.control.value, size)
    return Audited("proofs", size, proofs.answer, str(proofs), proofs.to_dict(), proofs)


def _predict_proofs(task: DossierTask, size: int, options: RunOptions, kept: Store | None) -> Data:
    """A run in packets for each claim at most, four where the jitter pauses, and the solvers."""
    from ackclock.dossier.proofs import CLAIMS

    del task, options, kept
    return {"points": len(CLAIMS), "runs": 4 * len(CLAIMS), "stored": 0, "cpu_s": 5.0 * size}


_RUN: Mapping[str, Callable[[DossierTask, int, RunOptions], Audited]] = {
    "adversary": _search,
    "latecomer": _audit,
    "game": _play,
    "proofs": _prove,
}
_PREDICT: Mapping[str, Callable[[DossierTask, int, RunOptions, Store | None], Data]] = {
    "adversary": _predict_search,
    "latecomer": _predict_audit,
    "game": _predict_game,
    "proofs": _predict_proofs,
}
