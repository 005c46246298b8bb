"""The memory that runs may take: a share of what the machine has."""

from __future__ import annotations

import os

from ackclock.errors import AckclockError

__all__ = ["SHARE", "allowed_bytes", "machine_bytes"]

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
    text = os.environ.get(SHARE) or str(DEFAULT_SHARE)
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < float("inf"):
        message = f'{SHARE} is "{text}"; expected a share of the memory above 0, such as 0.8'
        raise AckclockError(message)
    return share * machine_bytes()
