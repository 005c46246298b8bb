"""How good a queue discipline is, yours for example: the scenarios of RFC 7928.

`evaluate_queue` runs a discipline beside drop tail and the registry's in each of `SCENARIOS` and
says what the runs support.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.evaluate.queues.run import QueueEvaluation, evaluate_queue
    from ackclock.evaluate.queues.scenarios import SCENARIOS

__all__ = ["SCENARIOS", "QueueEvaluation", "evaluate_queue"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from ackclock.evaluate.queues import run, scenarios

        return getattr(scenarios if name == "SCENARIOS" else run, name)
    message = f"module 'ackclock.evaluate.queues' has no attribute {name!r}"
    raise AttributeError(message)
