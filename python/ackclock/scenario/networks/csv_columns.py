"""A network in CSV files with nothing wrong in them, read without a loop over their rows."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.arrow import numbers
from ackclock._util.units import parse
from ackclock.scenario import plain_csv
from ackclock.scenario.networks.link_defaults import (
    MOST_BPS,
    MOST_S,
    LinkOptions,
    great_circle_m,
)

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    Reals = npt.NDArray[np.float64]

__all__ = ["read_graph"]


def read_graph(folder: Path, options: LinkOptions) -> dict[str, Any] | None:
    """Read nodes.csv and edges.csv into ``kind = "graph"``, as rows read one by one would give it.

    None where anything is wrong or out of the ordinary, and for small files: the reader that goes
    row by row says what is wrong where.

    Parameters
    ----------
    folder
        Where the two files are.
    options
        What the files do not say.
    """
    try:
        if (folder / "edges.csv").stat().st_size < plain_csv.LEAST_BYTES:
            return None
    except (OSError, ValueError):
        return None
    nodes = plain_csv.mixed_columns(folder / "nodes.csv", ("id", "name"), (), signed=("lat", "lon"))
    edges = plain_csv.mixed_columns(
        folder / "edges.csv",
        ("source", "target"),
        ("capacity_bps", "delay_s", "length_km", options.weight),
    )
    if nodes is None or edges is None:
        return None
    needed = {"source", "target", *({options.weight} - {LinkOptions.weight})}
    if "id" not in nodes or not needed <= {*edges} or options.weight in ("source", "target"):
        return None
    names = _names(nodes)
    if names is None:
        return None
    # Of millions of new tables the garbage collector would look at each again and again.
    collects = gc.isenabled()
    gc.disable()
    try:
        return _graph(names, nodes, edges, options)
    finally:
        if collects:
            gc.enable()


def _names(nodes: dict[str, Any]) -> Any | None:
    """What nodes are called: their names where these are unique, else their ids."""
    ids, names = nodes["id"], nodes.get("name")
    if len(ids.unique()) != len(ids):
        return None
    if names is None or len(names.unique()) != len(names):
        return ids
    import pyarrow.compute as pc

    return ids if pc.any(pc.equal(names, "")).as_py() else names


def _graph(
    names: Any, nodes: dict[str, Any], edges: dict[str, Any], options: LinkOptions
) -> dict[str, Any] | None:
    import pyarrow.compute as pc

    ends = [pc.index_in(edges[key], value_set=nodes["id"]) for key in ("source", "target")]
    if any(end.null_count for end in ends):
        return None
    a, b = (numbers(end).astype(np.int64) for end in ends)
    links = np.flatnonzero(a != b)
    a, b = a[links], b[links]
    attributes = {name: edges[name][links] for name in edges if name not in ("source", "target")}
    nothing = np.full(len(a), np.nan)
    rate = attributes.get("capacity_bps", nothing)
    if options.rate is not None:
        rate = np.where(np.isnan(rate), parse(options.rate, "rate"), rate)
    rate = rate * options.scale
    delay = _delays(attributes, a, b, nodes, options)
    # Not a number compares as false.
    if not len(a) or not ((rate >= 1) & (rate <= MOST_BPS)).all():
        return None
    if delay is None or not ((delay >= 0) & (delay <= MOST_S)).all():
        return None
    weight = attributes.get(options.weight, nothing)
    if (weight <= 0).any():
        return None
    pair = np.minimum(a, b) * len(names) + np.maximum(a, b)
    _, first, link_of_edge = np.unique(pair, return_index=True, return_inverse=True)
    # Rates of parallel edges are added in the order of the file.
    total = np.bincount(link_of_edge, weights=rate)
    if total.max() > MOST_BPS:
        return None
    order = np.argsort(first)
    first, total = first[order], np.rint(total[order]).astype(np.int64)
    called = names.to_pylist()
    columns = (a[first].tolist(), b[first].tolist(), total.tolist(), delay[first].tolist())
    buffer, qdisc = options.buffer, options.qdisc
    link_tables = [
        {"a": called[i], "b": called[j], "rate": r, "delay": d, "buffer": buffer, "qdisc": qdisc}
        for i, j, r, d in zip(*columns, strict=True)
    ]
    for i in np.flatnonzero(~np.isnan(weight[first])).tolist():
        link_tables[i]["weight"] = float(weight[first[i]])
    return {"kind": "graph", "nodes": _places(called, nodes), "links": link_tables}


def _delays(
    attributes: dict[str, Reals],
    a: npt.NDArray[np.int64],
    b: npt.NDArray[np.int64],
    nodes: dict[str, Any],
    options: LinkOptions,
) -> Reals | None:
    """Delays as given, else by the length as given, else by that of the great circle; or None."""
    nothing = np.full(len(a), np.nan)
    length: Reals = attributes.get("length_km", nothing) * 1000
    delay = attributes.get("delay_s", nothing).copy()
    unknown = np.flatnonzero(np.isnan(length) & np.isnan(delay))
    if len(unknown):
        has_places = {"lat", "lon"} <= {*nodes}
        placed = (
            ~(np.isnan(nodes["lat"]) | np.isnan(nodes["lon"]))
            if has_places
            else np.zeros(len(nodes["id"]), dtype=np.bool_)
        )
        bare = ~(placed[a[unknown]] & placed[b[unknown]])
        if bare.any():
            if options.delay is None:
                return None
            delay[unknown[bare]] = parse(options.delay, "duration")
            unknown = unknown[~bare]
    if len(unknown):
        lat, lon = nodes["lat"].tolist(), nodes["lon"].tolist()
        ends = zip(a[unknown].tolist(), b[unknown].tolist(), strict=True)
        length[unknown] = [great_circle_m(lat[i], lon[i], lat[j], lon[j]) for i, j in ends]
    # Rounded as Python rounds, once for each length: NumPy's last digit may differ.
    lengths, length_index = np.unique(length / options.signal_speed, return_inverse=True)
    rounded = np.array([round(value, 9) for value in lengths.tolist()])
    return np.where(np.isnan(delay), rounded[length_index], delay)


def _places(called: list[str], nodes: dict[str, Any]) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = [{"id": name} for name in called]
    for key in ("lat", "lon"):
        if key in nodes:
            for i in np.flatnonzero(~np.isnan(nodes[key])).tolist():
                listed[i][key] = float(nodes[key][i])
    return listed
