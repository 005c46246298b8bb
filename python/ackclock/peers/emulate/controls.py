"""Which of the kernel's congestion controls stands for which of ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["KERNEL", "PREFIX", "available", "find_problems"]

KERNEL = {
    "aimd": "reno",
    "bbr": "bbr",
    "bic": "bic",
    "cdg": "cdg",
    "cubic": "cubic",
    "dctcp": "dctcp",
    "highspeed": "highspeed",
    "htcp": "htcp",
    "hybla": "hybla",
    "illinois": "illinois",
    "lp": "lp",
    "nv": "nv",
    "scalable": "scalable",
    "vegas": "vegas",
    "veno": "veno",
    "westwood": "westwood",
    "yeah": "yeah",
}
"""The kernel's name of a control by ours. Which of them a kernel has depends on its build."""

PREFIX = "linux/"
"""How the names of the kernel's controls begin in results."""

_LIST = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def available() -> list[str]:
    """List the congestion controls that the running kernel has loaded."""
    return _LIST.read_text(encoding="ascii").split()


def find_problems(
    flows: Iterable[Mapping[str, Any]],
    has: Iterable[str],
    known_as: Mapping[str, str] = KERNEL,
) -> list[Problem]:
    """Find controls that the kernel lacks, and parameters that it does not take.

    Parameters
    ----------
    flows
        As the core describes them.
    has
        The controls of the kernel.
    known_as
        The kernel's names by ours.
    """
    from ackclock.catalogue import schema

    has = list(has)
    problem_of_path = {}
    for flow in flows:
        kind, path = flow["cc"]["kind"], f"{flow['path']}.cc"
        if kind not in known_as:
            ours = ", ".join(ours for ours, theirs in known_as.items() if theirs in has)
            message = f'is "{kind}", which the kernel does not have; it can run {ours}'
            problem_of_path[path] = Problem(path, message)
        elif known_as[kind] not in has:
            message = (
                f'is "{kind}", for which the kernel has no congestion control "{known_as[kind]}";'
                f" it has {', '.join(has)}"
            )
            problem_of_path[path] = Problem(path, message)
        else:
            properties = schema.catalogue()["cc"][kind]["params"].get("properties", {})
            changed = [
                key
                for key, value in flow["cc"]["params"].items()
                if properties.get(key, {}).get("default") != value
            ]
            if changed:
                message = (
                    f"is not the default, but the kernel's {known_as[kind]} has no such parameter;"
                    " leave it out"
                )
                problem_of_path[path] = Problem(f"{path}.{changed[0]}", message)
    return list(problem_of_path.values())
