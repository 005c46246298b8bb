"""Replaces what names a file or a collection by its content, so that the core gets all it needs."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from ackclock.catalogue.class_names import list_classes
from ackclock.catalogue.guest_programs import check_guests, place_guests
from ackclock.catalogue.network_kinds import kind_of

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.catalogue.schema import Data

__all__ = ["resolve"]


def resolve(data: Data, folder: Path) -> Data:
    """Copy a scenario with imported networks as graphs and trace files as lists.

    Parameters
    ----------
    data
        The scenario as plain data, right in form.
    folder
        What relative paths are relative to.

    Raises
    ------
    ScenarioError
        A file cannot be read or is malformed; the message names file and line.
    """
    result = copy.deepcopy(place_guests(data))
    kind = kind_of(result["net"])
    if kind is not None and kind.resolve is not None:
        # What files and collections give has no traces.
        result["net"] = kind.resolve(result["net"], folder)
    else:
        _schedules(result["net"], "net", folder)
    for index, change in enumerate(result.get("links", ())):
        _schedules(change, f"links[{index}]", folder)
    for index, flow in enumerate(result.get("flows", ())):
        _resolve_replayed(flow, "source", "source", f"flows[{index}]", folder)
        pattern = flow.get("between")
        if isinstance(pattern, dict) and "file" in pattern:
            from ackclock.scenario.transfer_files.read import resolve_transfers

            flow["between"] = resolve_transfers(pattern, folder, f"flows[{index}].between")
    for index, traffic in enumerate(result.get("traffic", ())):
        _resolve_replayed(traffic, "generator", "arrivals", f"traffic[{index}]", folder)
        _resolve_replayed(
            traffic.get("flow", {}), "source", "source", f"traffic[{index}].flow", folder
        )
    # A network's file names no class, and may have a million links.
    named = {**result, "net": data["net"]}
    if any(True for _ in list_classes(named)):
        from ackclock.catalogue import python_source

        python_source.check(named, folder)
    check_guests(result, folder)
    return result


def _resolve_replayed(table: Any, key: str, room: str, path: str, folder: Path) -> None:
    spec = table.get(key)
    if isinstance(spec, dict) and "file" in spec:
        from ackclock.scenario.traces import resolve_replayed

        table[key] = resolve_replayed(room, spec, folder, f"{path}.{key}")


def _schedules(table: Any, path: str, folder: Path) -> None:
    for key in ("schedule", "back_schedule"):
        schedule = table.get(key)
        if isinstance(schedule, dict) and "mahimahi_file" in schedule:
            from ackclock.scenario.traces import delivery

            where = f"{path}.{key}"
            table[key] = {"mahimahi": delivery(folder / schedule["mahimahi_file"], where)}
        elif isinstance(schedule, dict) and "file" in schedule:
            from ackclock.scenario.step_file import read_steps

            table[key] = {"steps": read_steps(folder / schedule["file"], f"{path}.{key}")}
    for index, link in enumerate(table.get("links", ())):
        _schedules(link, f"{path}.links[{index}]", folder)
