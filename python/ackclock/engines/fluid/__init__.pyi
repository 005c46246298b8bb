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
    Rates,
    Routers,
    Senders,
    Settled,
)

__all__ = [
    "Accounts",
    "FluidCase",
    "FluidNet",
    "FluidRun",
    "Graph",
    "Rates",
    "Routers",
    "Senders",
    "Settled",
    "Traffic",
]
