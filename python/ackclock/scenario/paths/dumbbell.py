"""What the kinds of network that give a dumbbell of one path share."""

from __future__ import annotations

from typing import Any

__all__ = ["RULES", "with_reverse"]

Data = dict[str, Any]

RULES: Data = {
    "pairs": {
        "type": "integer",
        "format": "uint32",
        "minimum": 1,
        "maximum": 10_000,
        "default": 1,
        "description": "Number of host pairs.",
    },
    "qdisc": {
        "$ref": "#/$defs/Spec",
        "x-room": "qdisc",
        "default": "fifo",
        "description": "Queue discipline of the bottleneck, towards the right.",
    },
}
"""Schema of the keys that a dumbbell has from the user."""


def with_reverse(data: Data, net: Data, key: str, value: Any) -> Data:
    """Copy a scenario with a dumbbell whose link from right to left has another setting.

    Parameters
    ----------
    data
        The scenario.
    net
        The dumbbell.
    key, value
        The setting, a key of ``[[links]]``; None: as from left to right.
    """
    scenario = {**data, "net": net}
    if value is not None:
        # Changes that the scenario names come after, and so count.
        scenario["links"] = [{"link": "r1->r0", key: value}, *data.get("links", ())]
    return scenario
