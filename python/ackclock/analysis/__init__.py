"""Scores of allocations and of algorithms, each with its formula and source.

Functions of lists (`jain`, `spread`, ...) take the rates of one run. Functions of tables
(`fairness`, `competitive`, `harm_table`) take tidy Arrow tables, as sweeps give them, and group.
In the queries of papers the functions of `SQL` can be used on lists.
"""

from __future__ import annotations

from ackclock.analysis.ack_compression import ack_compression, compression_of
from ackclock.analysis.competitive import competitive
from ackclock.analysis.congestion import congested_users, congestion_events
from ackclock.analysis.fairness import (
    fairness,
    jain,
    legout_sigma,
    max_min_distance,
    max_min_share,
    spread,
)
from ackclock.analysis.harm import harm, harm_table
from ackclock.analysis.slowdown import slowdown_by_size
from ackclock.analysis.warm_up import WarmUp, find_warm_up

__all__ = [
    "SQL",
    "WarmUp",
    "ack_compression",
    "competitive",
    "compression_of",
    "congested_users",
    "congestion_events",
    "fairness",
    "find_warm_up",
    "harm",
    "harm_table",
    "jain",
    "legout_sigma",
    "max_min_distance",
    "max_min_share",
    "slowdown_by_size",
    "spread",
]

SQL = {
    "jain": (jain, 1),
    "spread": (spread, 1),
    "legout_sigma": (legout_sigma, 1),
    "max_min_distance": (max_min_distance, 2),
}
"""Functions that queries may call: name, function, number of lists that it takes."""
