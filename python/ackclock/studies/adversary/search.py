"""Searches bandwidth patterns for the one where a control does worst, or best, beside others.

Source: the winning and losing patterns of Akella et al. (2002), Figs. 1 and 2, which were made by
hand.

Rule::

    gap(pattern) = goodput of the control - best goodput of the others, mean over the search's seeds
    worst: the pattern of least gap;  best: of greatest
    last: the least gap to the worst of the others, where the control is the worst of all
    shrunk: while a simpler pattern keeps 80 % of the gap, take it
    reported: the gap on seeds that the search did not see, to the rival that was best on those that
        it saw, with its 95 % interval

The optimiser is SciPy's differential evolution: it needs no gradient, bears noise, is seeded, and
works on a population at once, so its result does not depend on the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Literal

from ackclock.errors import AckclockError
from ackclock.experiments.statistics import Mean
from ackclock.experiments.store.purpose import runs_of
from ackclock.studies.adversary.result import FRESH_SEEDS, AdversaryResult
from ackclock.studies.adversary.shape import PathShape

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from ackclock.experiments.store import Place
    from ackclock.studies.adversary.arena import Arena

__all__ = ["adversary"]

KEEP = 0.8
"""Part of the gap that a simpler pattern must keep."""

SEEDS = 2


@runs_of("adversary")
def adversary(
    arena: Arena,
    *,
    want: Literal["worst", "best", "last"] = "worst",
    levels: int = 3,
    budget: int = 200,
    seed: int = 1,
    workers: int | None = None,
    store: Place = False,
    command: str | None = None,
    progress: Callable[[float], object] | None = None,
) -> AdversaryResult:
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
    store
        Folder that keeps the runs, so that a search that was stopped goes on where it was; True or
        None for the default one; False: nothing is kept.
    command
        What the user typed, for the provenance.
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
    from ackclock.experiments.store import Store, open_keeper
    from ackclock.studies.adversary.runs import Runs

    if len(arena.controls) < 2:
        raise AckclockError("there is no other control to compare with")
    population = max(5, min(8 * levels, budget // 4))
    if budget < 2 * population:
        raise AckclockError(f"budget is {budget}; expected at least 10 patterns")
    sign = -1.0 if want == "best" else 1.0
    seeds = range(1, 1 + SEEDS)
    gap_of_shape: dict[PathShape, float] = {}

    with open_keeper(store) as keeper:
        if isinstance(keeper, Store):
            keeper.describe(
                {"sweep": f"adversary {next(iter(arena.controls))}", "command": command}
            )
        runs = Runs(keeper)

        def gap(shape: PathShape) -> float:
            if shape not in gap_of_shape:
                gaps = arena.gaps(arena.goodputs(shape, seeds, runs), want)
                gap_of_shape[shape] = sign * sum(gaps) / len(gaps)
                if progress is not None:
                    progress(min(len(gap_of_shape) / budget, 1.0))
            return gap_of_shape[shape]

        def cost(numbers: npt.NDArray[np.float64]) -> float:
            return gap(PathShape.of([float(x) for x in numbers]))

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
        first = PathShape.of([float(x) for x in result.x])
        shape = _shrunk(first, gap)
        fresh = arena.goodputs(shape, range(1001, 1001 + FRESH_SEEDS), runs)
        return AdversaryResult(
            arena=arena,
            want=want,
            shape=shape,
            first=first,
            goodput={name: Mean.of(values) for name, values in fresh.items()},
            gap=Mean.of(arena.gaps(fresh, want, arena.goodputs(shape, seeds, runs))),
            tried=len(gap_of_shape),
            seed=seed,
        )


def _shrunk(shape: PathShape, gap: Callable[[PathShape], float]) -> PathShape:
    """Take simpler patterns as long as they keep most of the gap."""
    bound = KEEP * gap(shape)
    if bound >= 0:
        return shape
    while True:
        simpler = next((other for other in shape.simpler() if gap(other) <= bound), None)
        if simpler is None:
            return shape
        shape = simpler
