"""Mutants: their source, their tests."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Fate", "UnmeasuredError"]


class Fate(NamedTuple):
    """A mutant and what became of it."""

    name: str
    outcome: str  # "killed", "survived" or "no mutant", where it does not compile


class UnmeasuredError(Exception):
    """Mutants cannot be tested."""
