"""Parts of a long analysis in a folder, so that an interrupted one goes on where it was."""

from __future__ import annotations

import hashlib
import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.foreign_files import ForeignFileError, read_bytes, refuse_links
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.studies.planner.situation import Situation

__all__ = ["Parts"]

_FORMAT = 2
_DIGEST_BYTES = 32
"""Before the arrays of a part is their SHA-256: a changed part is computed anew."""
_MOST_BYTES = 2**32
_OPTION = "--resume"


class Parts:
    """Finished parts of one analysis, a file each.

    Parameters
    ----------
    folder
        Where they are; it is made if it is not there.
    situation
        Network and demands.
    request
        What else the results depend on, as text.

    Raises
    ------
    ScenarioError
        The folder has parts of another analysis, or files that are no parts, or cannot be made.
    """

    def __init__(self, folder: Path, situation: Situation, request: str) -> None:
        self._folder = folder
        self._inputs = _digest(situation, request)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            refuse_links(folder)
            names = sorted(path.name for path in folder.iterdir())
        except OSError as error:
            message = f"{folder} cannot be used: {error.strerror}"
            raise ScenarioError([Problem(_OPTION, message)]) from None
        except ForeignFileError as error:
            raise ScenarioError([Problem(_OPTION, str(error))]) from None
        foreign_names = [name for name in names if not name.endswith((".part", ".part.new"))]
        if foreign_names:
            message = f'{folder} has other files ("{foreign_names[0]}"); expected an empty folder'
            raise ScenarioError([Problem(_OPTION, message)])
        for name in names:
            if name.endswith(".part") and not name.startswith(self._inputs[:16]):
                message = (
                    f"{folder} has parts of an analysis of other inputs; expected a new folder"
                )
                raise ScenarioError([Problem(_OPTION, message)])

    def _path(self, number: int) -> Path:
        return self._folder / f"{self._inputs[:16]}-{number:06}.part"

    def read(self, number: int) -> dict[str, Any] | None:
        """Read a part; None where it is not done.

        Parameters
        ----------
        number
            Its place.
        """
        try:
            content = read_bytes(self._path(number), most=_MOST_BYTES)
        except (OSError, ForeignFileError):
            # It is computed anew.
            return None
        digest, body = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if hashlib.sha256(body).digest() != digest:
            return None
        with np.load(io.BytesIO(body), allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}

    def write(self, number: int, arrays: dict[str, Any]) -> None:
        """Keep a part, whole or not at all.

        Parameters
        ----------
        number
            Its place.
        arrays
            What was found.
        """
        path = self._path(number)
        partial = path.with_name(path.name + ".new")
        body = io.BytesIO()
        np.savez(body, **arrays)
        with partial.open("wb") as file:
            file.write(hashlib.sha256(body.getbuffer()).digest())
            file.write(body.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)

    def remove(self) -> None:
        """Remove the parts of an analysis that is done, and the folder if nothing else is in it."""
        for path in self._folder.glob("*.part*"):
            path.unlink()
        self._folder.rmdir()


def _digest(situation: Situation, request: str) -> str:
    """SHA-256 [hex] of all that results depend on."""
    graph, demands = situation.network.graph, situation.demands
    sha = hashlib.sha256(f"{_FORMAT} {len(graph.nodes)} {situation.hashing} {request}".encode())
    arrays = [graph.src, graph.dst, graph.capacity, situation.cost, demands.source, demands.target]
    arrays.append(situation.volume)
    if situation.hashing is not None:
        arrays.append(situation.flows())
    if (paths := situation.paths) is not None:
        arrays += [paths.pair, paths.share, paths.offsets, paths.links]
    for array in arrays:
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()
