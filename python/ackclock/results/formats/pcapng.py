"""Writes recorded packets as pcapng: TCP over IPv4 with its options, headers only.

The capture is that of a tap on one link: packets as they leave either end. The core writes the
file; here is what it needs to know of flows and links.
"""

from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock._util.arrow import Tables
from ackclock.errors import UnsupportedError, suggestion
from ackclock.results.formats.recorded import write_whole
from ackclock.results.formats.tcp_sizes import TIMESTAMPS, Sizes, TcpSizes, tcp_sizes
from ackclock.results.formats.tcp_timestamps import Way, stamps
from ackclock.results.packet_case import without_code

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ackclock.results.formats.recorded import Recorded
    from ackclock.results.packet_case import PacketCase

    Columns = dict[str, Any]

__all__ = ["follows_packets", "list_both_ways", "write"]

_HEADERS = 40  # IPv4 and TCP without options.
_NUMBERS = (
    "seq",
    "flags",
    "size_bytes",
    "sack_count",
    *(f"sack{number}_{end}" for number in (1, 2, 3) for end in ("start", "end")),
)


def _reverse(link: str) -> str:
    if "->" in link:
        a, b = link.split("->", 1)
        return f"{b}->{a}"
    return link.removesuffix(":back") if link.endswith(":back") else f"{link}:back"


def list_both_ways(link: str, link_names: Sequence[str]) -> list[str]:
    """Name the links that a tap sees: one, and its way back if there is one.

    Parameters
    ----------
    link
        The link.
    link_names
        All there are.
    """
    return [link, *(name for name in [_reverse(link)] if name in link_names)]


def follows_packets(scenario: PacketCase) -> bool:
    """Whether a capture needs packets of every link: timestamps say when they were sent.

    Parameters
    ----------
    scenario
        What is to be run.
    """
    case = without_code(scenario)
    settings = tcp_sizes({"era": case.data.get("era", "rfc")}, case.core_json())
    return any(setting.timestamps for setting in settings)


def flow_row(
    index: int,
    hosts: Sequence[int],
    sizes: Sizes,
    settings: TcpSizes | None,
    *,
    is_quic: bool = False,
) -> _core.FlowRow:
    """Describe a flow as the core takes it: addresses and numbering.

    Parameters
    ----------
    index
        Number of the flow.
    hosts
        Numbers of sender and receiver, the last 24 bits of their addresses.
    sizes
        Of its packets in the table.
    settings
        Those of the scenario; None where segments are ns-2's.
    is_quic
        Whether its packets are datagrams.
    """
    timestamps = settings is not None and settings.timestamps
    headers = _HEADERS + TIMESTAMPS * timestamps
    full = (sizes.largest or 1500) if settings is None else settings.full
    # ns-2 numbers the SYN as segment 0; then data begins at 1.
    first = 1 if settings is None and sizes.has_syn else 0
    port = 1024 + index % 60_000
    sender, receiver = hosts
    mss = max(1, full - headers)
    return [sender, receiver], port, is_quic, timestamps, mss, first, sizes.last


def write(run: Recorded, path: Path, link: str | None = None) -> Path:
    """Write the packets that left one link, either way.

    Parameters
    ----------
    run
        Its table ``packets`` must have been recorded.
    path
        File to write.
    link
        Its name in either direction; None: the link that carried most.

    Returns
    -------
    Path
        The file.
    """
    summary = run.summary
    link_names = [str(entry["id"]) for entry in summary["links"]]
    flow_names = [str(entry["id"]) for entry in summary["flows"]]
    columns = _columns(run, {"link": link_names, "flow": flow_names})
    rows = _core.PacketRows(columns)
    if link is None:
        counts = rows.departures(len(link_names))
        if not any(counts):
            raise UnsupportedError("no packet left any link, so there is nothing to write")
        most = max(counts)
        link = min(name for name, count in zip(link_names, counts, strict=True) if count == most)
    elif link not in link_names:
        raise UnsupportedError(f'there is no link "{link}"; {suggestion(link, link_names)}')
    both = list_both_ways(link, link_names)
    scenario = without_code(run.scenario).core_json()
    flows = _flows(summary, scenario, rows)
    stamped = [
        name for name, flow in zip(flow_names, flows, strict=True) if flow[3] and not flow[2]
    ]
    if stamped:
        rows = _core.PacketRows({**columns, **_stamp_columns(run, scenario, stamped)})
    comment = f"scenario {summary['scenario_hash']}, seed {summary['seed']}"
    interfaces = [(link_names.index(name), name) for name in both]
    program = f"ackclock {summary['version']}"
    return write_whole(path, rows.write(flows, interfaces, program, comment))


