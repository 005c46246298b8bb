"""ns-2.35 as a peer: runs the script of a scenario, and reads what it wrote as a run."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.errors import AckclockError
from ackclock.peers.ns2.agents import is_bare
from ackclock.peers.ns2.queues import node_numbers
from ackclock.peers.ns2.script import EVENTS, TOTALS, WINDOWS, write
from ackclock.peers.plan import plan_of
from ackclock.peers.program import find, run_program
from ackclock.peers.registry import PreparedPeer

if TYPE_CHECKING:
    from ackclock.peers.plan import Flow, SimulatorPlan
    from ackclock.peers.registry import Options
    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

    Array = np.ndarray[Any, np.dtype[Any]]

__all__ = ["ns2", "read_run"]

RESOLUTION = {"time_s": 1.01e-5, "queue_delay_ms": 1e-3, "cwnd_mean": 2e-3, "cwnd_max": 1e-3}
"""ns-2 prints nothing finer: 10 us of windows, 1 us of events, thousandths of a packet."""

COST = 20.0
"""How long a run takes, relative to ours."""

KINDS = {"+": "arrival", "-": "departure", "d": "drop"}


def ns2(scenario: Scenario, options: Options) -> PreparedPeer:
    """Prepare a scenario for ns-2.35.

    Parameters
    ----------
    scenario
        The scenario.
    options
        Where the program is, and how long it may take.

    Raises
    ------
    UnsupportedError
        ns-2 is not installed.
    ScenarioError
        The scenario has what ns-2 cannot express: every reason at once.
    """
    plan = plan_of(scenario)
    written = write(plan)
    program = find("ns2", "ns", options.paths, "Debian's package ns2")

    def run(seed: int) -> Run:
        case = scenario.with_seed(seed)
        mine = plan_of(case)
        with tempfile.TemporaryDirectory(prefix="ackclock-ns2-") as name:
            folder = Path(name)
            (folder / "net.tcl").write_text(write(mine).text, encoding="ascii")
            run_program([program, "net.tcl", "."], folder, options.time_limit_s, "ns-2")
            return read_run(case, mine, folder)

    compared = {link.id for link in plan.bottlenecks}
    return PreparedPeer(
        ours=scenario,
        run=run,
        flows=lambda _: list(range(len(plan.flows))),
        release=lambda _: "ns-2.35",
        cost=COST,
        links=tuple(link.id for link in plan.links if link.id in compared),
        resolution=RESOLUTION,
        notes=tuple(str(note) for note in written.notes),
        has_events=plan.is_of_ns2,
    )


def read_run(scenario: Scenario, plan: SimulatorPlan, folder: Path) -> Run:
    """Read what a script wrote.

    Parameters
    ----------
    scenario
        What was run.
    plan
        The same, compiled.
    folder
        With the three files of a script.

    Raises
    ------
    AckclockError
        A file is not what a script writes.
    """
    import pyarrow as pa

    from ackclock.results.run import Run

    try:
        totals = _totals(folder / TOTALS)
        packets = _packets(plan, folder / EVENTS)
        windows = _windows(plan, totals, folder / WINDOWS)
    except (OSError, ValueError, KeyError, pa.ArrowInvalid) as error:
        raise AckclockError(f"ns-2 left files that cannot be read: {error}") from None
    summary = {
        "seed": plan.seed,
        "engine": "ns-2.35",
        "duration_s": plan.duration_s,
        "window_s": plan.duration_s - plan.warmup_s,
        "flows": [_flow(plan, flow, totals, packets) for flow in plan.flows],
        "links": _links(plan, packets),
    }
    names = np.array([flow.id for flow in plan.flows])
    links = np.array([link.id for link in plan.links])
    table = pa.table(
        {
            "time_s": packets["time_s"],
            "link": links[packets["link"]],
            "event": np.array(list(KINDS.values()))[packets["kind"]],
            "flow": names[packets["flow"]],
            # An ACK's number here is the next packet expected; ns-2's is the last one received.
            "seq": packets["seq"] + packets["is_ack"],
            "size_bytes": packets["size"],
            "is_ack": packets["is_ack"],
        }
    )
    return Run(scenario, summary, {"windows": windows, "packets": table})


_Totals = dict[tuple[bool, int], dict[str, float]]


def _totals(path: Path) -> _Totals:
    """Counts by whether they are of the end, and flow."""
    with path.open(encoding="ascii") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    count = len(rows) // 2
    return {(i >= count, int(row["flow"])): row for i, row in enumerate(rows)}


def _packets(plan: SimulatorPlan, path: Path) -> dict[str, Array]:
    """Events at links, as arrays."""
    from pyarrow import csv as arrow_csv

    names = [
        "event",
        "time_s",
        "from",
        "to",
        "type",
        "size",
        "flags",
        "flow",
        "a",
        "b",
        "seq",
        "id",
    ]
    table = arrow_csv.read_csv(
        path,
        read_options=arrow_csv.ReadOptions(column_names=names),
        parse_options=arrow_csv.ParseOptions(delimiter=" "),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=["event", "time_s", "from", "to", "type", "size", "flow", "seq", "id"],
            column_types={"event": "string", "type": "string", "time_s": "float64"},
        ),
    )
    event = np.asarray(table["event"].to_numpy(), dtype="U1")
    is_link_event = np.isin(event, list(KINDS))
    columns = {
        name: np.asarray(table[name].to_numpy())[is_link_event]
        for name in ("time_s", "from", "to", "size", "flow", "seq", "id")
    }
    number = node_numbers(plan)
    by_ends = {(number[link.source], number[link.target]): link.number for link in plan.links}
    wide = max(number) + 1
    codes = columns["from"] * wide + columns["to"]
    codes_used, inverse = np.unique(codes, return_inverse=True)
    link = np.array([by_ends[divmod(int(code), wide)] for code in codes_used], dtype=np.int64)
    kinds = {letter: i for i, letter in enumerate(KINDS)}
    letters, which = np.unique(event[is_link_event], return_inverse=True)
    kind = np.array([kinds[str(letter)] for letter in letters], dtype=np.int64)
    return _with_arrivals(
        {
            "time_s": columns["time_s"],
            "link": link[inverse],
            "kind": kind[which],
            "flow": columns["flow"],
            "seq": columns["seq"],
            "id": columns["id"],
            "size": columns["size"],
            "is_ack": np.asarray(table["type"].to_numpy(), dtype="U8")[is_link_event] == "ack",
        }
    )


def _with_arrivals(events: dict[str, Array]) -> dict[str, Array]:
    """Add the arrivals of packets that were lost before they came to the queue's trace."""
    numbers = events["id"] * (1 + np.max(events["link"], initial=0)) + events["link"]
    known = np.isin(numbers, numbers[events["kind"] == 0])
    lost = np.flatnonzero((events["kind"] == 2) & ~known)
    if not len(lost):
        return events
    added = {name: np.insert(values, lost, values[lost]) for name, values in events.items()}
    added["kind"][lost + np.arange(len(lost))] = 0
    return added


