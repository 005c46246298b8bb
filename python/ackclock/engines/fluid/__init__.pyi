from .case import (
    FluidCase,
    FluidRun,
)
from .graph import (
    Graph,
    Traffic,
)
from .net import (
    FluidNet,
)
from .outcome import (
    Accounts,
    Allocation,
    Change,
    Rates,
    Routers,
    Settled,
)

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
