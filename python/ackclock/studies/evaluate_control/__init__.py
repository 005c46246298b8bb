"""How good a congestion control is, yours for example: the method of Akella et al. (2002).

`evaluate` runs a control beside six others in every router and loss recovery of the paper and in
environments of varying bandwidth; `judged` says what the runs support.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.studies.evaluate_control.run import Evaluation, evaluate

__all__ = ["Evaluation", "evaluate"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from ackclock.studies.evaluate_control import run

        return getattr(run, name)
    message = f"module 'ackclock.studies.evaluate_control' has no attribute {name!r}"
    raise AttributeError(message)
