"""The form of hybrid cases: a packet scenario and its table ``background``."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from ackclock.catalogue import schema
from ackclock.catalogue.entries import Duration, Key, defaults_of, schema_of
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["ENDS", "background_rules", "fill_defaults", "form_problems", "of_background", "rules"]

Data = dict[str, Any]

ENDS = ("id", "pair", "src", "dst", "between", "hosts", "route", "ack_route", "start", "stop")
"""Keys of a flow that the background decides, and not its template."""


class BiasTable(TypedDict):
    """Exponents by which flows share a bottleneck."""

    rtt: Annotated[float, "Exponent of the round-trip time.", Key(minimum=0, maximum=3)]
    links: Annotated[
        float, "Exponent of the number of full links crossed.", Key(minimum=0, maximum=3)
    ]


class Background(TypedDict, total=False):
    """The flows that are rates."""

    traffic: Annotated[Mapping[str, Any], "The flows, as of a fluid case."]
    arrivals: Annotated[Mapping[str, Any], "Finite flows, as of a fluid case."]
    per_pair: Annotated[
        int,
        "Flows of each pair of `traffic`, which share its demand.",
        Key(minimum=1, maximum=10**9, default=1),
    ]
    flow: Annotated[Mapping[str, Any], "What its flows are as packets: cc, tcp."]
    packets: Annotated[
        int,
        "Background flows that run as packets, at least, at each full link which the scenario's own"
        " flows cross, so that its queue behaves as with many flows. Beside flows of another"
        " control there are up to 5000, or this if it is more.",
        Key(minimum=0, maximum=10**6, default=200),
    ]
    share: Annotated[
        float,
        "With `arrivals`: the share of the transfers that run as packets.",
        Key(minimum=0, maximum=1, default=0.1),
    ]
    bias: Annotated[
        Any,
        Key(**{**schema_of(BiasTable), "type": ["object", "string"], "default": "fitted"}),
        "Flows share a bottleneck in proportion to RTT to the minus `rtt`, times the number of full"
        ' links that they cross to the minus `links`; both 0: evenly. "fitted": as the packets of'
        " the case itself show.",
    ]
    update: Annotated[
        Duration,
        "With `arrivals`: how often the rates that packets have are set anew.",
        Key(exclusiveMinimum=0, default=1.0),
    ]


def _flow_rules() -> Data:
    flow = schema.definition("Flow")
    known = {key: value for key, value in flow["properties"].items() if key not in ENDS}
    about = schema_of(Background)["properties"]["flow"]["description"]
    return {**flow, "properties": known, "description": about}


@cache
def background_rules() -> Data:
    """JSON Schema of the table ``background``."""
    from ackclock.engines.fluid import document

    fluid = document.rules()["properties"]
    form = schema_of(Background)
    others = {key: fluid[key] for key in ("traffic", "arrivals")} | {"flow": _flow_rules()}
    return {**form, "properties": {**form["properties"], **others}}


@cache
def rules() -> Data:
    """JSON Schema of a hybrid case without its key ``engine``."""
    from ackclock.engines.fluid import document

    packet = schema.scenario()
    packet_keys = {
        k: v for k, v in packet["properties"].items() if k not in ("traffic", "groups", "switches")
    }
    return {
        "type": "object",
        "properties": {**packet_keys, "background": background_rules()},
        "required": ["net", "duration", "flows", "background"],
        "additionalProperties": False,
        "$defs": document.rules()["$defs"],
    }


def form_problems(data: Data, typed: Iterable[str] | None = None) -> list[Problem]:
    """Find every problem of form in the table ``background``; the scenario checks the rest.

    Parameters
    ----------
    data
        The document without ``engine``.
    typed
        As of the fluid engine's function of this name.
    """
    from ackclock.catalogue.form import parameter_problems
    from ackclock.engines.fluid.document import traffic_problems

    case_rules = rules()
    only = {
        "type": "object",
        "properties": {"background": case_rules["properties"]["background"]},
        "required": ["background"],
        "$defs": case_rules["$defs"],
    }
    background_data = {key: data[key] for key in ("background",) if key in data}
    problems = parameter_problems(only, background_data, typed=typed)
    background = data.get("background")
    for key in ("traffic", "groups", "switches"):
        if key in data:
            message = (
                '"switches" is not a key of a hybrid case: rates do not fill the memory of a switch'
                if key == "switches"
                else f'"{key}" is not a key of a hybrid case: its own flows are listed under'
                ' "flows", and others are in "background"'
            )
            problems.append(Problem(key, message))
    if not isinstance(background, dict):
        return problems
    problems += _in_background(traffic_problems(background))
    if background.get("arrivals") is not None:
        problems += [
            Problem(f"background.{key}", f"is for flows that last; expected no {key} with arrivals")
            for key in ("per_pair", "packets")
            if key in background
        ]
    bias = background.get("bias")
    if isinstance(bias, str) and bias != "fitted":
        message = f'is "{bias}"; expected "fitted" or a table with rtt and links'
        problems.append(Problem("background.bias", message))
    return problems


def fill_defaults(background: Data) -> Data:
    """Write defaults into a table ``background``.

    Parameters
    ----------
    background
        Right in form.
    """
    return {**defaults_of(schema_of(Background)), **background}


@contextmanager
def of_background() -> Iterator[None]:
    """Name the places of the fluid case's problems as the hybrid case has them."""
    try:
        yield
    except ScenarioError as error:
        raise ScenarioError(_in_background(error.problems)) from None


def _in_background(problems: Iterable[Problem]) -> list[Problem]:
    return [
        p if p.path.startswith("net") else replace(p, path=f"background.{p.path}".rstrip("."))
        for p in problems
    ]
