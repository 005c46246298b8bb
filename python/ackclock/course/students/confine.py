"""Takes from the present process what a student's code does not need."""

from __future__ import annotations

import math
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Holds", "limit_memory", "limit_time", "take_files", "take_network"]


class Holds(NamedTuple):
    """Which limits this machine enforces."""

    time: bool
    """An end of CPU time, by the system."""
    memory: bool
    """An end of address space."""
    files: bool
    """Only Python, its packages and the student's file can be read, nothing written."""
    network: bool
    """No socket, no other program, no further process."""


def take_files(files: Sequence[str]) -> bool:
    """Leave only Python, its packages and some files to read, and nothing to write.

    Parameters
    ----------
    files
        What may be read beside Python.

    Returns
    -------
    bool
        Whether the system enforces it.
    """
    from ackclock.course.students.system_calls import allow_reading_only

    libraries = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"]
    systems = ["/sys/devices/system/cpu", "/proc/self", "/proc/cpuinfo", "/proc/meminfo"]
    pythons = [sys.prefix, sys.base_prefix, *(path for path in sys.path if path)]
    return allow_reading_only([*pythons, *libraries, *systems, "/dev/null", "/dev/urandom", *files])


def take_network() -> bool:
    """Take sockets, other programs and further processes; the limits stay as they are.

    Returns
    -------
    bool
        Whether the system enforces it.
    """
    from ackclock.course.students.system_calls import refuse_calls

    return refuse_calls()


def limit_memory(extra_bytes: int) -> bool:
    """Let this process grow by so much and no more.

    Parameters
    ----------
    extra_bytes
        Address space beside what it has [B].

    Returns
    -------
    bool
        Whether the system enforces it.
    """
    try:
        import resource
        from pathlib import Path

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError):
        return False
    most = pages * resource.getpagesize() + extra_bytes
    for limit, value in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 1 << 20)):
        with suppress(ValueError, OSError):
            resource.setrlimit(limit, (value, value))
    try:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (ValueError, OSError):
        return False
    return True


def limit_time(seconds: int, report: int) -> bool:
    """End this process after so much more CPU time, with its place written down.

    Parameters
    ----------
    seconds
        CPU time from now on [s], at least 1.
    report
        An open file, to which the lines that run are written when the time is over.

    Returns
    -------
    bool
        Whether the system enforces it.
    """
    try:
        import faulthandler
        import resource
        import signal
    except ImportError:
        return False
    if not hasattr(faulthandler, "register"):
        return False
    # The default action of the signal comes after the report, and ends the process.
    faulthandler.register(signal.SIGXCPU, file=report, all_threads=True, chain=True)
    used = os.times()
    soft = math.ceil(used.user + used.system) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft, soft + 2))
    return True
