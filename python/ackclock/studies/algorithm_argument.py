"""The algorithm under study, as an argument: a name, a class in a file, a table, or a guest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.errors import AckclockError, Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["Subject", "read_subject"]


@dataclass(frozen=True)
class Subject:
    """An algorithm under study: its name in tables, and how a scenario says it."""

    label: str
    value: Any

    @property
    def is_guest(self) -> bool:
        """Whether it is a program in the place of a flow's two ends."""
        return isinstance(self.value, dict) and self.value.get("kind") == "guest"


def read_subject(
    text: str, folder: Path, key: str, trial: Callable[[Any], dict[str, Any]]
) -> Subject:
    """Read and check the algorithm under study.

    Parameters
    ----------
    text
        Registry name, ``file.py:Class``, a table as ``{kind = "aimd", b = 0.7}``, or, in the place
        of a control, ``guest:COMMAND``.
    folder
        What files are relative to.
    key
        Where a scenario says such an algorithm: ``cc``, ``qdisc``.
    trial
        Makes a scenario that uses it.

    Returns
    -------
    Subject
        With the last part of its name as the label.

    Raises
    ------
    ScenarioError
        There is no such algorithm, or a parameter is wrong.
    """
    import tomllib

    from ackclock.scenario.scenario import Scenario

    value: Any = text
    if text.lstrip().startswith("{"):
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError as error:
            raise AckclockError(f"{text}: not a table as TOML has it: {error}") from None
    guest = _read_guest(value, folder)
    value = guest or _name_file(value, folder)
    try:
        Scenario.from_data(trial(value)).check()
    except ScenarioError as error:
        found = [
            Problem(p.path.partition(f".{key}")[2].lstrip("."), p.message, text)
            for p in error.problems
            if f".{key}" in p.path
        ]
        raise ScenarioError(list(dict.fromkeys(found)) or list(error.problems)) from None
    if guest is not None:
        return Subject(str(guest["name"]), guest)
    name = value if isinstance(value, str) else value.get("class", value["kind"])
    return Subject(str(name).rpartition(":")[2], value)


def _read_guest(value: Any, folder: Path) -> dict[str, Any] | None:
    """The table of a guest, with its files by their whole paths; None: it is none."""
    from ackclock.catalogue.guest_programs import guest_of, name_files

    try:
        guest = guest_of(value)
    except ValueError as error:
        raise AckclockError(f"{value}: {error}; expected a command as a shell reads it") from None
    if guest is None:
        return None
    if isinstance(guest.get("command"), list):
        name_files(guest["command"], folder)
    return {"kind": "guest", **guest}


def _name_file(value: Any, folder: Path) -> Any:
    """Name the file of a class by its whole path, for sweeps have no folder."""
    name = value.get("class") if isinstance(value, dict) else value
    if not isinstance(name, str) or ".py:" not in name:
        return value
    file, _, cls = name.rpartition(":")
    whole = f"{(folder / file).resolve()}:{cls}"
    return {**value, "class": whole} if isinstance(value, dict) else whole
