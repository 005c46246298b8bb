"""The memory that runs may take: a share of what the machine has."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from ackclock.errors import AckclockError, Problem

if TYPE_CHECKING:
    from collections.abc import Collection

    from ackclock.case import Cost

__all__ = ["SHARE", "allowed_bytes", "excess", "machine_bytes", "memory_problem", "memory_share"]

SHARE = "ACKCLOCK_MEMORY_SHARE"
"""Environment variable: the share of the machine's memory that runs may take, above 0."""

DEFAULT_SHARE = 0.8


def machine_bytes() -> int:
    """Memory of this machine [bytes]."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def allowed_bytes() -> float:
    """Memory that all runs of this process together may take [bytes].

    Raises
    ------
    AckclockError
        The share in the environment is not a positive number.
    """
    return memory_share() * machine_bytes()


def memory_share() -> float:
    """Give the share of a machine's memory that runs may take.

    Raises
    ------
    AckclockError
        The share in the environment is not a positive number.
    """
    text = os.environ.get(SHARE) or str(DEFAULT_SHARE)
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < float("inf"):
        message = f'{SHARE} is "{text}"; expected a share of the memory above 0, such as 0.8'
        raise AckclockError(message)
    return share


def excess(needed: float) -> str:
    """Say how much memory is needed and how much may be used; empty if it may be used.

    Parameters
    ----------
    needed
        Bytes.
    """
    allowed = allowed_bytes()
    if needed <= allowed:
        return ""
    return f"{needed / 2**30:,.3g} GiB of memory, of which {allowed / 2**30:,.3g} GiB may be used"


_MOST_FACTOR = 1000
"""Up to here a factor says what to write."""


def memory_problem(cost: Cost, tables: Collection[str], *, spills: bool) -> Problem | None:
    """Say that a run of a scenario needs more memory than it may take; None if it does not.

    Parameters
    ----------
    cost
        Of the run.
    tables
        What it records.
    spills
        Whether large tables go to disk.
    """
    needed = cost.needed_bytes(spills=spills)
    memory = excess(needed)
    if not memory:
        return None
    rows = 0.0 if spills else cost.recorded_rows
    need = f"the run would need about {memory} (--memory-share, {SHARE})"
    if not rows:
        return Problem("", f"{need}; simulate fewer flows")
    have = f"{need}; its tables would have {rows:,.0f} rows"
    to_disk = "or have them written while it runs (run --out DIR, or a sweep)"
    if {"flow_samples", "link_samples"} & set(tables):
        factor = math.ceil(needed / allowed_bytes())
        longer = f"make the interval {factor} times as long"
        if factor > _MOST_FACTOR:
            longer = "sample far less often"
        return Problem("record.interval", f"{have}; {longer}, {to_disk}")
    return Problem("record", f"{have}; record less, {to_disk}")
