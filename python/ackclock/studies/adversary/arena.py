"""Where controls meet under a pattern of bandwidth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ackclock.experiments.store.keeper import Memory
from ackclock.scenario.scenario import Scenario
from ackclock.studies.adversary.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.studies.adversary.shape import PathShape

__all__ = ["Arena"]


@dataclass(frozen=True)
class Arena:
    """Where the controls meet.

    Parameters
    ----------
    controls
        By label, as scenarios say them; the first is the one under study.
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

    def scenario(self, shape: PathShape, control: str, seed: int) -> Scenario:
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
            "name": f"{control} under {shape.describe(self.peak_bps)}",
            "net": net,
            "flows": [flow],
            "duration": self.duration_s,
            "warmup": self.warmup_s,
            "seed": seed,
        }
        scenario = Scenario.from_data(data)
        return scenario.replace(**self.settings) if self.settings else scenario

    def goodputs(
        self, shape: PathShape, seeds: Sequence[int], runs: Runs | None = None
    ) -> dict[str, list[float]]:
        """Goodput of every control under every seed.

        Parameters
        ----------
        shape
            The pattern.
        seeds
            Of the runs.
        runs
            What does and keeps them; left out: nothing is kept.
        """
        runner = runs or Runs(Memory())
        return {
            control: [runner.goodput(self.scenario(shape, control, seed)) for seed in seeds]
            for control in self.controls
        }

    def gaps(
        self,
        goodputs: Mapping[str, Sequence[float]],
        want: str = "worst",
        chosen_by: Mapping[str, Sequence[float]] | None = None,
    ) -> list[float]:
        """Goodput of the control less that of its rival, seed by seed.

        Parameters
        ----------
        goodputs
            Of `goodputs`.
        want
            As of `rival`.
        chosen_by
            Goodputs of other seeds, by which the rival is chosen: the best of several is best by
            chance too, and what is reported must be without that. Left out: the same.
        """
        control, *_ = goodputs
        means = {name: sum(all_) / len(all_) for name, all_ in (chosen_by or goodputs).items()}
        rival = goodputs[self.rival(means, want)]
        return [a - b for a, b in zip(goodputs[control], rival, strict=True)]

    @staticmethod
    def rival(means: Mapping[str, float], want: str) -> str:
        """The other that the control is compared with: the best by mean, the same under all seeds.

        Parameters
        ----------
        means
            By control; the first is the one under study.
        want
            ``worst``, ``best`` or ``last``; under ``last``, the rival is the worst of the others.
        """
        _, *rivals = means
        return (min if want == "last" else max)(rivals, key=lambda name: means[name])
