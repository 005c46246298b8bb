"""What is demanded of a linear control: Chiu and Jain's conditions, and the paper's 10 % rules.

Source: D. Chiu, R. Jain, "Analysis of the increase/decrease algorithms for congestion avoidance in
computer networks", Computer Networks and ISDN Systems 17(1), 1989,
doi:10.1016/0169-7552(89)90019-6, sections 2 and 3; A. Akella, S. Seshan, S. Shenker, I. Stoica,
"Exploring Congestion Control", CMU-CS-02-139, 2002, section 3.2 and footnote 8.

Rule (n users with windows x, their sum X; all see the same binary signal)::

    x <- a_i + b_i x   on success,   x <- a_d + b_d x   on loss
    feedback   n a_i + (b_i - 1) X > 0  and  n a_d + (b_d - 1) X < 0
    fairness   F = X^2 / (n sum x^2) never falls iff a_i / b_i >= 0 and a_d / b_d >= 0,
               and rises in each cycle iff one of them is above 0
    (I)  a_d = 0, 0 <= b_d < 1      (II)  a_i > 0, b_i >= 1

(I) and (II) are what remains if feedback and fairness are to hold in every state, by users that
know neither n nor X. The 10 % rules keep additive apart from multiplicative: an additive change is
at most a tenth of any window that it changes, so of the smallest; a multiplicative one is more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.engines.model.ranges import Range, ranges

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

__all__ = ["chiu_jain_conditions", "ten_percent_rules"]

NEAR = 1e-12
"""Two numbers of a rule closer than this are the same."""


@ranges(
    users=Range(minimum=1, is_integer=True),
    load=Range(above=0, unit="segments"),
)
def chiu_jain_conditions(
    a_i: npt.NDArray[np.float64],
    b_i: npt.NDArray[np.float64],
    a_d: npt.NDArray[np.float64],
    b_d: npt.NDArray[np.float64],
    users: npt.NDArray[np.int64] = 2,  # type: ignore[assignment]
    load: npt.NDArray[np.float64] = 100.0,  # type: ignore[assignment]
) -> Mapping[str, npt.NDArray[Any]]:
    """Whether a linear control meets Chiu and Jain's conditions, everywhere and in one state.

    Parameters
    ----------
    a_i, b_i
        Increase: added [segments], and factor.
    a_d, b_d
        Decrease: added [segments], and factor.
    users, load
        The one state: number of users, and the sum of their windows [segments].

    Returns
    -------
    mapping
        ``condition_1``: a_d = 0 and 0 <= b_d < 1; ``condition_2``: a_i > 0 and b_i >= 1;
        ``sufficient``: both, so that users converge to equal windows from every state.
        In the state given: ``total_rises`` and ``total_falls``, the negative feedback of the
        increase and of the decrease. ``fairness_kept``: neither lowers the fairness of any state;
        ``fairness_rises``: and one of them raises it.
    """
    a_i, b_i, a_d, b_d = (np.asarray(x, dtype=float) for x in (a_i, b_i, a_d, b_d))
    first = (np.abs(a_d) < NEAR) & (b_d >= 0) & (b_d < 1 - NEAR)
    second = (a_i > NEAR) & (b_i >= 1 - NEAR)
    # A factor of 0 makes all windows equal at once, if anything is added.
    keeps_fairness = [(add >= -NEAR) & (factor >= 0) for add, factor in ((a_i, b_i), (a_d, b_d))]
    rises = (a_i > NEAR) | (a_d > NEAR)
    return {
        "condition_1": first,
        "condition_2": second,
        "sufficient": first & second,
        "total_rises": users * a_i + (b_i - 1) * load > NEAR,
        "total_falls": users * a_d + (b_d - 1) * load < -NEAR,
        "fairness_kept": keeps_fairness[0] & keeps_fairness[1],
        "fairness_rises": keeps_fairness[0] & keeps_fairness[1] & rises,
    }


@ranges(
    grows_from=Range(above=0, unit="segments"),
    shrinks_from=Range(above=0, unit="segments"),
    limit=Range(above=0),
)
def ten_percent_rules(
    a_i: npt.NDArray[np.float64],
    b_i: npt.NDArray[np.float64],
    a_d: npt.NDArray[np.float64],
    b_d: npt.NDArray[np.float64],
    grows_from: npt.NDArray[np.float64] = 15.0,  # type: ignore[assignment]
    shrinks_from: npt.NDArray[np.float64] = 25.0,  # type: ignore[assignment]
    limit: npt.NDArray[np.float64] = 0.1,  # type: ignore[assignment]
) -> Mapping[str, npt.NDArray[Any]]:
    """Whether a control is within the rules by which the paper chose (a, b).

    Parameters
    ----------
    a_i, b_i, a_d, b_d
        The control; a side with factor 1 is additive, with nothing added multiplicative.
    grows_from, shrinks_from
        Smallest windows that are ever increased and decreased [segments]; the paper has 12 to 15
        and 20 to 25.
    limit
        Part of the window that distinguishes additive from multiplicative.

    Returns
    -------
    mapping
        ``increase`` and ``decrease``, parts of the smallest window by which it changes;
        ``increase_meets``, ``decrease_meets``, ``meets`` both: additive changes are at most the
        limit there, and with it everywhere, multiplicative ones above it. A hybrid side has to
        obey neither.
    """
    a_i, b_i, a_d, b_d = (np.asarray(x, dtype=float) for x in (a_i, b_i, a_d, b_d))
    up = a_i / grows_from + (b_i - 1)
    down = -a_d / shrinks_from + (1 - b_d)

    def meets(add: Any, factor: Any, part: Any) -> Any:
        additive, multiplicative = np.abs(factor - 1) < NEAR, np.abs(add) < NEAR
        return np.where(additive, part <= limit + NEAR, ~multiplicative | (part > limit + NEAR))

    increase, decrease = meets(a_i, b_i, up), meets(a_d, b_d, down)
    return {
        "increase": up,
        "decrease": down,
        "increase_meets": increase,
        "decrease_meets": decrease,
        "meets": increase & decrease,
    }
