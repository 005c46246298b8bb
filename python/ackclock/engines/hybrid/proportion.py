"""How many flows of the background must be packets beside flows of another control.

A flow's part of a queue depends on how much of the link flows of its control have together: BBR
takes from loss-based flows what its inflight limits allow, whether that is one flow's or many's
(R. Ware, M. K. Mukerjee, S. Seshan, J. Sherry, "Modeling BBR's interactions with loss-based
congestion control", ACM IMC 2019). Among a sample the scenario's flows have a larger part of the
link than among all, so the sample must be so large that the part is nearly that of the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ackclock.engines.hybrid.document import ENDS

if TYPE_CHECKING:
    from ackclock.engines.hybrid.leftover import Leftover
    from ackclock.engines.hybrid.mixture import Mixture
    from ackclock.scenario.scenario import Scenario

__all__ = ["NEAR", "Crowding", "controls", "crowding"]

NEAR = 0.02
"""Part of a link that flows of another control may have in excess of their part in the whole.

Goodput changed by 2 to 3 % for each per cent of the link in excess, at most, in the pairs of the
page on hybrid runs."""

FAIR = ("fq", "drr")
"""Queues that give each flow its share, whatever its control."""

MEASURED = ("aimd", "cubic", "vegas", "bbr3")
MEASURED_QUEUES = ("fifo", "red", "fq")
"""Controls and queues of the table of pairs on the page on hybrid runs."""

WHOLE_ONLY = frozenset({("vegas", "cubic", "fifo")})
"""Control, the background's control and queue that a sample of any size gets wrong by more than
10 % in that table: the queue of a sample of CUBIC's flows is longer, and Vegas gives way to it."""

RULES = ("cc", "recovery", "slow_start")
"""What the scenario's explanation names with all defaults."""


class Crowding(NamedTuple):
    """The link at which the sample must be largest.

    Parameters
    ----------
    link
        Its number; -1 where flows of another control hold nothing back.
    share
        Share of the background that must be packets there, from 0 to 1.
    why
        What is wrong with a smaller sample, as part of a sentence.
    """

    link: int
    share: float
    why: str


NOWHERE = Crowding(-1, 0.0, "")


def controls(scenario: Scenario, template: dict[str, Any]) -> tuple[list[str], str]:
    """Name the control of each of the scenario's flows, and the background's.

    Parameters
    ----------
    scenario
        The packet scenario without the background.
    template
        What a flow of the background is.

    Returns
    -------
    tuple
        The control with what else differs, "" where a flow is as the background's; the kind of the
        background's control.
    """
    data = scenario.data
    ends = scenario.explain().data["flows"][0]["route"]
    more = {**template, "src": ends[0], "dst": ends[-1]}
    with_one = type(scenario).from_data({**data, "flows": [*data["flows"], more]}, scenario._file)
    *explained, behind = with_one.explain().data["flows"]

    def rest(flow: dict[str, Any]) -> dict[str, Any]:
        return {k: v for k, v in flow.items() if k not in (*ENDS, *RULES) and v is not None}

    names = []
    for flow, means in zip(data["flows"], explained, strict=False):
        same = all(
            _name_algorithm(key, means.get(key)) == _name_algorithm(key, behind.get(key))
            for key in RULES
        )
        alike = same and rest(flow) == rest(template)
        control = f"{_name_algorithm('cc', means.get('cc'))} {sorted(rest(flow).items())}"
        names.append("" if alike else control)
    return names, _kind(_name_algorithm("cc", behind.get("cc")))


def _name_algorithm(room: str, explained: str | None) -> str:
    """An algorithm as it is explained, by its first name in the registry."""
    from ackclock.catalogue.schema import registry_name

    kind = _kind(explained or "")
    return registry_name(room, kind) + (explained or "")[len(kind) :]


def _kind(control: str) -> str:
    """The name without parameters."""
    return control.partition(" ")[0].partition("(")[0]


def crowding(
    mixture: Mixture, left: Leftover, queues: list[str], behind: str, duration_s: float
) -> Crowding:
    """Find the link at which flows of another control have too much of what packets have.

    Parameters
    ----------
    mixture
        All flows.
    left
        What the background leaves.
    queues
        The queue of each link.
    behind
        The kind of the background's control.
    duration_s
        Of the run [s].
    """
    capacity = mixture.graph.capacity
    everyone, other_controls = np.zeros(len(capacity)), np.zeros(len(capacity))
    for flow, rate in zip(mixture.foreground, left.foreground, strict=True):
        active_s = max(min(flow.stop_s, duration_s) - flow.start_s, 0.0)
        mean = rate * active_s / duration_s
        everyone[list(flow.route)] += mean
        if flow.control and flow.responds:
            other_controls[list(flow.route)] += mean
    rates = left.mean_over(left.left(capacity), duration_s)
    crowded = NOWHERE
    for link in np.flatnonzero(left.full & (other_controls > 0) & (capacity > everyone)):
        if queues[link] in FAIR:
            continue
        for kind in _kinds(mixture, int(link)):
            if (kind, behind, queues[link]) in WHOLE_ONLY:
                why = f"{kind} among {behind} over {queues[link]} gets another share of"
                return Crowding(int(link), 1.0, why)
        fluid_share = float(other_controls[link] / capacity[link])
        room = other_controls[link] / (fluid_share + NEAR)
        share = float((room - everyone[link]) / (capacity[link] - everyone[link]))
        if share > crowded.share:
            sampled = float(other_controls[link] / rates[link])
            why = (
                f"flows of another control than the background's have {100 * sampled:.2g} % in"
                f" place of {100 * fluid_share:.2g} % of"
            )
            crowded = Crowding(int(link), min(share, 1.0), why)
    return crowded


def list_unmeasured_pairs(
    mixture: Mixture, left: Leftover, queues: list[str], behind: str
) -> list[str]:
    """Say which pairs of controls have not been compared with runs of all flows as packets.

    Parameters
    ----------
    mixture, left, queues, behind
        As of `crowding`.
    """
    notes = []
    for link in np.flatnonzero(left.full & (left.taken > 0).any(axis=0)):
        for kind in _kinds(mixture, int(link)):
            is_measured = (
                kind in MEASURED and behind in MEASURED and queues[link] in MEASURED_QUEUES
            )
            if not is_measured:
                notes.append(
                    f"{kind} among {behind} over {queues[link]} has not been compared with a run of"
                    " all flows as packets"
                )
    return list(dict.fromkeys(notes))


def _kinds(mixture: Mixture, link: int) -> list[str]:
    """Controls other than the background's that cross a link."""
    flows = (flow for flow in mixture.foreground if link in flow.route and flow.responds)
    return sorted({_kind(flow.control) for flow in flows if flow.control})
