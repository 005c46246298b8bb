from .case import (
    HybridCase,
)
from .outcome import (
    HybridRun,
)

__all__ = [
    "HybridCase",
    "HybridRun",
]
