"""Writes the packets that an emulation captured as pcapng."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock.errors import UnsupportedError
from ackclock.results.formats.pcapng_blocks import interface, section, write_packet
from ackclock.results.formats.recorded import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ackclock.peers.emulate.measurements import Captured

__all__ = ["INTERFACES", "write"]

INTERFACES = ("sender", "receiver")
"""The devices of both sides: data are before the bottleneck at one, after it at the other."""


def write(summary: Mapping[str, Any], packets: Sequence[Captured], path: Path) -> Path:
    """Write the packets at both devices.

    Parameters
    ----------
    summary
        Of the run.
    packets
        What was captured.
    path
        File to write.

    Returns
    -------
    Path
        The file.
    """
    if not packets:
        message = "no packets were captured; emulate with captures=True, or --pcapng FILE"
        raise UnsupportedError(message)
    comment = f"scenario {summary['scenario_hash']}, seed {summary['seed']}"
    chunks = [section(f"ackclock {summary['version']}", comment), *map(interface, INTERFACES)]
    for at_ns, side, _, size, data in sorted(packets, key=lambda packet: packet[0]):
        chunks.append(write_packet(side, at_ns, data, size))
    return write_whole(path, b"".join(chunks))
