"""Sizes of a flow's segments: what the scenario sets, and what the table of packets shows."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ackclock.results.packet_case import without_code

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.results.formats.recorded import Recorded

__all__ = ["TIMESTAMPS", "Segment", "Sizes", "TcpSizes", "segments", "tcp_sizes"]

_HEADERS = 40  # IPv4 and TCP without options.
TIMESTAMPS = 12
"""Bytes of the timestamp option (RFC 7323 appendix A), with padding."""


_DEFAULTS: dict[str, dict[str, Any]] = {
    "rfc": {},
    "linux": {"mss": 1448, "timestamps": True},
}
"""By era what its senders have that others do not; of other eras segments are ns-2's."""


class TcpSizes(NamedTuple):
    """What decides lengths, with the core's defaults in era ``rfc``."""

    mss: int = 1460
    header: int = 40
    ack_size: int = 40
    timestamps: bool = False

    @property
    def full(self) -> int:
        """Bytes on the wire of a full segment."""
        return self.mss + self.header + TIMESTAMPS * self.timestamps


class Sizes(NamedTuple):
    """What the table shows of one flow's packets [B]."""

    largest: int = 0
    """Of the data packets."""
    bare: int = 0
    """Of an acknowledgement without SACK blocks."""
    last: tuple[int, int] | None = None
    """Number and size of the segment with the FIN."""
    has_syn: bool = False

    def fit(self, settings: TcpSizes) -> bool:
        """Whether the flow may have these settings."""
        bare = settings.ack_size + TIMESTAMPS * settings.timestamps
        # The last segment may be short, and the only one.
        short = self.last is not None and self.largest == self.last[1]
        full = self.largest in (0, settings.full) or (short and self.largest < settings.full)
        return full and self.bare in (0, bare)


def tcp_sizes(summary: Mapping[str, Any], scenario: str) -> list[TcpSizes]:
    """Find all settings that flows of a scenario may have; none where segments are ns-2's.

    Parameters
    ----------
    summary
        Of the run.
    scenario
        What was run, as the core gets it.
    """
    if summary["era"] not in _DEFAULTS:
        return []
    from ackclock import _core

    data = json.loads(_core.normalise(scenario))
    common = data.get("tcp", {})
    templates = [*data.get("flows", []), *(each["flow"] for each in data.get("traffic", []))]
    settings = [
        {**_DEFAULTS[summary["era"]], **common, **template.get("tcp", {})} for template in templates
    ]
    return [
        TcpSizes(**{key: tcp[key] for key in TcpSizes._fields if tcp.get(key) is not None})
        for tcp in settings
    ]


class Segment(NamedTuple):
    """A full segment of a flow."""

    payload: int
    """Bytes of data."""
    headers: int
    """Bytes of headers with their options."""


def segments(run: Recorded) -> dict[str, Segment]:
    """Find the size of a full segment of each flow.

    Parameters
    ----------
    run
        The run.
    """
    scenario = without_code(run.scenario)
    sizes = tcp_sizes(run.summary, scenario.core_json())
    # Both are of the same path, so that their ratio is a full segment on the wire.
    wire = {
        str(flow["id"]): round(flow["bdp_bytes"] / flow["bdp_segments"])
        for flow in scenario.explain().data["flows"]
        if flow.get("bdp_segments")
    }
    segment_of_flow = {}
    for flow in run.summary["flows"]:
        name = str(flow["id"])
        fitting = [size for size in sizes if size.full == wire.get(name)]
        if fitting:
            segment_of_flow[name] = Segment(fitting[0].mss, fitting[0].full - fitting[0].mss)
        else:
            mean = math.ceil(flow["delivered_bytes"] / max(1, flow["delivered_packets"]))
            segment_of_flow[name] = Segment(max(1, wire.get(name, 0) - _HEADERS, mean), _HEADERS)
    return segment_of_flow
