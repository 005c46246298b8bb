"""How good a queue discipline is, yours for example: the scenarios of RFC 7928.

`evaluate_queue` runs a discipline beside drop tail and the registry's in each of `SCENARIOS` and
says what the runs support.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.studies.evaluate_queue.run import QueueEvaluation, evaluate_queue
    from ackclock.studies.evaluate_queue.scenarios import SCENARIOS

__all__ = ["SCENARIOS", "QueueEvaluation", "evaluate_queue"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from ackclock.studies.evaluate_queue import run, scenarios

        return getattr(scenarios if name == "SCENARIOS" else run, name)
    message = f"module 'ackclock.studies.evaluate_queue' has no attribute {name!r}"
    raise AttributeError(message)
