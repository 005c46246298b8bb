"""Packages that extras of ackclock install, and the sentence where one is missing."""

from __future__ import annotations

from importlib.util import find_spec

from ackclock.errors import how_to_install

__all__ = ["EXTRA_OF", "describe_missing", "missing_of"]

EXTRA_OF = {
    "anywidget": "notebook",
    "clarabel": "papers",
    "cvc5": "prove",
    "distributed": "cluster",
    "dpkt": "read",
    "duckdb": "papers",
    "gymnasium": "gym",
    "matplotlib": "papers",
    "networkx": "papers",
    "pandas": "pandas",
    "perfetto": "perfetto",
    "pettingzoo": "gym",
    "scipy": "papers",
    "sklearn": "papers",
    "topohub": "papers",
    "xarray": "xarray",
    "z3": "prove",
}
"""By module, the extra that installs it."""


def describe_missing(error: BaseException) -> str | None:
    """Say which extra has a module that could not be imported; None if it is of no extra.

    Parameters
    ----------
    error
        What an import raised.
    """
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return None
    module = error.name.partition(".")[0]
    return _sentence(module) if module in EXTRA_OF else None


def missing_of(extra: str) -> str | None:
    """Say which module of an extra is missing; None if none is.

    Parameters
    ----------
    extra
        Its name.
    """
    modules = (module for module, other in EXTRA_OF.items() if other == extra)
    return next((_sentence(module) for module in modules if find_spec(module) is None), None)


def _sentence(module: str) -> str:
    return f"{module} is not installed; {how_to_install(EXTRA_OF[module])}"
