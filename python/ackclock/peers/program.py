"""Finds the program of a simulator and runs it in a folder that does not outlive the run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.errors import AckclockError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["find", "run_program"]

LINES = 3
"""Lines of a failed program's messages that are shown."""


def find(peer: str, command: str, named_paths: Mapping[str, Path], package: str) -> Path:
    """Find a program.

    Parameters
    ----------
    peer
        The peer's name, as in ``--path``.
    command
        The program's name on PATH.
    named_paths
        Paths that the user gave, by peer.
    package
        What to install, for the message.

    Raises
    ------
    UnsupportedError
        It is not there.
    """
    command_or_path = str(named_paths.get(peer, command))
    program = shutil.which(command_or_path)
    if program is None:
        where = (
            f"{command_or_path} is no program" if peer in named_paths else f"no {command} on PATH"
        )
        raise UnsupportedError(
            f"{peer} is not installed ({where}); install {package}, or name it with"
            f" --path {peer}=FILE"
        )
    return Path(program)


def run_program(command: Sequence[str | Path], folder: Path, limit_s: float, peer: str) -> str:
    """Run a program to its end.

    Parameters
    ----------
    command
        Program and arguments.
    folder
        Where it runs.
    limit_s
        It and what it started are killed after this [s].
    peer
        Whose it is, for messages.

    Returns
    -------
    str
        What it printed.

    Raises
    ------
    AckclockError
        It failed, or took longer.
    """
    with subprocess.Popen(
        [str(argument) for argument in command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            text, messages = process.communicate(timeout=limit_s)
        except BaseException as error:
            _kill(process)
            if isinstance(error, subprocess.TimeoutExpired):
                raise AckclockError(
                    f"{peer} had not finished after {limit_s:g} s and was stopped; a larger"
                    " --time-limit, or a shorter duration, may help"
                ) from None
            raise
    if process.returncode:
        last_lines = (
            "; ".join((messages or text).strip().splitlines()[-LINES:]) or "it said nothing"
        )
        raise AckclockError(f"{peer} failed (exit code {process.returncode}): {last_lines}")
    return text


def _kill(process: subprocess.Popen[str]) -> None:
    """End a process and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
