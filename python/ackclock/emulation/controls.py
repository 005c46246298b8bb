"""Which of the kernel's congestion controls stands for which of ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["KERNEL", "PREFIX", "available", "find_problems", "kernel_name"]

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


def kernel_name(flow: Mapping[str, Any]) -> str:
    """Name the kernel's control of a flow.

    Parameters
    ----------
    flow
        As the core describes it, with ``cc``.
    """
    return KERNEL[flow["cc"]["kind"]]


def find_problems(flows: Iterable[Mapping[str, Any]], has: Iterable[str]) -> list[Problem]:
    """Find controls that the kernel lacks, and parameters that it does not take.

    Parameters
    ----------
    flows
        As the core describes them.
    has
        The controls of the kernel.
    """
    from ackclock.catalogue import schema

    has = list(has)
    found = {}
    for flow in flows:
        kind, path = flow["cc"]["kind"], f"{flow['path']}.cc"
        if kind not in KERNEL:
            ours = ", ".join(ours for ours, theirs in KERNEL.items() if theirs in has)
            message = f'is "{kind}", which the kernel does not have; it can run {ours}'
            found[path] = Problem(path, message)
        elif KERNEL[kind] not in has:
            message = (
                f'is "{kind}", for which the kernel has no congestion control "{KERNEL[kind]}";'
                f" it has {', '.join(has)}"
            )
            found[path] = Problem(path, message)
        else:
            known = schema.catalogue()["cc"][kind]["params"].get("properties", {})
            changed = [
                key
                for key, value in flow["cc"]["params"].items()
                if known.get(key, {}).get("default") != value
            ]
            if changed:
                message = (
                    f"is not the default, but the kernel's {KERNEL[kind]} has no such parameter;"
                    " leave it out"
                )
                found[path] = Problem(f"{path}.{changed[0]}", message)
    return list(found.values())
