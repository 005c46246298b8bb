"""Closed forms, by name: what the engine ``model`` evaluates.

A model is a function of NumPy arrays of equal length, one value per point of a grid, with its
formula and source in its documentation and the ranges of its parameters in `ranges` before it. It
gives a table of columns by name: one row per point, or, with a column ``point`` that says which,
any number.

To add a model: write the function, and one line in `MODELS`.
"""

from __future__ import annotations

import inspect
import pkgutil
from typing import TYPE_CHECKING, Any

from ackclock.errors import find_by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    Columns = Mapping[str, npt.NDArray[Any]]

__all__ = ["MODELS", "model", "parameters"]

MODELS: dict[str, str] = {
    "chiu_jain_conditions": "ackclock.engines.model.linear_conditions:chiu_jain_conditions",
    "chiu_jain_phase": "ackclock.engines.model.linear:chiu_jain_phase",
    "fairness_bound": "ackclock.engines.model.green:fairness_bound",
    "green_drop": "ackclock.engines.model.green:green_drop",
    "green_operating_point": "ackclock.engines.model.green:green_operating_point",
    "linear_sequence": "ackclock.engines.model.linear:linear_sequence",
    "linear_steady_state": "ackclock.engines.model.linear:linear_steady_state",
    "loss_load_equilibrium": "ackclock.engines.model.loss_load:loss_load_equilibrium",
    "pftk": "ackclock.engines.model.pftk:pftk",
    "poisson_users": "ackclock.engines.model.selfish:poisson_users",
    "selfish_users": "ackclock.engines.model.selfish:selfish_users",
    "several_connections": "ackclock.engines.model.selfish:several_connections",
    "square_root_law": "ackclock.engines.model.loss_throughput:square_root_law",
    "ten_percent_rules": "ackclock.engines.model.linear_conditions:ten_percent_rules",
    "fast_sequential": "ackclock.engines.model.fast:sequential",
    "fast_sequential_flows": "ackclock.engines.model.fast:sequential_flows",
    "fast_joining": "ackclock.engines.model.fast:joining",
    "fast_correction": "ackclock.engines.model.fast_correction:correction",
    "fast_equilibrium": "ackclock.engines.model.fast_queue:equilibrium",
    "fast_rate_targets": "ackclock.engines.model.fast:rate_targets",
    "fast_fluid": "ackclock.engines.model.fast_dynamics:fluid",
    "fast_stability": "ackclock.engines.model.fast_dynamics:stability",
}
"""Models by name, as ``module:function``; modules are imported on first use."""


def model(name: str) -> Callable[..., Columns]:
    """Find a model.

    Parameters
    ----------
    name
        A key of `MODELS`.

    Raises
    ------
    UnsupportedError
        There is no such model.
    """
    function: Callable[..., Columns] = pkgutil.resolve_name(find_by_name(name, MODELS, "model"))
    return function


def parameters(name: str) -> dict[str, Any]:
    """Parameters of a model with their defaults; `inspect.Parameter.empty` where there is none.

    Parameters
    ----------
    name
        A key of `MODELS`.
    """
    signature = inspect.signature(model(name))
    return {key: parameter.default for key, parameter in signature.parameters.items()}
