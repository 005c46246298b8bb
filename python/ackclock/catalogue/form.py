"""Checks the form of documents by the core's rules, all problems at once.

The rules are JSON Schema: the core's of a scenario, with what Python adds to it, and those of other
documents. Meaning (does node X exist?) is checked by the core afterwards.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock._util import paths
from ackclock._util.units import with_unit
from ackclock.catalogue import schema
from ackclock.catalogue.guest_programs import place_guests
from ackclock.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Probe = Callable[[schema.Data], list[Problem]]

__all__ = [
    "default_with_units",
    "hidden_problems",
    "parameter_problems",
    "problems",
    "range_words",
    "with_units",
]

_RANGE = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "x-unit",
    "x-quantity",
)


def range_words(rules: schema.Data) -> str | None:
    """Describe a value's range with its unit, as the core does; None if it has no bound.

    Parameters
    ----------
    rules
        The value's JSON Schema.
    """
    return _core.range_words(json.dumps({key: rules[key] for key in _RANGE if key in rules}))


@cache
def _rooms() -> _core.Rooms:
    return _core.Rooms.offered()


@lru_cache(32)
def _scenario_form(net_kind: str | None = None) -> _core.Form:
    return _core.Form(json.dumps(schema.scenario(net_kind)), _rooms())


def _form_of(data: schema.Data) -> _core.Form:
    """The form of scenarios whose network is of the kind of this one's."""
    net = data.get("net") if isinstance(data, dict) else None
    kind = net.get("kind") if isinstance(net, dict) else None
    return _scenario_form(kind if isinstance(kind, str) else None)


_forms: dict[int, tuple[Mapping[str, Any], _core.Form]] = {}
"""Forms by the identity of their rules, which live as long as they do here."""

_MOST_FORMS = 1000


def _form(rules: Mapping[str, Any]) -> _core.Form:
    cached = _forms.get(id(rules))
    if cached is not None:
        return cached[1]
    text = json.dumps(rules)
    if "$defs" not in rules and '"$ref"' in text:
        text = json.dumps({**rules, "$defs": schema.scenario()["$defs"]})
    if len(_forms) >= _MOST_FORMS:
        _forms.clear()
    form = _core.Form(text, _rooms())
    _forms[id(rules)] = (rules, form)
    return form


def problems(
    data: schema.Data,
    file: str | None = None,
    *,
    typed: Iterable[str] | None = None,
    probe: Probe | None = None,
) -> list[Problem]:
    """Find every problem of form.

    Parameters
    ----------
    data
        The scenario as plain data; guests may be named in the place of controls.
    file
        Where it came from, for the messages.
    typed
        Paths of what a person typed, where a quantity needs its unit; ``""`` is all. Left out: a
        program wrote the scenario, and numbers are of SI units.
    probe
        Finds the problems at first sight of a scenario of valid form. With it also what is hidden
        by problems of form is found.

    Returns
    -------
    list of Problem
        In the order of the scenario; empty if the form is valid.

    Raises
    ------
    ScenarioError
        The command of a guest cannot be read.
    """
    data = place_guests(data)
    text = _form_of(data).problems(data, list(typed or ()), probe and _as_text(probe))
    return _read(text, file)


def hidden_problems(data: schema.Data, problem_paths: Iterable[str], probe: Probe) -> list[Problem]:
    """Find the problems of a scenario that those at other places hide.

    Parameters
    ----------
    data
        The scenario as plain data.
    problem_paths
        Paths of the problems that are known.
    probe
        As of `problems`.
    """
    return _read(_form_of(data).hidden(data, list(problem_paths), _as_text(probe)))


def _as_text(probe: Probe) -> Callable[[str], str]:
    def call(text: str) -> str:
        known = ("path", "message", "value", "range", "nearest")
        return json.dumps(
            [{key: getattr(p, key) for key in known} for p in probe(json.loads(text))]
        )

    return call


def _read(text: str, file: str | None = None) -> list[Problem]:
    read = [Problem(**item) for item in json.loads(text)]
    return read if file is None else [replace(problem, file=file) for problem in read]


def parameter_problems(
    rules: schema.Data, data: schema.Data, *, typed: Iterable[str] | None = None
) -> list[Problem]:
    """Find every problem in the parameters of one algorithm, network or flow, or in a document.

    Parameters
    ----------
    rules
        Its JSON Schema.
    data
        The parameters as plain data.
    typed
        As of `problems`.
    """
    return _read(_form(rules).problems(data, list(typed or ())))


def with_units(data: schema.Data) -> schema.Data:
    """Copy a scenario with units written to its plain numbers, as a person would type it.

    Parameters
    ----------
    data
        The scenario as plain data, of valid form.
    """
    result: schema.Data = _with_units(_form_of(data), data)
    return result


def default_with_units(field: schema.Data, rules: schema.Data) -> Any:
    """Copy a parameter's default with units written to its plain numbers, at any depth.

    Parameters
    ----------
    field
        JSON Schema of the parameter.
    rules
        The schema that it is part of.
    """
    definitions = rules.get("$defs") or schema.scenario()["$defs"]
    form = _core.Form(json.dumps({**field, "$defs": definitions}), _rooms())
    return _with_units(form, field["default"])


def _with_units(form: _core.Form, data: Any) -> Any:
    result = {"": copy.deepcopy(data)}
    for path, quantity in form.bare(data):
        steps: list[Any] = ["", *(paths.split(path) if path else ())]
        table: Any = result
        for step in steps[:-1]:
            table = table[step]
        table[steps[-1]] = with_unit(table[steps[-1]], quantity)
    return result[""]
