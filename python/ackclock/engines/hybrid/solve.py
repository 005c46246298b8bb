"""Solves a hybrid case: rates of the fluid, packets over what these leave, and their bias."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ackclock._util.units import parse
from ackclock.engines.fluid.arrivals import Transfers
from ackclock.engines.hybrid import bias, finite, packets
from ackclock.engines.hybrid.document import of_background
from ackclock.engines.hybrid.leftover import while_flows_last
from ackclock.engines.hybrid.mixture import Mixture
from ackclock.engines.hybrid.own_flows import read_own
from ackclock.engines.hybrid.proportion import Crowding, controls, crowding, list_unmeasured_pairs
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ackclock.case import Spill
    from ackclock.engines.fluid.case import FluidCase
    from ackclock.engines.hybrid.leftover import Leftover
    from ackclock.engines.hybrid.mixture import Own
    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

    Floats = npt.NDArray[np.float64]

__all__ = ["PacketPart", "Solved", "Solver"]

PASSES = 5
"""Most runs of the packets until the bias has settled."""

MOST_PACKETS = 5000
"""Flows of the background that run as packets at most without a larger ``packets``."""

HALF = 0.5
"""Of a larger sample the passes take as long as all flows once."""

SLACK = 1.02
"""A sample that lacks less than this factor is large enough."""

HASHES = ("fat-tree", "leaf-spine")
"""Networks whose default is to spread flows over equal paths."""


class PacketPart(NamedTuple):
    """What runs as packets.

    Parameters
    ----------
    scenario
        The packet scenario.
    left
        What the background leaves.
    warnings
        What a reader must know.
    """

    scenario: Scenario
    left: Leftover
    warnings: list[str]


class Solved(NamedTuple):
    """A solved case.

    Parameters
    ----------
    run
        The run of the packets.
    packets
        What ran.
    mixture
        All flows.
    used
        The bias used.
    passes
        Runs that it took.
    slopes
        What the bias lacks by the last run; None where nothing could be said.
    transfers
        How many finite flows the background has; None where its flows last.
    """

    run: Run
    packets: PacketPart
    mixture: Mixture
    used: bias.Bias
    passes: int
    slopes: bias.Slopes | None
    transfers: int | None


class Solver:
    """Everything of a case that does not change between its passes.

    Parameters
    ----------
    scenario
        The packet scenario without the background.
    crowd
        The background as a fluid case.
    background
        The table ``background`` with its defaults.

    Raises
    ------
    ScenarioError
        Every problem of the first part that is wrong.
    """

    def __init__(self, scenario: Scenario, crowd: FluidCase, background: dict[str, Any]) -> None:
        self.scenario = scenario
        self.background = background
        self._check_routing()
        self.duration_s = parse(scenario.data.get("duration", 60), "duration")
        explained = scenario.explain().data
        graph = crowd.graph()
        number = {name: i for i, name in enumerate(graph.link_names())}
        by_name = {str(link["id"]): link for link in explained["links"]}
        self.links = [by_name[name] for name in graph.link_names()]
        self.delays = np.array([link["delay_s"] for link in self.links])
        self.queues = [str(link["qdisc"]) for link in self.links]
        own_flows = read_own(scenario, explained["flows"], number)
        self.transfers: Transfers | None = None
        with of_background():
            pairs = crowd.net()
            if "arrivals" in self.background:
                self.transfers = crowd.transfers()
        if self.transfers is not None:
            self.transfers = self._in_time(self.transfers, own_flows)
        named, self.behind = controls(scenario, self.background.get("flow", {}))
        own_flows = [
            replace(flow, control=name) for flow, name in zip(own_flows, named, strict=True)
        ]
        self.mixture = Mixture(graph, pairs, self.background["per_pair"], own_flows)
        reverse = self.mixture.opposite
        back = np.where(reverse >= 0, self.delays[np.maximum(reverse, 0)], self.delays)
        self.pair_rtt = self._along_pairs(self.delays + back)
        self.own_rtt = np.array([flow.rtt_s for flow in own_flows])

    def _check_routing(self) -> None:
        data = self.scenario.data
        kind = data["net"]["kind"]
        chosen = data.get("equal_paths", "hash" if kind in HASHES else "first")
        if chosen == "hash":
            message = (
                "spreads flows over equal paths, of which the background's pairs take one; expected"
                ' "first"'
            )
            raise self.scenario.locate_problems([Problem("equal_paths", message)])

    def _in_time(self, transfers: Transfers, own: list[Own]) -> Transfers:
        """The transfers that begin before the end, with the headers of their packets."""
        stopped = [i for i, flow in enumerate(own) if flow.stop_s < self.duration_s]
        if stopped:
            message = "is not for a background of arrivals; expected a flow that lasts to the end"
            raise self.scenario.locate_problems(
                [Problem(f"flows[{i}].stop", message) for i in stopped]
            )
        count = int(np.searchsorted(transfers.time, self.duration_s))
        return Transfers(transfers.time[:count], transfers.flow[:count], transfers.size[:count])

    def _wire(self) -> float:
        """Bytes on the wire of a byte that a transfer of the background carries."""
        given = self.scenario.data.get("tcp", {})
        tcp = {**given, **self.background.get("flow", {}).get("tcp", {})}
        mss, header = parse(tcp.get("mss", 1460), "size"), parse(tcp.get("header", 40), "size")
        return (mss + header) / mss

    def _along_pairs(self, values: Floats) -> Floats:
        """Sums of a value of links along the pairs' routes, ``(n_pairs,)``."""
        pairs = self.mixture.pairs
        sums: Floats = np.add.reduceat(values[pairs.hops], pairs.offsets[:-1].astype(np.int64))
        return sums

    def packets(
        self,
        used: bias.Bias = bias.NONE,
        queues: Floats | None = None,
        full: npt.NDArray[np.bool_] | None = None,
        weights: Floats | None = None,
    ) -> PacketPart:
        """Find what runs as packets, beside flows of other controls in proportion.

        Parameters
        ----------
        used
            The bias.
        queues
            Mean queueing delay of each link [s]; left out: none.
        full
            Which links are full; left out: none is known to be.
        weights
            Of the scenario's flows, by their controls; left out: 1.

        Raises
        ------
        ScenarioError
            A queue that cannot be scaled; flows of another control for which the sample would have
            to be larger than it may be.
        """
        packets = self._packets(used, queues, full, weights)
        crowd = crowding(self.mixture, packets.left, self.queues, self.behind, self.duration_s)
        if crowd.share > SLACK * packets.left.share:
            packets = self._grown(packets, crowd, used, queues, full, weights)
        pairs = list_unmeasured_pairs(self.mixture, packets.left, self.queues, self.behind)
        return packets._replace(warnings=[*packets.warnings, *pairs])

    def _grown(
        self,
        packets: PacketPart,
        crowd: Crowding,
        used: bias.Bias,
        queues: Floats | None,
        full: npt.NDArray[np.bool_] | None,
        weights: Floats | None,
    ) -> PacketPart:
        """What runs as packets with more of the background, as flows of other controls need it."""
        if self.transfers is not None:
            raise self._too_crowded(crowd, "share", math.ceil(1000 * crowd.share) / 1000)
        least = crowd.share if crowd.share < HALF else 1.0
        every = self.mixture.n_pairs * self.background["per_pair"]
        in_all = (
            float(packets.left.as_packets.sum()) / packets.left.share
            if packets.left.share > 0
            else every
        )
        needed = round(in_all * least)
        if needed > max(MOST_PACKETS, self.background["packets"]):
            raise self._too_crowded(crowd, "packets", math.ceil(1.1 * needed))
        return self._packets(used, queues, full, weights, least)

    def _too_crowded(self, crowd: Crowding, key: str, enough: float) -> ScenarioError:
        """Say that the sample is too small for flows of another control."""
        name = str(self.links[crowd.link]["id"])
        message = (
            f"is {self.background[key]}, with which {crowd.why} what packets have of {name}, so"
            f" that their goodput is not that among all flows; expected {key} = {enough}, or fewer"
            " such flows"
        )
        return self.scenario.locate_problems([Problem(f"background.{key}", message)])

    def _packets(
        self,
        used: bias.Bias,
        queues: Floats | None,
        full: npt.NDArray[np.bool_] | None,
        weights: Floats | None,
        least: float = 0.0,
    ) -> PacketPart:
        """What runs as packets, with at least such a share of the background."""
        waits = np.zeros(len(self.links)) if queues is None else queues
        reverse = self.mixture.opposite
        back = np.where(reverse >= 0, waits[np.maximum(reverse, 0)], 0.0)
        pair_rtt = self.pair_rtt + self._along_pairs(waits + back)
        own_rtt = self.own_rtt + np.array(
            [waits[[*flow.route, *flow.back]].sum() for flow in self.mixture.foreground]
        )
        pair_full, own_full = self._full_links(full)
        pair_share = pair_rtt**-used.rtt * pair_full**-used.links
        own_share = own_rtt**-used.rtt * own_full**-used.links
        if weights is not None:
            own_share = own_share * weights
        if self.transfers is None:
            left = while_flows_last(
                self.mixture,
                self.background["packets"],
                self.duration_s,
                pair_share,
                own_share,
                self.scenario.seed,
                least,
            )
            flows = self._flows(left.as_packets)
        else:
            as_packets = finite.draw(self.transfers, self.background["share"], self.scenario.seed)
            left = finite.while_flows_come(
                self.mixture,
                self.transfers,
                as_packets,
                self.duration_s,
                parse(self.background["update"], "duration"),
                self._wire(),
                pair_share,
                own_share,
            )
            flows = self._transfers(self.transfers, as_packets)
        try:
            changed, warnings = packets.changed_links(
                self.mixture, left, self.links, self.duration_s
            )
        except ScenarioError as error:
            raise self.scenario.locate_problems(error.problems) from None
        packet_scenario = packets.scenario(self.scenario, changed, flows)
        return PacketPart(packet_scenario, left, warnings)

    def whole(self) -> Scenario:
        """Write the case with all flows as packets, to compare with."""
        if self.transfers is None:
            counts = np.full(self.mixture.n_pairs, self.background["per_pair"], dtype=np.int64)
            flows = self._flows(counts)
        else:
            flows = self._transfers(self.transfers, np.ones(len(self.transfers.time), dtype=bool))
        return packets.scenario(self.scenario, [], flows)

    def _transfers(
        self, transfers: Transfers, chosen: npt.NDArray[np.bool_]
    ) -> list[dict[str, Any]]:
        template = self.background.get("flow", {})
        return packets.sampled_transfers(self.mixture.pairs, transfers, chosen, template)

    def _flows(self, counts: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
        warmup = parse(self.scenario.data.get("warmup", 0), "duration")
        spread = min(warmup, self.duration_s) / 2
        template = self.background.get("flow", {})
        return packets.sampled_flows(
            self.mixture.pairs, counts, template, spread, self.scenario.seed
        )

    def run(self, progress: Callable[[float, float], object] | None, spill: Spill | None) -> Solved:
        """Run packets until the bias has settled.

        Parameters
        ----------
        progress, spill
            As of `HybridCase.execute`.
        """
        stated_bias = self.background["bias"]
        used = (
            bias.NONE
            if stated_bias == "fitted"
            else bias.Bias(stated_bias["rtt"], stated_bias["links"])
        )
        queues: Floats | None = None
        full: npt.NDArray[np.bool_] | None = None
        weights = np.ones(len(self.mixture.foreground))
        for count in range(PASSES):
            packets = self.packets(used, queues, full, weights)
            run = packets.scenario.execute(_part(progress, count), spill)
            slopes, pulls = self._slopes(packets, run), self._pulls(packets, run)
            # Given exponents need one more pass than none: for the queues of round-trip times.
            learnt = queues is not None or used == bias.NONE
            is_settled = learnt if stated_bias != "fitted" else bias.is_settled(slopes)
            is_settled &= bool(np.all(np.abs(np.log(pulls)) <= bias.PULL))
            if count == PASSES - 1 or is_settled or self._is_whole(packets):
                break
            if stated_bias == "fitted" and slopes is not None:
                used = used.less(slopes)
            queues, full, weights = self._queues(run), packets.left.full, weights * pulls
        if progress is not None:
            progress(1.0, self.duration_s)
        transfers = None if self.transfers is None else len(self.transfers.time)
        return Solved(run, packets, self.mixture, used, count + 1, slopes, transfers)

    def _is_whole(self, made: PacketPart) -> bool:
        """Whether all flows are packets: nothing is a rate, so that none can be wrong."""
        pairs = self.mixture.n_pairs * self.background["per_pair"]
        flows = pairs if self.transfers is None else len(self.transfers.time)
        return bool(made.left.as_packets.sum() == flows)

    def _full_links(self, full: npt.NDArray[np.bool_] | None) -> tuple[Floats, Floats]:
        """Full links that flows of each pair and the scenario's flows cross, at least 1."""
        if full is None:
            return np.ones(self.mixture.n_pairs), np.ones(len(self.mixture.foreground))
        own = np.array(
            [full[list(flow.route)].sum() for flow in self.mixture.foreground], dtype=float
        )
        return np.maximum(self._along_pairs(full.astype(float)), 1.0), np.maximum(own, 1.0)

    def _queues(self, run: Run) -> Floats:
        """Mean queueing delay of each link [s]."""
        found = {str(link["id"]): link["delay_mean_s"] or 0.0 for link in run.summary["links"]}
        return np.array([found.get(str(link["id"]), 0.0) for link in self.links])

    def _pulls(self, made: PacketPart, run: Run) -> Floats:
        """By what factor the weight of each of the scenario's flows is wrong."""
        flows, own = run.summary["flows"], self.mixture.foreground
        if len(flows) == len(own):
            return np.ones(len(own))
        cc = [of.control if of.responds else "" for of in own]
        measured = np.array([flow["goodput_bps"] or 0.0 for flow in flows[: len(own)]])
        return bias.pulls(cc, measured * self._wire(), made.left.foreground)

    def _slopes(self, packets: PacketPart, run: Run) -> bias.Slopes | None:
        left, flows = packets.left, run.summary["flows"]
        if self.transfers is not None:
            return None
        pairs = np.repeat(np.arange(len(left.as_packets)), left.as_packets)
        alike = [flow.responds and not flow.control for flow in self.mixture.foreground]
        pair_full, own_full = self._full_links(left.full)
        return bias.fit(
            bias.FlowGroup(
                np.array([flow.get("srtt_mean_s") or 0.0 for flow in flows]),
                np.concatenate([own_full, pair_full[pairs]]),
                np.array([flow["goodput_bps"] or 0.0 for flow in flows]),
                np.concatenate([left.foreground, left.sampled[pairs]]),
                np.concatenate([np.where(alike, left.own_link, -1), left.pair_link[pairs]]),
            )
        )


def _part(
    progress: Callable[[float, float], object] | None, count: int
) -> Callable[[float, float], object] | None:
    """Progress of a pass: how many there will be is not known, so each has half of what is left."""
    if progress is None:
        return None
    begun, length = 1 - 0.5**count, 0.5 ** (count + 1)
    return lambda part, at: progress(begun + part * length, at)
