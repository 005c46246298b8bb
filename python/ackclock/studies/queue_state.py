"""How much state a queue discipline keeps besides packets, counted in runs.

Constant-rate flows overload a link, so that all of them have packets waiting; what the discipline
keeps at the end is counted with a number of flows and with twice as many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["QueueState", "queue_state"]

FLOWS = 20
"""Flows of the smaller run."""


@dataclass(frozen=True)
class QueueState:
    """What a discipline keeps, per flow and besides."""

    flows: tuple[int, int]
    """Flows or classes of which it kept something, with `FLOWS` flows and with twice as many."""
    bytes: tuple[int, int]
    """Bytes kept in the two runs, as the core holds them."""

    @property
    def bytes_per_flow(self) -> float:
        """Bytes that each flow adds."""
        return (self.bytes[1] - self.bytes[0]) / FLOWS

    @property
    def fixed_bytes(self) -> float:
        """Bytes that do not depend on the number of flows."""
        return 2 * self.bytes[0] - self.bytes[1]

    def __str__(self) -> str:
        """Describe it in a few words."""
        if self.flows[1] == self.flows[0] and self.bytes[1] == self.bytes[0]:
            return f"{self.bytes[0]} B, nothing per flow"
        if self.fixed_bytes < 0:  # tables that grow in steps, or begin with the second flow
            return f"{self.bytes[0]} B with {FLOWS} flows, {self.bytes[1]} B with {2 * FLOWS}"
        return f"{self.fixed_bytes:.0f} B and {self.bytes_per_flow:.0f} B per flow"


def queue_state(qdisc: str | Mapping[str, Any]) -> QueueState:
    """Count the state of a queue discipline in two short runs.

    Args:
        qdisc: its name, or a table with `kind` and parameters.
    """
    small, large = (_run(qdisc, flows) for flows in (FLOWS, 2 * FLOWS))
    return QueueState((small[0], large[0]), (small[1], large[1]))


def _run(qdisc: str | Mapping[str, Any], flows: int) -> tuple[int, int]:
    from ackclock.scenario.scenario import Scenario

    link = {"a": "a", "b": "b", "rate": "10 Mbps", "delay": "1 ms", "buffer": "200 pkt"}
    scenario = Scenario.from_data(
        {
            "net": {"kind": "graph", "links": [{**link, "qdisc": qdisc}]},
            "flows": [
                {
                    "src": "a",
                    "dst": "b",
                    "count": flows,
                    "stagger": "0.1 ms",
                    "source": {"kind": "cbr", "rate": "1 Mbps", "packet": "1000 B"},
                }
            ],
            "duration": "0.5 s",
        }
    )
    links = scenario.run().links
    at = links.column("id").to_pylist().index("a->b")
    return links.column("state_flows")[at].as_py(), links.column("state_bytes")[at].as_py()
