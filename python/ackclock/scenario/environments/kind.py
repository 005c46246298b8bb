"""The kind of network "environment"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock.catalogue.network_kinds import NetworkKind
from ackclock.scenario.environments.form import RULES, TEXT

if TYPE_CHECKING:
    from ackclock.case import Outcome

    Data = dict[str, Any]

__all__ = ["ENVIRONMENT"]


def _expand(data: Data) -> Data:
    from ackclock.scenario.environments.expansion import expand

    return expand(data)


def _annotate(outcome: Outcome, data: Data) -> None:
    from ackclock.scenario.environments.scoring import annotate

    annotate(outcome, data)


ENVIRONMENT = NetworkKind(TEXT, RULES, ("name",), expand=_expand, annotate=_annotate)
