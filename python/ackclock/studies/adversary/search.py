"""Searches bandwidth patterns for the one where a control does worst, or best, beside others.

Source: the winning and losing patterns of Akella et al. (2002), Figs. 1 and 2, which were made by
hand.

Rule::

    gap(pattern) = goodput of the control - best goodput of the others, mean over the search's seeds
    worst: the pattern of least gap;  best: of greatest
    last: the least gap to the worst of the others, where the control is the worst of all
    shrunk: while a simpler pattern keeps 80 % of the gap, take it
    told: the gap on seeds that the search did not see, with its 95 % interval

The optimiser is SciPy's differential evolution: it needs no gradient, bears noise, is seeded, and
works on a population at once, so its result does not depend on the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ackclock.errors import AckclockError
from ackclock.scenario.environments import scores
from ackclock.scenario.scenario import Scenario
from ackclock.studies.adversary.shape import Shape
from ackclock.studies.evaluate_control.judge import Mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

__all__ = ["Arena", "Found", "adversary"]

KEEP = 0.8
"""Part of the gap that a simpler pattern must keep."""

DOES = {
    "worst": "loses to the best of the others",
    "best": "does best of all",
    "last": "does worst of all",
}
HEADS = {"worst": "worst pattern", "best": "best pattern", "last": "pattern of the last place"}
"""How a search is told, by what it wants."""

FRESH_SEEDS = 5
SEEDS = 2


@dataclass(frozen=True)
class Arena:
    """Where the controls meet.

    Parameters
    ----------
    controls
        By label, as scenarios say them; the first is the one asked about.
    peak_bps
        Greatest available bandwidth per test flow [bit/s].
    flows
        Test flows.
    duration_s
        Length of a run [s].
    settings
        Further values of the scenario by path: queue, recovery, era, ...
    """

    controls: Mapping[str, Any]
    peak_bps: float = 10e6
    flows: int = 4
    duration_s: float = 60.0
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def warmup_s(self) -> float:
        """Time that is not judged [s]."""
        return min(10.0, self.duration_s / 4)

    def scenario(self, shape: Shape, control: str, seed: int) -> Scenario:
        """Make the scenario of one control under one pattern.

        Parameters
        ----------
        shape
            The pattern.
        control
            Label.
        seed
            Of the run.
        """
        net = {
            "kind": "environment",
            "name": "steps",
            "flows": self.flows,
            "capacity": round(self.flows * self.peak_bps),
            "steps": shape.steps(self.peak_bps),
            "period": round(shape.period_s, 3),
        }
        flow = {
            "pair": 0,
            "count": self.flows,
            "stagger": "100 ms",
            "cc": self.controls[control],
            "recovery": "sack",
        }
        data = {
            "name": f"{control} under {shape.told(self.peak_bps)}",
            "net": net,
            "flows": [flow],
            "duration": self.duration_s,
            "warmup": self.warmup_s,
            "seed": seed,
        }
        made = Scenario.from_data(data)
        return made.replace(**self.settings) if self.settings else made

    def goodputs(self, shape: Shape, seeds: Sequence[int]) -> dict[str, list[float]]:
        """Goodput of every control under every seed.

        Parameters
        ----------
        shape
            The pattern.
        seeds
            Of the runs.
        """
        return {
            control: [
                scores(self.scenario(shape, control, seed).run().summary)["goodput"]
                for seed in seeds
            ]
            for control in self.controls
        }

    def gaps(self, goodputs: Mapping[str, Sequence[float]], want: str = "worst") -> list[float]:
        """Goodput of the control less that of its rival, seed by seed.

        Parameters
        ----------
        goodputs
            Of `goodputs`.
        want
            As of `rival`.
        """
        own, *_ = goodputs
        rival = goodputs[self.rival({name: sum(all_) for name, all_ in goodputs.items()}, want)]
        return [a - b for a, b in zip(goodputs[own], rival, strict=True)]

    @staticmethod
    def rival(means: Mapping[str, float], want: str) -> str:
        """The other that the control is compared with: the best by mean, the same under all seeds.

        Parameters
        ----------
        means
            By control; the first is the one asked about.
        want
            ``worst``, ``best`` or ``last``; under ``last``, the rival is the worst of the others.
        """
        _, *others = means
        return (min if want == "last" else max)(others, key=lambda name: means[name])


@dataclass(frozen=True)
class Found:
    """What a search found. Printing it tells the pattern and the goodputs.

    Parameters
    ----------
    arena
        Where.
    want
        ``worst``, ``best`` or ``last``.
    shape
        The pattern, shrunk.
    first
        The pattern before it was shrunk.
    goodput
        Of each control, on fresh seeds.
    gap
        Of the control to the best other, on fresh seeds.
    tried
        Patterns that were run.
    seed
        Of the search.
    """

    arena: Arena
    want: str
    shape: Shape
    first: Shape
    goodput: Mapping[str, Mean]
    gap: Mean
    tried: int
    seed: int

    @property
    def holds(self) -> bool:
        """Whether the fresh seeds show a gap of the sign that was searched."""
        return self.gap.low > 0 if self.want == "best" else self.gap.high < 0

    def scenario(self) -> Scenario:
        """The scenario of the control under the pattern."""
        return self.arena.scenario(self.shape, next(iter(self.arena.controls)), 1)

    def __str__(self) -> str:
        from ackclock._util.text_table import table

        own = next(iter(self.arena.controls))
        peak = self.arena.peak_bps
        rows = [
            [name, f"{mean.mean:.3f}", f"{mean.low:.3f}", f"{mean.high:.3f}"]
            for name, mean in self.goodput.items()
        ]
        means = {name: mean.mean for name, mean in self.goodput.items()}
        rival = self.arena.rival(means, self.want)
        word = "less" if self.gap.mean < 0 else "more"
        told = (
            f"{own} gets {abs(self.gap.mean):.3f} of the bandwidth {word} than {rival}"
            f" [{min(abs(self.gap.low), abs(self.gap.high)):.3f},"
            f" {max(abs(self.gap.low), abs(self.gap.high)):.3f}]"
            f" on {FRESH_SEEDS} seeds that the search did not see."
        )
        if not self.holds:
            told = (
                f"No pattern was found where {own} {DOES[self.want]}: the gap to {rival} is"
                f" {self.gap.mean:+.3f} [{self.gap.low:+.3f}, {self.gap.high:+.3f}] on"
                f" {FRESH_SEEDS} seeds that the search did not see."
            )
        head = f"{HEADS[self.want]} for {own}: {self.shape.told(peak)}"
        count = f"{self.tried} patterns tried, seed {self.seed}; before shrinking:"
        first = f"{count} {self.first.told(peak)}"
        return "\n".join(
            [head, "", table(["control", "goodput", "low", "high"], rows), "", told, first]
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "control": next(iter(self.arena.controls)),
            "want": self.want,
            "holds": self.holds,
            "steps": self.shape.steps(self.arena.peak_bps),
            "period_s": self.shape.period_s,
            "goodput": {n: [m.mean, m.low, m.high] for n, m in self.goodput.items()},
            "gap": [self.gap.mean, self.gap.low, self.gap.high],
            "tried": self.tried,
            "seed": self.seed,
        }

    def save(self, folder: str | Path, *, command: str = "") -> Path:
        """Write ``scenario.toml``, ``pattern.svg`` and ``adversary.json``.

        Parameters
        ----------
        folder
            Is made, or replaced if it is one of ours.
        command
            What the user typed.

        Returns
        -------
        Path
            The folder.
        """
        from ackclock._util.page import save_report
        from ackclock.plot import save
        from ackclock.studies.adversary.draw import pattern

        def fill(at: Path) -> None:
            text = self.scenario().kept(at).to_toml()
            (at / "scenario.toml").write_text(text, encoding="utf-8")
            save(pattern(self), at / "pattern.svg", command=command)

        return save_report(Path(folder), MARKER, {**self.to_dict(), "command": command}, more=fill)


MARKER = "adversary.json"


def adversary(
    arena: Arena,
    *,
    want: Literal["worst", "best", "last"] = "worst",
    levels: int = 3,
    budget: int = 200,
    seed: int = 1,
    workers: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Found:
    """Search.

    Parameters
    ----------
    arena
        Controls and setting.
    want
        Where the control loses most to the best of the others (``worst``), is ahead of all
        (``best``), or is behind all (``last``).
    levels
        Most levels of a pattern.
    budget
        Patterns that the search may run, without those tried in shrinking.
    seed
        Of the search.
    workers
        Runs at a time; left out: one per core.
    progress
        Called with the fraction done.

    Raises
    ------
    AckclockError
        There is nothing to compare with, or the budget is too small.
    """
    import numpy as np
    from scipy.optimize import Bounds, differential_evolution

    from ackclock.experiments.replication import cores

    if len(arena.controls) < 2:
        raise AckclockError("there is no other control to compare with")
    population = max(5, min(8 * levels, budget // 4))
    if budget < 2 * population:
        raise AckclockError(f"budget is {budget}; expected at least 10 patterns")
    sign = -1.0 if want == "best" else 1.0
    seeds = range(1, 1 + SEEDS)
    known: dict[Shape, float] = {}

    def gap(shape: Shape) -> float:
        if shape not in known:
            gaps = arena.gaps(arena.goodputs(shape, seeds), want)
            known[shape] = sign * sum(gaps) / len(gaps)
            if progress is not None:
                progress(min(len(known) / budget, 1.0))
        return known[shape]

    def cost(numbers: npt.NDArray[np.float64]) -> float:
        return gap(Shape.of([float(x) for x in numbers]))

    rounds = max(budget // population - 1, 1)
    draws = np.random.default_rng(seed)
    with ThreadPoolExecutor(workers or cores()) as pool:
        result = differential_evolution(
            cost,
            Bounds([0.0] * (2 * levels), [1.0] * (2 * levels)),
            init=draws.random((population, 2 * levels)),
            maxiter=rounds,
            rng=draws,
            polish=False,
            updating="deferred",
            workers=pool.map,
            tol=0.0,
        )
    first = Shape.of([float(x) for x in result.x])
    shape = _shrunk(first, gap)
    fresh = arena.goodputs(shape, range(1001, 1001 + FRESH_SEEDS))
    return Found(
        arena=arena,
        want=want,
        shape=shape,
        first=first,
        goodput={name: Mean.of(values) for name, values in fresh.items()},
        gap=Mean.of(arena.gaps(fresh, want)),
        tried=len(known),
        seed=seed,
    )


def _shrunk(shape: Shape, gap: Callable[[Shape], float]) -> Shape:
    """Take simpler patterns as long as they keep most of the gap."""
    bound = KEEP * gap(shape)
    if bound >= 0:
        return shape
    while True:
        simpler = next((other for other in shape.simpler() if gap(other) <= bound), None)
        if simpler is None:
            return shape
        shape = simpler
