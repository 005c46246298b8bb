"""The kind of network "path"."""

from __future__ import annotations

import random
from typing import Any

from ackclock._util.units import parse
from ackclock.catalogue.network_kinds import NetworkKind
from ackclock.scenario.paths.dumbbell import RULES, with_reverse
from ackclock.scenario.paths.models import BACK, PATHS

__all__ = ["PATH"]

Data = dict[str, Any]

_TEXT = (
    "A dumbbell whose bottleneck is the model of an access network, by its name; its numbers"
    " with their sources: " + " ".join(f"{name}: {model.text}" for name, model in PATHS.items())
)

_RULES: Data = {
    "path": {"enum": [*PATHS], "description": "Name of the path."},
    **RULES,
    "buffer": {
        "x-quantity": "buffer size",
        "description": "Buffer of the bottleneck. Left out: that of the model.",
    },
}


def _expand(data: Data) -> Data:
    """Copy a scenario with the path drawn from its seed."""
    net = data["net"]
    seed = int(data.get("seed", 1))
    duration = parse(data["duration"], "duration")
    drawn = PATHS[net["path"]].make(random.Random(f"path {net['path']} {seed}"), duration)
    back = drawn.pop(BACK, None)
    given = {key: net[key] for key in ("qdisc", "buffer") if key in net}
    made = {"kind": "dumbbell", "pairs": net.get("pairs", 1), **drawn, **given}
    return with_reverse(data, made, "rate", back)


PATH = NetworkKind(_TEXT, _RULES, ("path",), expand=_expand)
