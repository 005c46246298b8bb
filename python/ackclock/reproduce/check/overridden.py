"""Finds values of studies that an unstated parameter replaces: an edit there does nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ackclock._util import paths
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ackclock.reproduce.paper import PaperData, Study

__all__ = ["find_overridden"]


def find_overridden(paper: PaperData) -> Iterator[Problem]:
    """Find values that a study's file states otherwise than the default that replaces them.

    Parameters
    ----------
    paper
        As read.

    Yields
    ------
    Problem
        One for each value, in the study's file.
    """
    for parameter in paper.parameters.values():
        for target in parameter.sets:
            study = paper.studies.get(target.study)
            if study is None or (target.values and str(parameter.default) not in target.values):
                continue
            default = target.value(parameter.default)
            for place, value in _find_stated(study, target.path):
                if _plain(value) != _plain(default):
                    message = (
                        f"is {_write_value(value)}, which does nothing: the parameter"
                        f' "{parameter.id}" of unstated.toml sets {_write_value(default)} there;'
                        " change its default, or leave this value out"
                    )
                    yield Problem(place, message, str(study.file))


def _find_stated(study: Study, path: str) -> Iterator[tuple[str, Any]]:
    """Values that a study's file has where a path leads, in its scenario and in its tiers."""
    try:
        steps = paths.split(path)
    except ScenarioError:
        # What is no path is reported where it is set.
        return
    document = study.document
    is_of_file = steps[0] in ("scenario", "over", "zip", "list", "reps")
    start = document if is_of_file else document.get("scenario", {})
    where = path if is_of_file else f"scenario.{path}"
    yield from ((where, value) for value in _values(start, steps))
    for name, tier in document.get("tiers", {}).items():
        if is_of_file:
            yield from ((f"tiers.{name}.{path}", value) for value in _values(tier, steps))
        elif path in tier.get("set", {}):
            yield f'tiers.{name}.set["{path}"]', tier["set"][path]


def _values(place: Any, steps: Sequence[Any]) -> Iterator[Any]:
    if not steps:
        yield place
        return
    step, *others = steps
    if step is None:
        entries = place if isinstance(place, list) else []
    elif isinstance(step, paths.Id) and isinstance(place, list):
        found = paths.position(place, step)
        entries = [] if found is None else [place[found]]
    else:
        key = step.name if isinstance(step, paths.Id) else step
        try:
            entries = [place[key]]
        except (KeyError, IndexError, TypeError):
            entries = []
    for entry in entries:
        yield from _values(entry, others)


def _plain(value: Any) -> Any:
    """A value in one form: an algorithm by name alone is a table of its kind; 1 is 1.0."""
    if isinstance(value, dict):
        names = {key: _plain(item) for key, item in value.items()}
        return names["kind"] if set(names) == {"kind"} else names
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _write_value(value: Mapping[str, Any] | Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