def _columns(run: Recorded, names: Mapping[str, Sequence[str]]) -> Columns:
    """The table ``packets`` as columns that have the buffer protocol."""
    raw = None
    if isinstance(run.tables, Tables) and "packets" in run.tables:
        raw = run.tables.raw("packets")
    if raw is not None and all(list(raw[1][key]) == list(names[key]) for key in names):
        columns = dict(raw[0])
        columns["is_departure"] = bytes(map("departure".__eq__, columns.pop("event")))
        columns["is_ack"] = memoryview(columns["is_ack"]).cast("B")
        return columns
    return _columns_of_table(run.table("packets"), names)


def _columns_of_table(packets: Any, names: Mapping[str, Sequence[str]]) -> Columns:
    import numpy as np

    from ackclock._util.arrow import numbers

    def encode(name: str, code_of_word: Mapping[str, int]) -> Any:
        column = packets.column(name).combine_chunks().dictionary_encode()
        codes = [code_of_word.get(str(word), 0) for word in column.dictionary.to_pylist()]
        return np.asarray(codes, dtype=np.uint32)[numbers(column.indices)]

    columns: Columns = {
        key: encode(key, {name: index for index, name in enumerate(of)})
        for key, of in names.items()
    }
    columns["time_s"] = numbers(packets.column("time_s"))
    columns["is_departure"] = encode("event", {"departure": 1}).astype(np.uint8)
    columns["is_ack"] = np.asarray(packets.column("is_ack").to_numpy(), dtype=np.uint8)
    for name in _NUMBERS:
        if name in packets.column_names:
            columns[name] = numbers(packets.column(name)).astype(np.uint32)
    columns.setdefault("flags", columns["is_ack"].astype(np.uint32))
    return columns


def _stamp_columns(run: Recorded, scenario: str, names: Sequence[str]) -> Columns:
    """Values and echoes of the timestamp option of each row, for flows of some names."""
    ends = {
        str(flow["id"]): (str(flow["src"]), str(flow["dst"]))
        for flow in run.summary["flows"]
        if str(flow["id"]) in names
    }
    # The summary has a link's first rate: arrivals over one that changes are not known.
    links = json.loads(_core.explain(scenario))["links"]
    varying = {str(link["id"]) for link in links if link["varies"]}
    ways = {
        str(link["id"]): Way(
            str(link["src"]),
            str(link["dst"]),
            None if str(link["id"]) in varying else float(link["rate_bps"]),
            float(link["propagation_s"]),
        )
        for link in run.summary["links"]
    }
    rows = run.table("packets").to_pylist()
    for row in rows:
        row.setdefault("flags", int(row["is_ack"]))
    order = sorted(range(len(rows)), key=lambda index: float(rows[index]["time_s"]))
    values, echoes = (array("I", bytes(4 * len(rows))) for _ in range(2))
    for index, stamp in zip(order, stamps([rows[i] for i in order], ways, ends), strict=True):
        if stamp is not None:
            values[index], echoes[index] = stamp.value, stamp.echo
    return {"stamp_value": values, "stamp_echo": echoes}


def _flows(
    summary: Mapping[str, Any], scenario: str, rows: _core.PacketRows
) -> list[_core.FlowRow]:
    nodes: dict[str, int] = {}
    settings = tcp_sizes(summary, scenario)
    flow_rows = []
    all_sizes = rows.sizes(len(summary["flows"]))
    for index, (flow, values) in enumerate(zip(summary["flows"], all_sizes, strict=True)):
        sizes = Sizes(*values)
        hosts = [1 + nodes.setdefault(str(flow[end]), len(nodes)) for end in ("src", "dst")]
        # The table does not say which entry of the scenario made the flow; its lengths do.
        fitting = [candidate for candidate in settings if sizes.fit(candidate)] or settings
        tcp_size = fitting[0] if fitting else None
        is_over = flow["completed_after_s"] is not None
        count = flow["delivered_packets"]
        if tcp_size is not None and is_over and count and sizes.last is None:
            # The link was recorded in the acknowledgements' direction alone.
            missing = count * tcp_size.mss - flow["delivered_bytes"]
            sizes = sizes._replace(last=(count - 1, tcp_size.full - missing))
        quic = flow["recovery"] == "quic"
        flow_rows.append(flow_row(index, hosts, sizes, tcp_size, is_quic=quic))
    return flow_rows
