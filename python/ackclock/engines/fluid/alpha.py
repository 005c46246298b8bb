"""Alpha-fair allocations: proportional fairness at 1, toward max-min as alpha grows.

The allocation maximises the sum of utilities ``w x^(1 - alpha) / (1 - alpha)`` (``w log x`` at 1)
over all rates that fit. On a network where every flow crosses one link it has a closed form. Else
two solvers are at hand, both in rates relative to the max-min allocation, which keeps their numbers
near 1:

- ``newton``: a built-in primal-dual interior point method. The utilities are separable, so that a
  step is one system of equations as large as the number of links. It holds for every alpha above 0.
- ``clarabel``: the conic solver of that name, exponential cones at 1, power cones elsewhere; the
  linear program at 0. It ends early where alpha and the network are large.

Tests check each against the other, and both against closed forms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ackclock import _core
from ackclock.errors import AckclockError, Problem, ScenarioError, suggestion

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ids = npt.NDArray[np.uint32]

__all__ = ["LARGEST_ALPHA", "Routed", "alpha_fair"]

LARGEST_ALPHA = 16.0
"""Beyond this utilities of one network differ by more than double precision can hold."""


class Routed(NamedTuple):
    """Capacities and routes as arrays; see `ackclock.engines.fluid.FluidNet` for each."""

    capacity: Floats
    offsets: Ids
    hops: Ids
    demand: Floats | None = None
    weight: Floats | None = None

    @property
    def n_flows(self) -> int:
        """Number of flows."""
        return len(self.offsets) - 1

    def max_min(self) -> Floats:
        """Find the max-min allocation."""
        nothing = np.empty(0)
        weight = nothing if self.weight is None else self.weight
        core = _core.FluidCore(self.capacity, self.offsets, self.hops, weight)
        return core.max_min(nothing if self.demand is None else self.demand)


def alpha_fair(net: Routed, alpha: float, solver: str = "newton") -> Floats:
    """Find the alpha-fair allocation.

    Parameters
    ----------
    net
        Capacities, routes, demands, weights, all in range.
    alpha
        0 (most in total; not unique) to `LARGEST_ALPHA`, or infinity (max-min).
    solver
        ``newton`` or ``clarabel``.

    Returns
    -------
    ndarray
        Rate of each flow, ``(n_flows,)``.

    Raises
    ------
    ScenarioError
        ``alpha`` is out of range, or there is no such solver.
    AckclockError
        The solver did not come to an optimum.

    References
    ----------
    J. Mo, J. Walrand, "Fair end-to-end window-based congestion control", IEEE/ACM ToN 8(5), 2000,
    doi:10.1109/90.879343.
    """
    if not (0 <= alpha <= LARGEST_ALPHA or alpha == np.inf):
        message = f"is {alpha}, expected 0 to {LARGEST_ALPHA:g}, or infinity for max-min"
        raise ScenarioError([Problem("alpha", message)])
    if solver not in ("newton", "clarabel"):
        message = f'there is no solver "{solver}"; {suggestion(solver, ("newton", "clarabel"))}'
        raise ScenarioError([Problem("solver", message)])
    if alpha == np.inf:
        return net.max_min()
    if alpha > 0 and len(net.hops) == net.n_flows:
        return _single_links(net, alpha)
    scale = net.max_min()
    moving = np.flatnonzero(scale > 0)
    rates = np.zeros(net.n_flows)
    program = _program(net, alpha, scale, moving)
    if alpha > 0 and solver == "newton":
        rates[moving] = scale[moving] * _newton(program, alpha)
    else:
        rates[moving] = scale[moving] * _clarabel(program, alpha)
    return rates


def _single_links(net: Routed, alpha: float) -> Floats:
    """On one link x = (w / price)^(1/alpha): the max-min allocation of weights w^(1/alpha)."""
    weight = None if net.weight is None else net.weight ** (1 / alpha)
    return net._replace(weight=weight).max_min()


class _Program(NamedTuple):
    """Most of the sum of ``worth u(y)`` over ``y > 0`` with ``rows @ y <= 1``."""

    rows: Any
    worth: Floats


def _program(net: Routed, alpha: float, scale: Floats, moving: npt.NDArray[np.int64]) -> _Program:
    """Rates of moving flows relative to the scale, which is a point that fits."""
    from scipy import sparse

    n = len(moving)
    position_of_flow = np.full(net.n_flows, -1)
    position_of_flow[moving] = np.arange(n)
    owner = np.repeat(np.arange(net.n_flows), np.diff(net.offsets))
    keep = position_of_flow[owner] >= 0
    used, row = np.unique(net.hops[keep], return_inverse=True)
    load = scale[owner[keep]] / net.capacity[net.hops[keep]]
    blocks = [sparse.csr_array((load, (row, position_of_flow[owner[keep]])), shape=(len(used), n))]
    limit = np.full(n, np.inf) if net.demand is None else net.demand[moving] / scale[moving]
    bounded = np.flatnonzero(np.isfinite(limit))
    if len(bounded):
        demand_rows = (1 / limit[bounded], (np.arange(len(bounded)), bounded))
        blocks.append(sparse.csr_array(demand_rows, shape=(len(bounded), n)))
    weight = np.ones(n) if net.weight is None else net.weight[moving]
    # In logarithms: only ratios of worths matter.
    worth = np.log(weight) + (1 - alpha) * np.log(scale[moving])
    return _Program(sparse.vstack(blocks, format="csr"), np.exp(worth - worth.mean()))


_STEPS = 200
"""Newton's steps; 20 to 40 are usual."""

_GAP = 1e-12
"""Largest product of price and room left, relative to the mean utility, at which it ends."""


