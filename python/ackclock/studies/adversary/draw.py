"""The figure of a found pattern: bandwidth, and what each control makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    import pyarrow as pa
    from matplotlib.figure import Figure

    from ackclock.experiments.statistics import Mean
    from ackclock.studies.adversary.arena import Arena
    from ackclock.studies.adversary.shape import PathShape

__all__ = ["pattern"]

MOST_SHOWN_S, LEAST_SHOWN_S = 40.0, 4.0
TURNS_SHOWN = 8


def _rates(samples: pa.Table) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Ends of intervals, and goodput of the test flows together in each [bit/s]."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    test = samples.filter(pc.invert(pc.starts_with(pc.cast(samples["flow"], pa.string()), "cbr")))
    times, place = np.unique(np.asarray(test["time_s"]), return_inverse=True)
    total = np.bincount(place, weights=np.asarray(test["delivered_bytes"], dtype=float))
    return times[1:], 8 * np.diff(total) / np.diff(times)


def pattern(arena: Arena, shape: PathShape, goodput: Mapping[str, Mean]) -> Figure:
    """Draw goodput of the test flows over time, a panel for each control.

    Parameters
    ----------
    arena
        Where.
    shape
        The pattern.
    goodput
        Of each control, over several runs.
    """
    import numpy as np

    from ackclock.plot import style
    from ackclock.scenario.environments.expansion import bandwidth
    from ackclock.scenario.environments.form import settings

    controls = list(arena.controls)
    figure = style.figure(None, 7.2, 1.5 * len(controls) + 0.9)
    axes = figure.subplots(len(controls), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    begin = arena.warmup_s
    span_s = min(max(TURNS_SHOWN * shape.period_s, LEAST_SHOWN_S), MOST_SHOWN_S)
    end = min(begin + span_s, arena.duration_s)
    # Some points in the shortest level, so that what follows it is seen to follow.
    interval = min(0.2, min(seconds for _, seconds in shape.levels) / 3)
    for axis, control in zip(axes, controls, strict=True):
        scenario = arena.scenario(shape, control, 1)
        meant = bandwidth(scenario.data, settings(scenario.data["net"]))
        times = np.append(meant.times_s, arena.duration_s)
        rates = np.append(meant.rates_bps, meant.rates_bps[-1]) * arena.flows / 1e6
        axis.fill_between(times, rates, step="post", color="#cccccc", label="available")
        run = scenario.run(record=["flow_samples"], interval=interval)
        sample_s, rate = _rates(run.flow_samples)
        axis.plot(sample_s, rate / 1e6, color="#0072B2", lw=1.2, label="goodput")
        axis.set_title(f"{control}: {goodput[control].mean:.2f} of the available", fontsize=9)
        axis.set_ylabel("Mbit/s")
        axis.set_xlim(begin, end)
        axis.set_ylim(bottom=0)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=2, fontsize=8)
    axes[-1].set_xlabel("time [s]")
    return figure
