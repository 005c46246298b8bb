"""Links whose flows all keep a queue of a given length: what the laws of Vegas and FAST share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.measurements import SeenLink, TheoryMeasurements

__all__ = ["standing_queues"]


def standing_queues(
    measurements: TheoryMeasurements, control: str
) -> Iterator[tuple[SeenLink, str]]:
    """Find the queues that flows of one control alone keep, and what limits a law of them.

    Parameters
    ----------
    measurements
        The run.
    control
        Name of the control.

    Yields
    ------
    tuple
        A link with a queue and without drops, and what a law does not know of its flows.
    """
    for link in measurements.links:
        flows = link.flows
        if not flows or link.row["queue_mean_packets"] < 1 or link.row["drops"]:
            continue
        if any(flow.cc != control or not flow.is_endless or not flow.parameters for flow in flows):
            continue
        late = len({flow.start_s for flow in flows}) > 1
        yield link, "late flows took the queue they found for propagation" if late else ""
