"""Finds the programs that are both ends of a flow, and says how each is started.

A guest is code: it runs only where Python files of a scenario may be imported, by the same rule.
Where a control is named, ``guest:COMMAND`` or a table with ``kind = "guest"`` puts a guest in the
place of the flow's transport.
"""

from __future__ import annotations

import copy
import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.catalogue.code_permission import why_forbidden
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.catalogue import schema

__all__ = [
    "MOST_FLOWS",
    "PREFIX",
    "Hired",
    "check_guests",
    "describe_command",
    "guest_of",
    "hire",
    "list_guests",
    "name_everywhere",
    "name_files",
    "place_guests",
    "without_guests",
]

PREFIX = "guest:"
"""Begins a command where a control is named."""
TRANSPORT_KEYS = ("cc", "transport", "recovery", "slow_start", "tcp")
"""Keys of a flow that have no meaning beside a guest; ``quic`` has."""
LONGEST_NAME = 64
"""Most letters of a guest's name that is made of its command."""
DIGITS = 12
"""Hex digits of a hash that stand for it."""
MOST_FLOWS = 256
"""Flows of guests in a scenario; each is two processes."""


@dataclasses.dataclass(frozen=True)
class Hired:
    """How a guest is started, as the core takes it."""

    command: list[str]
    folder: Path
    environment: list[tuple[str, str]]
    text: str


def guest_of(control: Any) -> schema.Data | None:
    """Read the guest that is named in the place of a control.

    Parameters
    ----------
    control
        ``guest:COMMAND``, words as in a shell, or a table with ``kind = "guest"`` and the keys of
        a guest.

    Returns
    -------
    dict
        The guest's table, with a name of its command if it has none; None: it is another control.

    Raises
    ------
    ValueError
        A quotation of the command has no end.
    """
    import shlex

    if isinstance(control, str) and control.startswith(PREFIX):
        guest: schema.Data = {"command": shlex.split(control.removeprefix(PREFIX))}
    elif isinstance(control, dict) and control.get("kind") == "guest":
        guest = {key: value for key, value in control.items() if key != "kind"}
    else:
        return None
    command = guest.get("command")
    if isinstance(command, list) and command:
        guest.setdefault("name", _name_of(command))
    return guest


def _name_of(command: list[Any]) -> str:
    """The program without folders, but for a file that every guest could be, and its arguments."""
    words = [Path(str(word)) for word in command]
    if len(words) > 1 and _is_interpreter(words[0].name):
        del words[0]
    names = [word.parent.name if word.stem == "guest" else word.name for word in words]
    return " ".join(name for name in names if name)[:LONGEST_NAME] or "guest"


def place_guests(data: schema.Data) -> schema.Data:
    """Put guests that are named in the place of controls where guests are.

    Parameters
    ----------
    data
        The scenario as plain data, which may be wrong in form.

    Returns
    -------
    dict
        The same, or a copy in which such flows have ``guest`` and no key of a transport of ours.

    Raises
    ------
    ScenarioError
        A command cannot be read.
    """
    flows = [flow for _, flow in _list_flows(data)]
    if not any(_may_name_guest(flow.get("cc")) for flow in flows):
        return data
    result: schema.Data = copy.deepcopy(data)
    problems: list[Problem] = []
    for path, flow in _list_flows(result):
        try:
            guest = guest_of(flow.get("cc"))
        except ValueError as error:
            message = f"{flow['cc']}: {error}; expected guest:COMMAND as a shell reads it"
            problems.append(Problem(f"{path}.cc", message))
            continue
        if guest is not None:
            for key in TRANSPORT_KEYS:
                flow.pop(key, None)
            flow["guest"] = guest
    if problems:
        raise ScenarioError(problems)
    return result


def _may_name_guest(control: Any) -> bool:
    kind = control.get("kind") if isinstance(control, dict) else None
    return kind == "guest" or (isinstance(control, str) and control.startswith(PREFIX))


def list_guests(data: schema.Data) -> Iterator[tuple[str, schema.Data]]:
    """List the guests of a scenario: their paths and tables.

    Parameters
    ----------
    data
        The scenario as plain data.
    """
    for path, flow in _list_flows(data):
        if isinstance(flow.get("guest"), dict):
            yield f"{path}.guest", flow["guest"]


def _list_flows(data: schema.Data) -> Iterator[tuple[str, schema.Data]]:
    """List the flows of a scenario that may be wrong in form: paths and tables, of tables alone."""
    for key, inner in (("flows", ""), ("traffic", ".flow")):
        entries = data.get(key)
        for index, entry in enumerate(entries if isinstance(entries, list | tuple) else ()):
            flow = entry.get("flow") if inner and isinstance(entry, dict) else entry
            if isinstance(flow, dict):
                yield f"{key}[{index}]{inner}", flow


def describe_command(guest: schema.Data) -> str:
    """Write a guest's command as it is typed in a shell.

    Parameters
    ----------
    guest
        Its table in the scenario.
    """
    import shlex

    return shlex.join(str(word) for word in guest.get("command", ()))