def _windows(plan: SimulatorPlan, totals: _Totals, path: Path) -> Any:
    """The table ``windows`` of the traced variable cwnd."""
    import pyarrow as pa

    senders = {
        (int(row["address"]), int(row["port"])): plan.flows[flow].id
        for (is_end, flow), row in totals.items()
        if is_end and plan.flows[flow].kind == "tcp"
    }
    rows: dict[tuple[str, float], float] = {}
    for line in path.read_text(encoding="ascii").splitlines():
        time_text, address, port, _, _, name, value = line.split()
        if name == "cwnd_":
            # A sender may change its window several times at once; the last is what holds.
            rows[senders[int(address), int(port)], float(time_text)] = float(value)
    return pa.table(
        {
            "time_s": pa.array([time_text for _, time_text in rows], "float64"),
            "flow": pa.array([flow for flow, _ in rows], "string"),
            "cwnd_segments": pa.array(list(rows.values()), "float64"),
            "acked": np.full(len(rows), np.nan),
        }
    )


def _flow(
    plan: SimulatorPlan, flow: Flow, totals: _Totals, packets: dict[str, Array]
) -> dict[str, Any]:
    before, end = (totals[is_end, flow.number] for is_end in (False, True))
    window_s = plan.duration_s - plan.warmup_s
    has_headers = flow.kind == "tcp" and not is_bare(flow)
    # Sinks count whole packets, and the connection request as one.
    request = flow.tcp["ack_size"] if has_headers and flow.tcp["syn"] else 0
    share = flow.tcp["mss"] / flow.wire_bytes if has_headers else 1.0
    got = [max(row["bytes"] - request, 0) * share for row in (before, end)]
    inside = (
        (packets["flow"] == flow.number) & ~packets["is_ack"] & (packets["time_s"] >= plan.warmup_s)
    )
    sent = end["sent"] - before["sent"]
    traced = {link.number for link in plan.bottlenecks}
    first = next((i for i in flow.route if i in traced), None)
    if request and first is not None:
        requests = inside & (packets["kind"] == 0) & (packets["seq"] == 0)
        sent -= int(np.count_nonzero(requests & (packets["link"] == first)))
    # Requests are no data.
    lost = inside & (packets["kind"] == 2) & ((packets["seq"] > 0) | (request == 0))
    return {
        "id": flow.id,
        "cc": flow.control,
        "goodput_bps": (got[1] - got[0]) * 8 / window_s,
        "window_sent_packets": sent,
        "window_lost_data_packets": int(np.count_nonzero(lost)),
        "retransmits": int(end["retransmitted"]),
        "timeouts": int(end["timeouts"]),
        "srtt_mean_s": None,
    }


def _links(plan: SimulatorPlan, packets: dict[str, Array]) -> list[dict[str, Any]]:
    """What was measured of each link that was traced, in the order of the plan."""
    rows = []
    traced = {link.number for link in plan.bottlenecks}
    for link in plan.links:
        row: dict[str, Any] = {"id": link.id}
        if link.number in traced:
            mine = packets["link"] == link.number
            row |= _measure(plan, {key: values[mine] for key, values in packets.items()})
        rows.append(row)
    return rows


def _measure(plan: SimulatorPlan, events: dict[str, Array]) -> dict[str, Any]:
    inside = events["time_s"] >= plan.warmup_s
    arrivals, departures, drops = (events["kind"] == kind for kind in range(3))
    return {
        "window_drops": int(np.count_nonzero(drops & inside)),
        "window_arrived_packets": int(np.count_nonzero(arrivals & inside)),
        "delay_mean_s": _mean_wait(events, arrivals, departures & inside),
    }


def _mean_wait(events: dict[str, Array], arrivals: Array, departures: Array) -> float:
    """Mean time from arrival to departure; every packet of ns-2 has a number."""
    if not departures.any():
        return 0.0
    came, left = events["id"][arrivals], events["id"][departures]
    order = np.argsort(came, kind="stable")
    places = order[np.searchsorted(came, left, sorter=order)]
    waits = events["time_s"][departures] - events["time_s"][arrivals][places]
    return float(np.mean(waits))
