"""Reads GraphML files that may come from somebody else: bounded in size, without entities."""

from __future__ import annotations

import io
import zlib
from typing import IO, TYPE_CHECKING, Any
from xml.parsers import expat

from ackclock._util.foreign_files import MOST_BYTES, ForeignFileError, open_file
from ackclock.scenario.networks.link_defaults import wrong

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MOST_BYTES", "open_graphml", "read_content"]


class _EntityError(Exception):
    """The document declares an entity."""


def open_graphml(path: Path) -> IO[bytes]:
    """Read a GraphML file, also one that ends in .gz or .bz2, into memory.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    IO[bytes]
        Its text, well-formed XML at the first look.

    Raises
    ------
    ScenarioError
        It cannot be read, is larger than `MOST_BYTES`, is not well-formed, or declares an entity.
    """
    content = read_content(path)
    parser = expat.ParserCreate()
    parser.EntityDeclHandler = _refuse_entity
    try:
        parser.ParseFile(io.BytesIO(content))
    except _EntityError:
        message = f"{path} declares an entity, which may expand without bound; expected none"
        raise wrong(message) from None
    except expat.ExpatError as error:
        where = f"line {error.lineno}, column {error.offset}"
        raise wrong(f"{path}, {where}: this is not well-formed XML") from None
    except (LookupError, ValueError) as error:
        raise wrong(f"{path} is not GraphML as understood here: {error}") from None
    return io.BytesIO(content)


def read_content(path: Path) -> bytes:
    """Read a file, also one that ends in .gz or .bz2.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    ScenarioError
        It cannot be read, or is larger than `MOST_BYTES`.
    """
    import bz2
    import gzip

    packed: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix)
    try:
        with open_file(path, links=True) as raw:
            file = raw if packed is None else packed(raw, "rb")
            content: bytes = file.read(MOST_BYTES + 1)
    except ForeignFileError as error:
        raise wrong(f"cannot read {path}: {error.reason}") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise wrong(f"cannot read {path}: {reason}") from None
    if len(content) > MOST_BYTES:
        when = " when decompressed" if packed is not None else ""
        raise wrong(f"{path} has more than {MOST_BYTES / 2**20:g} MiB{when}; expected less")
    return content


def _refuse_entity(*_: object) -> None:
    raise _EntityError
