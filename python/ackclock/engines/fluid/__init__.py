"""The fluid engine: rates in the steady state, on any network with capacities and routed flows.

``FluidNet`` is the engine on arrays; ``FluidCase`` is a document (TOML, ``engine = "fluid"``) that
runs, sweeps and is stored like a packet scenario::

    from ackclock.engines.fluid import FluidNet

    net = FluidNet.from_routes([20, 20, 20, 20, 2], [[0, 2, 3], [1, 2, 4]])
    print(net.max_min())
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.engines.fluid.case import FluidCase, FluidRun
    from ackclock.engines.fluid.generators import Graph, Traffic
    from ackclock.engines.fluid.net import FluidNet
    from ackclock.engines.fluid.outcome import Accounts, Allocation, Change, Rates, Routers, Settled

__all__ = [
    "Accounts",
    "Allocation",
    "Change",
    "FluidCase",
    "FluidNet",
    "FluidRun",
    "Graph",
    "Rates",
    "Routers",
    "Settled",
    "Traffic",
]

_HOME = {
    "Accounts": "outcome",
    "Allocation": "outcome",
    "Change": "outcome",
    "FluidCase": "case",
    "FluidNet": "net",
    "FluidRun": "case",
    "Graph": "generators",
    "Rates": "outcome",
    "Routers": "outcome",
    "Settled": "outcome",
    "Traffic": "generators",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        module = importlib.import_module(f"ackclock.engines.fluid.{_HOME[name]}")
        globals()[name] = found = getattr(module, name)
        return found
    message = f"module 'ackclock.engines.fluid' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted(__all__)
