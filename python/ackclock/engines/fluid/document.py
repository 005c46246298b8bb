"""The form of fluid cases: what a document may say, and what it says after defaults.

The rules are a JSON Schema made of the registries, checked like those of packet scenarios, so that
problems are reported in the same form.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Required, TypedDict

import numpy as np

from ackclock.catalogue import schema
from ackclock.catalogue.entries import Algorithm, Key, defaults_of, schema_of
from ackclock.engines.fluid import routing
from ackclock.engines.fluid.arrivals import Arrivals, ListedArrivals, PoissonArrivals
from ackclock.engines.fluid.generators import NETS, TRAFFIC
from ackclock.engines.fluid.graph import Graph, Traffic
from ackclock.engines.fluid.systems import System
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ackclock.engines.fluid.generator import Generator

__all__ = [
    "FILE_NETS",
    "fill_defaults",
    "form_problems",
    "graph",
    "names_files",
    "plain_net",
    "plain_traffic",
    "rules",
    "traffic",
    "traffic_problems",
]

Data = dict[str, Any]

FILE_NETS = ("topohub", "graphml", "csv")
"""Networks of packet scenarios that name files or packages."""

Sharing = Annotated[Algorithm, Key(x_room="sharing")]
Policy = Annotated[Algorithm, Key(x_room="policy")]


class Settling(TypedDict, total=False):
    """When senders and links have settled."""

    tolerance: Annotated[
        float,
        "Change of a demand, relative to the sender's link, below which it is settled (epsilon of"
        " the paper, unstated there).",
        Key(exclusiveMinimum=0, default=1e-6),
    ]
    damping: Annotated[
        float,
        "Part of each change that senders take over.",
        Key(exclusiveMinimum=0, maximum=1, default=1.0),
    ]
    least_damping: Annotated[
        float,
        "Where demands oscillate, damping is halved, but not below this.",
        Key(exclusiveMinimum=0, maximum=1, default=1 / 64),
    ]
    rounds: Annotated[int, "Most rounds of senders.", Key(minimum=1, default=2000)]
    sweep_tolerance: Annotated[
        float,
        "Change of a rate, relative to the link, below which a link has settled; counts only where"
        " links are not all max-min.",
        Key(exclusiveMinimum=0, default=1e-12),
    ]
    sweep_limit: Annotated[
        int,
        "Most sweeps over links that feed each other in a circle.",
        Key(minimum=1, default=2000),
    ]


class RouterRules(TypedDict, total=False):
    """How links share among flows."""

    sharing: Annotated[Sharing, "Rule of links that leave the nodes", Key(default="max-min")]
    elsewhere: Annotated[Sharing, "Rule of all other links. Left out: the same."]
    at: Annotated[list[str], "Nodes on whose outgoing links `sharing` holds. Left out: all."]


class FluidDocument(TypedDict, total=False):
    """A fluid case: a network, its flows, who decides their rates."""

    name: Annotated[str, "A name for titles and file names."]
    seed: Annotated[int, "Seed of the traffic, where it is drawn.", Key(minimum=0, default=1)]
    unit: Annotated[
        str,
        "Unit of capacities and rates, for labels only; under another than bit/s they are plain"
        " numbers.",
        Key(default="bit/s"),
    ]
    net: Required[Annotated[Mapping[str, Any], "The network."]]
    traffic: Annotated[Mapping[str, Any], "The flows."]
    arrivals: Annotated[
        Arrivals,
        "Finite flows that arrive and leave. Left out: the flows of the traffic last.",
    ]
    routing: Annotated[
        str,
        Key(enum=list(routing.ROUTING), default="hops"),
        "What routes minimise: links crossed, the sum of their weights, systems crossed, or these"
        " among the routes that policy allows.",
    ]
    equal_paths: Annotated[
        Literal["first", "hash"],
        "Which of several equal paths a flow takes: the first, or at each node the one that a hash"
        " of seed, ends and the flow's number among theirs chooses (ECMP).",
        Key(default="first"),
    ]
    paths: Annotated[
        routing.PathsTable,
        "Routes of pairs, for any traffic; other pairs take routes as by `routing`.",
    ]
    systems: Annotated[list[System], "Autonomous systems."]
    allocation: Annotated[
        Literal["senders", "max-min", "alpha-fair"],
        "Who decides rates: senders and routers; or rates are the max-min or the alpha-fair"
        " allocation of the whole network.",
        Key(default="senders"),
    ]
    alpha: Annotated[
        float,
        "Alpha of alpha-fair rates: 0, most in total; 1, proportional fairness.",
        Key(minimum=0, default=1.0),
    ]
    routers: Annotated[RouterRules, "How links share among flows."]
    sender: Annotated[Policy, "Policy of all senders.", Key(default="naive")]
    access: Annotated[
        int,
        "First hops on which a drop is not dead: 1 where sources are routers, 2 where they are"
        " hosts.",
        Key(minimum=0, default=1),
    ]
    solver: Annotated[Settling, "When senders and links have settled."]


def _kinds(generators: Mapping[str, Generator]) -> list[Data]:
    kinds = []
    for kind, generator in generators.items():
        form = schema_of(generator.form)
        properties = {"kind": {"const": kind}, **form["properties"]}
        kinds.append({**form, "properties": properties, "required": ["kind", *form["required"]]})
    return kinds


@cache
def rules() -> Data:
    """JSON Schema of a fluid case without its key ``engine``."""
    definitions = schema.scenario()["$defs"]
    form = schema_of(FluidDocument)
    kinds = {"net": [*definitions["Net"]["oneOf"], *_kinds(NETS)], "traffic": _kinds(TRAFFIC)}
    about = {key: form["properties"][key]["description"] for key in kinds}
    choices = {key: {"oneOf": kinds[key], "description": about[key]} for key in kinds}
    return {**form, "properties": {**form["properties"], **choices}, "$defs": definitions}


def form_problems(data: Data, typed: Iterable[str] | None = None) -> list[Problem]:
    """Find every problem of form.

    Parameters
    ----------
    data
        The document without ``engine``.
    typed
        Paths of what a person typed, where a rate in bit/s, a size or a delay needs its unit;
        ``""`` is all. Left out: a program wrote the document.
    """
    from ackclock.catalogue.form import parameter_problems

    if data.get("unit", "bit/s") != "bit/s":
        typed = None  # Rates are numbers of that unit.
    problems = [*parameter_problems(rules(), data, typed=typed), *traffic_problems(data)]
    if data.get("arrivals") is not None and data.get("allocation") == "alpha-fair":
        message = '"alpha-fair" is found for flows that last; expected max-min or senders'
        problems.append(Problem("allocation", message))
    return problems


def traffic_problems(data: Data) -> list[Problem]:
    """Find whether traffic is missing, or is there beside a trace that has it.

    Parameters
    ----------
    data
        Has ``traffic`` or ``arrivals``.
    """
    arrivals_table = data.get("arrivals")
    is_trace = isinstance(arrivals_table, dict) and arrivals_table.get("kind") == "trace"
    if is_trace and "traffic" in data:
        message = "a trace names its own pairs; expected no table traffic beside it"
        return [Problem("traffic", message)]
    if not is_trace and "traffic" not in data:
        return [Problem("", '"traffic" is missing (The flows)')]
    return []


def fill_defaults(data: Data) -> Data:
    """Write defaults into routers, sender, solver and traffic, so that equal questions look equal.

    Parameters
    ----------
    data
        A document of valid form.
    """
    result = dict(data)
    for key, default in defaults_of(rules()).items():
        result.setdefault(key, default)
    result["sender"] = _algorithm("policy", data.get("sender", "naive"))
    routers = dict(data.get("routers", {}))
    routers["sharing"] = _algorithm("sharing", routers.get("sharing", "max-min"))
    if "elsewhere" in routers:
        routers["elsewhere"] = _algorithm("sharing", routers["elsewhere"])
    result["routers"] = routers
    result["solver"] = {**defaults_of(schema_of(Settling)), **data.get("solver", {})}
    if "traffic" in data:
        form = TRAFFIC[data["traffic"]["kind"]].form
        result["traffic"] = {**defaults_of(schema_of(form)), **data["traffic"]}
    if "arrivals" in data:
        form = {"poisson": PoissonArrivals, "trace": ListedArrivals}[data["arrivals"]["kind"]]
        result["arrivals"] = {**defaults_of(schema_of(form)), **data["arrivals"]}
    if "systems" in data:
        result["systems"] = [
            {
                key: _algorithm({"sharing": "sharing", "sender": "policy"}[key], value)
                if key in ("sharing", "sender")
                else value
                for key, value in system.items()
            }
            for system in data["systems"]
        ]
    if result["allocation"] != "alpha-fair":
        result.pop("alpha")
    return result


def _algorithm(room: str, given: Any) -> Data:
    table = {"kind": given} if isinstance(given, str) else dict(given)
    properties = schema.catalogue()[room][schema.registry_name(room, table["kind"])]["params"].get(
        "properties", {}
    )
    table["kind"] = schema.registry_name(room, table["kind"])
    return {**{key: value["default"] for key, value in properties.items()}, **table}


def graph(net: Data, folder: Path) -> Graph:
    """Make the network.

    Parameters
    ----------
    net
        Table ``net``, right in form.
    folder
        What relative paths are relative to.

    Raises
    ------
    ScenarioError
        Every problem of its meaning.
    """
    import json

    from ackclock.catalogue.records import plain
    from ackclock.scenario.resolve_files import resolve

    if net["kind"] in NETS:
        net_graph: Graph = NETS[net["kind"]].make(_with_folder(net, NETS[net["kind"]], folder))
        return net_graph
    return _of_core(json.dumps(plain(resolve({"net": net}, folder)["net"])))


@lru_cache(maxsize=32)
def _of_core(net: str) -> Graph:
    """A network of the core. Runs of a sweep share it: drawing one takes longer than solving it."""
    import json

    from ackclock import _core

    try:
        layout = json.loads(_core.layout(net))
    except _core.InputError as error:
        core_problems = [Problem(**item) for item in json.loads(str(error))]
        raise ScenarioError(core_problems) from None
    number = {name: i for i, name in enumerate(layout["nodes"])}
    ends, capacity, cost, names = [], [], [], []
    for a, b, rate, back_rate, weight, name in layout["links"]:
        ends += [(number[a], number[b]), (number[b], number[a])]
        capacity += [rate, back_rate]
        cost += [weight, weight]
        names += [name, f"{name}:back"] if name else [f"{a}->{b}", f"{b}->{a}"]
    problems = [
        Problem("net", f"the link {name} has the capacity {value:g}; expected more than 0")
        for name, value in zip(names, capacity, strict=True)
        if value <= 0
    ]
    if problems:
        raise ScenarioError(problems)
    src, dst = np.array(ends, dtype=np.uint32).reshape(-1, 2).T
    arrays = (
        np.ascontiguousarray(src),
        np.ascontiguousarray(dst),
        np.array(capacity, dtype=np.float64),
        np.array(cost, dtype=np.float64),
    )
    hosts = None
    if layout["hosts"] is not None:
        hosts = np.array([number[name] for name in layout["hosts"]], dtype=np.uint32)
        hosts.setflags(write=False)
    for array in arrays:
        array.setflags(write=False)
    return Graph(tuple(layout["nodes"]), *arrays, links=tuple(names), hosts=hosts)


def traffic(table: Data, network: Graph, seed: int, folder: Path) -> Traffic:
    """Make the flows.

    Parameters
    ----------
    table
        Table ``traffic``, right in form.
    network
        The network.
    seed
        For what is drawn.
    folder
        What relative paths are relative to.

    Raises
    ------
    ScenarioError
        Every problem of its meaning.
    """
    generator = TRAFFIC[table["kind"]]
    flows: Traffic = generator.make(_with_folder(table, generator, folder), network, seed)
    return flows


def _with_folder(given: Data, generator: Generator, folder: Path) -> Data:
    defaults = defaults_of(schema_of(generator.form))
    extra: Data = {"_folder": folder} if generator.names_files else {}
    if generator.nests:
        extra["_make"] = partial(_read_nested, folder=folder)
    return {**defaults, **given, **extra}


def _read_nested(parameters: Data, folder: Path) -> tuple[Graph, Traffic]:
    """The network and the traffic that a network of fluids holds, checked."""
    from ackclock.catalogue.form import parameter_problems

    case_rules = rules()
    inner = {
        "type": "object",
        "properties": {key: case_rules["properties"][key] for key in ("net", "traffic")},
        "$defs": case_rules["$defs"],
    }
    inner_document = {key: parameters[key] for key in ("net", "traffic")}
    problems = parameter_problems(inner, inner_document)
    if problems:
        raise ScenarioError([Problem(f"net.{p.path}", p.message, p.file) for p in problems])
    network = graph(inner_document["net"], folder)
    return network, traffic(inner_document["traffic"], network, parameters["seed"], folder)


def names_files(net: Data, traffic: Data | None) -> bool:
    """Whether a network or its traffic is read from files or packages, which may change.

    Parameters
    ----------
    net, traffic
        The tables, right in form.
    """
    kind, between = net.get("kind"), (traffic or {}).get("kind")
    if kind in NETS and NETS[kind].nests:
        # What is inside has not been checked for form yet.
        of, by = net.get("net"), net.get("traffic")
        return not (isinstance(of, dict) and isinstance(by, dict)) or names_files(of, by)
    files = kind in FILE_NETS or (kind in NETS and NETS[kind].names_files)
    return files or (between in TRAFFIC and TRAFFIC[between].names_files)


def plain_net(network: Graph) -> Data:
    """Write a network as a table ``net`` that names no file.

    Parameters
    ----------
    network
        The network.
    """
    ends = zip(network.src, network.dst, network.capacity, strict=True)
    costs = None if network.cost is None else network.cost.tolist()
    return {
        "kind": "links",
        "nodes": list(network.nodes),
        "directed": True,
        "links": [
            [
                network.nodes[a],
                network.nodes[b],
                float(c),
                *(() if costs is None else costs[i : i + 1]),
            ]
            for i, (a, b, c) in enumerate(ends)
        ],
    }


def plain_traffic(flows: Traffic, network: Graph) -> Data:
    """Write flows as a table ``traffic`` that names no file.

    Parameters
    ----------
    flows
        The flows.
    network
        The network.
    """
    rows: list[Data] = []
    for i, (a, b) in enumerate(zip(flows.src, flows.dst, strict=True)):
        row: Data = {"src": network.nodes[a], "dst": network.nodes[b]}
        if flows.demand is not None and np.isfinite(flows.demand[i]):
            row["demand"] = float(flows.demand[i])
        if flows.weight is not None:
            row["weight"] = float(flows.weight[i])
        route = None if flows.routes is None else flows.routes[i]
        if route is not None:
            row["route"] = [network.nodes[node] for node in route]
        rows.append(row)
    return {"kind": "listed", "flows": rows}
