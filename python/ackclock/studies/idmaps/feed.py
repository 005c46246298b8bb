"""GREEN with what IDMaps says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.studies.idmaps.service import IDMaps

__all__ = ["green"]


def green(
    service: IDMaps, router: int, destinations: Sequence[int], **parameters: Any
) -> dict[str, Any]:
    """Make a GREEN queue whose round-trip times are a router's estimates.

    Parameters
    ----------
    service
        The estimates.
    router
        Host at which the queue is; sources are taken to be there too.
    destinations
        Destination host of each flow, in the order of the scenario's flows.
    **parameters
        Further parameters of ``green``.

    Returns
    -------
    dict
        The discipline, for ``qdisc`` of a link.
    """
    routers = np.full(len(destinations), router)
    estimates = service.rtt_s(routers, np.asarray(destinations))
    # A scenario takes times with their unit.
    table = [f"{float(estimate)!r} s" for estimate in estimates]
    return {"kind": "green", "rtt": "table", "table": table, **parameters}
