"""How flows share a bottleneck, learnt from those that are packets.

A flow's part of a link that holds it back goes with ``rtt ** -a * full ** -b``, where ``full`` is
the number of full links that it crosses. What packets get says how large a and b are: the
regression of log(measured rate / fluid rate) on log(rtt) and log(full), among flows of one link, is
what is missing. For TCP with a loss ratio p that all see alike, rates go with 1/rtt and
``p ** -0.5``, and losses of several links add up: a = 1, b = 0.5 (M. Mathis et al., "The
macroscopic behavior of the TCP congestion avoidance algorithm", ACM CCR 27, 1997). With fair queues
both are 0.

A control other than the background's gets what it takes: its weight is what its packets get.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Counts = npt.NDArray[np.int64]

__all__ = ["NONE", "Bias", "FlowGroup", "Slopes", "fit", "is_settled", "pulls"]

SPREAD = 0.05
"""Values within this part of each other decide nothing."""

FLAT = 0.03
"""A slope below this moves rates of flows whose values differ fourfold by 4 % or less."""


TOGETHER = 0.02
"""Ratio of the variances below which what is left of one, given the other, decides nothing."""

LEAST_PULL = 1e-3
"""A control that gets nothing still has a share, so that it can come back."""

PULL = 0.1
"""A factor this near to 1 changes nothing."""

MOST = 3.0
"""Largest exponent."""


class Bias(NamedTuple):
    """The two exponents, or changes of them.

    Parameters
    ----------
    rtt
        Of the round-trip time.
    links
        Of the number of full links crossed.
    """

    rtt: float
    links: float

    def less(self, slopes: Slopes) -> Bias:
        """Take what is missing off, within 0 and `MOST`.

        Parameters
        ----------
        slopes
            As `fit` found them.
        """
        pairs = zip(self, slopes.value, strict=True)
        return Bias(*(min(max(a - b, 0.0), MOST) for a, b in pairs))


NONE = Bias(0.0, 0.0)


class Slopes(NamedTuple):
    """What the exponents lack, with standard errors; 0 where nothing can be said."""

    value: Bias
    error: Bias


class FlowGroup(NamedTuple):
    """Flows that ran as packets.

    Parameters
    ----------
    rtt_s
        Mean round-trip time [s].
    full_links
        Full links that each crosses.
    measured_bps, fluid_bps
        Rates [bit/s].
    link
        The link that holds each back; negative for none.
    """

    rtt_s: Floats
    full_links: Floats
    measured_bps: Floats
    fluid_bps: Floats
    link: Counts


def fit(flows: FlowGroup) -> Slopes | None:
    """Fit the slopes of measured over fluid rates, with a level for each link.

    Parameters
    ----------
    flows
        At least four that are held back.

    Returns
    -------
    Slopes or None
        None where neither round-trip times nor numbers of full links differ at any link.
    """
    rates = (flows.measured_bps > 0) & (flows.fluid_bps > 0)
    use = (flows.link >= 0) & (flows.rtt_s > 0) & (flows.full_links > 0) & rates
    if use.sum() < 4:
        return None
    _, group = np.unique(flows.link[use], return_inverse=True)
    count = np.bincount(group)

    def within(values: Floats) -> Floats:
        logs = np.log(values[use])
        less: Floats = logs - (np.bincount(group, logs) / count)[group]
        return less

    y = within(flows.measured_bps / np.where(flows.fluid_bps > 0, flows.fluid_bps, 1.0))
    columns = [within(flows.rtt_s), within(flows.full_links)]
    varying = [i for i, x in enumerate(columns) if x @ x >= len(x) * SPREAD**2]
    freedom = len(y) - len(count) - len(varying)
    if not varying or freedom < 1:
        return None
    x = np.stack([columns[i] for i in varying], axis=1)
    # Where the two go together, as along a chain of equal links, the least of both is taken.
    inverse = np.linalg.pinv(x.T @ x, rcond=TOGETHER)
    slope = inverse @ (x.T @ y)
    residual = y - x @ slope
    errors = np.sqrt(np.diag(inverse) * (residual @ residual) / freedom)
    value, error = [0.0, 0.0], [0.0, 0.0]
    for i, of, deviation in zip(varying, slope, errors, strict=True):
        value[i], error[i] = float(of), float(deviation)
    return Slopes(Bias(*value), Bias(*error))


def is_settled(slopes: Slopes | None) -> bool:
    """Whether the exponents need not be changed.

    Parameters
    ----------
    slopes
        As `fit` found them.
    """
    if slopes is None:
        return True
    return all(abs(v) <= max(FLAT, e) for v, e in zip(slopes.value, slopes.error, strict=True))


def pulls(cc: Sequence[str], measured_bps: Floats, fluid_bps: Floats) -> Floats:
    """Find by what factor flows of each control get more than the fluid gives them.

    Parameters
    ----------
    cc
        The control of each flow; one of the background's own, "", is what others are measured by.
    measured_bps, fluid_bps
        Rates [bit/s].

    Returns
    -------
    ndarray
        A factor for each flow, the same for flows of one control; 1 for the background's.
    """
    factor = np.ones(len(cc))
    names = np.array(cc)
    for name in set(cc) - {""}:
        these = names == name
        expected = float(fluid_bps[these].sum())
        if expected > 0:
            factor[these] = max(float(measured_bps[these].sum()) / expected, LEAST_PULL)
    return factor
