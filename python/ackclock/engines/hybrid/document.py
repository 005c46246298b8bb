"""The form of hybrid cases: a packet scenario and its table ``background``."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ackclock.catalogue import schema
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["ENDS", "background_rules", "fill_defaults", "form_problems", "of_background", "rules"]

Data = dict[str, Any]

ENDS = ("id", "pair", "src", "dst", "between", "hosts", "route", "ack_route", "start", "stop")
"""Keys of a flow that the background decides, and not its template."""


def _flow_rules() -> Data:
    flow = schema.definition("Flow")
    known = {key: value for key, value in flow["properties"].items() if key not in ENDS}
    return {**flow, "properties": known, "description": "What its flows are as packets: cc, tcp."}


@cache
def background_rules() -> Data:
    """JSON Schema of the table ``background``."""
    from ackclock.engines.fluid import document

    fluid = document.rules()["properties"]
    properties: Data = {
        "traffic": fluid["traffic"],
        "arrivals": fluid["arrivals"],
        "per_pair": {
            "type": "integer",
            "minimum": 1,
            "maximum": 10**9,
            "default": 1,
            "description": "Flows of each pair of `traffic`, which share its demand.",
        },
        "flow": _flow_rules(),
        "packets": {
            "type": "integer",
            "minimum": 0,
            "maximum": 10**6,
            "default": 200,
            "description": "Background flows that run as packets, at least, at each full link which"
            " the scenario's own flows cross, so that its queue behaves as with many flows. Beside"
            " flows of another control there are up to 5000, or this if it is more.",
        },
        "share": {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "default": 0.1,
            "description": "With `arrivals`: the share of the transfers that run as packets.",
        },
        "bias": {
            "type": ["object", "string"],
            "properties": {
                "rtt": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": 3,
                    "description": "Exponent of the round-trip time.",
                },
                "links": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": 3,
                    "description": "Exponent of the number of full links crossed.",
                },
            },
            "required": ["rtt", "links"],
            "additionalProperties": False,
            "default": "fitted",
            "description": "Flows share a bottleneck in proportion to RTT to the minus `rtt`, times"
            " the number of full links that they cross to the minus `links`; both 0: evenly."
            ' "fitted": as the packets of the case itself show.',
        },
        "update": {
            "type": ["number", "string"],
            "exclusiveMinimum": 0,
            "x-quantity": "duration",
            "x-unit": "s",
            "default": 1.0,
            "description": "With `arrivals`: how often the rates that packets have are set anew.",
        },
    }
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "description": "The flows that are rates.",
    }


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
    known = background_rules()["properties"].items()
    return {**{k: v["default"] for k, v in known if "default" in v}, **background}


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
