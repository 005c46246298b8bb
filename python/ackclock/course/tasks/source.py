"""Reads a student's file without running it, and finds its lines in what a run reports."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = [
    "NotUsableError",
    "SourceEntry",
    "control_class",
    "function_named",
    "line_of",
    "read_source",
]

MOST_BYTES = 1 << 20
"""A larger file is no student's control."""


class NotUsableError(Exception):
    """Why a file cannot be graded, in one sentence that names the line where there is one."""


class SourceEntry(NamedTuple):
    """What is called in a file."""

    name: str
    line: int


def read_source(file: Path) -> ast.Module:
    """Parse a file.

    Parameters
    ----------
    file
        Of a student.

    Raises
    ------
    NotUsableError
        It is not to be read, or no Python.
    """
    try:
        if file.stat().st_size > MOST_BYTES:
            raise NotUsableError(f"{file.name} is larger than 1 MiB; expected a Python file")
        return ast.parse(file.read_bytes(), str(file))
    except OSError as error:
        raise NotUsableError(f"{file.name} cannot be read: {error.strerror}") from None
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""
        raise NotUsableError(f"{file.name}{where}: is not Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise NotUsableError(f"{file.name} is not Python: {error}") from None


def control_class(file: Path) -> SourceEntry:
    """Find the one class that is decorated as a control.

    Parameters
    ----------
    file
        Of a student.

    Raises
    ------
    NotUsableError
        There is none, or there are several.
    """
    classes = [node for node in read_source(file).body if isinstance(node, ast.ClassDef)]
    controls = [c for c in classes if any(_is_control(d) for d in c.decorator_list)]
    return _single(file, controls, "class under @ac.control")


def function_named(file: Path, name: str) -> SourceEntry:
    """Find a function at the top of a file.

    Parameters
    ----------
    file
        Of a student.
    name
        Of the function.

    Raises
    ------
    NotUsableError
        There is none, or there are several.
    """
    nodes = [node for node in read_source(file).body if isinstance(node, ast.FunctionDef)]
    named = [node for node in nodes if node.name == name]
    return _single(file, named, f"def {name}(run)")


def _single(
    file: Path, nodes: Sequence[ast.ClassDef | ast.FunctionDef], expected: str
) -> SourceEntry:
    if not nodes:
        raise NotUsableError(f"{file.name} has no {expected}; expected one")
    if len(nodes) > 1:
        lines = " and ".join(str(node.lineno) for node in nodes)
        raise NotUsableError(
            f"{file.name}, lines {lines}: {len(nodes)} times {expected}; expected one"
        )
    return SourceEntry(nodes[0].name, nodes[0].lineno)


def _is_control(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(called, ast.Attribute):
        return called.attr == "control"
    return isinstance(called, ast.Name) and called.id == "control"


def line_of(report: str, file: str, *, innermost_first: bool = False) -> int | None:
    """Find the innermost line of a file in a traceback.

    Parameters
    ----------
    report
        Traceback as text.
    file
        Path of the file, as the report has it.
    innermost_first
        Whether the report begins with the innermost call, as that of faulthandler.
    """
    name = re.escape(file)
    lines = re.findall(rf'File "{name}", line (\d+)', report)
    # A window that is no number: "Mine.on_ack (mine.py, line 7) set cwnd to ..."
    lines = lines or re.findall(rf"\({name}, line (\d+)\)", report)
    if not lines:
        return None
    return int(lines[0 if innermost_first else -1])
