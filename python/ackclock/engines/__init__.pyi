from . import (
    fluid,
    hybrid,
    model,
)

__all__ = [
    "fluid",
    "hybrid",
    "model",
]
