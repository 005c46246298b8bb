from . import (
    fluid,
    model,
)

__all__ = [
    "fluid",
    "model",
]
