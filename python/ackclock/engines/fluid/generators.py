"""The registries of what makes the networks and the traffic of fluid cases.

Any network of a packet scenario is one of a fluid case too; `NETS` holds those that only fluids
know. To add one: a `Generator` and its function in a separate module, and one line here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.engines.fluid import leaves, listed, patterns, ranked

if TYPE_CHECKING:
    from ackclock.engines.fluid.generator import Generator

__all__ = ["NETS", "TRAFFIC"]

NETS: dict[str, Generator] = {"links": listed.LINKS, "leaves": leaves.NET}
"""Networks that only fluid cases know, by ``kind``."""

TRAFFIC: dict[str, Generator] = {
    "listed": listed.FLOWS,
    "pattern": patterns.PATTERN,
    "matrix": patterns.MATRIX,
    "leaves": leaves.TRAFFIC,
    "ranked": ranked.RANKED,
}
"""Traffic of fluid cases by ``kind``."""
