"""Numbers of an evaluation, and what they support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.analysis import jain
from ackclock.experiments.statistics import Mean, mean_interval
from ackclock.studies.evaluate_queue.scenarios import BOTTLENECK, DROP_TAIL, RATE_BPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from ackclock.experiments.result import SweepResult

    Real = npt.NDArray[np.float64]

__all__ = ["METRICS", "Ellipse", "Scores", "better", "ellipse", "score_runs"]

METRICS = {
    "goodput": "goodput of TCP as a part of the link's mean rate",
    "delay_ms": "mean queueing delay of packets that left [ms]",
    "loss_percent": "packets dropped at the bottleneck [%]",
    "jain": "Jain's index of the TCP flows that run all the time",
    "long_share": "goodput of a flow of 200 ms over that of a flow of 20 ms",
    "burst_loss_percent": "packets of bursts that are lost [%]",
}
"""Metrics, with what they are. The last two are of one scenario each."""


@dataclass(frozen=True)
class Scores:
    """Values of all metrics in one scenario.

    Parameters
    ----------
    values
        Per queue and metric one value per replicate, NaN where there is none.
    points
        Per queue the delay [ms] and goodput over the fair share of every flow of every replicate.
    """

    values: Mapping[tuple[str, str], Real]
    points: Mapping[str, Real]

    @property
    def queues(self) -> list[str]:
        """Queues in order, the one under study first."""
        return list(self.points)

    def mean(self, queue: str, metric: str) -> Mean:
        """Find mean and ends of the 95 % interval.

        Parameters
        ----------
        queue, metric
            Which.
        """
        return Mean.of(self.values[queue, metric])


@dataclass(frozen=True)
class Ellipse:
    """One standard deviation of points around their mean.

    Parameters
    ----------
    centre
        Mean.
    axes
        Half axes, longer first.
    angle
        Of the longer one [degrees].
    """

    centre: tuple[float, float]
    axes: tuple[float, float]
    angle: float


def ellipse(points: Real) -> Ellipse:
    """Fit the ellipse of the normal distribution of greatest likelihood.

    Parameters
    ----------
    points
        Of shape (n, 2).
    """
    centre = points.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(points.T, bias=True))
    half = np.sqrt(np.maximum(values[::-1], 0))
    long = vectors[:, 1]
    angle = float(np.degrees(np.arctan2(long[1], long[0])))
    return Ellipse((float(centre[0]), float(centre[1])), (float(half[0]), float(half[1])), angle)


def score_runs(result: SweepResult, scene: str, mean_rate: float = 1.0) -> Scores:
    """Take the numbers of a scenario out of its runs.

    Parameters
    ----------
    result
        Runs over the axis ``queue``.
    scene
        Name of the scenario.
    mean_rate
        Mean rate of the link relative to `RATE_BPS`.
    """
    labels = result.labels("queue")
    rows: dict[tuple[str, str], list[float]] = {}
    points: dict[str, list[Real]] = {}

    def read(tables: Mapping[str, Any]) -> float:
        number = len(numbers_read)
        numbers_read.append(number)
        queue = str(labels[number])
        found, cloud = _run(tables, scene, mean_rate)
        for metric, value in found.items():
            rows.setdefault((queue, metric), []).append(value)
        points.setdefault(queue, []).append(cloud)
        return 0.0

    numbers_read: list[int] = []
    result.per_run(read)
    values = {key: np.asarray(value) for key, value in rows.items()}
    return Scores(values, {queue: np.concatenate(clouds) for queue, clouds in points.items()})


def _run(tables: Mapping[str, Any], scene: str, mean_rate: float) -> tuple[dict[str, float], Real]:
    flows = tables["flows"].to_pydict()
    links = tables["links"].to_pydict()
    bottleneck = links["id"].index(BOTTLENECK)
    ids = [str(name) for name in flows["id"]]
    goodput = np.asarray(flows["goodput_bps"], dtype=float)
    tcp = np.array([not name.startswith(("udp", "burst")) for name in ids])
    steady = np.array([name.startswith("tcp") for name in ids])
    arrived = links["window_arrived_packets"][bottleneck]
    scores = {
        "goodput": float(goodput[tcp].sum() / (RATE_BPS * mean_rate)),
        "delay_ms": 1e3 * float(links["delay_mean_s"][bottleneck]),
        "loss_percent": 100 * links["window_drops"][bottleneck] / arrived if arrived else 0.0,
        "jain": float(jain(goodput[steady].tolist())),
        "long_share": np.nan,
        "burst_loss_percent": np.nan,
    }
    if scene == "rtt":
        short, long = goodput[:4].mean(), goodput[4:].mean()
        scores["long_share"] = float(long / short) if short > 0 else np.nan
    if scene == "bursts":
        burst = ids.index("burst")
        sent = flows["window_sent_packets"][burst]
        lost = flows["window_lost_data_packets"][burst]
        scores["burst_loss_percent"] = 100 * lost / sent if sent else np.nan
    srtt = np.asarray(flows["srtt_mean_s"], dtype=float)[steady]
    least = np.asarray(flows["rtt_min_s"], dtype=float)[steady]
    fair = RATE_BPS * mean_rate / max(int(steady.sum()), 1)
    cloud = np.column_stack([1e3 * (srtt - least), goodput[steady] / fair])
    return scores, cloud[np.isfinite(cloud).all(axis=1)]


def better(scores: Scores, queue: str, other: str) -> bool:
    """Whether ``queue`` is better: in goodput or delay beyond doubt, and in the other not worse.

    Beyond doubt: the 95 % interval of differences within replicates does not hold 0.

    Parameters
    ----------
    scores
        Of a scenario.
    one, other
        Queues.
    """
    goodput = _compare_paired(scores.values[queue, "goodput"] - scores.values[other, "goodput"])
    delay = _compare_paired(scores.values[other, "delay_ms"] - scores.values[queue, "delay_ms"])
    return max(goodput, delay) > 0 and min(goodput, delay) >= 0


def _compare_paired(differences: Iterable[float]) -> int:
    values: Sequence[float] = [float(d) for d in differences]
    _, low, high = mean_interval(values)
    return int(low > 0) - int(high < 0)


def reference(scores: Scores) -> str:
    """The queue that all are compared with: drop tail.

    Parameters
    ----------
    scores
        Of a scenario.
    """
    return DROP_TAIL if DROP_TAIL in scores.queues else scores.queues[-1]
