"""The worst bandwidth for a congestion control, or the best: found, shrunk, saved, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.studies.adversary.search import Found, adversary

__all__ = ["Found", "adversary"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from ackclock.studies.adversary import search

        return getattr(search, name)
    message = f"module 'ackclock.studies.adversary' has no attribute {name!r}"
    raise AttributeError(message)
