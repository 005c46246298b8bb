"""The hosts of an emulation, as this process has them: started, given a task, ended."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ackclock.peers.emulate import channel as messages
from ackclock.peers.emulate.namespaces import RefusedError

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Host"]

START_S = 60.0
"""How long a host may take to start, on a machine that is busy with other things [s]."""
FINISH_S = 30.0


class Host:
    """A process in a network namespace, with a TUN device that this process holds.

    It ends with this process, however that ends, and at the latest with the ``with`` block.

    Parameters
    ----------
    task
        What it is to do, with ``side``.
    """

    def __init__(self, task: dict[str, Any]) -> None:
        self.side = task["side"]
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.device: int | None = None
        self.about: dict[str, Any] = {}
        package = Path(__file__).parent.parent.parent
        path = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ackclock.peers.emulate.end", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            )
        messages.send(self.channel, {**task, "parent": os.getpid()})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.channel.close()
        if self.device is not None:
            os.close(self.device)
        self.process.kill()
        self.process.wait()

    def wait_until_ready(self) -> int:
        """Wait for the device, which is returned.

        Raises
        ------
        RefusedError
            The machine does not allow what the host needs.
        """
        self.channel.settimeout(START_S)
        try:
            self.about, self.device = messages.receive_with_device(self.channel)
        except TimeoutError as error:
            message = f"the {self.side}'s process did not start within {START_S:g} s"
            raise RefusedError(message) from error
        except (EOFError, OSError) as error:
            message = f"the {self.side}'s process ended before it began"
            raise RefusedError(message) from error
        self._raise_refused(self.about)
        assert self.device is not None
        os.set_blocking(self.device, False)
        return self.device

    def begin(self, origin_ns: int) -> None:
        """Let the host begin.

        Parameters
        ----------
        origin_ns
            When, of `time.monotonic_ns`.
        """
        messages.send(self.channel, {"origin_ns": origin_ns})

    def is_done(self) -> bool:
        """Whether it has something to say: that it is done, or why it cannot go on."""
        return bool(select.select([self.channel], [], [], 0)[0])

    def results(self, columns: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Receive what the host saw: what it says of itself, and its samples by column.

        Parameters
        ----------
        columns
            Names of the columns.

        Raises
        ------
        RefusedError
            It failed.
        """
        self.channel.settimeout(FINISH_S)
        try:
            about = messages.receive(self.channel)
            self._raise_refused(about)
            data = np.frombuffer(messages.receive_numbers(self.channel), dtype=np.float64)
        except (EOFError, TimeoutError, OSError) as error:
            message = f"the {self.side}'s process ended without results"
            raise RefusedError(message) from error
        return about, dict(zip(columns, data.reshape(-1, len(columns)).T, strict=True))

    def _raise_refused(self, message: dict[str, Any]) -> None:
        if "refused" in message:
            raise RefusedError(message["refused"])


def soon(delay_s: float) -> int:
    """Return a time that lies so far in the future, of `time.monotonic_ns`.

    Parameters
    ----------
    delay_s
        How far [s].
    """
    return time.monotonic_ns() + round(delay_s * 1e9)
