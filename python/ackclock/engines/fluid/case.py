"""The fluid case: a question put to the fluid engine, as a frozen document."""

from __future__ import annotations

import copy
import hashlib
import json
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.documents import read_document
from ackclock.case import Cost
from ackclock.engines.fluid import document
from ackclock.errors import Problem, ScenarioError
from ackclock.scenario.document import DocumentCase, locate_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pyarrow as pa

    from ackclock.case import Spill
    from ackclock.engines.fluid.arrivals import Transfers
    from ackclock.engines.fluid.graph import Graph, Traffic
    from ackclock.engines.fluid.net import FluidNet
    from ackclock.engines.fluid.systems import Systems

    Made = tuple[dict[str, pa.Table], dict[str, Any], list[str]]
    """Tables, totals, warnings."""

__all__ = ["FluidCase", "FluidRun", "load"]

_ROUTED: dict[str, FluidNet] = {}
"""Routed networks last used. Points of a sweep that differ in senders or routers share one: finding
routes takes longer than most else."""

_ROUTED_LOCK = threading.Lock()

_MOST_ROUTED = 8
_MOST_HOPS = 1_000_000
"""Networks with more hops are not kept, for their memory."""


class FluidRun:
    """A finished fluid case. Printing it gives the summary; its tables are Arrow tables.

    Parameters
    ----------
    case
        The question.
    summary
        Plain data; ``totals`` has the sums.
    tables
        ``flows``, ``links`` and ``totals``, which has one row; over time, if samples were wanted,
        ``utilisation`` and ``active`` as well.
    """

    def __init__(
        self, case: FluidCase, summary: dict[str, Any], tables: Mapping[str, pa.Table]
    ) -> None:
        self.case = case
        self.summary = summary
        self.tables = tables

    @property
    def flows(self) -> pa.Table:
        """One row per flow."""
        return self.tables["flows"]

    @property
    def links(self) -> pa.Table:
        """One row per directed link."""
        return self.tables["links"]

    def __repr__(self) -> str:
        return f"FluidRun({self.case!r})"

    def __str__(self) -> str:
        from ackclock.engines.fluid import over_time, tables

        write = over_time.text if "completed" in self.summary["totals"] else tables.text
        return write(self.case.name, self.summary, self.links)