def _newton(program: _Program, alpha: float) -> Floats:
    """Follow the central path price * room = mu to mu = 0.

    A flow that pays q in all has y = (worth / q)^(1/alpha), so that prices p are the only unknowns
    besides the room s: solve s + A y(A' p) = 1 and p s = mu by Newton's method.
    """
    from scipy import sparse

    rows, worth = program
    # Prices as if every flow paid alike on its links and had 0.9 of the max-min rate.
    paid = worth * 0.9**-alpha
    shares = rows @ sparse.diags_array(paid / (rows.T @ np.ones(rows.shape[0])))
    price = np.asarray(shares.max(axis=1).todense()).ravel()
    y: Floats = (worth / (rows.T @ price)) ** (1 / alpha)
    room = np.maximum(1 - rows @ y, 0.1)
    for _ in range(_STEPS):
        paid = rows.T @ price
        wrong = 1 - room - rows @ y
        gap = float(price @ room)
        # What is left is relative to what all flows pay; and rates fit.
        if gap <= _GAP * (paid @ y) and np.abs(wrong).max() <= 1e-12:
            return y
        mu = 0.1 * gap / len(room)
        give = y / (alpha * paid)
        # In units of sqrt(price / room), which evens out prices of all sizes.
        unit = np.sqrt(price / room)
        scaled = sparse.diags_array(unit) @ rows
        system = scaled @ sparse.diags_array(give) @ scaled.T + sparse.eye_array(len(room))
        target = unit * ((mu - price * room) / price - wrong)
        d_price = unit * _solve(system, target)
        d_room = (mu - price * room - room * d_price) / price
        step = min(1.0, 0.99 * min(_reach(price, d_price), _reach(room, d_room)))
        price, room = price + step * d_price, room + step * d_room
        y = (worth / (rows.T @ price)) ** (1 / alpha)
    message = f"the alpha-fair program was not solved in {_STEPS} steps; a smaller alpha may help"
    raise AckclockError(message)


_DENSE = 0.02
"""Part of the entries above which a matrix is solved as a dense one."""


def _solve(system: Any, target: Floats) -> Floats:
    """Solve a symmetric positive definite system, whose diagonal is made even first."""
    from scipy import sparse
    from scipy.linalg import cho_factor, cho_solve
    from scipy.sparse.linalg import splu

    unit = 1 / np.sqrt(system.diagonal())
    even = sparse.diags_array(unit) @ system @ sparse.diags_array(unit)
    if even.nnz > _DENSE * len(unit) ** 2:
        scaled_solution = cho_solve(cho_factor(even.toarray()), unit * target)
    else:
        scaled_solution = splu(even.tocsc()).solve(unit * target)
    return np.asarray(unit * scaled_solution)


def _reach(values: Floats, change: Floats) -> float:
    """How many times the change can be added before some value is 0."""
    falling = change < 0
    return float(np.min(-values[falling] / change[falling])) if falling.any() else np.inf


def _clarabel(program: _Program, alpha: float) -> Floats:
    """Solve it as a conic program; at 0 as the linear program it is."""
    import clarabel
    from scipy import sparse

    rows_of_net, worth = program
    n = len(worth)
    blocks, bounds = (
        [rows_of_net, -sparse.eye_array(n)],
        [np.ones(rows_of_net.shape[0]), np.zeros(n)],
    )
    linear = clarabel.NonnegativeConeT(rows_of_net.shape[0] + n)
    upper = sparse.vstack(blocks)
    if alpha == 0:
        solution = _run(upper, np.concatenate(bounds), [linear], -worth)
        return solution[:n]
    cones: list[Any]
    if alpha == 1:
        # (t, 1, y) in the exponential cone: t <= log y; most w t.
        cones, cost = [clarabel.ExponentialConeT()] * n, -worth
        slots, constant = ("t", "1", "y"), 1.0
    elif alpha < 1:
        # (y, 1, t) in the power cone: t <= y^(1 - alpha).
        cones = [clarabel.PowerConeT(1 - alpha)] * n
        cost, slots, constant = -worth / (1 - alpha), ("y", "1", "t"), 1.0
    else:
        # (y, t, 1) in the power cone: t >= y^(1 - alpha).
        cones = [clarabel.PowerConeT((alpha - 1) / alpha)] * n
        cost, slots, constant = worth / (alpha - 1), ("y", "t", "1"), 1.0
    rows = 3 * np.arange(n)
    column = {"y": np.arange(n), "t": n + np.arange(n)}
    entries = [(rows + k, column[slot]) for k, slot in enumerate(slots) if slot != "1"]
    cells = (np.concatenate([r for r, _ in entries]), np.concatenate([c for _, c in entries]))
    lower = sparse.csc_matrix((-np.ones(2 * n), cells), shape=(3 * n, 2 * n))
    right = np.zeros(3 * n)
    right[rows + slots.index("1")] = constant
    wide = sparse.hstack([upper, sparse.csc_matrix((upper.shape[0], n))])
    solution = _run(
        sparse.vstack([wide, lower]),
        np.concatenate([*bounds, right]),
        [linear, *cones],
        np.concatenate([np.zeros(n), cost]),
    )
    return solution[:n]


def _run(matrix: Any, right: Floats, cones: list[Any], cost: Floats) -> Floats:
    import clarabel
    from scipy import sparse

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    quadratic = sparse.csc_matrix((len(cost), len(cost)))
    solver = clarabel.DefaultSolver(
        quadratic, cost, sparse.csc_matrix(matrix), right, cones, settings
    )
    solution = solver.solve()
    status = str(solution.status)
    if status not in ("Solved", "AlmostSolved"):
        message = f"the alpha-fair program was not solved: Clarabel ended with {status}"
        raise AckclockError(message)
    return np.asarray(solution.x)