def check_guests(data: schema.Data, folder: Path) -> None:
    """Find the programs of a scenario's guests and write down the hashes of their files.

    Parameters
    ----------
    data
        The scenario as plain data, right in form. Each guest gets its ``code``, the hash of the
        files that its command names.
    folder
        What file names are relative to.

    Raises
    ------
    ScenarioError
        Programs may not run, a program is missing, or is not the one that the scenario requires.
    """
    found: list[Problem] = []
    for path, guest in list_guests(data):
        if not guest.get("command"):
            continue  # the core reports it
        words = describe_command(guest)
        if reason := why_forbidden():
            message = f"{words} is a program, which was not run: {reason}"
            found.append(Problem(path, message))
            continue
        if _find_program(guest["command"][0], folder) is None:
            name = guest["command"][0]
            message = f'there is no program "{name}"; expected one that can be executed'
            found.append(Problem(f"{path}.command", message))
            continue
        code = _hash(guest["command"], folder)
        if guest.get("code", code) != code:
            required = guest["code"]
            message = (
                f"is {required}, and the files of the program now have {code}; expected the"
                " program that was meant"
            )
            found.append(Problem(f"{path}.code", message))
        guest["code"] = code
    flows = sum(1 for _ in list_guests(data))
    if flows > MOST_FLOWS:
        message = f"has {flows} flows of guests, expected at most {MOST_FLOWS}"
        found.append(Problem("flows", message))
    if found:
        raise ScenarioError(found)


def _find_program(name: str, folder: Path) -> Path | None:
    """The file of a program; None if there is none that can be executed."""
    if os.sep not in name:
        import shutil

        there = shutil.which(name)
        return None if there is None else Path(there)
    file = folder / name
    return file if file.is_file() and os.access(file, os.X_OK) else None


def _files(command: list[str], folder: Path) -> Iterator[tuple[int, Path]]:
    """The files that the words of a command name, with their places."""
    for place, word in enumerate(command):
        if place == 0 and os.sep not in word:
            program = _find_program(word, folder)
            # An interpreter of the system is its own affair.
            if program is not None and not _is_interpreter(word):
                yield place, program
            continue
        file = folder / word
        try:
            if file.is_file():
                yield place, file
        except (OSError, ValueError):  # too long for a name, or no name at all
            continue


def _is_interpreter(name: str) -> bool:
    return name.startswith(("python", "pypy", "node", "sh", "bash", "env", "uv"))


def _hash(command: list[str], folder: Path) -> str:
    import hashlib

    total = hashlib.sha256()
    for place, file in _files(command, folder):
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        total.update(f"{place} {digest}\n".encode())
    return total.hexdigest()[:DIGITS]


def hire(guest: schema.Data, folder: Path, seed: int) -> Hired:
    """Say how a guest is started.

    Parameters
    ----------
    guest
        Its table in the scenario.
    folder
        Of the scenario's file.
    seed
        Of the run; what a program draws from the environment follows it.

    Raises
    ------
    ScenarioError
        Programs may not run.
    """
    words = describe_command(guest)
    if reason := why_forbidden():
        message = f"{words} is a program, which was not run: {reason}"
        raise ScenarioError([Problem("flows", message)])
    command = list(guest["command"])
    if os.sep in command[0]:
        # Links stay: the interpreter of an environment is one, and finds its libraries by it.
        command[0] = str((folder / command[0]).absolute())
    # The order of Python's sets of texts follows a hash that is random otherwise.
    environment = [("PYTHONHASHSEED", str(seed % 2**32)), ("PYTHONDONTWRITEBYTECODE", "1")]
    return Hired(command, folder.resolve(), environment, words)


def name_everywhere(data: schema.Data, folder: Path) -> schema.Data:
    """Copy a scenario with the files of its guests named so that they are found from anywhere.

    Parameters
    ----------
    data
        The scenario as plain data.
    folder
        What its file names are relative to.
    """
    if not any(True for _ in list_guests(data)):
        return data
    result: schema.Data = copy.deepcopy(data)
    for _, guest in list_guests(result):
        name_files(guest["command"], folder)
    return result


def name_files(command: list[str], folder: Path) -> None:
    """Name the files of a command by their whole paths, in its place.

    Parameters
    ----------
    command
        The program and its arguments.
    folder
        What its file names are relative to.
    """
    for place, file in list(_files(command, folder)):
        if place > 0 or os.sep in command[0]:
            command[place] = str(file.absolute())


def without_guests(data: schema.Data) -> tuple[schema.Data, list[str]]:
    """Put the core's QUIC in the place of guests, so that all else can be read or checked.

    Parameters
    ----------
    data
        The scenario as plain data.

    Returns
    -------
    tuple
        A copy, and the commands of its guests.
    """
    data = place_guests(data)
    if not any(True for _ in list_guests(data)):
        return data, []
    result: Any = copy.deepcopy(data)
    named: list[str] = []
    for _, flow in _list_flows(result):
        guest = flow.pop("guest", None)
        if guest is not None:
            flow["transport"] = "quic"
            named.append(describe_command(guest) if isinstance(guest, dict) else str(guest))
    return result, list(dict.fromkeys(named))