class FluidCase(DocumentCase):
    """A network, flows on it, how its routers share and how its senders send. Cannot be changed.

    Parameters
    ----------
    data
        The document: tables ``net``, ``traffic`` and, if wanted, ``arrivals``, ``routers``,
        ``sender``, ``systems``, ``paths``, ``solver``, ``allocation``, ``alpha``, ``routing``,
        ``equal_paths``, ``access``, ``unit``, ``seed``, ``name``.
    file
        Where it came from: relative paths inside are relative to it, messages name it.

    Raises
    ------
    ScenarioError
        With every problem of form at once. What needs the whole network is found by `check`.
    """

    __slots__ = ("_graph",)
    engine = "fluid"
    recorded = ""
    holds_lock = False
    _graph: Graph | None

    def _fill(
        self, data: dict[str, Any], file: Path | None, typed: Iterable[str] | None = None
    ) -> None:
        if problems := document.form_problems(data, typed):
            raise locate_problems(problems, file)
        self._freeze(_data=data, _file=file, _graph=None)

    def __repr__(self) -> str:
        name = f"{self.name!r}: " if self.name else ""
        net, traffic = self._data["net"]["kind"], self._data.get("traffic", {}).get("kind", "trace")
        return f"FluidCase({name}{net}, {traffic}, sender={self._data.get('sender', 'naive')!r})"

    @property
    def is_random(self) -> bool:
        """Whether results depend on the seed."""
        return self._traffic_is_random or self._hashes or self._arrivals_kind == "poisson"

    @property
    def _hashes(self) -> bool:
        """Whether flows take equal paths by a hash of the seed."""
        return self._data.get("equal_paths") == "hash"

    @property
    def _traffic_is_random(self) -> bool:
        from ackclock.engines.fluid.generators import TRAFFIC

        return "traffic" in self._data and TRAFFIC[self._data["traffic"]["kind"]].is_random

    @property
    def _arrivals_kind(self) -> str | None:
        kind: str | None = self._data.get("arrivals", {}).get("kind")
        return kind

    @property
    def fingerprint(self) -> str:
        """SHA-256 [hex] of what is computed; name and seed do not count."""
        content = document.fill_defaults(self._data)
        for key in ("name", "seed", "net", "unit"):
            content.pop(key, None)
        if not self._traffic_is_random:
            content["traffic"] = None
        if self._arrivals_kind == "trace":
            content["arrivals"] = self._plain_arrivals()
        if "paths" in content:
            content["paths"] = self._plain_paths()
        if content["allocation"] == "senders":
            # The default does not count, so that runs stored before it could be chosen are found.
            content.pop("allocation")
        if not self._hashes:
            content.pop("equal_paths")
        digest = hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode())
        network = self.graph()
        digest.update(json.dumps(network.nodes).encode())
        arrays = [network.src, network.dst, network.capacity, network.cost]
        if not self._traffic_is_random:
            flows = self.traffic()
            arrays += [flows.src, flows.dst, flows.demand, flows.weight]
            digest.update(json.dumps(None if flows.routes is None else list(flows.routes)).encode())
        elif network.hosts is None:
            digest.update(b"flows between all nodes")
        for array in arrays:
            digest.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def with_seed(self, seed: int) -> FluidCase:
        """Copy with another seed; nothing is checked again.

        Parameters
        ----------
        seed
            The seed.
        """
        copied = FluidCase.__new__(FluidCase)
        copied._freeze(_data={**self._data, "seed": seed}, _file=self._file, _graph=self._graph)
        return copied

    def to_document(self) -> dict[str, Any]:
        """Plain data that names no file; an equal case can be made of it."""
        from ackclock.engines.fluid.generators import NETS, TRAFFIC

        data = copy.deepcopy(self._data)
        kind = data["net"]["kind"]
        files = NETS[kind].names_files if kind in NETS else kind in document.FILE_NETS
        if files:
            network = self.graph()
            data["net"] = document.plain_net(network)
            if data.get("traffic", {}).get("kind") == "pattern" and network.hosts is not None:
                hosts = [network.nodes[host] for host in network.hosts]
                data["traffic"].setdefault("hosts", hosts)
        if "traffic" in data and TRAFFIC[data["traffic"]["kind"]].names_files:
            data["traffic"] = document.plain_traffic(self.traffic(), self.graph())
        if "file" in data.get("arrivals", {}):
            data["arrivals"] = self._plain_arrivals()
        if "file" in data.get("paths", {}):
            data["paths"] = self._plain_paths()
        return {"engine": self.engine, **data}

    def graph(self) -> Graph:
        """Make the network: nodes and directed links.

        Raises
        ------
        ScenarioError
            Every problem of its meaning.
        """
        if self._graph is None:
            self._freeze(_graph=self._build_located(document.graph, self._data["net"]))
        assert self._graph is not None
        return self._graph

    def traffic(self) -> Traffic:
        """Make the flows.

        Raises
        ------
        ScenarioError
            Every problem of their meaning.
        """
        if self._arrivals_kind == "trace":
            return self._trace()[0]
        traffic: Traffic = self._build_located(
            document.traffic, self._data["traffic"], self.graph(), self.seed
        )
        return traffic

    def transfers(self) -> Transfers:
        """Make the finite flows that arrive and leave.

        Raises
        ------
        ScenarioError
            The case has no arrivals; every problem of theirs.
        """
        from ackclock.engines.fluid.arrivals import draw_arrivals

        if self._arrivals_kind is None:
            raise ScenarioError([Problem("arrivals", "the case has none; its flows last")])
        if self._arrivals_kind == "trace":
            return self._trace()[1]
        share = self.traffic().demand
        transfers: Transfers = self._name_file_on_error(
            lambda: draw_arrivals(self._data["arrivals"], self.net(), share, self.seed)
        )
        return transfers

    def systems(self) -> Systems | None:
        """Read the autonomous systems; None where the case has none.

        Raises
        ------
        ScenarioError
            Every problem of theirs.
        """
        from ackclock.engines.fluid.systems import Systems

        if "systems" not in self._data:
            return None
        systems: Systems = self._name_file_on_error(
            lambda: Systems.read(self._data["systems"], self.graph())
        )
        return systems

    def _trace(self) -> tuple[Traffic, Transfers]:
        from ackclock.engines.fluid.arrivals import pairs_of_trace, trace_rows

        rows = self._build_located(trace_rows, self._data["arrivals"])
        made: tuple[Traffic, Transfers] = self._name_file_on_error(
            lambda: pairs_of_trace(rows, self.graph())
        )
        return made

    def _plain_arrivals(self) -> dict[str, Any]:
        from ackclock.engines.fluid.arrivals import plain_trace, trace_rows

        given = self._data["arrivals"]
        return plain_trace(given, self._build_located(trace_rows, given))

    def _plain_paths(self) -> dict[str, Any]:
        from ackclock.engines.fluid.routing import path_rows

        return {"listed": [path for _, path in self._build_located(path_rows, self._data["paths"])]}

    def net(self) -> FluidNet:
        """Make the engine's arrays: capacities and routed flows.

        Raises
        ------
        ScenarioError
            Every problem, pairs without a path among them.
        """
        key = self._route_key()
        cached = None if key is None else _ROUTED.get(key)
        if cached is not None:
            return cached
        net: FluidNet = self._name_file_on_error(self._route)
        if key is not None and len(net.hops) <= _MOST_HOPS:
            for array in (net.capacity, net.offsets, net.hops, net.demand, net.weight):
                if array is not None:
                    array.setflags(write=False)
            with _ROUTED_LOCK:
                _ROUTED[key] = net
                while len(_ROUTED) > _MOST_ROUTED:
                    del _ROUTED[next(iter(_ROUTED))]
        return net

    def _route(self) -> FluidNet:
        from ackclock.engines.fluid.memory import check_flows
        from ackclock.engines.fluid.net import FluidNet
        from ackclock.engines.fluid.routing import listed_paths, path_rows, with_paths

        graph, flows = self.graph(), self.traffic()
        check_flows(len(flows.src), len(flows.src))
        if "paths" in self._data:
            rows = self._build_located(path_rows, self._data["paths"])
            flows = with_paths(flows, listed_paths(rows, graph), graph)
        if self._arrivals_kind is not None:
            # Demands are how often a pair is drawn; a flow takes what it can get.
            flows = replace(flows, demand=None)
        routing = self._data.get("routing", "hops")
        net = FluidNet.from_traffic(
            graph, flows, routing=routing, systems=self.systems(),
            hash_seed=self.seed if self._hashes else None,
        )  # fmt: skip
        # Routes are the smaller part: rates and books come on top, once the run begins.
        check_flows(net.n_flows, len(net.hops))
        return net

    def _route_key(self) -> str | None:
        """What routes depend on; None where that is also files, which may change."""
        net, traffic = self._data["net"], self._data.get("traffic")
        paths, is_trace = self._data.get("paths"), self._arrivals_kind == "trace"
        if document.names_files(net, traffic) or is_trace or "file" in (paths or {}):
            return None
        seed = self.seed if self._traffic_is_random or self._hashes else None
        lasts = self._arrivals_kind is None
        more = [self._data.get(key) for key in ("routing", "systems", "equal_paths")]
        return json.dumps([net, traffic, seed, paths, lasts, *more], sort_keys=True)

    def check(self, *, spills: bool = False) -> None:
        """Check meaning as well as form.

        Parameters
        ----------
        spills
            Has no effect: tables are made at the end, in memory.

        Raises
        ------
        ScenarioError
            With every problem of the first part that is wrong: network, traffic, routes.
        """
        from ackclock.engines.fluid.tables import routers

        del spills
        self._name_file_on_error(lambda: routers(self._data, self.systems()).of_link(self.graph()))
        self.net()
        if self._arrivals_kind is not None:
            self.transfers()

    def cost(self, *, spills: bool = False, is_rough: bool = False) -> Cost:
        """Predict what `execute` will need, for some tens of rounds of senders.

        Parameters
        ----------
        spills
            Has no effect: tables are made at the end, in memory.
        is_rough
            Has no effect.

        Raises
        ------
        ScenarioError
            With every problem, too little memory among them.
        """
        from ackclock.engines.fluid.memory import flow_bytes

        del spills, is_rough
        hops = len(self.net().hops)
        if self._arrivals_kind is not None:
            from ackclock.engines.fluid.arrivals import check_memory, memory_bytes

            # Two events a flow, each of some tens of flows near what changes.
            times = self.transfers().time
            events = 2.0 * len(times)
            end_s = float(times[-1]) if len(times) else 0.0
            sizes = (len(times), self._data["arrivals"], self.net().n_links, end_s)
            check_memory(*sizes)
            return Cost(events, events * 50e-6, memory_bytes(*sizes))
        return Cost(50.0 * hops, 50.0 * hops * 40e-9, flow_bytes(hops))

    def execute(
        self,
        progress: Callable[[float, float], object] | None = None,
        spill: Spill | None = None,
    ) -> FluidRun:
        """Let the senders settle and keep the books; or run finite flows over time.

        Parameters
        ----------
        progress
            Called with the part that is done and the time [s]; for flows that last, once.
        spill
            Has no effect: tables are made at the end, in memory.

        Returns
        -------
        FluidRun
            Summary and tables. Senders that do not settle are reported there, not raised.

        Raises
        ------
        ScenarioError
            The case is wrong; every problem is reported.
        ConvergenceError
            Links did not settle; it names them.
        """
        del spill
        begun = time.process_time()
        settings = document.fill_defaults(self._data)
        if self._arrivals_kind is None:
            result_tables, totals, warnings = self._at_rest(settings)
        else:
            result_tables, totals, warnings = self._over_time(settings, progress)
        totals["cpu_s"] = time.process_time() - begun
        summary = {
            "scenario_hash": self.fingerprint,
            "seed": self.seed,
            "version": _version(),
            "engine": self.engine,
            "unit": settings["unit"],
            "flows_between": self.net().between,
            "allocation": settings["allocation"],
            "sender": settings["sender"],
            "routers": settings["routers"],
            "totals": totals,
            "warnings": warnings,
        }
        if progress is not None:
            progress(1.0, 0.0)
        return FluidRun(self, summary, result_tables)

    def _at_rest(self, settings: dict[str, Any]) -> Made:
        """Rates of flows that last."""
        from ackclock.engines.fluid.outcome import Senders, Settled
        from ackclock.engines.fluid.tables import routers, tables

        network, systems = self.net(), self.systems()
        if settings["allocation"] == "senders":
            of_node = {} if systems is None else systems.sender
            senders, shared = Senders(settings["sender"], of_node), routers(self._data, systems)
            settled = self._name_file_on_error(
                lambda: network.fixed_point(senders, shared, **settings["solver"])
            )
        else:
            # What is offered is what fits: nothing is dropped.
            alpha = settings.get("alpha", np.inf)
            rates = self._name_file_on_error(lambda: network.alpha_fair(alpha))
            per_hop = np.repeat(rates, np.diff(network.offsets))
            settled = Settled(
                network.take_measured(rates, per_hop),
                converged=True,
                rounds=0,
                change=0.0,
                period=None,
                damping=1.0,
            )
        return (*tables(network, settled, settings["access"]), _warnings(settled))

    def _over_time(
        self, settings: dict[str, Any], progress: Callable[[float, float], object] | None
    ) -> Made:
        """Finite flows that arrive and leave."""
        from ackclock.engines.fluid import over_time
        from ackclock.engines.fluid.outcome import Senders
        from ackclock.engines.fluid.tables import routers

        network, transfers, systems = self.net(), self.transfers(), self.systems()
        senders = None
        if settings["allocation"] == "senders":
            senders = Senders(settings["sender"], {} if systems is None else systems.sender)
        simulated = self._name_file_on_error(
            lambda: over_time.simulate(
                network,
                transfers,
                settings["arrivals"],
                senders=senders,
                routers=routers(self._data, systems),
                solver=settings["solver"],
                progress=progress,
            )
        )
        result_tables, totals = over_time.tables(
            network, transfers, settings["arrivals"], simulated
        )
        return result_tables, totals, over_time.warnings(simulated, totals)

    def _build_located(self, make: Callable[..., Any], *arguments: Any) -> Any:
        return self._name_file_on_error(lambda: make(*arguments, self.folder))

    def _name_file_on_error(self, make: Callable[[], Any]) -> Any:
        try:
            return make()
        except ScenarioError as error:
            raise self.locate_problems(error.problems) from None


def _version() -> str:
    from ackclock import _core

    return _core.version()


def _warnings(settled: Any) -> list[str]:
    if settled.converged:
        return []
    how = (
        "the demands still change"
        if settled.period is None
        else f"the demands come back every {settled.period} rounds"
    )
    return [
        f"senders did not settle in {settled.rounds} rounds: {how}; the last change was"
        f" {settled.change:.3g} of a sender's link"
    ]


def load(file: str | Path) -> FluidCase:
    """Read a fluid case from a TOML file.

    Parameters
    ----------
    file
        The path.

    Raises
    ------
    ScenarioError
        It cannot be read, or has problems.
    """
    path = Path(file)
    return FluidCase.from_document(read_document(path), path)
